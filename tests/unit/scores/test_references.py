"""Several references: every rule against a naive one over rouge-score, and what humans and systems share."""

import random
from statistics import fmean

import pytest
from pydantic import ValidationError
from rouge_score.rouge_scorer import RougeScorer

from sumcurve.scores.chrf import ChrF
from sumcurve.scores.references import References, SeveralRouge
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record, RecordError, write_jsonl
from sumcurve.systems.bounds import Human, ShuffledGold
from sumcurve.systems.system import Item

WORDS = ["fox", "foxes", "hen", "hens", "ran", "running", "home", "the", "a", "slept", "well"]
METRICS = ("rouge1", "rouge2", "rougeLsum")


def sentences(rng):
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 7))) for _ in range(rng.randint(1, 3))]


def corpus(seed, counts):
    """Records with so many references each, and a summary of each."""
    rng = random.Random(seed)
    records = []
    for number, count in enumerate(counts):
        first, *further = (sentences(rng) for _ in range(count))
        records.append(Record(f"r{number}", ["s"], first, further, group=f"g{number % 3}"))
    return records, [sentences(rng) for _ in records]


def scored(folder, records, summaries, own=None, **settings):
    rows = [{"id": record.id, "summary": summary} for record, summary in zip(records, summaries, strict=True)]
    write_jsonl(folder / "summaries.jsonl", rows)
    inputs = {} if own is None else {folder: {"reference": own}}
    return References(SeveralRouge(**settings)).score(folder, records, inputs)


def human(folder, records, number, **settings):
    """The scores of who wrote the reference of this number."""
    written = list(Human({"reference": number}, {}).summarize([Item(record, None) for record in records]))
    return scored(folder, records, written, own=number, **settings)


def naive(summary, references, stemmer):
    """By metric and rule what rouge-score gives, pair by pair."""
    scorer = RougeScorer(METRICS, use_stemmer=stemmer)
    every = [scorer.score("\n".join(reference), "\n".join(summary)) for reference in references]
    values = {}
    for metric in METRICS:
        points = [100 * scores[metric].fmeasure for scores in every]
        without = [points[:place] + points[place + 1 :] for place in range(len(points))]
        values[f"{metric}_mean"] = sum(points) / len(points)
        values[f"{metric}_best"] = max(points)
        values[f"{metric}_first"] = points[0]
        values[f"{metric}_jackknife"] = sum(max(left) for left in without) / len(points)
    return values


@pytest.mark.parametrize("stemmer", [False, True])
def test_every_rule_is_that_of_a_naive_loop_over_rouge_score(tmp_path, stemmer):
    records, summaries = corpus(1, [2, 3, 4] * 10)
    summaries[3] = []
    found = scored(tmp_path, records, summaries, stemmer=stemmer)
    for place, (record, summary) in enumerate(zip(records, summaries, strict=True)):
        expected = naive(summary, record.all_references, stemmer)
        assert {name: values[place] for name, values in found.values.items()} == pytest.approx(expected)
    assert found.counts == {"empty": 1}
    assert list(found.details["compared"]) == [2, 3, 4] * 10
    assert set(found.details["own_reference"]) == {""}


def test_the_best_and_who_is_alone_are_what_rouge_gives(tmp_path):
    """In the modes of both scripts; of one reference all four rules are one."""
    records, summaries = corpus(2, [1, 3, 4] * 8)
    for settings in ({}, {"mode": "rouge-1.5.5"}, {"mode": "characters"}):
        found = scored(tmp_path, records, summaries, **settings)
        best = RougeF1(Rouge(**settings, multi="best")).score(tmp_path, records, {})
        for metric in METRICS:
            assert found.values[f"{metric}_best"] == best.values[metric]
            for rule in ("mean", "first", "jackknife"):
                assert found.values[f"{metric}_{rule}"][::3] == best.values[metric][::3]
        assert found.counts["one_reference"] == 8
        assert found.signature == f"{best.signature}|rules:jackknife+mean+best+first"


def test_a_human_is_compared_with_the_others_as_a_system_is_that_has_no_other_references(tmp_path):
    records, _ = corpus(3, [3, 4] * 8)
    for number in (1, 2, 3):
        writer = human(tmp_path, records, number)
        texts = [record.all_references for record in records]
        copies = [references[number - 1] for references in texts]
        left = [references[: number - 1] + references[number:] for references in texts]
        fewer = [
            Record(record.id, ["s"], of[0], of[1:], record.group) for record, of in zip(records, left, strict=True)
        ]
        alone = scored(tmp_path, fewer, copies)
        system = scored(tmp_path, records, copies)
        for metric in METRICS:
            assert writer.values[f"{metric}_jackknife"] == writer.values[f"{metric}_best"]
            for rule in ("mean", "best", "first"):
                assert writer.values[f"{metric}_{rule}"] == alone.values[f"{metric}_{rule}"]
        for metric in ("rouge1_jackknife", "rougeLsum_jackknife"):  # of a system's sets one is the human's
            for place, record in enumerate(records):
                many = len(record.all_references)
                expected = (writer.values[metric][place] + 100 * (many - 1)) / many
                assert system.values[metric][place] == pytest.approx(expected)
        assert writer.signature == system.signature
        assert set(writer.details["own_reference"]) == {number}


