"""Metrics whose outcome is known beforehand: each row has one that fails there, and three fail nowhere."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sumcurve.capabilities.exam.judgements import Material
from sumcurve.capabilities.exam.rows import items_of
from sumcurve.capabilities.exam.table import Row, outcome
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.capabilities.exam.verdicts import rows_of
from sumcurve.scores.needs import original_id
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.scores.scorer import Claim, Metric, NoSettings, Scorer, Scores, group_of, summaries_of
from sumcurve.store.records import Record
from unit.capabilities.exam.conftest import judged


def noise_of(text: str) -> float:
    """The same for the same text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) / 2**32


def words_of(text: Sequence[str]) -> list[str]:
    return [word for sentence in text for word in sentence.split()]


def control(value: Callable[[Record, Sequence[str]], float], claimed: Claim = "closeness") -> Scorer:
    """A scorer of one metric."""

    class Control(Scorer):
        claim = claimed
        metrics = (Metric("control", "control", "control", "points"),)

        def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
            rows = summaries_of(output, records)
            values = [value(record, row["summary"]) for record, row in zip(records, rows, strict=True)]
            ids, groups = [record.id for record in records], [group_of(record) for record in records]
            return Scores(ids, groups, {"control": values}, "control")

    return Control(NoSettings())


def sat(scorer: Scorer, material: Material, name: str = "control", claim: Claim = "closeness") -> list[Row]:
    return rows_of(items_of(scorer, material)[name], claim)


def verdicts(rows: Sequence[Row]) -> dict[str, str]:
    return {f"{row.row} {row.part}".strip(): row.verdict for row in rows}


@pytest.fixture(scope="module")
def rouge1(invented) -> list[Row]:
    return sat(RougeF1(RougeF1.Settings()), invented, "rouge1")


def test_noise_does_not_beat_guessing(invented) -> None:
    rows = sat(control(lambda record, text: noise_of(f"{record.id} {text}")), invented)
    assert verdicts(rows)["guessing"] == "failed"
    assert verdicts(rows)["repeats"] == "passed"  # it is the same for the same text
    assert outcome(rows, "closeness").startswith("failed: ")


def test_a_metric_that_follows_the_order_of_the_batch_does_not_repeat(invented) -> None:
    state = iter(range(10**9))
    rows = sat(control(lambda record, text: noise_of(str(next(state)))), invented)
    assert verdicts(rows)["repeats"] == "failed"


@pytest.mark.parametrize("scale", [1, 1e200])
def test_one_extreme_value_hides_no_noise(invented, scale) -> None:
    state = iter(range(10**9))

    def value(record: Record, text: Sequence[str]) -> float:
        return scale * noise_of(str(next(state))) if words_of(text) else -1e6

    assert verdicts(sat(control(value), invented))["repeats"] == "failed"


def test_an_id_does_not_tell_a_text_from_its_harmed_form(invented) -> None:
    rows = sat(
        control(lambda record, text: -float(re.sub(r"\D", "", record.id.removeprefix(original_id(record.id))))),
        invented,
    )
    told = verdicts(rows)
    assert {told[name] for name in ("guessing", "lost 0.5", "truncated 0.5", "swapped 0.5")} == {"failed"}


@pytest.mark.parametrize("sign", [1, -1])
def test_the_length_follows_the_length(invented, sign) -> None:
    rows = sat(control(lambda record, text: sign * len(words_of(text))), invented)
    assert verdicts(rows)["length"] == "failed"
    assert verdicts(rows)["people_given_length relevance"] == "failed"


def copied_share(record: Record, text: Sequence[str]) -> float:
    source = set(words_of(record.source))
    return sum(word in source for word in words_of(text)) / max(len(words_of(text)), 1)


def test_the_share_of_copied_words_does_not_see_that_the_source_was_copied(invented) -> None:
    assert verdicts(sat(control(copied_share), invented))["copied 0.5"] == "failed"


def referred(record: Record) -> set[str]:
    return {word for reference in record.all_references for word in words_of(reference)}


def share(words: Sequence[str], known: set[str]) -> float:
    return sum(word in known for word in words) / max(len(words), 1)


def first_sentence(record: Record, text: Sequence[str]) -> float:
    """Likes what the source begins with."""
    return share(words_of(text), set(words_of(record.source[:1])))


def novelty(record: Record, text: Sequence[str]) -> float:
    """Likes what the source does not have."""
    return 1 - copied_share(record, text)


def precision(record: Record, text: Sequence[str]) -> float:
    """Minds nothing that is missing."""
    return share(words_of(text), referred(record))


def opening(record: Record, text: Sequence[str]) -> float:
    """Reads two words of a summary."""
    return share(words_of(text)[:2], referred(record))


def any_word(record: Record, text: Sequence[str]) -> float:
    """Is content with one word that a reference has."""
    return float(precision(record, text) > 0)


