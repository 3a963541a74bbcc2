"""Learning curves: score against training size, continued to four times the largest size, with their uncertainty.

The curve of method m at d samples, x = log d, measured at x_1 < … < x_K, is

    -log(C' - s_m(x)) = a_m + ∫ v_m(u) du  from x_K to x,    y_mk = s_m(x_k) + e_mk.

C' is a little above the best possible score, so that what is lacking shrinks by factors. The slope v_m is a stationary
Ornstein-Uhlenbeck process about 0: a steep curve is expected to go on steeply for a while, and then less so. Its
integral is Gaussian, with Taylor's dispersion (1921) as its variogram,

    var(∫ v from x to x + h) = 2 τ_m² (h κ - 1 + exp(-h κ)) / κ².

a_m is free (a flat prior). The scale of slopes τ_m varies between methods by a log-normal factor about what is typical
of them; the typical scale and the memory 1/κ are shared by the methods of a corpus and metric. e is the noise of seeds
and test items, given as joint draws. τ, its typical value and κ are weighed by their likelihood with a_m integrated out
(restricted maximum likelihood; Harville, 1974), and every draw of the curves takes its own.

Such a curve smooths, and takes a leap for a slope; what was last observed predicts differences between methods
surprisingly well. So a draw leaves some methods *parallel*: inside the data what was measured, joined by lines in
log d, each with its own error; beyond, they move as all drawn curves do on average. How often a method goes on along
its own curve instead follows from the data (`_freedom`): in half of the draws where nothing shows that its slope is not
that of all, in nearly all where the last two doublings say the same and noise cannot explain it.

What cannot be known from the data is drawn alike for all methods of a draw, which learn from the same added records,
and with the tails of Student's t, since scores leap.

Parametric families (log-linear, power laws, Weibull and kin) were given up: there they told who will be ahead on four
times the data less well than "whoever is ahead stays ahead" does. They take today's difference in slope to last; in
truth about a third of it is left one doubling later, averaged over leaps and steady gains. See `benchmarks/README.md`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from sumcurve.statistics.design import Cell, Design
from sumcurve.statistics.intervals import draws as true_scores

LEAST_SIZES = 4  # bands from four sizes hold on LCDB's first half as those from six do
FURTHEST = 4.0  # times the largest size: the README promises no word beyond
MEMORIES = np.log(2) / np.array([0.03, 0.1, 0.35, 1.4])  # 1/κ in log d, of shares forgotten per doubling of the data
SLOPES = 2.0 ** np.arange(-6.0, 5.0)  # τ, as shares of the root mean square slope measured
SPREAD = 1.0  # of log τ between methods
TAILS = 4.0  # degrees of freedom of what is drawn beyond the data; with 3 or 5 as many bands hold
HEADROOM = 1.005  # C' as a share of the best possible score
ERRORS = 1_000
GRID = 64  # sizes from the smallest measured to the furthest, evenly in log d
Array = NDArray[np.float64]


class NoCurve(ValueError):
    """No method has a curve that can be fitted; the message is the reason, fit for a table's cell."""


@dataclass(frozen=True)
class Extrapolation:
    """Settings of learning curves. `confidence` is that of bands and forecasts, `ceiling` the best possible score."""

    confidence: float = 0.95
    draws: int = 4000
    seed: int = 1
    ceiling: float = 100.0

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence is {self.confidence}; choose between 0 and 1")
        if self.draws < 100:
            raise ValueError(f"draws is {self.draws}; quantiles need at least 100")
        if self.ceiling <= 0:
            raise ValueError(f"ceiling is {self.ceiling:g}; the best possible score is above 0")


