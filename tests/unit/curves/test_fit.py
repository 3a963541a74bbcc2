from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from examples import examples
from sumcurve.curves import fit
from sumcurve.curves.fit import LEAST_SIZES, Curves, Extrapolation, NoCurve, dispersion, fit_curves, measured
from sumcurve.statistics.design import Design, Replicates

SIZES = np.array([100.0, 200.0, 360.0, 640.0, 1120.0, 2000.0])
QUICK = Extrapolation(draws=400)
Array = NDArray[np.float64]


def curves(truth: Array, sizes: Array = SIZES, noise: float = 0.5, seed: int = 0) -> Curves:
    """Scores `truth` ``[methods, sizes]`` with independent noise of the standard error given."""
    generator = np.random.default_rng(seed)
    scores = truth + noise * generator.standard_normal(truth.shape)
    names = tuple(f"m{index}" for index in range(len(truth)))
    return Curves(names, sizes, scores, noise * generator.standard_normal((500, *truth.shape)))


def power_curves(sizes: Array, exponent: float = 0.45) -> Array:
    """Three methods a - b·d^(-c) with one exponent."""
    tops, drops = np.array([[30.0], [27.0], [35.0]]), np.array([[60.0], [40.0], [90.0]])
    return tops - drops * sizes**-exponent


@pytest.mark.parametrize("memory", [0.2, 1.0, 7.0])
def test_dispersion_is_the_double_integral_of_the_slopes_correlation(memory: float) -> None:
    distances = np.array([-1.5, -0.4, 0.0, 0.7, 2.0])
    grid = np.linspace(-1.5, 2.0, 1401)
    step = grid[1] - grid[0]
    middle = (grid[1:] + grid[:-1]) / 2
    correlation = np.exp(-np.abs(middle[:, None] - middle) / memory)
    # From 0 to each distance, with its sign.
    signs = np.where((middle > 0) & (middle < distances[:, None]), 1.0, 0.0)
    signs -= np.where((middle < 0) & (middle > distances[:, None]), 1.0, 0.0)
    expected = signs @ correlation @ signs.T * step**2
    assert np.allclose(dispersion(distances, distances, memory), expected, atol=1e-3)


def test_predictions_are_those_of_a_gaussian_process_with_a_free_constant() -> None:
    """Against plain conditioning of a joint normal distribution whose constant has a huge prior variance."""
    made = curves(power_curves(SIZES))
    data, at = fit._data(made, 1, QUICK), np.log([150.0, 2000.0, 5000.0])
    taus, references = np.array([0.01, 0.1, 1.0]), []
    solution = fit._solve(data, taus, 1.3, at)
    for index, tau in enumerate(taus):
        everywhere = np.concatenate([data.x, at])
        prior = 1e6 + tau**2 * dispersion(everywhere - data.x[-1], everywhere - data.x[-1], 1.3)
        observed = prior[:6, :6] + data.noise
        gain = np.linalg.solve(observed, prior[:6, 6:]).T
        assert np.allclose(solution.gain[index] @ data.z, gain @ data.z, atol=1e-4)
        likelihood = -0.5 * np.linalg.slogdet(observed)[1] - 0.5 * data.z @ np.linalg.solve(observed, data.z)
        references.append(likelihood - solution.log_likelihood[index])
    assert np.ptp(references) < 1e-2  # equal but for a constant


def test_parallel_draws_keep_what_was_measured_and_move_together() -> None:
    made = curves(power_curves(SIZES))
    data = [fit._data(made, row, QUICK) for row in range(3)]
    at = np.log(np.append(SIZES, [4000.0, 8000.0]))
    generator = np.random.default_rng(2)
    drawn = fit._parallel(data, generator.standard_normal((400, 3, 8)), generator.integers(0, 500, 400), at)
    beyond = np.diff(drawn[..., 5:], axis=-1)
    assert np.allclose(beyond, beyond[:, :1], atol=1e-9)
    for method in range(3):
        assert np.allclose(drawn[:, method, :6].mean(axis=0), data[method].z, atol=5 * 0.5 / 70 / np.sqrt(400))
        assert np.allclose(drawn[:, method, :6].std(axis=0), data[method].errors.std(axis=0), rtol=0.25)


