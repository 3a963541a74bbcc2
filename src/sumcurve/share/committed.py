"""Committed results: what tables need of a study's trainings, without weights, small enough for git.

`studies/STUDY/results.tar.xz` holds manifests, History, summaries and values of items of all trainings of a study, once
they are finished. Until then each finished training has a file, `studies/STUDY/trainings/RUN.tar.xz`. Another checkout
takes them up (`restore`) and goes on from there. Folders that need the weights of several trainings (contrasts) count
as a training, and so do trainings of outside programs and outputs of prompted models; scores that need those of a run
stand with the first of their runs.

No file holds weights, vocabularies or text of a corpus. Summaries are in it where the study says that they may be
passed on (`corpora.NAME.committed`): scores that summaries give again are then left out. Values of items are stored as
tables (`sumcurve.share.item_tables`), a table a scorer. Extracts and other untrained systems are left out: what they
write is text of the corpus, and cheap to make.

Restored folders have the manifests that were written where they were made, so that their content, and the names of all
folders made from them, are the same there and here. `committed.json` beside a manifest lists the files that were left
out (`manifest.lacking`).
"""

import io
import json
import lzma
import re
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from os import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sumcurve.planning.folder import Folder
from sumcurve.scores.frames import is_frame
from sumcurve.store import manifest
from sumcurve.store.kind import COMMITTED_OF_RUNS
from sumcurve.store.manifest import MANIFEST, ManifestError
from sumcurve.store.records import csv_rows, write_bytes
from sumcurve.study.doors import CAPABILITIES, SCORERS
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.plan import Plan

ENDING = ".tar.xz"
RESULTS, TRAININGS = f"results{ENDING}", "trainings"
FORMAT = 1
HEADER = "committed.json"  # the archive's first member: its format, study, and what files its folders have
ITEMS = "items.csv"  # of scores: stored as a table of all folders of a scorer
TABLE = re.compile(r"items/([a-z0-9_]+)\.parquet")
MOST_BYTES = 2**30  # that an archive may unpack to, and lzma may take to do so
FOLDER = re.compile(r"(runs|outputs|scores)/[A-Za-z0-9_-]+")
MEMBER = re.compile(rf"{FOLDER.pattern}/[A-Za-z0-9_][A-Za-z0-9_.-]*")

SUMMARIES = "summaries."  # beginning of names of files with summaries

# Tensors of files without weights, by the key of the hash in their header.
TENSORS = {key: names for capability in CAPABILITIES.values() for key, names in capability.tensors.items()}
HEX = re.compile(r"[0-9a-f]{64}")
ASK_THE_MODEL = ("reading",)  # scorers of log-probabilities, which are left out of an output
# Beginnings of columns that hold numbers apart by blanks.
NUMBERS = tuple(beginning for capability in CAPABILITIES.values() for beginning in capability.number_columns)
PARTS = tuple(column for capability in CAPABILITIES.values() for column in capability.part_columns)
PART = re.compile(r"[a-z_]{1,40} [0-9]{1,6}")
NO_NUMBER = "-"

RESTORE = "restore it from git"  # the remedy for a file that cannot be read

Lock = Callable[[str], AbstractContextManager[None]]
Files = dict[str, dict[str, bytes]]  # by key of a folder, by name


class CommitError(ValueError):
    """Results that cannot be committed or restored; the message names the file, the fault and the remedy."""


# --- writing


def trainings(plan: Plan) -> list[str]:
    """Return the keys of the folders that have a file each until all of the study are finished."""
    return [folder.key for folder in plan.folders.values() if KINDS[folder.kind].leads_file]


def of_training(plan: Plan, run: str) -> list[Folder]:
    """Return a training, its outputs and their scores, in the order of the steps; of a prompted model its output.

    For the first of several runs that score outputs: also scores of outputs that no training decoded.
    """
    first = plan.folder(run)
    decoded = [one for one in plan.named("outputs") if KINDS[one.kind].committed and "run" in one.specification]
    outputs = [folder for folder in decoded if folder.specification["run"] == run]
    keys, decoded_keys = {run, *(folder.key for folder in outputs)}, {folder.key for folder in decoded}
    alike = {folder.key for folder in plan.named("runs", first.kind)}
    scores = [
        folder
        for folder in plan.named("scores", "score")
        if (output := folder.specification["output"]) in keys
        or (output not in decoded_keys and run == min(alike.intersection(folder.inputs), default=None))
    ]
    return [first, *outputs, *scores]


