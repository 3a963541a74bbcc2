"""Metrics whose outcome is known beforehand sit the exam: three fail in the row named for each, two do not."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.exam.judgements import Material
from sumcurve.capabilities.exam.rows import items_of
from sumcurve.capabilities.exam.table import Row, outcome
from sumcurve.capabilities.exam.verdicts import rows_of
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
