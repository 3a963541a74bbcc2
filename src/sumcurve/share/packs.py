"""Packs: what tables need of a training, without its weights, in a small archive that another checkout takes up.

A pack holds a run's manifest and History, the manifests and summaries of what was decoded from it, and their scores. It
holds neither weights nor vocabularies nor any text of a corpus: only the summaries of trained models, ids of items and
numbers. A study's own pretraining is packed with its weights: trainings begin from them, and made anew on another type
of CPU they are others, which no finished one has begun from. Systems that are not trained are not packed: what they say
is text of the corpus, and cheap to make. A pack of the first of several runs that score outputs has the scores that it
gave them, since they cannot be given without its weights. What a method's runs find of contrasts is one folder of all
of them, which needs all their weights: it has a pack of its own. Summaries may stay behind, too, where the text of a
corpus may not be passed on: a copying model repeats it.

The folders that a pack is taken up into have the manifests that were written where they were made, so that their
content, and the names of all that follows, are the same there and here. `packed.json` beside a manifest says which
files stayed behind (`manifest.lacking`).
"""

import csv
import io
import json
import lzma
import re
import shutil
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from os import replace
from pathlib import Path
from typing import Any

from sumcurve.scores.frames import is_frame
from sumcurve.store import manifest
from sumcurve.store.kind import PACKED_OF_RUNS
from sumcurve.store.manifest import MANIFEST, ManifestError
from sumcurve.store.records import write_bytes
from sumcurve.study.doors import CAPABILITIES, SCORERS
from sumcurve.study.kinds import KINDS, RECIPES, STEPS
from sumcurve.study.plan import Plan
from sumcurve.study.planning.folder import Folder
from sumcurve.study.recipes import read_recipes

ENDING = ".tar.xz"
FORMAT = 1
HEADER = "pack.json"  # the archive's first member: which folders and files follow
HEADER_KEYS = {"format", "run", "folders"}
MOST_BYTES = 256 * 2**20  # that an archive may unpack to, and lzma may take to do so
FOLDER = re.compile(r"(runs|outputs|scores)/[A-Za-z0-9_-]+")
MEMBER = re.compile(rf"{FOLDER.pattern}/[A-Za-z0-9_][A-Za-z0-9_.-]*")

WEIGHTS = "weights.safetensors"
SUMMARIES = "summaries."  # beginning of names of files with what systems wrote


# Tensors of files without weights, by the key of the hash in their header.
TENSORS = {key: names for capability in CAPABILITIES.values() for key, names in capability.tensors.items()}
HEX = re.compile(r"[0-9a-f]{64}")
ASK_THE_MODEL = ("reading",)  # scorers that read what packs leave behind of an output: its log-probabilities
FIRST = tuple(name for name, kind in KINDS.items() if kind.leads_pack)  # kinds that a pack begins with
# Beginnings of columns that hold numbers apart by blanks.
NUMBERS = tuple(beginning for capability in CAPABILITIES.values() for beginning in capability.number_columns)
PARTS = tuple(column for capability in CAPABILITIES.values() for column in capability.part_columns)
PART = re.compile(r"[a-z_]{1,40} [0-9]{1,6}")
NO_NUMBER = "-"

Lock = Callable[[str], AbstractContextManager[None]]


class PackError(ValueError):
    """A pack that is not made or not taken up; the message names the file, what is wrong and the remedy."""


@dataclass(frozen=True)
class Unpacked:
    """A pack whose bytes were checked against its header: folders by key, each with its files by name."""

    path: Path
    sha256: str
    folders: Mapping[str, Mapping[str, bytes]]


# --- making


def behind(plan: Plan, run: str) -> list[Folder]:
    """The run and all that is decoded from it and scored, in the order of the steps.

    Of the first of several runs that score outputs: what they score and no training decoded. Of what a method's runs
    find of contrasts: that alone.
    """
    first, decoded = plan.folder(run), plan.named("outputs", "decode")
    outputs = [folder for folder in decoded if folder.specification["run"] == run]
    keys, others = {folder.key for folder in outputs}, {folder.key for folder in decoded}
    alike = {folder.key for folder in plan.named("runs", first.kind)}
    scores = [
        folder
        for folder in plan.named("scores", "score")
        if (output := folder.specification["output"]) in keys
        or (output not in others and run == min(alike.intersection(folder.inputs), default=None))
    ]
    return [first, *outputs, *scores]