@pytest.mark.parametrize(
    ("steps", "steady"),
    [([1, 1, 1], 1.0), ([0, 1, 1], 1.0), ([0, 0.5, 1], 0.5), ([1, 1, 0.25], 0.25), ([0, 0, 1], 0.0), ([1, -1, 1], 0.0)],
)
def test_a_curve_goes_on_its_own_way_as_often_as_its_slope_is_steady_and_sure(
    steps: list[float], steady: float
) -> None:
    """Two methods at sizes that double, one of them flat; every drawn curve of the other goes further up."""
    sizes = np.array([100.0, 200.0, 400.0, 800.0])
    flat, rising = np.zeros(4), np.append(0.0, np.cumsum(steps))
    data = [fit._Data(np.log(sizes), z, np.zeros((2, 4)), np.eye(4)) for z in (flat, rising)]
    at = np.log([800.0, 3200.0])
    up = np.tile([[[0.0, 0.0], [0.0, 1.0]]], (100, 1, 1))
    assert fit._freedom(data, up, at) == pytest.approx([0.5 + 0.5 * steady] * 2)
    level = np.concatenate([up, -up])  # as many go down
    assert fit._freedom(data, level, at) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("forgotten", [0.1, 0.7])
def test_bands_cover_curves_of_the_law_they_assume(forgotten: float) -> None:
    """Curves drawn from the process with this share of slopes forgotten a doubling, and noise, four in a study."""
    x, held = np.log(SIZES), np.array([4000.0, 8000.0])
    at = np.append(x, np.log(held))
    factor = np.linalg.cholesky(dispersion(at - x[-1], at - x[-1], np.log(2) / forgotten) + 1e-9 * np.eye(8))
    within = []
    for number in range(40):
        generator = np.random.default_rng([41, number])
        z = -np.log(40.0) + 0.1 * generator.standard_normal((4, 8)) @ factor.T
        true = fit.HEADROOM * 100 - np.exp(-z)
        fits = fit_curves(curves(true[:, :6], noise=0.4, seed=number), QUICK)
        for method, later in zip(fits.methods, true[:, 6:], strict=True):
            low, _, high = fits.band(method, held)
            within.append((low <= later) & (later <= high))
    assert (np.mean(within, axis=0) > 0.92).all()
    assert (np.mean(within, axis=0) < 0.995).all()


def test_curves_without_noise_go_through_what_was_measured() -> None:
    made = curves(power_curves(SIZES), noise=1e-3)
    fits = fit_curves(made, QUICK)
    for row, method in enumerate(fits.methods):
        low, middle, high = fits.band(method, SIZES)
        assert np.allclose(middle, made.scores[row], atol=0.05)
        assert (high - low < 0.2).all()
        low, _, high = fits.band(method, [4000.0, 8000.0])
        true = power_curves(np.array([4000.0, 8000.0]))[row]
        assert ((low <= true) & (true <= high)).all()


def test_bands_hold_curves_of_several_kinds() -> None:
    """Exponents, half-way sizes and offsets of their own; measured at six sizes, held up to four times the largest."""
    generator = np.random.default_rng(5)
    within, relative, far = [], SIZES / SIZES[-1], np.array([1.0, 2.0, 4.0])
    for number in range(12):
        own = generator.uniform(0.15, 1.2, 4)
        offset, half = generator.uniform(0.02, 0.3, 4), np.exp(generator.uniform(-3, 0.7, 4))
        tops, rises = generator.normal(25, 1.5, 4), generator.uniform(4, 18, 4)
        d = np.append(relative, far)[:, None]
        course = [-(d**-own), -((d + offset) ** (-2 * own)), 1 / (1 + (d / half) ** -(own + 0.4))][number % 3]
        first, last = course[0], course[5]
        truth = (tops + rises * (course - last) / (last - first)).T
        fits = fit_curves(curves(truth[:, :6], noise=0.4, seed=100 + number), QUICK)
        for row, method in enumerate(fits.methods):
            low, _, high = fits.band(method, far * 2000)
            within.append((low <= truth[row, 6:]) & (truth[row, 6:] <= high))
    assert (np.mean(within, axis=0) >= 0.88).all()  # 48 curves: 0.95 less two standard errors


