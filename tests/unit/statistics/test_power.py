import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import examples
from sumcurve.statistics.power import (
    Aim,
    Noise,
    Unreachable,
    family_critical,
    items_needed,
    paired_sd,
    pooled_sd,
    power,
    sd_of_differences,
    seeds_needed,
    variance,
    visible_effect,
)

REPEATS = 20_000
BINOMIAL = 4 * np.sqrt(0.25 / REPEATS)  # four standard errors of a simulated share


def share_found(noise: Noise, effect: float, items: int, seeds: int, level: float = 0.05) -> tuple[float, float]:
    """Simulated experiments: how often the t-test finds the effect with its sign, and how often at all."""
    generator = np.random.default_rng(7)
    shape = (REPEATS, 1)
    of_items = generator.normal(0, noise.sd_items / np.sqrt(items), shape)
    item_variance = noise.sd_items**2 * generator.chisquare(items - 1, shape) / (items - 1)
    first, second = (generator.normal(0, noise.sd_seed, (REPEATS, seeds)) for _ in range(2))
    difference = effect + of_items[:, 0] + first.mean(axis=1) - second.mean(axis=1)
    items_part = item_variance[:, 0] / items
    if noise.sd_seed:
        seeds_part = (first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / seeds
        parts = items_part**2 / (items - 1) + seeds_part**2 / (2 * (seeds - 1))
    else:
        seeds_part, parts = np.zeros(REPEATS), items_part**2 / (items - 1)
    total = items_part + seeds_part
    t = difference / np.sqrt(total)
    bound = stats.t.isf(level / 2, total**2 / parts)  # degrees of freedom estimated, as they would be
    return float((t > bound).mean()), float((np.abs(t) > bound).mean())


@pytest.mark.parametrize(("items", "effect"), [(200, 2.0), (12, 8.0), (1000, 1.0), (50, 0.5), (3, 20.0)])
def test_power_over_items_is_what_a_simulation_finds(items, effect) -> None:
    noise = Noise(10.0)
    expected = float(power(noise, Aim(effect), items))
    assert share_found(noise, effect, items, 1)[0] == pytest.approx(expected, abs=BINOMIAL)


@pytest.mark.parametrize(("items", "seeds", "effect"), [(1000, 5, 1.5), (10_000, 4, 1.5), (300, 10, 1.5)])
def test_power_with_seeds_is_what_a_simulation_finds(items, seeds, effect) -> None:
    noise = Noise(12.0, 0.6)
    expected = float(power(noise, Aim(effect), items, seeds))
    # Estimated degrees of freedom vary, for which the formula has none: two points beside the simulation's own error.
    assert share_found(noise, effect, items, seeds)[0] == pytest.approx(expected, abs=BINOMIAL + 0.02)
    assert 0.2 < expected < 0.98
    assert share_found(noise, 0.0, items, seeds)[1] == pytest.approx(0.05, abs=0.012)  # the test keeps its level


def test_the_numbers_needed_are_the_least_that_simulate_well() -> None:
    noise, aim = Noise(12.0, 0.5), Aim(1.5, power=0.8)
    items = items_needed(noise, aim, seeds=5)
    assert share_found(noise, aim.effect, items, 5)[0] == pytest.approx(0.8, abs=BINOMIAL + 0.02)
    seeds = seeds_needed(noise, aim, 2 * items)
    assert share_found(noise, aim.effect, 2 * items, seeds)[0] > 0.8 - BINOMIAL - 0.02
    assert seeds <= 5


def test_many_items_need_the_normal_approximations_number() -> None:
    aim = Aim(0.3, power=0.9, level=0.01)
    normal = (stats.norm.isf(0.005) + stats.norm.ppf(0.9)) ** 2 * (15 / 0.3) ** 2
    assert items_needed(Noise(15.0), aim) == pytest.approx(normal + stats.norm.isf(0.005) ** 2 / 2, abs=2)


@given(st.floats(1, 30), st.floats(0.05, 2), st.floats(0.5, 5), st.integers(2, 12), st.sampled_from([0.5, 0.8, 0.95]))
@examples(40)
def test_one_fewer_is_too_few(sd_items, sd_seed, effect, seeds, wanted) -> None:
    noise, aim = Noise(sd_items, sd_seed), Aim(effect, power=wanted)
    try:
        items = items_needed(noise, aim, seeds)
    except Unreachable as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert "seeds are the limit" in message
        assert float(power(noise, aim, 10**8, seeds)) < wanted
        more = int(message.split()[-1])
        assert more > seeds
        assert items_needed(noise, aim, more + 1) > 1
        with pytest.raises(Unreachable):
            items_needed(noise, aim, more - 1)
        return
    assert float(power(noise, aim, items, seeds)) >= wanted
    assert items == 2 or float(power(noise, aim, items - 1, seeds)) < wanted
    if float(power(Noise(sd_items), aim, items)) >= wanted:
        fewest = seeds_needed(noise, aim, items)
        assert fewest <= seeds
        assert float(power(noise, aim, items, fewest)) >= wanted
        assert fewest == 2 or float(power(noise, aim, items, fewest - 1)) < wanted


def test_what_no_number_can_show_is_said() -> None:
    noise = Noise(12.0, 1.0)
    with pytest.raises(Unreachable, match="not with any number of items: seeds are the limit"):
        items_needed(noise, Aim(1.0), seeds=3)
    with pytest.raises(Unreachable, match="not with any number of seeds: items are the limit"):
        seeds_needed(noise, Aim(1.0), items=200)
    with pytest.raises(Unreachable, match="1 seed says nothing"):
        items_needed(noise, Aim(1.0), seeds=1)
    assert float(power(noise, Aim(50.0), 1000, 1)) == 0
    assert seeds_needed(Noise(12.0), Aim(1.0), items=5000) == 1


def test_the_visible_effect_is_found_with_the_power_asked_for() -> None:
    noise = Noise(12.0, 0.4)
    effect = visible_effect(noise, Aim(power=0.9), 1500, 4)
    assert float(power(noise, Aim(effect), 1500, 4)) == pytest.approx(0.9, abs=1e-6)
    assert effect > visible_effect(noise, Aim(power=0.9), 1500, 8) > visible_effect(noise, Aim(power=0.9), 6000, 8)


def test_more_of_anything_lowers_the_variance_and_units_do_not_matter() -> None:
    noise = Noise(12.0, 0.4)
    assert variance(noise, 1000, 4) == pytest.approx(12**2 / 1000 + 2 * 0.4**2 / 4)
    assert items_needed(Noise(0.12, 0.004), Aim(0.01), 4) == items_needed(noise, Aim(1.0), 4)


def test_standard_deviations_are_those_of_the_observations() -> None:
    generator = np.random.default_rng(0)
    difficulty = generator.normal(30, 10, 5000)  # shared by both systems: it cancels
    first, second = (difficulty + generator.normal(0, 3, 5000) for _ in range(2))
    assert sd_of_differences(first, second) == pytest.approx(3 * np.sqrt(2), rel=0.05)
    assert sd_of_differences([4.0, 9.0], [3.0, 6.0]) == pytest.approx(np.sqrt(2))  # of 1 and 3
    groups = generator.normal(0, 0.5, (400, 3)) + np.arange(400)[:, None]  # systems differ, seeds by 0.5
    assert pooled_sd(list(groups)) == pytest.approx(0.5, rel=0.1)
    assert pooled_sd([[1.0, 3.0], [5.0]]) == pytest.approx(np.sqrt(2))  # a single seed adds nothing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Noise(0.0), "sd_items is 0"),
        (lambda: Noise(float("nan")), "sd_items is nan"),
        (lambda: Noise(1.0, -1.0), r"sd_seed is -1;"),
        (lambda: Aim(0.0), "effect is 0"),
        (lambda: Aim(power=0.01), "power is 0.01"),
        (lambda: Aim(level=1.5), "level is 1.5"),
        (lambda: power(Noise(1.0), Aim(), 0), "fewer than one"),
        (lambda: pooled_sd([[1.0], [2.0]]), "one seed says nothing"),
        (lambda: sd_of_differences([1.0, 2.0], [1.0]), "same two items or more"),
        (lambda: Noise(10.0, design_effect=0.0), "design_effect"),
        (lambda: Noise(10.0, systems=1), "systems"),
        (lambda: paired_sd([[1.0, 2.0, 4.0], [1.0, 3.0]]), r"systems of \[3, 2\] seeds"),
    ],
)
def test_senseless_questions_are_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.long
def test_the_critical_value_of_a_family_is_tukeys() -> None:
    for systems, degrees in ((3, 4.0), (3, 17.3), (5, 2.6), (13, 60.0)):
        expected = stats.studentized_range.isf(0.05, systems, degrees) / np.sqrt(2)
        assert family_critical(systems, 0.05, degrees) == pytest.approx(expected, rel=1e-3)


