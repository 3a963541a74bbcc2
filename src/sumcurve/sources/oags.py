"""Titles and abstracts of OAGS, OAGSX and OAGKX (Čano and Bojar 2019, 2020): JSON lines in the parts of one zip.

`oags.zip` holds `part_A_B.txt` members, which are read where they are, in the order of the archive. Parts that were
unpacked, renamed to `.jsonl` or packed by gzip or zstd are read from their folder. An abstract is the source, its title
the target; OAGKX's `keywords` are not read. Records have no id and are numbered in their part.

The members' names and fields are those of OAGKX, which public programs read; that OAGS's and OAGSX's are the same is
not verified.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from sumcurve.sources import jsonl
from sumcurve.sources.lines import lines_of_member
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import is_visible, limits_of_text, zip_members

PARTS = (".txt", ".jsonl", ".json")
PROSE = ("readme", "licence", "license")  # files of text beside the parts


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every line of every part as an object.

    CorpusError for an archive that may not be read (`zip_members`), or has no part that is not packed again.
    """
    if path.suffix != ".zip":
        yield from jsonl.rows(path, names)
        return
    with zip_members(path, limits_of_text(path)) as archive:
        for name in parts(path, filter(is_visible, archive)):
            yield Inside(name)
            yield from jsonl.rows_of(lines_of_member(archive[name]))


def parts(path: Path, members: Iterable[str]) -> list[str]:
    """The names of the parts among an archive's members, in its order; CorpusError as in `rows`."""
    names = [name for name in members if name.endswith(PARTS) and PurePosixPath(name).stem.lower() not in PROSE]
    if not names:
        raise CorpusError(
            f"{path} has no member {', '.join(PARTS)}: unpack what is packed in it, or is it not the archive that the "
            "study names?"
        )
    return names


SOURCE = Source(
    suffixes=[".zip", *(f"{ending}{packed}" for ending in PARTS for packed in ("", ".gz", ".zst"))],
    unit="line",
    rows=rows,
    fields={"id": None, "source": "abstract", "target": "title"},
)
