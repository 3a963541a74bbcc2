"""The stories of CNN and the Daily Mail (Hermann et al. 2015), parted by the lists of urls of See et al. 2017.

A `.story` holds the lines of an article, and then highlights, each behind a line `@highlight`. Its name is the SHA1 of
its url. `cnn_stories.tgz` and `dailymail_stories.tgz` are read where they are; unpacked ones are read, too. A folder
may hold `all_train.txt`, `all_val.txt` and `all_test.txt`, which say the part of every url.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath

from sumcurve.sources.raw import ENDS, NOT_UTF8, Refused
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import members_in, names_of_shards

ENDING, ARCHIVES = ".story", ("_stories.tgz",)
LISTS = {"all_test.txt": "test", "all_val.txt": "valid", "all_train.txt": "train"}
LARGEST = 10_000_000  # bytes of a story; the longest published is below a hundredth of it
PUBLISHED = {  # bytes of an archive, and how many stories it holds (counted by See et al. 2017's make_datafiles.py)
    "cnn_stories.tgz": (158_577_824, 92_579),
    "dailymail_stories.tgz": (375_893_739, 219_506),
}

# Reasons for which a story is no row.
TOO_LARGE = f"story of more than {LARGEST:,} bytes"
NOT_REGULAR = "link or device in the place of a story"
NOT_LISTED = "story on no list of urls"
NO_STORY = "url on a list, without a story"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every story of a folder, an archive or a file, as id (the url's SHA1), source, target, and split if it is listed.

    A source has a paragraph for each line of the article; a target has a sentence for each highlight. Of a folder with
    lists, a story on none of them is refused, and so is, at the end, a url without a story. Raises CorpusError for an
    archive that is broken, for a url on two lists, and for a published archive with another number of stories.
    """
    parts = parts_of(path) if path.is_dir() else {}
    found = set()
    counts: dict[str, int] = {}
    last = None  # file that a story stood in
    for name, size, regular, read in members_in(path, ENDING, ARCHIVES):
        file, archive = file_of(name)
        if path.is_dir() and file != last:
            yield Inside(file)
        last = file
        counts[archive or path.name] = counts.get(archive or path.name, 0) + 1
        identity = PurePath(name).name.removesuffix(ENDING)
        found.add(identity)
        if parts:
            yield Inside("", parts.get(identity))
        if not regular:
            yield Refused(NOT_REGULAR, name)
        elif size > LARGEST:
            yield Refused(TOO_LARGE, f"{name}: {size:,}")
        elif parts and identity not in parts:
            yield Refused(NOT_LISTED, name)
        else:
            try:
                article, highlights = story(read())
            except UnicodeDecodeError as error:
                yield Refused(NOT_UTF8, f"{name}: {error.object[error.start : error.start + 16]!r}")
                continue
            row = {"id": identity, "source": "\n\n".join(article), "target": highlights}
            yield row | {"split": parts[identity]} if parts else row
    for inner in [path] if path.is_file() else path.rglob("*"):
        expected = PUBLISHED.get(inner.name)
        if expected is not None and inner.stat().st_size == expected[0] and counts.get(inner.name) != expected[1]:
            raise CorpusError(
                f"{inner} has the size of the published archive, but {counts.get(inner.name, 0):,} stories instead of "
                f"{expected[1]:,}: it is damaged, or no copy; fetch it again"
            )
    for name, part in LISTS.items():
        if lost := [identity for identity, own in parts.items() if own == part and identity not in found]:
            yield Inside(name, part)
            yield from (Refused(NO_STORY, identity) for identity in lost)


def file_of(name: str) -> tuple[str, str]:
    """The file below the folder in which a story of this path stands, and its name if it is an archive."""
    parts = name.split("/")
    for place, part in enumerate(parts, start=1):
        if part.endswith(ARCHIVES):
            return "/".join(parts[:place]), part
    return name, ""


def story(data: bytes) -> tuple[list[str], list[str]]:
    """The lines of the article, and the highlights; raises UnicodeDecodeError.

    Every line behind the first `@highlight` is one, as in See et al. 2017's make_datafiles.py.
    """
    article: list[str] = []
    highlights: list[str] = []
    lines = article
    for line in ENDS.split(data.decode()):
        text = line.strip().removeprefix("\ufeff")
        if text.startswith("@highlight"):
            lines = highlights
        elif text:
            lines.append(text)
    return article, highlights


def parts_of(folder: Path) -> dict[str, str]:
    """The part of every url by its SHA1, where the folder holds the lists; CorpusError for a url on two of them."""
    found: dict[str, str] = {}
    there: dict[str, Path] = {}
    for name in names_of_shards(folder, [f"**/*{ending}" for ending in SOURCE.suffixes]):
        part = LISTS.get(PurePath(name).name)
        if part is None:
            continue
        if part in there:
            raise CorpusError(f"{folder / name} and {there[part]} are both the list of {part}: leave one out")
        there[part] = folder / name
        with (folder / name).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if url := line.strip():
                    identity = hashlib.sha1(url).hexdigest()
                    if found.setdefault(identity, part) != part:
                        raise CorpusError(
                            f"{folder / name}:{number}: this url is on the list of {found[identity]}, too "
                            f"({url[:80].decode(errors='replace')}): take it off one of them"
                        )
    if there and (missing := [name for name, part in LISTS.items() if part not in there]):
        raise CorpusError(f"{folder} holds no {' and no '.join(missing)}: copy all three lists, or none")
    return found


SOURCE = Source(suffixes=[ENDING, *ARCHIVES, *LISTS], unit="story", rows=rows, folder=True)
