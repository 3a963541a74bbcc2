"""Several corpora side by side, in sentences and as a figure: one panel a corpus, a method in one colour everywhere."""

from collections.abc import Iterator, Sequence
from html import escape

import pandas as pd

from sumcurve.capabilities.across.tables import (
    AGREE,
    FEWEST,
    HOLDS,
    REVERSES,
    SIDES,
    UNDECIDED,
    Recorded,
    altered,
    shared,
)
from sumcurve.tables import chart
from sumcurve.tables.figures import panel_of
from sumcurve.tables.report.facts import ignores_source
from sumcurve.tables.report.findings import BETTER, EQUAL, Titles
from sumcurve.tables.table import Row, Table, Value, listed, number

WIDTH, HEIGHT = 230, 150  # pixels of a panel: with names and axis below 390, so that a narrow screen shrinks no text
WORDS = {  # of one ranking, and of several
    HOLDS: ("holds on two corpora or more", "hold on two corpora or more"),
    REVERSES: ("reverses", "reverse"),
    UNDECIDED: ("is undecided or untested", "are undecided or untested"),
}


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


def headline(corpora: Sequence[Recorded], sizes: Sequence[int], titles: Titles) -> str:
    """State who is significantly best near each of `sizes` on which corpus, in a sentence."""
    parts = []
    for at in sizes:
        winners: dict[str, list[str]] = {}
        for corpus in corpora:
            size = corpus.nearest(at)
            winner = "nothing recorded" if size is None else best(corpus, size, titles)
            winners.setdefault(winner, []).append(corpus.name)
        shown = [f"{name} on {listed(names)}" for name, names in winners.items()]
        parts.append(f"near {number(at)} records: {', '.join(shown)}")
    return f"Significantly best {'; '.join(parts)}."


def settings_sentence(corpora: Sequence[Recorded], titles: Titles) -> str:
    """List methods whose training is not known to be the same in all studies; empty where all are."""
    changed = altered(corpora)
    studies: dict[str, list[str]] = {}
    for corpus in corpora:
        settings = [corpus.settings.get(name, "settings not known") for name in changed if name in corpus.methods]
        if settings:
            studies.setdefault(" / ".join(dict.fromkeys(settings)), []).append(corpus.study)
    forms = "; ".join(f"{listed(names)}: {settings}" for settings, names in studies.items())
    return f"Not the same training in all studies: {titles.all(changed)} ({forms})." if changed else ""


def sentences(tables: Sequence[Table], titles: Titles) -> list[str]:
    """Sentences on agreement of rankings, crossings of curves and data efficiency, from tables of `across.tables`."""
    rows = {table.name: table.rows for table in tables}
    parts = (
        _rankings(rows["across_pairs"], titles),
        _agreement(rows["across_ranks"]),
        _crossed(rows["crossings"], titles),
    )
    return [line for lines in (*parts, _efficiency(rows["across_efficiency"], titles)) for line in lines]


def _rankings(rows: Sequence[Row], titles: Titles) -> Iterator[str]:
    for at in dict.fromkeys(row["at"] for row in rows):
        here = [row for row in rows if row["at"] == at]
        rankings = {(row["first"], row["second"]): row["ranking"] for row in here}
        parts = []
        for ranking, (one, several) in WORDS.items():
            count = [*rankings.values()].count(ranking)
            deciding = [
                row for row in here if row["ranking"] == ranking and row["says"] in (row["first"], row["second"])
            ]
            names = [_over(row, titles) + (f" on {row['corpus']}" if ranking == REVERSES else "") for row in deciding]
            which = f" ({', '.join(dict.fromkeys(names))})" if names and ranking != UNDECIDED else ""
            parts.append(f"{count} {one if count == 1 else several}{which}")
        yield f"Near {number(at)} records, of {len(rankings)} rankings of two methods: {listed(parts)}."


def _over(row: Row, titles: Titles) -> str:
    worse = row["first"] if row["says"] == row["second"] else row["second"]
    return f"{titles[row['says']]} over {titles[worse]}"


def _agreement(rows: Sequence[Row]) -> Iterator[str]:
    known = [row for row in rows if row["methods"] > 2]  # of two it is 1 or -1
    if known:
        low, high = (end(row["tau"] for row in known) for end in (min, max))
        least = min(row["methods"] for row in known)
        most, sure = max(row["methods"] for row in known), sum(row["says"] == AGREE for row in known)
        few = f"with fewer than {FEWEST}, none can be significant" if most < FEWEST else f"significant in {sure}"
        yield (
            f"Kendall's τ between two corpora's rankings by means: {number(low)} to {number(high)} in {len(known)} "
            f"comparisons of {least if least == most else f'{least} to {most}'} methods; {few}."
        )


def _crossed(rows: Sequence[Row], titles: Titles) -> Iterator[str]:
    changes = [row for row in rows if row["from_records"]]
    shown = [
        f"{titles[row['after']]} passes {titles[row['before']]} on {row['corpus']} {row['crossing']}, "
        f"{row['significant']}"
        for row in changes
        if row["significant"] != SIDES[0]
    ]
    text = f" ({'; '.join(shown)})" if shown else ""
    yield (
        f"Of {len(changes)} changes of two methods' lead between recorded sizes, {len(shown)} are significant at some "
        f"size before, after or both{text}."
    )


def _efficiency(rows: Sequence[Row], titles: Titles) -> Iterator[str]:
    for measure in dict.fromkeys(row["measure"] for row in rows):
        own = [row for row in rows if row["measure"] == measure]
        parts = [_percent(row["share"]) for row in own]
        names = listed([titles[name] for name in own[0]["methods"].split(", ")])
        chance = ", ".join(number(row["expected"], 0) for row in own)
        yield (
            f"Differences in {measure} ({names}, {own[0]['corpora']} corpora): {parts[0]} % are the corpus's, "
            f"{parts[1]} % the method's, {parts[2]} % neither's (of noise alone {chance})."
        )
    if not rows:
        yield "Data efficiency: fewer than two methods are ranked with two seeds at two common sizes on all corpora."


def _percent(share: Value) -> str:
    ends = f" [{number(share.low, 0)}, {number(share.high, 0)}]" if share.low is not None else ""
    return f"{number(share.number, 0)}{ends}"


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
