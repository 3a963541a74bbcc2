"""Log-probabilities of many targets of one source under a model, where most targets differ by a word or two.

The encoder runs once per source for all its targets. Common prefixes of targets form a tree, and the readout over the
vocabulary is computed once for each of its nodes. A recurrent decoder reads each node once, too: the nodes of one depth
are the queries of one step, and the source's memory is not repeated for them. Where only words are fed back and sources
are long, only the LSTM runs step by step; attention then reads all nodes of a source at once. A Transformer's decoder,
which reads all positions at once, reads every target in full: steps would move more memory than they save.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sumcurve.models.batch import Batch, retargeted
from sumcurve.models.emission import copied, generated, mixture
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import Memory, Readout, ReadoutSummarizer, State
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.numerics.precision import IMPOSSIBLE, in_single

TOGETHER = {"cpu": 512, "cuda": 8192}  # targets of a batch, unless one source has more; results are those of any other

# Sources of more words are worth a pass of attention of its own, whose sums round otherwise than those of steps.
LONG = 256

Ids = tuple[list[int], list[int]]  # of a target: the decoder's inputs, and the extended ids to score
Numbers = NDArray[np.int64]
Pairs = tuple[Numbers, Numbers]
NOTHING: Numbers = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class _Tree:
    """The n targets of one source, depth by depth.

    `nodes` are distinct prefixes: for each the parent node, of the depth before, and the id that is read. `targets` are
    distinct pairs of a node and an extended id whose probability is needed there. `places` [n, T] holds the indices of
    a target's tokens in `targets`, and `holders` for each node a target with that prefix. `lengths` [n] are the
    targets'.
    """

    nodes: list[Pairs]
    targets: list[Pairs]
    holders: list[Numbers]
    places: Numbers
    lengths: Numbers

    @classmethod
    def of(cls, targets: Sequence[Ids]) -> "_Tree":
        lengths = np.array([len(target) for _, target in targets])
        inputs, ids = (np.zeros((len(targets), lengths.max()), dtype=np.int64) for _ in range(2))
        for row, (read, target) in enumerate(targets):
            inputs[row, : len(read)], ids[row, : len(target)] = read, target
        most = int(max(inputs.max(), ids.max())) + 1
        nodes, pairs, holders, places = [], [], [], np.zeros_like(ids)
        node = np.zeros(len(targets), dtype=np.int64)
        for depth in range(ids.shape[1]):
            here = np.flatnonzero(lengths > depth)
            keys, first, node[here] = np.unique(
                node[here] * most + inputs[here, depth], return_index=True, return_inverse=True
            )
            nodes.append((keys // most, keys % most))
            holders.append(here[first])
            keys, places[here, depth] = np.unique(node[here] * most + ids[here, depth], return_inverse=True)
            pairs.append((keys // most, keys % most))
        return cls(nodes, pairs, holders, places, lengths)

    def level(self, pairs: Sequence[Pairs], depth: int) -> Pairs:
        """The pairs of a depth; none beyond the longest target."""
        return pairs[depth] if depth < len(pairs) else (NOTHING, NOTHING)


@torch.no_grad()
def targets_logp(
    model: ReadoutSummarizer, batch: Batch, memory: Memory, targets: Sequence[Sequence[Ids]]
) -> list[list[NDArray[np.float64]]]:
    """Log-probabilities, token by token, of all targets of each source of the batch.

    They are those of `Summarizer.gold` but for rounding, since matrix products have other numbers of rows.
    """
    device = batch.src.device
    trees = [_Tree.of(own) for own in targets]
    if isinstance(model, TransformerSummarizer):
        levels = _whole(model, batch, memory, targets, trees)
    elif isinstance(model, RecurrentSummarizer) and model.ahead and batch.src.shape[1] > LONG:
        levels = _ahead(model, batch, memory, trees)
    else:
        levels = _by_step(model, batch, memory, trees)
    logp = [np.zeros(tree.places.shape) for tree in trees]
    for depth, (states, copy_logp, gate) in enumerate(levels):
        pairs = [tree.level(tree.targets, depth) for tree in trees]
        first = np.cumsum([0, *(len(tree.level(tree.nodes, depth)[0]) for tree in trees)])
        counts = [len(ids) for _, ids in pairs]
        rows = np.concatenate([start + nodes for start, (nodes, _) in zip(first, pairs, strict=False)])
        of = torch.from_numpy(np.repeat(np.arange(len(trees)), counts)).to(device)
        values = _gold_logp(
            in_single(model.logits(states, memory)),
            copy_logp,
            gate,
            torch.from_numpy(rows).to(device),
            torch.from_numpy(np.concatenate([ids for _, ids in pairs])).to(device),
            batch.src_ext[of] if copy_logp is not None else None,
        )
        parts = np.split(values.cpu().numpy().astype(np.float64), np.cumsum(counts)[:-1])
        for lines, tree, part in zip(logp, trees, parts, strict=True):
            if depth < len(tree.nodes):
                here = tree.lengths > depth
                lines[here, depth] = part[tree.places[here, depth]]
    return [
        [line[:length] for line, length in zip(lines, tree.lengths.tolist(), strict=True)]
        for lines, tree in zip(logp, trees, strict=True)
    ]


Level = tuple[Tensor, Tensor | None, Tensor | None]  # readouts of a depth's nodes, one source after another


def _steps(trees: Sequence[_Tree], device: torch.device) -> Iterator[tuple[Tensor, Tensor, list[int]]]:
    """Yield for each depth the parent nodes and the ids read, [B, Q], and the number of nodes of each source.

    A source with fewer nodes has its first ones repeated.
    """
    for depth in range(max(len(tree.nodes) for tree in trees)):
        levels = [tree.level(tree.nodes, depth) for tree in trees]
        sizes = [len(read) for _, read in levels]
        padded = np.zeros((2, len(levels), max(sizes)), dtype=np.int64)
        for place, level in enumerate(levels):
            padded[:, place, : sizes[place]] = level
        before, read = torch.from_numpy(padded).to(device)
        yield before, read, sizes


def _by_step(model: ReadoutSummarizer, batch: Batch, memory: Memory, trees: Sequence[_Tree]) -> Iterator[Level]:
    """Run one step for each depth; its queries are the nodes."""
    device = batch.src.device
    state = model.start(memory, 1)
    for before, read, sizes in _steps(trees, device):
        readout, state = model.advance(read, memory, _moved(state, before))
        rows = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)).to(device)
        queries = torch.from_numpy(np.concatenate([np.arange(size) for size in sizes])).to(device)
        yield _taken(readout, rows, queries)


def _ahead(model: RecurrentSummarizer, batch: Batch, memory: Memory, trees: Sequence[_Tree]) -> Iterator[Level]:
    """Run the LSTM step by step; then attention and readouts of all nodes of a source at once."""
    device = batch.src.device
    state = model.start(memory, 1)
    nodes: list[list[tuple[Tensor, Tensor]]] = [[] for _ in trees]
    for before, read, sizes in _steps(trees, device):
        embedded, states, state = model.run(read, _moved(state, before))
        for place, size in enumerate(sizes):
            nodes[place].append((embedded[place, :size], states[place, :size]))
    levels = []
    for place, own in enumerate(nodes):
        embedded, states = (torch.cat(parts).unsqueeze(0) for parts in zip(*own, strict=True))
        readout = model.follow(embedded, states, memory.select(torch.tensor([place], device=device)))
        levels.append(_split(readout, [len(part) for part, _ in own]))
    yield from (_joined(parts) for parts in zip(*levels, strict=True))


def _split(readout: Readout, sizes: list[int]) -> list[Level]:
    """A source's readouts [1, nodes, ...], split by depth into these sizes."""
    states = readout.states[0].split(sizes)
    if readout.copy_logp is None or readout.gate is None:
        return [(state, None, None) for state in states]
    return list(zip(states, readout.copy_logp[0].split(sizes), readout.gate[0].split(sizes), strict=True))


