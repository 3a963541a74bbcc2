"""Learning curves: score against training size, fitted with two parameters per method, and their uncertainty.

The curve of method m at d samples, x = log d, is

    g(s_m(x)) = a_m + b_m φ(x) + r_m(x),    y_mk = s_m(x_k) + e_mk.

g and φ belong to a *family*. Their shape (an exponent, a ceiling, a half-way size) is shared by all methods of a
corpus and metric, so a method has two free parameters, a and b, estimated by generalised least squares. r is what no
family knows: the departure of the real curve. It is nil at the method's largest size and wanders off on both sides as
an integrated Wiener process of rate λ, variance λ²|log(d/d_max)|³/3 (Wahba, 1978). So sizes near the largest weigh
more, and the error of extrapolation grows with its distance. λ is shared too. e is the noise of seeds and test items.

The data choose shape, λ and the scale of the noise by their likelihood with a and b integrated out (restricted maximum
likelihood; Harville, 1974), pooled over methods. Families are judged by what they predict of the largest sizes when
these are held back, and are averaged by pseudo-BMA+ (Yao et al., 2018): curves that cannot tell families apart
leave the choice open. Every draw of the curves takes its own family, shape, λ, noise and departure.

The families are those of Mohr et al. (2022), "LCDB 1.0", with at most two parameters left free.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, ndtr
from scipy.stats import chi2

from sumcurve.curves.variance import Cell, SeedVariance, moments
from sumcurve.settings import Bootstrap

LEAST_SIZES = 6
FURTHEST = 4.0  # times the largest size: the README promises no word beyond
DEPARTURES = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6])  # change of slope over the measured range, as a share of it
USUAL_DEPARTURE = 0.3  # median of the half-Cauchy prior on it
NOISE_SCALES = 7
ITEM_RESAMPLES = 1_000
WORST_LOG_SCORE = -1e3  # of a score that no shape of a family can give
GRID = 64  # sizes from the smallest measured to the furthest, evenly in log d
Array = NDArray[np.float64]


class TooFewSizes(ValueError):
    """No curve has enough sizes to be fitted; the message is the reason, fit for a table's cell."""


@dataclass(frozen=True)
class Extrapolation:
    """How curves are drawn. `reach`: how far, as a multiple of the largest size; `ceiling`: the best possible score.

    `confidence` is that of bands and of the intervals of verdicts.
    """

    confidence: float = 0.95
    reach: float = FURTHEST
    draws: int = 4000
    seed: int = 1
    ceiling: float = 100.0

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence is {self.confidence}; choose between 0 and 1")
        if not 1 < self.reach <= FURTHEST:
            raise ValueError(f"reach is {self.reach:g}; above 1, and no more than {FURTHEST:g} times the largest size")
        if self.draws < 100:
            raise ValueError(f"draws is {self.draws}; quantiles need at least 100")
        if self.ceiling <= 0:
            raise ValueError(f"ceiling is {self.ceiling:g}; the best possible score is above 0")


@dataclass(frozen=True, eq=False)
class Curves:
    """Mean scores of the methods of one corpus and metric, and their noise.

    `scores` ``[methods, sizes]`` over seeds and test items, NaN where a method lacks a size. `standard_errors`, of the
    same shape, hold the noise of seeds (pooled standard deviation / √seeds), independent between cells; they are known
    to `dof` degrees of freedom. None: one seed, the noise is then estimated from how the points scatter about the
    curves. `errors` ``[replicates, methods, sizes]`` are draws of the noise that cells may share, such as means over
    resampled test items minus `scores`.
    """

    methods: tuple[str, ...]
    sizes: Array
    scores: Array
    standard_errors: Array | None = None
    dof: float | None = None
    errors: Array | None = None

    def __post_init__(self) -> None:
        for name in ("sizes", "scores", "standard_errors", "errors"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.asarray(value, dtype=np.float64))
        shape = (len(self.methods), len(self.sizes))
        if len(set(self.methods)) != len(self.methods):
            raise ValueError(f"methods {', '.join(self.methods)}: a method has one curve")
        if not np.all(np.diff(self.sizes, prepend=0.0) > 0):
            raise ValueError(f"sizes {self.sizes.tolist()}; give them growing, above 0")
        if self.scores.shape != shape or np.isinf(self.scores).any():
            raise ValueError(f"scores of shape {self.scores.shape}; finite ones of shape {shape}, NaN where absent")
        present = np.isfinite(self.scores)
        if (self.standard_errors is None) != (self.dof is None):
            raise ValueError("give standard errors with their degrees of freedom, or neither")
        if self.standard_errors is not None:
            if self.standard_errors.shape != shape or not (self.standard_errors[present] >= 0).all():
                raise ValueError(f"standard errors must be at least 0, of shape {shape}")
            if not self.dof > 0:  # type: ignore[operator]
                raise ValueError(f"{self.dof} degrees of freedom; above 0, or no standard errors for a single seed")
        if self.errors is not None and (
            self.errors.shape[1:] != shape or len(self.errors) < 2 or not np.isfinite(self.errors[:, present]).all()
        ):
            raise ValueError(f"errors of shape {self.errors.shape}; finite ones of shape (replicates, *{shape})")


