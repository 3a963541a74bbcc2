"""Debian's package descriptions: the synopsis of a package is the target, its long description the source.

The lists are those of `lists`: a folder with Packages and Translation-LANGUAGE, in the form of Debian's control
files. A long description is paragraphs between lines of a full stop alone; indented text is lists and
preformatted text. Binary packages of one source package have descriptions that are alike: it is their group.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sumcurve.sources.raw import NOT_UTF8, NUL, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

PACKAGES, TRANSLATION = "Packages", "Translation-"
MOST_SOURCES = 3  # source packages that may share a paragraph about each; more share a template
LARGEST_ENTRY = 1 << 20  # bytes

WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
BULLET = re.compile(r"(?:[-*+o•·]|(\d{1,2})[.)])\s+(?=\S)")
BEFORE_ITEM = (".", ":", ";", "!", "?", "。", "：", "；")

# Reasons for which a package is dropped.
NO_ENTRY = "no package with a description"
NO_BODY = "no long description"
ALL_SHARED = f"every paragraph is shared by more than {MOST_SOURCES} source packages"
TOO_LARGE = f"entry larger than {LARGEST_ENTRY:,} bytes"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every package of a Translation list, in its order, as `id`, `source`, `target` and `group`; of Packages none.

    Paragraphs that more than MOST_SOURCES source packages have are left out (`shared_paragraphs`), so that the list is
    read twice; hashes of its paragraphs and the names of source packages are in memory. Raises CorpusError for a folder
    without one of both kinds of list, and for a list that cannot be read or has no package.
    """
    if path.name == PACKAGES:
        if not list(path.parent.glob(f"{TRANSLATION}*")):
            raise CorpusError(f"{path.parent} has no {TRANSLATION}…, where the descriptions are: check raw.path")
        return
    sources = source_packages(path.with_name(PACKAGES))
    shared = shared_paragraphs(path, sources)
    any_package = False
    for entry in entries(path):
        any_package = True
        try:
            yield row_of(entry, path.name.removeprefix(TRANSLATION), sources, shared)
        except Refused as refused:
            yield refused
    if not any_package:
        raise CorpusError(f"{path} has no package: it is none of Debian's lists, or empty; fetch it again")


def beside(path: Path) -> list[Path]:
    """The list of packages, of one of their descriptions."""
    return [] if path.name == PACKAGES else [path.with_name(PACKAGES)]


def row_of(entry: list[bytes] | Refused, language: str, sources: dict[str, str], shared: set[bytes]) -> dict[str, str]:
    """The row of one entry; Refused with the missing value."""
    if isinstance(entry, Refused):
        raise entry
    name, synopsis, lines = described(entry, language)
    paragraphs = list(paragraphs_of(lines))
    if not paragraphs:
        raise Refused(NO_BODY, name)
    own = [paragraph for paragraph in paragraphs if digest_of(paragraph) not in shared]
    if not own:
        raise Refused(ALL_SHARED, name)
    return {"id": name, "source": "\n\n".join(own), "target": synopsis, "group": sources.get(name, name)}


def described(entry: list[bytes], language: str) -> tuple[str, str, list[str]]:
    """The package's name, its synopsis and the lines of its long description without their first blank."""
    for raw in entry:
        if b"\x00" in raw:
            raise Refused(NUL, raw[:32])
    try:
        lines = [raw.decode() for raw in entry]
    except UnicodeDecodeError as error:
        raise Refused(NOT_UTF8, error.object[error.start : error.start + 16]) from None
    name = synopsis = ""
    body: list[str] = []
    inside = False
    for line in lines:
        if line[0] in " \t":
            if inside:
                body.append(line[1:])
            continue
        field, _, value = line.partition(":")
        inside = field == f"Description-{language}"
        if inside:
            synopsis = value.strip()
        elif field == "Package":
            name = value.strip()
    if not name or not synopsis:
        raise Refused(NO_ENTRY, lines[0])
    return name, synopsis, body


def paragraphs_of(lines: list[str]) -> Iterator[str]:
    """The paragraphs of a long description, each on one line; an item of a list is one, without its bullet.

    A number begins an item where it is 1, follows that of the item before, or stands behind the end of a sentence: of
    `since version / 2. It dives` it does not. Between the lines of a paragraph is a blank, but not between two signs
    of Chinese or Japanese.
    """
    paragraph, before = "", 0
    for line in [*lines, "."]:
        text = line.strip()
        item = BULLET.match(text)
        if (
            item
            and item[1]
            and paragraph
            and not paragraph.endswith(BEFORE_ITEM)
            and int(item[1]) not in (1, before + 1)
        ):
            item = None
        if item or text in ("", "."):
            before = int(item[1] or 0) if item else 0
        if (text in ("", ".") or item) and paragraph:
            yield paragraph
            paragraph = ""
        if text not in ("", "."):
            text = text[item.end() :] if item else text
            blank = " " if paragraph and not (WIDE.match(paragraph[-1]) and WIDE.match(text)) else ""
            paragraph += blank + text


def shared_paragraphs(path: Path, sources: dict[str, str]) -> set[bytes]:
    """Digests of the paragraphs that more than MOST_SOURCES source packages have, as `This package contains …`."""
    owners: dict[bytes, set[str]] = {}
    language = path.name.removeprefix(TRANSLATION)
    for entry in entries(path):
        if isinstance(entry, Refused):
            continue
        try:
            name, _, lines = described(entry, language)
        except Refused:
            continue
        for paragraph in paragraphs_of(lines):
            of = owners.setdefault(digest_of(paragraph), set())
            if len(of) <= MOST_SOURCES:
                of.add(sources.get(name, name))
    return {digest for digest, of in owners.items() if len(of) > MOST_SOURCES}


def digest_of(paragraph: str) -> bytes:
    return hashlib.blake2b(paragraph.encode(), digest_size=8).digest()


def source_packages(path: Path) -> dict[str, str]:
    """Source package of each binary package, where it has another name."""
    sources: dict[str, str] = {}
    for entry in entries(path):
        if isinstance(entry, Refused):
            continue
        fields = {}
        for line in entry:
            if line.startswith((b"Package:", b"Source:")):
                field, _, value = line.decode(errors="replace").partition(":")
                fields[field] = value.strip()
        if fields.get("Package") and fields.get("Source"):
            sources[fields["Package"]] = fields["Source"].split(" ")[0]  # `apt (2.6.1)` where its version is another
    return sources


def entries(path: Path) -> Iterator[list[bytes] | Refused]:
    """The lines of every entry, which empty lines divide; Refused for one of more than LARGEST_ENTRY bytes."""
    entry: list[bytes] = []
    size = 0
    try:
        with path.open("rb") as stream:
            for line in stream:
                line = line.rstrip(b"\r\n")
                if line.strip():
                    size += len(line)
                    if size <= LARGEST_ENTRY:
                        entry.append(line)
                elif size:
                    yield entry if size <= LARGEST_ENTRY else Refused(TOO_LARGE, entry[0] if entry else "")
                    entry, size = [], 0
    except OSError as error:
        raise CorpusError(
            f"{path} cannot be read ({error.strerror}): both {PACKAGES} and {TRANSLATION}… belong into the folder of "
            "Debian's lists; fetch them again"
        ) from error
    if size:
        yield entry if size <= LARGEST_ENTRY else Refused(TOO_LARGE, entry[0] if entry else "")


SOURCE = Source(suffixes=[PACKAGES, f"{TRANSLATION}*"], unit="package", rows=rows, beside=beside, version=2)
