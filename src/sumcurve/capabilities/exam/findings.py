"""Findings about metrics that rank no system on a corpus, a sentence each on the study's pages."""

from collections.abc import Iterator

from sumcurve.capabilities.exam.evidence import NOT_VALIDATED
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles
from sumcurve.tables.table import listed


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The metrics that are not validated on a corpus, with the reason; first if none is validated."""
    by_reason: dict[str, list[str]] = {}
    is_ranked = False
    for row in corpus.rows("scores_long"):
        if (row.get("why") or "").startswith(NOT_VALIDATED):
            names = by_reason.setdefault(row["why"].removeprefix(f"{NOT_VALIDATED}: "), [])
            names += [row["title"]] if row["title"] not in names else []
        is_ranked = is_ranked or row.get("ranked") == "yes"
    if not by_reason:
        return
    parts = "; ".join(f"{listed(names)} ({reason})" for reason, names in by_reason.items())
    head = "Metrics not validated on this corpus (‡)" if is_ranked else "Not ranked"
    text = parts if is_ranked else f"no metric is validated on this corpus: {parts}"
    yield Finding(corpus.name, head, f"{text}.", "scores_long", 2.4 if is_ranked else 0.1)