def measured(cells: Sequence[Cell], variance: SeedVariance | None, settings: Bootstrap) -> Curves:
    """Curves from per-item scores, a cell for each method and size, with the noise of seeds and of test items.

    `variance` is that of seeds pooled over the cells, None where there is one seed. A seed's share of it that the test
    set makes is in the items' part already. Items are resampled `ITEM_RESAMPLES` times, jointly for all cells.
    """
    methods = tuple(dict.fromkeys(cell.method for cell in cells))
    sizes = sorted({cell.size for cell in cells})
    unseeded = sorted({cell.method for cell in cells if not cell.seeds})
    if unseeded:
        raise ValueError(f"{', '.join(unseeded)}: a system without training has no learning curve; leave it out")
    means = moments(cells)
    if len({(cell.method, cell.size) for cell in cells}) < len(cells):
        raise ValueError("a method has two cells at one size; give one with all its seeds")
    columns = np.stack([cell.items for cell in cells])
    generator = np.random.default_rng([settings.seed, 4])
    resampled = np.empty((ITEM_RESAMPLES, len(cells)))
    for row in resampled:
        counts = np.bincount(generator.integers(0, means.count, means.count), minlength=means.count)
        row[:] = columns @ counts / means.count - means.means
    shape = (len(methods), len(sizes))
    scores, standard_errors = np.full(shape, np.nan), np.full(shape, np.nan)
    errors = np.full((ITEM_RESAMPLES, *shape), np.nan)
    for index, cell in enumerate(cells):
        place = methods.index(cell.method), sizes.index(cell.size)
        scores[place] = means.means[index]
        errors[:, *place] = resampled[:, index]
        if variance is not None:
            standard_errors[place] = np.sqrt(variance.of_models * means.rates[index])
    if variance is None:
        return Curves(methods, np.array(sizes), scores, errors=errors)
    return Curves(methods, np.array(sizes), scores, standard_errors, variance.degrees, errors)


@dataclass(frozen=True)
class FamilyScore:
    """How a family predicted the largest sizes held back; tuples: one held back, two held back.

    `rmse` in points of score, `log_score` the mean log predictive density of the measured means, `coverage` the share
    of them within the predictive interval. `weight` is the family's share in the average; the average's own is 1.
    """

    name: str
    formula: str
    weight: float
    rmse: tuple[float, ...]
    log_score: tuple[float, ...]
    coverage: tuple[float, ...]
    curves: int