@dataclass(frozen=True, eq=False)
class Curves:
    """Mean scores of the methods of one corpus and metric, and their noise.

    `scores` ``[methods, sizes]`` over seeds and test items, NaN where a method lacks a size. `errors` ``[draws,
    methods, sizes]`` are joint draws of the true scores minus `scores`: of seeds and of test items, with what cells
    share.
    """

    methods: tuple[str, ...]
    sizes: Array
    scores: Array
    errors: Array

    def __post_init__(self) -> None:
        for name in ("sizes", "scores", "errors"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        shape = (len(self.methods), len(self.sizes))
        if len(set(self.methods)) != len(self.methods):
            raise ValueError(f"methods {', '.join(self.methods)}: a method has one curve")
        if not np.all(np.diff(self.sizes, prepend=0.0) > 0):
            raise ValueError(f"sizes {self.sizes.tolist()}; give them growing, above 0")
        if self.scores.shape != shape or np.isinf(self.scores).any():
            raise ValueError(f"scores of shape {self.scores.shape}; finite ones of shape {shape}, NaN where absent")
        if (
            self.errors.shape[1:] != shape
            or len(self.errors) < 100
            or not np.isfinite(self.errors[:, np.isfinite(self.scores)]).all()
        ):
            raise ValueError(
                f"errors of shape {self.errors.shape}; finite ones of shape (draws, {shape[0]}, {shape[1]}), "
                "at least 100 draws"
            )


def measured(design: Design, methods: Collection[str], seed: int, without: Collection[Cell] = ()) -> Curves:
    """The curves of these methods' replicated cells, some left out. NoCurve where none is left, or without intervals.

    One seed says nothing of what another training would give: its systems have no curve.
    """
    cells = [
        (place, cell)
        for place, cell in enumerate(design.cells)
        if design.kinds[place] == "replicated" and cell[0] in methods and cell not in without
    ]
    if not cells:
        raise NoCurve("no method has two seeds; what another training would give is not known")
    if design.why:
        raise NoCurve(design.why)
    names = tuple(dict.fromkeys(system for _, (system, _) in cells))
    sizes = sorted({float(records or 0) for _, (_, records) in cells})
    drawn = true_scores(design, ERRORS, np.random.default_rng([seed, 4])) - design.means
    scores = np.full((len(names), len(sizes)), np.nan)
    errors = np.full((ERRORS, *scores.shape), np.nan)
    for place, (system, records) in cells:
        at = names.index(system), sizes.index(float(records or 0))
        scores[at] = design.means[place]
        errors[:, *at] = drawn[:, place]
    return Curves(names, np.array(sizes), scores, errors)


@dataclass(frozen=True, eq=False)
class Fits:
    """Fitted curves. `draws` ``[draws, methods, sizes]`` at `sizes`, from the smallest measured to the furthest.

    A draw is one possible set of true curves of all methods together; it is not cut at the best and worst score, where
    methods would become level that are not. `largest` ``[methods]`` are the largest sizes
    measured, `curves` what was measured. `refused` gives the reason of every method without a fit.
    """

    methods: tuple[str, ...]
    largest: Array
    sizes: Array
    draws: Array
    curves: Curves
    refused: Mapping[str, str]
    settings: Extrapolation

    def predict(self, method: str, sizes: ArrayLike) -> Array:
        """Draws of the true score of `method` ``[draws, sizes]``; ValueError outside the range of `self.sizes`."""
        if method not in self.methods:
            raise ValueError(f"{method} has no fit: {self.refused.get(method, 'it is not among the curves')}")
        wanted = np.atleast_1d(np.asarray(sizes, dtype=np.float64))
        low, high = self.sizes[0], self.sizes[-1]
        if not ((wanted >= low * (1 - 1e-9)) & (wanted <= high * (1 + 1e-9))).all():
            raise ValueError(f"sizes {wanted.tolist()}; curves are drawn from {low:g} to {high:g}")
        x = np.log(self.sizes)
        right = np.clip(np.searchsorted(x, np.log(wanted)), 1, len(x) - 1)
        share = np.clip((np.log(wanted) - x[right - 1]) / (x[right] - x[right - 1]), 0, 1)
        drawn = self.draws[:, self.methods.index(method)]
        return drawn[:, right - 1] * (1 - share) + drawn[:, right] * share

    def band(self, method: str, sizes: ArrayLike, confidence: float | None = None) -> tuple[Array, Array, Array]:
        """Low, median and high of the true score ``[sizes]`` each, pointwise, at `confidence`."""
        tail = (1 - (confidence or self.settings.confidence)) / 2
        drawn = np.clip(self.predict(method, sizes), 0.0, self.settings.ceiling)
        low, middle, high = np.quantile(drawn, [tail, 0.5, 1 - tail], axis=0)
        return low, middle, high

    def leading(self, methods: Sequence[str], size: float) -> dict[str, float]:
        """The share of draws in which the true score at a size is the highest of these methods', by method."""
        drawn = np.stack([self.predict(name, size)[:, 0] for name in methods])
        best = drawn == drawn.max(axis=0)
        return dict(zip(methods, (best / best.sum(axis=0)).mean(axis=1).tolist(), strict=True))


def dispersion(first: Array, second: Array, memory: float) -> Array:
    """Covariance ``[n, m]`` of ∫ v from 0, at signed distances; v has variance 1 and correlation exp(-|h| / memory)."""

    def variogram(distances: Array) -> Array:
        steps = np.abs(distances) / memory
        # The exact form loses all digits where steps are small; its series does not.
        return memory**2 * np.where(steps < 1e-3, steps**2 - steps**3 / 3, 2 * (steps + np.expm1(-steps)))

    return 0.5 * (
        variogram(first)[:, None] + variogram(second) - variogram(np.subtract.outer(first, second))
    )  # half the variogram of either, less that between


@dataclass(frozen=True, eq=False)
class _Data:
    """One method's measurements on the scale of the curve: `z` ``[sizes]`` at `x`, `errors` ``[draws, sizes]``."""

    x: Array
    z: Array
    errors: Array
    noise: Array  # the covariance of errors, [sizes, sizes]

    def slopes(self) -> Array:
        return np.diff(self.z) / np.diff(self.x)


@dataclass(frozen=True, eq=False)
class _Solution:
    """One method under one memory and every τ: restricted likelihoods ``[taus]``, and `gain` ``[taus, n, sizes]``.

    ``gain @ z`` are the predictions.
    """

    log_likelihood: Array
    gain: Array


def _solve(data: _Data, taus: Array, memory: float, at: Array) -> _Solution:
    """Kriging with an unknown constant, at the positions `at` (log d) ``[n]``."""
    origin = data.x[-1]
    across = dispersion(at - origin, data.x - origin, memory)
    inner = dispersion(data.x - origin, data.x - origin, memory)
    squares = np.square(taus)[:, None, None]
    covariance = squares * inner + data.noise
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(factor)  # [taus, K, K]
    ones = inverse.sum(axis=2)  # the whitened constant
    information = np.square(ones).sum(axis=1)
    weights = (ones[:, None, :] @ inverse)[:, 0] / information[:, None]  # of the constant, [taus, K]
    residual_maker = np.eye(len(data.x)) - weights[:, None, :]
    gain = weights[:, None, :] + squares * across @ inverse.swapaxes(1, 2) @ inverse @ residual_maker
    white = (inverse @ (residual_maker @ data.z)[:, :, None])[..., 0]
    log_likelihood = (
        -np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        - 0.5 * np.log(information)
        - 0.5 * np.square(white).sum(axis=1)
    )
    return _Solution(log_likelihood, gain)


def _weighed(solutions: list[list[_Solution]]) -> tuple[Array, Array]:
    """Log weights ``[memories, typical]`` of what methods share, and of τ given the typical one ``[typical, taus]``.

    `solutions` has a row per memory, with one of each method. A priori memories and typical τ are equally likely.
    """
    logs = np.log(SLOPES)
    prior = -0.5 * np.square((logs - logs[:, None]) / SPREAD)
    prior -= logsumexp(prior, axis=1, keepdims=True)
    likelihoods = np.array(
        [[solution.log_likelihood for solution in row] for row in solutions]
    )  # [memories, methods, taus]
    shared = logsumexp(prior[:, None, :] + likelihoods[:, None], axis=-1).sum(axis=-1)
    return shared - logsumexp(shared), prior


def fit_curves(curves: Curves, settings: Extrapolation) -> Fits:
    """All methods' curves up to `FURTHEST` times the largest size.

    Methods with fewer than `LEAST_SIZES` sizes, or whose score never moves, are refused, with the reason; NoCurve where
    all are.
    """
    kept, refused = _fitted(curves)
    data = [_data(curves, row, settings) for row in kept]
    largest = np.array([curves.sizes[np.isfinite(curves.scores[row])][-1] for row in kept])
    smallest = min(float(curves.sizes[np.isfinite(curves.scores[row])][0]) for row in kept)
    sizes = np.geomspace(smallest, FURTHEST * largest.max(), GRID)
    sizes = np.unique(np.concatenate([sizes[:-1], curves.sizes[curves.sizes >= smallest], FURTHEST * largest]))
    sizes = sizes[np.append(np.diff(sizes) > 1e-9 * sizes[1:], True)]
    taus = SLOPES * np.sqrt(max(float(np.square(np.concatenate([curve.slopes() for curve in data])).mean()), 1e-12))
    z = _drawn(data, curves.errors.shape[0], taus, np.log(sizes), settings)
    return Fits(
        tuple(curves.methods[row] for row in kept),
        largest,
        sizes,
        HEADROOM * settings.ceiling - np.exp(-z),
        curves,
        refused,
        settings,
    )


def _drawn(data: list[_Data], rows: int, taus: Array, at: Array, settings: Extrapolation) -> Array:
    """Draws of all methods' true curves ``[draws, methods, n]`` on the curve's own scale.

    A prediction's error under a simulated process and noise does not depend on the curve, so that prediction minus
    simulated error is a draw of it (conditioning by kriging; Matheron, see Journel and Huijbregts, 1978). The rows of
    the errors are drawn for all methods together: they share seeds and test items.
    """
    solutions = [[_solve(curve, taus, memory, at) for curve in data] for memory in MEMORIES]
    shared, prior = _weighed(solutions)
    generator = np.random.default_rng([settings.seed, 3])
    counts = generator.multinomial(settings.draws, np.exp(shared).ravel() / np.exp(shared).sum()).reshape(shared.shape)
    drawn = np.empty((settings.draws, len(data), len(at)))
    everywhere = np.unique(np.concatenate([at, *(curve.x for curve in data)])) - data[0].x[-1]
    ahead = np.searchsorted(everywhere, at - data[0].x[-1])
    noise, start = generator.integers(0, rows, settings.draws), 0
    for place, memory in enumerate(MEMORIES):
        stop = start + int(counts[place].sum())
        typical = np.repeat(np.arange(len(taus)), counts[place])
        covariance = dispersion(everywhere, everywhere, memory)
        factor = np.linalg.cholesky(covariance + 1e-9 * covariance.max() * np.eye(len(everywhere)))
        shocks = generator.standard_normal((stop - start, len(everywhere))) @ factor.T
        shocks *= np.sqrt(TAILS / generator.chisquare(TAILS, stop - start))[:, None]
        for method, curve in enumerate(data):
            solution = solutions[place][method]
            cumulated = np.cumsum(np.exp(prior + solution.log_likelihood - solution.log_likelihood.max()), axis=1)
            level = generator.random(stop - start) * cumulated[typical, -1]
            chosen = np.minimum((cumulated[typical] < level[:, None]).sum(axis=1), len(taus) - 1)
            paths = shocks * taus[chosen, None]
            simulated = (
                curve.z
                - paths[:, np.searchsorted(everywhere, curve.x - data[0].x[-1])]
                + curve.errors[noise[start:stop]]
            )
            for tau in np.unique(chosen):
                these = np.flatnonzero(chosen == tau)
                drawn[start + these, method] = simulated[these] @ solution.gain[tau].T + paths[these][:, ahead]
        start = stop
    parallel = _parallel(data, drawn, noise, at)
    rank = (generator.permutation(settings.draws) + 0.5) / settings.draws
    return np.where((rank[:, None] < _freedom(data, drawn, at))[..., None], drawn, parallel)


def _freedom(data: list[_Data], drawn: Array, at: Array) -> Array:
    """The share of draws ``[methods]`` in which a method goes on along its own curve: from a half to all.

    It is ½ + ½ · steady · sure. `steady` compares the method's slope less the mean slope of all, a paired difference,
    over the last doubling with that over the one before (the last two steps, where sizes are further apart): the
    smaller by the larger, 0 where their signs differ, as after a leap. `sure` is how much more of the drawn curves,
    which know the noise, gain more than the average than gain less, or the reverse.
    """
    width = max(np.log(2), *(curve.x[-1] - curve.x[-2] for curve in data))
    points = min(curve.x[-1] for curve in data) - width * np.array([2, 1, 0])
    slopes = np.diff([np.interp(points, curve.x, curve.z) for curve in data], axis=1)
    slopes -= slopes.mean(axis=0)
    less, more = np.sort(np.abs(slopes), axis=1).T
    steady = np.where(slopes.prod(axis=1) > 0, less / np.maximum(more, 1e-12), 0.0)
    last = [int(np.argmin(np.abs(at - curve.x[-1]))) for curve in data]
    gained = drawn[:, :, -1] - drawn[:, np.arange(len(data)), last]
    sure = np.abs(2 * (gained > gained.mean(axis=1, keepdims=True)).mean(axis=0) - 1)
    return np.asarray(0.5 + 0.5 * steady * sure)


def _parallel(data: list[_Data], drawn: Array, noise: NDArray[np.int64], at: Array) -> Array:
    """Draws ``[draws, methods, n]`` as measured, with the rows `noise` of the errors, and parallel beyond."""
    common = drawn.mean(axis=1)  # [draws, n]
    drawn_scores = np.empty_like(drawn)
    for method, curve in enumerate(data):
        true = curve.z + curve.errors[noise]  # [draws, sizes]
        right = np.clip(np.searchsorted(curve.x, at), 1, len(curve.x) - 1)
        share = np.clip((at - curve.x[right - 1]) / (curve.x[right] - curve.x[right - 1]), 0, 1)
        last = int(np.argmin(np.abs(at - curve.x[-1])))
        beyond = np.where(at > curve.x[-1], common - common[:, last : last + 1], 0.0)
        drawn_scores[:, method] = true[:, right - 1] * (1 - share) + true[:, right] * share + beyond
    return drawn_scores


def _data(curves: Curves, row: int, settings: Extrapolation) -> _Data:
    present = np.isfinite(curves.scores[row])
    y, errors = curves.scores[row, present], curves.errors[:, row, present]
    if not ((y >= 0) & (y <= settings.ceiling)).all():
        raise ValueError(f"{curves.methods[row]} has a score outside 0 to {settings.ceiling:g}; set the ceiling")
    lacking = HEADROOM * settings.ceiling - y
    errors = errors / lacking  # to first order
    # Draws may have tails without a variance: the likelihood takes their body, the draws of curves take them all.
    spread = np.diff(np.quantile(errors, [0.1587, 0.8413], axis=0), axis=0)[0] / 2
    middle = np.median(errors, axis=0)
    body = np.clip(errors, middle - 4 * spread, middle + 4 * spread)
    noise = np.atleast_2d(np.cov(body * (spread / np.maximum(body.std(axis=0), 1e-12)), rowvar=False))
    floor = 1e-6 * max(float(np.ptp(np.log(lacking))), 1e-6) ** 2
    return _Data(np.log(curves.sizes[present]), -np.log(lacking), errors, noise + floor * np.eye(len(y)))


def _fitted(curves: Curves) -> tuple[list[int], dict[str, str]]:
    """The rows with enough sizes whose score moves, and the reason for every other method."""
    refused = {}
    for method, scores in zip(curves.methods, curves.scores, strict=True):
        own = scores[np.isfinite(scores)]
        if len(own) < LEAST_SIZES:
            refused[method] = f"{len(own)} size{'s' * (len(own) != 1)}; a learning curve needs {LEAST_SIZES}"
        elif np.ptp(own) == 0:
            refused[method] = "its score is the same at every size; what never moves has no learning curve"
    if len(refused) == len(curves.methods):
        raise NoCurve("; ".join(f"{method}: {reason}" for method, reason in refused.items()) or "no curves")
    return [row for row, method in enumerate(curves.methods) if method not in refused], refused
