from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sumcurve.curves import fit
from sumcurve.curves.fit import (
    FAMILIES,
    Curves,
    Extrapolation,
    Judgement,
    TooFewSizes,
    drift,
    drift_covariance,
    fit_curves,
    judge,
    measured,
)
from sumcurve.curves.variance import Cell, seed_variance
from sumcurve.settings import Bootstrap

SIZES = np.array([100.0, 200.0, 360.0, 640.0, 1120.0, 2000.0])
QUICK = Extrapolation(draws=400)
Array = NDArray[np.float64]


def curves(truth: Array, sizes: Array = SIZES, noise: float = 0.5, seed: int = 0, dof: float = 60.0) -> Curves:
    """Scores `truth` ``[methods, sizes]`` with independent noise of the standard error given."""
    scores = truth + noise * np.random.default_rng(seed).standard_normal(truth.shape)
    names = tuple(f"m{index}" for index in range(len(truth)))
    return Curves(names, sizes, scores, np.full(truth.shape, noise), dof)


def power_curves(sizes: Array, exponent: float = 0.45) -> Array:
    """Three methods a - b·d^(-c) with one exponent."""
    tops, drops = np.array([[30.0], [27.0], [35.0]]), np.array([[60.0], [40.0], [90.0]])
    return tops - drops * sizes**-exponent


def test_drift_is_the_integral_of_a_random_walk() -> None:
    distances = np.array([-1.5, -0.4, 0.0, 0.7, 2.0])
    # Independent: r(h) = ∫ (|h| - u) dW(u), so the covariance is ∫ (|h| - u)(|k| - u) du up to the nearer.
    grid = np.linspace(0, 2, 20_001)
    weights = np.maximum(np.abs(distances)[:, None] - grid, 0)
    expected = np.trapezoid(weights[:, None] * weights, grid) * (distances[:, None] * distances > 0)
    assert np.allclose(drift_covariance(distances, distances), expected, atol=1e-6)

    drawn = drift(distances, 40_000, np.random.default_rng(1))
    assert np.allclose(np.cov(drawn, rowvar=False), expected, atol=0.06)
    assert (drawn[:, 2] == 0).all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_predictions_are_those_of_a_gaussian_process_with_free_ends(family: fit._Family) -> None:
    """Against plain conditioning of a joint normal distribution whose two parameters have a huge prior variance."""
    made = replace(curves(power_curves(SIZES)), errors=0.2 * np.random.default_rng(2).standard_normal((50, 3, 6)))
    data = fit._data(made, [0, 1, 2], QUICK)
    at = np.log([150.0, 2000.0, 5000.0])
    candidates, solutions = fit._weighed(family, data, [at] * 3)
    picked = np.random.default_rng(3).choice(len(candidates.scales), 4, replace=False)
    references = []
    for index in picked:
        shape = candidates.shapes[index : index + 1]
        x, y = data.x[1], data.y[1]
        z, slopes = (rows[0] for rows in family.transformed(shape, y, 100.0))
        everywhere = np.concatenate([x, at])
        basis = family.basis(shape, everywhere)[0]
        ends = np.stack([np.ones(9), (basis - basis[5]) / (basis[5] - basis[0])])
        rate = candidates.rates[index] * slopes[-1]
        free = 1e6 * z @ z
        prior = free * ends.T @ ends + rate**2 * drift_covariance(everywhere - x[-1], everywhere - x[-1])
        noise = candidates.scales[index] ** 2 * np.diag(data.seeds[1]) + data.items[1]
        observed = prior[:6, :6] + noise * np.outer(slopes, slopes)
        gain = np.linalg.solve(observed, prior[:6, 6:]).T
        solution = solutions[1]
        assert np.allclose(solution.gain[index] @ z, gain @ z, atol=1e-4 * np.ptp(z))
        assert np.allclose(solution.variance[index], np.diag(prior[6:, 6:] - gain @ prior[:6, 6:]), rtol=1e-3)
        jacobian = np.log(slopes).sum() - np.log(slopes[[0, -1]]).sum()
        likelihood = jacobian - 0.5 * np.linalg.slogdet(observed)[1] - 0.5 * z @ np.linalg.solve(observed, z)
        references.append(likelihood + np.log(free) - solution.log_likelihood[index])
    assert np.ptp(references) < 2e-3  # equal but for a constant


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_draws_spread_as_predictions_err(family: fit._Family) -> None:
    """Under one shape, departure and noise: mean and variance of drawn curves are those of the prediction."""
    items = 0.3 * np.random.default_rng(2).standard_normal((4000, 3, 6))
    made = replace(curves(power_curves(SIZES)), errors=items)
    data, at = fit._data(made, [0, 1, 2], QUICK), np.log([300.0, 2000.0, 5000.0])
    candidates, _ = fit._weighed(family, data, [at] * 3)
    widest = np.argsort(-candidates.rates, kind="stable")
    for index in (widest[0], widest[-1], int(np.argmax(candidates.log_weights))):
        one = replace(candidates.take(np.array([index])), log_weights=np.zeros(1))
        drawn = fit._drawn(made, [0, 1, 2], data, one, at, 6000, np.random.default_rng(7))
        for method in range(3):
            solution = fit._solve(data, method, one, at)
            z = solution.gain[0] @ solution.z[0]
            # The link undone: on its own scale a draw is normal.
            found = np.stack([family.transformed(one.shapes, row, 1e-9)[0][0] for row in drawn[:, method]])
            assert np.allclose(found.mean(axis=0), z, atol=4 * np.sqrt(solution.variance[0] / 6000))
            assert np.allclose(found.var(axis=0), solution.variance[0], rtol=0.1)


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("log-linear", lambda d: np.stack([3 * np.log(d), 1 + 2 * np.log(d), 9 + np.log(d)])),
        ("power", lambda d: np.stack([2 * d**0.3, 5 * d**0.15, 1.5 * d**0.4])),
        ("power, shared exponent", lambda d: power_curves(d, 0.3)),
        ("power, shared ceiling", lambda d: 100 - np.stack([180 * d**-0.15, 140 * d**-0.1, 240 * d**-0.2])),
    ],
)
def test_curves_of_a_family_without_noise_are_continued(name: str, truth: object) -> None:
    made = curves(truth(SIZES), noise=1e-3)  # type: ignore[operator]
    fits = fit_curves(made, QUICK)
    assert fits.families[0].name == name
    assert fits.families[0].weight > 0.5
    for row, method in enumerate(fits.methods):
        low, middle, high = fits.band(method, [2000.0, 8000.0])
        true = truth(np.array([2000.0, 8000.0]))[row]  # type: ignore[operator]
        assert np.allclose(middle, true, atol=0.15)
        assert (high - low < 0.05 * true).all()

        found = fits.fits[row]
        sign = -1 if "C" in found.shared else 1
        assert found.method == method
        basis = (
            found.parameters["b"]
            * {
                "log-linear": np.log(SIZES),
                "power": np.log(SIZES),
                "power, shared exponent": SIZES ** -found.shared.get("c", 1.0),
                "power, shared ceiling": np.log(SIZES),
            }[name]
        )
        a = found.parameters["a"]
        values = a + basis if "b·" in found.formula else found.shared.get("C", 0.0) + a * np.exp(basis) * sign
        assert np.allclose(values, made.scores[row], atol=0.02)


