"""How much is the draw, how much the training: against the decomposition of the effects that were put in."""

import dataclasses
from itertools import product

import numpy as np
import pytest

from sumcurve.statistics.decomposition import decompose
from sumcurve.tables.results import Results
from sumcurve.tables.study import made


def test_draws_and_trainings_are_decomposed_for_methods_and_their_paired_difference(study, evidence, settings) -> None:
    outputs = evidence((1,))
    own = {one.method: one for one in outputs if (one.corpus, one.percent) == ("notes", 50) and one.search == "common"}
    methods = sorted(own)[:2]
    effects = np.random.default_rng(1).normal(size=(2, 3, 3)) + np.array([-4.0, 0, 4])[:, None]
    effects[:, 0, 0] = 0  # the study's own
    for number, method in enumerate(methods):
        rouge = own[method].scores["rouge"]
        for drawn, seed in product((1, 2, 3), repeat=2):
            if (drawn, seed) != (1, 1):
                moved = dataclasses.replace(rouge, values=rouge.values + effects[number, drawn - 1, seed - 1])
                outputs.append(
                    dataclasses.replace(own[method], part="variance", seed=seed, draw=drawn, scores={"rouge": moved})
                )
    table = made("variance", Results(dataclasses.replace(study, outputs=outputs), settings))
    rows = {row["scores_of"]: row for row in table.rows if row["metric"] == "ROUGE-1"}
    assert set(rows) == {*methods, " − ".join(methods)}
    base = [float(own[method].scores["rouge"].values[0].mean()) for method in methods]
    expected = decompose(effects[0] + base[0])
    row = rows[methods[0]]
    assert (row["draws"], row["trainings"]) == (3, 3)
    assert row["draw_percent"].number == pytest.approx(100 * expected.share)
    assert row["draw_percent"].low == pytest.approx(100 * expected.share_interval[0])
    assert row["training_sd"].number == pytest.approx(expected.training**0.5)
    both = decompose(effects[0] - effects[1] + base[0] - base[1])
    assert rows[" − ".join(methods)]["draw_sd"].number == pytest.approx(both.draw**0.5)
    assert rows[" − ".join(methods)]["p"] > row["p"]  # what the draw adds to both cancels
    # A layout with a hole says what it lacks, and no other table knows of it.
    holed = made("variance", Results(dataclasses.replace(study, outputs=outputs[:-1]), settings))
    says = {row["scores_of"]: row.get("says") for row in holed.rows}
    assert says[methods[1]] == "the layout of draws and trainings lacks draw 3 with seed 3"
    assert says[methods[0]] is None
    frame = made("scores", Results(dataclasses.replace(study, outputs=outputs), settings)).frame()
    plain = made("scores", Results(dataclasses.replace(study, outputs=evidence((1,))), settings)).frame()
    assert frame.equals(plain)
