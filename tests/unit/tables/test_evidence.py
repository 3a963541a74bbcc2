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
