"""Correlations over items that come in groups: Fisher's z with the jackknife over groups."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from sumcurve.statistics.coefficients import Coefficient, coefficient, varies
from sumcurve.statistics.groups import Array, Groups


@dataclass(frozen=True)
class Correlation:
    """A coefficient with its interval and the two-sided p of no correlation; None where they cannot be told."""

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def correlation(
    first: Array, second: Array, groups: Groups, kind: Coefficient, confidence: float = 0.95
) -> Correlation:
    """The coefficient of two features ``[items]``; a group of items is one draw.

    z = artanh(r) with the jackknife's variance over groups (leave one out, ranks made anew) and Student's quantile with
    the degrees of freedom that `Groups.degrees` gives those deviations. No value where a feature does not vary; no
    interval where the groups allow none, or where all but one group are perfectly correlated.
    """
    value = coefficient(first, second, kind)
    if value is None or groups.why:
        return Correlation(value)
    kept = [groups.codes != group for group in range(groups.count)]
    if not all(varies(values[rows]) for values in (first, second) for rows in kept):
        return Correlation(value)
    left_out = np.array([coefficient(first[rows], second[rows], kind) for rows in kept], dtype=float)
    if (np.abs([value, *left_out]) > 1 - 1e-12).any():
        return Correlation(value)
    z = np.arctanh(left_out)
    deviations = (z - z.mean()) * np.sqrt((groups.count - 1) / groups.count)
    error = float(np.sqrt(deviations @ deviations))
    if error == 0:
        return Correlation(value)
    degrees = groups.degrees(((z - z.mean()) * (groups.items - groups.sizes))[None])
    at, reach = float(np.arctanh(value)), float(stats.t.ppf((1 + confidence) / 2, degrees)) * error
    p = float(2 * stats.t.sf(abs(at) / error, degrees))
    return Correlation(value, float(np.tanh(at - reach)), float(np.tanh(at + reach)), p)
