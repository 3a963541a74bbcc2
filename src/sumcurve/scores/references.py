"""The scorer `references`: ROUGE of a summary against several references, by the four rules that papers use.

- *mean*: over references.
- *best*: by the best reference (Lin 2004, section 2.1), as the scorer `rouge` has it by rouge-score.
- *first*: against the first reference alone.
- *jackknife*: for R references the mean over r of the best among the R - 1 without r (Lin 2004, section 2.1). A human
  who wrote reference r is compared with the set without r alone.

A human has R - 1 references and a system R: by the best of them a system is ahead. By the jackknife both have R - 1, so
that humans and systems are on one scale.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

from pydantic import model_validator

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, own_reference, summaries_of
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record

NAME = "references"
JACKKNIFE = "jackknife"
OWN = "own_reference"  # a detail of every item: the number of the reference that a human wrote, else empty
RULES = {
    JACKKNIFE: "jackknife",
    "mean": "mean over references",
    "best": "best reference",
    "first": "first reference",
}
POINTS = 100


class SeveralRouge(Rouge):
    """Settings of `rouge`, by every rule for several references: leave `multi` out."""

    @model_validator(mode="after")
    def every_rule_is_scored(self) -> "SeveralRouge":
        if self.multi is not None:
            raise ValueError(f"multi {self.multi!r}: `{NAME}` scores mean, best, first and jackknife; leave multi out")
        return self


class References(Scorer):
    """`score` compares a summary with each reference of its record, but for its own (`systems.bounds.Human`).

    Best is, for each metric, the reference with the best F1, in mode ``rouge-1.5.5`` the best recall (its ``-f B``).
    The first of a human who wrote the first reference is the second. Where an item has one reference, all four are
    the score against it; `one_reference` counts such items.
    """

    version = "597cd9d1a19dc97d"
    Settings = SeveralRouge
    claim = "closeness"
    metrics = tuple(
        Metric(f"rouge{n}_{rule}", f"ROUGE-{n}, {title}", f"{n[0]} {rule}", "points", ranks=False)
        for rule, title in RULES.items()
        for n in ("1", "2", "Lsum")
    )

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """Inputs of a human: the output itself, with the number of the reference that it repeats."""
        own = own_reference(specifications[output])
        return {} if own is None else {output: {"reference": own}}

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        from sumcurve.rouge_engine.scorer import METRICS, score_items, signature

        own = inputs[output]["reference"] if output in inputs else None
        summaries = [row["summary"] for row in summaries_of(output, records)]
        compared = [others(record, own) for record in records]
        pairs = [
            (summary, reference)
            for summary, references in zip(summaries, compared, strict=True)
            for reference in references
        ]
        scored = iter(
            score_items([summary for summary, _ in pairs], [[reference] for _, reference in pairs], self.settings)
        )
        chosen_by = "{}_recall" if self.settings.mode == "rouge-1.5.5" else "{}"
        values: dict[str, list[float]] = {metric.name: [] for metric in self.metrics}
        empty = []
        for references in compared:
            of_pairs = [next(scored) for _ in references]
            empty.append(of_pairs[0]["empty"])
            for metric in METRICS:
                points = [POINTS * pair[metric] for pair in of_pairs]
                for rule, value in by_rule(points, [pair[chosen_by.format(metric)] for pair in of_pairs], own).items():
                    values[f"{metric}_{rule}"].append(value)
        single = sum(not record.references for record in records)
        every = [record.all_references for record in records]
        best = self.settings.model_copy(update={"multi": "best"})
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values=values,
            signature=f"{signature(best, every)}|rules:{'+'.join(RULES)}",
            details={OWN: ["" if own is None else own] * len(records), "compared": [len(of) for of in compared]},
            counts={"empty": sum(empty)} | ({"one_reference": single} if single else {}),
        )


def others(record: Record, own: int | None) -> list[list[str]]:
    """The references of a record in their order, without the one of number `own` (from 1)."""
    return [reference for number, reference in enumerate(record.all_references, start=1) if number != own]


def by_rule(points: Sequence[float], chosen_by: Sequence[float], own: int | None) -> dict[str, float]:
    """The value of each rule by the points against each reference; the best is where `chosen_by` is highest.

    With `own`, the reference that a human wrote is left out already: the one set of its jackknife is all that is here.
    """

    def best(places: Sequence[int]) -> float:
        return points[max(places, key=chosen_by.__getitem__)]  # the first of equals, as in ROUGE

    every = range(len(points))
    sets: list[Sequence[int]] = [every]
    if own is None and len(points) > 1:
        sets = [[place for place in every if place != left_out] for left_out in every]
    return {
        JACKKNIFE: fsum(best(places) for places in sets) / len(sets),
        "mean": fsum(points) / len(points),
        "best": best(every),
        "first": points[0],
    }