@dataclass(frozen=True)
class Fit:
    """One method's curve in the best family: its two parameters, and the shape that it shares with the others."""

    method: str
    family: str
    formula: str
    parameters: Mapping[str, float]
    shared: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the families predicted of the scores held back, each array ``[families, curves, 3]``.

    The three predictions of a curve: its largest size from all others; its second largest and its largest, each from
    all others but these two. `means` are predicted scores, `quantiles` the predicted probability of a score up to that
    measured. Judgements of several corpora and metrics are pooled by `+`.
    """

    means: Array
    log_scores: Array
    quantiles: Array
    observed: Array

    def __add__(self, other: "Judgement") -> "Judgement":
        return Judgement(
            *(
                np.concatenate([getattr(self, name), getattr(other, name)], axis=1)
                for name in ("means", "log_scores", "quantiles", "observed")
            )
        )

    def weights(self, seed: int) -> Array:
        """Pseudo-BMA+ (Yao et al., 2018) ``[families]``: the average over 1,000 Bayesian bootstraps of the curves.

        A curve's mean log score counts as one observation, since its predictions share most of their data.
        """
        scores = self.log_scores.mean(axis=-1)  # [families, curves]
        curves = scores.shape[1]
        shares = np.random.default_rng([seed, 2]).dirichlet(np.ones(curves), size=1000)
        logits = curves * shares @ scores.T
        return np.exp(logits - logsumexp(logits, axis=1, keepdims=True)).mean(axis=0)

    def scores(self, weights: Array, confidence: float) -> list[FamilyScore]:
        """A row per family, in the order of `FAMILIES`, and one of their average under `weights`."""
        rows = [(self.means[f], self.log_scores[f], self.quantiles[f]) for f in range(len(weights))]
        rows.append(
            (
                np.tensordot(weights, self.means, 1),
                logsumexp(self.log_scores, axis=0, b=weights[:, None, None]),
                np.tensordot(weights, self.quantiles, 1),
            )
        )
        labels = [(family.name, family.formula) for family in FAMILIES] + [("average", "")]
        found, tail = [], (1 - confidence) / 2
        for (name, formula), weight, (means, logs, quantiles) in zip(labels, [*weights, 1.0], rows, strict=True):
            within = (quantiles >= tail) & (quantiles <= 1 - tail)
            squares = np.square(means - self.observed[0])
            held = [slice(0, 1), slice(1, 3)]
            found.append(
                FamilyScore(
                    name,
                    formula,
                    float(weight),
                    tuple(float(np.sqrt(squares[:, part].mean())) for part in held),
                    tuple(float(logs[:, part].mean()) for part in held),
                    tuple(float(within[:, part].mean()) for part in held),
                    logs.shape[0],
                )
            )
        return found


@dataclass(frozen=True, eq=False)
class Fits:
    """Fitted curves. `draws` ``[draws, methods, sizes]`` at `sizes`, from the smallest measured to the furthest.

    A draw is one possible set of true curves of all methods together. `largest` ``[methods]`` are the largest sizes
    measured. `refused` gives the reason of every method without a fit. `families` holds the best family first.
    """

    methods: tuple[str, ...]
    largest: Array
    sizes: Array
    draws: Array
    families: tuple[FamilyScore, ...]
    average: FamilyScore
    fits: tuple[Fit, ...]
    refused: Mapping[str, str]
    settings: Extrapolation
    noise_known: bool

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
        low, middle, high = np.quantile(self.predict(method, sizes), [tail, 0.5, 1 - tail], axis=0)
        return low, middle, high


@dataclass(frozen=True)
class _Family:
    """`shapes` gives the grid ``[shapes, names]``; `basis` φ ``[shapes, sizes]``. `link`: identity, log or log gap."""

    name: str
    formula: str
    names: tuple[str, ...]
    shapes: Callable[["_Data"], Array]
    basis: Callable[[Array, Array], Array]
    link: str = "identity"

    def transformed(self, shapes: Array, scores: Array, ceiling: float) -> tuple[Array, Array]:
        """g(s) and |dg/ds|, ``[shapes, sizes]`` each; not finite where the shape cannot give the score.

        The logarithm of a score of 0 is that of a millionth of the best possible one; being so steep there, it has
        next to no weight.
        """
        s = np.broadcast_to(scores, (len(shapes), len(scores)))
        if self.link == "identity":
            return s, np.ones_like(s)
        gap = np.maximum(s, 1e-6 * ceiling) if self.link == "log" else shapes[:, :1] - s
        gap = np.where(gap > 0, gap, np.nan)
        return np.log(gap), 1 / gap

    def restored(self, shapes: Array, z: Array) -> Array:
        """g⁻¹(z), ``[shapes, …] -> [shapes, …]``."""
        if self.link == "identity":
            return z
        grown = np.exp(np.minimum(z, 700.0))
        return grown if self.link == "log" else shapes[:, 0].reshape(-1, *[1] * (z.ndim - 1)) - grown


@dataclass(frozen=True, eq=False)
class _Data:
    """One method a row; ragged, since a method may lack sizes."""

    x: list[Array]
    y: list[Array]
    seeds: list[Array]  # variances [sizes]
    items: list[Array]  # covariances [sizes, sizes]
    dof: float | None
    ceiling: float

    def without(self, largest: int) -> "_Data":
        """The data without each method's `largest` sizes."""
        return _measured(
            [x[:-largest] for x in self.x],
            [y[:-largest] for y in self.y],
            [v[:-largest] for v in self.seeds] if self.dof is not None else None,
            [c[:-largest, :-largest] for c in self.items],
            self.dof,
            self.ceiling,
        )

    def slope(self) -> float:
        """Root mean square over methods of the slope in log d, by least squares; at least what noise alone gives."""
        slopes, floors = [], []
        for x, y, seeds, items in zip(self.x, self.y, self.seeds, self.items, strict=True):
            centred = x - x.mean()
            slopes.append((centred @ y / (centred @ centred)) ** 2)
            floors.append((seeds + np.diag(items)).mean() / (centred @ centred))
        return float(np.sqrt(max(np.mean(slopes), np.mean(floors), 1e-12)))

    def span(self) -> float:
        return float(np.mean([x[-1] - x[0] for x in self.x]))

    def noise_scales(self) -> Array:
        """Equally likely factors of the seeds' standard deviation, given how well it is known.

        With one seed they are a wide grid about what the scatter of the points suggests.
        """
        if self.dof is None:
            return np.geomspace(0.3, 2.5, NOISE_SCALES)
        if not np.isfinite(self.dof) or not any(v.any() for v in self.seeds):
            return np.ones(1)
        middles = (np.arange(NOISE_SCALES) + 0.5) / NOISE_SCALES
        return np.sqrt(self.dof / chi2.ppf(middles, self.dof))