def unfinished(plan: Plan, results: Path, run: str, summaries: bool = True) -> list[str]:
    """What is not finished of a run and can be made only where its weights are: what a pack must not be without.

    These are the run itself, what is decoded from it, and the scores that are made from it or from log-probabilities;
    of a pack without `summaries` all scores of what a system wrote.
    """
    needed = (
        folder.key
        for folder in behind(plan, run)
        if folder.kind != "score"
        or run in folder.inputs
        or folder.specification["scorer"] in ASK_THE_MODEL
        or (not summaries and SCORERS[folder.specification["scorer"]].reads_output)
    )
    return [key for key in needed if manifest.state(results / key) == "missing"]


def pack(plan: Plan, results: Path, run: str, to: Path, summaries: bool = True) -> tuple[Path, list[str]]:
    """Write the pack of a finished run, or of what runs find of contrasts, into the folder `to`; `summaries` go along.

    Returns its path, and which scores are not finished yet: they can be made from the pack.

    Equal folders give equal bytes. PackError for a run that is of no kind that is packed, and where something is not
    finished that needs its weights; ManifestError where a folder is damaged.
    """
    first = plan.folder(run)
    if first.kind not in FIRST:
        raise PackError(
            f"{results / run} is of kind {first.kind}: what it holds may be text of the corpus; copy it whole"
        )
    folders: dict[str, dict[str, bytes]] = {}
    missing = []
    for folder in behind(plan, run):
        path = results / folder.key
        sealed = manifest.verify(path, folder.specification)
        if sealed is None:
            missing.append(folder.key)
            continue
        kept = [name for name in sealed["files"] if _is_kept(folder.kind, name)]
        if not summaries:
            kept = [name for name in kept if not name.startswith(SUMMARIES)]
        if absent := [name for name in kept if not (path / name).is_file()]:
            raise PackError(without(path, absent))
        folders[folder.key] = {name: (path / name).read_bytes() for name in (MANIFEST, *kept)}
        for name in kept:
            _require_no_text(path / name, name, folders[folder.key][name])
    if run not in folders:
        raise PackError(f"{results / run} is not finished; there is nothing to pack yet")
    if lost := unfinished(plan, results, run, summaries):
        raise PackError(
            f"{results / run}: {', '.join(lost)} cannot be made from its pack, which has no weights"
            f"{'' if summaries else ' and no summaries'}; make "
            f"{'it' if len(lost) == 1 else 'them'} first: snakemake --config study={plan.study} -- "
            + " ".join(f"{results.name}/{key}/{MANIFEST}" for key in lost)
        )
    to.mkdir(parents=True, exist_ok=True)
    path = to / f"{first.name}{ENDING}"
    data = _archive(run, folders)
    if not path.is_file() or path.read_bytes() != data:
        write_bytes(path, data)
    return path, missing


def _archive(run: str, folders: Mapping[str, Mapping[str, bytes]]) -> bytes:
    listed = {
        key: {name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()}
        for key, files in folders.items()
    }
    header = json.dumps({"format": FORMAT, "run": run, "folders": listed}, indent=1, sort_keys=True).encode()
    members = {f"{key}/{name}": data for key, files in folders.items() for name, data in files.items()}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in ({HEADER: header} | members).items():
            member = tarfile.TarInfo(name)  # of nobody, of no time
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    if (size := stream.tell()) > MOST_BYTES:
        raise PackError(
            f"{run}: its pack would unpack to {size:,} bytes, more than packs may hold; copy its folder whole"
        )
    return lzma.compress(stream.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def _is_kept(kind: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in KINDS[kind].packed)


def _require_no_text(where: object, name: str, data: bytes) -> None:
    """PackError where a file that is kept holds more than numbers, ids of items and what a model wrote."""
    remedy = "it may be text of the corpus, which is in no pack; copy the folder whole, outside of git"
    if name.endswith((".csv", ".jsonl")):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise PackError(f"{where}: is not UTF-8 ({error}); make its folder anew") from None
    if name.endswith(".csv") and name not in PACKED_OF_RUNS:
        rows = csv.DictReader(io.StringIO(text))
        for row in rows:
            for column, cell in row.items():
                if column not in ("id", "group") and not _is_number(cell) and not _holds_no_text(column, cell):
                    raise PackError(f"{where}:{rows.line_num}: {column} holds {cell!r:.60}: {remedy}")
    elif name == WEIGHTS:
        if _of_safetensors(where, data)[1]:
            raise PackError(f"{where}: '__metadata__' is nothing that weights have: {remedy}")
    elif name.endswith(".safetensors"):
        tensors, header = _of_safetensors(where, data)
        key, value = next(iter(header.items()), ("", ""))
        known = len(header) == 1 and key in TENSORS and HEX.fullmatch(value)
        if strange := sorted(set(tensors) - set(TENSORS.get(key, ()))) + ([] if known else ["__metadata__"]):
            raise PackError(f"{where}: {strange[0]!r:.60} is nothing that systems find: {remedy}")
    elif name.startswith(SUMMARIES):
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise PackError(f"{where}:{number}: is not JSON; make its folder anew") from None
            if not isinstance(row, dict) or set(row) != {"id", "summary"}:
                raise PackError(f"{where}:{number}: holds more than an id and a summary: {remedy}")


def _of_safetensors(where: object, data: bytes) -> tuple[list[str], dict[str, str]]:
    """The names of its tensors, and its metadata. The library finds no byte that is of no tensor."""
    from safetensors import SafetensorError, deserialize

    try:
        names = [name for name, _ in deserialize(data)]
    except SafetensorError as error:
        raise PackError(f"{where}: is not in the form of safetensors ({error}); make its folder anew") from None
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])  # which `deserialize` does not give
    return names, header.get("__metadata__", {})


