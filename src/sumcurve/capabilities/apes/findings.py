"""Findings from questions, a sentence each."""

from collections.abc import Iterator

from sumcurve.capabilities.apes.levels import BASELINES
from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Tell whether the readers beat guessing; where they do and APES ranks, name the method with most right answers."""
    readers = [row for row in corpus.rows("readers") if row.get("accuracy") is not None]
    if not readers:
        return
    over = [gain for name in BASELINES if (gain := effect(readers[0], f"over_{name}")) is not None]
    weakest = min(over, key=lambda gain: gain.value)
    right = number(sum(row["accuracy"] for row in readers) / len(readers), 1)
    if any(gain.low is None or gain.low <= 0 for gain in over):
        text = (
            f"not reported, since its readers are not shown to beat guessing: {right} % right, "
            f"{interval(weakest)} points above the {'best' if len(over) > 2 else 'better'} guess."
        )
        yield Finding(corpus.name, "Question answering (APES)", text, "apes", 9.0)
        return
    size = corpus.largest
    rows = [row for row in corpus.rows("apes", records=size) if row["apes"] is not None and row["search"] != "paper"]
    scores = corpus.rows("scores_long", metric="apes", records=size)
    if rows and scores and all(row["ranked"] == "no" for row in scores):
        least, most = (number(of(row["apes"] for row in rows), 1) for of in (min, max))
        base = f"{scores[0]['items']} test items have questions"
        text = f"{base}, of which methods answer {least} to {most} %; none is ranked ({scores[0]['why']})."
        yield Finding(corpus.name, "Question answering (APES)", text, "apes", 6.5)
    elif rows:
        best = max(rows, key=lambda row: row["apes"])
        share = effect(best, "apes")
        text = f"summaries of {titles[best['method']]} answer most questions, {interval(share)} %."
        yield Finding(corpus.name, "Question answering (APES)", text, "apes", 6.5)
