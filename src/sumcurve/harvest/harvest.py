"""Docstrings of packages as raw records: of installed ones, or of archives that are not installed.

Two kinds. `docstrings`: of one docstring the body is the source, the summary line the target. `outlines`: the
docstring of a module or class is the target, the docstrings below it are the source, a long one.

Nothing outside the standard library is imported, so that any supported Python can harvest any folder of
unpacked wheels. What is written depends on the packages' versions alone: not on the Python version, the
platform, the hash seed or the number of workers.

Archives are many, and nobody reads them all before. So a file of one that cannot be read is dropped and counted, not an
error; files that say at their top that a program wrote them are dropped; and so are docstrings that a package makes by
a template (`templated`). None of this is done to installed packages, whose text is what it was.
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
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeVar

from sumcurve.harvest.archives import Archive, normalized, read_archive
from sumcurve.machine.workers import worker_pool
from sumcurve.store.errors import CorpusError

T = TypeVar("T")
R = TypeVar("R")


class HarvestError(CorpusError):
    """Packages that cannot give the pinned text; the message names package, versions and remedy."""


Kind = Literal["docstrings", "outlines"]

# Reasons for which a docstring is dropped.
ONE_PARAGRAPH = "no body below the summary line"
EMPTY_BODY = "body empty after cleaning"
NO_SUMMARY = "no summary line"
INTRODUCES = "summary line ends in a colon"
TEMPLATE = "template with unfilled placeholders"
NOT_UNICODE = "lone surrogates"
NO_TEXT = "no running text"
TEMPLATED = "summary line made by a template of its package"

# Reasons for which a source file of an archive is dropped, beside those of `archives`.
NOT_PARSED = "does not parse as Python 3.11"
GENERATED = "says that a program wrote it"

LEAST_BELOW = 5  # docstrings with running text that an outline joins
FEW_BELOW = f"fewer than {LEAST_BELOW} docstrings below"

SKIPPED_FOLDERS = frozenset(
    {"tests", "test", "_vendor", "_vendored", "distutils"}
)  # numpy/distutils: the 3.11 wheel only
SKIPPED_FILES = frozenset({"conftest.py", "__config__.py", "_version.py", "version.py"})  # written per build
SKIPPED_PREFIXES = ("sqlalchemy/testing/",)
# Of archives, too: copies of other packages, and what is no part of the package.
SKIPPED_IN_ARCHIVES = SKIPPED_FOLDERS | frozenset(
    {"vendor", "vendored", "third_party", "thirdparty", "extern", "externals", "_externals"}
    | {"doc", "docs", "examples", "benchmarks", "asv_bench"}
)

PYTHON = (3, 11)  # whose grammar a file of an archive must follow, the oldest that we support
HEAD = 4000  # bytes at a file's beginning in which it says that it was generated
WRITTEN_BY_PROGRAM = re.compile(
    rb"(?i)auto-?generated|(?:automatically|machine)[ -]generated|do not edit"
    rb"|generated (?:automatically|by|from|using|with)\b"
)
MOST_ALIKE = 3  # docstrings of a package whose masked summary lines are one
LEAST_MASKED_WORDS = 4  # that a masked summary line must keep to tell a template
WORD = re.compile(r"\w+(?:[.'’]\w+)*")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of an identifier

FIELDS, SKIP, PROSE = "fields", "skip", "prose"
# fmt: off
SECTIONS = {
    **dict.fromkeys([
        "parameters", "other parameters", "parameters and attributes", "returns", "return", "yields",
        "receives", "raises", "warns", "attributes", "arguments", "keyword arguments", "keyword args", "args",
        "methods", "properties", "keywords", "options",
    ], FIELDS),
    **dict.fromkeys([
        "see also", "references", "examples", "example", "usage", "citations", "bibliography",
    ], SKIP),
    **dict.fromkeys([
        "notes", "note", "warning", "warnings", "explanation", "description", "details", "algorithm",
        "summary",
    ], PROSE),
}
ADMONITIONS = frozenset([
    "note", "warning", "tip", "important", "caution", "attention", "hint", "danger", "error",
    "admonition", "rubric",
])
TYPE_FIELDS = frozenset([
    "type", "rtype", "vartype", "raises", "raise", "except", "exception", "versionadded", "meta",
])
# fmt: on

RULER = re.compile(r"([-=~^*#+_\"'`.:])\1{2,}$")
TABLE_RULER = re.compile(r"[=-]{2,}(?:\s+[=-]{2,})+$|\+[-=+]+\+$")
DIRECTIVE = re.compile(r"\.\.(?:\s+(?:([\w:-]+?)::\s*(.*))?|$)")
FIELD = re.compile(r":(\w+)(?:\s+[^:`]*)?:(?:\s+(.*)|$)")
BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)]|\(\w\)|#\.)\s+(?=\S)")
TYPED_NAME = re.compile(r"^[\w*]+ \([^()]*\): (?=\S)")  # Google style
NAMES = re.compile(r"[*`'\w.\[\]]+(?:\s*,\s*[*`'\w.\[\]]+)*$")
PLACEHOLDER = re.compile(r"%\([\w:]+\)s")
SIGNATURE = re.compile(r"(?:[\w.]+ ?\((?:[^()]|\([^()]*\))*\)\s*(?:(?:->|<==>|=)[^.]{0,60})?\s*)+$")

ROLE_WITH_TEXT = re.compile(r":[\w:+-]+:`([^`<]+?)\s*<[^`>]*>`")
MATH_ROLE = re.compile(r":math:`[^`]*\\[^`]*`")
DOLLARS = re.compile(r"\$\$?[^$]+\$\$?")
ROLE = re.compile(r"(?::[\w:+-]+:)?(?<!`)`([^`]+)`(?!`)_{0,2}")
LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{0,2}")
LITERAL = re.compile(r"``(.+?)``")
STRONG = re.compile(r"\*\*(\S(?:[^*]*\S)?)\*\*")
EMPHASIS = re.compile(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])")
FOOTNOTE = re.compile(r"\s*\[[#*\w]+\]_")
URL = re.compile(r"<?\b(?:https?|ftp)://[^\s>)\]]+>?")
ESCAPE = re.compile(r"\\(?=[^\w\s]|\s)")
SPACE = re.compile(r"\s+")


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
    distributions (default: `sys.path`). Whether the text is the one a study means, its sha256 decides.

    Outlines have the ids of modules and classes. Their target is the whole docstring, their source every docstring
    below it, in the order of the file. A class's docstring belongs to the source of its module, whether or
    not the class has an outline of its own: where a module is little more than one class, the two outlines are
    near-duplicates, which `prepare` drops.

    Returns the counts: `files`, `found` (docstrings; of outlines, those of modules and classes) = `kept` + the
    sum of `dropped` (reason -> docstrings), `packages` (name -> kept) and the `sha256` of what was written; of
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
    tasks = [(kind, archive, folder) for archive in sorted(archives, key=lambda one: normalized(one.name))]
    rows: list[dict[str, Any]] = []

    def lines() -> Iterator[tuple[str, bytes, Counter[str], Counter[str]]]:
        for (_, archive, _), found in zip(tasks, at_work(harvested_archive, tasks, workers, 1), strict=True):
            size = (folder / archive.file).stat().st_size
            said: dict[str, Any] = {"name": archive.name, "version": archive.version, "licence": found.licence}
            said |= {"file": archive.file, "bytes": size}
            files = {"files": found.files, "files_dropped": dict(sorted(found.files_dropped.items()))}
            rows.append({**said, **files, **told(found.lines[1])})
            yield archive.name, *found.lines

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
    found: Counter[str] = Counter()
    found_below: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    digest = hashlib.sha256()
    partial = destination.with_name(destination.name + ".partial")
    with partial.open("wb") as stream:
        for name, lines, counts, below in harvested:
            stream.write(lines)
            digest.update(lines)
            found.update(counts)
            found_below.update(below)
            kept[name] += counts["kept"]
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(partial, destination)
    return {
        **told(found),
        "packages": dict(sorted(kept.items())),
        "sha256": digest.hexdigest(),
    } | ({"below": told(found_below)} if kind == "outlines" else {})


def told(counts: Counter[str]) -> dict[str, Any]:
    """`found`, `kept` and `dropped` (reason -> count) of a count of "kept" and of every reason to drop."""
    dropped = {reason: count for reason, count in sorted(counts.items()) if reason != "kept"}
    return {"found": counts.total(), "kept": counts["kept"], "dropped": dropped}


def source_files(name: str, version: str, path: Sequence[str] | None) -> list[tuple[str, str]]:
    """The harvested files of one distribution: (path inside it, path on this machine), sorted."""
    searched = sys.path if path is None else list(path)
    found = next(iter(metadata.distributions(name=name, path=searched)), None)
    if found is None:
        raise HarvestError(
            f"{name} is not installed, the study pins {name}=={version}: install it, or run `make study`, "
            f"which uses the locked environment"
        )
    installed = found.version.split("+")[0]
    if installed != version:
        raise HarvestError(
            f"{name} is installed as {found.version}, the study pins {version}: install {name}=={version} "
            f"(`make study` uses the locked environment), or change raw.harvest.packages.{name} to "
            f"'{installed}' and raw.sha256 in the study file, which makes it another corpus"
        )
    files = []
    for file in found.files or ():
        inside = file.as_posix()
        if ".." in file.parts or not is_harvested(inside, SKIPPED_FOLDERS):
            continue
        outside = Path(str(found.locate_file(file)))
        if not outside.is_file():
            raise HarvestError(f"{outside} is missing although {name} {version} lists it: reinstall {name}")
        files.append((inside, str(outside)))
    if not files:
        raise HarvestError(f"{name} {version} lists no Python files (an editable install?): install its wheel")
    return sorted(files)


def is_harvested(inside: str, skipped_folders: frozenset[str]) -> bool:
    """Whether a file of a distribution is a source file that is read."""
    *folders, name = inside.split("/")
    skipped = skipped_folders.intersection(folders) or name in SKIPPED_FILES or inside.startswith(SKIPPED_PREFIXES)
    return name.endswith(".py") and not skipped


Location = tuple[Kind, str, str]  # what is harvested of a file, its path inside the distribution and on this machine
Lines = tuple[bytes, Counter[str], Counter[str]]  # JSON lines, counts of them, counts of the docstrings below outlines


def at_work(function: Callable[[T], R], tasks: Sequence[T], count: int, chunk: int) -> Iterator[R]:
    """What `function` makes of every task, in order, by several processes."""
    if count == 1:
        yield from map(function, tasks)
        return
    with worker_pool(count) as pool:
        yield from pool.map(function, tasks, chunksize=chunk)


def harvested_file(location: Location) -> Lines:
    """The records of one file as JSON lines, and the count of "kept" and of every reason to drop."""
    kind, inside, outside = location
    try:
        found = found_in(kind, inside, Path(outside).read_bytes(), None)
    except (SyntaxError, ValueError) as error:
        raise HarvestError(f"{outside}: not Python for this interpreter ({error}): drop its package") from error
    return lines_of(found, frozenset())


@dataclass(frozen=True, slots=True)
class OfArchive:
    """What one archive gave."""

    lines: Lines
    files: int  # parsed
    files_dropped: Counter[str]
    licence: str


def harvested_archive(task: tuple[Kind, Archive, Path]) -> OfArchive:
    """The records of one archive, by file and position, without generated files and what a template made."""
    kind, archive, folder = task
    content = read_archive(archive, folder / archive.file, lambda name: is_harvested(name, SKIPPED_IN_ARCHIVES))
    found: list[Found] = []
    files, dropped = 0, Counter(content.dropped)
    for inside, text in content.files:
        if is_generated(text):
            dropped[GENERATED] += 1
            continue
        try:
            found += found_in(kind, inside, text, PYTHON)
            files += 1
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
            dropped[NOT_PARSED] += 1
    return OfArchive(lines_of(found, templated(found)), files, dropped, content.licence)


@dataclass(frozen=True, slots=True)
class Found:
    """A docstring, where it stands and what may become of it."""

    id: str
    group: str
    candidate: "Candidate"


def found_in(kind: Kind, inside: str, text: bytes, python: tuple[int, int] | None) -> list[Found]:
    """What a file holds, by position; SyntaxError or ValueError where it is not Python (of the version `python`)."""
    if kind == "docstrings" and b'"""' not in text and b"'''" not in text:  # one with a body has two lines
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes: a DeprecationWarning or SyntaxWarning by version
        tree = ast.parse(text, feature_version=python)
    found = []
    names: Counter[str] = Counter()
    for candidate in CANDIDATES[kind](tree):
        name = candidate.name
        names[name] += 1
        repeated = f"#{names[name]}" if names[name] > 1 else ""
        found.append(Found(f"{inside}:{name}{repeated}", inside, candidate))
    return found


