import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.decomposition import decompose, layout


def test_the_test_of_no_draw_is_one_way_analysis_of_variance() -> None:
    scores = np.random.default_rng(1).normal(size=(3, 3)) + np.array([[0], [1], [2]])
    found, reference = decompose(scores), stats.f_oneway(*scores)
    assert found.p == pytest.approx(reference.pvalue)
    assert found.training == pytest.approx(scores.var(axis=1, ddof=1).mean())
    assert (found.draws, found.trainings) == (3, 3)


def test_intervals_hold_the_truth() -> None:
    generator, held = np.random.default_rng(2), []
    for _ in range(2000):
        scores = 1.5 * generator.normal(size=(3, 1)) + generator.normal(size=(3, 3))
        found = decompose(scores)
        held.append(
            [
                low <= true <= high
                for (low, high), true in (
                    (found.draw_interval, 2.25),
                    (found.training_interval, 1.0),
                    (found.share_interval, 2.25 / 3.25),
                )
            ]
        )
    draw, training, share = np.mean(held, axis=0)
    assert training == pytest.approx(0.95, abs=0.02)
    assert share == pytest.approx(0.95, abs=0.02)
    assert draw >= 0.93  # Williams and Tukey's is conservative


def test_estimates_are_unbiased_but_for_the_bound_at_zero() -> None:
    generator = np.random.default_rng(3)
    found = [decompose(3 * generator.normal(size=(5, 1)) + generator.normal(size=(5, 4))) for _ in range(2000)]
    assert np.mean([one.draw for one in found]) == pytest.approx(9, rel=0.08)
    assert np.mean([one.training for one in found]) == pytest.approx(1, rel=0.05)


def test_no_draw_effect_gives_shares_from_zero() -> None:
    found = decompose(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]]))
    assert found.draw == 0
    assert found.share == 0
    assert found.share_interval[0] == 0
    assert found.p == pytest.approx(1)


def test_a_layout_is_by_draw_and_seed_and_says_what_it_lacks() -> None:
    scores = {(draw, seed): 10.0 * draw + seed for draw in (2, 1) for seed in (3, 5, 4)}
    assert layout(scores).tolist() == [[13, 14, 15], [23, 24, 25]]
    del scores[1, 5], scores[2, 3]
    with pytest.raises(ValueError, match="lacks draw 1 with seed 5, draw 2 with seed 3"):
        layout(scores)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((1, 3)), "two draws"),
        (np.ones((3, 1)), "two trainings"),
        (np.full((3, 3), np.nan), "finite"),
        (np.arange(3.0)[:, None] * np.ones(3), "all have the same score"),
    ],
)
def test_what_cannot_be_decomposed_is_refused(scores, message) -> None:
    with pytest.raises(ValueError, match=message):
        decompose(scores)
