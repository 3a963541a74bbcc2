"""Fetching of pretrained models and corpora of the hub: a separate step, with network, before anything is computed.

Folders are identified by the sha256 of their files, which the configuration pins beside the commit of their origin;
later steps read the folder and never the hub.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

import yaml
from tqdm import tqdm

from sumcurve.fetch.addresses import without_password
from sumcurve.settings.base import MODEL_FILES
from sumcurve.settings.config import read
from sumcurve.settings.content import Raw
from sumcurve.sources.pinned import PIPELINE_FILES
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file, sha256_files
from sumcurve.store.members import names_of_shards
from sumcurve.store.records import write_text

SHA256 = re.compile(r"[0-9a-f]{64}")
PICKLES = "no *.safetensors: other weights are pickles, which can run code, and are not read"
PIPELINE = "config.cfg"  # what the folder of a spaCy pipeline holds
LOCK_HEAD = """\
# The sha256 of files of data sets of the hub, by commit, as the hub stated them when they were first asked for. A study
# that says null of a file reads it here. Written by `make study` and `sumcurve pin`: keep it with the studies, in git.
"""


class Bar(tqdm):
    """Progress bar, shown on a terminal alone, and in no log."""

    def __init__(self, *arguments: Any, name: str = "", disable: bool | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options, file=sys.__stderr__, disable=None)


def sha256_of_model(folder: Path) -> str:
    """The sha256 of a model's folder, by which settings name it; CorpusError for one without safetensors.

    A folder with `PIPELINE` is a spaCy pipeline, and needs none.
    """
    if not folder.is_dir():
        raise CorpusError(f"{folder} is no folder; a model of the hub is fetched with `--revision` and its commit")
    if (folder / PIPELINE).is_file():
        return sha256_files(folder, names_of_shards(folder, PIPELINE_FILES))
    if not list(folder.glob("*.safetensors")):
        raise CorpusError(f"{folder} holds {PICKLES}; save the model with `save_pretrained` of transformers")
    return sha256_files(folder, names_of_shards(folder, MODEL_FILES))


def architecture_of(folder: Path) -> Literal["encoder-decoder", "decoder"] | None:
    """Kind of model, by which transformers' auto class for a model's folder is chosen; None: it writes no text.

    Its config.json names the class that wrote it, or at least the kind of model. CorpusError where it cannot be read.
    """
    from transformers import AutoConfig
    from transformers.models.auto import modeling_auto

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"{folder}: transformers cannot read its config.json ({error}); give one that `save_pretrained` wrote"
        raise CorpusError(text) from error
    alone = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    decoder = alone.get(config.model_type, "") in (config.architectures or ())  # BART's decoder alone is one, too
    if config.model_type in modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES and not decoder:
        return "encoder-decoder"
    masked = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES  # encoders, most of which have a decoder's class, too
    return "decoder" if decoder or config.model_type in alone.keys() - masked.keys() else None


def fetch_model(hub: str, revision: str, destination: Path) -> str:
    """Put a model of the hub, at a commit, into the folder `destination`; returns the sha256 of its files.

    Of the commit's files those of `model_names` are fetched. CorpusError as in `fetch`, and where there are no
    safetensors.
    """
    fetch(hub, revision, model_names(hub, revision), destination, "model")
    return sha256_of_model(destination)


def model_names(hub: str, revision: str) -> list[str]:
    """The files of a model's commit, at its top, that `MODEL_FILES` names: safetensors, settings and the tokenizer.

    No pickle and no code. CorpusError where the hub does not answer, and where there are no safetensors.
    """
    from huggingface_hub import HfApi

    with reachable(hub, revision):
        there = HfApi(endpoint=endpoint()).list_repo_files(hub, revision=revision)
    names = [name for name in there if "/" not in name and any(fnmatch(name, pattern) for pattern in MODEL_FILES)]
    if not any(name.endswith(".safetensors") for name in names):
        raise CorpusError(f"{hub} at {revision} holds {PICKLES}; name a commit that has safetensors")
    return names


def fetch(
    hub: str,
    revision: str,
    names: Collection[str],
    destination: Path,
    kind: Literal["model", "dataset"],
    note: Callable[[str], None] = lambda text: None,
) -> None:
    """Put these files of a commit of the hub into the folder `destination`, which appears whole or not at all.

    Files that an interrupted call has fetched are not fetched again: they wait beside the destination, under the
    commit's name. Where the hub states a file's sha256, it is compared.
    CorpusError where the hub does not serve the files, and for one with another sha256.
    """
    partial = destination.with_name(f"{destination.name}.{revision[:12]}.new")
    partial.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(sorted(names), start=1):
        path = partial / name
        if not path.is_file():
            with reachable(hub, revision):
                fetch_file(hub, revision, name, partial, kind)
        note(f"{number} of {len(names)}: {name}, {path.stat().st_size:,} bytes")
    shutil.rmtree(partial / ".cache", ignore_errors=True)  # notes of the hub's client on its files
    shutil.rmtree(destination, ignore_errors=True)
    os.replace(partial, destination)


def fetch_file(hub: str, revision: str, name: str, folder: Path, kind: Literal["model", "dataset"]) -> Path:
    """Put one file below the folder, whole or not at all; returns its place.

    CorpusError where its sha256 is not that which the hub states of it.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    url = hf_hub_url(hub, name, repo_type=kind, revision=revision, endpoint=endpoint())
    stated = get_hf_file_metadata(url, endpoint=endpoint()).etag or ""
    path = Path(
        hf_hub_download(
            hub, name, repo_type=kind, revision=revision, local_dir=folder, endpoint=endpoint(), tqdm_class=Bar
        )
    )
    if SHA256.fullmatch(stated) and (observed := sha256_file(path)) != stated:
        path.unlink()
        raise CorpusError(
            f"{name} of {hub} at {revision} arrived with sha256 {observed}, the hub says {stated}: fetch it again"
        )
    return path