def test_bands_widen_with_noise_distance_and_confidence() -> None:
    made = curves(power_curves(SIZES), noise=0.3)
    widths = []
    for times in (0.5, 1.0, 3.0):
        fits = fit_curves(replace(made, errors=times * made.errors), QUICK)
        low, middle, high = fits.band("m0", [2000.0, 4000.0, 8000.0])
        assert (np.diff(high - low) > 0).all()
        narrow_low, _, narrow_high = fits.band("m0", [2000.0, 4000.0, 8000.0], 0.5)
        assert ((low < narrow_low) & (narrow_low < middle) & (middle < narrow_high) & (narrow_high < high)).all()
        widths.append(float(high[0] - low[0]))
    assert widths[0] < widths[1] < widths[2]


def test_noise_of_shared_items_leaves_differences_alone() -> None:
    plain = curves(power_curves(SIZES), noise=0.2)
    items = 2.0 * np.random.default_rng(4).standard_normal((500, 1, 1)) * np.ones((1, 3, 6))
    alone, shared = fit_curves(plain, QUICK), fit_curves(replace(plain, errors=plain.errors + items), QUICK)

    def spread(fits: fit.Fits) -> tuple[float, float]:
        first, second = fits.predict("m0", 2000.0), fits.predict("m1", 2000.0)
        return float(first.std()), float((first - second).std())

    (one, difference), (wide, same) = spread(alone), spread(shared)
    assert wide == pytest.approx(np.hypot(one, 2.0), rel=0.2)
    assert same < 0.25 * np.hypot(2.0, 2.0)  # which independent noise would make it
    assert difference < 1.2 * same


def test_units_do_not_matter() -> None:
    made = curves(power_curves(SIZES))
    fits = fit_curves(made, QUICK)
    thousand = fit_curves(replace(made, sizes=SIZES / 1000), QUICK)
    share = fit_curves(replace(made, scores=made.scores / 100, errors=made.errors / 100), replace(QUICK, ceiling=1.0))
    for method in made.methods:
        low, middle, high = fits.band(method, [500.0, 2000.0, 8000.0])
        assert np.allclose(thousand.band(method, [0.5, 2.0, 8.0]), (low, middle, high), atol=0.05)
        assert np.allclose(100 * np.array(share.band(method, [500.0, 2000.0, 8000.0])), (low, middle, high), atol=0.05)


