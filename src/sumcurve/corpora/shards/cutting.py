"""Raw content cut into shards: bytes of files whose rows are lines, members of archives, and whole files."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sumcurve.corpora.shards.work import Work, code_of
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.content import Content, Shard
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.sources.source import Member
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import write_json

CHUNK = 1 << 24  # bytes of raw content in memory while it is cut


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


def cut(content: Content, settings: Preparation, work: Work) -> str:
    """Write plan.json; the sha256 of the content, as a study pins it.

    What earlier steps of another plan left is removed. CorpusError for what only one process can prepare.
    """
    if settings.compose is not None:
        raise CorpusError(
            "compose joins records of all shards in one process: take `shards` out of the corpus, or leave compose out"
        )
    pieces, hashes = pieces_of(content, work.shards)
    plan = {
        "code": code_of(content),
        "settings": settings.model_dump(mode="json", by_alias=True, include={"compose", "prepare", "split"}),
        "shards": work.shards,
        "pieces": [list(map(asdict, of_shard)) for of_shard in pieces],
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


def pieces_of(content: Content, shards: int) -> tuple[list[list[Piece]], dict[str, str]]:
    """The pieces of each shard, about as many bytes in all; and the sha256 of each file."""
    pieces: list[list[Piece]] = [[] for _ in range(shards)]
    units = [(file, member, size) for file in content.shards for member, size in units_of(content, file)]
    total = sum(size for *_, size in units)
    borders = [total * number // shards for number in range(1, shards)]
    hashes: dict[str, str] = {}
    before = 0
    for file, member, size in units:
        number = sum(border <= before for border in borders)  # of the shard that gets the unit's first row
        if member is None and content.source.lines(file.path):
            inside = [border - before for border in borders if before < border < before + size]
            cuts, hashes[file.name] = cut_file(file, inside)
            for offset, piece in enumerate(cuts):
                if piece.end != piece.start or not size:
                    pieces[number + offset].append(piece)
        elif member is None:
            checksums = whole_of(content, file)
            hashes[file.name] = checksums[0]
            pieces[number].append(Piece(file.name, file.part, 0, None, 1, " ".join(checksums)))
        else:
            if file.name not in hashes:
                hashes[file.name] = sha256_file(file.path)
            pieces[number].append(Piece(file.name, file.part, 0, None, 1, member.checksum, member.name))
        before += size
    return pieces, hashes


def units_of(content: Content, file: Shard) -> list[tuple[Member | None, int]]:
    """What of a file can be read by itself, and its bytes: members of an archive, or all of it (None)."""
    members = content.source.members(file.path)
    return [(member, member.packed) for member in members] or [(None, file.path.stat().st_size)]


def cut_file(file: Shard, borders: Sequence[int]) -> tuple[list[Piece], str]:
    """Its pieces, each up to the line end at or behind a border, and the last; and the sha256 of all of it."""
    whole, own = hashlib.sha256(), hashlib.sha256()
    pieces: list[Piece] = []
    left = list(borders)
    start = position = 0
    first = lines = 1

    def close() -> None:  # what was read since the last border
        nonlocal start, first, own
        pieces.append(Piece(file.name, file.part, start, position, first, own.hexdigest()))
        start, first, own = position, lines, hashlib.sha256()

    with file.path.open("rb") as stream:
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


def read_piece(content: Content, file: Shard, piece: Piece) -> Iterator[RawRecord | Dropped]:
    """Its rows, after its bytes were hashed; CorpusError where they have changed since the content was cut."""
    if piece.member is not None:
        members = content.source.members(file.path)
        checksum = next((member.checksum for member in members if member.name == piece.member), "")
    elif piece.end is None:
        checksum = " ".join(whole_of(content, file))
    else:
        checksum = sha256_between(file.path, piece.start, piece.end)
    if checksum != piece.checksum:
        raise CorpusError(f"{file.path} has changed since it was cut into shards: run the whole preparation again")
    if piece.member is not None and content.source.member is not None:
        rows = content.source.member(file.path, piece.member)
    elif piece.end is None or content.source.between is None:
        rows = content.source.rows(file.path, content.names)
    else:
        rows = content.source.between(file.path, piece.start, piece.end)
    return content.read(file, rows, piece.first)


def whole_of(content: Content, file: Shard) -> list[str]:
    """The sha256 of a file that is read as a whole, and of those that are read with it."""
    return [sha256_file(path) for path in (file.path, *content.source.beside(file.path))]


def sha256_between(path: Path, start: int, end: int) -> str:
    whole = hashlib.sha256()
    with path.open("rb") as stream:
        stream.seek(start)
        while start < end and (data := stream.read(min(CHUNK, end - start))):
            whole.update(data)
            start += len(data)
    return whole.hexdigest()
