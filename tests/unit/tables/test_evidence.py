import dataclasses
import random

import numpy as np
import pytest

from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.tables.evidence import CorpusStatistics, EvidenceError, Items, checked, metrics_of
from sumcurve.tables.systems import systems_of


def replaced(outputs, index, **changes):
    return [*outputs[:index], dataclasses.replace(outputs[index], **changes), *outputs[index + 1 :]]


def rescored(outputs, index, **changes):
    """The outputs with one's items changed."""
    items = dataclasses.replace(outputs[index].scores["rouge"], **changes)
    return replaced(outputs, index, scores={"rouge": items})


def without_last(items):
    further = {name: column[:-1] for name, column in items.further.items()}
    return {"ids": items.ids[:-1], "groups": items.groups[:-1], "values": items.values[:, :-1], "further": further}


def test_the_order_of_outputs_and_of_items_does_not_count(evidence) -> None:
    outputs = evidence((1, 2))
    expected = checked(outputs)
    shuffler = random.Random(3)
    mixed = []
    for index, output in enumerate(outputs):
        items = output.scores["rouge"]
        order = list(range(len(items.ids)))
        shuffler.shuffle(order)
        ids, groups = (tuple(names[i] for i in order) for names in (items.ids, items.groups))
        mixed.append(rescored(outputs, index, ids=ids, groups=groups, values=items.values[:, order])[index])
    shuffler.shuffle(mixed)
    again = checked(mixed)
    assert [str(one) for one in again] == [str(one) for one in expected]
    for one, other in zip(again, expected, strict=True):
        assert one.scores["rouge"].ids == other.scores["rouge"].ids
        assert np.array_equal(one.scores["rouge"].values, other.scores["rouge"].values)


def test_systems_hold_the_seeds_of_a_training_under_one_search(evidence, papers, phased) -> None:
    found = systems_of(checked([*evidence((1, 2, 3)), *papers((1, 2)), *phased()]))
    assert sorted({len(system.outputs) for system in found}) == [1, 2, 3]
    for system in found:
        assert len({(one.corpus, one.method, one.percent, one.search, one.part) for one in system.outputs}) == 1
        assert list(system.seeds) in ([], [1, 2], [2, 3], [1, 2, 3])


def test_metrics_come_in_the_order_of_the_scorers_and_have_one_meaning(evidence, more_metric) -> None:
    outputs = more_metric(evidence())
    assert list(metrics_of(outputs)) == ["rouge1", "rouge2", "rougeLsum", "excess"]
    lacking = [one for one in evidence() if one.method == "lead"]  # the first; it is not asked for excess words
    more = more_metric(outputs, scorer="more", name="more")
    assert list(metrics_of([*lacking, *more])) == ["rouge1", "rouge2", "rougeLsum", "excess", "more"]
    others = more_metric(lacking, scorer="more", name="more")
    assert list(metrics_of([*others, *more])) == ["rouge1", "rouge2", "rougeLsum", "excess", "more"]
    with pytest.raises(EvidenceError, match="other and length have different metrics 'excess'"):
        metrics_of([*outputs, *more_metric(evidence(), scorer="other")])


@pytest.mark.parametrize("index", [0, 3, 7])
def test_a_missing_item_is_named(evidence, index) -> None:
    outputs = evidence()
    items = outputs[index].scores["rouge"]
    with pytest.raises(EvidenceError, match=f"lacks rouge's item {items.ids[-1]}"):
        checked(rescored(outputs, index, **without_last(items)))


def test_an_item_in_another_group_is_named(evidence) -> None:
    outputs = evidence()
    groups = ("elsewhere", *outputs[3].scores["rouge"].groups[1:])
    with pytest.raises(EvidenceError, match="item notes/0 in group"):
        checked(rescored(outputs, 3, groups=groups))


def rated(outputs, raters=("left", "right"), column="rater"):
    """The outputs with opinions, too: every third item by each rater."""
    found = []
    for one in outputs:
        items = one.scores["rouge"]
        ids, groups, values = items.ids[::3], items.groups[::3], items.values[:1, ::3]
        metric = dataclasses.replace(items.metrics[0], name="opinion")
        further = {column: tuple(rater for rater in raters for _ in ids)} if column else {}
        many = len(raters)
        opinions = Items((metric,), ids * many, groups * many, np.tile(values, many), "two people", further=further)
        found.append(dataclasses.replace(one, scores={**one.scores, "people": opinions}))
    return found


def test_an_item_may_be_a_record_and_a_rater(evidence) -> None:
    outputs = rated(evidence())
    index = 2
    items = outputs[index].scores["people"]
    order = random.Random(5).sample(range(len(items.ids)), len(items.ids))
    mixed = dataclasses.replace(
        items,
        ids=tuple(items.ids[place] for place in order),
        groups=tuple(items.groups[place] for place in order),
        further={"rater": tuple(items.further["rater"][place] for place in order)},
        values=items.values[:, order],
    )
    again = checked(replaced(outputs, index, scores={**outputs[index].scores, "people": mixed}))
    for one, other in zip(again, checked(outputs), strict=True):
        assert one.scores["people"].keys == other.scores["people"].keys == sorted(one.scores["people"].keys)
        assert one.scores["people"].groups == other.scores["people"].groups
        assert np.array_equal(one.scores["people"].values, other.scores["people"].values)