def test_no_held_back_score_is_seen_before_it_is_predicted() -> None:
    made = curves(power_curves(SIZES))
    changed = made.scores.copy()
    changed[:, -1] += [3.0, -2.0, 5.0]
    before, after = judge(made, QUICK), judge(replace(made, scores=changed), QUICK)
    assert np.array_equal(before.means, after.means)
    assert not np.allclose(before.log_scores, after.log_scores)
    changed[:, -2] -= 4.0
    again = judge(replace(made, scores=changed), QUICK)
    assert np.array_equal(before.means[..., 1:], again.means[..., 1:])
    assert not np.allclose(before.means[..., 0], again.means[..., 0])


def test_log_scores_are_the_densities_of_the_predicted_probabilities() -> None:
    made = curves(power_curves(SIZES))
    below, above = made.scores.copy(), made.scores.copy()
    below[:, -1] -= 1e-3
    above[:, -1] += 1e-3
    quantiles = [judge(replace(made, scores=scores), QUICK).quantiles for scores in (below, above)]
    expected = (quantiles[1] - quantiles[0]) / 2e-3
    assert np.allclose(np.exp(judge(made, QUICK).log_scores)[..., [0, 2]], expected[..., [0, 2]], rtol=1e-3, atol=1e-6)


def test_what_items_add_to_all_sizes_alike_makes_no_prediction_worse() -> None:
    made = curves(power_curves(SIZES))
    items = 1.0 * np.random.default_rng(4).standard_normal((100, 3, 1)) * np.ones((1, 1, 6))
    alone, shared = judge(made, QUICK), judge(replace(made, errors=items), QUICK)
    linear = [index for index, family in enumerate(FAMILIES) if family.link == "identity"]
    assert np.allclose(alone.log_scores[linear], shared.log_scores[linear], atol=1e-3)


