"""Which metrics rank nobody on a corpus, in a sentence of the study's pages."""

from collections.abc import Iterator

from sumcurve.capabilities.exam.evidence import NOT_PASSED
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles
from sumcurve.tables.table import listed


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The metrics that did not pass the exam, with the reason; first of all where none passed."""
    by_reason: dict[str, list[str]] = {}
    passed = False
    for row in corpus.rows("scores_long"):
        if row.get("why", "").startswith(NOT_PASSED):
            names = by_reason.setdefault(row["why"].removeprefix(f"{NOT_PASSED}: "), [])
            names += [row["title"]] if row["title"] not in names else []
        passed = passed or row.get("ranked") == "yes"
    if not by_reason:
        return
    parts = "; ".join(f"{listed(names)} ({reason})" for reason, names in by_reason.items())
    head = "Metrics that did not pass the exam (‡)" if passed else "Not ranked"
    text = parts if passed else f"no metric passed the exam on this corpus: {parts}"
    yield Finding(corpus.name, head, f"{text}.", "scores_long", 2.4 if passed else 0.1)
