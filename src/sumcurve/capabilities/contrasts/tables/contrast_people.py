"""What people said of contrasts that a system failed to dodge (Kumar and Cheung 2019): what the change did.

Where they find an issue, the system was wrong; where they find neither, the contrast is as good as its gold.
"""

from typing import Any

from sumcurve.capabilities.contrasts.evidence import JudgedByPeople
from sumcurve.capabilities.contrasts.tables.preferences import preferred
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table, number, span

POINTS = 100


def table(results: Results) -> Table:
    """A row for every rule of every system whose failures people judged, all rules before."""
    title = results.title("What people say of contrasts that a system failed to dodge")
    by_people = [
        (preferences.corpus, judged) for preferences in preferred(results) for judged in preferences.evidence.people
    ]
    if not by_people:
        return Table("contrast_people", title, [], [])
    from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG  # whose sheets they are: without it there are none

    rows: list[dict[str, Any]] = []
    for corpus, judged in by_people:
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
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("records", "records", "count"),
        Column("seed", "seed", "count"),
        Column("rule", "rule"),
        Column("judgements", "judgements", "count"),
        *(Column(name, name, "number", 1) for name in KUMAR_CHEUNG.outcomes),
        Column("issue", "an issue", "number", 1, interval=True),
    ]
    notes = [
        "In percent of the judgements of contrasts that the system, with this seed, finds no less probable than their "
        "golds: drawn by rule, so that all rules is no share of all its failures. Where people find neither issue, the "
        f"contrast is as good as its gold. In brackets: {results.share} intervals, groups of records drawn together.",
        *(_agreement(corpus, judged) for corpus, judged in by_people),
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


def sentences(results: Results, corpus: str) -> list[str]:
    """A sentence for every system whose failures people judged."""
    return [
        f"{judged.judges.capitalize() or 'People'} find an issue in "
        f"{span(share.share.mean, share.share.low, share.share.high, 1)} % of the contrasts "
        f"that {judged.method} with {number(judged.records)} records failed to dodge, drawn by rule."
        for preferences in preferred(results)
        if preferences.corpus == corpus
        for judged in preferences.evidence.people
        for share in judged.results.of_all_rules
    ]
