"""Findings from contrastive tests, a sentence each."""

from collections.abc import Iterator

from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number

CHANCE = "chance"


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The best method at the largest size beside the best language model without a source."""
    rows = [row for row in corpus.rows("contrasts") if row["dodged"] is not None]
    methods = [row for row in rows if row["records"] and row["records"] == corpus.largest]
    models = [row for row in rows if not row["records"] and not row["seeds"] and row["method"] != CHANCE]
    if not methods or not models:
        return
    best, model = (max(group, key=lambda row: row["dodged"]) for group in (methods, models))
    share, level = effect(best, "dodged"), model["dodged"]
    assert share is not None
    above = share.low is not None and share.low > level
    head = f"{titles[best['method']]} prefers the gold summary to {interval(share)} % of its broken copies."
    text = (
        f"That is {'' if above else 'not significantly '}more than the {number(level, 1)} % of a {model['method']} "
        "model that sees no source."
    )
    yield Finding(corpus.name, head, text, "contrasts", 8.0)
