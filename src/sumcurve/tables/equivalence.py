"""Whether methods that should come to the same do: a difference and its interval against a margin, at every size.

Equivalent is what has its whole interval within the margin (the two one-sided tests of Schuirmann 1987, at half of what
the interval leaves out); an interval that holds 0 shows nothing by itself.
"""

from typing import Any

from sumcurve.settings.study import Equivalence
from sumcurve.statistics.intervals import Estimate
from sumcurve.tables.evidence import EvidenceError
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table

EQUIVALENT, DIFFERENT, OPEN = "equivalent", "different", "not known"


def table(results: Results) -> Table:
    """A row for every two methods that should be equal, at every size that both have."""
    equivalence = results.study.equivalence
    rows = [] if equivalence is None else _rows(results, equivalence)
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("records", "records", "count"),
        Column("method", "method"),
        Column("other", "should equal"),
        Column("score", "score", "number", results.decimals, interval=True),
        Column("other_score", "its score", "number", results.decimals, interval=True),
        Column("difference", "difference", "number", results.decimals, interval=True),
        Column("margin", "margin", "number", results.decimals),
        Column("says", "says"),
        Column("interval_covers", "interval covers"),
    ]
    notes = [
        f"Says: {EQUIVALENT} where the {results.share} interval of the difference lies within the margin on both "
        f"sides, {DIFFERENT} where it lies beyond the margin, else {OPEN}. Intervals are of single comparisons, paired "
        "over groups of test items and seeds.",
        f"{results.seeds_note} {results.caveat}",
        results.marks_note,
    ]
    return Table("equivalence", results.title("Methods that should come to the same"), columns, rows, notes)


def _rows(results: Results, equivalence: Equivalence) -> list[dict[str, Any]]:
    metric = next((ranked for ranked in results.ranking if ranked.name == equivalence.metric), None)
    if metric is None:
        known = ", ".join(ranked.name for ranked in results.ranking)
        raise EvidenceError(
            f"equivalence: no metric {equivalence.metric!r} that ranks in this study; there are: {known}"
        )
    rows = []
    for corpus in results.corpora:
        here = {(member.method, member.records): member for member in results.of(corpus, True, metric.name)}
        for method, other in equivalence.methods.items():
            for (name, records), system in here.items():
                twin = here.get((other, records))
                if name != method or records is None or twin is None:
                    continue
                pair = results.pair(corpus, metric.name, records, system.cell, twin.cell)
                scores = [results.estimate(corpus, metric.name, member.cell) for member in (system, twin)]
                rows.append(
                    {
                        "corpus": corpus,
                        "metric": metric.title,
                        "records": records,
                        "method": results.name(system),
                        "other": results.name(twin),
                        "score": value(scores[0], decimals=metric.decimals),
                        "other_score": value(scores[1], decimals=metric.decimals),
                        "difference": value(pair.difference, decimals=metric.decimals),
                        "margin": equivalence.margin,
                        "says": pair.why
                        if pair.difference.low is None
                        else judged(pair.difference, equivalence.margin),
                        "interval_covers": pair.difference.covers if pair.difference.low is not None else None,
                    }
                )
    return rows


def judged(difference: Estimate, margin: float) -> str:
    """What the interval of a difference says of a margin."""
    assert difference.low is not None
    assert difference.high is not None
    if -margin < difference.low and difference.high < margin:
        return EQUIVALENT
    return DIFFERENT if difference.low > margin or difference.high < -margin else OPEN