def test_power_in_a_family_is_what_a_simulation_finds() -> None:
    """Three systems of four paired seeds; one is ahead. All pairs are tested with the layout's residual."""
    noise, effect, generator = Noise(1e-6, 0.5, paired=True, systems=3), 1.5, np.random.default_rng(8)
    scores = generator.normal(0, 0.5, (REPEATS, 3, 4)) + generator.normal(0, 2, (REPEATS, 1, 4))
    residual = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=2, keepdims=True)
    residual += scores.mean(axis=(1, 2), keepdims=True)
    errors = np.sqrt((residual**2).sum(axis=(1, 2)) / 6 * 2 / 4)
    means = scores.mean(axis=2)
    critical = stats.studentized_range.isf(0.05, 3, 6) / np.sqrt(2)
    ahead = (means[:, 0] - means[:, 1] + effect) / errors
    assert float(power(noise, Aim(effect, family=True), 1000, 4)) == pytest.approx(
        (ahead > critical).mean(), abs=BINOMIAL
    )
    assert float(power(noise, Aim(effect), 1000, 4)) == pytest.approx(
        (ahead > stats.t.isf(0.025, 6)).mean(), abs=BINOMIAL
    )
    widest = np.ptp(means, axis=1) / errors
    assert (widest > critical).mean() == pytest.approx(0.05, abs=0.01)


def test_groups_of_items_count_for_fewer() -> None:
    alone, grouped = Noise(12.0), Noise(12.0, design_effect=2.0)
    assert float(power(grouped, Aim(1.0), 2000)) == pytest.approx(float(power(alone, Aim(1.0), 1000)))
    assert items_needed(grouped, Aim(1.0)) == pytest.approx(2 * items_needed(alone, Aim(1.0)), abs=2)


def test_the_residual_of_paired_seeds_is_that_of_their_differences() -> None:
    first, second = np.random.default_rng(9).normal(size=(2, 5))
    assert paired_sd([first, second]) == pytest.approx((first - second).std(ddof=1) / np.sqrt(2))
    assert paired_sd([first, second + 3]) == pytest.approx(paired_sd([first, second]))
