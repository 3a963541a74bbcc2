"""What a format of raw files has to say of itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.sources.raw import Refused


@dataclass(frozen=True, slots=True)
class Inside:
    """What a source yields before the rows of a file in an archive: they are numbered from 1 in it.

    One without a name says the part alone, of a file that is no archive.
    """

    name: str  # the file's path in the archive; empty where there is none
    part: str | None = None  # of its rows, where the file says it; that of refused ones is known by this alone


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive that can be read by itself."""

    name: str
    packed: int  # bytes
    checksum: str  # of its content, as the archive announces it; reading it compares them


Rows = Iterator[Mapping[str, Any] | Refused | Inside]


@dataclass(frozen=True)
class Source:
    """A format in which raw records come.

    `rows(path, names)` yields the rows of one file in order and in constant memory: each an object with its fields
    under the names that the file gives them, or `Refused` for one that cannot be read. `names` are the fields that the
    study reads, None all. It raises CorpusError, with file and remedy, for a file that it cannot read. A source of
    archives yields `Inside` before the rows of each file in one.

    What can be cut into shards says where. Of a file whose rows are lines, as `lines(path)` says, `between(path, start,
    end)` yields the rows that begin in these bytes, the first of which begins a line. Of an archive, `members(path)`
    are the files that `rows` reads, in its order, and `member(path, name)` yields what `rows` yields of one, from its
    `Inside` on. Any other file is read as a whole.

    `beside(path)` are the other files that `rows(path)` reads, where what belongs together stands in several.

    `fields` are the format's names of our fields, as a study's `raw.fields` gives them, where the study says nothing.
    """

    suffixes: Sequence[str]  # of the names of its files
    unit: str  # what its rows are called in messages
    rows: Callable[[Path, Sequence[str] | None], Rows]
    lines: Callable[[Path], bool] = lambda path: False
    between: Callable[[Path, int, int], Rows] | None = None
    members: Callable[[Path], Sequence[Member]] = lambda path: ()
    member: Callable[[Path, str], Rows] | None = None
    beside: Callable[[Path], Sequence[Path]] = lambda path: ()
    fields: Mapping[str, str | None] | None = None
