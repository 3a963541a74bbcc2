"""People judge some systems, seeds and records: all tables are made, and nothing is said of the others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sumcurve.capabilities.people.scorer import People
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import made, write_study
from sumcurve.tables import verdicts
from sumcurve.tables.evidence import Items
from sumcurve.tables.results import Results
from sumcurve.tables.table import write_table

JUDGED = 24


def judged(output, share, rougelike=0.0):
    """The output with people's judgements of its first records, good ones as told, and like ROUGE-1 as far as told."""
    rouge = output.scores["rouge"]
    generator = np.random.default_rng([int(1000 * share), output.seed or 0, output.percent or 0])
    points = rouge.values[0, :JUDGED]
    easy = (points - points.mean()) / points.std()
    liked = rougelike * easy + (1 - rougelike) * generator.normal(size=JUDGED)
    good = liked > np.quantile(liked, 1 - share)
    values = 100.0 * np.stack([good, np.ones(JUDGED), good | (generator.random(JUDGED) < 0.5)])
    items = Items(
        tuple(People.metrics),
        rouge.ids[:JUDGED],
        rouge.groups[:JUDGED],
        values,
        "people|wei2018|records:24",
        {"judged": JUDGED},
        references={"people_fluent": 100.0, "people_related": 98.0},
    )
    return replace(output, scores={**output.scores, "people": items})


def some_judged(outputs, rougelike=0.0):
    """Of corpus notes the largest and smallest of pcov and abs with seed 1, and lead."""
    shares = {("pcov", 100): 0.8, ("pcov", 25): 0.5, ("abs", 100): 0.6, ("abs", 25): 0.3, ("lead", None): 0.7}
    return [
        judged(one, shares[one.method, one.percent], rougelike)
        if one.corpus == "notes" and (one.method, one.percent) in shares and one.seed in (None, 1)
        and one.search != "paper"
        else one
        for one in outputs
    ]  # fmt: skip


@pytest.mark.parametrize("seeds", [(1,), pytest.param((1, 2, 3), marks=pytest.mark.long), (2, 1)])
def test_all_tables_are_made_where_people_judged_some_systems_seeds_and_records(
    evidence, papers, study, settings, tmp_path, seeds
):
    outputs = some_judged([*evidence(seeds), *papers(seeds)])
    judgements = replace(study, outputs=outputs)
    if seeds == (1, 2, 3):  # figures and pages, too
        write_study(tmp_path, judgements, settings)
    else:
        results = Results(judgements, settings)
        for name in (*TABLES, *APPENDIX):
            write_table(made(name, results), tmp_path)
    scores = pd.read_csv(tmp_path / "scores.csv")
    known = scores[scores.people_good.notna()]
    assert {*zip(known.method, known.percent.fillna(0), strict=True)} == {
        ("pcov", 100), ("pcov", 25), ("abs", 100), ("abs", 25), ("lead", 0),
    }  # fmt: skip
    one = next(one for one in outputs if "people" in one.scores and (one.method, one.percent) == ("pcov", 100))
    row = known[(known.method == "pcov") & (known.percent == 100)].iloc[0]
    assert row.people_good == pytest.approx(one.scores["people"].values[0].mean(), abs=0.01)
    assert row.people_good_low < row.people_good < row.people_good_high
    assert pd.read_csv(tmp_path / "descriptions.csv").set_index("method").loc["references"].people_related == 98
    comparisons = pd.read_csv(tmp_path / "comparisons.csv")
    here = comparisons[comparisons.metric == "Judged good"]
    assert not here.empty
    assert set(here.corpus) == {"notes"}
    assert (here["items"] == JUDGED).all()


def test_what_people_judged_changes_no_cell_of_another_metric(evidence, study, settings):
    plain = Results(replace(study, outputs=evidence((1, 2, 3))), settings)
    with_people = Results(replace(study, outputs=some_judged(evidence((1, 2, 3)))), settings)
    for name in ("scores", "comparisons", "efficiency", "verdicts", "answers"):
        before, after = made(name, plain).frame(), made(name, with_people).frame()
        if "metric" in after:
            after = after[after.metric != "Judged good"].reset_index(drop=True)
        common = [column for column in before if column not in ("items", "interval_covers", "reason")]
        pd.testing.assert_frame_equal(before[common], after[common], check_exact=True)


def test_curves_of_other_metrics_do_not_hang_on_what_people_judged(long_curves, study, settings):
    outputs = long_curves({"pcov": (20, 4), "abs": (15, 5)})
    plain = Results(replace(study, outputs=outputs), settings)
    some = [judged(one, 0.6) if one.percent == 100 and one.seed == 1 else one for one in outputs]
    partly = Results(replace(study, outputs=some), settings)
    assert verdicts.learn(plain).refused == verdicts.learn(partly).refused
    assert verdicts.learn(plain).fits.keys() == verdicts.learn(partly).fits.keys()
    (where,) = verdicts.learn(partly).partly
    assert where == ("notes", "Judged good")
    assert not verdicts.learn(plain).partly


def test_metric_correlations_have_what_people_judged_beside_other_metrics(evidence, study, settings):
    outputs = some_judged(evidence((1,)))
    table = made("metric_correlations", Results(replace(study, outputs=outputs), settings)).frame()
    here = [one for one in outputs if "people" in one.scores]
    rouge, people = ([one.scores[scorer].values[0].mean() for one in here] for scorer in ("rouge", "people"))
    row = table[(table["first"] == "rouge1") & (table["second"] == "people_good")].set_index("level").loc["system"]
    assert row.systems == len(here) == 5
    assert row.pearson == pytest.approx(np.corrcoef(rouge, people)[0, 1], abs=1e-4)
