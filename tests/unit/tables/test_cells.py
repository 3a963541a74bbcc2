import numpy as np
import pytest

from sumcurve.scores.rouge import METRICS
from sumcurve.tables.cells import cell, seed_variances
from sumcurve.tables.evidence import TRIVIAL, align, groups


def test_a_cell_holds_all_seeds_of_a_training_over_the_items_in_one_order(evidence, cell_of) -> None:
    outputs = evidence((3, 1, 2))
    for group in groups(align(outputs)):
        output = group[0].output
        for index, metric in enumerate(METRICS):
            found = cell(group, index)
            expected = cell_of(outputs, output.corpus, output.method, output.percent, metric)
            assert (found.method, found.size, found.seeds) == (expected.method, expected.size, expected.seeds)
            assert np.allclose(found.scores, expected.scores)


def test_a_trivial_system_has_no_seeds(evidence) -> None:
    for group in groups(align(evidence((1, 2)))):
        found = cell(group, 0)
        assert (found.seeds == ()) == (found.method in TRIVIAL)
        assert found.scores.shape == (max(1, len(found.seeds)), 40)


def test_seeds_are_pooled_over_the_trainings_of_a_corpus_and_metric(evidence, settings, cell_of) -> None:
    outputs = [one for one in evidence((1, 2, 3)) if (one.method, one.percent, one.seed) != ("abs", 50, 3)]
    found = seed_variances(align(outputs), settings)
    assert set(found) == {(corpus, metric) for corpus in ("notes", "albums") for metric in METRICS}
    for (corpus, metric), variance in found.items():
        places = [("pcov", 100), ("abs", 100)]
        places += [(method, percent) for method in ("pcov", "abs") for percent in (25, 50)] if corpus == "notes" else []
        means = [cell_of(outputs, corpus, *place, metric).scores.mean(axis=1) for place in places]
        squares = sum(((one - one.mean()) ** 2).sum() for one in means)
        degrees = sum(len(one) - 1 for one in means)
        assert (variance.cells, variance.degrees) == (len(places), degrees)
        assert variance.variance == pytest.approx(squares / degrees)


def test_one_seed_has_no_variance_and_does_not_take_that_of_another_corpus(evidence, settings) -> None:
    assert set(seed_variances(align(evidence()), settings).values()) == {None}
    outputs = [one for one in evidence((1, 2)) if one.corpus == "notes" or one.seed in (None, 1)]
    found = seed_variances(align(outputs), settings)
    assert all((variance is None) == (corpus == "albums") for (corpus, _), variance in found.items())
