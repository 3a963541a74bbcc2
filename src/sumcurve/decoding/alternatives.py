"""How probable a model finds many targets of one source, of which most differ by a word or two.

The encoder runs once a source, whatever the number of its targets, and a decoder reads once what they begin with in
common: targets are a tree, whose nodes at one depth are the queries of one decoder step. A source's memory is not
repeated along them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sumcurve.models.batch import Batch
from sumcurve.models.emission import IMPOSSIBLE, Emission, copied, generated, mixture
from sumcurve.models.summarizer import Memory, State, Summarizer
from sumcurve.models.vocabulary import PAD

TOGETHER = {"cpu": 256, "cuda": 8192}  # targets of a batch, unless one source has more; results are those of any other

Ids = tuple[list[int], list[int]]  # of a target: what the decoder reads, and the extended ids that it is asked for


@dataclass(frozen=True)
class _Tree:
    """The targets of one source, depth by depth.

    `asked` are distinct pairs of a node and an extended id; `read` the nodes of the next depth: the node before, and
    the id that is read. `places` holds for every target where among `asked` its tokens are.
    """

    asked: list[list[tuple[int, int]]]
    read: list[list[tuple[int, int]]]
    places: list[list[int]]

    @classmethod
    def of(cls, targets: Sequence[Ids]) -> "_Tree":
        asked: list[list[tuple[int, int]]] = []
        read: list[list[tuple[int, int]]] = []
        places: list[list[int]] = [[] for _ in targets]
        node = [0] * len(targets)
        for depth in range(max(len(target) for _, target in targets)):
            pairs: dict[tuple[int, int], int] = {}
            nodes: dict[tuple[int, int], int] = {}
            for number, (inputs, target) in enumerate(targets):
                if depth < len(target):
                    places[number].append(pairs.setdefault((node[number], target[depth]), len(pairs)))
                if depth + 1 < len(target):
                    node[number] = nodes.setdefault((node[number], inputs[depth + 1]), len(nodes))
            asked.append(list(pairs))
            read.append(list(nodes))
        return cls(asked, read, places)


@torch.no_grad()
def targets_logp(
    model: Summarizer, batch: Batch, memory: Memory, targets: Sequence[Sequence[Ids]]
) -> list[list[NDArray[np.float64]]]:
    """Log-probabilities, token by token, of all targets of each source of the batch.

    They are those of `Summarizer.gold` but for rounding: a step multiplies other numbers of rows at once.
    """
    trees = [_Tree.of(own) for own in targets]
    device = batch.src.device
    state = model.start(memory, 1)
    read = torch.tensor([[own[0][0][0]] for own in targets], device=device)
    found: list[list[NDArray[np.float64]]] = [[] for _ in targets]  # by source and depth: of `asked`
    depths = max(len(tree.asked) for tree in trees)
    for depth in range(depths):
        emission, _, state = model.step(read, memory, state)
        nodes, ids = _padded([tree.asked[depth : depth + 1] for tree in trees], device)
        logp = _asked(emission, nodes, ids, batch.src_ext).cpu().numpy().astype(np.float64)
        for values, tree, line in zip(found, trees, logp, strict=True):
            if depth < len(tree.asked):
                values.append(line[: len(tree.asked[depth])])
        if depth + 1 < depths:
            nodes, read = _padded([tree.read[depth : depth + 1] for tree in trees], device)
            state = _moved(state, nodes)
    return [
        [np.array([values[depth][place] for depth, place in enumerate(places)]) for places in tree.places]
        for tree, values in zip(trees, found, strict=True)
    ]


def _padded(
    levels: Sequence[Sequence[Sequence[tuple[int, int]]]], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Nodes and ids of one depth, each [B, Q]; a source that has fewer gets PAD at its first node."""
    rows = [level[0] if level else [] for level in levels]
    whole = np.zeros((2, len(rows), max(1, max(len(row) for row in rows))), dtype=np.int64)
    whole[1] = PAD
    for place, row in enumerate(rows):
        if row:
            whole[:, place, : len(row)] = np.array(row).T
    nodes, ids = torch.from_numpy(whole).to(device)
    return nodes, ids


def _moved(state: State, nodes: torch.Tensor) -> State:
    """The state [B, Q', ...] of the nodes [B, Q'] that come from those of the depth before."""
    batch, q = nodes.shape
    there = next(iter(state.values())).shape[1] if state else 0
    if q == there and bool((nodes == torch.arange(q, device=nodes.device)).all()):
        return state
    rows = torch.arange(batch, device=nodes.device).unsqueeze(1)
    return {name: value[rows, nodes] for name, value in state.items()}


def _asked(emission: Emission, nodes: torch.Tensor, ids: torch.Tensor, src_ext: torch.Tensor) -> torch.Tensor:
    """Log-probability [B, P] of the extended ids [B, P] at the nodes [B, P] of an emission."""
    rows = torch.arange(len(nodes), device=nodes.device).unsqueeze(1)
    words, known = generated(ids, emission.logits.shape[2], emission.copy_logp is not None)
    logp = emission.logits.log_softmax(2)[rows, nodes, words]
    if emission.copy_logp is None or emission.gate is None:
        return logp
    copy = copied(ids, src_ext, emission.copy_logp[rows, nodes])
    return mixture(logp.masked_fill(~known, IMPOSSIBLE), copy, emission.gate[rows, nodes])


def together(counts: Sequence[int], order: Sequence[int], device: str) -> Iterator[list[int]]:
    """Places in `order`, in lists that have about `TOGETHER` targets; `counts` are those of each place."""
    part: list[int] = []
    held = 0
    for place in order:
        if part and held + counts[place] > TOGETHER[device]:
            yield part
            part, held = [], 0
        part.append(place)
        held += counts[place]
    if part:
        yield part
