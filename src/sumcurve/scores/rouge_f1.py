"""The scorer `rouge`: F1 of ROUGE-1, ROUGE-2 and ROUGE-Lsum of every summary, in points (100 F1)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import AgainstAll, Metric, Scores, group_of, summaries_of
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record

POINTS = 100
EMPTY_REFERENCES = "references_without_words"  # a count
UNCOUNTED = 0.05  # of the items: where more references have no word that a metric counts, it ranks nothing


class RougeF1(AgainstAll):
    """`score` keeps precision and recall as details and counts empty summaries, which score 0 and stay.

    It counts references without a word where they are more than `UNCOUNTED` of all.
    """

    version = "ce687915bf3b18c9"
    Settings = Rouge
    metrics = (
        Metric("rouge1", "ROUGE-1", "1", "points"),
        Metric("rouge2", "ROUGE-2", "2", "points"),
        Metric("rougeLsum", "ROUGE-Lsum", "L", "points"),
    )

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        from sumcurve.rouge_engine.scorer import score_items, signature

        summaries = [row["summary"] for row in summaries_of(output, records)]
        references = [record.all_references for record in records]
        items = score_items(summaries, references, self.settings)
        wordless = sum(item["empty_references"] for item in items)
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values={metric.name: [POINTS * item[metric.name] for item in items] for metric in self.metrics},
            signature=signature(self.settings, references),
            details={
                f"{metric.name}_{part}": [POINTS * item[f"{metric.name}_{part}"] for item in items]
                for metric in self.metrics
                for part in ("precision", "recall")
            }
            | {"empty": [item["empty"] for item in items]},
            counts={"empty": sum(item["empty"] for item in items)}
            | ({EMPTY_REFERENCES: wordless} if wordless > UNCOUNTED * len(items) else {}),
        )