def _measured(
    x: list[Array],
    y: list[Array],
    seeds: list[Array] | None,
    items: list[Array],
    dof: float | None,
    ceiling: float,
) -> _Data:
    if seeds is None:  # the scatter about a quadratic in log d, as the middle of the noise scales
        squares, freedom = 0.0, 0
        for position, value in zip(x, y, strict=True):
            design = np.vander(position - position.mean(), 3)
            squares += float(np.square(value - design @ np.linalg.lstsq(design, value, rcond=None)[0]).sum())
            freedom += len(position) - 3
        floor = (1e-4 * max(float(np.ptp(np.concatenate(y))), 1e-6)) ** 2
        seeds = [np.full(len(value), max(squares / freedom, floor)) for value in y]
    return _Data(x, y, seeds, items, dof, ceiling)


def _no_shape(data: _Data) -> Array:
    return np.zeros((1, 0))


def _exponents(data: _Data) -> Array:
    return np.array([[-0.6], [-0.3], [0.15], [0.3], [0.45], [0.6], [0.8], [1.0], [1.3], [1.7]])


def _ceilings(data: _Data) -> Array:
    """Above every score by shares of the largest rise, and the best possible score."""
    top = max(float(y.max()) for y in data.y)
    noise = max(float(np.sqrt(v.max())) for v in data.seeds)
    rise = max(max(float(np.ptp(y)) for y in data.y), noise, 1e-3 * data.ceiling)
    ceilings = top + 3 * noise + rise * np.array([0.2, 0.5, 1.0, 2.0, 4.0])
    best = max(data.ceiling, top + 1e-3 * data.ceiling)
    return np.append(ceilings[ceilings < best], best)[:, None]


def _half_way(data: _Data) -> Array:
    """(log size, steepness): from below the smallest size to about the furthest."""
    low, high = min(x[0] for x in data.x), max(x[-1] for x in data.x)
    return np.array([[size, steep] for size in np.linspace(low - 1, high + 1, 7) for steep in (0.7, 1.0, 1.6)])


