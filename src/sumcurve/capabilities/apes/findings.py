"""Findings from questions, a sentence each."""

from collections.abc import Iterator

from sumcurve.capabilities.apes.levels import BASELINES
from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number

APES = "APES"  # title of the metric


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Tell whether the readers beat guessing; where they do and APES ranks, rank the methods by right answers."""
    readers = [row for row in corpus.rows("readers") if row.get("accuracy") is not None]
    if not readers:
        return
    over = [gain for name in BASELINES if (gain := effect(readers[0], f"over_{name}")) is not None]
    weakest = min(over, key=lambda gain: gain.value)
    right = number(sum(row["accuracy"] for row in readers) / len(readers), 1)
    if any(gain.low is None or gain.low <= 0 for gain in over):
        head = "Question answering (APES) is not reported: its readers are not shown to beat guessing."
        guess = f"{'best' if len(over) > 2 else 'better'} guess"
        text = f"They answer {right} % correctly, {interval(weakest)} points above the {guess}."
        yield Finding(corpus.name, head, text, "apes", 9.0)
        return
    size = corpus.largest
    rows = [row for row in corpus.rows("apes", records=size) if row["apes"] is not None and row["search"] != "paper"]
    scores = corpus.rows("scores_long", metric="apes", records=size)
    if rows and scores and all(row["ranked"] == "no" for row in scores):
        least, most = (number(of(row["apes"] for row in rows), 1) for of in (min, max))
        head = f"Question answering (APES) ranks no method ({scores[0]['why']})."
        text = f"Methods answer {least} to {most} % of the questions on {scores[0]['items']} test items."
        yield Finding(corpus.name, head, text, "apes", 6.5)
    elif (ranking := corpus.rankings(APES).get(size)) is not None:
        first, *others = ranking.sentences("", titles.all)
        head = f"By questions answered ({APES}, in percent) {first}."
        yield Finding(corpus.name, head, ". ".join([*others, ""]).strip(), "apes", 6.5)
