from dataclasses import replace

import pytest

from sumcurve.training.history import SAMPLES, History, Row

ROW = Row("nll", 4, 4, 32, 0.5, 0.01, 3.0, 2.5, 0.3, 0.1, 0.2, 0.0, 9.0, True, 1.25)


def test_better_is_higher_mean_rouge_then_lower_nll_and_never_a_tie():
    assert ROW.rouge**3 == pytest.approx(0.3 * 0.1 * 0.2)
    assert ROW.better_than(None)
    assert not ROW.better_than(ROW)
    assert replace(ROW, nll=2.4).better_than(ROW)
    assert not replace(ROW, nll=2.6).better_than(ROW)
    assert replace(ROW, rouge2=0.11, nll=9.0).better_than(ROW)
    assert not replace(ROW, rougeLsum=0.19, nll=0.1).better_than(ROW)


def test_phases_of_reinforcement_and_of_entities_have_an_aim_of_their_own():
    rewarded = replace(ROW, reward=0.4)
    assert rewarded.worth == pytest.approx((0.4 + (0.3 + 0.1) / 2) / 2)
    assert replace(rewarded, reward=0.45, rouge2=0.06).better_than(rewarded)
    assert not replace(rewarded, reward=0.45, rouge2=0.04, rouge1=0.2).better_than(rewarded)
    marked = replace(ROW, auc=0.8)
    assert marked.worth**4 == pytest.approx(0.3 * 0.1 * 0.2 * 0.8)
    assert not replace(marked, auc=0.5).better_than(marked)


def test_a_constant_answer_is_no_good_answer():
    """Its unigrams may match often; it never says two right words in a row."""
    constant = replace(ROW, rouge1=0.9, rouge2=0.0, rougeLsum=0.9)
    assert ROW.better_than(constant)
    assert not constant.better_than(ROW)


def test_samples_have_columns_in_trainings_with_reinforcement_alone():
    """So that the bytes of other trainings stand still."""
    sampled = replace(ROW, phase="mixed", reward=0.4, sample_reward=0.3, sample_tokens=8.5, entropy=1.5)
    plain, both = History([ROW]).rows(), History([ROW, sampled]).rows()
    assert [*both[0]] == [*plain[0], *SAMPLES]
    assert [both[0][name] for name in SAMPLES] == [None, None, None]
    assert [both[1][name] for name in SAMPLES] == [0.3, 8.5, 1.5]
    for row, columns in ((ROW, plain[0]), (sampled, both[1])):
        text = {name: "" if value is None else str(value) for name, value in columns.items()} | {"seconds": "1.25"}
        assert Row.of_csv(text) == row
