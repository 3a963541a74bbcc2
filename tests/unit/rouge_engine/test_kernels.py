"""The engine's counts against naive loops, on texts long enough for several words of bits."""

import random
from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest

from sumcurve.rouge_engine import kernels as rouge_kernels
from sumcurve.rouge_engine.kernels import LSUM, S4, SU4, L

Sentences = list[list[int]]


def table(target: list[int], source: list[int]) -> list[list[int]]:
    """Lengths of longest common subsequences of all prefixes."""
    rows = [[0] * (len(source) + 1)]
    for word in target:
        row = [0]
        for place, other in enumerate(source):
            row.append(rows[-1][place] + 1 if word == other else max(rows[-1][place + 1], row[-1]))
        rows.append(row)
    return rows


def subsequence(target: list[int], source: list[int]) -> set[int]:
    """Places in `target` of the subsequence that ROUGE-1.5.5 traces back."""
    lengths, i, j, found = table(target, source), len(target), len(source), set()
    while i and j:
        if target[i - 1] == source[j - 1]:
            found.add(i - 1)
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] >= lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


def naive(candidate: Sentences, reference: Sentences, metric: int) -> tuple[int, int, int]:
    ours, theirs = list(chain(*candidate)), list(chain(*reference))
    if metric == L:
        return table(theirs, ours)[-1][-1], len(ours), len(theirs)
    if metric == LSUM:
        hits, left = 0, Counter(theirs) & Counter(ours)
        for target in reference:
            for place in sorted(set().union(*(subsequence(target, source) for source in candidate))):
                hits += left[target[place]] > 0
                left[target[place]] -= 1
        return hits, len(ours), len(theirs)

    def units(words: list[int]) -> Counter[tuple[int, ...]]:
        if metric < L:
            return Counter(tuple(words[i : i + metric]) for i in range(len(words) - metric + 1))
        skips = Counter((a, b) for i, a in enumerate(words) for b in words[i + 1 : i + 6])
        return skips + Counter((word,) for word in words[:-1]) if metric == SU4 else skips

    return (units(ours) & units(theirs)).total(), units(ours).total(), units(theirs).total()


def count(
    texts: list[Sentences], pairs: list[tuple[int, int]], metrics: list[int], tile: int = rouge_kernels.TILE
) -> np.ndarray:
    sentences = [sentence for text in texts for sentence in text]
    words = np.array(list(chain(*sentences)), np.int32)
    firsts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    bounds = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    ours, theirs = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    return rouge_kernels.count(words, firsts, bounds, ours, theirs, np.array(metrics, np.int64), 60, tile)


@pytest.mark.parametrize("longest", [8, 64, 65, 200])
@pytest.mark.parametrize("words", [2, 7, 60])
def test_counts_agree_with_naive_loops(longest, words) -> None:
    rng = random.Random(longest * words)
    texts = [
        [
            [rng.randrange(words) for _ in range(rng.choice([0, 1, longest // 2, longest]))]
            for _ in range(rng.randint(1, 4))
        ]
        for _ in range(8)
    ]
    texts += [[[]], [[], []], [[0]], [[word % words for word in range(longest)]]]
    metrics = [SU4, 1, LSUM, 3, L, 2, S4, 9]
    pairs = [(rng.randrange(len(texts)), rng.randrange(len(texts))) for _ in range(14)]
    pairs += [(place, place) for place in range(8, len(texts))]
    found = count(texts, pairs, metrics)
    for (ours, theirs), row in zip(pairs, found.tolist(), strict=True):
        expected = [naive(texts[ours], texts[theirs], metric) for metric in metrics]
        assert list(map(tuple, row)) == expected


@pytest.mark.parametrize("words", [2, 7, 60])
@pytest.mark.parametrize("longest", [63, 64, 65, 128, 129, 200, 391])
def test_common_subsequences_made_by_tiles_are_those_of_one_table(longest, words) -> None:
    rng = random.Random(longest * words)
    lengths = [0, 1, 50, longest // 2, longest]
    texts = [[rng.choices(range(words), k=rng.choice(lengths)) for _ in range(rng.randint(1, 3))] for _ in range(6)]
    texts += [[rng.choices(range(words), k=longest)], [[*range(words)] * (longest // words)]]
    pairs = [(ours, theirs) for ours in range(8) for theirs in rng.sample(range(8), 3)]
    found = count(texts, pairs, [L, LSUM], tile=64)
    assert np.array_equal(found, count(texts, pairs, [L, LSUM]))
    for (ours, theirs), row in zip(pairs[::3], found[::3].tolist(), strict=True):
        assert [*map(tuple, row)] == [naive(texts[ours], texts[theirs], metric) for metric in (L, LSUM)]


@pytest.mark.parametrize("between", [10, 62, 63, 64, 140, 300])
def test_a_match_gives_up_a_later_one_however_far(between) -> None:
    # In bits, a carry runs through every word between the two.
    target, source = [[1] + between * [0] + [2]], [[2, 1]]
    for metric in (L, LSUM):
        assert tuple(count([source, target], [(0, 1)], [metric])[0, 0]) == naive(source, target, metric)


def test_a_metric_alone_counts_as_among_others() -> None:
    rng = random.Random(1)
    texts = [[[rng.randrange(9) for _ in range(20)] for _ in range(3)] for _ in range(6)]
    pairs = list(pairwise(range(6)))
    metrics = [1, 2, 5, L, LSUM, S4, SU4]
    together = count(texts, pairs, metrics)
    for column, metric in enumerate(metrics):
        assert np.array_equal(count(texts, pairs, [metric])[:, 0], together[:, column])
