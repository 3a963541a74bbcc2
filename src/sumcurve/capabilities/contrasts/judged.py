"""Files with the log-probabilities of golds and their contrasts, one for each run.

Only NumPy is imported, since scorers and tables read these files.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
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
    """Log-probabilities, in nats, of N golds, each followed by its contrasts, M targets in all.

    The mean of a target is its sum over its tokens. Targets with the same ids for a system cannot be told apart: a
    contrast is `visible` where its ids differ from its gold's.
    """

    own: Array  # [M]: given the record's own source
    tokens: NDArray[np.int32]  # [M]: that a sum is over, marks and end counted
    visible: NDArray[np.bool_]  # [M]; False of golds
    starts: NDArray[np.int32]  # [N + 1]: gold n is starts[n], and its contrasts follow
    other: Array | None = None  # [M]: given another record's source; None where there is no record of another group

    @property
    def gold_of(self) -> NDArray[np.int64]:
        """[M]: the place of every target's gold."""
        counts = np.diff(self.starts)
        return np.repeat(self.starts[:-1].astype(np.int64), counts)

    @property
    def contrast(self) -> NDArray[np.bool_]:
        """[M]: True for contrasts."""
        mask = np.ones(len(self.own), dtype=bool)
        mask[self.starts[:-1]] = False
        return mask

    def means(self) -> Array:
        """[M]: log-probability per token, given the item's source."""
        return self.own / self.tokens


def margins(values: Array, judged: Judged) -> Array:
    """[contrasts]: the gold's value minus its contrast's; 0 where the difference is a tie."""
    apart = (values[judged.gold_of] - values)[judged.contrast]
    return np.where(np.abs(apart) < TIE, 0.0, apart)


def write_judged(path: Path, judged: Judged, contrasted: Iterable[Contrasted]) -> None:
    """Write one run's file, whose header holds a sha256 of the golds' and contrasts' words."""
    tensors = {name: np.ascontiguousarray(value) for name, value in vars(judged).items() if value is not None}
    tensors["told"] = tensors.pop("visible").astype(np.uint8)
    write_bytes(path, save(tensors, {"contrasts": digest(contrasted)}))


def read_judged(path: Path, contrasts: str) -> Judged:
    """Read a run's values for the contrasts of this `digest`; RecordError for a damaged file or other contrasts."""
    tensors = _read(path, contrasts)
    known = {field.name: tensors[field.name] for field in fields(Judged) if field.name in tensors}
    return Judged(visible=tensors["told"].astype(bool), **known)


def read_visible(path: Path, contrasts: str) -> NDArray[np.bool_]:
    """[contrasts]: True where the run can tell a contrast from its gold. RecordError as for `read_judged`."""
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
    """Digest of golds and contrasts: a sha256 of their words."""
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
    """The item of every contrast, and its name within the item: its rule and a number."""
    items: list[str] = []
    names: list[str] = []
    for gold in contrasted:
        count: dict[str, int] = {}
        for contrast in gold.contrasts:
            count[contrast.rule] = count.get(contrast.rule, 0) + 1
            items.append(gold.item)
            names.append(f"{contrast.rule} {count[contrast.rule]}")
    return items, names
