import random
from dataclasses import replace

import numpy as np
import pytest

from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.tables.evidence import CorpusStatistics, EvidenceError, Items, checked, metrics_of
from sumcurve.tables.systems import systems_of


def replaced(outputs, index, **changes):
    return [*outputs[:index], replace(outputs[index], **changes), *outputs[index + 1 :]]


def rescored(outputs, index, **changes):
    """The outputs with one's items changed."""
    items = replace(outputs[index].scores["rouge"], **changes)
    return replaced(outputs, index, scores={"rouge": items})


def shuffled(items, seed):
    """The same items in another order."""
    order = random.Random(seed).sample(range(len(items.ids)), len(items.ids))
    ids, groups = (tuple(names[place] for place in order) for names in (items.ids, items.groups))
    further = {name: tuple(column[place] for place in order) for name, column in items.further.items()}
    return replace(items, ids=ids, groups=groups, further=further, values=items.values[:, order])


def test_the_order_of_outputs_and_of_items_does_not_count_nor_that_of_records_and_raters(evidence) -> None:
    outputs = rated(evidence((1, 2)))
    mixed = [
        replace(one, scores={name: shuffled(items, place) for name, items in one.scores.items()})
        for place, one in enumerate(outputs)
    ]
    random.Random(3).shuffle(mixed)
    again, expected = checked(mixed), checked(outputs)
    assert [str(one) for one in again] == [str(one) for one in expected]
    for one, other in zip(again, expected, strict=True):
        for scorer in ("rouge", "people"):
            mine, known = one.scores[scorer], other.scores[scorer]
            assert mine.keys == known.keys
            assert mine.groups == known.groups
            assert np.array_equal(mine.values, known.values)
        assert one.scores["people"].keys == sorted(one.scores["people"].keys)


def test_systems_hold_the_seeds_of_a_training_under_one_search(evidence, papers, phased) -> None:
    found = systems_of(checked([*evidence((1, 2, 3)), *papers((1, 2)), *phased()]))
    assert sorted({len(system.outputs) for system in found}) == [1, 2, 3]
    for system in found:
        assert len({(one.corpus, one.method, one.percent, one.search, one.part) for one in system.outputs}) == 1
        assert list(system.seeds) in ([], [1, 2], [2, 3], [1, 2, 3])


def test_metrics_come_in_the_order_of_the_scorers_and_have_one_meaning(evidence, more_metric) -> None:
    outputs = more_metric(evidence())
    assert list(metrics_of(outputs)) == ["rouge1", "rouge2", "rougeLsum", "excess"]
    assert list(metrics_of(outputs, "rouge2")) == ["rouge2", "rouge1", "rougeLsum", "excess"]
    lacking = [one for one in evidence() if one.method == "lead"]  # the first; it is not asked for excess words
    more = more_metric(outputs, scorer="more", name="more")
    assert list(metrics_of([*lacking, *more])) == ["rouge1", "rouge2", "rougeLsum", "excess", "more"]
    others = more_metric(lacking, scorer="more", name="more")
    assert list(metrics_of([*others, *more])) == ["rouge1", "rouge2", "rougeLsum", "excess", "more"]
    with pytest.raises(EvidenceError, match="other and length have different metrics 'excess'"):
        metrics_of([*outputs, *more_metric(evidence(), scorer="other")])


def rated(outputs, raters=("left", "right"), column="rater"):
    """The outputs with opinions, too: every third item by each rater."""
    found = []
    for one in outputs:
        items = one.scores["rouge"]
        ids, groups, values = items.ids[::3], items.groups[::3], items.values[:1, ::3]
        metric = replace(items.metrics[0], name="opinion")
        further = {column: tuple(rater for rater in raters for _ in ids)} if column else {}
        many = len(raters)
        opinions = Items((metric,), ids * many, groups * many, np.tile(values, many), "two people", further=further)
        found.append(replace(one, scores={**one.scores, "people": opinions}))
    return found


def lacking(outputs, index, scorer="rouge"):
    """The outputs, one without its last item."""
    items = outputs[index].scores[scorer]
    further = {name: column[:-1] for name, column in items.further.items()}
    fewer = replace(items, ids=items.ids[:-1], groups=items.groups[:-1], values=items.values[:, :-1], further=further)
    return replaced(outputs, index, scores={**outputs[index].scores, scorer: fewer})


def ungraded(outputs, *places):
    """The outputs, these without their last item, which their scorer could not grade."""
    for index in places:
        outputs = lacking(outputs, index)
        outputs = rescored(outputs, index, counts={"ungraded": 1})
    return outputs


def test_an_item_that_could_not_be_graded_is_left_out_for_all_outputs_of_its_corpus(evidence) -> None:
    outputs = evidence((1, 2))
    corpus = outputs[3].corpus
    for before, after in zip(checked(outputs), checked(ungraded(outputs, 3, 4)), strict=True):
        known, left = before.scores["rouge"], after.scores["rouge"]
        kept = [place for place, name in enumerate(known.ids) if before.corpus != corpus or not name.endswith("/39")]
        assert left.ids == tuple(known.ids[place] for place in kept)
        assert left.groups == tuple(known.groups[place] for place in kept)
        assert np.array_equal(left.values, known.values[:, kept])
    with pytest.raises(EvidenceError, match=r"has 39 items of rouge, others 40"):
        checked(lacking(ungraded(outputs, 3), 4))


def twice(outputs):
    ids = outputs[2].scores["rouge"].ids
    return rescored(outputs, 2, ids=(ids[1], *ids[1:]))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda outputs: [], "at least one"),
        (lambda outputs: lacking(outputs, 0), "lacks rouge's item notes/39"),
        (lambda outputs: lacking(outputs, 3), "lacks rouge's item notes/39"),
        (twice, "notes/1 is scored twice"),
        (lambda outputs: rescored(outputs, 2, ids=outputs[2].scores["rouge"].ids[1:]), r"values of shape \(3, 40\)"),
        (lambda outputs: lacking(rated(outputs), 3, "people"), r"lacks people's item notes/39, right \(1 in all\)"),
        (
            lambda outputs: [*rated(outputs[:3]), *rated(outputs[3:], raters=("left",), column="")],
            "lacks people's item",
        ),
        (lambda outputs: rated(outputs, raters=("left", "left")), "item notes/0, left is scored twice"),
        (lambda outputs: rescored(outputs, 1, signature="rouge:1+2+Lsum|stem:yes|sumcurve:0.1.0"), "score both alike"),
        (lambda outputs: rescored(outputs, 1, signature="rouge:1|stem:no|sumcurve:0.1.0"), "score both alike"),
        (
            lambda outputs: [replace(one, records=500) if one.percent == 50 else one for one in outputs],
            "notes: 25 % and 50 % are both 500 records; leave one of them out",
        ),
    ],
)
def test_evidence_that_does_not_fit_is_refused(evidence, harm, message) -> None:
    with pytest.raises(EvidenceError, match=message):
        checked(harm(evidence()))


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
    raised = {ceiling.metric: ceiling for ceiling in replace(one, certificates=better).ceilings()}
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
    for ceiling in replace(one, certificates=unsure).ceilings():
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
    part = [replace(found[0], certificates=kept), *found[1:]]
    assert {one.corpus for one in Oracles(part).ceilings(study.outputs)} == {found[1].corpus}
    assert Oracles().ceilings(study.outputs) == []