FAMILIES = (
    _Family("log-linear", "a + b·log d", (), _no_shape, lambda shapes, x: np.broadcast_to(x, (len(shapes), len(x)))),
    _Family("power", "a·d^b", (), _no_shape, lambda shapes, x: np.broadcast_to(x, (len(shapes), len(x))), "log"),
    _Family("power, shared exponent", "a + b·d^(−c)", ("c",), _exponents, lambda shapes, x: np.exp(-shapes * x)),
    _Family(
        "power, shared ceiling",
        "C − a·d^b",
        ("C",),
        _ceilings,
        lambda shapes, x: np.broadcast_to(x, (len(shapes), len(x))),
        "gap",
    ),
    _Family(
        "Morgan-Mercer-Flodin",
        "a + b/(1 + (d/k)^(−δ))",
        ("log k", "δ"),
        _half_way,
        lambda shapes, x: 1 / (1 + np.exp(-shapes[:, 1:] * (x - shapes[:, :1]))),
    ),
    _Family(
        "Weibull",
        "a + b·(1 − exp(−(d/k)^δ))",
        ("log k", "δ"),
        _half_way,
        lambda shapes, x: -np.expm1(-np.exp(shapes[:, 1:] * (x - shapes[:, :1]))),
    ),
)


def drift_covariance(first: Array, second: Array) -> Array:
    """Covariance ``[n, m]`` of the integrated Wiener process of rate 1 at signed distances from where it is nil."""
    near = np.minimum(np.abs(first)[:, None], np.abs(second))
    far = np.maximum(np.abs(first)[:, None], np.abs(second))
    return np.where(first[:, None] * second > 0, near**2 * (3 * far - near) / 6, 0.0)


def drift(distances: Array, paths: int, generator: np.random.Generator) -> Array:
    """Draws ``[paths, n]`` of the same process; `distances` growing, from below to above 0."""
    drawn = np.zeros((paths, len(distances)))
    for side in (np.flatnonzero(distances < 0)[::-1], np.flatnonzero(distances > 0)):
        value, slope, at = np.zeros(paths), np.zeros(paths), 0.0
        for index in side:
            step = abs(distances[index]) - at
            kick = generator.standard_normal((2, paths))
            slope_kick = np.sqrt(step) * kick[0]
            value = value + step * slope + step / 2 * slope_kick + np.sqrt(step**3 / 12) * kick[1]
            slope, at = slope + slope_kick, abs(distances[index])
            drawn[:, index] = value
    return drawn


@dataclass(frozen=True, eq=False)
class _Candidates:
    """All combinations of shape, departure and noise scale of one family on one set of data, and their weights."""

    family: _Family
    shapes: Array  # [C, names]
    rates: Array  # λ [C], in points of score per (log d)^1.5
    scales: Array  # [C]
    log_weights: Array  # [C], normalised

    def take(self, index: NDArray[np.intp]) -> "_Candidates":
        return _Candidates(
            self.family, self.shapes[index], self.rates[index], self.scales[index], self.log_weights[index]
        )


@dataclass(frozen=True, eq=False)
class _Solution:
    """One method under every candidate. z = g(y) ``[C, K]``; predictions ``gain @ z`` with their error variance."""

    z: Array
    slopes: Array  # |dg/ds| at the measured scores [C, K]
    rates: Array  # λ on the scale of z [C]
    gain: Array  # [C, n, K]
    variance: Array  # [C, n]
    coefficients: Array  # [C, 2]: g at the largest size, and its rise from the smallest
    log_likelihood: Array  # [C]