def _joined(levels: Sequence[Level]) -> Level:
    """The levels of several sources at one depth, one after another."""
    copies = [part for _, part, _ in levels if part is not None]
    gates = [part for _, _, part in levels if part is not None]
    whole = torch.cat([part for part, _, _ in levels])
    return whole, torch.cat(copies) if copies else None, torch.cat(gates) if gates else None


def _whole(
    model: ReadoutSummarizer, batch: Batch, memory: Memory, targets: Sequence[Sequence[Ids]], trees: Sequence[_Tree]
) -> Iterator[Level]:
    """Run all positions of all targets of a source at once; each node uses the first target that holds it."""
    device = batch.src.device
    readouts = []
    for place, own in enumerate(targets):
        many = len(own)
        cache = {name: value[place].expand(many, *value.shape[1:]) for name, value in memory.cache.items()}
        states, mask = (value[place].expand(many, *value.shape[1:]) for value in (memory.states, memory.mask))
        alone = Memory(states, mask, cache, memory.output_rows)
        readouts.append(model.readout(retargeted(batch, [place] * many, own), alone, attention=False))
    for depth in range(max(len(tree.nodes) for tree in trees)):
        levels = []
        for readout, tree in zip(readouts, trees, strict=True):
            if depth < len(tree.holders):
                at = torch.from_numpy(tree.holders[depth]).to(device)
                levels.append(_taken(readout, at, torch.full_like(at, depth)))
        yield _joined(levels)


def _taken(readout: Readout, rows: Tensor, positions: Tensor) -> Level:
    """Readouts at these rows and positions."""
    copy_logp = None if readout.copy_logp is None else readout.copy_logp[rows, positions]
    gate = None if readout.gate is None else readout.gate[rows, positions]
    return readout.states[rows, positions], copy_logp, gate


def _moved(state: State, nodes: Tensor) -> State:
    """The state [B, Q', ...] of the nodes [B, Q'], taken from their parent nodes of the depth before."""
    batch, q = nodes.shape
    if q == next(iter(state.values())).shape[1] and bool((nodes == torch.arange(q, device=nodes.device)).all()):
        return state
    rows = torch.arange(batch, device=nodes.device).unsqueeze(1)
    return {name: value[rows, nodes] for name, value in state.items()}


def _gold_logp(
    logits: Tensor,
    copy_logp: Tensor | None,
    gate: Tensor | None,
    at: Tensor,
    ids: Tensor,
    sources: Tensor | None,
) -> Tensor:
    """Log-probability [P] of the extended ids [P] at rows [P] of the logits [N, V]; `sources` [P, S] if it copies."""
    words, known = generated(ids, logits.shape[1], copy_logp is not None)
    logp = logits.log_softmax(1)[at, words]
    if copy_logp is None or gate is None or sources is None:
        return logp
    copy = copied(ids.unsqueeze(1), sources, in_single(copy_logp[at]).unsqueeze(1)).squeeze(1)
    return mixture(logp.masked_fill(~known, IMPOSSIBLE), copy, in_single(gate[at]))


def together(counts: Sequence[int], order: Sequence[int], device: str) -> Iterator[list[int]]:
    """Places in `order`, in lists of about `TOGETHER` targets; `counts` are the targets of each place."""
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
