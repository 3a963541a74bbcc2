"""The corpus that `prepare` makes, byte for byte, of raw content that is cut into shards: in flat memory, by many jobs.

`cut` reads all content once and cuts it at line ends into n shards. `map_shard` makes of a shard's rows records, in the
order of the keyed hash that orders a part, and 16 bytes for each question that concerns other shards: ids, groups,
sources, targets. `reduce` answers them from these hashes alone. `finish_shard` writes a piece of every part of the
corpus: the records of an n-th of the keyed hashes, whatever shard they came from. `assemble` puts these pieces one
behind the other. No piece depends on how many workers there are, and the corpus not on how many shards.

Where near-duplicates are dropped, `map_shard` also writes the shingles of every source, and keys of its bands by which
it may be near another. `near_shard` finds the pairs of sources that are near each other under an n-th of these keys,
whatever becomes of their records; `reduce` reads them, and decides.

Every step writes a JSON file last, which says that it is finished: a step that finds its own does nothing.
"""

import hashlib
import heapq
import json
import os
import shutil
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import combinations_with_replacement, groupby, pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from sumcurve.corpora.duplicates import BANDS, keys_of, near_pairs, shingles_of
from sumcurve.corpora.prepare import (
    BEYOND,
    DUPLICATE_ID,
    NEAR_DUPLICATE,
    NEAR_SHARED,
    SAME_SOURCE,
    SAME_TARGET,
    SHARED_GROUP,
    SHARED_ID,
    SHARED_SOURCE,
    SHARED_TARGET,
    check_shared,
    counts_of,
    digests_of,
    holds_out,
    keyed,
    line_of,
    no_such_group,
    nothing_left,
    tokenized,
    too_few,
    unit_of,
)
from sumcurve.corpora.statistics import Statistics
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.cleaning import Cleaned, StepRefused
from sumcurve.sources.content import PRECEDENCE, Content, Shard
from sumcurve.sources.raw import Dropped, Place, RawRecord, Refused, excerpt
from sumcurve.sources.source import Member
from sumcurve.store.errors import CorpusError
from sumcurve.store.fingerprint import fingerprint
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import Record, write_json

RUN = 64_000_000  # bytes of prepared records that are sorted in memory
CHUNK = 1 << 24  # bytes of raw content in memory while it is cut
COMPARED = 1 << 25  # bytes of shingles in memory that are compared
PASSES = 16  # in which hashes are compared, a sixteenth of them at a time
SPLITS = (None, *PRECEDENCE)  # by their numbers in `Rows.split`
PARTS_OF_CORPUS = (*PRECEDENCE, UNSEEN)  # by their numbers less 1 in kept.npy; 0: not kept
FIELDS = ("id", "unit", "source", "target")  # of which there are 16 bytes a row
# What became of a row in its shard: it is no record, no filter lets it pass, it may be kept. With a group is one more.
NO_RECORD, REFUSED, CANDIDATE = 0, 1, 2
# Reasons that only all shards together give, by their numbers in reduced rows
REASONS = (
    DUPLICATE_ID,
    SHARED_ID,
    SHARED_GROUP,
    SAME_SOURCE,
    SHARED_SOURCE,
    SAME_TARGET,
    SHARED_TARGET,
    NEAR_DUPLICATE,
    NEAR_SHARED,
)
BY_HASH = np.dtype([("high", "<u8"), ("low", "<u8"), ("row", "<i8"), ("start", "<i8"), ("bytes", "<i8", 2)])
REDUCED = np.dtype([("row", "<i8"), ("reason", "u1"), ("owner", "<i8")])


@dataclass(frozen=True)
class Piece:
    """Some rows of a file: bytes of it, a member, or all of it, where `end` is None. `first` is the first's number."""

    file: str
    part: str | None
    start: int
    end: int | None
    first: int
    checksum: str  # of these bytes, sha256, and of files that are read with them; of a member, what its archive says
    member: str | None = None


@dataclass(frozen=True)
class Work:
    """Where the steps of one preparation meet, and how many shards it has."""

    folder: Path
    shards: int

    @property
    def plan(self) -> Path:
        return self.folder / "plan.json"

    @property
    def reduced(self) -> Path:
        return self.folder / "reduce.json"

    def mapped(self, number: int) -> Path:
        return self.folder / f"map-{number:05d}.json"

    def compared(self, number: int) -> Path:
        return self.folder / f"near-{number:05d}.json"

    def finished(self, number: int) -> Path:
        return self.folder / f"finish-{number:05d}.json"

    @classmethod
    def complete(cls, home: Path, name: str) -> "Work | None":
        """One of which all shards are finished; None where there is none. CorpusError where its pieces are removed."""
        for folder in sorted((home / "scratch" / "shards").glob(f"{name}-of-*")):
            work = cls(folder, int(folder.name.rsplit("-", 1)[1]))
            finished = [work.finished(number) for number in range(work.shards)]
            if not all(told.is_file() for told in finished):
                continue
            if not all(told.with_suffix("").is_dir() for told in finished):
                raise CorpusError(
                    f"{folder}: the pieces were removed when a corpus was made of them: delete it, run again"
                )
            return work
        return None


def refuse_unsharded(settings: Preparation) -> None:
    """CorpusError for what is asked of a preparation that only one process can do."""
    if settings.compose is not None:
        raise CorpusError(
            "compose joins records of all shards in one process: take `shards` out of the corpus, or leave compose out"
        )


# --- cut