def recall(record: Record, text: Sequence[str]) -> float:
    """Minds nothing that stands there twice."""
    return share(sorted(referred(record)), set(words_of(text)))


def contrary(record: Record, text: Sequence[str]) -> float:
    """Knows the document, and prefers what people do not."""
    return 10 * any_word(record, text) - judged(record, text)


def blind(record: Record, text: Sequence[str]) -> float:
    """Knows the broken words of the material without its source."""
    return -share(words_of(text), {word for word in words_of(text) if word.startswith("z")})


def count(record: Record, text: Sequence[str]) -> float:
    return float(len(words_of(text)))


@pytest.mark.parametrize(
    ("row", "value", "claim"),
    [
        ("human", first_sentence, "closeness"),
        ("lead", novelty, "closeness"),
        ("lost 0.5", precision, "coverage"),
        ("truncated 0.5", opening, "coverage"),
        ("swapped 0.5", any_word, "coverage"),
        ("repeated 0.5", recall, "closeness"),
        ("people relevance", contrary, "closeness"),
        ("people_systems relevance", contrary, "closeness"),
        ("dodges", count, "faithfulness"),
        ("dodges_by_source", blind, "faithfulness"),
    ],
)
def test_every_row_has_a_metric_that_fails_there(invented, row, value, claim) -> None:
    assert verdicts(sat(control(value, claim), invented, claim=claim))[row] == "failed"


def test_what_fails_in_one_row_passes_where_it_should(invented) -> None:
    """A row tells apart what it is about, not poor metrics at large."""
    contrary_to_people = verdicts(sat(control(contrary), invented))
    assert contrary_to_people["guessing"] == "passed"
    without_source = verdicts(sat(control(blind, "faithfulness"), invented, claim="faithfulness"))
    assert without_source["dodges"] == "passed"
    forgets_twice = verdicts(sat(control(recall), invented))
    assert {forgets_twice[f"{name} 0.5"] for name in ("lost", "truncated", "swapped")} == {"passed"}


def test_a_faithful_metric_passes(invented) -> None:
    """Systems invent the more words the later they stand; people count what the source has."""
    generator = np.random.default_rng(5)
    summaries = [
        [
            [" ".join("z" + word if generator.random() < 0.04 * system else word for word in words_of(text))]
            for text in texts
        ]
        for system, texts in enumerate(invented.summaries)
    ]
    people = [
        [copied_share(record, text) for record, text in zip(invented.records, texts, strict=True)]
        for texts in summaries
    ]
    material = replace(invented, summaries=summaries, people={"consistency": np.array(people)})
    rows = sat(
        control(lambda record, text: copied_share(record, text) + 0.01 * noise_of(str(text)), "faithfulness"),
        material,
        claim="faithfulness",
    )
    assert outcome(rows, "faithfulness") == "passed", verdicts(rows)
    sits = [name for name, rule in thresholds().rows.items() if "faithfulness" in rule.claims]
    assert {row.row for row in rows if row.verdict == "passed"} == set(sits)


def test_rouge_in_disguise_is_rouge_in_every_row(invented, rouge1) -> None:
    def disguised(scorer: RougeF1) -> Scorer:
        class Disguised(RougeF1):
            metrics = (Metric("control", "control", "control", "points", higher_is_better=False),)

            def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
                scores = scorer.score(output, records, inputs)
                values = [7 - 3 * value for value in scores.values["rouge1"]]
                return Scores(scores.ids, scores.groups, {"control": values}, "control")

        return Disguised(scorer.settings)

    rows = sat(disguised(RougeF1(RougeF1.Settings())), invented)
    assert [(row.row, row.part, row.verdict, row.why) for row in rows] == [
        (row.row, row.part, row.verdict, row.why) for row in rouge1
    ]
    for row, other in zip(rows, rouge1, strict=True):
        assert (row.value, row.low, row.high, row.p) == pytest.approx((other.value, other.low, other.high, other.p))


def test_peoples_own_labels_with_a_little_noise_pass(invented) -> None:
    for claim in ("closeness", "coverage"):
        rows = sat(
            control(lambda record, text: judged(record, text) + 0.02 * noise_of(f"{record.id} {text}"), claim),
            invented,
            claim=claim,
        )
        assert outcome(rows, claim) == "passed", [row for row in rows if row.verdict in ("failed", "undecided")]
        assert sum(row.verdict == "passed" for row in rows) >= 9


def test_a_constant_fails_and_a_description_sits_nothing(invented) -> None:
    rows = sat(control(lambda record, text: 1.0), invented)
    assert verdicts(rows)["guessing"] == verdicts(rows)["people relevance"] == "failed"
    rows = sat(control(copied_share, "description"), invented, claim="description")
    assert {row.verdict for row in rows if row.row != "repeats"} == {"not applicable"}
    assert outcome(rows, "description") == "describes: it does not rank"
