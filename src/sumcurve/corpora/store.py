"""Opens the folder of a finished corpus: its parts, their records in order, their text and their ids.

A part is read from its file at each access; only the records returned stay in memory.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from sumcurve.sources.raw import PARTS
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, RecordError, Text, open_bytes, parsed, read_jsonl, read_records

UNSEEN = "unseen"  # a second test part of groups that are held out whole; few corpora have it
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """A part of a corpus: train, valid, test or unseen. Iterating reads its records in order."""

    folder: Path
    name: str

    @property
    def path(self) -> Path:
        """Path of the tokenised records."""
        return self.folder / f"{self.name}.jsonl"

    @property
    def text_path(self) -> Path:
        """Path of the same records as people wrote them."""
        return self.folder / f"{self.name}.text.jsonl"

    def __iter__(self) -> Iterator[Record]:
        return read_records(self.path)

    def __len__(self) -> int:
        with open_bytes(self.path) as stream:
            return sum(1 for _ in stream)

    def __getitem__(self, positions: Sequence[int]) -> list[Record]:
        """The records at these positions, in the order of `positions`; reads no further than the last."""
        with open_bytes(self.path) as stream:
            lines = take(enumerate(stream, start=1), positions, self.path)
        return [parsed(line, self.path, number) for number, line in lines]

    @property
    def text(self) -> Iterator[Text]:
        """Texts as people wrote them, record by record in the order of the part."""
        for number, row in enumerate(read_jsonl(self.text_path), start=1):
            try:
                yield Text(**row)
            except TypeError as error:
                raise RecordError(f"{self.text_path}:{number}: not a record's text ({error}); rebuild it") from error

    @property
    def ids(self) -> list[str]:
        return [row["id"] for row in read_jsonl(self.path)]

    @property
    def with_text(self) -> Iterator[tuple[Record, Text]]:
        """Every record and its text; RecordError where the two files do not hold the same ids in the same order."""
        for number, (record, text) in enumerate(zip_longest(self, self.text), start=1):
            if record is None or text is None or record.id != text.id:
                ids = [row and row.id for row in (record, text)]
                raise RecordError(
                    f"{self.text_path}:{number}: id {ids[1]!r}, but {self.path.name} has {ids[0]!r} there; "
                    "rebuild their folder"
                )
            yield record, text


@dataclass(frozen=True)
class Corpus:
    """A finished corpus."""

    folder: Path

    def part(self, name: str) -> Part:
        """The part called "train", "valid", "test" or "unseen"; CorpusError for any other name."""
        names = (*PARTS, UNSEEN)
        if name not in names:
            raise CorpusError(f"{self.folder}: a corpus has no part {name!r}; parts are {', '.join(names)}")
        return Part(self.folder, name)

    @property
    def parts(self) -> list[Part]:
        """Parts of the corpus: train, valid and test, and unseen where groups are held out."""
        unseen = Part(self.folder, UNSEEN)
        return [Part(self.folder, name) for name in PARTS] + ([unseen] if unseen.path.is_file() else [])

    @property
    def statistics(self) -> dict[str, Any]:
        """Statistics of the raw records and of the parts (`corpora.prepare`)."""
        return json.loads(self.statistics_path.read_text(encoding="utf-8"))

    @property
    def harvest(self) -> dict[str, Any] | None:
        """Counts of the docstrings of a harvested corpus, `found` and `dropped` by reason; None for other corpora."""
        return json.loads(self.harvest_path.read_text(encoding="utf-8")) if self.harvest_path.is_file() else None

    @property
    def statistics_path(self) -> Path:
        return self.folder / "statistics.json"

    @property
    def harvest_path(self) -> Path:
        return self.folder / "harvest.json"

    @property
    def dropped_path(self) -> Path:
        """Path of the list of dropped raw records: a line each with file, line, id, reason and value."""
        return self.folder / "dropped.jsonl"


def take(rows: Iterable[T], positions: Sequence[int], where: object = "the training part") -> list[T]:
    """The rows at these positions, in the order of `positions`; reads the rows once, and none after the last.

    CorpusError, with `where`, if there are too few.
    """
    places = {position: place for place, position in enumerate(positions)}
    taken: dict[int, T] = {}
    for position, row in enumerate(rows) if places else ():
        if position in places:
            taken[places[position]] = row
            if len(taken) == len(places):
                break
    if len(taken) < len(places):
        raise CorpusError(f"{where} has fewer than {max(places) + 1} records; rebuild its folder")
    return [taken[place] for place in range(len(positions))]


def rows_of(part: Part, drawn: Sequence[int]) -> list[dict[str, Any]]:
    """Id, source, target (and references, group) of the records at these positions, sentences as people wrote them."""
    rows = []
    for record, text in take(part.with_text, drawn, part.path):
        rows.append(text.as_dict() | ({"group": record.group} if record.group is not None else {}))
    return rows


def read_salient(folder: Path, part: str) -> Iterator[list[tuple[int, int]]]:
    """The salient spans (half-open, of source tokens) of every record of a part, in order, of an annotation of them."""
    for row in read_jsonl(folder / f"{part}.jsonl"):
        yield [(start, end) for start, end in row["salient"]]
