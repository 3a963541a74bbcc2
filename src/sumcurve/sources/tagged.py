"""Lines in which tags part sentences: CNN/DailyMail as it circulates, tokenised and in small letters.

OpenNMT's `cnndm.tar.gz` pairs the lines of `train.txt.src` and `train.txt.tgt.tagged` (`<t> A sentence . </t> <t> …`).
NATS (Shi et al. 2021) has `train.txt` with both in a line, `<s> A sentence . </s> <s> … </s><sec>the article`. A file's
name begins with its part: train, val, test.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise, zip_longest
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from sumcurve.sources.lines import lines_of
from sumcurve.sources.raw import NOT_UTF8, SPLITS, Refused
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import REMEDY, TARS, limits_of_text, names_of_shards, tar_infos, visible, whole

SOURCE_ENDING, TARGET_ENDING = ".txt.src", ".txt.tgt.tagged"
ENDINGS = (SOURCE_ENDING, TARGET_ENDING, "train.txt", "val.txt", "test.txt")
SENTENCE = re.compile(r"\s*<(s|t)>(.*?)</\1>\s*")
SECTION = "<sec>"

# Reasons for which a line is no row.
NOT_TAGGED = "summary that is no row of tagged sentences"
NO_SECTION = "not summary<sec>article"

Line = bytes | Refused


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every line as id (the part and the line's number), source, target (a list of sentences), and split if it is said.

    Raises CorpusError for an archive or a file that is broken, for two members of one name, and where two files have
    not as many lines.
    """
    if path.is_dir():
        found = names_of_shards(path, [f"**/*{ending}" for ending in ENDINGS])

        def lines(name: str) -> Iterator[Line]:
            return lines_of_file(path / name)

    elif path.name.endswith(TARS):
        with whole(path, REMEDY):  # to its last byte
            inside = (name for name, _, _ in tar_infos(path, limits_of_text(path)))
            found = sorted(name for name in inside if name.endswith(ENDINGS) and visible(name))
        for name, other in pairwise(found):
            if name == other:
                raise CorpusError(f"{path} has two members {name!r}: make it anew with one")

        def lines(name: str) -> Iterator[Line]:
            return lines_of_member(path, name)

    else:
        found = [path.name]

        def lines(name: str) -> Iterator[Line]:
            return lines_of_file(path)

    if not found:
        raise CorpusError(f"{path} holds no file {' or '.join(f'*{ending}' for ending in ENDINGS)}: check raw.path")
    for name in found:
        if name.endswith(SOURCE_ENDING):
            other = name.removesuffix(SOURCE_ENDING) + TARGET_ENDING
            if other not in found:
                raise CorpusError(f"{path}: {name} is here without {other}: copy both")
            yield from numbered(name, pairs(path, name, other, lines))
        elif name.endswith(TARGET_ENDING):
            other = name.removesuffix(TARGET_ENDING) + SOURCE_ENDING
            if other not in found:
                raise CorpusError(f"{path}: {name} is here without {other}: copy both")
        else:
            yield from numbered(name, map(halves, lines(name)))


def numbered(name: str, texts: Iterator[tuple[Line, Line]]) -> Rows:
    """The rows of pairs of source and target, which stand in the file of this name."""
    stem = PurePath(name).name.split(".")[0]
    yield Inside(name, SPLITS.get(stem))
    split = {"split": SPLITS[stem]} if stem in SPLITS else {}
    for number, (source, target) in enumerate(texts, start=1):
        try:
            yield {"id": f"{stem}-{number}", "source": text_of(source), "target": sentences(text_of(target)), **split}
        except Refused as refused:
            yield refused


def pairs(path: Path, source: str, target: str, lines: Callable[[str], Iterator[Line]]) -> Iterator[tuple[Line, Line]]:
    for number, (one, other) in enumerate(zip_longest(lines(source), lines(target)), start=1):
        if one is None or other is None:
            ended, goes_on = (source, target) if one is None else (target, source)
            raise CorpusError(
                f"{path}: {ended} has {number - 1} lines, {goes_on} has more: they are no pair, or one is cut off; "
                "copy both again"
            )
        yield one, other


def halves(line: Line) -> tuple[Line, Line]:
    """Source and target of a line that holds both."""
    if isinstance(line, Refused):
        return line, line
    target, section, source = line.partition(SECTION.encode())
    if not section or SECTION.encode() in source:
        refused = Refused(NO_SECTION, line.decode(errors="replace"))
        return refused, refused
    return source, target


def text_of(line: Line) -> str:
    """Raises Refused for a line that is no text."""
    if isinstance(line, Refused):
        raise line
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise Refused(NOT_UTF8, line[error.start : error.start + 16]) from None


def sentences(text: str) -> list[str]:
    """What stands in tags; Refused where anything stands outside of them."""
    found, end = [], 0
    while sentence := SENTENCE.match(text, end):
        found.append(sentence[2].strip())
        end = sentence.end()
    if text[end:].strip():
        raise Refused(NOT_TAGGED, text[end:])
    return [sentence for sentence in found if sentence]


def lines_of_file(path: Path) -> Iterator[Line]:
    with whole(path, "check raw.path in the study file"), path.open("rb") as stream:
        yield from lines_of(stream)


def lines_of_member(path: Path, name: str) -> Iterator[Line]:
    """The lines of a file of an archive, which is opened anew, because what comes before is decompressed on the way."""
    with whole(path, REMEDY), closing(tar_infos(path, limits_of_text(path))) as infos:
        for inside, info, opened in infos:
            if inside == name and (stream := opened.extractfile(info)) is not None:
                yield from lines_of(cast(BinaryIO, stream))
                return
    raise CorpusError(f"{path}: {name} is no file: {REMEDY}")


SOURCE = Source(suffixes=ENDINGS, unit="line", rows=rows, folder=True)