def lines_of(found: Sequence[Found], templated: Collection[str]) -> Lines:
    """The records as JSON lines, but for those whose ids are `templated`, and the counts."""
    counts: Counter[str] = Counter(kept=0)
    below: Counter[str] = Counter(kept=0)
    lines = []
    for one in found:
        candidate = one.candidate
        reason = TEMPLATED if one.id in templated else candidate.reason
        if reason is not None:
            counts[reason] += 1
            continue
        record = {"id": one.id, "source": candidate.source, "target": candidate.target, "group": one.group}
        try:
            lines.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        except UnicodeEncodeError:
            counts[NOT_UNICODE] += 1
            continue
        counts["kept"] += 1
        below.update(candidate.below)
    return b"".join(lines), counts, below


def is_generated(text: bytes) -> bool:
    """Whether a comment or the docstring at the top of a file says that a program wrote it."""
    head = text[:HEAD]
    code = re.search(rb"^(?:import|from|def|class|@|if|try)\b", head, re.MULTILINE)
    return WRITTEN_BY_PROGRAM.search(head[: code.start()] if code else head) is not None


def templated(found: Sequence[Found]) -> set[str]:
    """The ids of a package's docstrings that a template made.

    Their summary lines are one line, but for the words that name the object itself, other names, and numbers: more than
    MOST_ALIKE docstrings have it, and LEAST_MASKED_WORDS words of it are neither.
    """
    alike: dict[str, list[str]] = {}
    for one in found:
        if one.candidate.reason is None:
            mask = masked(one.candidate.target, one.id)
            if len(mask.replace("*", "").split()) >= LEAST_MASKED_WORDS:
                alike.setdefault(mask, []).append(one.id)
    return {name for names in alike.values() if len(names) > MOST_ALIKE for name in names}


