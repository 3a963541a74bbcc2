import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd

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