def _holds_no_text(column: str, cell: Any) -> bool:
    """Whether a cell holds numbers apart by blanks, the name of a part or a frame, in a column of such."""
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


# --- opening


def read(path: Path) -> Unpacked:
    """The content of a pack, in memory; nothing of it is written anywhere.

    PackError where it is cut off, no archive, too large, holds anything but plain files of results, one of them twice
    or another than its header says.
    """
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise PackError(f"{path}: is a folder, and no pack; move it elsewhere") from None
    members = _members(path, _decompressed(path, data))
    if not members or members[0][0] != HEADER:
        raise PackError(f"{path}: its first member is not {HEADER}: this is no pack")
    files = dict(members)
    if len(files) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise PackError(f"{path}: {twice} stands in it twice; pack it anew")
    listed = _header(path, files.pop(HEADER))
    wanted = {f"{key}/{name}": entry for key, names in listed.items() for name, entry in names.items()}
    for name in sorted({*files, *wanted}):
        if name not in wanted:
            raise PackError(f"{path}: {name} is not in its list; pack it anew")
        if name not in files:
            raise PackError(f"{path}: {name} is missing from it; pack it anew")
        entry = {"bytes": len(files[name]), "sha256": sha256(files[name]).hexdigest()}
        if entry != wanted[name]:
            raise PackError(f"{path}: {name} is not what its list says (sha256 {entry['sha256']}); pack it anew")
    folders = {key: {name: files[f"{key}/{name}"] for name in names} for key, names in listed.items()}
    return Unpacked(path, sha256(data).hexdigest(), folders)


def _decompressed(path: Path, data: bytes) -> bytes:
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_BYTES)
    try:
        content = stream.decompress(data, MOST_BYTES + 1)
    except (lzma.LZMAError, MemoryError) as error:
        raise PackError(f"{path}: is not xz ({error}); pack it anew") from None
    if len(content) > MOST_BYTES:
        raise PackError(f"{path}: unpacks to more than {MOST_BYTES:,} bytes: no pack does")
    if not stream.eof:
        raise PackError(f"{path}: ends early, as a file does that was half written; pack or copy it anew")
    if stream.unused_data:
        raise PackError(f"{path}: goes on behind its end ({len(stream.unused_data):,} bytes); pack or copy it anew")
    return content


def _members(path: Path, data: bytes) -> list[tuple[str, bytes]]:
    members = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    raise PackError(f"{path}: {member.name!r} is a link or no file at all: no pack has those")
                if member.name != HEADER and not MEMBER.fullmatch(member.name):
                    raise PackError(f"{path}: {member.name!r} is no file of a folder of results: no pack has those")
                content = tar.extractfile(member)
                read = content.read() if content else b""
                if len(read) != member.size:
                    raise PackError(f"{path}: {member.name} ends early; pack it anew")
                members.append((member.name, read))
    except tarfile.TarError as error:
        raise PackError(f"{path}: is not a tar archive ({error}); pack it anew") from None
    return members