def masked(summary: str, of: str) -> str:
    """A summary line with `*` for words of the object's own path and name, for names and for numbers.

    A name is what holds a digit, an underscore, a full stop, or a capital letter behind its first letter or anywhere
    but at the summary's beginning.
    """
    own = {piece.lower() for piece in PIECE.findall(of)}
    words = []
    for place, word in enumerate(WORD.findall(summary)):
        named = re.search(r"[\d_.]", word) or word[1:] != word[1:].lower() or (place and word != word.lower())
        words.append("*" if named or own & {word.lower(), word.lower().removesuffix("s")} else word.lower())
    return re.sub(r"\*(?: \*)+", "*", " ".join(words))


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may become a record, or the reason to drop it."""

    name: str
    source: str = ""
    target: str = ""
    reason: str | None = None
    below: Counter[str] = field(default_factory=Counter)  # of an outline: "kept" and reasons to drop docstrings below


def titled(tree: ast.Module) -> Iterator[Candidate]:
    """Every docstring, by position: body and summary line."""
    for name, docstring in docstrings(tree):
        summary, body, reason = cleaned(docstring)
        yield Candidate(name, body, summary, reason)


def outlined(tree: ast.Module) -> Iterator[Candidate]:
    """The module and every class that have a docstring, by position: the docstrings below, and their own."""
    for name, body in (("<module>", tree.body), *class_bodies(tree.body)):
        docstring = docstring_of(body)
        if docstring is None:
            continue
        target, has_summary = paragraphs_of(dedented(docstring))
        if not has_summary:
            yield Candidate(name, reason=NO_SUMMARY)
            continue
        if is_template(target):
            yield Candidate(name, reason=TEMPLATE)
            continue
        source: list[str] = []
        below: Counter[str] = Counter()
        for _, lower in docstrings_below(body, ""):
            paragraphs, _ = paragraphs_of(dedented(lower))
            reason = NO_TEXT if not paragraphs else TEMPLATE if is_template(paragraphs) else "kept"
            below[reason] += 1
            if reason == "kept":
                source += paragraphs
        if below["kept"] < LEAST_BELOW:
            yield Candidate(name, reason=FEW_BELOW)
            continue
        yield Candidate(name, "\n\n".join(source), "\n\n".join(target), below=below)


CANDIDATES = {"docstrings": titled, "outlines": outlined}


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(qualified name, docstring) of the module, its classes, functions and add_newdoc calls, by position."""
    first = docstring_of(tree.body)
    if first is not None:
        yield "<module>", first
    yield from docstrings_below(tree.body, "")


