"""Curves fitted to a study's smaller sizes, checked against what it measured at its largest: is a study's word good?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sumcurve.curves.fit import FURTHEST, Curves, Extrapolation, NoCurve, fit_curves
from sumcurve.curves.verdict import Verdict, verdict

SHARE = 0.5  # of the largest size: sizes up to this are fitted


@dataclass(frozen=True)
class HeldBackCurve:
    """One method: low, median and high of its score at the largest size, told from the smaller ones, and the measured.

    The interval is of a measurement: of the true score and the noise of its seeds and items.
    """

    method: str
    fitted_to: float
    size: float
    told: tuple[float, float, float]
    measured: float

    @property
    def within(self) -> bool:
        return self.told[0] <= self.measured <= self.told[2]


@dataclass(frozen=True)
class HeldBackPair:
    """The verdict from the smaller sizes, the measured difference (its first minus its second) at the largest size.

    `ahead` is the probability of the first being ahead there, `stays` that of whoever is ahead at the largest size
    fitted, by the draws of the measured scores alone. `clear`: the interval of the measured difference does not hold 0.
    """

    verdict: Verdict
    size: float
    ahead: float
    stays: float
    measured: float
    clear: bool


def held_back(curves: Curves, settings: Extrapolation) -> tuple[list[HeldBackCurve], list[HeldBackPair]]:
    """Fit sizes up to `SHARE` of the largest, and compare with what the largest gave.

    Methods that lack the largest size are left out. NoCurve where too few sizes remain, or the gap is too wide.
    """
    largest = curves.sizes[-1]
    rows = np.flatnonzero(np.isfinite(curves.scores[:, -1]))
    small = curves.sizes <= np.ceil(SHARE * largest)  # half of an odd number of records is rounded up
    if not small.any():
        raise NoCurve(f"no size up to {100 * SHARE:g} % of the largest, {largest:,.0f}")
    last = float(curves.sizes[small][-1])
    if last * FURTHEST < largest:
        raise NoCurve(f"sizes go up to {last:,.0f}, then {largest:,.0f}: more than {FURTHEST:g} times as much")
    kept = Curves(
        tuple(curves.methods[row] for row in rows),
        curves.sizes[small],
        curves.scores[rows][:, small],
        curves.errors[:, rows][:, :, small],
    )
    fits = fit_curves(kept, settings)
    place = {method: curves.methods.index(method) for method in fits.methods}
    generator = np.random.default_rng([settings.seed, 6])
    noise = curves.errors[generator.integers(0, len(curves.errors), settings.draws), :, -1]  # [draws, methods]
    tail = (1 - settings.confidence) / 2
    levels = [tail, 0.5, 1 - tail]
    at_largest = {method: fits.predict(method, [largest])[:, 0] for method in fits.methods}
    found = []
    for method, drawn in at_largest.items():
        low, middle, high = np.quantile(drawn - noise[:, place[method]], levels).tolist()
        measured = float(curves.scores[place[method], -1])
        found.append(HeldBackCurve(method, last, float(largest), (low, middle, high), measured))
    pairs = []
    for one, other in combinations(fits.methods, 2):
        said = verdict(fits, one, other)
        first, second = place[said.first], place[said.second]
        lead = at_largest[said.first] - at_largest[said.second]
        difference = curves.scores[first] - curves.scores[second]
        errors = curves.errors[:, first] - curves.errors[:, second]
        now = int(np.flatnonzero(curves.sizes == said.size)[0])
        low, high = np.quantile(difference[-1] + errors[:, -1], [tail, 1 - tail])
        pairs.append(
            HeldBackPair(
                said,
                float(largest),
                float((lead > 0).mean() + 0.5 * (lead == 0).mean()),
                float((difference[now] + errors[:, now] > 0).mean()),
                float(difference[-1]),
                bool(low > 0 or high < 0),
            )
        )
    return found, pairs


def summary(found: Sequence[HeldBackCurve], pairs: Sequence[HeldBackPair]) -> dict[str, float]:
    """Shares and Brier scores of held-back curves and pairs, NaN of what there is none of."""

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values)) if values else float("nan")

    stated = [one for one in pairs if one.verdict.kind != "undecided"]
    outcomes = [float(one.measured > 0) for one in pairs]
    return {
        "curves": len(found),
        "bands that hold the measured score": mean([one.within for one in found]),
        "median absolute error": float(np.median([abs(one.told[1] - one.measured) for one in found]))
        if found
        else np.nan,
        "pairs": len(pairs),
        "undecided": mean([one.verdict.kind == "undecided" for one in pairs]),
        "stated verdicts with the first ahead at the largest size": mean([one.measured > 0 for one in stated]),
        "stated verdicts clearly wrong": mean([one.measured < 0 and one.clear for one in stated]),
        "Brier score": mean([(one.ahead - y) ** 2 for one, y in zip(pairs, outcomes, strict=True)]),
        "Brier score of staying ahead": mean([(one.stays - y) ** 2 for one, y in zip(pairs, outcomes, strict=True)]),
    }
