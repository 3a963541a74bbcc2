"""Who is ahead of whom: every two systems at the largest size, and each method against its smallest size."""

from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.tables.pairs import DECIDING, LEVEL, POWER, Pair, decided
from sumcurve.tables.results import NO_MEASURE, Results
from sumcurve.tables.table import Column, Name, Table, Value, number

SIZE, GROWTH = "which method", "more data"
NOT_SHOWN = "not shown"


def table(results: Results) -> Table:
    """A row for every pair and metric, first minus second system.

    `p` is corrected for its family: all pairs at the size, or all methods' growth. `ahead` is empty where nobody is
    shown to be. In the CSV, `pointwise_low` and `pointwise_high` are the ends of each difference's own interval.
    """
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        sizes = results.sizes(corpus)
        for metric in results.compared:
            if results.design(corpus, metric.name) is None:
                continue
            pairs = []
            if sizes:
                largest = max(sizes)
                pairs += [(SIZE, pair) for pair in results.pairs(corpus, metric.name, largest).values()]
                pairs += [(GROWTH, pair) for pair in results.growth(corpus, metric.name).values()]
            rows += [_row(results, corpus, metric, question, pair) for question, pair in pairs]
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("question", "question"),
        *paired(results),
        Column("seen", f"seen at {100 * POWER:g} %", "number", results.decimals),
        *(Column(name, None, "count") for name in ("items", "wins", "ties", "losses")),
    ]
    notes = [
        "First minus second, paired over groups of test items and seeds. p: of max-|t| over the family, which is all "
        "pairs of methods and of methods and blind baselines at one size under one metric; growth, each method at its "
        f"largest size against its smallest, is a family of its own. Ahead: p < {LEVEL:g}. Brackets: {DECIDING} Where "
        f"nothing is tested they are pointwise {results.share} intervals, which the CSV has of every difference. Seen "
        f"at {100 * POWER:g} %: the true difference that it would see with that probability.",
        f"{results.seeds_note} {results.caveat}",
        *results.gaps,
        *results.without_interval,
        results.marks_note,
        *results.identical,
        *results.unread_notes,
    ]
    return Table("comparisons", results.title("Paired differences at the largest size"), columns, rows, notes)


def paired(results: Results) -> list[Column]:
    """The columns of two systems and the test of their difference."""
    return [
        Column("first", "first"),
        Column("first_records", "records", "count"),
        Column("second", "second"),
        Column("second_records", "records", "count"),
        Column("difference", "difference", "number", results.decimals, interval=True),
        *(Column(f"pointwise_{end}", None, "number", results.decimals) for end in ("low", "high")),
        Column("p", "p (family)", "p"),
        Column("ahead", "ahead"),
        Column("interval_covers", "interval covers"),
    ]


def numbers(pair: Pair, metric: Metric) -> dict[str, Any]:
    """Cells of these columns, but for names and who is ahead."""
    return {
        "first_records": pair.first[1],
        "second_records": pair.second[1],
        "difference": decided(pair, metric.decimals),
        "pointwise_low": pair.difference.low,
        "pointwise_high": pair.difference.high,
        "p": pair.p,
        "interval_covers": pair.difference.covers if pair.difference.low is not None else None,
    }


def _row(results: Results, corpus: str, metric: Metric, question: str, pair: Pair) -> dict[str, Any]:
    wins, ties, losses = _outcomes(results, corpus, metric, pair)
    if pair.ahead is None:
        ahead = pair.why
    elif results.unread(corpus, metric.name):
        ahead = NO_MEASURE
    elif pair.ahead == "":
        ahead = NOT_SHOWN
    else:
        winner = results.marked(corpus, pair.ahead)
        ahead = Name(winner, winner.shown) if question == SIZE else f"{number(pair.ahead[1])} records"
    return {
        "corpus": corpus,
        "metric": results.titled(corpus, metric),
        "question": question,
        "first": results.marked(corpus, pair.first),
        "second": results.marked(corpus, pair.second),
        "ahead": ahead,
        **numbers(pair, metric),
        "seen": Value(pair.seen, decimals=metric.decimals),
        "items": wins + ties + losses,
        "wins": wins,
        "ties": ties,
        "losses": losses,
    }


def _outcomes(results: Results, corpus: str, metric: Metric, pair: Pair) -> tuple[int, int, int]:
    """On how many items the first is better, as good, worse; scores averaged over seeds."""
    scorer = results.scorer(metric.name)
    of_cell = {system.cell: system for system in results.of(corpus, metric=metric.name)}
    place = [known.name for known in of_cell[pair.first].scored(scorer)[0].metrics].index(metric.name)
    first, second = (
        np.mean([items.values[place] for items in of_cell[cell].scored(scorer)], axis=0)
        for cell in (pair.first, pair.second)
    )
    better = np.sign(np.round(first - second, 9)) * (1 if metric.higher_is_better else -1)
    return int((better > 0).sum()), int((better == 0).sum()), int((better < 0).sum())