def docstrings_below(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for name, node in definitions(body, prefix):
        if isinstance(node, ast.Call):
            yield from added_docstrings(node, name)
        else:
            text = docstring_of(node.body)
            if text is not None:
                yield name, text


def class_bodies(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    """(qualified name, body) of the classes, by position."""
    for name, node in definitions(body, ""):
        if isinstance(node, ast.ClassDef):
            yield name, node.body


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition | ast.Call]]:
    """Functions and classes with their qualified names, calls that stand alone with their place's prefix; by position.

    What stands in a function or class follows it.
    """
    for node in body:
        if isinstance(node, Definition):
            name = prefix + node.name
            yield name, node
            yield from definitions(node.body, name + ".")
        elif isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
            for part in ("body", "orelse", "finalbody"):
                yield from definitions(getattr(node, part, ()), prefix)
            for handler in getattr(node, "handlers", ()):
                yield from definitions(handler.body, prefix)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield prefix, node.value


def docstring_of(body: Sequence[ast.stmt]) -> str | None:
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        value = body[0].value.value
        return value if isinstance(value, str) else None
    return None


def added_docstrings(call: ast.Call, prefix: str) -> Iterator[tuple[str, str]]:
    """What `add_newdoc(place, name, doc)` and its kin say of objects written in C.

    `doc` is a string, a (method, string) pair or a list of such pairs.
    """
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if not (name.startswith("add_newdoc") or name == "add_docstr") or not call.args:
        return
    strings = [text for text in map(string_of, call.args[:-1]) if text is not None]
    of = prefix + (strings[-1] if strings else ast.unparse(call.args[0]))
    last = call.args[-1]
    pairs = last.elts if isinstance(last, ast.List) else [last]
    for pair in pairs:
        if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
            method, text = map(string_of, pair.elts)
            if method is not None and text is not None:
                yield f"{of}.{method}", text
        else:
            text = string_of(pair)
            if text is not None:
                yield of, text


