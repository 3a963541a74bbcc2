"""Store of a study: its finished folders in a few plain archives, which DVC keeps, pushes and pulls.

`studies/STUDY/store` has an archive for each corpus, annotation and training, one for the outputs of a training with
their scores, and one for each output that is of no training or of several, with its scores. Weights lie apart from
scores, so that a new metric moves no weights. Archives of equal folders are equal bytes, so that studies share them.
Files that were harvested from packages lie beside them, since packages can be withdrawn. A finished folder is never
written over, and an archive is replaced, never written into: it may be a link into a cache.
"""

import filecmp
import os
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sumcurve.machine import locks
from sumcurve.planning.folder import Folder
from sumcurve.sources.pinned import File
from sumcurve.store import manifest
from sumcurve.store.manifest import MANIFEST, ManifestError
from sumcurve.store.members import MOST_MEMBERS, ArchiveError, Limits, refused, tar_members
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan
from sumcurve.watch import verify

ENDING, PARTIAL, JSONL = ".tar", ".partial", ".jsonl"
END = b"\0" * 2 * tarfile.BLOCKSIZE  # of every archive
REMEDY = "delete it: `make pull` brings it again, and a run of the study makes it anew"


@dataclass(frozen=True)
class Stored:
    """Outcome of storing a study: how many folders and files its store has, which archives were written or deleted."""

    folders: int
    files: int
    bytes: int
    written: Sequence[Path]
    deleted: Sequence[Path]

    def __str__(self) -> str:
        return (
            f"{self.folders} folders in {self.files} files, {self.bytes / 1e6:.1f} MB: {len(self.written)} "
            f"written, {len(self.deleted)} deleted"
        )


def place(study: str, home: Path = Path()) -> Path:
    """Folder of a study's archives."""
    return home / "studies" / study / "store"


def archives(plan: Plan) -> dict[str, list[Folder]]:
    """The folders of each archive by its path in the store without ending, in an order in which they are made."""
    grouped: dict[str, list[Folder]] = {}
    for folder in plan.folders.values():
        grouped.setdefault(_archive(plan, folder), []).append(folder)
    return dict(sorted(grouped.items(), key=lambda item: STEPS.index(item[0].split("/")[0])))


def _archive(plan: Plan, folder: Folder) -> str:
    if folder.step == "scores":
        return _archive(plan, plan.folder(folder.specification["output"]))
    runs = [key for key in folder.inputs if key.startswith("runs/")]
    return f"outputs/{plan.folder(runs[0]).name}" if folder.step == "outputs" and len(runs) == 1 else folder.key


def store(plan: Plan, results: Path, say: Callable[[str], None]) -> Stored:
    """Write the finished folders of a study into its store, after what only the store has was taken back.

    Folders that lack files (`manifest.lacking`) are not stored. Archives of names that the plan does not have are
    deleted. Raises ManifestError that names damaged folders, of which earlier archives stay, after all others were
    stored, and ArchiveError as `take_back` does.
    """
    unread = None
    try:
        take_back(plan, results, say)
    except ArchiveError as error:  # raised when all else is stored
        unread = error
    verified = verify.folders(plan, results)
    damaged = {key for key in plan.folders for damage in verified.damages if damage.path.is_relative_to(results / key)}
    root = place(plan.study, results.parent)
    written: list[Path] = []
    kept: set[Path] = set()
    count = 0
    for name, folders in archives(plan).items():
        path = root / f"{name}{ENDING}"
        keys = sorted(folder.key for folder in folders)
        if not damaged.isdisjoint(keys):
            kept.add(path)
            continue
        finished = [key for key in keys if not _wants(results / key)]
        if path.is_file() and len(finished) < len(keys) and not _has_no_other(path, keys, finished):
            kept.add(path)  # it has what could not be taken back
        elif finished:
            kept.add(path)
            count += len(finished)
            if _write(path, results, finished):
                written.append(path)
    kept |= _store_harvested(plan, results.parent, root)
    deleted = sorted({path for path in root.glob("*/*") if path.suffix in (ENDING, PARTIAL, JSONL)} - kept)
    for path in deleted:
        path.unlink()
    verified.require()
    if unread is not None:
        raise unread
    sizes = [path.stat().st_size for path in kept if path.is_file()]
    return Stored(count, len(sizes), sum(sizes), written, deleted)


