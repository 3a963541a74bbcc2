from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.curves.efficiency import Point, relative_cost_deficiency
from sumcurve.curves.stopping import (
    Cost,
    Validation,
    common,
    costs,
    fixed,
    largest_common,
    read_history,
    selected,
    within,
)
from sumcurve.statistics.errors import Undefined
from sumcurve.training.history import History, Row


def rows(phase: str, updates, rouge, start: Validation | None = None, per_update: float = 1.0) -> list[Validation]:
    """Validations of one phase after `updates` of it, 10 examples and `per_update` seconds each, 100 items an epoch."""
    best, found = -1.0, []
    for update, value in zip(updates, rouge, strict=True):
        found.append(
            Validation(
                phase=phase,
                update=update,
                updates=update + (start.updates if start else 0),
                examples=10 * update + (start.examples if start else 0),
                epoch=update / 10 + (start.epoch if start else 0),
                rouge=value,
                best=value > best,
                seconds=update * per_update + (start.seconds + 5 if start else 0),  # 5 s of preparation
            )
        )
        best = max(best, value)
    return found


LIKELIHOOD = rows("nll", (10, 20, 30, 40), (0.1, 0.297, 0.3, 0.2))
COVERAGE = rows("coverage", (0, 4, 8, 12), (0.25, 0.31, 0.3120, 0.29), start=LIKELIHOOD[2], per_update=2.0)
TWO = LIKELIHOOD + COVERAGE


def test_the_common_rule_costs_the_path_to_the_selected_checkpoint() -> None:
    assert selected(LIKELIHOOD).update == 30
    assert common(LIKELIHOOD) == Cost(30, 300, 30)
    assert common(TWO) == Cost(38, 380, 30 + 5 + 16)


def test_within_takes_the_first_validation_of_the_last_phase_that_is_near_enough() -> None:
    assert within(LIKELIHOOD, 0.01) == Cost(20, 200, 20)  # 0.297 is 99 % of 0.3
    assert within(LIKELIHOOD, 0.009) == common(LIKELIHOOD)
    assert within(TWO, 0.01) == Cost(34, 340, 30 + 5 + 8)  # 0.3 of the phase before is not looked at
    assert within(TWO, 0.5) == Cost(30, 300, 35)
    assert within(TWO, 0) == common(TWO)


def test_fixed_amounts_add_up_phases_and_count_rows_after_the_best() -> None:
    assert fixed(LIKELIHOOD, "updates", {"nll": 40}) == Cost(40, 400, 40)
    assert fixed(LIKELIHOOD, "updates", {"nll": 5}) == Cost(5, 50, 5)  # from nothing to the first validation
    assert fixed(LIKELIHOOD, "epochs", {"nll": 2.5}) == Cost(25, 250, 25)
    # 40 updates of the first phase, though the second began at the thirtieth; then 5 s and 6 updates of 2 s.
    assert fixed(TWO, "updates", {"nll": 40, "coverage": 6}) == Cost(46, 460, 40 + 5 + 12)
    assert fixed(TWO, "updates", {"nll": 30, "coverage": 8}) == common(TWO)
    assert fixed(TWO, "updates", {"nll": 30, "coverage": 0}) == Cost(30, 300, 35)


def test_cost_grows_linearly_between_neighbours() -> None:
    uneven = [replace(row, seconds=row.update**2) for row in LIKELIHOOD]
    for updates, seconds in ((20, 400), (24, 400 + 0.4 * 500), (30, 900), (37, 900 + 0.7 * 700)):
        assert fixed(uneven, "updates", {"nll": updates}).seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda: fixed(LIKELIHOOD, "updates", {"nll": 41}), Undefined, "phase 'nll' ended after 40 updates, before 41"),
        (
            lambda: fixed(TWO, "epochs", {"nll": 1, "coverage": 2}),
            Undefined,
            r"phase 'coverage' ended after 1.2 epochs, before 2",
        ),
        (lambda: fixed(TWO, "updates", {"nll": 1}), ValueError, "name each of its phases"),
        (lambda: fixed(LIKELIHOOD, "updates", {"nll": -1}), ValueError, "from 0"),
        (lambda: within(TWO, 1.0), ValueError, "from 0 to below 1"),
        (lambda: largest_common([TWO, LIKELIHOOD], "updates"), ValueError, "other phases"),
        (lambda: common([replace(row, best=False) for row in LIKELIHOOD]), Undefined, "marked as best"),
    ],
)
def test_what_a_history_does_not_say_is_refused(rule, error, message) -> None:
    with pytest.raises(error, match=message):
        rule()