def string_of(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def cleaned(docstring: str) -> tuple[str, str, str | None]:
    """(summary line, body, None), or the reason to drop in the third place."""
    lines = dedented(docstring)
    if not any(not line for line in lines):
        return "", "", ONE_PARAGRAPH
    paragraphs, has_summary = paragraphs_of(lines)
    if not has_summary:
        return "", "", NO_SUMMARY
    summary, *rest = paragraphs
    if not rest:
        return "", "", EMPTY_BODY
    if is_template(paragraphs):
        return "", "", TEMPLATE
    if summary.endswith(":"):
        return "", "", INTRODUCES
    return summary.rstrip(". "), "\n\n".join(rest), None


def paragraphs_of(lines: Sequence[str]) -> tuple[list[str], bool]:
    """The paragraphs of running text without markup, and whether the first is a summary line.

    Call signatures above the first are left out, and so are paragraphs without letters and short ones that only
    introduced what is gone.
    """
    paragraphs: list[str] = []
    has_summary = not starts_with_section(lines)
    dropped_lead = False
    for raw in prose(lines):
        text = plain(" ".join(raw))
        if not paragraphs and SIGNATURE.match(text):
            dropped_lead = True
            continue
        if paragraphs and text.endswith(":") and text.count(" ") < 4:
            continue
        if re.search("[A-Za-z]", text):
            paragraphs.append(text)
        elif not paragraphs and not dropped_lead:
            has_summary = False
    return paragraphs, has_summary and bool(paragraphs)


def is_template(paragraphs: Sequence[str]) -> bool:
    return any(map(PLACEHOLDER.search, paragraphs)) or re.search(r"\{\w*\}", paragraphs[0]) is not None


def dedented(docstring: str) -> list[str]:
    """The lines without common indentation and outer blank lines (as `inspect.cleandoc`, on every Python)."""
    lines = [line.rstrip() for line in docstring.expandtabs().split("\n")]
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines[1:] if line), default=0)
    lines = [lines[0].lstrip(" ")] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def starts_with_section(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and lines[0].lower().rstrip(":") in SECTIONS and RULER.match(lines[1]) is not None


def prose(lines: Sequence[str]) -> Iterator[list[str]]:
    """The paragraphs of a docstring that are running text, as lists of stripped lines.

    Left out: doctests, literal and code blocks, directives, tables, section headings and rulers, the sections
    See Also, References and Examples, and the `name : type` lines of field lists, whose descriptions stay.
    """
    paragraph: list[str] = []
    first = True  # nothing yielded yet: a heading is the title of a module
    section = PROSE
    base = 0  # indentation of the section's heading
    block: int | None = None  # lines that are indented more than this belong to a dropped block
    until_blank = False
    listed = False  # the paragraph began with a bullet
    position = 0
    while position < len(lines):
        line = lines[position]
        text = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        following = lines[position + 1] if position + 1 < len(lines) else ""
        position += 1
        if not text:
            until_blank = False
            if paragraph:
                yield paragraph
                first = False
            paragraph = []
            continue
        if block is not None:
            if indent > block:
                continue
            block = None
        if until_blank:
            continue
        heading = RULER.match(following.strip()) is not None and not RULER.match(text)
        ends = heading or text.startswith((">>>", "In [", "..", "| ", "+-")) or RULER.match(text)
        bullet = BULLET.match(text)
        # a line of running text may start with a minus: a bullet needs a paragraph's end or a list before it
        if bullet and paragraph and not listed and not paragraph[-1].endswith((":", ".", ";")):
            bullet = None
        ends = ends or TABLE_RULER.match(text) or bullet or FIELD.match(text)
        if ends and paragraph:
            yield paragraph
            paragraph, first = [], False
        if heading and indent == len(following) - len(following.lstrip(" ")):
            position += 1
            section, base = SECTIONS.get(text.lower().rstrip(":"), PROSE), indent
            if first and text.lower().rstrip(":") not in SECTIONS:
                yield [text]
                first = False
            continue
        if RULER.match(text) or text.startswith(("| ", "+-")):
            continue
        if TABLE_RULER.match(text):
            until_blank = True
            continue
        if section == SKIP:
            continue
        if text.startswith((">>>", "In [")):
            until_blank = True
            continue
        directive = DIRECTIVE.match(text)
        if directive:
            name, argument = directive.groups()
            if name not in ADMONITIONS:
                block = indent
            elif argument and name not in ("admonition", "rubric"):
                paragraph = [argument]
            continue
        field = FIELD.match(text)
        if field:
            name, description = field.groups()
            if name in TYPE_FIELDS:
                block = indent
            elif description:
                paragraph = [description]
            continue
        if names_a_field(text, indent, following, section, base):
            if paragraph:
                yield paragraph
                paragraph, first = [], False
            continue
        if PLACEHOLDER.fullmatch(text):
            continue
        if not paragraph:
            listed = bullet is not None
        if bullet:
            text = text[bullet.end() :]
        text = TYPED_NAME.sub("", text, count=1) if not paragraph else text
        if text.endswith("::"):
            block = indent
            text = text[:-1].rstrip(" :") + ":" if text.strip(": ") else ""
        if text:
            paragraph.append(text)
        if block is not None and paragraph:
            yield paragraph
            paragraph, first = [], False
    if paragraph:
        yield paragraph


def names_a_field(text: str, indent: int, following: str, section: str, base: int) -> bool:
    """Whether a line is the `name : type` line above an indented description."""
    deeper = bool(following.strip()) and len(following) - len(following.lstrip(" ")) > indent
    name = text.split(" : ")[0].rstrip(" :")
    if section == FIELDS and indent == base:
        return deeper or " : " in text or NAMES.match(text) is not None
    return deeper and NAMES.match(name) is not None and (" : " in text or name == text)


def plain(text: str) -> str:
    """Running text without markup: roles, literals, emphasis and links unwrapped, URLs as URL."""
    text = MATH_ROLE.sub("MATH", text)
    text = ROLE_WITH_TEXT.sub(r"\1", text)
    text = LITERAL.sub(r"\1", text)
    text = LINK.sub(r"\1", text)
    text = ROLE.sub(lambda match: shown(match.group(1)), text)
    text = DOLLARS.sub("MATH", text)
    text = URL.sub("URL", text)
    text = STRONG.sub(r"\1", text)
    text = EMPHASIS.sub(r"\1", text)
    text = FOOTNOTE.sub("", text)
    text = ESCAPE.sub("", text)
    return SPACE.sub(" ", text).strip()


def shown(name: str) -> str:
    """What Sphinx shows of a cross-reference: `~a.b.c` is c, `.Session` and `_orm.Session` are Session."""
    if "\\" in name:
        return "MATH"
    if name.startswith("~"):
        return name.rsplit(".", 1)[-1].lstrip("~")
    return re.sub(r"^(?:!|\.|_\w+\.)(?=\w)", "", name)
