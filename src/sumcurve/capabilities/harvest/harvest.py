"""Docstrings of packages as raw records: of installed ones, or of archives that are not installed.

Two kinds. `docstrings`: of one docstring the body is the source, the summary line the target. `outlines`: the
docstring of a module or class is the target, the docstrings below it are the source, a long one.

Nothing outside the standard library is imported, so that any supported Python can harvest any folder of
unpacked wheels. The output depends on the packages' versions alone: not on the Python version, the
platform, the hash seed or the number of workers.

Archives are many, and their files are not reviewed before. So a file of one that cannot be read is dropped and counted,
not an error; files that state at their top that a program wrote them are dropped; and so are docstrings that a package
makes by a template (`templated`). This does not apply to installed packages, whose text stays unchanged.
"""

import ast
import hashlib
import json
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from sumcurve.capabilities.harvest.archives import Archive, read_archive
from sumcurve.capabilities.harvest.definitions import CANDIDATES, Candidate, Kind
from sumcurve.fetch.wheels import normalized
from sumcurve.machine.workers import worker_pool
from sumcurve.store.errors import CorpusError

T = TypeVar("T")
R = TypeVar("R")


class HarvestError(CorpusError):
    """Packages that cannot give the pinned text; the message names package, versions and remedy."""


# Reasons for which a docstring is dropped, beside those of `definitions`.
NOT_UNICODE = "lone surrogates"
TEMPLATED = "summary line made by a template of its package"

# Reasons for which a source file of an archive is dropped, beside those of `archives`.
NOT_PARSED = "does not parse as Python 3.11"
GENERATED = "says that a program wrote it"


SKIPPED_FOLDERS = frozenset(
    {"tests", "test", "_vendor", "_vendored", "distutils"}
)  # numpy/distutils: the 3.11 wheel only
SKIPPED_FILES = frozenset({"conftest.py", "__config__.py", "_version.py", "version.py"})  # written per build
SKIPPED_PREFIXES = ("sqlalchemy/testing/",)
# For archives, also: copies of other packages, and files outside of the package.
SKIPPED_IN_ARCHIVES = SKIPPED_FOLDERS | frozenset(
    {"vendor", "vendored", "third_party", "thirdparty", "extern", "externals", "_externals"}
    | {"doc", "docs", "examples", "benchmarks", "asv_bench"}
)

PYTHON = (3, 11)  # whose grammar a file of an archive must follow, the oldest that we support
HEAD = 4000  # bytes at a file's beginning that are searched for a statement that it was generated
WRITTEN_BY_PROGRAM = re.compile(
    rb"(?i)auto-?generated|(?:automatically|machine)[ -]generated|do not edit"
    rb"|generated (?:automatically|by|from|using|with)\b"
)
MOST_ALIKE = 3  # docstrings of a package whose masked summary lines are one
LEAST_MASKED_WORDS = 4  # that a masked summary line must keep to tell a template
WORD = re.compile(r"\w+(?:[.'’]\w+)*")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of an identifier


def harvest(
    packages: Mapping[str, str],
    destination: Path,
    workers: int = 2,
    path: Sequence[str] | None = None,
    kind: Kind = "docstrings",
) -> dict[str, Any]:
    """Write the docstrings of `packages` (distribution name -> public version) as JSON lines of raw records.

    A record is `{"id": "numpy/linalg/_linalg.py:norm", "source": body, "target": summary line without its
    full stop, "group": "numpy/linalg/_linalg.py"}`; records are ordered by package, file and position,
    paragraphs of a text are separated by an empty line. `path` lists the folders that are searched for the
    distributions (default: `sys.path`). A study identifies the text by its sha256.

    Outlines have the ids of modules and classes. Their target is the whole docstring, their source every docstring
    below it, in the order of the file. A class's docstring belongs to the source of its module, whether or
    not the class has an outline of its own: where a module is little more than one class, the two outlines are
    near-duplicates, which `prepare` drops.

    Returns the counts: `files`, `found` (docstrings; of outlines, those of modules and classes) = `kept` + the
    sum of `dropped` (reason -> docstrings), `packages` (name -> kept) and the `sha256` of the output; of
    outlines also `below`, of the docstrings below those that were kept: `found` = `kept` + the sum of `dropped`,
    a docstring counted once for every outline that it stands in.
    """
    tasks: list[tuple[str, Location]] = []
    for name in sorted(packages, key=str.lower):
        for inside, outside in source_files(name, packages[name], path):
            tasks.append((name, (kind, inside, outside)))
    files = at_work(harvested_file, [location for _, location in tasks], workers, 16)
    counts = written(destination, ((name, *lines) for (name, _), lines in zip(tasks, files, strict=True)), kind)
    return {"files": len(tasks), **counts}


