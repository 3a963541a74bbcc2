"""Several corpora side by side, in sentences and as a figure: one panel a corpus, a method in one colour everywhere."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import product

import pandas as pd

from sumcurve.capabilities.across.tables import HOLDS, REVERSES, Recorded, altered, shared
from sumcurve.tables import chart
from sumcurve.tables.figures import panel_of
from sumcurve.tables.report.facts import ignores_source
from sumcurve.tables.report.findings import BETTER, EQUAL, Titles
from sumcurve.tables.table import Row, Table, listed, number

WIDTH, HEIGHT = 230, 150  # pixels of a panel: with names and axis below 390, so that a narrow screen shrinks no text


def best(corpus: Recorded, size: int, titles: Titles) -> str:
    """The significantly best method at a size and those that it is not tested against, or why there is none."""
    ranking = corpus.rankings[size]
    names, untested = titles.all(ranking.best), titles.all([standing.name for standing in ranking.of("untested")])
    if ranking.outcome == BETTER:
        return f"{names} (not tested against {untested})" if untested else names
    if ranking.outcome == "alone":
        return f"only {names} is ranked" if names else f"not ranked ({corpus.unranked(size)})"
    return "none" if ranking.outcome == EQUAL else "not tested"


def row_of(corpus: Recorded, size: int, titles: Titles) -> tuple[str, str]:
    """The methods at a size, the best mean first, then those without a rank; and who is significantly best."""
    names = corpus.rankings[size].names
    ranked = [titles[name] + " (single run)" * (not corpus.is_replicated(name, size)) for name in names]
    others = [row for (name, at), row in corpus.cells.items() if at == size and name not in names]
    unranked = ", ".join(titles[row["method"]] + " †" * ignores_source(row) for row in others)
    parts = (", ".join(ranked), unranked and f"not ranked: {unranked}")
    return "; ".join(filter(None, parts)), best(corpus, size, titles)


def settings_sentence(corpora: Sequence[Recorded], titles: Titles) -> str:
    """List methods whose training is not known to be the same in all studies; empty where all are."""
    changed = altered(corpora)
    studies: dict[str, list[str]] = {}
    for corpus in corpora:
        settings = [corpus.settings.get(name, "settings not known") for name in changed if name in corpus.methods]
        if settings:
            studies.setdefault(" / ".join(dict.fromkeys(settings)), []).append(corpus.study)
    forms = "; ".join(f"{listed(names)}: {settings}" for settings, names in studies.items())
    are = "are" if len(changed) > 1 else "is"
    return f"{titles.all(changed)} {are} not trained alike in all studies ({forms})." if changed else ""


def sentences(corpora: Sequence[Recorded], sizes: Sequence[int], tables: Sequence[Table], titles: Titles) -> list[str]:
    """State who leads where near `sizes`, on which rankings corpora agree, and which reverse, by `across.tables`."""
    rows = {table.name: table.rows for table in tables}
    said = [_leads(corpora, sizes, titles), *_rankings(rows["across_pairs"], titles)]
    if not rows["across_efficiency"]:
        said.append("Data efficiency is not compared: that takes two methods with two seeds at two sizes everywhere.")
    return said


def _leads(corpora: Sequence[Recorded], sizes: Sequence[int], titles: Titles) -> str:
    leads: dict[str, dict[int, list[str]]] = {}  # names of corpora by size, by the leading method
    for at, corpus in product(sizes, corpora):
        size = corpus.nearest(at)
        if size is not None and corpus.rankings[size].outcome == BETTER:
            leader = titles.all(corpus.rankings[size].best)
            leads.setdefault(leader, {}).setdefault(at, []).append(corpus.name)
    if not leads:
        return "No method leads on any corpus."
    clauses = [
        f"{leader} leads {' and '.join(f'near {number(at)} records on {listed(names)}' for at, names in where.items())}"
        for leader, where in leads.items()
    ]
    return f"Of the methods that are tested, {'; '.join(clauses)}; elsewhere none leads."


def _rankings(rows: Sequence[Row], titles: Titles) -> Iterator[str]:
    held: dict[int, list[str]] = {}  # pairs by size
    turned: dict[tuple[int, str, str], dict[str, list[str]]] = {}  # names of corpora by the better method, by pair
    for row in rows:
        at, first, second, better = (row[key] for key in ("at", "first", "second", "says"))
        if better in (first, second) and row["ranking"] == HOLDS:
            held.setdefault(at, []).append(f"{titles[better]} over {titles[second if better == first else first]}")
        elif better in (first, second) and row["ranking"] == REVERSES:
            turned.setdefault((at, first, second), {}).setdefault(titles[better], []).append(row["corpus"])
    agreed = [f"on {listed([*dict.fromkeys(pairs)])} near {number(at)} records" for at, pairs in held.items()]
    yield f"Two corpora or more agree {' and '.join(agreed)}." if agreed else "No two corpora agree on a ranking."
    opposed = [
        f"{titles[first]} and {titles[second]} reverse near {number(at)} records, with "
        f"{listed([f'{better} better on {listed(names)}' for better, names in sides.items()])}"
        for (at, first, second), sides in turned.items()
    ]
    rest = "all other rankings of two methods are undecided or not tested"
    yield f"{'; '.join(opposed)}; {rest}." if opposed else f"No ranking reverses; {rest}."


def drawing(corpora: Sequence[Recorded], titles: Titles) -> str:
    """The figure as SVG with a title and a description: score over records, methods of two corpora or more."""
    names = shared(corpora)
    looks = chart.looks_of(names)
    panels, described = [], []
    for corpus in corpora:
        trained = {cell: row for cell, row in sorted(corpus.cells.items()) if cell[0] in names}
        if not trained:
            continue
        rows = pd.DataFrame([*trained.values(), *corpus.corpus.rows("scores", method="lead", records=None)])
        single = rows.records.notna() & (rows.seeds.fillna(0) < 2)
        shown = rows.method.map(lambda name: titles[name]) + single.map({True: " (single run)", False: ""})
        title = f"{corpus.name}: {corpus.metric.title}"
        panel = panel_of(rows.assign(system=shown), corpus.metric.name, title)
        points = panel.points
        panels.append(chart.curves(panel, looks, WIDTH, HEIGHT))
        ends = [(name, group.sort_values("x")) for name, group in points.groupby("method")]
        curves = [f"{titles[name]} {rows.score.iloc[0]:.1f} to {rows.score.iloc[-1]:.1f}" for name, rows in ends]
        described.append(f"{title}, {corpus.sizes[0]:,} to {corpus.sizes[-1]:,} records: {', '.join(curves)}.")
    svg = chart.svg(chart.together("vconcat", panels, spacing=24, resolve=chart.APART))
    words = (
        f'<title id="across-title">{escape(corpora[0].metric.title)} over training records, a panel a corpus</title>'
    )
    words += f'<desc id="across-desc">{escape(" ".join(described))}</desc>'
    head, rest = svg.split(">", 1)
    return f'{head} role="img" aria-labelledby="across-title across-desc">{words}{rest}'
