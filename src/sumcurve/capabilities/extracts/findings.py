"""How far the best extract would go, in a sentence."""

from collections.abc import Iterator

from sumcurve.tables.report.facts import Corpus, Fact, effect
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The best possible extract under the first metric of table extracts, and how near the best system comes."""
    rows = [row for row in corpus.rows("extracts", algorithm="exact", variant="") if row["metric"] == row["optimised"]]
    row = next((row for row in rows if row["metric_title"] == corpus.metric), rows[0] if rows else None)
    if row is None:
        return
    optimum = effect(row, "mean")
    assert optimum is not None
    fact = Fact("extracts", corpus.name, row["metric_title"], ("optimum",), "measured", effect=optimum)
    text = f"{interval(optimum)} {row['metric_title']} is the most that an extract can have"
    best = corpus.at(corpus.metric, max(corpus.sizes, default=0))
    if best and corpus.metric == row["metric_title"]:
        text += f"; {titles[best[0]['method']]} has {number(100 * float(best[0]['score']) / optimum.value, 0)} % of it"
    elif corpus.blind is not None:
        name, score = corpus.blind
        text += f"; {titles[name]}, the best baseline, has {number(100 * score / optimum.value, 0)} % of it"
    yield Finding(corpus.name, "Best possible extract", f"{text}.", "extracts", 5.5, (fact,))
