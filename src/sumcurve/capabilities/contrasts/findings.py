"""What came out of contrasts, in sentences; every number is a cell of their tables."""

from collections.abc import Iterator, Sequence

from sumcurve.capabilities.contrasts.tables.contrast_people import sentences
from sumcurve.capabilities.contrasts.tables.contrasts import CHANCE, MECHANICS, either
from sumcurve.capabilities.contrasts.tables.preferences import preferred
from sumcurve.tables.report.findings import LISTED, Finding, more, spanned
from sumcurve.tables.results import Results
from sumcurve.tables.table import Row, Table, listed, number


def findings(results: Results, contrasts: Table, corpus: str) -> list[tuple[str, Finding]]:
    """What dodged contrasts rest on, of a corpus on which methods are trained."""
    paragraphs = tuple(_paragraphs(results, contrasts, corpus)) if results.sizes(corpus) else ()
    return [("What should be equal", Finding(corpus, "What dodged contrasts rest on", paragraphs, "contrasts"))]


def _paragraphs(results: Results, contrasts: Table, corpus: str) -> Iterator[str]:
    """What language models of targets dodge, who dodges more, and how much of what is dodged the source buys."""
    here = [row for row in contrasts.rows if row["corpus"] == corpus and row["dodged"].number is not None]
    words = [row for row in here if row.get("records") is None and not row.get("seeds")]
    if words:
        shares = [
            f"{row['method']} {number(row['dodged'].number, 1)}"
            + (f" ({number(row['dodged_ties'].number, 1)} with ties)" if row["dodged"].mark else "")
            for row in words
        ]
        yield f"Of what sees no source, in percent of the contrasts: {listed(shares)}."
    largest = {results.name(system): system.records for system in results.largest(corpus).values()}
    methods = [row for row in here if row.get("seeds") and largest.get(row["method"]) == row.get("records")]
    models = [row for row in words if row["method"] != CHANCE]
    if models and methods:
        yield _beyond(methods, max(models, key=lambda row: row["dodged"].number))
    bought = [row for row in methods if "by_source" in row]
    if bought:
        shares = [f"{row['method']} {spanned(row['by_source'], 1)}" for row in bought]
        yield (
            "What a method at its largest size dodges given its own source, minus what it dodges given that of another "
            f"group's record, in points: {listed(shares[:LISTED])}{more(shares)}. An interval that holds 0, or lies "
            "below it, is no sign of reading."
        )
    yield from (sentence.removeprefix(f"{corpus}: ") for sentence in either(results, corpus, contrasts.rows))
    yield from sentences(results, corpus)
    if any(of.corpus == corpus and not of.evidence.people for of in preferred(results)) and here:
        yield MECHANICS


def _beyond(methods: Sequence[Row], model: Row) -> str:
    """Which methods at their largest size dodge more than a language model of targets, the best mean first.

    The model's figure has no interval, so that a method's own says no more than whether it holds that figure.
    """
    name, level = f"the {model['method']} model", model["dodged"].number
    ranked = sorted((row for row in methods if not row["dodged"].mark), key=lambda row: -row["dodged"].number)
    above = [row for row in ranked if row["dodged"].number > level]
    if not above:
        best = f": the best mean is {_dodged(ranked[0])}" if ranked else ""
        return f"No method at its largest size dodges more than {name}, in the mean{best}."
    shares = [
        _dodged(row) + (" (its interval lies above)" if (row["dodged"].low or 0) > level else " (in the mean)")
        for row in above
    ]
    return f"At their largest size these dodge more than {name}: {listed(shares[:LISTED])}{more(shares)}."


def _dodged(row: Row) -> str:
    return f"{row['method']} {spanned(row['dodged'], 1)}"
