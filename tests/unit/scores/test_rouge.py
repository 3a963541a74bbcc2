import csv
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumcurve.scores import METRICS
from sumcurve.scores.rouge import score_items, signature
from sumcurve.settings import Rouge

PLAIN = Rouge()
WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "reads", "writes", "reading", "7", "."])
SENTENCE = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
SUMMARY = st.lists(SENTENCE, min_size=1, max_size=4)


def score(summary: list[str], *references: list[str], stemmer: bool = False) -> dict:
    return score_items([summary], [list(references)], Rouge(stemmer=stemmer))[0]


# Each expectation is (precision, recall) worked by hand from Lin (2004).
@pytest.mark.parametrize(
    ("summary", "reference", "expected"),
    [
        # 3 of 4 words against 3 of 5; "the old" of 3 bigrams against 4; subsequence "the old sleeps"
        (
            ["the old dog sleeps"],
            ["the old cat sleeps here"],
            [(3 / 4, 3 / 5), (1 / 3, 1 / 4), (3 / 4, 3 / 5)],
        ),
        # a repeated word counts as often as the reference has it
        (["go go go"], ["go now"], [(1 / 3, 1 / 2), (0, 0), (1 / 3, 1 / 2)]),
        # punctuation is no token, case does not count; "a.b" is two tokens
        (["A.b , c !"], ["a b c"], [(1, 1), (1, 1), (1, 1)]),
        # Lsum: order of the sentences does not count, bigrams cross the sentence mark of the joined text
        (["c d", "a b"], ["a b", "c d"], [(1, 1), (2 / 3, 2 / 3), (1, 1)]),
        # Lin's union: w1 w2 and w1 w3 w5 cover 4 of the reference's 5 words, but w1 is clipped to none extra
        (
            ["w1 w2 w6 w7 w8", "w1 w3 w8 w9 w5"],
            ["w1 w2 w3 w4 w5"],
            [(4 / 10, 4 / 5), (1 / 9, 1 / 4), (4 / 10, 4 / 5)],
        ),
    ],
)
def test_scores_agree_with_hand_worked_cases(summary, reference, expected) -> None:
    result = score(summary, reference)
    for metric, (precision, recall) in zip(METRICS, expected, strict=True):
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert result[f"{metric}_precision"] == pytest.approx(precision)
        assert result[f"{metric}_recall"] == pytest.approx(recall)
        assert result[metric] == pytest.approx(f1)


def test_lsum_sees_sentences_where_the_text_is_the_same() -> None:
    apart, joined = score(["c d", "a b"], ["a b", "c d"]), score(["c d a b"], ["a b c d"])
    assert apart["rouge1"] == joined["rouge1"] == 1
    assert apart["rougeLsum"] == 1
    assert joined["rougeLsum"] == pytest.approx(0.5)


@pytest.mark.parametrize("summary", [[], [""], ["  "]])
def test_an_empty_summary_scores_zero_and_stays(summary) -> None:
    first, second = score_items([summary, ["a b"]], [[["a b"]], [["a b"]]], PLAIN)
    assert first["empty"] is True
    assert second["empty"] is False
    assert all(value == 0 for name, value in first.items() if name != "empty")
    assert second["rouge1"] == 1


def test_of_several_references_the_best_f1_counts_for_each_metric() -> None:
    # The first reference has all words in another order, the second fewer words but the order.
    summary, shuffled, ordered = ["a b c d"], ["d c b a"], ["a b c x y z"]
    alone = [score(summary, reference) for reference in (shuffled, ordered)]
    both = score(summary, shuffled, ordered)
    for metric in METRICS:
        best = max(alone, key=lambda result: result[metric])
        for part in ("", "_precision", "_recall"):
            assert both[metric + part] == best[metric + part]
    assert alone[0]["rouge1"] > alone[1]["rouge1"]
    assert alone[0]["rouge2"] < alone[1]["rouge2"]


def test_stemming_joins_inflected_words() -> None:
    assert score(["writes"], ["writing"])["rouge1"] == 0
    assert score(["writes"], ["writing"], stemmer=True)["rouge1"] == 1


@given(SUMMARY)
@settings(max_examples=40, deadline=None)
def test_a_text_scores_one_against_itself(summary) -> None:
    words = [word for sentence in summary for word in sentence.split() if word != "."]
    result = score(summary, summary)
    assert result["rouge1"] == result["rougeLsum"] == (1 if words else 0)
    assert result["rouge2"] == (1 if len(words) > 1 else 0)