def has_summaries(plan: Plan, output: str) -> bool:
    """Tell whether the summaries of an output are committed: all corpora that it is of allow it."""
    corpora = {row.corpus for row in plan.rows if row.output == output}
    return bool(corpora) and all(plan.corpora[name].committed == "summaries" for name in corpora)


def is_given_again(plan: Plan, folder: Folder) -> bool:
    """Tell whether a folder is a score that what is committed gives again, without weights and without a server."""
    if folder.kind != "score" or folder.specification["scorer"] in ASK_THE_MODEL:
        return False
    scorer = SCORERS[folder.specification["scorer"]]
    reads_runs = any(key.startswith("runs/") for key in folder.inputs)
    is_there = not scorer.reads_output or has_summaries(plan, folder.specification["output"])
    return is_there and not reads_runs and not scorer.keeps_answers


def commit(plan: Plan, results: Path, place: Path) -> tuple[list[Path], list[str]]:
    """Write the finished trainings of a study below `place`: in one file where all are finished, else in a file each.

    Returns the files, and the unfinished folders by key. Equal folders give equal bytes. CommitError where nothing is
    finished, or a file may hold text of the corpus; ManifestError where a folder is damaged.
    """
    wanted = {
        run: [folder for folder in of_training(plan, run) if not is_given_again(plan, folder)]
        for run in trainings(plan)
    }
    missing = {
        run: [folder.key for folder in folders if manifest.state(results / folder.key) == "missing"]
        for run, folders in wanted.items()
    }
    finished = [run for run, keys in missing.items() if not keys]
    if not finished:
        raise CommitError(f"{results}: no training of study {plan.study} is finished with its outputs and scores")
    if len(finished) == len(wanted):
        folders = {folder.key: folder for of_run in wanted.values() for folder in of_run}
        _write(place / RESULTS, plan, results, list(folders.values()))
        for path in (place / TRAININGS).glob(f"*{ENDING}"):
            path.unlink()
        if (place / TRAININGS).is_dir() and not any((place / TRAININGS).iterdir()):
            (place / TRAININGS).rmdir()
        return [place / RESULTS], []
    paths = [place / TRAININGS / f"{plan.folder(run).name}{ENDING}" for run in finished]
    for path, run in zip(paths, finished, strict=True):
        _write(path, plan, results, wanted[run])
    return paths, [key for keys in missing.values() for key in keys]


def _write(path: Path, plan: Plan, results: Path, folders: Sequence[Folder]) -> None:
    files: Files = {}
    for folder in folders:
        where = results / folder.key
        sealed = manifest.verify(where, folder.specification)
        if sealed is None:
            raise CommitError(f"{where} is not finished any more: run again")
        kept = [name for name in sealed["files"] if _is_kept(folder.kind, name)]
        if folder.step == "outputs" and not has_summaries(plan, folder.key):
            kept = [name for name in kept if not name.startswith(SUMMARIES)]
        if absent := [name for name in kept if not (where / name).is_file()]:
            raise CommitError(manifest.without(where, absent))
        files[folder.key] = {name: (where / name).read_bytes() for name in (MANIFEST, *kept)}
        for name in kept:
            _require_no_text(where / name, name, files[folder.key][name])
    data = _archive(plan, files)
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)


