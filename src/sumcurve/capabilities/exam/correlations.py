"""Correlations of a metric with people over systems and documents, with what is crossed resampled.

Scores are ``[systems, documents]``. At system level the means of systems are correlated; at summary level the scores
of one document's summaries, over systems, and the mean over documents is taken (Bhandari et al. 2020, section 4).
Resamples draw systems and documents, both with replacement (Deutsch, Dror and Roth 2021, "Boot-Both"), and are the same
for all metrics of an exam.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeVar

import numpy as np

from sumcurve.statistics.coefficients import DIGITS, Coefficient
from sumcurve.statistics.groups import Array

Level = Literal["system", "summary"]
T = TypeVar("T")
TIED = 10.0**-DIGITS  # of the largest magnitude: rounding orders nothing


@dataclass(frozen=True)
class Draws:
    """How often each system ``[r, systems]`` and document ``[r, documents]`` is drawn; the first draw is the data.

    Documents that were drawn as a group (mails of a mailbox, docstrings of a package) are drawn as a whole.
    """

    systems: Array
    documents: Array

    @classmethod
    @cache
    def crossed(
        cls,
        systems: int,
        documents: int,
        resamples: int,
        seed: int,
        groups: tuple[int, ...] | None = None,
    ) -> "Draws":
        """The data and so many resamples of both. Of one system, all are of that system.

        `groups` are the group of every document, counted from 0; without them each document is one of its own.
        """
        places = np.arange(documents) if groups is None else np.array(groups)
        counts = []
        for axis, size in enumerate((systems, int(places.max()) + 1)):
            generator = np.random.default_rng([seed, axis])
            drawn = generator.multinomial(size, np.full(size, 1 / size), size=resamples).astype(float)
            counts.append(np.concatenate([np.ones((1, size)), drawn]))
        return cls(counts[0], counts[1][:, places])


def correlations(
    metric: Array, people: Array, kind: Coefficient, level: Level, draws: Draws, given: Array | None = None
) -> Array:
    """The coefficient ``[r]`` in every draw, NaN where a score does not vary; partial on `given` where it is named.

    (r_xy - r_xz r_yz) / sqrt((1 - r_xz²) (1 - r_yz²)), of Kendall's τ as of the others (Kendall 1942). Documents whose
    summaries all have one score are not in the mean of the summary level. ValueError for scores of other shapes.
    """
    rows = [metric, people] if given is None else [metric, people, given]
    if any(row.shape != metric.shape for row in rows):
        raise ValueError(f"scores of shape {', '.join(str(row.shape) for row in rows)}; give all of the same summaries")
    if level == "system":
        return _of_systems(rows, kind, draws)
    values = _of_documents(rows, kind, draws)
    usable = ~np.isnan(values)
    counts = (draws.documents * usable).sum(axis=1)
    totals = (draws.documents * np.where(usable, values, 0)).sum(axis=1)
    return np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)


def by_documents(metric: Array, people: Array, kind: Coefficient) -> Array:
    """The coefficient over systems of every document ``[documents]``, NaN where a score does not vary."""
    return _of_documents([metric, people], kind, Draws(*(np.ones((1, size)) for size in metric.shape)))[0]


def _of_documents(rows: list[Array], kind: Coefficient, draws: Draws) -> Array:
    """Of every draw and document ``[r, documents]``: `_of_systems` where values are the same in all draws."""
    weights, count = draws.systems, rows[0].shape[0]
    pairs = (weights[:, :, None] * weights[:, None, :]).reshape(len(weights), -1)
    signs = [_signs(row.T).reshape(-1, count**2).T for row in rows]  # [systems², documents]
    ranked: list[Array] = []
    if kind == "spearman":
        for sign in signs:
            midranks = np.einsum("rj,ijd->rid", weights, sign.reshape(count, count, -1), optimize=True)
            ranked.append(midranks - np.einsum("ri,rid->rd", weights, midranks)[:, None] / count)
    centred = [row - row.mean(axis=0) for row in rows]

    def product(first: int, second: int) -> Array:
        if kind == "kendall":
            return np.asarray(pairs @ (signs[first] * signs[second]))
        if kind == "spearman":
            return np.asarray(np.einsum("ri,rid,rid->rd", weights, ranked[first], ranked[second]))
        left, right = centred[first], centred[second]
        return np.asarray(weights @ (left * right) - (weights @ left) * (weights @ right) / count)

    varies = [pairs @ np.abs(sign) > 0 for sign in signs]
    squares = [np.where(vary, product(at, at), 0) for at, vary in enumerate(varies)]
    return _joined(
        [_ratio(product(*pair), squares[pair[0]], squares[pair[1]]) for pair in _pairs(list(range(len(rows))))]
    )


def _of_systems(rows: list[Array], kind: Coefficient, draws: Draws) -> Array:
    """As `statistics.coefficients.resampled_coefficients` has it, of values that are others in every draw."""
    documents = draws.documents / draws.documents.sum(axis=1, keepdims=True)
    weights = draws.systems
    pairs = weights[:, :, None] * weights[:, None, :]
    parts: list[Array] = []  # of a row: what products are summed of
    for row in rows:
        values = documents @ row.T  # [r, systems]
        signs = _signs(values)
        if kind == "kendall":
            parts.append((signs * np.sqrt(pairs)).reshape(len(weights), -1))
            continue
        if kind == "spearman":
            values = (signs * weights[:, None, :]).sum(axis=2)
        centred = values - (weights * values).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
        varies = (np.abs(signs) * pairs).sum(axis=(1, 2)) > 0
        parts.append(np.where(varies[:, None], centred * np.sqrt(weights), 0))
    return _joined(
        [
            _ratio((first * second).sum(axis=1), (first**2).sum(axis=1), (second**2).sum(axis=1))
            for first, second in _pairs(parts)
        ]
    )


def _signs(values: Array) -> Array:
    """Signs of differences ``[n, k, k]`` of values ``[n, k]``, 0 where they are equal but for rounding."""
    apart = values[:, :, None] - values[:, None, :]
    return np.sign(np.where(np.abs(apart) <= TIED * np.abs(values).max(axis=1)[:, None, None], 0, apart))


def _ratio(product: Array, first: Array, second: Array) -> Array:
    lengths = np.sqrt(first * second)
    return np.clip(np.divide(product, lengths, out=np.full_like(lengths, np.nan), where=lengths > 0), -1, 1)


def _pairs(rows: list[T]) -> list[tuple[T, T]]:
    first, second, *given = rows
    return [(first, second), *((row, third) for third in given for row in (first, second))]


def _joined(pairs: list[Array]) -> Array:
    """The first coefficient, or the partial one of three; NaN where the third explains one of both without rest."""
    if len(pairs) == 1:
        return pairs[0]
    both, first, second = pairs
    rest = (1 - first**2) * (1 - second**2)
    ratio = np.divide(both - first * second, np.sqrt(rest), out=np.full_like(both, np.nan), where=rest > 1e-12)
    return np.clip(ratio, -1, 1)


def interval(values: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Percentile ends of what all draws but the first gave; both NaN where a tenth of the draws gave none."""
    drawn = values[1:][~np.isnan(values[1:])]
    if len(drawn) < 0.9 * (len(values) - 1) or not len(drawn):
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)
