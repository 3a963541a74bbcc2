"""The file in which an output keeps log-probabilities of the test set's targets, token by token."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from sumcurve.store.records import RecordError, write_bytes

FILE = "logp.safetensors"
LENGTH = "target_tokens"


@dataclass(frozen=True)
class TargetLogp:
    """Log-probabilities of N records with M target tokens in all, one record after another, under K other sources, too.

    A record's tokens are those of `Vocabulary.target`: words, marks between sentences, and the end mark unless the
    target is cut at `target_tokens`.
    """

    own: np.ndarray  # float32 [M]: given the record's own source
    others: np.ndarray  # float32 [K, M]: given the source of record `sources[k]` of the token's record
    known: np.ndarray  # uint8 [M]: 1 where the system's vocabulary has the word; marks are known
    starts: np.ndarray  # int32 [N + 1]: record n's tokens are starts[n] to starts[n + 1]
    sources: np.ndarray  # int32 [K, N]: positions of records
    target_tokens: int


def write_logp(folder: Path, logp: TargetLogp, ids: Sequence[str]) -> None:
    """Write logp.safetensors, whose header holds a sha256 of the records' ids in their order."""
    tensors = {name: np.ascontiguousarray(value) for name, value in vars(logp).items() if name != LENGTH}
    tensors[LENGTH] = np.array([logp.target_tokens], dtype=np.int32)
    write_bytes(folder / FILE, save(tensors, {"ids": _digest(ids)}))  # two keys would come in any order


def read_logp(folder: Path, ids: Sequence[str]) -> TargetLogp:
    """The log-probabilities of the records with these ids; RecordError where the file is of others or unreadable."""
    path = folder / FILE
    try:
        with safe_open(path, framework="numpy") as stream:
            header = stream.metadata()
            names = stream.keys()
            tensors = {name: stream.get_tensor(name) for name in names}
    except (OSError, SafetensorError) as error:
        raise RecordError(f"{path} cannot be read ({error}); decode again") from error
    if header["ids"] != _digest(ids):
        raise RecordError(f"{path} is of other records, or of another order, than the {len(ids)} given; decode again")
    length = tensors.pop(LENGTH)
    return TargetLogp(**tensors, target_tokens=int(length[0]))


def _digest(ids: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()