def test_a_seed_decides_everything() -> None:
    made = curves(power_curves(SIZES))
    one, again, other = (fit_curves(made, replace(QUICK, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.draws, again.draws)
    assert not np.array_equal(one.draws, other.draws)


def test_methods_with_too_few_sizes_or_a_score_that_never_moves_are_refused_by_name() -> None:
    made = curves(power_curves(SIZES))
    scores = made.scores.copy()
    scores[1, LEAST_SIZES - 1 :] = np.nan
    scores[2] = 7.0
    fits = fit_curves(replace(made, scores=scores), QUICK)
    assert fits.methods == ("m0",)
    assert fits.refused == {
        "m1": f"{LEAST_SIZES - 1} sizes; a learning curve needs {LEAST_SIZES}",
        "m2": "its score is the same at every size; what never moves has no learning curve",
    }
    with pytest.raises(ValueError, match="m1 has no fit: 3 sizes"):
        fits.predict("m1", 2000.0)
    scores[0, 2:] = np.nan
    with pytest.raises(NoCurve, match="m0: 2 sizes; a learning curve needs 4; m1: 3 sizes"):
        fit_curves(replace(made, scores=scores), QUICK)


def test_sizes_may_differ_between_methods() -> None:
    made = curves(power_curves(SIZES))
    scores = made.scores.copy()
    scores[0, -1] = scores[2, 1] = np.nan
    fits = fit_curves(replace(made, scores=scores), QUICK)
    assert fits.largest.tolist() == [1120, 2000, 2000]
    assert fits.sizes[-1] == pytest.approx(8000)
    assert {1120.0, 4480.0, 8000.0} <= {float(np.round(size, 6)) for size in fits.sizes}


def test_nothing_is_said_beyond_four_times_the_largest_size() -> None:
    fits = fit_curves(curves(power_curves(SIZES)), QUICK)
    for size in (8001.0, 99.0):
        with pytest.raises(ValueError, match="drawn from 100 to 8000"):
            fits.band("m0", [size])


@given(st.lists(st.lists(st.integers(0, 100), min_size=6, max_size=6), min_size=1, max_size=3), st.booleans())
@examples(12)
def test_any_scores_have_a_finite_band(rows: list[list[int]], exact: bool) -> None:
    scores = np.array(rows, dtype=np.float64)
    errors = np.random.default_rng(1).standard_normal((100, *scores.shape)) * (not exact)
    names = tuple(f"m{index}" for index in range(len(rows)))
    try:
        fits = fit_curves(Curves(names, SIZES, scores, errors), Extrapolation(draws=100))
    except NoCurve:
        assert (np.ptp(scores, axis=1) == 0).all()
        return
    assert np.isfinite(fits.draws).all()
    for method in fits.methods:
        low, _, high = fits.band(method, fits.sizes)
        assert ((low >= 0) & (high <= 100)).all()


def a_design(seeds: tuple[int, ...] = (1, 2, 3), groups: int = 40) -> Design:
    """Two methods at six sizes, 200 items, their difficulty shared by all."""
    generator = np.random.default_rng(6)
    difficulty = generator.gamma(2.0, 10.0, 200)
    cells = []
    for method in ("a", "b"):
        for size in SIZES:
            quality = 5 * np.log(size) + generator.standard_normal(len(seeds))
            scores = quality[:, None] + difficulty + generator.standard_normal((len(seeds), 200))
            cells.append(Replicates(method, int(size), seeds, scores))
    cells.append(Replicates("lead", None, (), difficulty[None]))
    return Design(cells, [str(item % groups) for item in range(200)], 2000)


def test_measured_cells_carry_the_noise_of_seeds_and_items() -> None:
    design = a_design()
    made = measured(design, ["a", "b"], 1)
    assert made.methods == ("a", "b")
    assert made.sizes.tolist() == SIZES.tolist()
    assert made.scores[1, 2] == design.means[design.place(("b", 360))]
    covariance = design.items_covariance + design.seeds_covariance
    place = design.place(("a", 100))
    assert made.errors[:, 0, 0].std() == pytest.approx(np.sqrt(covariance[place, place]), rel=0.15)
    assert np.corrcoef(made.errors[:, 0, 0], made.errors[:, 1, 5])[0, 1] > 0.4  # the same groups drawn for both
    assert measured(design, ["b"], 1).methods == ("b",)


def test_one_seed_or_too_few_groups_have_no_curve() -> None:
    with pytest.raises(NoCurve, match="no method has two seeds"):
        measured(a_design(seeds=(1,)), ["a", "b"], 1)
    with pytest.raises(NoCurve, match="no method has two seeds"):
        measured(a_design(), ["lead"], 1)
    with pytest.raises(NoCurve, match="come from 5 groups"):
        measured(a_design(groups=5), ["a", "b"], 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": SIZES[::-1]}, "give them growing"),
        ({"scores": np.zeros((3, 5))}, "scores of shape"),
        ({"methods": ("m0", "m0", "m1")}, "one curve"),
        ({"errors": np.zeros((99, 3, 6))}, "at least 100 draws"),
        ({"errors": np.full((100, 3, 6), np.nan)}, "finite ones"),
        ({"errors": np.zeros((100, 3, 5))}, "errors of shape"),
    ],
)
def test_curves_that_cannot_be_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(curves(power_curves(SIZES)), **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="m2 has a score outside 0 to 30"):
        fit_curves(curves(power_curves(SIZES)), replace(QUICK, ceiling=30.0))
