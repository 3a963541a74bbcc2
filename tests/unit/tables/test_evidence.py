import dataclasses
import random

import numpy as np
import pytest

from sumcurve.tables.evidence import CorpusStatistics, EvidenceError, align, groups


def replaced(outputs, index, **changes):
    return [*outputs[:index], dataclasses.replace(outputs[index], **changes), *outputs[index + 1 :]]


def test_the_order_of_outputs_and_of_items_does_not_count(evidence) -> None:
    outputs = evidence((1, 2))
    expected = align(outputs)
    shuffler = random.Random(3)
    mixed = []
    for output in outputs:
        order = list(range(len(output.ids)))
        shuffler.shuffle(order)
        ids, items = [output.ids[i] for i in order], [output.items[i] for i in order]
        mixed.append(dataclasses.replace(output, ids=ids, items=items))
    shuffler.shuffle(mixed)
    again = align(mixed)
    assert [str(one.output) for one in again] == [str(one.output) for one in expected]
    for one, other in zip(again, expected, strict=True):
        assert np.array_equal(one.scores, other.scores)


def test_items_of_all_outputs_of_a_corpus_stand_at_the_same_place(evidence) -> None:
    outputs = [
        dataclasses.replace(
            output,
            items=[
                {**item, "rouge1": int(name.split("/")[1]) / 100}
                for name, item in zip(output.ids, output.items, strict=True)
            ],
        )
        for output in evidence()
    ]
    outputs[0] = dataclasses.replace(outputs[0], ids=outputs[0].ids[::-1], items=outputs[0].items[::-1])
    rows = [one.scores[0] for one in align(outputs)]
    assert all(np.array_equal(rows[0], row) for row in rows)


def test_outputs_of_two_searches_compare_and_are_told_apart(evidence, papers) -> None:
    found = groups(align([*evidence((1, 2)), *papers((1, 2))]))
    pcov = [group for group in found if group[0].output.method == "pcov" and group[0].output.percent == 100]
    assert sorted((g[0].output.corpus, g[0].output.search, len(g)) for g in pcov) == [
        (corpus, search, 2) for corpus in ("albums", "notes") for search in ("common", "paper")
    ]
    assert len({group[0].output.search_signature for group in pcov}) == 2


def test_groups_hold_the_seeds_of_a_training(evidence) -> None:
    found = groups(align(evidence((1, 2, 3))))
    assert sorted({len(group) for group in found}) == [1, 3]
    for group in found:
        assert len({(one.output.corpus, one.output.method, one.output.percent) for one in group}) == 1
        assert [one.output.seed for one in group] in ([None], [1, 2, 3])


@pytest.mark.parametrize("index", [0, 3, 7])
def test_a_missing_item_is_named(evidence, index) -> None:
    outputs = evidence()
    damaged = replaced(outputs, index, ids=outputs[index].ids[:-1], items=outputs[index].items[:-1])
    name = outputs[index].ids[-1]
    with pytest.raises(EvidenceError, match=f"lacks item {name}"):
        align(damaged)


@pytest.mark.parametrize(
    ("index", "changes", "message"),
    [
        (1, {"ids": ["notes/x"]}, "1 ids for 40"),
        (1, {"signature": "rouge:1+2+Lsum|stem:yes|sumcurve:0.1.0"}, "score both alike"),
        (1, {"records": 501}, "below|above|records"),
        (1, {"records": None}, "needs percent, records, seed"),
        (0, {"percent": 50, "records": 1000}, "given twice"),
        (0, {"method": "lead"}, "trivial system"),
        (6, {"method": "oracle"}, "needs percent"),
        (6, {"search": "common"}, "no search"),
        (1, {"search": None}, "seed and search"),
        (1, {"signature": "rouge:1+2+Lsum|stem:yes|sumcurve:0.1.0|search:beam1"}, "score both alike"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(evidence, index, changes, message) -> None:
    with pytest.raises(EvidenceError, match=message):
        align(replaced(evidence(), index, **changes))


def test_a_larger_fraction_must_have_more_records(evidence) -> None:
    outputs = [dataclasses.replace(one, records=500) if one.percent == 50 else one for one in evidence()]
    with pytest.raises(EvidenceError, match=r"notes 50 % has 500 records, not above"):
        align(outputs)


def test_fractions_of_one_size_are_required(evidence) -> None:
    with pytest.raises(EvidenceError, match="different training records"):
        align(replaced(evidence(), 1, records=1001))


def test_a_repeated_item_is_refused(evidence) -> None:
    outputs = evidence()
    ids = [outputs[2].ids[1], *outputs[2].ids[1:]]
    with pytest.raises(EvidenceError, match="notes/1 is scored twice"):
        align(replaced(outputs, 2, ids=ids))


def test_text_for_empty_is_refused(evidence) -> None:
    outputs = evidence()
    items = [{**item, "empty": "False"} for item in outputs[0].items]
    with pytest.raises(EvidenceError, match="true or false"):
        align(replaced(outputs, 0, items=items))


def test_no_output_is_refused() -> None:
    with pytest.raises(EvidenceError, match="at least one"):
        align([])


def test_the_version_of_sumcurve_alone_does_not_part_scores(evidence) -> None:
    assert align(replaced(evidence(), 1, signature="rouge:1+2+Lsum|stem:no|sumcurve:0.2.0"))


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


def test_optima_stand_in_the_order_of_the_aligned_items(evidence, ceilings) -> None:
    outputs = evidence()
    aligned = {one.output.corpus: one.output for one in align(outputs)}
    for one in ceilings(outputs):
        by_id = dict(zip(one.ids, one.optimum, strict=True))
        assert list(one.percents()) == pytest.approx([100 * by_id[name] for name in sorted(aligned[one.corpus].ids)])


def test_optima_of_some_test_items_only_bound_no_corpus(study, extracts) -> None:
    """An oracle may search long articles only; a mean over those is none over the test part."""
    found = extracts(study.outputs)
    assert {one.corpus for one in dataclasses.replace(study, extracts=found).ceilings} == {"notes", "albums"}
    lost = found[0].certificates[0]["id"]
    kept = [one for one in found[0].certificates if one["id"].split(" (")[0] != lost]
    part = [dataclasses.replace(found[0], certificates=kept), *found[1:]]
    assert {one.corpus for one in dataclasses.replace(study, extracts=part).ceilings} == {found[1].corpus}
    assert study.ceilings == []