def _archive(plan: Plan, files: Files) -> bytes:
    from sumcurve.share.item_tables import table_of  # numpy: after sums are pinned

    header = {"format": FORMAT, "study": plan.study, "files": _listed(files)}
    members = {HEADER: json.dumps(header, sort_keys=True).encode()}
    by_scorer: dict[str, dict[str, bytes]] = {}
    for key, of_folder in files.items():
        if ITEMS in of_folder:
            by_scorer.setdefault(plan.folder(key).specification["scorer"], {})[key] = of_folder[ITEMS]
    tabled: set[str] = set()
    for scorer, tables in sorted(by_scorer.items()):
        if (table := table_of(tables)) is not None:
            members[f"items/{scorer}.parquet"] = table
            tabled |= tables.keys()
    rest = [
        (name, key, data)
        for key, of_folder in files.items()
        for name, data in of_folder.items()
        if not (name == ITEMS and key in tabled)
    ]
    members |= {f"{key}/{name}": data for name, key, data in sorted(rest)}  # alike ones together pack better
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)  # no owner, no mtime
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    if (size := stream.tell()) > MOST_BYTES:
        raise CommitError(
            f"{plan.study}: its committed results would unpack to {size:,} bytes, more than {MOST_BYTES:,}: split the "
            "study"
        )
    return lzma.compress(stream.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def _is_kept(kind: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in KINDS[kind].committed)


def _require_no_text(where: object, name: str, data: bytes) -> None:
    """Raise CommitError where a file that is kept holds more than numbers, ids of items and a model's summaries."""
    remedy = "it may be text of the corpus, which is never committed; copy the folder whole, outside of git"
    if name.endswith((".csv", ".jsonl")):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise CommitError(f"{where}: is not UTF-8 ({error}); make its folder anew") from None
    if name.endswith(".csv") and name not in COMMITTED_OF_RUNS:
        for number, row in enumerate(csv_rows(text), start=2):
            for column, cell in row.items():
                if column not in ("id", "group") and not _is_number(cell) and not _holds_no_text(column, cell):
                    raise CommitError(f"{where}:{number}: {column} holds {cell!r:.60}: {remedy}")
    elif name.endswith(".safetensors"):
        tensors, header = _of_safetensors(where, data)
        key, value = next(iter(header.items()), ("", ""))
        known = len(header) == 1 and key in TENSORS and HEX.fullmatch(value)
        if strange := sorted(set(tensors) - set(TENSORS.get(key, ()))) + ([] if known else ["__metadata__"]):
            raise CommitError(f"{where}: {strange[0]!r:.60} is nothing that systems find: {remedy}")
    elif name.startswith(SUMMARIES):
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise CommitError(f"{where}:{number}: is not JSON; make its folder anew") from None
            if not isinstance(row, dict) or set(row) != {"id", "summary"}:
                raise CommitError(f"{where}:{number}: holds more than an id and a summary: {remedy}")


def _of_safetensors(where: object, data: bytes) -> tuple[list[str], dict[str, str]]:
    """The names of its tensors, and its metadata. The library refuses bytes that belong to no tensor."""
    from safetensors import SafetensorError, deserialize

    try:
        names = [name for name, _ in deserialize(data)]
    except SafetensorError as error:
        raise CommitError(f"{where}: is not in the form of safetensors ({error}); make its folder anew") from None
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])  # which `deserialize` does not give
    return names, header.get("__metadata__", {})


def _holds_no_text(column: str, cell: Any) -> bool:
    """Tell whether a cell holds space-separated numbers, or the name of a part or a frame in a column of these."""
    words = cell.split(" ") if isinstance(cell, str) else [""]
    if column.startswith(NUMBERS):
        return all(word == NO_NUMBER or word.isdecimal() for word in words)
    if column in PARTS:
        return bool(PART.fullmatch(str(cell)))
    return column == "frame" and is_frame(cell)


def _is_number(cell: Any) -> bool:
    if cell in ("True", "False", ""):
        return True
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


# --- reading


@dataclass(frozen=True)
class Committed:
    """A file of committed results in memory: its study, its bytes' sha256, and its folders by key, files by name."""

    path: Path
    study: str
    sha256: str
    folders: Files


def read(path: Path) -> Committed:
    """Read a file of committed results; nothing of it is written anywhere.

    CommitError where it is cut off, no archive, too large, or holds anything but plain files of results, or one twice.
    """
    from sumcurve.share.item_tables import files_of  # numpy: after sums are pinned

    try:
        data = path.read_bytes()
    except OSError as error:
        raise CommitError(f"{path}: cannot be read ({error.strerror})") from None
    members = _members(path, _decompressed(path, data))
    study, listed = _header(path, members.pop(HEADER, None))
    folders: Files = {}
    for name, content in members.items():
        if table := TABLE.fullmatch(name):
            try:
                files = files_of(content)
            except ValueError as error:
                raise CommitError(f"{path}: {table[0]}: {error}; {RESTORE}") from None
            for key, items in files.items():
                folders.setdefault(key, {})[ITEMS] = items
        else:
            key, _, file = name.rpartition("/")
            folders.setdefault(key, {})[file] = content
    for key, of_folder in folders.items():
        if MANIFEST not in of_folder or not FOLDER.fullmatch(key):
            raise CommitError(f"{path}: {key!r:.80} is no folder of results with its {MANIFEST}; {RESTORE}")
    if _listed(folders) != listed:
        raise CommitError(f"{path}: files of its folders are missing or were added since it was written; {RESTORE}")
    return Committed(path, study, sha256(data).hexdigest(), folders)