def test_the_mean_over_humans_is_computed_directly(tmp_path):
    records, _ = corpus(4, [3] * 12)
    means = [fmean(human(tmp_path, records, number).values["rouge1_jackknife"]) for number in (1, 2, 3)]
    scorer = RougeScorer(["rouge1"])
    direct = []
    for record in records:
        texts = ["\n".join(reference) for reference in record.all_references]
        for place, text in enumerate(texts):
            others = texts[:place] + texts[place + 1 :]
            direct.append(100 * max(scorer.score(other, text)["rouge1"].fmeasure for other in others))
    assert fmean(means) == pytest.approx(fmean(direct))


def test_items_are_scored_whatever_stands_beside_them(tmp_path, monkeypatch):
    """In any order, in parts, and by any number of threads."""
    from sumcurve.rouge_engine import scorer as engine

    records, summaries = corpus(5, [2, 4, 1] * 12)
    whole = scored(tmp_path, records, summaries)
    monkeypatch.setattr(engine, "CHUNK", 5)
    monkeypatch.setattr(engine, "_processors", lambda: 3)
    order = random.Random(1).sample(range(len(records)), len(records))
    parts = [order[:7], order[7:]]
    for part in parts:
        found = scored(tmp_path, [records[place] for place in part], [summaries[place] for place in part])
        for name, values in found.values.items():
            assert list(values) == [whole.values[name][place] for place in part]
    several = [record for record in records if record.references]
    first, turned = human(tmp_path, several, 2), human(tmp_path, several[::-1], 2)
    assert all(values == turned.values[name][::-1] for name, values in first.values.items())


def test_a_human_has_references_to_be_compared_with_or_the_item_is_named():
    records, _ = corpus(6, [3, 1, 2])
    items = [Item(record, None) for record in records]
    with pytest.raises(RecordError, match=r"test item r1 has references: 1, and so no reference 2; .*`corpora:`"):
        list(Human({"reference": 2}, {}).summarize(items))
    with pytest.raises(RecordError, match=r"test item r1 .* none to compare it with"):
        list(Human({"reference": 1}, {}).summarize(items))
    with pytest.raises(RecordError, match=r"test item r1 .* no reference 3"):
        list(Human({"reference": 3}, {}).summarize(items[1:]))


def test_who_wrote_a_reference_is_told_from_others_and_scored_by_no_scorer_that_sees_all():
    outputs = {
        "o/human": {"corpus": "c", "system": "human", "told": {"reference": 2}},
        "o/gold": {"corpus": "c", "system": "gold", "told": {}},
        "o/lead": {"corpus": "c", "system": "lead", "max_tokens": 9},
        "o/run": {"run": "r", "corpus": "c"},
    }
    told = {name: References(SeveralRouge()).inputs(name, list(outputs), outputs) for name in outputs}
    assert told == {"o/human": {"o/human": {"reference": 2}}, "o/gold": {}, "o/lead": {}, "o/run": {}}
    for scorer in (RougeF1(Rouge()), ChrF(ChrF.Settings())):
        assert {name: scorer.inputs(name, list(outputs), outputs) for name in outputs} == told | {"o/human": None}


def test_all_rules_are_scored_so_that_none_is_chosen():
    with pytest.raises(ValidationError, match="leave multi out"):
        SeveralRouge(multi="best")
    titles = [metric.title for metric in References.metrics]
    assert len(set(titles)) == len(titles) == 12
    assert not any(metric.ranks for metric in References.metrics)


def test_shuffled_words_are_those_of_the_reference_that_is_named():
    records, _ = corpus(6, [3, 2])
    items = [Item(record, None) for record in records]
    first, second = (list(ShuffledGold(told, {}).summarize(items)) for told in ({}, {"reference": 2}))
    for record, texts in zip(records, zip(first, second, strict=True), strict=True):
        for text, reference in zip(texts, record.all_references, strict=False):
            assert sorted(" ".join(text).split()) == sorted(" ".join(reference).split())
            assert [len(line.split()) for line in text] == [len(line.split()) for line in reference]
    with pytest.raises(RecordError, match=r"test item r1 has references: 2, and so no reference 3"):
        list(ShuffledGold({"reference": 3}, {}).summarize(items[1:]))
