"""The raw content of a corpus: one file, or the shards of a folder, and the records in them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from sumcurve.sources.raw import (
    NO_SPLIT,
    OTHER_SPLIT,
    Dropped,
    Place,
    RawRecord,
    RawText,
    Refused,
    check_numbers,
    identity,
    names_of,
    part_called,
    raw_record,
    renamed,
)
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import names_of_shards

PRECEDENCE = ("test", "valid", "train")  # parts in order: the first keeps records that two share, and is filled first

# Where parts that are ready come from: each record's field `split`, or for each part a pattern of files.
Ready = Literal["records"] | Mapping[str, str]


@dataclass(frozen=True)
class Shard:
    """One file of the content. `name` is its path below the corpus's folder, or just its name where there is none."""

    name: str
    path: Path
    part: str | None = None  # where its file states it


@dataclass(frozen=True)
class Content:
    """Raw content of a corpus.

    `path` is a file, or a folder whose shards are read in the order of their names: those with an ending of the source,
    or, with patterns for `ready`, those that the patterns name, the test part's first. `fields` maps our names of
    fields to the rows' (id to None: rows are numbered), and other fields are not read; None: they have our names and
    there are no others. Where a source has names of its own, these hold for None.
    `least` are limits of further fields that hold a number, as a grade that people gave: a row below one is dropped.
    `roles` maps parts that rows state to the parts that they are taken for; others stay as they are.
    `only` are patterns of the folder's files that are read, in place of the source's endings.
    `gather` names what rows of one record share, `source` or `id`: each has a target, and further ones are references.
    """

    path: Path
    source: Source
    fields: Mapping[str, Any] | None = None
    ready: Ready | None = None
    least: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    gather: str | None = None

    @cached_property
    def shards(self) -> list[Shard]:
        """The files in the order in which they are read.

        CorpusError where a part or all of them are missing, and where one is read with a file that is not among them,
        which the content's sha256 would not cover.
        """
        files = self._shards()
        paths = {shard.path for shard in files}
        for shard in files:
            for path in self.source.beside(shard.path):
                if path not in paths and path.is_file():
                    remedy = f"name the folder of both as raw.path, not {shard.path.name}"
                    if self.path.is_dir():
                        remedy = f"let the pattern of split.ready that names {shard.name} name both"
                    raise CorpusError(
                        f"{shard.path} is read with {path.name}, which is not of the content whose sha256 the study "
                        f"says: {remedy}"
                    )
        return files

    def _shards(self) -> list[Shard]:
        if not self.path.is_dir():
            if isinstance(self.ready, Mapping):
                raise CorpusError(f"{self.path} is no folder, but split.ready names files in it: check raw.path")
            return [Shard(self.path.name, self.path)]
        if not isinstance(self.ready, Mapping):
            return [
                Shard(name, self.path / name)
                for name in names_of_shards(self.path, patterns(self.source, only=self.only))
            ]
        shards: dict[str, Shard] = {}
        for part in filter(self.ready.get, PRECEDENCE):
            for name in names_of_shards(self.path, [self.ready[part]]):
                if name in shards:
                    raise CorpusError(
                        f"{self.path / name} is a file of {shards[name].part} and of {part}: make the patterns of "
                        "split.ready exclude each other"
                    )
                shards[name] = Shard(name, self.path / name, part)
        return list(shards.values())

    @property
    def several(self) -> bool:
        """Tell whether the content is a folder of shards, so that a row's number alone does not give its place."""
        return self.path.is_dir()

    def records(self) -> Iterator[RawRecord | Dropped]:
        """Every row of every shard: the record, or the reason why it is none. Ids may repeat.

        CorpusError for a file that cannot be read, for a record that states a part where the study draws parts,
        and for a limit, or a column of references, that no record has.
        """
        return gathered(self._rows, self.gather) if self.gather else self._rows()

    def _rows(self) -> Iterator[RawRecord | Dropped]:
        """`records`, each row by itself."""
        columns = self.named and self.named.get("references")
        lacking = {*self.least, *(columns if isinstance(columns, list) else ())}

        def noted(rows: Rows) -> Rows:
            for row in rows:
                if lacking and isinstance(row, Mapping):
                    lacking.difference_update(row)
                yield row

        for shard in self.shards:
            yield from self._read(shard, noted(self.source.rows(shard.path, self.names)))
        if lacking:
            name = sorted(lacking)[0]
            why = f"whose least is {self.least[name]} by raw.min" if name in self.least else "a column of references"
            raise CorpusError(
                f"{self.path}: no record has the field {name!r}, {why}: correct the name, or leave it out"
            )

    @property
    def named(self) -> Mapping[str, Any] | None:
        """Names of our fields in the rows: as stated by the study, or else their format; None: ours."""
        return self.source.fields if self.fields is None else self.fields

    @property
    def names(self) -> list[str] | None:
        """Names in the rows of the fields that are read, those with a limit among them; None: all are.

        Of several files not every one may have each column of references: then all are read.
        """
        if self.named is None:
            return None
        ours = names_of(self.named)
        if "chat" in self.named:
            ours |= {"source": self.named["chat"], "target": None}
        names = [name for of in ours.values() if of is not None for name in ([of] if isinstance(of, str) else of)]
        if isinstance(self.named.get("references"), list) and not any("." in name for name in names):
            return None
        return names + [name for name in self.least if name not in names]

    def _read(self, shard: Shard, rows: Rows) -> Iterator[RawRecord | Dropped]:
        """`records` of a shard's rows."""
        fields = self.named
        stated = "split" if fields is None else fields.get("split")
        number, file, several, part = 0, shard.name, self.several, shard.part
        for row in rows:
            if isinstance(row, Inside):
                part = shard.part or row.part
                if row.name:
                    number, file, several = 0, f"{shard.name}/{row.name}" if self.several else row.name, True
                continue
            number += 1
            place = Place(file, number, self.source.unit, several)
            name, own = None, part
            try:
                if isinstance(row, Refused):
                    raise row
                own = part or (part_called(row.get(stated)) if self.ready == "records" and stated else None)
                check_numbers(row, self.least)
                if fields is not None:
                    row = renamed(row, fields, place)
                elif self.least:
                    row = {name: value for name, value in row.items() if name not in self.least}
                name = identity(row)
                record = raw_record(row, place)
                yield self._in_part(record, shard.part)
            except Refused as refused:
                yield Dropped(place, name, refused.reason, refused.value, self.roles.get(own or "", own))

    def _in_part(self, record: RawRecord, part: str | None) -> RawRecord:
        """The record with the part that it is ready for, or none."""
        if part is not None:
            if record.split not in (None, part):
                raise Refused(OTHER_SPLIT, f"{record.split}, in a file of {part}")
            return replace(record, split=part)
        if self.ready is None and record.split is not None:
            raise CorpusError(
                f"{self.path}: {record.place}: the record's own split is {record.split}, but the study draws the "
                "parts: write `split: {ready: records}` in the study file, or leave the field `split` out"
            )
        if self.ready is not None and record.split is None:
            raise Refused(NO_SPLIT, "split.ready: records")
        return replace(record, split=self.roles.get(record.split or "", record.split))


