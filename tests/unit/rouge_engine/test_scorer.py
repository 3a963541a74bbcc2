import csv
import json
import os
import random
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from examples import examples
from sumcurve.rouge_engine import kernels as rouge_kernels
from sumcurve.rouge_engine import scorer as rouge
from sumcurve.rouge_engine.scorer import METRICS, RougeEngine, bootstrap_155, score_items, signature
from sumcurve.settings.study import Rouge

try:
    distribution("py-rouge")
    STEMS = [False, True]
except PackageNotFoundError:  # no irregular forms, no -m
    STEMS = [False]

PLAIN = Rouge()
EVERY = ["rouge1", "rouge2", "rouge3", "rouge9", "rougeL", "rougeLsum"]
OFFICIAL = ["rouge1", "rouge2", "rougeLsum", "rougeS4", "rougeSU4"]
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
        (["the old dog sleeps"], ["the old cat sleeps here"], [(3 / 4, 3 / 5), (1 / 3, 1 / 4), (3 / 4, 3 / 5)]),
        # a repeated word counts as often as the reference has it
        (["go go go"], ["go now"], [(1 / 3, 1 / 2), (0, 0), (1 / 3, 1 / 2)]),
        # punctuation is no token, case does not count; "a.b" is two tokens
        (["A.b , c !"], ["a b c"], [(1, 1), (1, 1), (1, 1)]),
        # Lsum: order of the sentences does not count, bigrams cross the sentence mark of the joined text
        (["c d", "a b"], ["a b", "c d"], [(1, 1), (2 / 3, 2 / 3), (1, 1)]),
        # Lin's union: w1 w2 and w1 w3 w5 cover 4 of the reference's 5 words, but w1 is clipped to none extra
        (["w1 w2 w6 w7 w8", "w1 w3 w8 w9 w5"], ["w1 w2 w3 w4 w5"], [(4 / 10, 4 / 5), (1 / 9, 1 / 4), (4 / 10, 4 / 5)]),
    ],
)
def test_scores_agree_with_hand_worked_cases(summary, reference, expected) -> None:
    result = score(summary, reference)
    for metric, (precision, recall) in zip(METRICS, expected, strict=True):
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert result[f"{metric}_precision"] == pytest.approx(precision)
        assert result[f"{metric}_recall"] == pytest.approx(recall)
        assert result[metric] == pytest.approx(f1)


@pytest.mark.parametrize("summary", [[], [""], ["  "]])
def test_an_empty_summary_scores_zero_and_stays(summary) -> None:
    first, second = score_items([summary, ["a b"]], [[["a b"]], [["a b"]]], PLAIN)
    assert first["empty"] is True
    assert second["empty"] is False
    assert all(value == 0 for name, value in first.items() if name != "empty")
    assert second["rouge1"] == 1


@given(SUMMARY, SUMMARY, st.data())
@examples(80)
def test_a_foreign_sentence_never_raises_precision_or_recall(summary, reference, data) -> None:
    # Not a foreign word within a sentence: with repeated words it can turn the tie-break of a longest common
    # subsequence, in ROUGE-1.5.5 as here, and so widen the union.
    place = data.draw(st.integers(0, len(summary)))
    longer = [*summary[:place], "foreign", *summary[place:]]
    before, after = score(summary, reference), score(longer, reference)
    for metric in METRICS:
        assert after[f"{metric}_precision"] <= before[f"{metric}_precision"]
        assert after[f"{metric}_recall"] <= before[f"{metric}_recall"]


