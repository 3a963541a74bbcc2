"""The scorer `doubled`: whether a word stands twice in a row in a summary, as small models write ("been been").

Repeated trigrams (scorer `extractiveness`) hardly show it, since searches forbid them. Coverage (See et al. 2017) is
to prevent repetition. How good a summary is it does not say, and no system is ranked by it.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of
from sumcurve.store.records import Record

WORD = re.compile(r"\w")


class Doubled(Scorer):
    """An item's value is 100 where two neighbouring tokens of a sentence are one word, in any case, else 0."""

    version = 1
    metrics = (Metric("doubled", "a word twice in a row", "twice", "percent", 1, higher_is_better=False, ranks=False),)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        summaries = [row["summary"] for row in summaries_of(output, records)]
        written = [100.0 * is_doubled(reference) for record in records for reference in record.all_references]
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values={"doubled": [100.0 * is_doubled(summary) for summary in summaries]},
            signature="doubled:words|tok:own+lower|within-sentences",
            counts={"empty": sum(not any(summary) for summary in summaries)},
            references={"doubled": sum(written) / len(written)},
        )


def is_doubled(summary: Sequence[str]) -> bool:
    """Tell whether a word follows itself in one of the sentences, which are blank-separated tokens."""
    return any(
        first == second and WORD.search(first) is not None
        for sentence in summary
        for first, second in pairwise(sentence.lower().split())
    )