def _solve(data: _Data, method: int, candidates: _Candidates, at: Array) -> _Solution:
    """Generalised least squares of one method under every candidate, and its predictions at `at` (log d) ``[n]``."""
    family, shapes = candidates.family, candidates.shapes
    x, y = data.x[method], data.y[method]
    z, slopes = family.transformed(shapes, y, data.ceiling)
    possible: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(z), axis=1)
    z, slopes = np.where(possible[:, None], z, 0.0), np.where(possible[:, None], slopes, 1.0)
    rates = candidates.rates * slopes[:, -1]
    basis, wanted = family.basis(shapes, x), family.basis(shapes, at)
    rise = basis[:, -1:] - basis[:, :1]
    design = np.stack([np.ones_like(basis), (basis - basis[:, -1:]) / rise], axis=-1)  # [C, K, 2]
    design_at = np.stack([np.ones_like(wanted), (wanted - basis[:, -1:]) / rise], axis=-1)  # [C, n, 2]

    noise = np.square(candidates.scales)[:, None, None] * np.diag(data.seeds[method]) + data.items[method]
    noise = noise * slopes[:, :, None] * slopes[:, None, :]
    departure = np.square(rates)[:, None, None]
    covariance = noise + departure * drift_covariance(x - x[-1], x - x[-1])
    jitter = 1e-9 * np.trace(covariance, axis1=1, axis2=2) / len(x) + 1e-18
    covariance += jitter[:, None, None] * np.eye(len(x))
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(factor)  # [C, K, K]
    white = inverse @ design  # [C, K, 2]
    information = white.swapaxes(1, 2) @ white
    estimator = np.linalg.solve(information, white.swapaxes(1, 2) @ inverse)  # [C, 2, K]
    coefficients = (estimator @ z[:, :, None])[..., 0]
    across = departure * drift_covariance(at - x[-1], x - x[-1])  # [C, n, K]
    residual_maker = np.eye(len(x)) - design @ estimator
    gain = design_at @ estimator + across @ inverse.swapaxes(1, 2) @ (inverse @ residual_maker)
    own = departure[:, 0] * (np.abs(at - x[-1]) ** 3 / 3)
    variance = own + ((gain @ covariance - 2 * across) * gain).sum(axis=-1)

    residual = (inverse @ (z[:, :, None] - design @ coefficients[:, :, None]))[..., 0]
    # Flat in the *scores* at both ends, whatever the link, so that families and shapes compare.
    jacobian = np.log(slopes).sum(axis=1) - np.log(slopes[:, 0]) - np.log(slopes[:, -1])
    log_likelihood = (
        jacobian
        - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        - 0.5 * np.linalg.slogdet(information)[1]
        - 0.5 * np.square(residual).sum(axis=1)
    )
    log_likelihood = np.where(possible, log_likelihood, -np.inf)
    return _Solution(z, slopes, rates, gain, np.maximum(variance, 0.0), coefficients, log_likelihood)


def _weighed(family: _Family, data: _Data, at: Sequence[Array]) -> tuple[_Candidates, list[_Solution]]:
    """Every candidate of a family with its posterior weight, and the methods' solutions at `at` (log d), one each."""
    shapes = family.shapes(data)
    departures, scales = DEPARTURES * data.slope() / np.sqrt(data.span()), data.noise_scales()
    index = np.indices((len(shapes), len(departures), len(scales))).reshape(3, -1)
    prior = DEPARTURES / (1 + np.square(DEPARTURES / USUAL_DEPARTURE))  # half-Cauchy, on a grid even in its logarithm
    candidates = _Candidates(
        family, shapes[index[0]], departures[index[1]], scales[index[2]], np.log(prior)[index[1]] - np.log(len(shapes))
    )
    solutions = [_solve(data, method, candidates, wanted) for method, wanted in enumerate(at)]
    log_weights = candidates.log_weights + sum(solution.log_likelihood for solution in solutions)
    log_weights = log_weights - logsumexp(log_weights)
    return _Candidates(family, candidates.shapes, candidates.rates, candidates.scales, log_weights), solutions


def _predictions(family: _Family, data: _Data, held: int) -> Array:
    """What the family predicts of each method's `held` largest sizes ``[4, curves, held]``; see `Judgement`."""
    at = [x[-held:] for x in data.x]
    candidates, solutions = _weighed(family, data.without(held), at)
    log_weights, weights = candidates.log_weights[:, None], np.exp(candidates.log_weights)[:, None]
    rows = np.empty((4, len(at), held))
    for method, solution in enumerate(solutions):
        observed, items = data.y[method][-held:], data.items[method]
        mean = (solution.gain @ solution.z[:, :, None])[..., 0]  # [C, held]
        z, slopes = family.transformed(candidates.shapes, observed, data.ceiling)
        possible = np.isfinite(z)
        z, slopes = np.where(possible, z, 0.0), np.where(possible, slopes, 1.0)
        # The noise to come is that about the predicted score; taken at the measured one, no density would result.
        slopes_there = np.exp(np.minimum(-mean, 30.0)) if family.link != "identity" else np.ones_like(mean)
        noise = np.square(candidates.scales)[:, None] * data.seeds[method][-held:] + np.diag(items)[-held:]
        noise = noise * np.square(slopes_there)
        # The held-back score and the kept ones share test items, and so their noise.
        shared = (solution.gain * solution.slopes[:, None, :] * items[-held:, :-held]).sum(axis=-1) * slopes_there
        deviation = np.sqrt(np.maximum(solution.variance + noise - 2 * shared, 1e-3 * noise + 1e-18))
        standard = (z - mean) / deviation
        density = np.log(slopes / deviation) - 0.5 * np.square(standard) - 0.5 * np.log(2 * np.pi)
        # A score that a shape cannot give has density 0 there, and lies above all that it can.
        density = np.where(possible, density, -np.inf)
        quantile = np.where(possible, ndtr(-standard if family.link == "gap" else standard), 1.0)
        predicted = np.clip(family.restored(candidates.shapes, mean), 0, data.ceiling)
        rows[0, method] = (weights * predicted).sum(axis=0)
        rows[1, method] = np.maximum(logsumexp(log_weights + density, axis=0), WORST_LOG_SCORE)
        rows[2, method] = (weights * quantile).sum(axis=0)
        rows[3, method] = observed
    return rows