def test_families_are_scored_by_their_predictions() -> None:
    made = curves(power_curves(SIZES))
    judgement, fits = judge(made, QUICK), fit_curves(made, QUICK)
    by_name = {score.name: score for score in fits.families}
    assert sum(score.weight for score in fits.families) == pytest.approx(1)
    assert [score.weight for score in fits.families] == sorted((s.weight for s in fits.families), reverse=True)
    for index, family in enumerate(FAMILIES):
        errors = judgement.means[index] - judgement.observed[index]
        expected = (np.sqrt(np.mean(errors[:, 0] ** 2)), np.sqrt(np.mean(errors[:, 1:] ** 2)))
        assert by_name[family.name].rmse == pytest.approx(expected)
    assert np.array_equal(judgement.observed[0], made.scores[:, [5, 4, 5]])
    assert fits.average.log_score[0] >= min(score.log_score[0] for score in fits.families)


def test_weights_follow_the_evidence() -> None:
    def weights(advantage: float, number: int) -> Array:
        scores = np.zeros((2, number, 3))
        scores[1] += advantage
        return Judgement(scores, scores, scores, scores).weights(1)

    assert weights(0.0, 10) == pytest.approx([0.5, 0.5])
    assert weights(0.1, 2)[1] < 0.6
    assert weights(0.1, 100)[1] > 0.99

    scores = np.random.default_rng(0).standard_normal((2, 4, 3))
    one = Judgement(scores, scores, scores, scores)
    assert (one + one).log_scores.shape == (2, 8, 3)


def test_one_odd_curve_does_not_decide() -> None:
    scores = np.zeros((2, 10, 3))
    scores[1] += 0.5
    scores[0, 0] += 6.0  # by sums, the first family leads
    assert scores.mean(axis=2).sum(axis=1)[0] > scores.mean(axis=2).sum(axis=1)[1]
    assert Judgement(scores, scores, scores, scores).weights(1)[1] > 0.2


def test_bands_hold_curves_of_other_kinds() -> None:
    """Exponents, half-way sizes and offsets of their own; measured at six sizes, held up to four times the largest."""
    generator = np.random.default_rng(5)
    far = np.array([1.0, 2.0, 4.0])
    within, relative = [], SIZES / SIZES[-1]
    for number in range(12):
        own = generator.uniform(0.15, 1.2, 4)
        offset, half = generator.uniform(0.02, 0.3, 4), np.exp(generator.uniform(-3, 0.7, 4))
        tops, rises = generator.normal(25, 1.5, 4), generator.uniform(4, 18, 4)

        def truth(
            d: Array,
            number: int = number,
            own: Array = own,
            offset: Array = offset,
            half: Array = half,
            tops: Array = tops,
            rises: Array = rises,
        ) -> Array:
            def course(d: Array) -> Array:
                d = d[:, None]
                return [-(d**-own), -((d + offset) ** (-2 * own)), 1 / (1 + (d / half) ** -(own + 0.4))][number % 3]

            first, last = course(np.array([relative[0], 1.0]))
            return (tops + rises * (course(d) - last) / (last - first)).T

        made = curves(truth(relative), noise=0.4, seed=100 + number, dof=48)
        fits = fit_curves(made, QUICK)
        for row, method in enumerate(fits.methods):
            low, _, high = fits.band(method, far * 2000)
            true = truth(far)[row]
            within.append((low <= true) & (true <= high))
    assert (np.mean(within, axis=0) >= 0.88).all()  # 48 curves: 0.95 less two standard errors


def test_without_a_word_on_departures_bands_would_be_too_narrow() -> None:
    """Curves with exponents of their own leave what shared exponents predict; only r knows."""
    own = np.array([[0.1], [0.5], [1.2], [1.5]])
    truth = 30 - 20 * (SIZES / 100) ** -own
    fits = fit_curves(curves(truth, noise=0.05), QUICK)
    for row, method in enumerate(fits.methods):
        low, _, high = fits.band(method, [8000.0])
        assert low[0] <= 30 - 20 * 80 ** -own[row, 0] <= high[0]


