"""Human judgements of contrasts that a system failed to dodge (Kumar and Cheung 2019): the effect of the change.

Where they find an issue, the system was wrong; where they find neither, the contrast is as good as its gold.
"""

from typing import Any

from sumcurve.capabilities.people.contrasts.evidence import JudgedByPeople, by_people
from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table, number, span

POINTS = 100


def table(results: Results) -> Table:
    """A row for every rule of every system whose failures people judged, all rules before."""
    title = results.title("What people say of contrasts that a system failed to dodge")
    rows: list[dict[str, Any]] = []
    for corpus, judged in by_people(results):
        for share in judged.results.shares:
            whole = sum(share.counts.values())
            rows.append(
                {
                    "corpus": corpus,
                    "method": judged.method,
                    "records": judged.records,
                    "seed": judged.seed,
                    "rule": share.name.replace("_", " "),
                    "judgements": whole,
                    **{name: POINTS * share.counts.get(name, 0) / whole for name in KUMAR_CHEUNG.outcomes},
                    "issue": value(share.share),
                }
            )
    columns = [
        *shared("corpus", "method", "records", "seed"),
        Column("rule", "rule"),
        Column("judgements", "judgements", "count"),
        *(Column(name, name, "number", 1) for name in KUMAR_CHEUNG.outcomes),
        Column("issue", "an issue", "number", 1, interval=True),
    ]
    notes = [
        f"In percent of judgements. In brackets: {results.share} intervals, groups of records drawn together.",
        *(_agreement(corpus, judged) for corpus, judged in by_people(results)),
    ]
    return Table("contrast_people", title, columns, rows, notes)


def _agreement(corpus: str, judged: JudgedByPeople) -> str:
    parts = []
    for agreed in judged.results.agreements:
        of = agreed.agreement
        if of.value is not None and of.low is not None and of.high is not None:
            parts.append(f"{agreed.whose}: {agreed.coefficient} {span(of.value, of.low, of.high, 2)}")
    who = f"{number(judged.annotators)} annotator{'s' if judged.annotators > 1 else ''}"
    agree = f" Agreement. {'; '.join(parts)}." if parts else ""
    left_out = f", {number(judged.results.left_out)} without an answer" if judged.results.left_out else ""
    not_people = f", not people: {judged.judges}" if judged.judges else ""
    return f"{corpus}, {judged.method}: {number(judged.results.records)} contrasts{left_out}, {who}{not_people}.{agree}"