def _header(path: Path, data: bytes) -> dict[str, dict[str, Any]]:
    try:
        header = json.loads(data)
        folders = dict(header["folders"])
        valid = set(header) == HEADER_KEYS and all(isinstance(names, dict) for names in folders.values())
        valid &= isinstance(header["run"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        valid = False
    if not valid:
        raise PackError(f"{path}: its {HEADER} cannot be read; pack it anew")
    if header["format"] != FORMAT:
        raise PackError(
            f"{path}: is of format {header['format']!r}; this version reads {FORMAT}: use the one that wrote it"
        )
    if strange := sorted(key for key in folders if not FOLDER.fullmatch(key)):
        raise PackError(f"{path}: {strange[0]!r} is no folder of results: no pack has those")
    if header["run"] not in folders:
        raise PackError(f"{path}: its run {header['run']} is not in it; pack it anew")
    return folders


# --- taking up


@dataclass(frozen=True)
class Merged:
    """What became of the folders of packs, by key."""

    taken: Sequence[str]
    here: Sequence[str]  # the same content was here already
    left: Sequence[str]  # scores that depend on which systems a study has, of a study with others


def merge(plans: Iterable[Plan], results: Path, source: Path, lock: Lock) -> Merged:
    """Take up all packs of a folder: all of them are checked before one folder is written.

    Scores that depend on which systems a study has are left where this one has others. PackError names the packs that
    are of no study here, of another recipe or fingerprint, that have one folder twice, and those that contradict each
    other or what is here. ManifestError where a folder here is damaged.
    """
    paths = sorted(source.glob(f"*{ENDING}"))
    if not paths:
        raise PackError(f"{source} holds no pack (*{ENDING}); name the folder that `make pack` wrote to")
    packs = [read(path) for path in paths]
    _require_once(packs)
    planned = {key: (plan, folder) for plan in reversed(list(plans)) for key, folder in plan.folders.items()}
    stage = results / ".partial" / "packs"
    shutil.rmtree(stage, ignore_errors=True)
    try:
        sealed = {key: record for unpacked in packs for key, record in _staged(unpacked, stage, planned)}
        contents = {key: manifest.content(record) for key, record in sealed.items()}
        left = [key for unpacked in packs for key in unpacked.folders if key not in sealed]
        here = {
            key
            for unpacked in packs
            for key in unpacked.folders
            if key in sealed and _is_here(unpacked, key, results, contents[key])
        }
        for unpacked in packs:
            for key in filter(sealed.__contains__, unpacked.folders):
                _require_inputs(unpacked, key, sealed[key]["inputs"], planned[key][0], contents, results)
        taken = []
        for key in sorted(set(contents) - here, key=lambda key: STEPS.index(key.split("/")[0])):
            with lock(key.split("/")[1]):
                if manifest.read(results / key) is None:  # another process may have made it meanwhile
                    _move(stage / key, results / key)
                    manifest.touch(results / key)  # in the order of the steps, as whoever compares times expects
                    taken.append(key)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return Merged(taken, sorted(here), left)


def _require_once(packs: Sequence[Unpacked]) -> None:
    holder: dict[str, Unpacked] = {}
    for unpacked in packs:
        for key, files in unpacked.folders.items():
            other = holder.setdefault(key, unpacked)
            if other is not unpacked:
                how = "both hold" if other.folders[key] == files else "contradict each other in"
                raise PackError(f"{other.path} and {unpacked.path} {how} {key}; keep the one that you trust")


def _staged(
    unpacked: Unpacked, stage: Path, planned: Mapping[str, tuple[Plan, Folder]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Write a pack's folders below `stage` and check each as a finished folder; key and manifest of each."""
    for key, files in unpacked.folders.items():
        folder = stage / key
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        try:
            sealed = manifest.read(folder)
        except ManifestError as error:
            raise PackError(f"{unpacked.path}: {_inside(error, stage)}") from None
        if sealed is None:
            raise PackError(f"{unpacked.path}: {key} has no {MANIFEST}; pack it anew")
        by_plan = _asked(unpacked, key, sealed, planned)
        if by_plan is None:
            continue
        plan, wanted = by_plan
        kept = set(files) - {MANIFEST}
        if strange := sorted(name for name in kept if not _is_kept(wanted.kind, name)):
            raise PackError(f"{unpacked.path}: {key}/{strange[0]}: packs do not keep this of a {wanted.kind}")
        _require_code(unpacked, key, sealed, plan, wanted)
        manifest.write_packed(folder, [name for name in sealed["files"] if name not in kept], unpacked.sha256)
        try:
            manifest.verify(folder, wanted.specification)
        except ManifestError as error:
            raise PackError(f"{unpacked.path}: {_inside(error, stage)}") from None
        for name in sorted(kept):
            _require_no_text(f"{unpacked.path}: {key}/{name}", name, files[name])
        yield key, sealed


def _inside(error: ManifestError, stage: Path) -> str:
    """What is wrong, without the place where it was looked at."""
    return str(error).split(";")[0].replace(f"{stage}/", "") + "; pack it anew"


def _asked(
    unpacked: Unpacked, key: str, sealed: Mapping[str, Any], planned: Mapping[str, tuple[Plan, Folder]]
) -> tuple[Plan, Folder] | None:
    """What a study here asks for under this key; PackError names what differs of what it asks for instead.

    None for a score that differs in its inputs alone, as where a study has other systems beside: it is made anew.
    """
    if key in planned:
        return planned[key]
    if not key.endswith(manifest.digest(sealed["specification"])):
        raise PackError(
            f"{unpacked.path}: {key} has another name than its manifest's specification gives it; pack it anew"
        )
    step, name = key.split("/")
    stem = name.rsplit("-", 1)[0]
    for plan, folder in planned.values():
        if (folder.step, folder.stem) == (step, stem):
            there, ours = sealed["specification"], folder.specification
            keys = sorted(name for name in {*there, *ours} if there.get(name) != ours.get(name))
            if step == "scores" and keys == ["inputs"]:
                return None
            differences = "; ".join(
                f"{name}: {there.get(name)!r:.80} there, {ours.get(name)!r:.80} here" for name in keys
            )
            raise PackError(
                f"{unpacked.path}: {key} is not what study {plan.study} asks for now ({differences}); "
                "check out its commit"
            )
    raise PackError(
        f"{unpacked.path}: no study here asks for {key}; name its study, or check out the commit that made it"
    )


def _require_code(unpacked: Unpacked, key: str, sealed: Mapping[str, Any], plan: Plan, wanted: Folder) -> None:
    """PackError where a folder was made by code that is not known to write what its version means."""
    recipes = read_recipes(plan.config.parent / "recipes.yaml", RECIPES)
    known = recipes[KINDS[wanted.kind].recipe(wanted.kind, wanted.specification)].code
    code = sealed["facts"].get("fingerprint")
    if code not in known:
        raise PackError(
            f"{unpacked.path}: {key} was made by code {code}, which recipes.yaml does not accept for {wanted.kind} "
            f"({', '.join(known)}); check out the commit that made it, or add that "
            "code there if its results are the same"
        )


def _is_here(unpacked: Unpacked, key: str, results: Path, content: str) -> bool:
    sealed = manifest.verify(results / key)
    if sealed is None:
        return False
    if manifest.content(sealed) != content:
        raise PackError(
            f"{unpacked.path}: {key} says something else than {results / key}; delete the one that you mistrust"
        )
    return True


def _require_inputs(
    unpacked: Unpacked, key: str, recorded: Mapping[str, str], plan: Plan, packed: Mapping[str, str], results: Path
) -> None:
    """PackError where a folder was made from others than its study says, or from other content than is here.

    Older manifests name a part that is held out, and not its corpus, which decides it.
    """
    wanted = set(plan.folder(key).inputs)
    corpora = {corpus for name in wanted if plan.folder(name).kind == "unseen" for corpus in plan.folder(name).inputs}
    if not wanted - corpora <= set(recorded) <= wanted:
        raise PackError(f"{unpacked.path}: {key} was made from other folders than its study says; pack it anew")
    for name, expected in recorded.items():
        sealed = manifest.read(results / name) if name not in packed else None
        content = packed.get(name) or (manifest.content(sealed) if sealed else expected)
        if content != expected:
            raise PackError(
                f"{unpacked.path}: {key} was made from another {name} than is here; delete the one that you mistrust"
            )


def _move(staged: Path, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)  # the empty folder that a scheduler makes
    folder.parent.mkdir(parents=True, exist_ok=True)
    replace(staged, folder)


def without(path: Path, absent: Sequence[str]) -> str:
    """What to say where something needs the files that a folder does without."""
    return (
        f"{path} was taken up from a pack, without {', '.join(absent)}: copy these files here from where it was made, "
        f"or delete {path} and run again, which makes it anew"
    )