@given(SUMMARY, SUMMARY)
@settings(max_examples=80, deadline=None)
def test_swapping_texts_swaps_precision_and_recall(summary, reference) -> None:
    there, back = score(summary, reference), score(reference, summary)
    # The union over the other side's sentences makes ROUGE-Lsum symmetric for single sentences only.
    single = len(summary) == len(reference) == 1
    for metric in METRICS if single else METRICS[:2]:
        assert there[f"{metric}_precision"] == pytest.approx(back[f"{metric}_recall"])
        assert there[metric] == pytest.approx(back[metric])


@given(SUMMARY, SUMMARY, st.data())
@settings(max_examples=80, deadline=None)
def test_a_foreign_sentence_never_raises_precision_or_recall(summary, reference, data) -> None:
    # Not a foreign word within a sentence: with repeated words it can turn the tie-break of a longest common
    # subsequence, in ROUGE-1.5.5 as here, and so widen the union.
    place = data.draw(st.integers(0, len(summary)))
    longer = [*summary[:place], "foreign", *summary[place:]]
    before, after = score(summary, reference), score(longer, reference)
    for metric in METRICS:
        assert after[f"{metric}_precision"] <= before[f"{metric}_precision"]
        assert after[f"{metric}_recall"] <= before[f"{metric}_recall"]


@given(st.lists(st.tuples(SUMMARY, SUMMARY), min_size=2, max_size=5), st.randoms())
@settings(max_examples=20, deadline=None)
def test_items_are_scored_one_by_one(pairs, random) -> None:
    summaries, references = [pair[0] for pair in pairs], [[pair[1]] for pair in pairs]
    rows = score_items(summaries, references, PLAIN)
    order = list(range(len(pairs)))
    random.shuffle(order)
    again = score_items([summaries[i] for i in order], [references[i] for i in order], PLAIN)
    assert again == [rows[i] for i in order]


@pytest.mark.parametrize(
    ("summaries", "references", "message"),
    [
        ([["a"]], [], "1 summaries for 0 items"),
        ([["a"], ["b"]], [[["a"]], []], "item 1 has no reference"),
        ([["a\nb"]], [[["a"]]], "item 0.*line break"),
        ([["a"]], [[["a\nb"]]], "item 0.*line break"),
    ],
)
def test_bad_input_is_named(summaries, references, message) -> None:
    with pytest.raises(ValueError, match=message):
        score_items(summaries, references, PLAIN)


def test_the_signature_tells_apart_what_does_not_compare() -> None:
    one, two = [[["a"]]], [[["a"], ["b"]]]
    every = {
        signature(PLAIN, one),
        signature(Rouge(stemmer=True), one),
        signature(PLAIN, two),
        signature(PLAIN, one + two),
    }
    assert len(every) == 4
    assert "refs:var" in signature(PLAIN, one + two)
    assert "Lsum" in signature(PLAIN, one)


@pytest.mark.skipif("SUMCURVE_REFERENCE_DATA" not in os.environ, reason="SUMCURVE_REFERENCE_DATA names no folder")
def test_scores_agree_with_rouge_155_item_by_item() -> None:
    """Its outputs without -m: precision and recall rounded to five decimals, F1 computed from the rounded
    ones.
    """
    folder = Path(os.environ["SUMCURVE_REFERENCE_DATA"])
    columns = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeLsum"}
    compared = 0
    for texts in sorted(folder.glob("*.jsonl")):
        pairs = [json.loads(line) for line in texts.read_text().splitlines()]
        rows = score_items([pair["candidate"] for pair in pairs], [[pair["reference"]] for pair in pairs], PLAIN)
        with texts.with_suffix(".per_item.csv").open() as stream:
            for line in csv.DictReader(stream):
                if line["mode"] == "plain" and line["metric"] in columns:
                    row, metric = rows[int(line["item"])], columns[line["metric"]]
                    assert row[f"{metric}_recall"] == pytest.approx(float(line["recall"]), abs=5.001e-6)
                    assert row[f"{metric}_precision"] == pytest.approx(float(line["precision"]), abs=5.001e-6)
                    assert row[metric] == pytest.approx(float(line["f"]), abs=1.5e-5)
                    compared += 1
    assert compared