def _wants(folder: Path) -> bool:
    """Tell whether a folder is not finished, or finished without all of its files; a damaged one is left as it is."""
    try:
        return manifest.read(folder) is None or bool(manifest.lacking(folder))
    except ManifestError:
        return False


def _has_no_other(path: Path, keys: Sequence[str], finished: Sequence[str]) -> bool:
    """Tell whether an archive has, of these keys, finished folders alone; one that cannot be read may have any."""
    try:
        return set(_keys(path)) & set(keys) <= set(finished)
    except ArchiveError:
        return False


def _harvested(plan: Plan, root: Path) -> dict[Path, File]:
    """The files of a study that were harvested, by their copies in the store."""
    files = {file.path: file for folder in plan.folders.values() for file in folder.files if file.harvested}
    names = {path: Path(path).name for path in files if Path(path).match(f"harvest-*{JSONL}")}
    return {root / "raw" / name: files[path] for path, name in names.items()}


def _store_harvested(plan: Plan, home: Path, root: Path) -> set[Path]:
    """Copy the harvested files of a study into its store; the copies that it has."""
    copies = _harvested(plan, root)
    for copy, file in copies.items():
        if not copy.is_file() and file.observed(home) == file.sha256:
            _copy(file.at(home), copy)
    return {copy for copy in copies if copy.is_file()}


def _take_back_harvested(plan: Plan, home: Path, root: Path) -> bool:
    """Take back the harvested files that are missing; True where one was."""
    absent = {
        copy: file for copy, file in _harvested(plan, root).items() if copy.is_file() and not file.at(home).exists()
    }
    for copy, file in absent.items():
        if manifest.sha256_file(copy) != file.sha256:
            raise ArchiveError(f"{copy} has another sha256 than the study states, {file.sha256}: {REMEDY}")
        _copy(copy, file.at(home))
    return bool(absent)


def _copy(path: Path, to: Path) -> None:
    """Copy a file, whole or not at all."""
    to.parent.mkdir(parents=True, exist_ok=True)
    partial = to.with_name(to.name + PARTIAL)
    shutil.copyfile(path, partial)
    os.replace(partial, to)


