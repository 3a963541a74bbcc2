"""What contrastive tests show, in a sentence."""

from collections.abc import Iterator

from sumcurve.tables.report.facts import Corpus, Fact, effect
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number

CHANCE = "chance"


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The best method at the largest size beside the best language model that sees no source."""
    size = str(max(corpus.sizes, default=0))
    rows = [row for row in corpus.rows("contrasts") if row["dodged"]]
    methods = [row for row in rows if row["records"] == size]
    models = [row for row in rows if not row["records"] and not row["seeds"] and row["method"] != CHANCE]
    if not methods or not models:
        return
    best, model = (max(group, key=lambda row: float(row["dodged"])) for group in (methods, models))
    share, level = effect(best, "dodged"), float(model["dodged"])
    assert share is not None
    fact = Fact("contrasts", corpus.name, "dodged", (best["method"],), "measured", (int(size),), effect=share)
    above = share.low is not None and share.low > level
    text = (
        f"{titles[best['method']]} prefers the gold summary to {interval(share)} % of its broken copies, "
        f"{'more' if above else 'not shown to be more'} than a {model['method']} model that sees no source "
        f"({number(level, 1)} %)."
    )
    yield Finding(corpus.name, "Contrastive test", text, "contrasts", 8.0, (fact,))
