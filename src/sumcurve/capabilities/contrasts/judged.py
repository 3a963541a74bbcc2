"""The files in which a folder keeps what systems find of golds and their contrasts, one for each run.

Nothing heavier than NumPy is imported: scorers and tables read these files.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from sumcurve.capabilities.contrasts.sets import Contrasted
from sumcurve.store.records import RecordError, write_bytes

TIE = 1e-6  # nats: a smaller difference is none

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """Of N golds, each followed by its contrasts, M targets in all: log-probabilities, in nats.

    The mean of a target is its sum over its tokens. Two targets that a system sees alike cannot be told apart: a
    contrast is `visible` where it is seen other than its gold.
    """

    own: Array  # [M]: given the record's own source
    tokens: NDArray[np.int32]  # [M]: that a sum is over, marks and end counted
    visible: NDArray[np.bool_]  # [M]; False of golds
    starts: NDArray[np.int32]  # [N + 1]: gold n is starts[n], and its contrasts follow
    other: Array | None = None  # [M]: given another record's source; None where there is no record of another group
    assigned: Array | None = None  # [M]: of a system that rewrites sentences, by the best assignment

    @property
    def gold_of(self) -> NDArray[np.int64]:
        """[M]: of every target the place of its gold."""
        counts = np.diff(self.starts)
        return np.repeat(self.starts[:-1].astype(np.int64), counts)

    @property
    def contrast(self) -> NDArray[np.bool_]:
        """[M]: whether a target is a contrast."""
        mask = np.ones(len(self.own), dtype=bool)
        mask[self.starts[:-1]] = False
        return mask

    def means(self) -> Array:
        """[M]: log-probability a token, given the own source."""
        return self.own / self.tokens


def margins(values: Array, judged: Judged) -> Array:
    """[contrasts]: by how much the gold is above its contrast; 0 where the difference is a tie."""
    apart = (values[judged.gold_of] - values)[judged.contrast]
    return np.where(np.abs(apart) < TIE, 0.0, apart)


def write_judged(path: Path, judged: Judged, contrasted: Iterable[Contrasted]) -> None:
    """Write one run's file, whose header holds a sha256 of the golds' and contrasts' words."""
    tensors = {name: np.ascontiguousarray(value) for name, value in vars(judged).items() if value is not None}
    tensors["told"] = tensors.pop("visible").astype(np.uint8)
    write_bytes(path, save(tensors, {"contrasts": digest(contrasted)}))


def read_judged(path: Path, contrasts: str) -> Judged:
    """What a run found of the contrasts of this `digest`; RecordError for a file of others, or one that is damaged."""
    tensors = _read(path, contrasts)
    return Judged(visible=tensors.pop("told").astype(bool), **tensors)


def read_visible(path: Path, contrasts: str) -> NDArray[np.bool_]:
    """[contrasts]: which of them the run can tell apart from their golds. RecordError as of `read_judged`."""
    tensors = _read(path, contrasts, ("told", "starts"))
    kept = np.ones(len(tensors["told"]), dtype=bool)
    kept[tensors["starts"][:-1]] = False
    return tensors["told"].astype(bool)[kept]


def _read(path: Path, contrasts: str, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The tensors of a file; RecordError where it is of other contrasts or cannot be read."""
    try:
        with safe_open(path, framework="numpy") as stream:
            header = stream.metadata()
            tensors = {name: stream.get_tensor(name) for name in names or stream.keys()}
    except (OSError, SafetensorError) as error:
        raise RecordError(f"{path} cannot be read ({error}); judge again") from error
    if header["contrasts"] != contrasts:
        raise RecordError(f"{path} is of other contrasts than those given; judge again")
    return tensors


def digest(contrasted: Iterable[Contrasted]) -> str:
    """What identifies golds and contrasts: a sha256 of their words."""
    sha256 = hashlib.sha256()
    for gold in contrasted:
        for line in (
            gold.item,
            *gold.sentences,
            *(sentence for contrast in gold.contrasts for sentence in contrast.sentences),
        ):
            sha256.update(f"{line}\n".encode())
    return sha256.hexdigest()


def contrast_keys(contrasted: Iterable[Contrasted]) -> tuple[list[str], list[str]]:
    """The item of every contrast, and what it is called among the item's: its rule and a number."""
    items: list[str] = []
    names: list[str] = []
    for gold in contrasted:
        count: dict[str, int] = {}
        for contrast in gold.contrasts:
            count[contrast.rule] = count.get(contrast.rule, 0) + 1
            items.append(gold.item)
            names.append(f"{contrast.rule} {count[contrast.rule]}")
    return items, names
