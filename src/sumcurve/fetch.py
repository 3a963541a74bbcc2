"""Fetches pretrained models from the hub: a step of its own, with network, before anything is computed.

A model is known by the sha256 of its files, which a method's file pins beside the commit they come from; what computes
later reads the folder and never the hub.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sumcurve.corpora.errors import CorpusError
from sumcurve.corpora.members import names_of_shards
from sumcurve.manifest import sha256_files
from sumcurve.settings import MODEL_FILES


def sha256_of_model(folder: Path) -> str:
    """The sha256 of a model's folder, by which settings name it; CorpusError for one without safetensors."""
    if not folder.is_dir() or not list(folder.glob("*.safetensors")):
        raise CorpusError(
            f"{folder} holds no *.safetensors: other weights are pickles, which can run code, and are not read; save "
            "the model with `save_pretrained` of transformers, which writes safetensors"
        )
    return sha256_files(folder, names_of_shards(folder, MODEL_FILES))


def fetch(hub: str, revision: str, destination: Path, download: Callable[..., Any] | None = None) -> str:
    """Put the files of a model of the hub, at a commit, into the folder `destination`; returns their sha256.

    Of the commit's files those at its top that `MODEL_FILES` names are fetched: weights as safetensors, settings and
    the tokenizer; no pickle and no code. `download` stands for `huggingface_hub.snapshot_download`. The folder appears
    whole or not at all. Raises CorpusError where the hub does not give them, and where there are no safetensors.
    """
    if download is None:
        from huggingface_hub import snapshot_download

        download = snapshot_download
    partial = destination.with_name(destination.name + ".new")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        download(hub, revision=revision, local_dir=partial, allow_patterns=list(MODEL_FILES), ignore_patterns=["*/*"])
    except Exception as error:  # the hub's and the network's errors have no common class
        raise CorpusError(
            f"{hub} at {revision} cannot be fetched ({type(error).__name__}: {error}); look whether this machine has a "
            "network, whether HF_HUB_OFFLINE is set, and whether the commit is the hub's"
        ) from error
    shutil.rmtree(partial / ".cache", ignore_errors=True)
    found = sha256_of_model(partial)
    shutil.rmtree(destination, ignore_errors=True)
    os.replace(partial, destination)
    return found
