"""Dodged and escaped of systems whose preferences are known, from what they find to the scorers' values."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from sumcurve.capabilities.contrasts.judge import judge
from sumcurve.capabilities.contrasts.judged import (
    TIE,
    Judged,
    contrast_keys,
    digest,
    margins,
    read_judged,
    write_judged,
)
from sumcurve.capabilities.contrasts.language import WordModel, judge_words
from sumcurve.capabilities.contrasts.scorer import Dodged, Escaped
from sumcurve.capabilities.contrasts.sets import Contrast, Contrasted, write
from sumcurve.scores.scorer import NoSettings, Scores
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record, RecordError, Text
from sumcurve.systems.system import Item


def told(item: str, gold: str, **contrasts: str) -> Contrasted:
    """A gold and its contrasts, by rule; several of one rule stand between bars."""
    made = [Contrast(rule, tuple(text.split(" "))) for rule, texts in contrasts.items() for text in texts.split(" | ")]
    return Contrasted(item, tuple(gold.split(" ")), tuple(made))


# What a bigram model of the targets "a b", "a b" and "a c" prefers is computed by hand in its test below.
BROKEN = [
    told("1", "a b", gold_noun="b a", source_noun="a c"),
    told("2", "a c", gold_noun="c a", source_noun="a b"),
    told("3", "c", source_noun="b"),
    told("4", "x y", gold_noun="y x"),
    told("5", "a"),
]
RECORDS = [Record(one.item, [f"source {one.item}"], [" ".join(one.gold)], group=f"g{one.item}") for one in BROKEN]
ITEMS = [Item(record, Text(record.id, record.source, record.target)) for record in RECORDS]


class Says:
    """A system by its function of a source and a target's words."""

    def __init__(self, says: Callable[[str, tuple[str, ...]], float]) -> None:
        self.says = says

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        raise NotImplementedError

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        words = [tuple(word for sentence in target for word in sentence.split(" ")) for target in targets]
        return [self.says(item.record.source[0], target) for item, target in zip(items, words, strict=True)]


@pytest.fixture
def scores(tmp_path: Path) -> Callable[..., tuple[Scores, Scores]]:
    """What both scorers say of the first of some runs, which one folder holds."""

    def of(*runs: Judged) -> tuple[Scores, Scores]:
        folder, annotation = tmp_path / "judged", tmp_path / "contrasts"
        names = [f"runs/run-{number}" for number in range(len(runs))]
        for path in (folder, annotation):
            path.mkdir(exist_ok=True)
        write(annotation, BROKEN)
        for name, found in zip(names, runs, strict=True):
            write_judged(folder / f"{name.split('/')[1]}.safetensors", found, BROKEN)
        inputs = {annotation: None, folder: {"runs": names, "own": names[0]}}
        dodged = Dodged(NoSettings()).score(tmp_path, RECORDS, inputs)
        return dodged, Escaped(NoSettings()).score(tmp_path, RECORDS, inputs)

    return of


def by_item(found: Scores, metric: str) -> dict[str, float]:
    keys = zip(found.ids, *found.further.values(), strict=True)
    return dict(zip(map(" ".join, keys), found.values[metric], strict=True))


