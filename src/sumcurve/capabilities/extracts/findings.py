"""Findings about the optimal extract, in a sentence."""

from collections.abc import Iterator
from dataclasses import replace

from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The optimal extract under the first metric of table extracts, and the best system's share of its score.

    The best system is the best method where methods are ranked by that metric, else the best baseline by it.
    """
    rows = [row for row in corpus.rows("extracts", algorithm="exact") if row["metric"] == row["optimised"]]
    row = next((row for row in rows if row["metric_title"] == corpus.metric), rows[0] if rows else None)
    if row is None:
        return
    optimum = effect(row, "mean")
    assert optimum is not None
    several = any(row["articles"] > of["items"] for of in corpus.rows("scores_long", metric=row["metric"]))
    head = f"The optimal extract has {interval(optimum)} {row['metric_title']}; no extract scores more."
    text = "This is the mean over references, each with its optimal extract." if several else ""
    best = corpus.at(corpus.metric, corpus.largest)
    score, title = None, ""
    records: int | None = None
    if best and corpus.metric == row["metric_title"]:
        name, records, score = best[0]["method"], corpus.largest, best[0]["score"]
        title = titles[name]
    elif not corpus.unread and (blind := replace(corpus, chosen=row["metric"]).blind):
        name, score = blind
        title = f"{titles[name]}, the best baseline,"
    if several and score is not None:
        means = corpus.rows("references", method=name, records=records)
        score = next((of.get(f"{row['metric']}_mean") for of in means), None)
    if score is not None:
        text += " By that mean" if several else ""
        text += f" {title} has {number(score, 1)}, {number(100 * score / optimum.value, 0)} % of the optimum."
    yield Finding(corpus.name, head, text.strip(), "extracts", 5.5)