def harvest_archives(
    archives: Sequence[Archive], folder: Path, destination: Path, workers: int = 2, kind: Kind = "docstrings"
) -> dict[str, Any]:
    """Write the docstrings of the archives in `folder` as `harvest` writes those of installed packages.

    Returns its counts, `files_dropped` (source files that were not parsed, by reason), and `archives`: of each its
    name, version, licence, file and `bytes`, its `files` and `files_dropped`, and its docstrings `found`, `kept` and
    `dropped`. ArchiveError for an archive that is missing, another one or unsafe.
    """
    tasks = [(kind, archive, folder) for archive in sorted(archives, key=lambda archive: normalized(archive.name))]
    rows: list[dict[str, Any]] = []

    def lines() -> Iterator[tuple[str, bytes, Counter[str], Counter[str]]]:
        for (_, archive, _), harvested in zip(tasks, at_work(harvested_archive, tasks, workers, 1), strict=True):
            size = (folder / archive.file).stat().st_size
            release: dict[str, Any] = {"name": archive.name, "version": archive.version, "licence": harvested.licence}
            release |= {"file": archive.file, "bytes": size}
            files = {"files": harvested.files, "files_dropped": dict(sorted(harvested.files_dropped.items()))}
            rows.append({**release, **files, **sums(harvested.lines[1])})
            yield archive.name, *harvested.lines

    counts = written(destination, lines(), kind)
    dropped: Counter[str] = Counter()
    for row in rows:
        dropped.update(row["files_dropped"])
    files = {"files": sum(row["files"] for row in rows), "files_dropped": dict(sorted(dropped.items()))}
    return {**files, **counts, "archives": rows}


def written(
    destination: Path, harvested: Iterable[tuple[str, bytes, Counter[str], Counter[str]]], kind: Kind
) -> dict[str, Any]:
    """Write JSON lines that come with their package and counts; the sums of the counts, by package and in all."""
    counts_of_docstrings: Counter[str] = Counter()
    counts_below: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    digest = hashlib.sha256()
    partial = destination.with_name(destination.name + ".partial")
    with partial.open("wb") as stream:
        for name, lines, counts, below in harvested:
            stream.write(lines)
            digest.update(lines)
            counts_of_docstrings.update(counts)
            counts_below.update(below)
            kept[name] += counts["kept"]
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(partial, destination)
    return {
        **sums(counts_of_docstrings),
        "packages": dict(sorted(kept.items())),
        "sha256": digest.hexdigest(),
    } | ({"below": sums(counts_below)} if kind == "outlines" else {})


def sums(counts: Counter[str]) -> dict[str, Any]:
    """`found`, `kept` and `dropped` (reason -> count) of a count of "kept" and of every reason to drop."""
    dropped = {reason: count for reason, count in sorted(counts.items()) if reason != "kept"}
    return {"found": counts.total(), "kept": counts["kept"], "dropped": dropped}


def source_files(name: str, version: str, path: Sequence[str] | None) -> list[tuple[str, str]]:
    """The harvested files of one distribution: (path inside it, path on this machine), sorted."""
    searched = sys.path if path is None else list(path)
    distribution = next(iter(metadata.distributions(name=name, path=searched)), None)
    if distribution is None:
        raise HarvestError(
            f"{name} is not installed, the study pins {name}=={version}: install it, or run `make study`, "
            f"which uses the locked environment"
        )
    installed = distribution.version.split("+")[0]
    if installed != version:
        raise HarvestError(
            f"{name} is installed as {distribution.version}, the study pins {version}: install {name}=={version} "
            f"(`make study` uses the locked environment), or change raw.harvest.packages.{name} to "
            f"'{installed}' and raw.sha256 in the study file, which makes it another corpus"
        )
    files = []
    for file in distribution.files or ():
        inside = file.as_posix()
        if ".." in file.parts or not is_harvested(inside, SKIPPED_FOLDERS):
            continue
        outside = Path(str(distribution.locate_file(file)))
        if not outside.is_file():
            raise HarvestError(f"{outside} is missing although {name} {version} lists it: reinstall {name}")
        files.append((inside, str(outside)))
    if not files:
        raise HarvestError(f"{name} {version} lists no Python files (an editable install?): install its wheel")
    return sorted(files)


def is_harvested(inside: str, skipped_folders: frozenset[str]) -> bool:
    """Tell whether a file of a distribution is a source file that is read."""
    *folders, name = inside.split("/")
    skipped = skipped_folders.intersection(folders) or name in SKIPPED_FILES or inside.startswith(SKIPPED_PREFIXES)
    return name.endswith(".py") and not skipped


Location = tuple[Kind, str, str]  # kind of harvest, and the file's path inside the distribution and on this machine
Lines = tuple[bytes, Counter[str], Counter[str]]  # JSON lines, counts of them, counts of the docstrings below outlines


def at_work(function: Callable[[T], R], tasks: Sequence[T], count: int, chunk: int) -> Iterator[R]:
    """Results of `function` for every task, in order, by several processes."""
    if count == 1:
        yield from map(function, tasks)
        return
    with worker_pool(count) as pool:
        yield from pool.map(function, tasks, chunksize=chunk)


