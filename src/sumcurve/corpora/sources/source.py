"""What a format of raw files has to say of itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.corpora.raw import Refused

NUL = "NUL character"  # a reason for which a row is none: its file is damaged there

Rows = Iterator[Mapping[str, Any] | Refused]


@dataclass(frozen=True)
class Source:
    """A format in which raw records come.

    `rows(path, names)` yields the rows of one file in order and in constant memory: each an object with its fields
    under the names that the file gives them, or `Refused` for one that cannot be read. `names` are the fields that the
    study reads, None all. It raises CorpusError, with file and remedy, for a file that it cannot read.
    """

    suffixes: Sequence[str]  # of the names of its files
    unit: str  # what its rows are called in messages
    rows: Callable[[Path, Sequence[str] | None], Rows]