def test_a_bigram_model_gets_the_figures_that_are_computed_by_hand(scores: Callable) -> None:
    """p1(w) = (c(w) + 4 / 6) / (9 + 4): of 9 tokens, 4 kinds, and 6 words with the marks for unknown and sentences.

    a is 11/39, b 8/39, c 5/39, the end 11/39. What follows a word w_0: (c(w_0 w) + t(w_0) p1(w)) / (c(w_0) + t(w_0)).
    """
    model = WordModel.of([["a b"], ["a b"], ["a c"]], 2, 1)
    p1 = {"a": 11 / 39, "b": 8 / 39, "c": 5 / 39, "</s>": 11 / 39}
    assert {word: model.probability(word, ()) for word in p1} == pytest.approx(p1)
    ab = (3 + p1["a"]) / 4 * (2 + 2 * p1["b"]) / 5 * (2 + p1["</s>"]) / 3
    ac = (3 + p1["a"]) / 4 * (1 + 2 * p1["c"]) / 5 * (1 + p1["</s>"]) / 2
    ba = p1["b"] / 4 * p1["a"] / 3 * 2 * p1["</s>"] / 5
    ca = p1["c"] / 4 * p1["a"] / 2 * 2 * p1["</s>"] / 5
    b, c = p1["b"] / 4 * (2 + p1["</s>"]) / 3, p1["c"] / 4 * (1 + p1["</s>"]) / 2
    found = judge_words(model, BROKEN)
    by_hand = [ab, ba, ac, ac, ca, ab, c, b]
    assert found.own[:8].tolist() == pytest.approx([math.log(one) for one in by_hand])
    assert [ab > ba, ab > ac, ac > ca, ac > ab, c > b] == [True, True, True, False, False]

    dodged, escaped = scores(found)
    # Both x and y are unknown to the model: the exchange is left out, and so is its gold.
    assert by_item(dodged, "dodged") == {
        "1 gold_noun 1": 100,
        "1 source_noun 1": 100,
        "2 gold_noun 1": 100,
        "2 source_noun 1": 0,
        "3 source_noun 1": 0,
    }
    assert by_item(escaped, "escaped") == {"1": 100, "2": 0, "3": 0}
    assert dodged.groups == ["g1", "g1", "g2", "g2", "g3"]
    assert dodged.counts == {"contrasts": 5, "left_out": round(1 / 6, 6), "cannot_tell": 1}


def test_probabilities_of_words_sum_to_one() -> None:
    model = WordModel.of([["a b a c"], ["b b", "c a"]], 3, 1)
    for context in [(), ("a",), ("a", "b"), ("b", "<t>"), ("<s>", "<s>"), ("never", "seen")]:
        assert sum(model.probability(word, context) for word in model.words) == pytest.approx(1)


def test_a_system_that_prefers_every_original_escapes_always(scores: Callable) -> None:
    golds = {one.item: one.gold for one in BROKEN}
    best = judge(
        Says(lambda source, target: float(target == golds[source.split()[1]])), BROKEN, ITEMS, Reading(others=1)
    )
    dodged, escaped = scores(best)
    assert set(dodged.values["dodged"]) == set(escaped.values["escaped"]) == {100.0}
    assert len(escaped.ids) == 4  # the fifth gold has no contrast
    liked = {("a", "b"), ("c",), ("x", "y")}  # of any source, so that a contrast of the second is
    dodged, escaped = scores(judge(Says(lambda _, target: float(target in liked)), BROKEN, ITEMS, Reading(others=1)))
    assert by_item(dodged, "dodged")["2 source_noun 1"] == 0.0
    assert by_item(escaped, "escaped") == {"1": 100, "2": 0, "3": 100, "4": 100}


def test_who_ignores_order_dodges_no_exchange_unless_ties_are_dodged(scores: Callable) -> None:
    weights = {"a": 0.1, "b": 0.2, "c": 0.3, "x": 1e9, "y": 1e-9}
    found = judge(
        Says(lambda _, target: -math.fsum(weights[word] for word in target)), BROKEN, ITEMS, Reading(others=1)
    )
    dodged, escaped = scores(found)
    exchanges = {name: value for name, value in by_item(dodged, "dodged").items() if "gold_noun" in name}
    assert set(exchanges.values()) == {0.0}
    assert len(exchanges) == 3
    assert by_item(escaped, "escaped") == {"1": 0, "2": 0, "3": 0, "4": 0}
    _, names = contrast_keys(BROKEN)
    exchanged = np.array([name.startswith("gold_noun") for name in names])
    assert (margins(found.own, found)[exchanged] == 0).all()
    unigram = judge_words(WordModel.of([["a b"], ["x y c"]], 1, 1), BROKEN)
    assert (margins(unigram.own, unigram)[exchanged] == 0).all()
    assert unigram.visible[unigram.contrast].all()