def harvested_file(location: Location) -> Lines:
    """The records of one file as JSON lines, and the count of "kept" and of every reason to drop."""
    kind, inside, outside = location
    try:
        docstrings = docstrings_in(kind, inside, Path(outside).read_bytes(), None)
    except (SyntaxError, ValueError) as error:
        raise HarvestError(f"{outside}: not Python for this interpreter ({error}): drop its package") from error
    return lines_of(docstrings, frozenset())


@dataclass(frozen=True, slots=True)
class OfArchive:
    """Result of harvesting one archive."""

    lines: Lines
    files: int  # parsed
    files_dropped: Counter[str]
    licence: str


def harvested_archive(task: tuple[Kind, Archive, Path]) -> OfArchive:
    """The records of one archive, by file and position, without generated files and templated docstrings."""
    kind, archive, folder = task
    content = read_archive(archive, folder / archive.file, lambda name: is_harvested(name, SKIPPED_IN_ARCHIVES))
    docstrings: list[Docstring] = []
    files, dropped = 0, Counter(content.dropped)
    for inside, text in content.files:
        if is_generated(text):
            dropped[GENERATED] += 1
            continue
        try:
            docstrings += docstrings_in(kind, inside, text, PYTHON)
            files += 1
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
            dropped[NOT_PARSED] += 1
    return OfArchive(lines_of(docstrings, templated(docstrings)), files, dropped, content.licence)


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring, its place and its candidate record."""

    id: str
    group: str
    candidate: "Candidate"


def docstrings_in(kind: Kind, inside: str, text: bytes, python: tuple[int, int] | None) -> list[Docstring]:
    """Docstrings of a file, by position; SyntaxError or ValueError where it is not Python (of the version `python`)."""
    if kind == "docstrings" and b'"""' not in text and b"'''" not in text:  # one with a body has two lines
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes: a DeprecationWarning or SyntaxWarning by version
        tree = ast.parse(text, feature_version=python)
    docstrings = []
    names: Counter[str] = Counter()
    for candidate in CANDIDATES[kind](tree):
        name = candidate.name
        names[name] += 1
        repeated = f"#{names[name]}" if names[name] > 1 else ""
        docstrings.append(Docstring(f"{inside}:{name}{repeated}", inside, candidate))
    return docstrings


def lines_of(docstrings: Sequence[Docstring], templated: Collection[str]) -> Lines:
    """The records as JSON lines, except those whose ids are `templated`, and the counts."""
    counts: Counter[str] = Counter(kept=0)
    below: Counter[str] = Counter(kept=0)
    lines = []
    for docstring in docstrings:
        candidate = docstring.candidate
        reason = TEMPLATED if docstring.id in templated else candidate.reason
        if reason is not None:
            counts[reason] += 1
            continue
        record = {"id": docstring.id, "source": candidate.source, "target": candidate.target, "group": docstring.group}
        try:
            lines.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        except UnicodeEncodeError:
            counts[NOT_UNICODE] += 1
            continue
        counts["kept"] += 1
        below.update(candidate.below)
    return b"".join(lines), counts, below


def is_generated(text: bytes) -> bool:
    """Tell whether a comment or the docstring at the top of a file states that a program wrote it."""
    head = text[:HEAD]
    code = re.search(rb"^(?:import|from|def|class|@|if|try)\b", head, re.MULTILINE)
    return WRITTEN_BY_PROGRAM.search(head[: code.start()] if code else head) is not None


def templated(docstrings: Sequence[Docstring]) -> set[str]:
    """The ids of a package's docstrings that a template made.

    Their summary lines are equal, except the words that name the object itself, other names, and numbers: more than
    MOST_ALIKE docstrings share it, and LEAST_MASKED_WORDS words of it are neither names nor numbers.
    """
    alike: dict[str, list[str]] = {}
    for docstring in docstrings:
        if docstring.candidate.reason is None:
            mask = masked(docstring.candidate.target, docstring.id)
            if len(mask.replace("*", "").split()) >= LEAST_MASKED_WORDS:
                alike.setdefault(mask, []).append(docstring.id)
    return {name for names in alike.values() if len(names) > MOST_ALIKE for name in names}


def masked(summary: str, of: str) -> str:
    """A summary line with `*` for words of the object's own path and name, for names and for numbers.

    A name is a word with a digit, an underscore, a full stop, or a capital letter behind its first letter or anywhere
    but at the summary's beginning.
    """
    own = {piece.lower() for piece in PIECE.findall(of)}
    words = []
    for place, word in enumerate(WORD.findall(summary)):
        named = re.search(r"[\d_.]", word) or word[1:] != word[1:].lower() or (place and word != word.lower())
        words.append("*" if named or own & {word.lower(), word.lower().removesuffix("s")} else word.lower())
    return re.sub(r"\*(?: \*)+", "*", " ".join(words))
