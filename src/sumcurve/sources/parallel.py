"""Parallel text: line n of one file is the summary of line n of another, `x.src` and `x.tgt`.

The words of names pair files: `valid.document` and `valid.summary`, `src-train.txt` and `tgt-train.txt`,
`asset.test.orig` and `asset.test.simp.0` to `.9` (ten references), `source/train.txt` and `target/train.txt`.
Files of texts, of which each is one record, are paired in the same way (`texts`).
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from sumcurve.files.content import PACKED
from sumcurve.sources.lines import read_lines
from sumcurve.sources.raw import NOT_UTF8, NUL, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import is_visible

# Words in names of files and folders, of sources and of their summaries.
SOURCES = """src source sources document documents article articles text texts body story stories orig original normal
    norm complex input dialogue"""
TARGETS = """tgt trg target targets summary summaries sum abstract abstracts title titles headline headlines highlights
    simp simple simplified turk ref reference references output"""
SIDES = dict.fromkeys(SOURCES.split(), "source") | dict.fromkeys(TARGETS.split(), "target")
WORD = re.compile(r"[^\W\d_]+|\d+")
ENDINGS = frozenset(ending.removeprefix(".") for ending in (".txt", *PACKED))
LEVELS = 4  # folders above a file whose names are looked at
Side = tuple[tuple[str, ...], str, str, int]


@lru_cache(maxsize=100_000)
def side_of(name: str) -> Side:
    """The words of a name without that of its side; the side, or ""; its word; and the number behind that (ref2)."""
    words = [word for word in WORD.findall(name.lower()) if word not in ENDINGS]
    for place in reversed(range(len(words))):
        if (word := words[place]) in SIDES:
            numbers = words[place + 1 : place + 2] if SIDES[word] == "target" else []
            number = int(numbers[0]) if numbers and numbers[0].isdigit() and place + 2 == len(words) else -1
            return (*words[:place], *words[place + 1 + (number >= 0) :]), SIDES[word], word, number
    return tuple(words), "", "", -1


def listed(folder: Path) -> dict[tuple[str, ...], list[tuple[str, str, int, str]]]:
    """The names in a folder by their words: side, its word, number, name."""
    return _listed(folder, folder.stat().st_mtime_ns) if folder.is_dir() else {}


@lru_cache(maxsize=16)
def _listed(folder: Path, changed: int) -> dict[tuple[str, ...], list[tuple[str, str, int, str]]]:
    names: dict[tuple[str, ...], list[tuple[str, str, int, str]]] = {}
    for path in sorted(folder.iterdir()):
        if is_visible(path.name):
            key, *side = side_of(path.name)
            names.setdefault(key, []).append((*side, path.name))  # type: ignore[arg-type]
    return names


def summaries_of(path: Path) -> list[Path] | None:
    """The files of summaries of a file of sources, by number; None for one of summaries, and [] for neither.

    By the names in its folder, and else by those of the folders above it. CorpusError for two that could be meant.
    """
    key, side, *_ = side_of(path.name)
    inside = listed(path.parent).get(key, [])
    targets = [entry for entry in inside if entry[0] == "target"]
    sources = [entry for entry in inside if entry[0] == "source"] or [entry for entry in inside if not entry[0]]
    if targets and sources:
        if len(sources) > 1 or len({word for _, word, *_ in targets}) > 1:
            names = ", ".join(entry[-1] for entry in inside)
            raise CorpusError(
                f"{path.parent}: {names}: which is the summary of which? Keep one source and its summaries"
            )
        if side == "target":
            return None
        return [path.with_name(name) for *_, name in sorted(targets, key=lambda entry: entry[2])]
    for folder in [*path.parents][: LEVELS - 1]:
        side = side_of(folder.name)[1]
        if not side:
            continue
        other = "source" if side == "target" else "target"
        found = []
        for entry in sorted((entry for of in listed(folder.parent).values() for entry in of), key=lambda one: one[2]):
            below = folder.with_name(entry[-1]) / path.parent.relative_to(folder)
            if entry[0] == other:
                found += [below / name for *_, name in listed(below).get(key, [])[:1]]
        if found:
            return found if side == "source" else None
    return []


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every pair as `source` and `target`, with `references` of further files; nothing of a file of summaries alone.

    Raises CorpusError for files of unequal length, a file without its other one, and a damaged file.
    """
    if (targets := summaries_of(path)) is not None:
        yield from pairs_of(path, targets)


def beside(path: Path) -> list[Path]:
    """The files of the summaries, of a file of sources."""
    return summaries_of(path) or []


def pairs_of(path: Path, targets: Sequence[Path]) -> Rows:
    """The pairs of a file of sources and those of their summaries."""
    if not targets:
        raise CorpusError(
            f"{path} has no other file beside it, of which each line belongs to one of its lines: name both alike but "
            f"for a word, as {path.stem}.src and {path.stem}.tgt"
        )
    yield from pairs([path, *targets], [read_lines(file) for file in (path, *targets)])


def pairs(files: Sequence[object], lines_of: Sequence[Iterator[bytes | Refused]]) -> Rows:
    """Lines n of the files as a row, or the reason why one is none; CorpusError where one ends before the others."""
    for number, lines in enumerate(zip_longest(*lines_of), start=1):
        if None in lines:
            ended, longer = (
                next(f for f, line in zip(files, lines, strict=True) if (line is None) is of) for of in (True, False)
            )
            raise CorpusError(
                f"{ended} ends behind line {number - 1:,}, and {longer} goes on: which line titles which is not "
                "known any more; copy both again, without changing line ends"
            )
        try:
            source, target, *more = map(text_of, lines)
        except Refused as refused:
            yield refused
        else:
            yield {"source": source, "target": target, **({"references": [*filter(None, more)]} if more else {})}


def text_of(line: bytes | Refused) -> str:
    """A line as text; Refused where it is none."""
    if isinstance(line, Refused):
        raise line
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise Refused(NOT_UTF8, line[error.start : error.start + 16]) from None
    if "\x00" in text:
        raise Refused(NUL, repr(text))
    return text.strip()


SOURCE = Source(
    suffixes=[f".{word}" for word in SIDES],
    unit="line",
    rows=rows,
    beside=beside,
    fields={"id": None, "references": "references"},
)
