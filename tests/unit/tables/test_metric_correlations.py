"""Metrics beside each other, against scipy on the items themselves."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.metric_agreement import FEWEST
from sumcurve.tables.metric_correlations import FEWEST_ITEMS, table
from sumcurve.tables.results import Results

KINDS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.fixture
def results(study, evidence, settings):
    return Results(dataclasses.replace(study, outputs=evidence((1, 2, 3))), settings)


def test_both_levels_are_scipys_over_the_systems_that_see_no_reference(results):
    systems = [one for one in results.of("notes") if one.role != "bound"]
    scores = {
        place: np.array([np.mean([items.values[place] for items in one.scored("rouge")], axis=0) for one in systems])
        for place in (0, 1)
    }
    found = {
        row["level"]: row
        for row in table(results).rows
        if (row["corpus"], row["first"], row["second"]) == ("notes", "rouge1", "rouge2")
    }
    assert {row["systems"] for row in found.values()} == {len(systems)}
    varies = [item for item in range(scores[0].shape[1]) if all(np.ptp(one[:, item]) > 0 for one in scores.values())]
    assert found["summary"]["items"] == len(varies)
    for kind, of in KINDS.items():
        assert found["system"][kind] == pytest.approx(of(scores[0].mean(axis=1), scores[1].mean(axis=1)).statistic)
        each = [of(scores[0][:, item], scores[1][:, item]).statistic for item in varies]
        assert found["summary"][kind] == pytest.approx(np.mean(each))


def test_what_writes_the_same_counts_once_and_bounds_and_pairs_of_systems_not_at_all(results):
    def systems(outputs):
        found = table(Results(dataclasses.replace(results.study, outputs=outputs), results.settings)).rows
        return {row["systems"] for row in found if row["corpus"] == "notes"}

    outputs = [one for one in results.outputs if one.corpus == "notes"]
    (every,) = systems(outputs)
    lead = next(one for one in outputs if one.role == "baseline")
    again = dataclasses.replace(lead, method="echo", run="echo")
    bound = dataclasses.replace(lead, method="gold", run="gold", role="bound", summaries="other")
    assert systems([*outputs, dataclasses.replace(again, summaries="other")]) == {every + 1}
    told = [dataclasses.replace(one, summaries="same") if one is lead else one for one in outputs]
    assert systems([*told, dataclasses.replace(again, summaries="same")]) == {every}
    assert systems([*outputs, bound]) == {every}
    few = [lead, dataclasses.replace(again, summaries="other")]
    assert len(few) < FEWEST
    assert systems(few) == set()


def test_systems_have_means_of_their_own_items_and_few_items_no_mean_of_correlations(results):
    """Where the second metric knows some of the items alone, means of the first are still over all of its own."""

    def scarce(one):
        rouge = one.scores["rouge"]
        metric = dataclasses.replace(rouge.metrics[0], name="scarce", title="Scarce")
        few = slice(0, FEWEST_ITEMS - 1)
        items = dataclasses.replace(
            rouge, metrics=(metric,), ids=rouge.ids[few], groups=rouge.groups[few], values=rouge.values[:1, few]
        )
        return dataclasses.replace(one, scores={**one.scores, "scarce": items})

    whole = Results(dataclasses.replace(results.study, outputs=[*map(scarce, results.outputs)]), results.settings)
    systems = [one for one in whole.of("notes") if one.role != "bound"]
    means = [
        [np.mean([items.values[0] for items in one.scored(scorer)]) for one in systems]
        for scorer in ("rouge", "scarce")
    ]
    found = {
        row["level"]: row
        for row in table(whole).rows
        if (row["corpus"], row["first"], row["second"]) == ("notes", "rouge1", "scarce")
    }
    assert found["system"]["pearson"] == pytest.approx(stats.pearsonr(*means).statistic)
    assert "pearson" not in found["summary"]
    assert f"fewer than {FEWEST_ITEMS} items" in found["summary"]["why"]