def test_noise_widens_bands_as_far_as_it_is_believed() -> None:
    truth = power_curves(SIZES)

    def width(noise: float, dof: float) -> float:
        made = replace(curves(truth, noise=0.3), standard_errors=np.full(truth.shape, noise), dof=dof)
        low, _, high = fit_curves(made, QUICK).band("m0", [2000.0], 0.99)
        return float(high[0] - low[0])

    assert width(0.2, 60) < width(0.5, 60) < width(1.5, 60)
    assert width(1.5, 2) < 0.7 * width(1.5, np.inf)  # the points scatter by 0.3, which two degrees may learn


def test_bands_widen_with_distance_and_confidence() -> None:
    fits = fit_curves(curves(power_curves(SIZES)), QUICK)
    low, middle, high = fits.band("m1", [2000.0, 4000.0, 8000.0])
    assert (np.diff(high - low) > 0).all()
    assert ((low < middle) & (middle < high)).all()
    narrow_low, _, narrow_high = fits.band("m1", [2000.0, 4000.0, 8000.0], 0.5)
    assert ((low < narrow_low) & (narrow_high < high)).all()
    assert ((fits.draws >= 0) & (fits.draws <= 100)).all()


def test_noise_of_shared_items_leaves_differences_alone() -> None:
    truth = power_curves(SIZES)
    plain = curves(truth, noise=0.2)
    items = 2.0 * np.random.default_rng(4).standard_normal((1000, 1, 1)) * np.ones((1, *truth.shape))
    alone, shared = fit_curves(plain, QUICK), fit_curves(replace(plain, errors=items), QUICK)

    def spread(fits: fit.Fits) -> tuple[float, float]:
        first, second = fits.predict("m0", 2000.0), fits.predict("m1", 2000.0)
        return float(first.std()), float((first - second).std())

    (one, difference), (wide, same) = spread(alone), spread(shared)
    assert wide == pytest.approx(np.hypot(one, 2.0), rel=0.2)
    assert same < 0.2 * np.hypot(2.0, 2.0)  # which independent noise would make it
    assert difference < same  # a little of it stays: a common shift is not the same shift to families with a ceiling


def test_noise_of_one_seed_is_found_in_the_scatter() -> None:
    truth = power_curves(SIZES)
    widths = []
    for noise in (0.1, 1.0):
        made = replace(curves(truth, noise=noise), standard_errors=None, dof=None)
        fits = fit_curves(made, QUICK)
        assert not fits.noise_known
        low, _, high = fits.band("m0", [2000.0])
        widths.append(high[0] - low[0])
    assert widths[1] > 3 * widths[0]


def test_units_do_not_matter() -> None:
    made = curves(power_curves(SIZES))
    fits = fit_curves(made, QUICK)
    thousand = fit_curves(replace(made, sizes=SIZES / 1000), QUICK)
    share = fit_curves(
        replace(made, scores=made.scores / 100, standard_errors=made.standard_errors / 100),  # type: ignore[operator]
        replace(QUICK, ceiling=1.0),
    )
    for method in made.methods:
        low, middle, high = fits.band(method, [500.0, 2000.0, 8000.0])
        assert np.allclose(thousand.band(method, [0.5, 2.0, 8.0]), (low, middle, high), atol=0.05)
        assert np.allclose(100 * np.array(share.band(method, [500.0, 2000.0, 8000.0])), (low, middle, high), atol=0.05)