def test_a_rule_that_has_no_cost_leaves_the_others_theirs() -> None:
    found = costs({100.0: [LIKELIHOOD]}, updates={"nll": 1000})
    assert isinstance(found["fixed updates"][100.0][0], Undefined)
    assert found["common"][100.0] == [common(LIKELIHOOD)]


def test_the_largest_common_amount_is_that_of_the_shortest_history() -> None:
    shorter = rows("nll", (10, 20), (0.1, 0.2)) + rows("coverage", (0, 4, 16), (0.1, 0.2, 0.3), start=LIKELIHOOD[1])
    assert largest_common([TWO, shorter], "updates") == {"nll": 20, "coverage": 12}
    assert largest_common([TWO, shorter], "epochs") == {"nll": 2, "coverage": pytest.approx(1.2)}


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=2, max_size=8), min_size=2, max_size=4), st.floats(0.1, 3))
def test_a_fixed_number_of_updates_has_no_deficiency_in_updates_and_one_of_epochs_all(curves, per_update) -> None:
    """With twice the data an epoch has twice the updates: θ is 0 under the one rule and 1 under the other."""
    histories = {}
    for number, values in enumerate(curves):
        size = 100.0 * 2**number
        own = rows("nll", range(10, 10 * len(values) + 1, 10), values, per_update=per_update)
        histories[size] = [[replace(row, epoch=row.examples / size) for row in own]]
    found = costs(histories)
    for rule, theta in (("fixed updates", 0.0), ("fixed epochs", 1.0)):
        for unit in ("updates", "examples", "seconds"):
            points = [Point(size, 1.0, getattr(seeds[0], unit)) for size, seeds in found[rule].items()]
            for first, second in pairwise(points):
                assert relative_cost_deficiency(first, second) == pytest.approx(theta, abs=1e-9)
    for size, seeds in found["within"].items():
        assert seeds[0].updates <= found["common"][size][0].updates


def test_without_measured_time_the_counts_remain() -> None:
    bare = [replace(row, seconds=None) for row in TWO]
    for rule, cost in costs({1.0: [bare]}).items():
        timed = costs({1.0: [TWO]})[rule][1.0][0]
        assert cost[1.0][0] == Cost(timed.updates, timed.examples, None)


def test_a_runs_history_comes_back_from_its_files(tmp_path) -> None:
    draw = np.random.default_rng(0).uniform
    history = History()
    for phase, updates in (("nll", (7, 14, 21)), ("coverage", (0, 7))):
        for update in updates:
            counts = {"update": update, "updates": update + 14 * (phase == "coverage"), "examples": 10 * update}
            scores = {name: draw() for name in ("rouge1", "rouge2", "rougeLsum", "seconds")}
            rest = {"rate": 0.1, "train_loss": None, "nll": 2.0, "repetition": 0.0, "tokens": 5.0}
            history.append(Row(phase=phase, epoch=update / 3, best=update in (0, 14), **counts, **scores, **rest))
    pd.DataFrame(history.rows()).to_csv(tmp_path / "history.csv", index=False)
    assert [row.seconds for row in read_history(tmp_path)] == [None] * 5
    pd.DataFrame(history.seconds()).to_csv(tmp_path / "timings.csv", index=False)
    validations = read_history(tmp_path)
    for row, original in zip(validations, history, strict=True):
        for name in ("phase", "update", "updates", "examples", "epoch", "best", "seconds"):
            assert getattr(row, name) == getattr(original, name)
        assert row.rouge == pytest.approx(original.rouge)
    assert selected(validations).update == history.selected.update
    pd.DataFrame(history.seconds()[:3]).to_csv(tmp_path / "timings.csv", index=False)
    with pytest.raises(ValueError, match=r"history.csv, line 5: phase 'coverage', update 0 has no line"):
        read_history(tmp_path)