def judge(curves: Curves, settings: Extrapolation) -> Judgement:
    """Every family's predictions of the largest sizes held back. Raises TooFewSizes where no curve has enough."""
    data = _data(curves, _fitted(curves)[0], settings)
    arrays = [np.concatenate([_predictions(family, data, held) for held in (1, 2)], axis=-1) for family in FAMILIES]
    return Judgement(*np.stack(arrays, axis=1))


def fit_curves(curves: Curves, settings: Extrapolation, judgement: Judgement | None = None) -> Fits:
    """All methods' curves up to `settings.reach` times the largest size.

    `judgement` weighs the families, by default that of `curves` alone; pool those of several metrics and corpora where
    there are. Methods with fewer than `LEAST_SIZES` sizes are refused, with the reason; TooFewSizes where all are.
    """
    kept, refused = _fitted(curves)
    data = _data(curves, kept, settings)
    judgement = judge(curves, settings) if judgement is None else judgement
    weights = judgement.weights(settings.seed)
    order = np.argsort(-weights, kind="stable")
    scores = judgement.scores(weights, settings.confidence)

    largest = np.array([curves.sizes[np.isfinite(curves.scores[row])][-1] for row in kept])
    smallest = min(float(curves.sizes[np.isfinite(curves.scores[row])][0]) for row in kept)
    sizes = np.geomspace(smallest, settings.reach * largest.max(), GRID)
    sizes = np.unique(np.concatenate([sizes[:-1], curves.sizes[curves.sizes >= smallest], settings.reach * largest]))
    sizes = sizes[np.append(np.diff(sizes) > 1e-9 * sizes[1:], True)]
    at = np.log(sizes)

    counts = _apportioned(weights, settings.draws)
    generator = np.random.default_rng([settings.seed, 3])
    draws = np.empty((settings.draws, len(kept), len(sizes)))
    fits: tuple[Fit, ...] = ()
    start = 0
    for index in order:
        stop = start + counts[index]
        if not counts[index] and index != order[0]:
            continue
        candidates, solutions = _weighed(FAMILIES[index], data, [x[-1:] for x in data.x])
        if index == order[0]:
            fits = _fits(curves, kept, data, candidates, solutions)
        if counts[index]:
            draws[start:stop] = _drawn(curves, kept, data, candidates, at, counts[index], generator)
        start = stop
    return Fits(
        tuple(curves.methods[row] for row in kept),
        largest,
        sizes,
        np.clip(draws, 0.0, settings.ceiling),
        tuple(scores[index] for index in order),
        scores[-1],
        fits,
        refused,
        settings,
        curves.dof is not None,
    )


