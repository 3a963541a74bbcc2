"""A study's tables in order of rank, one module each with `table(results) -> Table`.

Nothing is imported here: the Snakefile reads the names on every parse.
"""

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = 34  # of all tables and figures: raise it in the commit that changes a byte of one


@dataclass(frozen=True)
class Listing:
    """A table of a study, and the folders that its rows are about, which `sumcurve trace` follows.

    `module` makes it. `after` is the table that it follows, of one that a capability brings. A `measured` one has a
    column of measured time, which differs from run to run. `folders` are the kinds of folders of its corpus that a
    row is about beside outputs; where `outputs` is False it is about no output. `of_runs` are kinds of folders of
    its corpus that are made from its outputs' runs. `every` are the columns, of `method`, `records`, `part` and
    `search`, that do not choose outputs: its cells compare a method with others, or with itself at other sizes, than
    those that the row names. `same` are columns that such a folder has in its specification, or in that of what it was
    made of, where these tell it from others of its kind.
    """

    name: str
    module: str = ""
    after: str = ""
    appendix: bool = False
    measured: bool = False
    folders: tuple[str, ...] = ()
    outputs: bool = True
    of_runs: tuple[str, ...] = ()
    every: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The dotted name of its module."""
        return self.module or f"{__name__}.{self.name}"


CORE = (
    Listing("answers", measured=True, every=("method", "records", "search")),
    Listing("scores"),
    Listing("comparisons"),
    Listing("efficiency", measured=True),
    Listing("phases", every=("records", "part")),
    Listing("verdicts", every=("method", "records", "search")),
    Listing("descriptions"),
    Listing("methods", measured=True),
    Listing("corpora", folders=("corpus", "unseen", "fraction"), outputs=False, same=("percent", "records")),
    Listing("references"),
    Listing("scores_long", appendix=True),
    Listing("seeds", appendix=True, measured=True),
    Listing("decoding", appendix=True, every=("search",)),
    Listing("own_searches", appendix=True),
    Listing("metric_correlations", appendix=True, every=("method", "records", "search")),
    Listing("missing", appendix=True, outputs=False),
)


def ranked(listings: Mapping[str, Listing], appendix: bool = False) -> tuple[str, ...]:
    """Names of tables in order of rank: those that pages show, or those of the appendix."""
    return tuple(name for name, listing in listings.items() if listing.appendix == appendix)