def text_digest(text: RawText) -> bytes:
    """Digest of a text in small letters, without white space: equal where tokens are."""
    whole = text if isinstance(text, str) else " ".join(text)
    return hashlib.blake2b("".join(whole.split()).lower().encode(), digest_size=16).digest()


def gathered(read: Callable[[], Iterator[RawRecord | Dropped]], by: str) -> Iterator[RawRecord | Dropped]:
    """The records, with the targets of later rows of one source, or of one id (`by`), as references of the first.

    It reads twice. A row whose target the record has already is left as it is, a duplicate.
    """
    firsts: dict[tuple[str | None, str | bytes], tuple[int, set[bytes]]] = {}
    further: dict[int, list[RawText]] = {}
    taken = set()
    for number, raw in enumerate(read()):
        if isinstance(raw, Dropped):
            continue
        key = raw.split, raw.id if by == "id" else text_digest(raw.source)
        first, targets = firsts.setdefault(key, (number, set()))
        new = [text for text in (raw.target, *raw.references) if text_digest(text) not in targets]
        targets.update(map(text_digest, new))
        if first != number and new:
            further.setdefault(first, []).extend(new)
            taken.add(number)
    for number, raw in enumerate(read()):
        if number in further and isinstance(raw, RawRecord):
            yield replace(raw, references=[*raw.references, *further[number]])
        elif number not in taken:
            yield raw


def patterns(source: Source, ready: Ready | None = None, only: Sequence[str] = ()) -> tuple[str, ...]:
    """Patterns of the paths below a folder that are shards of its content."""
    if isinstance(ready, Mapping):
        return tuple(ready.values())
    if only:
        return tuple(only)
    return tuple(f"**/*{ending}" for ending in source.suffixes)