def keys(place: Path) -> set[str]:
    """Return the keys of the folders in a study's files of committed results, by the names of members alone.

    CommitError as of `read`.
    """
    names = [name for path in files(place) for name in _members(path, _decompressed(path, path.read_bytes()))]
    return {name.removesuffix(f"/{MANIFEST}") for name in names if name.endswith(f"/{MANIFEST}")}


def _decompressed(path: Path, data: bytes) -> bytes:
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_BYTES)
    try:
        content = stream.decompress(data, MOST_BYTES + 1)
    except (lzma.LZMAError, MemoryError) as error:
        raise CommitError(f"{path}: is not xz ({error}); {RESTORE}") from None
    if len(content) > MOST_BYTES:
        raise CommitError(f"{path}: unpacks to more than {MOST_BYTES:,} bytes, which no committed results do")
    if not stream.eof:
        raise CommitError(f"{path}: ends early, as a file does that was half written; {RESTORE}")
    if stream.unused_data:
        raise CommitError(f"{path}: goes on behind its end ({len(stream.unused_data):,} bytes); {RESTORE}")
    return content


def _members(path: Path, data: bytes) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    raise CommitError(
                        f"{path}: {member.name!r} is a link or no file at all: committed results hold none"
                    )
                if member.name != HEADER and not MEMBER.fullmatch(member.name) and not TABLE.fullmatch(member.name):
                    raise CommitError(f"{path}: {member.name!r} is no file of a folder of results; {RESTORE}")
                content = tar.extractfile(member)
                data_of = content.read() if content else b""
                if len(data_of) != member.size:
                    raise CommitError(f"{path}: {member.name} ends early; {RESTORE}")
                if member.name in members:
                    raise CommitError(f"{path}: {member.name} stands in it twice; {RESTORE}")
                members[member.name] = data_of
    except tarfile.TarError as error:
        raise CommitError(f"{path}: is not a tar archive ({error}); {RESTORE}") from None
    return members


def _listed(folders: Files) -> str:
    """Return the sha256 (hex) of the names of all files of the folders."""
    names = sorted(f"{key}/{name}" for key, of_folder in folders.items() for name in of_folder)
    return sha256("\n".join(names).encode()).hexdigest()


