"""Evidence of finished folders about prompted models and judges: costs of their answers, and the models named."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.chat.judge import JUDGE
from sumcurve.capabilities.chat.rubric import FATES
from sumcurve.capabilities.chat.system import ChatSettings
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.store.records import read_csv
from sumcurve.tables.evidence import Evidence, Study

GRADED = "graded"
CHANGING = "◊"  # marks a system whose answers cannot be reproduced; figures have the sign in their font


@dataclass(frozen=True)
class Prompted:
    """A system's answers on a corpus with so many examples, all seeds together; `usage` are counts by name.

    Tokens are those of answers, `lost_tokens` those of lost requests at most; `price` is of a million input and output
    tokens.
    """

    corpus: str
    method: str
    examples: int
    seeds: int
    usage: Mapping[str, int]
    tokens: tuple[int, int]
    lost_tokens: tuple[int, int]
    seconds: float
    models: Sequence[str]
    same_again: bool
    price: tuple[float, float] | None

    def money(self, input_tokens: int, output_tokens: int) -> float | None:
        """Cost by the price; None without one."""
        if self.price is None:
            return None
        return (input_tokens * self.price[0] + output_tokens * self.price[1]) / 1e6


@dataclass(frozen=True)
class Prompts(Evidence):
    """Answers of every prompted system; `changing` are the names of those that cannot be reproduced.

    `judged` are, by corpus, a judge's answers by their fate: "graded", or why there is no grade.
    """

    rows: Sequence[Prompted]
    changing: Sequence[str]
    judged: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def mark(self, method: str) -> str:
        return CHANGING if method in self.changing else ""

    def notes(self, study: Study) -> Sequence[str]:
        notes = [note for corpus, fates in self.judged.items() if (note := _ungraded(corpus, fates))]
        if any(output.method in self.changing for output in study.outputs):
            notes.append(
                f"{CHANGING} not reproducible: a server's model, which may change or end; its answers are kept where "
                "the study ran."
            )
        return notes


def _ungraded(corpus: str, fates: Mapping[str, int]) -> str:
    """A sentence about the answers without a grade; empty where all have one."""
    lacking = {fate: count for fate, count in fates.items() if fate != GRADED and count}
    if not lacking:
        return ""
    reasons = ", ".join(f"{count:,} {fate}" for fate, count in lacking.items())
    return (
        f"{corpus}: {sum(lacking.values()):,} of {sum(fates.values()):,} answers of the judge have no grade "
        f"({reasons}); items with such an answer about any system are left out of the judge's metrics for all."
    )


def _judged(folders: Folders) -> dict[str, dict[str, int]]:
    by_corpus: dict[str, dict[str, int]] = {}
    for row, output in folders.outputs:
        if (items := output.scores.get(JUDGE)) is not None:
            fates = by_corpus.setdefault(row.corpus, dict.fromkeys((GRADED, *FATES), 0))
            fates[GRADED] += len(items.ids)
            for fate in FATES:
                fates[fate] += int(items.counts[fate])
    return by_corpus


def prompts(folders: Folders) -> Prompts:
    """Read the evidence of every finished and scored output of a prompted model."""
    parts: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    settings_of: dict[str, ChatSettings] = {}
    for row, _ in folders.outputs:
        settings = folders.plan.systems.get(row.method.removesuffix(ZERO_SHOT), (None, None))[1]
        if not isinstance(settings, ChatSettings):
            continue
        settings_of[row.method] = settings
        folder = folders.results / row.output
        (timing,) = read_csv(folder / "timings.csv")
        usage = json.loads((folder / "usage.json").read_text(encoding="utf-8")) | {"seconds": float(timing["seconds"])}
        parts.setdefault((row.corpus, row.method, row.size or 0), []).append(usage)
    rows = []
    for (corpus, method, examples), usages in parts.items():
        price = settings_of[method].price
        rows.append(
            Prompted(
                corpus=corpus,
                method=method,
                examples=examples,
                seeds=len(usages),
                usage={
                    name: sum(usage[name] for usage in usages)
                    for name in ("items", "answers", "sent", "lost", "declined", "unstated", "refused", "cut")
                },
                tokens=_tokens(usages, "tokens"),
                lost_tokens=_tokens(usages, "lost_tokens"),
                seconds=sum(usage["seconds"] for usage in usages),
                models=sorted({model for usage in usages for model in usage["served"]["models"]}),
                same_again=settings_of[method].same_again,
                price=(price.input, price.output) if price else None,
            )
        )
    changing = [method for method, settings in settings_of.items() if not settings.same_again]
    return Prompts(rows, changing, _judged(folders))


def _tokens(usages: Sequence[Mapping[str, Any]], name: str) -> tuple[int, int]:
    return sum(usage[name]["input"] for usage in usages), sum(usage[name]["output"] for usage in usages)