def test_what_a_rater_lacks_is_named_and_so_are_other_keys(evidence) -> None:
    outputs = rated(evidence())
    fewer = dataclasses.replace(outputs[3].scores["people"], **without_last(outputs[3].scores["people"]))
    with pytest.raises(EvidenceError, match=r"lacks people's item notes/39, right \(1 in all\)"):
        checked(replaced(outputs, 3, scores={**outputs[3].scores, "people": fewer}))
    with pytest.raises(EvidenceError, match=r"people's items by id, notes .* by id, rater; score both alike"):
        checked([*outputs[:3], *rated(outputs[3:], raters=("left",), column="")])
    with pytest.raises(EvidenceError, match="item notes/0, left is scored twice"):
        rated(evidence(), raters=("left", "left"))


@pytest.mark.parametrize("signature", ["rouge:1+2+Lsum|stem:yes|sumcurve:0.1.0", "rouge:1|stem:no|sumcurve:0.1.0"])
def test_two_ways_of_scoring_do_not_compare(evidence, signature) -> None:
    with pytest.raises(EvidenceError, match="score both alike"):
        checked(rescored(evidence(), 1, signature=signature))


@pytest.mark.parametrize(
    ("index", "changes", "message"),
    [
        (1, {"records": 501}, "below|above|records"),
        (1, {"records": None}, "needs records, seed"),
        (0, {"percent": 50, "records": 1000}, "given twice"),
        (0, {"role": "baseline"}, "is not trained"),
        (6, {"role": "trained"}, "needs records"),
        (6, {"search": "common"}, "no search"),
        (1, {"search": None}, "seed and search"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(evidence, index, changes, message) -> None:
    with pytest.raises(EvidenceError, match=message):
        checked(replaced(evidence(), index, **changes))


def test_a_larger_fraction_must_have_more_records(evidence) -> None:
    outputs = [dataclasses.replace(one, records=500) if one.percent == 50 else one for one in evidence()]
    with pytest.raises(EvidenceError, match=r"notes 50 % has 500 records, not above"):
        checked(outputs)


def test_fractions_of_one_size_are_required(evidence) -> None:
    with pytest.raises(EvidenceError, match="different training records"):
        checked(replaced(evidence(), 1, records=1001))


def test_items_that_do_not_fit_are_refused(evidence) -> None:
    items = evidence()[2].scores["rouge"]
    with pytest.raises(EvidenceError, match="notes/1 is scored twice"):
        dataclasses.replace(items, ids=(items.ids[1], *items.ids[1:]))
    with pytest.raises(EvidenceError, match=r"values of shape \(3, 40\)"):
        Items(items.metrics, items.ids[1:], items.groups, items.values, "")


def test_no_output_is_refused() -> None:
    with pytest.raises(EvidenceError, match="at least one"):
        checked([])


def test_the_version_of_sumcurve_alone_does_not_part_scores(evidence) -> None:
    assert checked(rescored(evidence(), 1, signature="rouge:1+2+Lsum|stem:no|sumcurve:0.2.0"))


def test_every_record_of_a_corpus_is_accounted_for() -> None:
    with pytest.raises(EvidenceError, match="account for the other 3"):
        CorpusStatistics("notes", "", 100, 90, {"duplicate": 7}, [])


def test_the_best_reference_of_an_item_counts_and_what_is_not_proven_in_all_is_not_proven(evidence, extracts) -> None:
    one = extracts(evidence())[0]
    assert len(one.certificates) == 2 * 40 + 2
    first, second = one.certificates[0], next(two for two in one.certificates if two["id"].endswith(" (reference 2)"))
    assert (second["id"], second["bound"] < first["bound"]) == (f"{first['id']} (reference 2)", True)
    plain = {ceiling.metric: ceiling for ceiling in one.ceilings()}
    better = [{**two, "bound": 1.0, "status": "bounded"} if two is second else two for two in one.certificates]
    raised = {ceiling.metric: ceiling for ceiling in dataclasses.replace(one, certificates=better).ceilings()}
    for metric in ("rouge1", "rouge2"):
        assert len(plain[metric].ids) == len(set(plain[metric].ids)) == plain[metric].proven == 40
        known = {
            two["id"]: two["bound"] for two in one.certificates if two["metric"] == metric and "(" not in two["id"]
        }
        assert dict(zip(plain[metric].ids, plain[metric].optimum, strict=True)) == known
        hit = metric == second["metric"]
        after = dict(zip(raised[metric].ids, raised[metric].optimum, strict=True))
        assert after == (known | {first["id"]: 1.0} if hit else known)
        assert raised[metric].proven == 40 - hit
    unsure = [{**two, "status": "bounded"} if two is first else two for two in one.certificates]
    for ceiling in dataclasses.replace(one, certificates=unsure).ceilings():
        assert ceiling.proven == 40 - (ceiling.metric == first["metric"])
    assert plain["rouge1"].source_words == pytest.approx(0.875)
    assert plain["rouge2"].source_words is None


def test_optima_stand_in_the_order_of_the_checked_items(study, extracts) -> None:
    found = Oracles(extracts(study.outputs)).ceilings(study.outputs)
    ids = {one.corpus: one.scores["rouge"].ids for one in checked(study.outputs)}
    for one in found:
        by_id = dict(zip(one.ids, one.optimum, strict=True))
        assert list(one.percents()) == pytest.approx([100 * by_id[name] for name in ids[one.corpus]])


def test_optima_of_some_test_items_only_bound_no_corpus(study, extracts) -> None:
    """An oracle may search long articles only; a mean over those is none over the test part."""
    found = extracts(study.outputs)
    assert {one.corpus for one in Oracles(found).ceilings(study.outputs)} == {"notes", "albums"}
    lost = found[0].certificates[0]["id"]
    kept = [one for one in found[0].certificates if one["id"].split(" (")[0] != lost]
    part = [dataclasses.replace(found[0], certificates=kept), *found[1:]]
    assert {one.corpus for one in Oracles(part).ceilings(study.outputs)} == {found[1].corpus}
    assert Oracles().ceilings(study.outputs) == []