REFUSED = [
    *(
        (lambda summaries=summaries, references=references: score_items(summaries, references, PLAIN), message)
        for summaries, references, message in [
            ([["a"]], [], "1 summaries for 0 items"),
            ([["a"], ["b"]], [[["a"]], []], "item 1 has no reference"),
            ([["a\nb"]], [[["a"]]], "item 0.*line break"),
            ([["a"]], [[["a\nb"]]], "item 0.*line break"),
        ]
    ),
    *(
        (lambda options=options: RougeEngine(*options), message)
        for options, message in [
            ((["rougeL"], "rouge-1.5.5"), "ROUGE-L is rougeLsum"),
            ((["rougeSU4"],), "has no rougeSU4; take mode 'rouge-1.5.5'"),
            ((["rouge0"],), "no metric 'rouge0'; did you mean"),
            (([],), "no metrics"),
            ((["rouge1"], "rouge-score", False, "average"), "average is for rouge-1.5.5"),
            ((["rouge1"], "rouge-score", False, "worst"), "'worst': take best or average"),
            ((["rouge1"], "unicode", True), "no stemmer"),
            ((["rouge1"], "rouge-score", False, None, 0), "threads is 0"),
        ]
    ),
    *(
        (lambda values=values, ids=ids: bootstrap_155(values, ids), "give at least one item")
        for values, ids in [([], None), ([0.5], ["1.1", "2.1"]), ([0.5, 0.5], ["1.1", "1.1"])]
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_cannot_be_scored_is_named(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# --- the modes against the scorers that they match

TEXT = st.text(st.sampled_from("aAbcgiİ\u212aßé01-. <>\n\r\u2028\uff21\ud800"), max_size=40) | st.lists(
    st.sampled_from(["the", "The", "cat's", "running", "runs", "argument", "flies", "3.14", "1980s", "\n", "a", "-"]),
    max_size=25,
).map(" ".join)


def as_tuples(scores: rouge.RougeScores, metric: str) -> list[tuple[float, float, float]]:
    parts = (scores.precision[metric], scores.recall[metric], scores.f[metric])
    return list(zip(*(part.tolist() for part in parts), strict=True))


@pytest.mark.parametrize("stem", [False, True])
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
@examples(120)
def test_rouge_score_is_equalled_bit_for_bit(stem, items) -> None:
    scores = RougeEngine(EVERY, stem=stem).score([text for text, _ in items], [targets for _, targets in items])
    package = RougeScorer(EVERY, use_stemmer=stem)
    expected = [package.score_multi(targets, text) for text, targets in items]
    for metric in EVERY:
        assert as_tuples(scores, metric) == [tuple(row[metric]) for row in expected]


def words_of(count: int, seed: int) -> list[str]:
    return [str(word) for word in random.Random(seed).choices(range(40), k=count)]


@pytest.mark.parametrize("lengths", [(rouge_kernels.TILE + 300, 500), (500, rouge_kernels.TILE + 300)])
def test_texts_longer_than_a_tile_score_as_rouge_score_does(lengths) -> None:
    ours, theirs = (words_of(length, length) for length in lengths)
    candidate, reference = (f"{' '.join(words)}\nand a {words[7]} sentence more" for words in (ours, theirs))
    expected = RougeScorer(["rougeL", "rougeLsum"]).score(reference, candidate)
    scores = RougeEngine(["rougeL", "rougeLsum"]).score([candidate], [reference])
    for metric, values in expected.items():
        assert as_tuples(scores, metric) == [(values.precision, values.recall, values.fmeasure)]


LONG = """
import resource
from sumcurve.rouge_engine.scorer import RougeEngine
count = 60_000
words = [f"w{place}" for place in range(count)]
turned = words[count // 2 - 5 :] + words[: count // 2 - 5]
for metrics in (["rougeL"], ["rougeLsum"]):
    engine = RougeEngine(metrics)
    engine.score(["a b"], ["b c"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    hits = engine.score([" ".join(words)], [" ".join(turned)]).hits[metrics[0]].tolist()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / before
    print(hits, grown)
    assert hits == [count // 2 + 5], hits
    assert grown < 0.6, f"{grown}: a table of bits alone takes 450 MB, thrice what Python has"
"""


def test_memory_does_not_grow_with_the_square_of_a_text() -> None:
    subprocess.run([sys.executable, "-c", LONG], check=True)


def five(value: float) -> float:
    return float(f"{value:.5f}")


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
@examples(100)
def test_without_stemming_the_modes_differ_by_rounding_only(pairs) -> None:
    # ASCII, since the two lower-case other letters in their own ways
    pairs = [tuple(text.encode("ascii", "ignore").decode() for text in pair) for pair in pairs]
    candidates, references = [one for one, _ in pairs], [[other] for _, other in pairs]
    names = ["rouge1", "rouge2", "rougeLsum"]
    exact = RougeEngine(names).score(candidates, references)
    official = RougeEngine(names, "rouge-1.5.5").score(candidates, references)
    unicode_words = RougeEngine(names, "unicode").score(candidates, references)
    for metric in names:
        for (precision, recall, _), rounded in zip(as_tuples(exact, metric), as_tuples(official, metric), strict=True):
            p, r = five(precision), five(recall)
            assert rounded == (p, r, five(p * r / (0.5 * p + 0.5 * r)) if p + r else 0)
        assert as_tuples(unicode_words, metric) == as_tuples(exact, metric)


# (precision, recall) by hand, from the counts that the script prints
@pytest.mark.parametrize(
    ("summary", "references", "multi", "expected"),
    [
        # a b c: skip-bigrams ab ac bc, unigrams a b (the last word is none); a c: ac, a
        ("a b c", ["a c"], None, {"rougeS4": (1 / 3, 1 / 1), "rougeSU4": (2 / 5, 2 / 2)}),
        # one word has no units
        ("a", ["a"], None, {"rouge1": (1, 1), "rougeS4": (0, 0), "rougeSU4": (0, 0)}),
        # four words may be skipped, five may not
        ("a b", ["a v w x y b"], None, {"rougeS4": (1, 1 / 15)}),
        ("a b", ["a v w x y z b"], None, {"rougeS4": (0, 0)}),
        # skip-bigrams cross sentences
        ("a\nb", ["a b"], None, {"rougeS4": (1, 1), "rouge2": (1, 1), "rougeLsum": (1, 1)}),
        # pooled: 2 + 1 hits of 4 + 2 and of 2 + 2 words
        ("a b", ["a b c d", "b x"], None, {"rouge1": (3 / 4, 3 / 6)}),
        ("a b", ["a b c d", "b x"], "average", {"rouge1": (3 / 4, 3 / 6)}),
        # by recall the second is best, though its F is not
        ("a b c d e f", ["a b c d x x x x x x", "e"], "best", {"rouge1": (1 / 6, 1 / 1)}),
        # equal recall: the first
        ("a b c", ["a x", "b c y z"], "best", {"rouge1": (1 / 3, 1 / 2)}),
        # a reference without words still counts the summary's
        ("a b", ["a", "-"], None, {"rouge1": (1 / 4, 1 / 1)}),
        ("", ["a", "b"], None, {"rouge1": (0, 0), "rougeLsum": (0, 0), "rougeSU4": (0, 0)}),
        # ties go to the even digit: 1/64 is 0.015625 exactly
        ("a", ["a" + 63 * " x"], None, {"rouge1": (1, 0.01562)}),
        ("a <b> c", ["b"], None, {"rouge1": (1 / 3, 1)}),
    ],
)
def test_the_official_mode_by_hand(summary, references, multi, expected) -> None:
    scores = RougeEngine(OFFICIAL, "rouge-1.5.5", multi=multi).score([summary], [references])
    for metric, (precision, recall) in expected.items():
        assert scores.precision[metric][0] == five(precision)
        assert scores.recall[metric][0] == five(recall)


@given(st.lists(st.tuples(SUMMARY, st.lists(SUMMARY, min_size=1, max_size=3)), min_size=1, max_size=5))
@examples(60)
def test_several_references_follow_from_single_ones(items) -> None:
    candidates, references = [one for one, _ in items], [targets for _, targets in items]
    average = RougeEngine(OFFICIAL, "rouge-1.5.5").score(candidates, references)
    best = RougeEngine(OFFICIAL, "rouge-1.5.5", multi="best").score(candidates, references)
    for index, (candidate, targets) in enumerate(items):
        single = RougeEngine(OFFICIAL, "rouge-1.5.5").score(
            [candidate] * len(targets), [[target] for target in targets]
        )
        for metric in OFFICIAL:
            assert average.hits[metric][index] == single.hits[metric].sum()
            assert average.candidate_units[metric][index] == single.candidate_units[metric].sum()
            assert average.reference_units[metric][index] == single.reference_units[metric].sum()
            chosen = int(np.argmax(single.recall[metric]))
            assert as_tuples(best, metric)[index] == as_tuples(single, metric)[chosen]


def test_threads_and_chunks_do_not_matter(monkeypatch) -> None:
    rng = random.Random(0)
    words = ["reads", "reading", "dogs", "dog", "b", "c"]
    texts = [" ".join(rng.choices(words, k=rng.randrange(12))) for _ in range(90)]
    references = [rng.choices(texts, k=rng.randint(1, 3)) for _ in texts]
    once = RougeEngine(EVERY, stem=True, threads=1).score(texts, references)
    monkeypatch.setattr(rouge, "CHUNK", 7)
    again = RougeEngine(EVERY, stem=True, threads=3).score(texts, references)
    for metric in EVERY:
        assert as_tuples(again, metric) == as_tuples(once, metric)
    assert again.empty.tolist() == once.empty.tolist() == [not text for text in texts]


def test_lines_of_a_string_are_sentences() -> None:
    summary, reference = ["a b", "", "c d"], ["c d", "a b"]
    lists = RougeEngine(EVERY).score([summary, []], [[reference], [reference]])
    strings = RougeEngine(EVERY).score(["\n".join(summary), ""], [["\n".join(reference)]] * 2)
    for metric in EVERY:
        assert as_tuples(lists, metric) == as_tuples(strings, metric)


@pytest.mark.parametrize("mode", ["rouge-score", "rouge-1.5.5"])
def test_a_string_is_one_reference(mode) -> None:
    texts, references = ["a b c", "d e", ""], ["a b d", "d e", "x"]
    listed = [[one] for one in references]
    scorer = RougeEngine(OFFICIAL[:3], mode)
    strings, lists = scorer.score(texts, references), scorer.score(texts, listed)
    for metric in scorer.metrics:
        assert as_tuples(strings, metric) == as_tuples(lists, metric)
    assert strings.f["rouge1"].tolist() == pytest.approx([2 / 3, 1, 0], abs=1e-5)
    assert scorer.signature_for(references) == scorer.signature_for(listed)
    assert score_items(texts, references, PLAIN) == score_items(texts, listed, PLAIN)


def test_characters_score_chinese_and_no_item_has_no_scores() -> None:
    assert score_items([], [], PLAIN) == []
    scores = RougeEngine(METRICS, "characters").score(["我爱北京"], [["我爱上海。"]])
    assert scores.f["rouge1"][0] == 2 / 4
    assert scores.f["rouge2"][0] == pytest.approx(1 / 3)
    assert RougeEngine(METRICS).score(["我爱北京"], [["我爱上海。"]]).empty[0]


def test_signatures_of_modes_differ() -> None:
    scorers = [
        RougeEngine(["rouge1"], mode, stem, multi)
        for mode, stem, multi in [
            ("rouge-score", False, None),
            ("rouge-score", True, None),
            ("rouge-1.5.5", False, None),
            ("rouge-1.5.5", False, "best"),
            *[("rouge-1.5.5", True, None)][: len(STEMS) - 1],
            ("unicode", False, None),
            ("characters", False, None),
        ]
    ]
    scorers += [RougeEngine(["rouge2"]), RougeEngine(["rouge1", "rouge2"])]
    one, two = [[["a"]]], [[["a"], ["b"]]]
    signatures = [scorer.signature_for(references) for scorer in scorers for references in (one, two, one + two)]
    assert len(set(signatures)) == 3 * len(scorers)
    assert "refs:var" in signatures[2]
    assert signature(PLAIN, one) != signature(Rouge(stemmer=True), one)


# --- the script's own bootstrap


def resampled(values: list[float], seed: int) -> float:
    """Mean of one resample, drawn with perl's rand after srand(seed): the 48-bit generator of drand48."""
    state, total = seed * 65536 + 0x330E, 0.0
    for _ in values:
        state = (state * 0x5DEECE66D + 11) % 2**48
        total += values[int(state / 2**48 * len(values))]
    return total / len(values)


def test_the_bootstrap_agrees_with_a_plain_loop() -> None:
    rng = random.Random(5)
    values = [round(rng.random(), 5) for _ in range(23)]
    ids = [f"{number}.1" for number in range(1, 24)]
    in_order = [value for _, value in sorted(zip(ids, values, strict=True))]  # 1.1, 10.1, 11.1, ...
    means = sorted(resampled(in_order, seed) for seed in range(1000))
    mean, low, high = bootstrap_155(values)
    assert mean == pytest.approx(sum(means) / 1000, abs=5.1e-6)
    assert low == pytest.approx(means[25], abs=5.1e-6)
    assert high == pytest.approx(means[974], abs=5.1e-6)
    shuffled = rng.sample(range(23), 23)
    assert bootstrap_155([values[i] for i in shuffled], [ids[i] for i in shuffled]) == (mean, low, high)


@pytest.mark.skipif(not os.environ.get("SUMCURVE_REFERENCE_DATA"), reason="SUMCURVE_REFERENCE_DATA names no folder")
@pytest.mark.parametrize("stem", STEMS)
def test_the_official_scripts_outputs_are_equalled_digit_by_digit(stem) -> None:
    """Every item and every line of -r 1000, with -m and without."""
    folder = Path(os.environ["SUMCURVE_REFERENCE_DATA"])
    columns = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeLsum", "ROUGE-SU4": "rougeSU4"}
    mode = "stem" if stem else "plain"
    items = lines = 0
    for texts in sorted(folder.glob("*.jsonl")):
        pairs = [json.loads(line) for line in texts.read_text().split("\n") if line]
        scorer = RougeEngine(list(columns.values()), "rouge-1.5.5", stem)
        scores = scorer.score([pair["candidate"] for pair in pairs], [[pair["reference"]] for pair in pairs])
        parts = {"R": scores.recall, "P": scores.precision, "F": scores.f}
        with texts.with_suffix(".per_item.csv").open() as stream:
            for row in csv.DictReader(stream):
                if row["mode"] == mode:
                    metric, item = columns[row["metric"]], int(row["item"])
                    found = tuple(part[metric][item] for part in parts.values())
                    assert found == tuple(float(row[name]) for name in ("recall", "precision", "f"))
                    items += 1
        with texts.with_suffix(".average.csv").open() as stream:
            for row in csv.DictReader(stream):
                if row["mode"] == mode:
                    found = bootstrap_155(parts[row["statistic"]][columns[row["metric"]]])
                    assert found == tuple(float(row[name]) for name in ("mean", "ci_low", "ci_high"))
                    lines += 1
    assert items == 4 * 800
    assert lines == 3 * 4 * 3
