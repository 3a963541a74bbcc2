"""Titles and abstracts of OAGS, OAGSX and OAGKX (Čano and Bojar 2019, 2020): JSON lines in the parts of one zip.

`oags.zip` holds `part_A_B.txt` members, which are read where they are, in the order of the archive. Parts that were
unpacked, renamed to `.jsonl` or packed by gzip or zstd are read from their folder. An abstract is the source, its title
the target; OAGKX's `keywords` are not read. Records have no id and are numbered in their part.

The members' names and fields are those of OAGKX, which public programs read; that OAGS's and OAGSX's are the same is
not verified.
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from sumcurve.sources import jsonl
from sumcurve.sources.archive import Archive
from sumcurve.sources.source import Inside, Member, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = (".txt", ".jsonl", ".json")
PACKED = (".gz", ".zst", ".zip", ".bz2", ".xz", ".7z")
PROSE = ("readme", "licence", "license")  # files of text beside the parts


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every line of every part as an object.

    CorpusError for an archive that may not be read (`archive.Archive`), has no part, or a part that is packed again.
    """
    if path.suffix != ".zip":
        yield from jsonl.rows(path, names)
        return
    for part in parts(path):
        yield from member(path, part.name)


def lines(path: Path) -> bool:
    return path.suffix != ".zip" and jsonl.lines(path)


def members(path: Path) -> list[Member]:
    """The parts of an archive; none of another file. CorpusError as `rows` says."""
    return parts(path) if path.suffix == ".zip" else []


def parts(path: Path) -> list[Member]:
    with Archive(path) as archive:
        if again := archive.members(lambda name: name.endswith(PACKED)):
            raise CorpusError(
                f"{path}: {again[0]} is packed inside of the archive: unpack it once, and name the folder of the parts "
                "as raw.path"
            )
        names = archive.members(lambda name: name.endswith(PARTS) and PurePosixPath(name).stem.lower() not in PROSE)
        if not names:
            raise CorpusError(f"{path} has no member {', '.join(PARTS)}: is it the archive that the study names?")
        infos = [archive.infos[name] for name in names]
    return [Member(info.filename, info.compress_size, f"crc32 {info.CRC:08x}") for info in infos]


def member(path: Path, name: str) -> Rows:
    """Every line of a part as an object."""
    yield Inside(name)
    with Archive(path) as archive:
        yield from jsonl.rows_of(archive.lines(name))


SOURCE = Source(
    suffixes=[".zip", *(f"{ending}{packed}" for ending in PARTS for packed in ("", ".gz", ".zst"))],
    unit="line",
    rows=rows,
    lines=lines,
    between=jsonl.between,
    members=members,
    member=member,
    fields={"id": None, "source": "abstract", "target": "title"},
)