def test_a_seed_decides_everything() -> None:
    made = curves(power_curves(SIZES))
    one, again, other = (fit_curves(made, replace(QUICK, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.draws, again.draws)
    assert not np.array_equal(one.draws, other.draws)


def test_methods_without_six_sizes_are_refused_by_name() -> None:
    made = curves(power_curves(SIZES))
    scores = made.scores.copy()
    scores[1, 0] = np.nan
    fits = fit_curves(replace(made, scores=scores), QUICK)
    assert fits.methods == ("m0", "m2")
    assert fits.refused == {"m1": "5 sizes; a learning curve needs 6"}
    with pytest.raises(ValueError, match="m1 has no fit: 5 sizes"):
        fits.predict("m1", 2000.0)
    scores[:, 3] = np.nan
    with pytest.raises(TooFewSizes, match="m0: 5 sizes"):
        fit_curves(replace(made, scores=scores), QUICK)


def test_a_method_may_lack_sizes_of_others() -> None:
    sizes = np.append(SIZES, 3500.0)
    truth = power_curves(sizes)
    made = curves(truth, sizes, noise=0.05)
    scores, errors = made.scores.copy(), np.asarray(made.standard_errors).copy()
    scores[0, -1] = errors[0, -1] = np.nan
    scores[1, 2] = errors[1, 2] = np.nan
    fits = fit_curves(replace(made, scores=scores, standard_errors=errors), QUICK)
    assert fits.largest.tolist() == pytest.approx([2000, 3500, 3500])
    for row, method in enumerate(fits.methods):
        low, _, high = fits.band(method, sizes)
        assert np.allclose((low + high) / 2, truth[row], atol=0.4)
    low, _, high = fits.band("m0", [3500.0])
    assert low[0] < truth[0, -1] < high[0]


def test_nothing_beyond_four_times_the_largest_size() -> None:
    with pytest.raises(ValueError, match="no more than 4 times"):
        Extrapolation(reach=5)
    fits = fit_curves(curves(power_curves(SIZES)), replace(QUICK, reach=2.0))
    assert fits.sizes[-1] == pytest.approx(4000)
    with pytest.raises(ValueError, match="drawn from 100 to 4000"):
        fits.band("m0", [4001.0])
    with pytest.raises(ValueError, match="drawn from 100"):
        fits.band("m0", [99.0])


@given(st.lists(st.lists(st.integers(0, 100), min_size=6, max_size=6), min_size=1, max_size=3), st.booleans())
@run_settings(max_examples=8, deadline=None)
def test_any_scores_have_a_finite_band(rows: list[list[int]], one_seed: bool) -> None:
    scores = np.array(rows, dtype=np.float64)
    errors = None if one_seed else np.zeros_like(scores)
    names = tuple(f"m{index}" for index in range(len(rows)))
    fits = fit_curves(Curves(names, SIZES, scores, errors, None if one_seed else 3.0), Extrapolation(draws=100))
    assert np.isfinite(fits.draws).all()
    assert ((fits.draws >= 0) & (fits.draws <= 100)).all()


def test_measured_cells_carry_the_noise_of_seeds_and_items() -> None:
    generator = np.random.default_rng(6)
    difficulty = generator.gamma(2.0, 10.0, 200)
    cells = []
    for method in ("a", "b"):
        for size in SIZES:
            quality = 5 * np.log(size) + generator.standard_normal(3)
            scores = quality[:, None] + difficulty + generator.standard_normal((3, 200))
            cells.append(Cell(method, float(size), (1, 2, 3), scores))
    settings = Bootstrap(resamples=100, seed=1)
    variance = seed_variance(cells, settings)
    assert variance is not None
    made = measured(cells, variance, settings)
    assert made.methods == ("a", "b")
    assert made.sizes.tolist() == SIZES.tolist()
    assert made.scores[1, 2] == pytest.approx(cells[8].scores.mean())
    assert made.dof == 24
    assert np.allclose(np.asarray(made.standard_errors) ** 2 * 3, variance.variance - variance.interaction)
    errors = np.asarray(made.errors)
    assert errors[:, 0, 0].std() == pytest.approx(difficulty.std() / np.sqrt(200), rel=0.1)
    assert np.corrcoef(errors[:, 0, 0], errors[:, 1, 5])[0, 1] > 0.95  # the same items drawn for both
    assert fit_curves(made, QUICK).noise_known

    alone = measured([replace(cell, seeds=(1,), scores=cell.scores[:1]) for cell in cells], None, settings)
    assert alone.standard_errors is None
    assert alone.errors is not None
    with pytest.raises(ValueError, match="lead: a system without training"):
        measured([*cells, Cell("lead", 0, (), cells[0].scores[:1])], variance, settings)
    with pytest.raises(ValueError, match="two cells at one size"):
        measured([*cells, cells[0]], variance, settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": SIZES[::-1]}, "give them growing"),
        ({"scores": np.zeros((3, 5))}, "scores of shape"),
        ({"methods": ("m0", "m0", "m1")}, "one curve"),
        ({"dof": None}, "degrees of freedom, or neither"),
        ({"dof": 0.0}, "above 0"),
        ({"standard_errors": np.full((3, 6), -1.0)}, "at least 0"),
        ({"errors": np.zeros((9, 3, 5))}, "errors of shape"),
    ],
)
def test_curves_that_cannot_be_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(curves(power_curves(SIZES)), **change)  # type: ignore[arg-type]


def test_scores_above_the_ceiling_are_refused() -> None:
    with pytest.raises(ValueError, match="m2 has a score outside 0 to 30"):
        fit_curves(curves(power_curves(SIZES)), replace(QUICK, ceiling=30.0))