def _drawn(
    curves: Curves,
    kept: list[int],
    data: _Data,
    candidates: _Candidates,
    at: Array,
    draws: int,
    generator: np.random.Generator,
) -> Array:
    """Draws of the true curves ``[draws, methods, sizes]`` under one family.

    The predictor is linear in the scores, so its error under a simulated departure and noise does not depend on the
    curve: prediction minus simulated error is a draw of the curve (conditioning by kriging; Matheron, see Journel and
    Huijbregts, 1978).
    """
    picked, member = np.unique(_systematic(np.exp(candidates.log_weights), draws, generator), return_inverse=True)
    chosen = candidates.take(picked)
    shared = None
    if curves.errors is not None:
        errors = curves.errors - curves.errors.mean(axis=0)
        shared = errors[generator.integers(0, len(errors), draws)]  # one row for all methods: they share test items
    drawn = np.empty((draws, len(kept), len(at)))
    for method, row in enumerate(kept):
        solution = _solve(data, method, chosen, at)
        present = np.isfinite(curves.scores[row])
        x = data.x[method]
        noise = generator.standard_normal((draws, len(x))) * np.sqrt(data.seeds[method]) * chosen.scales[member, None]
        if shared is not None:
            noise += shared[:, row, present]
        distances = np.union1d(at, x) - x[-1]
        where, where_at = np.searchsorted(distances, x - x[-1]), np.searchsorted(distances, at - x[-1])
        paths = drift(distances, draws, generator) * solution.rates[member, None]
        simulated = solution.z[member] - paths[:, where] - noise * solution.slopes[member]
        z = (solution.gain[member] @ simulated[:, :, None])[..., 0] + paths[:, where_at]
        drawn[:, method] = chosen.family.restored(chosen.shapes[member], z)
    return drawn


def _fits(
    curves: Curves, kept: list[int], data: _Data, candidates: _Candidates, solutions: list[_Solution]
) -> tuple[Fit, ...]:
    """The two parameters of every method at the likeliest candidate."""
    best, family = int(np.argmax(candidates.log_weights)), candidates.family
    shape = candidates.shapes[best : best + 1]
    fits = []
    for method, row in enumerate(kept):
        top, rise = solutions[method].coefficients[best]
        basis = family.basis(shape, data.x[method])[0]
        b = rise / (basis[-1] - basis[0])
        a = top - b * basis[-1]
        if family.link != "identity":
            a = np.exp(a)
        shared = dict(zip(family.names, shape[0].tolist(), strict=True))
        fits.append(Fit(curves.methods[row], family.name, family.formula, {"a": float(a), "b": float(b)}, shared))
    return tuple(fits)


def _fitted(curves: Curves) -> tuple[list[int], dict[str, str]]:
    """The rows with enough sizes, and the reason for every other method."""
    counts = np.isfinite(curves.scores).sum(axis=1)
    refused = {
        method: f"{count} size{'s' * (count != 1)}; a learning curve needs {LEAST_SIZES}"
        for method, count in zip(curves.methods, counts.tolist(), strict=True)
        if count < LEAST_SIZES
    }
    if len(refused) == len(curves.methods):
        raise TooFewSizes("; ".join(f"{method}: {reason}" for method, reason in refused.items()) or "no curves")
    return [row for row, method in enumerate(curves.methods) if method not in refused], refused


def _data(curves: Curves, kept: list[int], settings: Extrapolation) -> _Data:
    x, y, seeds, items = [], [], [], []
    for row in kept:
        present = np.isfinite(curves.scores[row])
        x.append(np.log(curves.sizes[present]))
        y.append(curves.scores[row, present])
        if not ((y[-1] >= 0) & (y[-1] <= settings.ceiling)).all():
            raise ValueError(f"{curves.methods[row]} has a score outside 0 to {settings.ceiling:g}; set the ceiling")
        if curves.standard_errors is not None:
            seeds.append(np.square(curves.standard_errors[row, present]))
        if curves.errors is None:
            items.append(np.zeros((len(x[-1]), len(x[-1]))))
        else:
            items.append(np.cov(curves.errors[:, row, present], rowvar=False))
    return _measured(x, y, seeds if curves.standard_errors is not None else None, items, curves.dof, settings.ceiling)


def _apportioned(weights: Array, draws: int) -> list[int]:
    """Whole numbers of draws that add up, by largest remainders."""
    exact = weights * draws
    counts = np.floor(exact).astype(int)
    for index in np.argsort(counts - exact, kind="stable")[: draws - counts.sum()]:
        counts[index] += 1
    return counts.tolist()


def _systematic(weights: Array, draws: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Indices drawn in proportion to `weights` by systematic sampling: each as often as expected, but for one."""
    points = (np.arange(draws) + generator.random()) / draws
    return np.minimum(np.searchsorted(np.cumsum(weights / weights.sum()), points), len(weights) - 1)
