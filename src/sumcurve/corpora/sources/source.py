"""What a format of raw files has to say of itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.corpora.raw import Refused

Rows = Iterator[Mapping[str, Any] | Refused]


@dataclass(frozen=True)
class Source:
    """A format in which raw records come.

    `rows(path, names)` yields the rows of one file in order and in constant memory: each an object with its fields
    under the names that the file gives them, or `Refused` for one that cannot be read. `names` are the fields that the
    study reads, None all. It raises CorpusError, with file and remedy, for a file that it cannot read.

    Of a format whose rows are lines, `between(path, start, end)` yields the rows that begin in these bytes of a file,
    the first of which begins a line; `lines(path)` says whether a file's bytes are its lines, as they are not where it
    is packed. A file of any other format is read as a whole.
    """

    suffixes: Sequence[str]  # of the names of its files
    unit: str  # what its rows are called in messages
    rows: Callable[[Path, Sequence[str] | None], Rows]
    lines: Callable[[Path], bool] = lambda path: False
    between: Callable[[Path, int, int], Rows] | None = None