def _write(path: Path, results: Path, keys: Sequence[str]) -> bool:
    """Write the archive of these verified folders where it is missing or another; True where it was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + PARTIAL)
    with tarfile.open(partial, "w:", format=tarfile.PAX_FORMAT) as tar:
        for key in keys:
            for file in sorted(file for file in (results / key).rglob("*") if file.is_file()):
                member = tarfile.TarInfo(file.relative_to(results).as_posix())  # of no time, owner or mode of its file
                member.size = file.stat().st_size
                with file.open("rb") as stream:
                    tar.addfile(member, stream)
    if path.is_file() and filecmp.cmp(partial, path, shallow=False):
        partial.unlink()
        return False
    with partial.open("rb") as stream:
        os.fsync(stream.fileno())
    os.replace(partial, path)
    return True


def stored(root: Path) -> set[str]:
    """Keys of the folders in the archives of a store, by the names of their members alone.

    Raises ArchiveError for an archive that cannot be read.
    """
    return {key for path in sorted(root.glob(f"*/*{ENDING}")) for key in _keys(path)}


def _keys(path: Path) -> list[str]:
    with refused(path, REMEDY), tarfile.open(path, "r:") as tar:
        return [name.removesuffix(f"/{MANIFEST}") for name in tar.getnames() if name.endswith(f"/{MANIFEST}")]


def take_back(plan: Plan, results: Path, say: Callable[[str], None]) -> list[str]:
    """Take the folders that `results` lacks out of the store; their keys.

    Each is checked by its manifest before it is moved into its place. What some process is making now is left to it.
    Raises ArchiveError, after all others were taken back, for archives that are truncated, or hold another's file, or a
    folder that is not whole.
    """
    root = place(plan.study, results.parent)
    taken: list[str] = []
    unread: list[str] = []
    has_raw = _take_back_harvested(plan, results.parent, root)
    for name, folders in archives(plan).items():
        path = root / f"{name}{ENDING}"
        absent = {folder.key: folder for folder in folders if _wants(results / folder.key)}
        if not absent or not path.is_file():
            continue
        (results / ".partial").mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="store-", dir=results / ".partial") as stage:
            try:
                _unpack(path, Path(stage), absent, set(plan.folders) - {folder.key for folder in folders})
                for key, folder in absent.items():
                    if (Path(stage) / key).is_dir() and _move(path, Path(stage) / key, results, folder, say):
                        taken.append(key)
            except ArchiveError as error:
                unread.append(str(error))
    if taken or has_raw:
        _touch(plan, results)
    if unread:
        raise ArchiveError("\n".join(unread))
    return taken


def _unpack(path: Path, stage: Path, wanted: Mapping[str, Folder], elsewhere: set[str]) -> None:
    """Unpack the wanted folders of an archive, which may hold earlier ones that no plan has, but none of others'."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - len(END)))
        if stream.read() != END:
            raise ArchiveError(f"{path} is truncated, or no archive: {REMEDY}")
    limits = Limits(MOST_MEMBERS, path.stat().st_size, REMEDY)
    for member in tar_members(path, limits):
        step, _, rest = member.name.partition("/")
        key = f"{step}/{rest.split('/')[0]}"
        if not member.is_regular or step not in STEPS[:-1] or key == member.name or key in elsewhere:
            raise ArchiveError(f"{path} holds {member.name}, which is no file of its folders: {REMEDY}")
        if key in wanted:
            (stage / member.name).parent.mkdir(parents=True, exist_ok=True)
            with member.open() as content, (stage / member.name).open("wb") as file:
                shutil.copyfileobj(content, file)


def _move(path: Path, staged: Path, results: Path, folder: Folder, say: Callable[[str], None]) -> bool:
    """Move a folder of the archive `path` to its place, which may hold the same without all of its files.

    False where some process is making it, or has made it.
    """
    sealed, damages = manifest.damages(staged, folder.specification)
    if sealed is None or damages:
        what = "; ".join(f"{damage.path.name} {damage.what}" for damage in damages) or f"it has no {MANIFEST}"
        raise ArchiveError(f"{path} holds no whole {folder.key} ({what}): {REMEDY}")
    place_of_locks = results.parent / "scratch" / "locks"
    place_of_locks.mkdir(parents=True, exist_ok=True)
    with (place_of_locks / folder.name).open("a") as stream:
        if not locks.take(stream):
            say(f"{results / folder.key}: some process is making it now; it is left to that")
            return False
        present = manifest.read(results / folder.key)
        if present is not None and not _wants(results / folder.key):
            return False
        if present is not None and manifest.content(present) != manifest.content(sealed):
            say(f"{results / folder.key} lacks files, and is another than that of {path}; it stays as it is")
            return False
        shutil.rmtree(results / folder.key, ignore_errors=True)  # or the empty folder that a scheduler makes
        (results / folder.key).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staged, results / folder.key)
        return True


def _touch(plan: Plan, results: Path) -> None:
    """Give a study's manifests, then its tables, the present time, inputs before what is made of them.

    Snakemake compares times, also those of folders among tables, or of its own file in them.
    """
    for key in plan.folders:
        if (results / key / MANIFEST).is_file():
            manifest.touch(results / key)
    tables = results / "tables" / plan.study
    if (tables / f"manifest-{plan.tables}.json").is_file():
        for path in (tables / f"manifest-{plan.tables}.json", *tables.glob("*/"), *tables.rglob(verify.TIMESTAMP)):
            os.utime(path)
