"""Records on their way into a corpus: those that wait on disk, and the ledger of those that were dropped."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import IO, Any

from sumcurve.sources.raw import Dropped, Place
from sumcurve.store.records import Record, Text


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that passed the filters and waits in the spool."""

    number: int  # of all rows read
    place: Place
    id: str
    group: str | None
    split: str | None  # where the parts are ready
    offset: int

    @property
    def unit(self) -> str:
        """What is never split: the group, or the record itself."""
        return unit_of(self.id, self.group)


Unit = tuple[Candidate, ...]  # the members of one record of the corpus: one, or several if composed


_as_json = json.JSONEncoder(ensure_ascii=False).encode  # what json.dumps writes, which makes an encoder every time


def line_of(value: Any) -> bytes:
    return _as_json(value).encode() + b"\n"


def unit_of(name: str, group: str | None) -> str:
    return f"record {name}" if group is None else f"group {group}"


class Ledger:
    """Writes what was dropped, row by row, and counts it, in all and by part."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.counts: Counter[str] = Counter()
        self.parts: dict[str | None, Counter[str]] = defaultdict(Counter)
        self.first: Dropped | None = None

    def drop(self, dropped: Dropped) -> None:
        self.counts[dropped.reason] += 1
        self.parts[dropped.split][dropped.reason] += 1
        self.first = self.first or dropped
        self.stream.write(line_of(dropped.as_dict()))

    def drop_candidate(self, candidate: Candidate, reason: str, value: str) -> None:
        self.drop(Dropped(candidate.place, candidate.id, reason, value, candidate.split))


class Spool:
    """Prepared records and their texts on disk, read back by offset."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream

    def write(self, record: Record, text: Text) -> int:
        offset = self.stream.tell()
        for row in (record, text):
            self.stream.write(line_of(row.as_dict()))
        return offset

    def read(self, candidate: Candidate) -> Record:
        self.stream.seek(candidate.offset)
        return Record(**json.loads(self.stream.readline()))

    def text(self, candidate: Candidate) -> Text:
        self.stream.seek(candidate.offset)
        self.stream.readline()
        return Text(**json.loads(self.stream.readline()))
