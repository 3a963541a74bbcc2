"""A study's tables in order of rank, one module each with `table(results) -> Table`.

Nothing is imported here: the Snakefile reads the names on every parse.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Listing:
    """A table of a study, and what its rows are about, which `sumcurve trace` follows.

    `module` makes it. `after` is the table that it follows, of one that a capability brings. A `measured` one has a
    column of measured time, which differs from run to run. `folders` are the kinds of folders of its corpus that a
    row is about beside outputs; where `outputs` is False it is about no output. `of_runs` are kinds of folders of
    its corpus that are made from its outputs' runs. `whole_corpus`: its cells compare a method with others, or with
    itself at other sizes, than those that the row names. `same` are columns that such a folder has in its
    specification, or in that of what it was made of, where these tell it from others of its kind.
    """

    name: str
    module: str = ""
    after: str = ""
    appendix: bool = False
    measured: bool = False
    folders: tuple[str, ...] = ()
    outputs: bool = True
    of_runs: tuple[str, ...] = ()
    whole_corpus: bool = False
    same: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The dotted name of its module."""
        return self.module or f"{__name__}.{self.name}"


CORE = (
    Listing("answers", measured=True, whole_corpus=True),
    Listing("scores"),
    Listing("comparisons"),
    Listing("efficiency", measured=True),
    Listing("phases"),
    Listing("verdicts", whole_corpus=True),
    Listing("descriptions"),
    Listing("methods", measured=True),
    Listing("corpora", folders=("corpus", "unseen", "fraction"), outputs=False),
    Listing("equivalence"),
    Listing("questions", whole_corpus=True),
    Listing("lines"),
    Listing("references"),
    Listing("scores_long", appendix=True),
    Listing("seeds", appendix=True, measured=True),
    Listing("variance", appendix=True),
    Listing("stopping", appendix=True, measured=True),
    Listing("decoding", appendix=True),
    Listing("own_searches", appendix=True),
    Listing("metric_correlations", appendix=True, whole_corpus=True),
    Listing("missing", appendix=True),
)


def ranked(listings: Mapping[str, Listing], appendix: bool = False) -> tuple[str, ...]:
    """Names of tables in order of rank: those that pages show, or those of the appendix."""
    return tuple(name for name, listing in listings.items() if listing.appendix == appendix)
