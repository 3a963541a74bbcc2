"""Fetches pretrained models and corpora of the hub: a step of its own, with network, before anything is computed.

What is fetched is known by the sha256 of its files, which the configuration pins beside the commit that they come from;
what computes later reads the folder and never the hub.
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
from urllib.parse import urlsplit

import yaml
from tqdm import tqdm

from sumcurve.harvest.archives import without_password
from sumcurve.settings.base import MODEL_FILES
from sumcurve.settings.config import read
from sumcurve.settings.content import Raw
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file, sha256_files
from sumcurve.store.members import names_of_shards
from sumcurve.store.records import write_text

PART = ".part"  # of a file that is not there whole
SHA256 = re.compile(r"[0-9a-f]{64}")
LOCK_HEAD = """\
# The sha256 of files of data sets of the hub, by commit, as the hub stated them when they were first asked for. A study
# that says null of a file reads it here. Written by `make study` and `sumcurve pin`: keep it with the studies, in git.
"""


class Bar(tqdm):
    """Shown on a terminal alone, whatever log is kept."""

    def __init__(self, *arguments: Any, name: str = "", disable: bool | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options, file=sys.__stderr__, disable=None)


def sha256_of_model(folder: Path) -> str:
    """The sha256 of a model's folder, by which settings name it; CorpusError for one without safetensors."""
    if not folder.is_dir():
        raise CorpusError(f"{folder} is no folder; a model of the hub is fetched with `--revision` and its commit")
    if not list(folder.glob("*.safetensors")):
        raise CorpusError(
            f"{folder} holds no *.safetensors: other weights are pickles, which can run code, and are not "
            "read; save the model with `save_pretrained` of transformers, which writes safetensors"
        )
    return sha256_files(folder, names_of_shards(folder, MODEL_FILES))


def architecture_of(folder: Path) -> Literal["encoder-decoder", "decoder"]:
    """By which of transformers' auto classes a model's folder is to be read.

    Its config.json names the class that wrote it, or at least the kind of model. CorpusError for a model that does not
    write text.
    """
    from transformers import AutoConfig
    from transformers.models.auto import modeling_auto

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(
            f"{folder}: transformers cannot read its config.json ({error}); save the model with `save_pretrained`"
        ) from error
    alone = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    decoder = alone.get(config.model_type, "") in (config.architectures or ())  # BART's decoder alone is one, too
    if config.model_type in modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES and not decoder:
        return "encoder-decoder"
    if config.model_type in alone:
        return "decoder"
    raise CorpusError(
        f"{folder}: a model of kind {config.model_type} writes no text: give an encoder-decoder or a language model of "
        "transformers"
    )


def fetch_model(hub: str, revision: str, destination: Path) -> str:
    """Put a model of the hub, at a commit, into the folder `destination`; returns the sha256 of its files.

    Of the commit's files those of `model_names` are fetched. CorpusError as `fetch` says, and where there are no
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
        raise CorpusError(
            f"{hub} at {revision} holds no *.safetensors: other weights are pickles, which can run code, and are not "
            "read; name a commit that has them"
        )
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

    What an interrupted call has fetched is not fetched again: it waits beside the destination, under the commit's name,
    and a file that is there in part goes on where it ended. Where the hub tells a file's sha256, it is compared.
    CorpusError where the hub does not give the files, and for one that arrives as another.
    """
    partial = destination.with_name(f"{destination.name}.{revision[:12]}.new")
    partial.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(sorted(names), start=1):
        path = partial / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with reachable(hub, revision):
                fetch_file(hub, revision, name, path, kind)
        note(f"{number} of {len(names)}: {name}, {path.stat().st_size:,} bytes")
    shutil.rmtree(destination, ignore_errors=True)
    os.replace(partial, destination)


def fetch_file(hub: str, revision: str, name: str, path: Path, kind: Literal["model", "dataset"]) -> None:
    """Put one file to `path`, which is whole when it appears."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    url = hf_hub_url(hub, name, repo_type=kind, revision=revision, endpoint=endpoint())
    stated = get_hf_file_metadata(url, endpoint=endpoint())
    headers = build_hf_headers()
    if urlsplit(stated.location).netloc != urlsplit(url).netloc:
        headers.pop("authorization", None)  # the hub's token is for the hub alone
    part = path.with_name(path.name + PART)
    with part.open("ab") as stream:
        if stated.size is not None and stream.tell() > stated.size:
            stream.truncate(0)
        http_get(
            stated.location,
            stream,
            resume_size=stream.tell(),
            headers=headers,
            expected_size=stated.size,
            displayed_filename=name,
            tqdm_class=Bar,
        )
    if SHA256.fullmatch(stated.etag or "") and (observed := sha256_file(part)) != stated.etag:
        part.unlink()
        raise CorpusError(
            f"{name} of {hub} at {revision} arrived with sha256 {observed}, the hub says {stated.etag}: fetch it again"
        )
    os.replace(part, path)


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
    """Write into the lock file what the hub states of those files of a corpus whose sha256 is null; returns these.

    CorpusError where it states another sha256 than is known of a file, from the study or from this lock file.
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
    """Say of an error of the hub's or the network's, which have no common class, what to look at."""
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
    """Where the hub is, if it is a mirror."""
    return os.environ.get("HF_ENDPOINT")