def states(hub: str, revision: str, names: Collection[str]) -> dict[str, str]:
    """The sha256 of files of a data set at a commit, as the hub states them; not of files that it keeps without one.

    CorpusError where the hub does not answer, or has no such file.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    with reachable(hub, revision):
        urls = {
            name: hf_hub_url(hub, name, repo_type="dataset", revision=revision, endpoint=endpoint()) for name in names
        }
        etags = {name: get_hf_file_metadata(url, endpoint=endpoint()).etag or "" for name, url in urls.items()}
    return {name: etag for name, etag in etags.items() if SHA256.fullmatch(etag)}


def pin(raw: Raw, lock: Path) -> dict[str, str]:
    """Write into the lock file the hub's sha256 of those files of a corpus for which it is null; returns these.

    CorpusError where it states another sha256 of a file than the study or this lock file.
    """
    hub, revision, files = str(raw.hub), str(raw.revision), raw.files or {}
    stated = states(hub, revision, files)
    for name, sha256 in files.items():
        if sha256 is not None and stated.get(name, sha256) != sha256:
            raise CorpusError(
                f"{name} of {hub} at {revision}: the hub states sha256 {stated[name]}, but the study or {lock} says "
                f"{sha256}. A commit does not change, so one of them is wrong: correct the line if it is the line, and "
                "fetch nothing from there if it is the hub"
            )
    new = {name: sha256 for name, sha256 in stated.items() if files[name] is None}
    if new:
        known = read(lock).plain() if lock.is_file() else {}
        commit = known.setdefault(hub, {}).setdefault(revision, {})
        commit |= new
        write_text(lock, LOCK_HEAD + yaml.safe_dump(known, width=200))
    return new


@contextmanager
def reachable(hub: str, revision: str) -> Iterator[None]:
    """Add the remedy to an error of the hub or the network, which have no common class."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        reason = without_password(str(error))  # a mirror's address may hold one
        raise CorpusError(
            f"{hub} at {revision} cannot be fetched ({type(error).__name__}: {reason}); look whether this machine has "
            "a network, whether HF_HUB_OFFLINE is set, and whether commit and files are the hub's. What has arrived is "
            "kept: run this again to go on"
        ) from error


def endpoint() -> str | None:
    """Address of the hub, if it is a mirror."""
    return os.environ.get("HF_ENDPOINT")
