"""Findings from contrastive tests, a sentence each."""

from collections.abc import Iterator

from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number

CHANCE = "chance"


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Whether a method at the largest size is above the best language model without a source, and which has most."""
    rows = [row for row in corpus.rows("contrasts") if row["dodged"] is not None]
    methods = [row for row in rows if row["records"] and row["records"] == corpus.largest]
    models = [row for row in rows if not row["records"] and not row["seeds"] and row["method"] != CHANCE]
    if not methods or not models:
        return
    model = max(models, key=lambda row: row["dodged"])
    shares = {row["method"]: share for row in methods if (share := effect(row, "dodged")) is not None}
    shares = dict(sorted(shares.items(), key=lambda pair: -pair[1].value))
    above = [name for name, share in shares.items() if share.low is not None and share.low > model["dodged"]]
    who = f"{titles.all(above)} {'prefer' if len(above) > 1 else 'prefers'}" if above else "No method prefers"
    than = f"a {model['method']} model that sees no source"
    head = f"{who} gold summaries to their broken copies significantly more often than {than}."
    best = next(iter(shares))
    text = f"{titles[best]} has the largest share, {interval(shares[best])} %"
    yield Finding(corpus.name, head, f"{text}, and the model {number(model['dodged'], 1)} %.", "contrasts", 8.0)
