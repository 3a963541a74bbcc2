"""Findings from contrastive tests, a sentence each."""

from collections.abc import Iterator

from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number

CHANCE = "chance"


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Tell which methods at the largest size are above the best language model without a source, and which has most."""
    rows = [row for row in corpus.rows("contrasts") if row["dodged"] is not None]
    methods = [row for row in rows if row["records"] and row["records"] == corpus.largest]
    models = [row for row in rows if not row["records"] and not row["seeds"] and row["method"] != CHANCE]
    if not methods or not models:
        return
    model = max(models, key=lambda row: row["dodged"])
    shares = {row["method"]: share for row in methods if (share := effect(row, "dodged")) is not None}
    shares = dict(sorted(shares.items(), key=lambda pair: -pair[1].value))
    above = [name for name, share in shares.items() if share.low is not None and share.low > model["dodged"]]
    who = titles.all(above) if above else "No method is shown to"
    prefer = "prefer" if len(above) != 1 else "prefers"
    head = f"{who} {prefer} gold summaries to their broken copies more often than a {model['method']} model."
    best = next(iter(shares))
    text = (
        f"{titles[best]} has the largest share, {interval(shares[best])} %, the model {number(model['dodged'], 1)} %."
    )
    text += f" The model sees no source.{_learned(corpus)}"
    yield Finding(corpus.name, head, text, "contrasts", 8.0)


def _learned(corpus: Corpus) -> str:
    """State from how many targets the language models learned, where methods had fewer records."""
    records = {
        row["part"]: row["records"] for row in corpus.rows("corpora") if row["part"] in ("kept", "valid", "test")
    }
    if len(records) < 3:
        return ""
    learned = records["kept"] - records["valid"] - records["test"]
    more = f" It learned from {number(learned)} targets, the methods from {number(corpus.largest)} at most."
    return more if learned > corpus.largest else ""
