"""Gigaword's sentences and headlines (Rush, Chopra and Weston 2015): line n of one file titles line n of another.

Two publications are read as they are. A zip, `org_data`, or its files in a folder: `{train,dev,test}.{src,tgt}.txt`;
the zip is read in place. And harvardnlp/sent-summary: `train/{train,valid}.{article,title}[.filter].txt`;
`Giga/input.txt` with `task1_ref0.txt`, and DUC2003 and DUC2004 with `task1_ref0.txt` to `task1_ref3.txt`.

Texts are lower-cased and tokenised as the Penn Treebank's, with `#` for digits. The mark of a rare word is `<unk>`
in training and validation and `UNK` in the test part: the step `unknown_words` of cleaning makes both one.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from sumcurve.sources.lines import lines_of_member, read_lines
from sumcurve.sources.raw import NOT_UTF8, NUL, Refused
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import Member, is_visible, limits_of_text, zip_members

PARTS = {"train": "train", "dev": "valid", "valid": "valid", "test": "test"}
ZIPPED = ("train", "dev", "test")
# Endings after a part's name in the file of its sources, and in that of its titles.
TITLES = {".src.txt": ".tgt.txt", ".article.txt": ".title.txt", ".article.filter.txt": ".title.filter.txt"}
INPUT, REFERENCES = "input.txt", tuple(f"task1_ref{number}.txt" for number in range(4))
TEST_FOLDER = "Giga"  # of the folders with an `input.txt`, the one that is Gigaword's own test part
VALIDATION_LINES = 189_651  # of the validation part, which version 1.0.0 of the hub has as its training part

PASSED_OFF = (
    f"{{}} has {VALIDATION_LINES:,} training pairs, which is the validation part: version 1.0.0 of the hub's gigaword "
    "passed it off as training; take org_data of version 1.2.0, whose training part has 3,803,957"
)


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every pair as `id` (part and line, `train:17`), `source`, `target`, `split`, and `references` of further titles.

    A file of titles has no rows of its own, and is read with that of its sources. DUC's files have no split: a study
    names them. Raises CorpusError for files of unequal length, a file without its other one, a damaged file, an
    archive that may not be read, lacks a part or has one twice, and for a training part that is the validation part.
    """
    if path.suffix == ".zip":
        yield from of_zip(path)
        return
    files = source_and_titles(path)
    if files is None:
        return
    name, titles = files
    part = PARTS.get(name)
    yield Inside("", part)
    lines = pairs(read_lines(path), [read_lines(title) for title in titles], path, titles)
    yield from numbered(lines, name, part, path)


def of_zip(path: Path) -> Rows:
    """The pairs of an archive, part by part."""
    with zip_members(path, limits_of_text(path)) as archive:
        wanted = [f"{part}.{side}.txt" for part in ZIPPED for side in ("src", "tgt")]
        members: dict[str, Member] = {}
        for place, member in archive.items():
            if not is_visible(place):
                continue
            name = PurePosixPath(place).name
            if name in wanted and name in members:
                raise CorpusError(f"{path} has both {members[name].name} and {place}: make it anew with one {name}")
            members[name] = member
        if missing := [name for name in wanted if name not in members]:
            raise CorpusError(
                f"{path} has no {', '.join(missing)}, but {', '.join(sorted(members)) or 'nothing'}: is it the archive "
                "org_data that the study names?"
            )
        for part in ZIPPED:
            source, title = members[f"{part}.src.txt"], members[f"{part}.tgt.txt"]
            yield Inside(source.name, PARTS[part])
            both = pairs(lines_of_member(source), [lines_of_member(title)], f"{path}: {source.name}", [title.name])
            yield from numbered(both, part, PARTS[part], path)


def source_and_titles(path: Path) -> tuple[str, list[Path]] | None:
    """The name of the part whose sources `path` holds, and the files of its titles; None for one of titles."""
    if path.name in REFERENCES:
        require(path, [path.with_name(INPUT)])
        return None
    if path.name == INPUT:
        titles = [path.with_name(name) for name in REFERENCES if path.with_name(name).is_file()]
        require(path, titles[:1] or [path.with_name(REFERENCES[0])])
        return ("test" if path.parent.name == TEST_FOLDER else path.parent.name), titles
    for ending, other in sorted(TITLES.items(), key=lambda item: -len(item[0])):
        if path.name.endswith(other):
            require(path, [path.with_name(path.name.removesuffix(other) + ending)])
            return None
        if path.name.endswith(ending):
            name = path.name.removesuffix(ending)
            title = path.with_name(name + other)
            require(path, [title])
            if ending == ".article.filter.txt" and (plain := path.with_name(f"{name}.article.txt")).is_file():
                raise CorpusError(f"{path} and {plain.name} are both there: keep the one that the study means")
            return name, [title]
    raise CorpusError(f"{path} is no file of Gigaword: rename it, or name its format")


def beside(path: Path) -> list[Path]:
    """The files of the titles, of a file of sources; CorpusError as in `rows`."""
    pair = None if path.suffix == ".zip" else source_and_titles(path)
    return [] if pair is None else pair[1]


def require(path: Path, others: Iterable[Path]) -> None:
    for other in others:
        if not other.is_file():
            raise CorpusError(f"{path} needs {other.name} beside it, of which each line belongs to one of its lines")


def pairs(
    sources: Iterator[bytes | Refused],
    titles: Sequence[Iterator[bytes | Refused]],
    place: object,
    names: Sequence[object],
) -> Iterator[list[str] | Refused]:
    """The source and the titles of every line; CorpusError where one file ends before the others."""
    for number, lines in enumerate(zip_longest(sources, *titles), start=1):
        ended = [str(name) for name, line in zip((place, *names), lines, strict=True) if line is None]
        if ended:
            longer = [str(name) for name, line in zip((place, *names), lines, strict=True) if line is not None]
            raise CorpusError(
                f"{ended[0]} ends behind line {number - 1:,}, and {longer[0]} goes on: which line titles which is not "
                "known any more; copy both again, without changing line ends"
            )
        yield texts(lines)


def texts(lines: Sequence[bytes | Refused]) -> list[str] | Refused:
    """The lines as text, or the reason why one is none."""
    decoded = []
    for line in lines:
        if isinstance(line, Refused):
            return line
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            return Refused(NOT_UTF8, line[error.start : error.start + 16])
        if "\x00" in text:
            return Refused(NUL, repr(text))
        decoded.append(text.strip())
    return decoded


def numbered(lines: Iterator[list[str] | Refused], name: str, part: str | None, path: Path) -> Rows:
    """The rows of one part; CorpusError behind a training part that has as many lines as the validation part."""
    number = 0
    for number, pair in enumerate(lines, start=1):
        if isinstance(pair, Refused):
            yield pair
            continue
        source, title, *more = pair
        row: dict[str, object] = {"id": f"{name}:{number}", "source": [source], "target": [title]}
        if more:
            row["references"] = [[further] for further in more]
        if part is not None:
            row["split"] = part
        yield row
    if part == "train" and number == VALIDATION_LINES:
        raise CorpusError(PASSED_OFF.format(path))


SOURCE = Source(
    suffixes=[".zip", *TITLES, *TITLES.values(), INPUT, *REFERENCES],
    unit="line",
    rows=rows,
    beside=beside,
)
