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