def cut(content: Content, settings: Preparation, work: Work) -> str:
    """Write plan.json; the sha256 of the content, as a study pins it.

    What earlier steps of another plan left is removed.
    """
    refuse_unsharded(settings)
    pieces: list[list[Piece]] = [[] for _ in range(work.shards)]
    units = [(shard, unit, size) for shard in content.shards for unit, size in units_of(content, shard)]
    total = sum(size for *_, size in units)
    borders = [total * number // work.shards for number in range(1, work.shards)]
    hashes: dict[str, str] = {}
    before = 0
    for shard, member, size in units:
        number = sum(border <= before for border in borders)  # of the job that gets the unit's first row
        if member is None and content.source.lines(shard.path):
            inside = [border - before for border in borders if before < border < before + size]
            found, hashes[shard.name] = cut_file(shard, inside)
            for offset, piece in enumerate(found):
                if piece.end != piece.start or not size:
                    pieces[number + offset].append(piece)
        elif member is None:
            hashes[shard.name], *others = whole_of(content, shard)
            told = " ".join([hashes[shard.name], *others])
            pieces[number].append(Piece(shard.name, shard.part, 0, None, 1, told))
        else:
            if shard.name not in hashes:
                hashes[shard.name] = sha256_file(shard.path)
            pieces[number].append(Piece(shard.name, shard.part, 0, None, 1, member.checksum, member.name))
        before += size
    plan = {
        "code": code_of(content),
        "settings": settings.model_dump(mode="json", by_alias=True, include={"compose", "prepare", "split"}),
        "shards": work.shards,
        "pieces": [list(map(asdict, some)) for some in pieces],
    }
    if not work.plan.is_file() or json.loads(work.plan.read_text()) != plan:
        shutil.rmtree(work.folder, ignore_errors=True)
        work.folder.mkdir(parents=True)
        write_json(work.plan, plan)
    if not content.several:
        (whole,) = hashes.values()
        return whole
    lines = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    return hashlib.sha256(lines.encode()).hexdigest()


def units_of(content: Content, shard: Shard) -> list[tuple[Member | None, int]]:
    """What of a file can be read by itself, and its bytes: members of an archive, or all of it (None)."""
    if shard.path.is_dir():
        raise CorpusError(f"{shard.path} is read as one by its format: take `shards` out of the corpus")
    members = content.source.members(shard.path)
    return [(member, member.packed) for member in members] or [(None, shard.path.stat().st_size)]


def cut_file(shard: Shard, borders: Sequence[int]) -> tuple[list[Piece], str]:
    """Its pieces, each up to the line end at or behind a border, and the last; and the sha256 of all of it."""
    whole, own = hashlib.sha256(), hashlib.sha256()
    pieces: list[Piece] = []
    left = list(borders)
    start = position = 0
    first = lines = 1

    def close() -> None:  # what was read since the last border
        nonlocal start, first, own
        pieces.append(Piece(shard.name, shard.part, start, position, first, own.hexdigest()))
        start, first, own = position, lines, hashlib.sha256()

    with shard.path.open("rb") as stream:
        while data := stream.read(CHUNK):
            whole.update(data)
            taken = 0
            while left and (end := data.find(b"\n", max(taken, left[0] - 1 - position + taken))) >= 0:
                own.update(data[taken : end + 1])
                lines += data.count(b"\n", taken, end + 1)
                position += end + 1 - taken
                taken = end + 1
                while left and left[0] <= position:
                    left.pop(0)
                    close()
            own.update(data[taken:])
            lines += data.count(b"\n", taken)
            position += len(data) - taken
        for _ in left:
            close()
        close()
    return pieces, whole.hexdigest()


def code_of(content: Content) -> str:
    """The fingerprint of the code that decides what the steps write."""
    return fingerprint(__name__, content.source.rows.__module__)


def planned(work: Work, content: Content) -> dict[str, Any]:
    """What plan.json says; CorpusError where it is missing or of other code."""
    try:
        plan = json.loads(work.plan.read_text())
    except FileNotFoundError:
        raise CorpusError(f"{work.plan} is missing: make it first") from None
    if plan["code"] != code_of(content):
        raise CorpusError(f"{work.folder} was begun by other code: delete it, then run again")
    return plan


# --- map


class Mapped:
    """What a shard's rows are, in their order: what became of each, and its hashes."""

    def __init__(self) -> None:
        self.state, self.split = bytearray(), bytearray()
        self.unseen, self.bucket = array("h"), array("H")
        self.hashes = {name: bytearray() for name in FIELDS}

    def add(self, state: int, split: str | None = None, unseen: int = -1, bucket: int = 0, **hashes: bytes) -> None:
        self.state.append(state)
        self.split.append(SPLITS.index(split))
        self.unseen.append(unseen)
        self.bucket.append(bucket)
        for name in FIELDS:
            self.hashes[name] += hashes.get(name, bytes(16))

    def write(self, folder: Path) -> None:
        columns = {"state": self.state, "split": self.split}
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", np.frombuffer(column, np.uint8))
        np.save(folder / "unseen.npy", np.asarray(self.unseen, np.int16))
        np.save(folder / "bucket.npy", np.asarray(self.bucket, np.uint16))
        for name, found in self.hashes.items():
            np.save(folder / f"{name}.npy", words_of(found))


def words_of(hashes: bytes | bytearray) -> np.ndarray:
    """Hashes of 16 bytes as two numbers each, in the order of the bytes."""
    return np.frombuffer(hashes, ">u8").astype(np.uint64).reshape(-1, 2)


class Spool:
    """A shard's records and texts, sorted by their keyed hashes within runs of RUN bytes."""

    def __init__(self, folder: Path) -> None:
        self.stream = (folder / "spool").open("wb")
        self.index: list[np.ndarray] = []
        self.waiting: list[tuple[bytes, int, bytes, bytes]] = []
        self.bytes = self.start = 0

    def add(self, place: bytes, row: int, record: bytes, text: bytes) -> None:
        self.waiting.append((place, row, record, text))
        self.bytes += len(record) + len(text)
        if self.bytes >= RUN:
            self.flush()

    def flush(self) -> None:
        if not self.waiting:
            return
        self.waiting.sort()
        found = np.empty(len(self.waiting), BY_HASH)
        high, low = words_of(b"".join(place for place, *_ in self.waiting)).T
        found["high"], found["low"] = high, low
        found["row"] = [row for _, row, *_ in self.waiting]
        found["bytes"] = [(len(record), len(text)) for *_, record, text in self.waiting]
        ends = self.start + found["bytes"].sum(1).cumsum()
        found["start"] = ends - found["bytes"].sum(1)
        for *_, record, text in self.waiting:
            self.stream.write(record)
            self.stream.write(text)
        self.start = int(ends[-1])
        self.index.append(found)
        self.waiting, self.bytes = [], 0

    def close(self, folder: Path) -> list[int]:
        """Write the index; how many records each run has."""
        self.flush()
        sync(self.stream)
        self.stream.close()
        np.save(folder / "index.npy", np.concatenate([np.empty(0, BY_HASH), *self.index]))
        return [len(run) for run in self.index]


class Shingles:
    """The shingles of a shard's candidates, one source behind the other, and the keys of their bands."""

    def __init__(self, folder: Path) -> None:
        self.stream = (folder / "shingles").open("wb")
        self.rows, self.ends = array("q"), array("q", [0])
        self.keys = array("Q")

    def add(self, row: int, text: str) -> None:
        found = shingles_of(text)
        self.stream.write(found.astype("<u8").tobytes())
        self.rows.append(row)
        self.ends.append(self.ends[-1] + len(found))
        self.keys.extend(keys_of(found))

    def close(self, folder: Path, rows: int) -> None:
        """Write keys.npy ([2, keys]: the keys, rising, and their rows) and spans.npy (where a row's shingles are)."""
        sync(self.stream)
        self.stream.close()
        own, keys = np.asarray(self.rows, np.uint64), np.asarray(self.keys, np.uint64)
        of = own.repeat(BANDS)
        order = np.lexsort((of, keys))
        np.save(folder / "keys.npy", np.stack([keys[order], of[order]]))
        spans = np.zeros((rows, 2), np.int64)
        spans[own] = np.stack([self.ends[:-1], self.ends[1:]], 1)
        np.save(folder / "spans.npy", spans)


def map_shard(content: Content, settings: Preparation, work: Work, number: int) -> None:
    """Write map-NUMBER/ and, last, map-NUMBER.json."""
    plan = planned(work, content)
    if work.mapped(number).is_file():
        return
    folder = emptied(work.mapped(number))
    shards = {shard.name: shard for shard in content.shards}
    key, unseen = settings.split.key, settings.split.unseen or ()
    mapped, spool = Mapped(), Spool(folder)
    shingles = None if settings.prepare.near_duplicates is None else Shingles(folder)
    runs = Runs()
    with (folder / "dropped.jsonl").open("wb") as dropped, (folder / "names.jsonl").open("wb") as names:
        for piece in (Piece(**told) for told in plan["pieces"][number]):
            for row in read_piece(content, shards[piece.file], piece):
                place = len(mapped.state)
                runs.add(row.place)
                if isinstance(row, Dropped):
                    write_line(dropped, [place, row.as_dict(), row.split])
                    mapped.add(NO_RECORD, row.split)
                    continue
                identity = keyed("", "id", row.id)
                steps = Steps()
                try:
                    record, text = tokenized(row, settings.prepare, steps)
                except Refused as refused:
                    write_line(names, [place, row.id, row.group, *steps.names])
                    told = Dropped(row.place, row.id, refused.reason, refused.value, row.split)
                    write_line(dropped, [place, told.as_dict(), row.split])
                    mapped.add(REFUSED, row.split, id=identity)
                    continue
                write_line(names, [place, row.id, row.group, *steps.names])
                source, target = digests_of(record)
                order = keyed(key, "record", row.id)
                held = holds_out(row.group, unseen)
                mapped.add(
                    CANDIDATE + (row.group is not None),
                    row.split,
                    unseen=-1 if held is None else unseen.index(held),
                    bucket=int.from_bytes(order[:8]) * work.shards >> 64,
                    id=identity,
                    unit=keyed(key, "group", unit_of(row.id, row.group)),
                    source=source,
                    target=target,
                )
                spool.add(order, place, line_of(record.as_dict()), line_of(text.as_dict()))
                if shingles is not None:
                    shingles.add(place, " ".join(record.source))
        for stream in (dropped, names):
            sync(stream)
    sizes = spool.close(folder)
    mapped.write(folder)
    if shingles is not None:
        shingles.close(folder, len(mapped.state))
    write_json(work.mapped(number), {"rows": len(mapped.state), "places": runs.found, "runs": sizes})


class Steps:
    """The `names` of the steps of cleaning that changed one row, that would have dropped it, and that dropped it."""

    def __init__(self) -> None:
        self.names: list[Sequence[str]] = [(), (), ()]

    def add(self, cleaned: Cleaned) -> None:
        self.names[:2] = cleaned.changed, cleaned.left

    def drop(self, refused: StepRefused) -> None:
        self.names[2] = (refused.step,)


class Runs:
    """Where rows stand that are numbered one behind the other: file, first number, how many, and how it is said."""

    def __init__(self) -> None:
        self.found: list[list[Any]] = []

    def add(self, place: Place) -> None:
        last = self.found[-1] if self.found else None
        if last is None or last[0] != place.file or place.number != last[1] + last[2]:
            last = [place.file, place.number, 0, place.unit, place.several]
            self.found.append(last)
        last[2] += 1


def read_piece(content: Content, shard: Shard, piece: Piece) -> Iterator[RawRecord | Dropped]:
    """Its rows, after its bytes were hashed; CorpusError where they have changed since the content was cut."""
    if piece.member is not None:
        found = next((one.checksum for one in content.source.members(shard.path) if one.name == piece.member), "")
    elif piece.end is None:
        found = " ".join(whole_of(content, shard))
    else:
        found = sha256_between(shard.path, piece.start, piece.end)
    if found != piece.checksum:
        raise CorpusError(f"{shard.path} has changed since it was cut into shards: run the whole preparation again")
    if piece.member is not None and content.source.member is not None:
        rows = content.source.member(shard.path, piece.member)
    elif piece.end is None or content.source.between is None:
        rows = content.source.rows(shard.path, content.names)
    else:
        rows = content.source.between(shard.path, piece.start, piece.end)
    return content.read(shard, rows, piece.first)


def whole_of(content: Content, shard: Shard) -> list[str]:
    """The sha256 of a file that is read as a whole, and of those that are read with it."""
    return [sha256_file(path) for path in (shard.path, *content.source.beside(shard.path))]


def sha256_between(path: Path, start: int, end: int) -> str:
    whole = hashlib.sha256()
    with path.open("rb") as stream:
        stream.seek(start)
        while start < end and (data := stream.read(min(CHUNK, end - start))):
            whole.update(data)
            start += len(data)
    return whole.hexdigest()


def write_line(stream: IO[bytes], value: Any) -> None:
    stream.write(line_of(value))


def sync(stream: IO[bytes]) -> None:
    """Have what was written lie on the disc before a step says that it is finished."""
    stream.flush()
    os.fsync(stream.fileno())


def emptied(told: Path) -> Path:
    """The folder of a step, without what a step that was stopped left in it."""
    folder = told.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


# --- rows


class Rows:
    """The rows of all shards, one behind the other, as the map steps wrote them."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.told = []
        for number in range(work.shards):
            try:
                self.told.append(json.loads(work.mapped(number).read_text()))
            except FileNotFoundError:
                raise CorpusError(f"{work.mapped(number)} is missing: make it first") from None
        self.bases = np.cumsum([0, *(told["rows"] for told in self.told)])
        self.total = int(self.bases[-1])

    def column(self, name: str) -> np.ndarray:
        """A small number of every row."""
        return np.concatenate([self.of(number, name) for number in range(self.work.shards)])

    def of(self, number: int, name: str) -> np.ndarray:
        """What a shard's map step wrote, mapped into memory."""
        return np.load(self.work.mapped(number).with_suffix("") / f"{name}.npy", mmap_mode="r")

    def passes(self, name: str, wanted: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The wanted rows by their hashes `name`, rising, in PASSES parts; and both halves of these hashes."""
        for number in range(PASSES):
            least, most = np.uint64(number * (1 << 60)), np.uint64((number + 1) * (1 << 60) - 1)
            rows, hashes = [], []
            for shard, base in enumerate(self.bases[:-1].tolist()):
                found = self.of(shard, name)
                high = found[:, 0]
                here = np.flatnonzero((high >= least) & (high <= most) & wanted[base : base + len(high)])
                rows.append((here + base).astype(np.int64))
                hashes.append(found[here])
            row, both = np.concatenate(rows), np.concatenate(hashes)
            order = np.lexsort((row, both[:, 1], both[:, 0]))
            yield row[order], both[order, 0], both[order, 1]

    def repeated(self, name: str, wanted: np.ndarray) -> Iterator[np.ndarray]:
        """Of wanted rows those that have one hash `name`, in their order; two or more."""
        for row, high, low in self.passes(name, wanted):
            same = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
            edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
            for start, end in edges.reshape(-1, 2).tolist():
                yield row[start : end + 1]

    def numbered(self, name: str, wanted: np.ndarray) -> tuple[np.ndarray, int]:
        """Of every row a number that it shares with the wanted rows of the same hash `name`, -1 where it shares none;
        and how many numbers there are."""
        found = np.full(self.total, -1, np.int32)
        count = 0
        for row, high, low in self.passes(name, wanted):
            if not len(row):
                continue
            same = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
            begins = np.concatenate([[True], ~same])
            repeats = ~begins | np.concatenate([same, [False]])
            numbers = np.cumsum(begins & repeats) - 1 + count
            found[row[repeats]] = numbers[repeats]
            count += int((begins & repeats).sum())
        return found, count

    def by_shard(self, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Of each shard that has some of the rows: which of them, rising, and their numbers in it."""
        order = np.argsort(rows, kind="stable")
        edges = np.searchsorted(rows[order], self.bases)
        for shard in np.flatnonzero(np.diff(edges)).tolist():
            here = order[edges[shard] : edges[shard + 1]]
            yield shard, here, rows[here] - self.bases[shard]

    def at(self, name: str, rows: np.ndarray) -> np.ndarray:
        """What two numbers the rows have under `name`."""
        found = np.empty((len(rows), 2), self.of(0, name).dtype)
        for shard, here, places in self.by_shard(rows):
            found[here] = self.of(shard, name)[places]
        return found

    def shingles(self, rows: np.ndarray, spans: np.ndarray) -> list[np.ndarray]:
        """Those of each row."""
        found = [np.empty(0, np.uint64)] * len(rows)
        for shard, here, _ in self.by_shard(rows):
            with (self.work.mapped(shard).with_suffix("") / "shingles").open("rb", buffering=0) as stream:
                for row, (start, end) in zip(here.tolist(), spans[here].tolist(), strict=True):
                    stream.seek(8 * start)
                    found[row] = np.frombuffer(stream.read(8 * (end - start)), "<u8").astype(np.uint64, copy=False)
        return found

    def place(self, row: int) -> Place:
        """Where a row stands."""
        shard = int(np.searchsorted(self.bases, row, side="right")) - 1
        row -= int(self.bases[shard])
        for file, first, count, unit, several in self.told[shard]["places"]:
            if row < count:
                return Place(file, first + row, unit, several)
            row -= count
        raise IndexError(row)


# --- near


def near_shard(content: Content, settings: Preparation, work: Work, number: int) -> None:
    """Write near-NUMBER/ and, last, near-NUMBER.json: pairs of rows, the earlier first, whose sources are near each
    other by a key that falls to this number, and no two sources twice."""
    planned(work, content)
    threshold = settings.prepare.near_duplicates
    if threshold is None:
        raise CorpusError(f"{work.compared(number)} is no step of a preparation without prepare.near_duplicates")
    if work.compared(number).is_file():
        return
    folder = emptied(work.compared(number))
    rows = Rows(work)
    keys, row = first_rows(rows, *keyed_rows(rows, number))
    spans = rows.at("spans", row)
    count = 0
    with (folder / "pairs").open("wb") as stream:
        for some, border in batches(keys, spans[:, 1] - spans[:, 0]):
            found = near_pairs(rows.shingles(row[some], spans[some]), keys[some], threshold, border)
            stream.write(row[some][found].astype("<i8").tobytes())
            count += len(found)
        sync(stream)
    write_json(work.compared(number), {"pairs": count})


def keyed_rows(rows: Rows, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Of the keys that fall to this number those of more rows than one, and their rows; by key, then by row."""
    least, most = (bound(number + offset, rows.work.shards) for offset in (0, 1))
    keys, row = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for shard, base in enumerate(rows.bases[:-1].tolist()):
        key, place = rows.of(shard, "keys")
        first = int(np.searchsorted(key, np.uint64(least)))
        last = len(key) if most >> 64 else int(np.searchsorted(key, np.uint64(most)))
        keys.append(key[first:last])
        row.append(place[first:last].astype(np.int64) + base)
    together, of = np.concatenate(keys), np.concatenate(row)
    order = np.argsort(together, kind="stable")  # rows rise already
    return shared_keys(together[order], of[order])


def first_rows(rows: Rows, keys: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each source, which stands for all that repeat it, of keys that several sources have."""
    source = rows.at("source", row)
    order = np.lexsort((row, source[:, 1], source[:, 0], keys))
    columns = (keys, *source.T)
    begins = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    first = np.sort(order[np.concatenate([[True], begins])[: len(order)]])
    return shared_keys(keys[first], row[first])


def shared_keys(keys: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of sorted keys, and their rows, those that stand there more than once."""
    same = keys[1:] == keys[:-1]
    several = np.concatenate([[False], same]) | np.concatenate([same, [False]])
    return keys[several[: len(keys)]], row[several[: len(keys)]]


def batches(keys: np.ndarray, sizes: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Places to compare at a time, of COMPARED bytes of shingles at most, and a border (`near_pairs`).

    All of a key are in one; of one that is larger, each two blocks are, with the border between them.
    """
    before = np.cumsum(np.pad(sizes, (1, 0))) * 8  # bytes
    edges = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
    begin = 0
    for start, end in pairwise(edges):
        if before[end] - before[begin] > COMPARED and begin < start:
            yield np.arange(begin, start), 0
            begin = start
        if before[end] - before[begin] > COMPARED:
            block = (before[start:end] - before[start]) // (COMPARED // 2)
            blocks = np.split(np.arange(start, end), np.flatnonzero(np.diff(block)) + 1)
            for one, other in combinations_with_replacement(blocks, 2):
                yield (one, 0) if one is other else (np.concatenate([one, other]), len(one))
            begin = end
    if begin < len(keys):
        yield np.arange(begin, len(keys)), 0


# --- reduce


class Near:
    """Which sources are near each other: of every row the number of its source, -1 where none repeats it or is near it,
    and of every source the others."""

    def __init__(self, rows: Rows, candidates: np.ndarray) -> None:
        """`candidates`: all that map steps let pass, since rows that stand for a source may leave for its id."""
        self.of_row, self.count = rows.numbered("source", candidates)
        pairs = [np.empty((0, 2), np.int64)]
        for number in range(rows.work.shards):
            told = rows.work.compared(number)
            if not told.is_file():
                raise CorpusError(f"{told} is missing: make it first")
            pairs.append(np.fromfile(told.with_suffix("") / "pairs", "<i8").reshape(-1, 2))
        together = np.concatenate(pairs)
        found = np.unique(together)
        alone = found[self.of_row[found] < 0]  # that no other row repeats
        self.of_row[alone] = self.count + np.arange(len(alone))
        self.count += len(alone)
        one, other = self.of_row[together].T
        ones = np.concatenate([one, other])
        order = np.argsort(ones, kind="stable")
        self.others = np.concatenate([other, one])[order]
        self.edges = np.searchsorted(ones[order], np.arange(self.count + 1))

    def of(self, number: int) -> np.ndarray:
        """The sources that are near this one."""
        return self.others[self.edges[number] : self.edges[number + 1]]


class Drops:
    """Rows that only all shards together drop, with the reason and the row for which each gives way."""

    def __init__(self) -> None:
        self.rows, self.owners = array("q"), array("q")
        self.reasons = bytearray()

    def add(self, row: int, reason: str, owner: int) -> None:
        self.rows.append(row)
        self.reasons.append(REASONS.index(reason))
        self.owners.append(owner)

    def sorted(self) -> np.ndarray:
        found = np.empty(len(self.rows), REDUCED)
        found["row"], found["owner"] = self.rows, self.owners
        found["reason"] = np.frombuffer(self.reasons, np.uint8)
        return found[np.argsort(found["row"], kind="stable")]


def reduce(content: Content, settings: Preparation, work: Work) -> None:
    """Write kept.npy (of every row the part that it may be in), reduced.npy and, last, reduce.json."""
    planned(work, content)
    if work.reduced.is_file():
        return
    rows, drops = Rows(work), Drops()
    state, split = rows.column("state"), rows.column("split")
    near = None if settings.prepare.near_duplicates is None else Near(rows, state >= CANDIDATE)
    drop_repeated_ids(rows, state, split, drops)
    candidates = state >= CANDIDATE
    if not candidates.any():
        raise CorpusError(nothing_left(content, rows.total, first_dropped(rows)))
    if content.ready is not None:
        drop_shared(rows, state, split, candidates, drops)
    if near is not None or settings.prepare.duplicates == "drop":
        drop_duplicates(rows, split, candidates, drops, settings.prepare.duplicates == "drop", near)
    shared = None
    if content.ready is not None and settings.prepare.duplicates == "keep":
        shared = shared_by(rows, split, candidates)
        many = np.bincount(split[candidates], minlength=len(SPLITS)).tolist()
        check_shared(content.path, shared, {part: many[SPLITS.index(part)] for part in PRECEDENCE})
    kept = np.zeros(rows.total, np.uint8)
    held = rows.column("unseen") if settings.split.unseen else None
    if held is not None:
        names = settings.split.unseen or ()
        there = np.bincount(held[candidates & (held >= 0)], minlength=len(names))
        for name, count in zip(names, there.tolist(), strict=True):
            if not count:
                raise CorpusError(no_such_group(content.path, name))
        kept[candidates & (held >= 0)] = 1 + PARTS_OF_CORPUS.index(UNSEEN)
        candidates &= held < 0
    if content.ready is not None:
        kept[candidates] = split[candidates]  # numbered alike
    else:
        fill(rows, candidates, kept, settings.split.test or 0, settings.split.valid or 0)
    bucket = rows.column("bucket")
    counts = np.stack(
        [np.bincount(bucket[kept == 1 + part], minlength=work.shards) for part in range(len(PARTS_OF_CORPUS))]
    )  # [parts, shards]
    sizes = {"test": settings.split.test, "valid": settings.split.valid, "train": settings.split.train}
    found = dict(zip(PARTS_OF_CORPUS, counts.sum(1).tolist(), strict=True))
    if any(found[part] < (sizes[part] or 1) for part in PRECEDENCE):
        total = Counter(REASONS[number] for number in drops.reasons)
        left = sum(found[part] for part in PRECEDENCE)
        dropped = total + dropped_in_shards(rows, {*drops.rows})
        raise CorpusError(too_few(content.path, left, found, sizes, dropped, content.ready is None))
    np.save(work.folder / "kept.npy", kept)
    np.save(work.folder / "reduced.npy", drops.sorted())
    before = np.cumsum(np.pad(counts, ((0, 0), (1, 0))), axis=1)[:, :-1]  # records of each part in earlier buckets
    write_json(work.reduced, {"read": rows.total, "parts": found, "before": before.tolist(), "shared": shared})


def drop_repeated_ids(rows: Rows, state: np.ndarray, split: np.ndarray, drops: Drops) -> None:
    """Of records of one id, in each part where parts are ready, the first stays, whatever becomes of it."""
    for part in np.unique(split).tolist():
        for same in rows.repeated("id", (state >= REFUSED) & (split == part)):
            owner, *others = same.tolist()
            for row in others:
                drops.add(row, DUPLICATE_ID, owner)
                state[row] = NO_RECORD


def drop_shared(rows: Rows, state: np.ndarray, split: np.ndarray, candidates: np.ndarray, drops: Drops) -> None:
    """Of parts that are ready, a record whose id or group an earlier part has leaves: `prepare.without_shared`."""
    leaves: dict[int, tuple[str, int]] = {}
    grouped = candidates & (state == CANDIDATE + 1)
    for name, reason, wanted in (("unit", SHARED_GROUP, grouped), ("id", SHARED_ID, candidates)):  # ids come first
        for same in rows.repeated(name, wanted):
            ranks = split[same]
            owner = int(same[np.argmin(ranks)])  # the first of the earliest part
            leaves |= dict.fromkeys(same[ranks > ranks.min()].tolist(), (reason, owner))
    for row, (reason, owner) in leaves.items():
        drops.add(row, reason, owner)
        candidates[row] = False


def drop_duplicates(
    rows: Rows, split: np.ndarray, candidates: np.ndarray, drops: Drops, exact: bool, near: Near | None
) -> None:
    """One candidate after another, in the order of `prepare.without_duplicates`.

    Only those that share a source or target with others, or are near another, are looked at: no other one can change
    what becomes of them. The first kept row that a row repeats or is near is the only one to compare with: where it
    gives way to none of its part, it gives way to no later one, since these are of the same part or a later one.
    """
    asked = []  # of every row a number, of every number the first kept row that has it, and both reasons
    if exact:
        sources = rows.numbered("source", candidates) if near is None else (near.of_row, near.count)
        for (numbers, count), reasons in (
            (sources, (SAME_SOURCE, SHARED_SOURCE)),
            (rows.numbered("target", candidates), (SAME_TARGET, SHARED_TARGET)),
        ):
            asked.append((numbers, np.full(count, -1, np.int64), reasons))
    if near is not None:
        asked.append((near.of_row, np.full(near.count, -1, np.int64), (NEAR_DUPLICATE, NEAR_SHARED)))
    looked_at = np.logical_or.reduce([numbers >= 0 for numbers, *_ in asked])
    for part in np.unique(split[candidates]).tolist():
        some = np.flatnonzero(looked_at & candidates & (split == part))
        for start in range(0, len(some), 1 << 20):
            for row in some[start : start + (1 << 20)].tolist():
                has = [int(numbers[row]) for numbers, *_ in asked]
                for number, (_, own, (same, shared)) in zip(has, asked, strict=True):
                    owner = int(own[number]) if number >= 0 else -1
                    if owner >= 0 and gives_way(part, int(split[owner])):
                        drops.add(row, same if split[owner] == part else shared, owner)
                        candidates[row] = False
                        break
                else:
                    for number, (_, own, _) in zip(has, asked, strict=True):
                        if number >= 0 and own[number] < 0:
                            own[number] = row
                    if near is not None and has[-1] >= 0:
                        others = near.of(has[-1])
                        own[others[own[others] < 0]] = row


def shared_by(rows: Rows, split: np.ndarray, candidates: np.ndarray) -> dict[str, dict[str, int]]:
    """`prepare.shared_by`."""
    (sources, _), (targets, count) = (rows.numbered(name, candidates) for name in ("source", "target"))
    both = np.flatnonzero((sources >= 0) & (targets >= 0))
    _, pair = np.unique(sources[both].astype(np.int64) * count + targets[both], return_inverse=True)
    found = {
        part: np.bincount(pair[split[both] == SPLITS.index(part)], minlength=len(both)) for part in PARTS
    }  # [pairs], how often each stands in the part
    return {
        part: {other: int(found[part][found[other] > 0].sum()) for other in PARTS if other != part} for part in PARTS
    }


def gives_way(part: int, owner: int) -> bool:
    """`prepare.gives_way`, of parts by their numbers in SPLITS."""
    return SPLITS[part] in (None, "train") or (SPLITS[part], SPLITS[owner]) == ("valid", "test")


def fill(rows: Rows, candidates: np.ndarray, kept: np.ndarray, test: int, valid: int) -> None:
    """Whole groups in the order of their keyed hashes: `prepare.filled`."""
    sizes = {1 + PARTS_OF_CORPUS.index(name): size for name, size in (("test", test), ("valid", valid))}
    train = 1 + PARTS_OF_CORPUS.index("train")
    filled = dict.fromkeys(sizes, 0)
    kept[candidates] = train
    for row, high, low in rows.passes("unit", candidates):
        if not len(row):
            continue
        same = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
        starts = np.flatnonzero(np.concatenate([[True], ~same]))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True):
            part = next((part for part, size in sizes.items() if filled[part] < size), train)
            if part == train:
                return
            kept[row[start:end]] = part
            filled[part] += end - start


def first_dropped(rows: Rows) -> Dropped | None:
    """The first row that is no record or that no filter lets pass."""
    for number in range(rows.work.shards):
        for row, told, split in read_lines(rows.work.mapped(number).with_suffix("") / "dropped.jsonl"):
            return Dropped(rows.place(int(rows.bases[number]) + row), told["id"], told["reason"], told["value"], split)
    return None


def dropped_in_shards(rows: Rows, together: set[int]) -> Counter[str]:
    """What shards dropped, by reason, without the rows that all of them drop together: a repeated id counts first."""
    return Counter(
        told["reason"]
        for number, base in enumerate(rows.bases[:-1].tolist())
        for place, told, _ in read_lines(rows.work.mapped(number).with_suffix("") / "dropped.jsonl")
        if base + place not in together
    )


def read_lines(path: Path) -> Iterator[Any]:
    with path.open("rb") as stream:
        yield from map(json.loads, stream)


# --- finish


def finish_shard(content: Content, settings: Preparation, work: Work, number: int) -> None:
    """Write finish-NUMBER/ and, last, finish-NUMBER.json: an n-th of the corpus, and the dropped rows of a shard."""
    planned(work, content)
    if work.finished(number).is_file():
        return
    try:
        reduced = json.loads(work.reduced.read_text())
    except FileNotFoundError:
        raise CorpusError(f"{work.reduced} is missing: make it first") from None
    folder = emptied(work.finished(number))
    rows = Rows(work)
    counts: Counter[tuple[str | None, str]] = Counter()
    cleaning = write_dropped(rows, number, folder, counts)
    parts = write_parts(rows, content, settings, number, reduced, folder, counts)
    dropped = [[split, reason, count] for (split, reason), count in sorted(counts.items(), key=str)]
    write_json(work.finished(number), {"dropped": dropped, "parts": parts, "cleaning": cleaning})


def write_dropped(
    rows: Rows, number: int, folder: Path, counts: Counter[tuple[str | None, str]]
) -> dict[str, dict[str, int]]:
    """The rows of a shard that are not kept, in the files of the phases that drop them, each in the rows' order.

    Returns what each step of cleaning did to rows, those with a repeated id left out: how many it changed, left and
    dropped (`cleaning.Counts`).
    """
    base, end = (int(rows.bases[number + offset]) for offset in (0, 1))
    reduced = np.load(rows.work.folder / "reduced.npy", mmap_mode="r")
    some = np.array(reduced[slice(*np.searchsorted(reduced["row"], [base, end]))])
    reasons = dict(
        zip(some["row"].tolist(), zip(some["reason"].tolist(), some["owner"].tolist(), strict=True), strict=True)
    )
    splits = rows.column("split")
    cleaning: dict[str, Counter[str]] = defaultdict(Counter)
    mapped = rows.work.mapped(number).with_suffix("")
    with ExitStack() as streams:
        files = {
            name: streams.enter_context((folder / name).open("wb"))
            for name in ["dropped", *(f"{phase}-{part}" for phase in ("shared", "same") for part in SPLITS)]
        }

        def drop(told: dict[str, Any], part: str | None, file: str) -> None:
            counts[part, told["reason"]] += 1
            write_line(files[file], told)

        def named() -> Iterator[tuple[int, int, Any]]:
            """What all shards together drop, in the rows' order; the others are counted."""
            for place, name, group, *steps in read_lines(mapped / "names.jsonl"):
                reason, owner = reasons.get(base + place, (None, -1))
                if reason != REASONS.index(DUPLICATE_ID):
                    for what, of in zip(("changed", "left", "dropped"), steps, strict=True):
                        for step in of:
                            cleaning[step][what] += 1
                if reason is not None:
                    yield place, 0, (name, group, REASONS[reason], owner)

        own = ((place, 1, rest) for place, *rest in read_lines(mapped / "dropped.jsonl"))
        # A repeated id counts before what a filter says of its record.
        entries = heapq.merge(named(), own, key=lambda entry: entry[:2])
        for place, several in groupby(entries, key=lambda entry: entry[0]):
            _, kind, rest = next(several)
            if kind:
                drop(rest[0], rest[1], "dropped")
                continue
            name, group, reason, owner = rest
            there, part, of = rows.place(owner), SPLITS[splits[base + place]], SPLITS[splits[owner]]
            file, value = "dropped", excerpt(f"{name} first at {there}")
            if reason in (SHARED_ID, SHARED_GROUP):
                said = name if reason == SHARED_ID else group
                file, value = f"shared-{part}", excerpt(f"{said} is in {of}, {there}")
            elif reason != DUPLICATE_ID:
                file, value = f"same-{part}", f"as {there}"
            drop(Dropped(rows.place(base + place), name, reason, value, part).as_dict(), part, file)
        for stream in files.values():
            sync(stream)
    return {step: dict(did) for step, did in cleaning.items()}


def write_parts(
    rows: Rows,
    content: Content,
    settings: Preparation,
    number: int,
    reduced: Mapping[str, Any],
    folder: Path,
    counts: Counter[tuple[str | None, str]],
) -> dict[str, Any]:
    """The records of all shards whose keyed hashes fall to this number, in their order, part by part."""
    work, kept = rows.work, np.load(rows.work.folder / "kept.npy", mmap_mode="r")
    slices, blobs = [], []
    least, most = (bound(number + offset, work.shards) for offset in (0, 1))
    for shard in range(work.shards):
        index, start = rows.of(shard, "index"), 0
        with (work.mapped(shard).with_suffix("") / "spool").open("rb") as spool:
            for run in rows.told[shard]["runs"]:
                own = index[start : start + run]
                start += run
                first = int(np.searchsorted(own["high"], np.uint64(least)))
                last = run if most >> 64 else int(np.searchsorted(own["high"], np.uint64(most)))
                if first == last:
                    continue
                some = np.array(own[first:last])
                spool.seek(int(some["start"][0]))
                blobs.append(spool.read(int(some["start"][-1] - some["start"][0] + some["bytes"][-1].sum())))
                some["start"] -= some["start"][0]
                some["row"] += rows.bases[shard]
                slices.append(some)
    together = np.concatenate([np.empty(0, BY_HASH), *slices])
    blob = np.repeat(np.arange(len(blobs)), [len(some) for some in slices])
    order = np.lexsort((together["low"], together["high"]))
    together, blob = together[order], blob[order]
    part_of = kept[together["row"]]
    sizes = {"test": settings.split.test, "valid": settings.split.valid, "train": settings.split.train}
    told = {}
    for place, part in enumerate(PARTS_OF_CORPUS):
        here = np.flatnonzero(part_of == 1 + place)
        size = sizes.get(part)
        room = len(here) if size is None else max(0, size - reduced["before"][place][number])
        statistics = Statistics()
        with (
            (folder / f"{part}.jsonl").open("wb") as records,
            (folder / f"{part}.text.jsonl").open("wb") as texts,
            (folder / f"beyond-{part}").open("wb") as beyond,
        ):
            found = (together["row"], blob, together["start"], together["bytes"])
            columns = (column[here].tolist() for column in found)
            for position, (row, held, at, (length, more)) in enumerate(zip(*columns, strict=True)):
                line = blobs[held][at : at + length]
                record = Record(**json.loads(line))
                if position < room:
                    records.write(line)
                    texts.write(blobs[held][at + length : at + length + more])
                    statistics.add(record)
                else:
                    split = None if content.ready is None else part
                    write_line(beyond, Dropped(rows.place(row), record.id, BEYOND, f"{part}: {size}", split).as_dict())
                    counts[split, BEYOND] += 1
            for stream in (records, texts, beyond):
                sync(stream)
        write_words(statistics, folder / f"{part}.words")
        told[part] = {
            "records": statistics.records,
            "source_tokens": statistics.source.total(),
            "target_tokens": statistics.target.total(),
        }
    return told


def bound(number: int, shards: int) -> int:
    """The least first half of a hash of which `high * shards >> 64` is `number`."""
    return -(-(number << 64) // shards)


def write_words(statistics: Statistics, path: Path) -> None:
    """A line `word, count in sources, count in targets` for every word, by word."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for word in sorted(statistics.source.keys() | statistics.target.keys()):
            stream.write(f"{word}\t{statistics.source[word]}\t{statistics.target[word]}\n")


# --- assemble


def assemble(content: Content, settings: Preparation, work: Work, folder: Path) -> dict[str, Any]:
    """Write what `prepare` writes, from the pieces; returns the statistics."""
    planned(work, content)
    corpus = Corpus(folder)
    told = [json.loads(work.finished(number).read_text()) for number in range(work.shards)]
    reduced = json.loads(work.reduced.read_text())
    pieces = [work.finished(number).with_suffix("") for number in range(work.shards)]
    names = [name for name in (*PARTS, UNSEEN) if name != UNSEEN or settings.split.unseen]
    for name in names:
        part = corpus.part(name)
        for path in (part.path, part.text_path):
            join([piece / path.name for piece in pieces], path)
    phases = ["dropped", *(f"{phase}-{part}" for phase in ("shared", "same") for part in SPLITS)]
    phases += [f"beyond-{part}" for part in PRECEDENCE]
    join([piece / phase for phase in phases for piece in pieces], corpus.dropped_path)
    dropped: Counter[str] = Counter()
    of_part: dict[str | None, Counter[str]] = {part: Counter() for part in SPLITS}
    for one in told:
        for split, reason, count in one["dropped"]:
            dropped[reason] += count
            of_part[split][reason] += count
    parts = {
        name: measured([one["parts"][name] for one in told], [piece / f"{name}.words" for piece in pieces])
        for name in names
    }
    kept = sum(part["records"] for part in parts.values())
    if reduced["read"] != kept + dropped.total():
        raise CorpusError(
            f"{content.path}: read {reduced['read']}, kept {kept}, dropped {dict(dropped)}; report this bug"
        )
    statistics: dict[str, Any] = {
        "read": reduced["read"],
        "kept": kept,
        "dropped": dict(sorted(dropped.items())),
        "composed": False,
        "parts": parts,
    }
    if names_of_steps := counts_of(settings.prepare).counts:
        cleaning: Counter[tuple[str, str]] = Counter()
        for one in told:
            for step, did in one["cleaning"].items():
                cleaning.update({(step, what): count for what, count in did.items()})
        statistics["cleaning"] = {
            step: {what: cleaning[step, what] for what in ("changed", "dropped", "left")} for step in names_of_steps
        }
    if content.ready is not None:
        statistics["ready"] = {
            part: {"kept": parts[part]["records"], "dropped": dict(sorted(of_part[part].items()))} for part in PARTS
        }
    if reduced["shared"] is not None:
        statistics["shared"] = reduced["shared"]
    write_json(corpus.statistics_path, statistics)
    return statistics


def measured(told: Sequence[Mapping[str, int]], words: Sequence[Path]) -> dict[str, Any]:
    """`Statistics.as_dict` of a part, from the counts of its pieces; no more than a word of each is in memory."""
    total = {name: sum(one[name] for one in told) for name in ("records", "source_tokens", "target_tokens")}
    with ExitStack() as streams:
        files = [streams.enter_context(path.open(encoding="utf-8", newline="\n")) for path in words]
        sorted_words = heapq.merge(*((line.split("\t", 1)[0] for line in file) for file in files))
        distinct = sum(1 for _ in groupby(sorted_words))
    return {
        "records": total["records"],
        "mean_source_tokens": round(total["source_tokens"] / total["records"], 2),
        "mean_target_tokens": round(total["target_tokens"] / total["records"], 2),
        "vocabulary": distinct,
    }


def join(pieces: Iterable[Path], path: Path) -> None:
    """Write the pieces one behind the other."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as whole:
        for piece in pieces:
            with piece.open("rb") as stream:
                shutil.copyfileobj(stream, whole, CHUNK)
        sync(whole)
    os.replace(partial, path)
