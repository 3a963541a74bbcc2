import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sumcurve.curves.verdict import Kind, Verdict

SPEC = importlib.util.spec_from_file_location("lcdb_benchmark", Path(__file__).parents[3] / "benchmarks" / "lcdb.py")
assert SPEC is not None
assert SPEC.loader is not None
lcdb = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = lcdb  # dataclasses look their module up
SPEC.loader.exec_module(lcdb)


def test_a_data_set_belongs_to_one_half_whatever_its_curves_say() -> None:
    """The rule by which the halves were made before anything was looked at; it must never change."""
    for openml_id in range(2000):
        first_bit = bin(int(hashlib.sha256(f"lcdb {openml_id}".encode()).hexdigest(), 16))[2:].zfill(256)[0]
        assert lcdb.half(openml_id) == {"0": "first", "1": "second"}[first_bit]


def test_no_seed_is_both_seen_and_held_out() -> None:
    sizes = [2**power for power in range(4, 12)]
    data_set = next(number for number in range(100) if lcdb.half(number) == "first")
    rows = [
        (data_set, learner, size, seed // 5, seed % 5, (100 * place + seed) / 1000)
        for place, learner in enumerate(("knn", "tree"))
        for size in sizes
        for seed in range(25)
    ]
    columns = ["openmlid", "learner", "size_train", "outer_seed", "inner_seed", "score_test"]
    table = pd.DataFrame(rows, columns=columns)
    found = list(lcdb.studies(table, "first"))
    assert len(found) == lcdb.STUDIES
    assert list(lcdb.studies(table, "second")) == []
    for one in found:
        assert one.sizes.tolist() == sizes[:6]
        assert (one.seen.shape, one.held.shape) == ((2, 6, 3), (2, 3, 22))
        seeds = [np.unique(np.round(10 * part[0])).tolist() for part in (one.seen, one.held)]
        assert sorted(seeds[0] + seeds[1]) == list(range(25))
        assert len({seed // 5 for seed in seeds[0]}) == 3  # of three test sets


def test_published_means_are_seen_up_to_d_and_true_from_there_on() -> None:
    sizes = [2**power for power in range(4, 12)]
    rows = [
        (3, learner, size, 0.5 - 0.01 * place - size / 10_000, 0.001 * (place + 1))
        for place, learner in enumerate(("knn", "tree"))
        for size in [*sizes, 3000]  # no power of 2
    ]
    columns = ["openml_id", "learner", "anchor", "test_error_mean", "test_error_stderr"]
    found = list(lcdb.published(pd.DataFrame(rows, columns=columns)))
    assert len(found) == lcdb.STUDIES
    for one in found:
        assert one.sizes.tolist() == sizes[:6]
        assert np.allclose(one.means, [50 + place + np.array(sizes[:6]) / 100 for place in (0, 1)])
        assert np.allclose(one.truth, [50 + place + np.array(sizes[5:]) / 100 for place in (0, 1)])
        assert np.allclose(one.apart[0, 1], 0.1 * 5**0.5)
        assert np.allclose([one.apart[0, 0], one.apart[1, 1]], [[0.1] * 3, [0.2] * 3])
        assert np.allclose(one.errors.std(axis=0), [[0.1], [0.2]], rtol=0.1)


@pytest.mark.parametrize(
    ("kind", "between", "lead", "true"),
    [
        ("ahead throughout", None, (1, 1, 1), True),
        ("ahead throughout", None, (1, 1, -1), False),
        ("ahead now", None, (1, -1, -1), True),
        ("overtaken", (10.0, 20.0), (1, -1, 1), True),
        ("overtaken", (20.0, 40.0), (1, -1, -1), False),  # it was overtaken earlier than claimed
        ("overtaken", None, (-1, -1, -1), True),  # nothing is claimed of today
    ],
)
def test_a_claim_is_borne_out_at_the_sizes_it_is_of(
    kind: Kind, between: tuple[float, float] | None, lead: tuple[float, float, float], true: bool
) -> None:
    claim = Verdict(kind, "a", "b", 10.0, 40.0, 0.9, 0.95, (0, 0, 0), (0.5, 0.5, 0.5), between)
    assert lcdb.borne_out(claim, dict(zip((10.0, 20.0, 40.0), lead, strict=True))) == true


def test_isotonic_regression_finds_chances_that_are_too_cautious() -> None:
    """A chance of 0.3 that is borne out nine times in ten is called after it, on data sets that it has not seen."""
    data_sets = np.repeat(np.arange(20), 20)
    chance = np.where(np.arange(400) % 20 < 10, 0.3, 0.1)[:, None]
    behind = (np.arange(400) % 20 < 9)[:, None]
    called, true = lcdb.called_at(0.8, chance, behind)
    assert (called.sum(), true.sum()) == (0, 0)
    found = lcdb.recalibrated(chance, behind, data_sets)
    np.testing.assert_allclose(found, np.where(chance > 0.2, 0.9, 0.0))
    hindsight, share, right = lcdb.ceiling(chance, behind, behind[:, 0], data_sets, "all")
    assert (hindsight["value"], share["value"], right["value"]) == (1.0, 1.0, 0.9)


def test_chances_that_say_nothing_cannot_be_recalibrated_to_calls() -> None:
    generator = np.random.default_rng(0)
    chance, behind = generator.random((2000, 2)), generator.random((2000, 2)) < 0.2
    found = lcdb.recalibrated(chance, behind, np.arange(2000) // 20)
    np.testing.assert_allclose(np.median(found), 0.2, atol=0.05)
    assert lcdb.called_at(0.8, found, behind)[0].mean() < 0.01


def test_a_network_sees_every_pair_with_the_better_at_d_first() -> None:
    sizes = [2**power for power in range(4, 13)]  # d is 512 or 1,024
    rows = [
        (3, learner, size, 0.5 - 0.01 * place - size / 10_000, 0.001 * (place + 1))
        for place, learner in enumerate(("knn", "svm", "tree"))
        for size in sizes
    ]
    table = pd.DataFrame(rows, columns=["openml_id", "learner", "anchor", "test_error_mean", "test_error_stderr"])
    scores, errors, data_sets = lcdb.every_pair(table)
    assert (scores.shape, errors.shape, data_sets.tolist()) == ((6, 2, 8), (6, 2, 8), [3] * 6)
    assert (scores[:, 0] > scores[:, 1]).all()
    assert (errors[:, 0] > errors[:, 1]).all()  # goes with its learner
