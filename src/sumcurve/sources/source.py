"""Interface of a format of raw files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sumcurve.files.errors import Refused
from sumcurve.files.layout import Layout
from sumcurve.files.objects import at_path
from sumcurve.store.errors import CorpusError

PLAIN = Layout()  # that a file shows by itself


@dataclass(frozen=True, slots=True)
class Inside:
    """Marker that a source yields before the rows of a file in an archive: they are numbered from 1 in it.

    One without a name states the part alone, of a file that is no archive.
    """

    name: str  # the file's path in the archive; empty where there is none
    part: str | None = None  # of its rows, where the file states it; the only source for refused rows


Rows = Iterator[Mapping[str, Any] | Refused | Inside]


@dataclass(frozen=True)
class Source:
    """A format in which raw records come.

    `rows(path, names)` yields the rows of one file in order and in constant memory: each an object with its fields
    under the names that the file gives them, or `Refused` for one that cannot be read. `names` are the fields that the
    study reads, None all. It raises CorpusError, with file and remedy, for a file that it cannot read. A source of
    archives yields `Inside` before the rows of each file in one.

    `beside(path)` are the other files that `rows(path)` reads, where records are divided over several.

    `version` stands for its code in names of corpora, where it is above 1: raise it in the commit that changes a row.

    One that `has_layout` takes a third argument, `layout`, of its files.

    `fields` are the format's names of our fields, as a study's `raw.fields` gives them, where the study gives none.
    """

    suffixes: Sequence[str]  # of the names of its files
    unit: str  # name of its rows in messages
    rows: Callable[..., Rows]
    beside: Callable[[Path], Sequence[Path]] = lambda path: ()
    fields: Mapping[str, str | None] | None = None
    has_layout: bool = False
    version: int = 1

    def by_layout(self, layout: Mapping[str, Any]) -> "Source":
        """The source of files with a stated layout, `raw.layout` of a study; CorpusError where it takes none."""
        if layout and not self.has_layout:
            raise CorpusError(f"its format takes no {', '.join(layout)}: leave it out, or say `format: csv` or jsonl")
        return replace(self, rows=partial(self.rows, layout=Layout(**layout))) if layout else self


def with_inner(row: dict[str, Any] | Refused, names: Sequence[str] | None) -> dict[str, Any] | Refused:
    """The row, beside which the values at those names that are dotted paths into it stand under their paths."""
    for name in names or ():
        if "." in name and isinstance(row, dict) and name not in row:
            with suppress(KeyError):
                row[name] = at_path(row, name)
    return row