def test_a_difference_below_a_millionth_nat_is_a_tie() -> None:
    own = np.array([-1.0, -1.0 - TIE / 2, -1.0 + TIE / 2, -1.0 - 2 * TIE])
    one = Judged(own, np.ones(4, dtype=np.int32), np.array([False, True, True, True]), np.array([0, 4], dtype=np.int32))
    assert margins(one.own, one).tolist() == [0.0, 0.0, pytest.approx(2 * TIE)]


def test_systems_are_compared_on_what_all_of_them_tell_apart(scores: Callable) -> None:
    knows = judge_words(WordModel.of([["a b c x y"]], 2, 1), BROKEN)
    knows_less = judge_words(WordModel.of([["a c"]], 2, 1), BROKEN)
    alone, _ = scores(knows)
    both, escaped = scores(knows, knows_less)
    assert len(alone.ids) == 6
    # b, x and y are one to the second: it takes "x y" for "y x".
    assert list(both.ids) == ["1", "1", "2", "2", "3"]
    assert list(escaped.ids) == ["1", "2", "3"]
    assert {key: value for key, value in by_item(alone, "dodged").items() if key[0] != "4"} == by_item(both, "dodged")
    nobody = judge_words(WordModel.of([["z"]], 2, 1), BROKEN)
    with pytest.raises(RecordError, match=r"none of the 6 contrasts .* by all 2 systems; compare fewer systems"):
        scores(knows, nobody)


def test_files_of_other_contrasts_are_refused(tmp_path: Path) -> None:
    found = judge_words(WordModel.of([["a b"]], 1, 1), BROKEN)
    write_judged(tmp_path / "one.safetensors", found, BROKEN)
    again = read_judged(tmp_path / "one.safetensors", digest(BROKEN))
    assert all(
        np.array_equal(getattr(again, name), getattr(found, name)) for name in ("own", "tokens", "visible", "starts")
    )
    assert again.other is None
    with pytest.raises(RecordError, match="is of other contrasts than those given; judge again"):
        read_judged(tmp_path / "one.safetensors", digest(BROKEN[:2]))
    (tmp_path / "one.safetensors").write_bytes(b"damaged")
    with pytest.raises(RecordError, match=r"cannot be read .*; judge again"):
        read_judged(tmp_path / "one.safetensors", digest(BROKEN))


def test_only_what_was_judged_is_scored() -> None:
    scorer = Dodged(NoSettings())
    judged = {"corpus": "corpora/a", "contrasts": "annotations/c", "runs": ["runs/1", "runs/2"]}
    specifications = {
        "runs/1": {"model": {"kind": "recurrent"}},
        "runs/2": {"model": {"kind": "extract-rewrite"}},
        "runs/3": {"model": {"kind": "recurrent"}},
        "outputs/judge": judged,
        "outputs/common": {"run": "runs/1", "corpus": "corpora/a", "reading": {}},
        "outputs/paper": {"run": "runs/1", "corpus": "corpora/a"},
        "outputs/before": {"run": "runs/1", "corpus": "corpora/a", "reading": {}, "checkpoint": "before"},
        "outputs/rewrites": {"run": "runs/2", "corpus": "corpora/a"},
        "outputs/rewrites-paper": {"run": "runs/2", "corpus": "corpora/a"},
        "outputs/unjudged": {"run": "runs/3", "corpus": "corpora/a", "reading": {}},
        "outputs/unseen": {"run": "runs/1", "corpus": "corpora/a-unseen", "reading": {}},
        "outputs/lead": {"corpus": "corpora/a"},
    }
    outputs = [key for key in specifications if key.startswith("outputs/") and key != "outputs/judge"]
    found = {key: scorer.inputs(key, outputs, specifications) for key in outputs}
    asked = {key for key, inputs in found.items() if inputs is not None}
    assert asked == {"outputs/common", "outputs/rewrites"}
    assert found["outputs/common"] == {
        "annotations/c": None,
        "outputs/judge": {"runs": ["runs/1", "runs/2"], "own": "runs/1"},
    }