def _header(path: Path, data: bytes | None) -> tuple[str, str]:
    """Return the study that the header names, and the sha256 of its files' names."""
    try:
        header = json.loads(data or b"")
        form, study, listed = header["format"], str(header["study"]), str(header.get("files"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CommitError(f"{path}: its {HEADER} cannot be read: these are no committed results; {RESTORE}") from None
    if form != FORMAT:
        raise CommitError(f"{path}: is of format {form!r}; this version reads {FORMAT}: use the one that wrote it")
    return study, listed


# --- restoring


@dataclass(frozen=True)
class Restored:
    """Outcome of restoring committed results: keys of folders."""

    taken: Sequence[str]
    here: Sequence[str]  # the same content was here already
    not_planned: Sequence[str]  # the study has another folder now, or none


def files(place: Path) -> list[Path]:
    """Return the files of committed results in a study's folder."""
    return [path for path in (place / RESULTS, *sorted((place / TRAININGS).glob(f"*{ENDING}"))) if path.is_file()]


def restore(plan: Plan, results: Path, place: Path, lock: Lock) -> Restored:
    """Take up the committed results of a study: all of them are checked before one folder is written.

    Folders that the study does not plan any more are left. CommitError names files that contradict each
    other or a folder that is here; ManifestError a damaged folder that is here.
    """
    sources = [read(path) for path in files(place)]
    if not sources:
        raise CommitError(
            f"{place} holds no committed results ({RESULTS}, {TRAININGS}/*{ENDING}): `sumcurve commit` writes them"
        )
    for source in sources:
        if source.study != plan.study:
            raise CommitError(f"{source.path} is of study {source.study}, not of {plan.study}; {RESTORE}")
    (results / ".partial").mkdir(parents=True, exist_ok=True)
    stage = Path(mkdtemp(prefix="committed-", dir=results / ".partial"))
    try:
        sealed: dict[str, dict[str, Any]] = {}
        source_of: dict[str, Committed] = {}
        not_planned: list[str] = []
        for source in sources:
            for key, of_folder in source.folders.items():
                if key not in plan.folders:
                    not_planned.append(key)
                elif key not in source_of:
                    source_of[key] = source
                    sealed[key] = _staged(source, stage, plan.folders[key])
                elif _said(source_of[key].folders[key]) != _said(of_folder):
                    raise CommitError(
                        f"{source_of[key].path} and {source.path} contradict each other in {key}; delete the one that "
                        "you do not trust"
                    )
        contents = {key: manifest.content(record) for key, record in sealed.items()}
        here = {key for key, source in source_of.items() if _is_here(source, key, results, contents[key])}
        for key, source in source_of.items():
            _require_inputs(source, key, sealed[key]["inputs"], plan, contents, results)
        taken = []
        for key in sorted(set(contents) - here, key=lambda key: STEPS.index(key.split("/")[0])):
            with lock(key.split("/")[1]):
                if not _is_here(source_of[key], key, results, contents[key]):  # nor made meanwhile
                    _move(stage / key, results / key)
                    manifest.touch(results / key)  # in the order of the steps, as comparisons of times expect
                    taken.append(key)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return Restored(taken, sorted(here), not_planned)


def _staged(source: Committed, stage: Path, planned: Folder) -> dict[str, Any]:
    """Write one folder below `stage`, check it as a finished folder, and return its manifest."""
    key, of_folder = planned.key, source.folders[planned.key]
    folder = stage / key
    folder.mkdir(parents=True)
    for name, data in of_folder.items():
        (folder / name).write_bytes(data)
    try:
        sealed = manifest.read(folder)
    except ManifestError as error:
        raise CommitError(f"{source.path}: {_inside(error, stage)}") from None
    kept = set(of_folder) - {MANIFEST}
    if strange := sorted(name for name in kept if not _is_kept(planned.kind, name)):
        raise CommitError(f"{source.path}: {key}/{strange[0]}: nothing that is committed of a {planned.kind}")
    assert sealed is not None  # `read` requires each folder to have it
    if left_out := [name for name in sealed["files"] if name not in kept]:
        manifest.write_lacking(folder, left_out, source.sha256)
    try:
        manifest.verify(folder, planned.specification)
    except ManifestError as error:
        raise CommitError(f"{source.path}: {_inside(error, stage)}") from None
    for name in sorted(kept):
        _require_no_text(f"{source.path}: {key}/{name}", name, of_folder[name])
    return sealed


def _inside(error: ManifestError, stage: Path) -> str:
    """Message of an error, without the folder in which it was checked."""
    return str(error).split(";")[0].replace(f"{stage}/", "") + "; restore the file from git"


def _said(of_folder: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a folder but for measured time, and the manifest, which has its hash."""
    return {name: data for name, data in of_folder.items() if name not in (MANIFEST, manifest.MEASURED)}


def _is_here(source: Committed, key: str, results: Path, content: str) -> bool:
    """Tell whether a folder is here, with all files that the source has of it."""
    sealed = manifest.verify(results / key)
    if sealed is None:
        return False
    if manifest.content(sealed) != content:
        raise CommitError(f"{source.path}: {key} differs from {results / key}; delete the one that you do not trust")
    return not set(manifest.lacking(results / key)) & source.folders[key].keys()


def _require_inputs(
    source: Committed, key: str, recorded: Mapping[str, str], plan: Plan, committed: Mapping[str, str], results: Path
) -> None:
    """Raise CommitError where a folder was made from other inputs than its study states, or than are here.

    Older manifests name a part that is held out, and not its corpus, which decides it.
    """
    wanted = set(plan.folder(key).inputs)
    corpora = {corpus for name in wanted if plan.folder(name).kind == "unseen" for corpus in plan.folder(name).inputs}
    if not wanted - corpora <= set(recorded) <= wanted:
        raise CommitError(f"{source.path}: {key} was made from other folders than its study says; commit it anew")
    for name, expected in recorded.items():
        sealed = manifest.read(results / name) if name not in committed else None
        content = committed.get(name) or (manifest.content(sealed) if sealed else expected)
        if content != expected:
            raise CommitError(
                f"{source.path}: {key} was made from another {name} than is here; delete the one that you do not trust"
            )


def _move(staged: Path, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)  # the empty folder that a scheduler makes
    folder.parent.mkdir(parents=True, exist_ok=True)
    replace(staged, folder)
