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
    several = any(int(row["articles"]) > int(of["items"]) for of in corpus.rows("scores_long", metric=row["metric"]))
    if several:  # of every reference an extract of its own
        of_each = "in the mean over references, for each by the best extract of its own"
        text = f"{interval(optimum)} {row['metric_title']} {of_each}; no one extract has more"
    else:
        text = f"{interval(optimum)} {row['metric_title']} is the most that an extract can have"
    size = max(corpus.sizes, default=0)
    best = corpus.at(corpus.metric, size)
    score, title = None, ""
    if best and corpus.metric == row["metric_title"]:
        name, records, score = best[0]["method"], str(size), float(best[0]["score"])
        title = titles[name]
    elif corpus.blind is not None:
        name, score = corpus.blind
        records, title = "", f"{titles[name]}, the best baseline,"
    if several and score is not None:
        means = corpus.rows("references", method=name, records=records)
        score = next((float(of[by_mean]) for of in means if of.get(by_mean := f"{row['metric']}_mean")), None)
    if score is not None:
        text += f"; {title} has {number(100 * score / optimum.value, 0)} % of it"
    yield Finding(corpus.name, "Best possible extract", f"{text}.", "extracts", 5.5, (fact,))
