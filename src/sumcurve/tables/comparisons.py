"""Paired comparisons: every two systems at the largest size, and each method against its smallest size."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell
from sumcurve.tables.columns import shared
from sumcurve.tables.pairs import POWER, Pair, difference_columns, numbers, outcomes
from sumcurve.tables.results import NO_MEASURE, Results
from sumcurve.tables.table import Column, Name, Table, Value, number

SIZE, GROWTH = "which method", "more data"
NOT_SHOWN = "not shown"


def table(results: Results) -> Table:
    """A row for every pair and metric, first minus second system.

    `p` is corrected for its family: all pairs at the size, or all methods' growth. `ahead` is empty where neither
    is significantly better. In the CSV, `pointwise_low` and `pointwise_high` are the ends of each difference's own
    interval.
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
        *shared("corpus", "metric"),
        Column("question", "question"),
        *paired(results),
        Column("seen", "minimum detectable effect", "number", results.decimals),
        *(Column(name, None, "count") for name in ("items", "wins", "ties", "losses")),
    ]
    notes = [
        f"First minus second. Minimum detectable effect: with {100 * POWER:g} % power. In brackets: intervals of the "
        f"family of tests; of what is not tested {results.share}.",
        f"{results.notes.seeds} {results.notes.caveat}",
        *results.notes.gaps,
        *results.notes.without_interval,
        results.notes.marks,
        *results.notes.identical,
        *results.notes.unread,
    ]
    return Table("comparisons", results.title("Paired differences at the largest size"), columns, rows, notes)


def paired(results: Results) -> list[Column]:
    """The columns of two systems and the test of their difference."""
    return [
        *shared("first"),
        Column("first_records", "records", "count"),
        *shared("second"),
        Column("second_records", "records", "count"),
        *difference_columns(results.decimals),
        Column("ahead", "ahead"),
        *shared("interval_covers"),
    ]


def cells(results: Results, corpus: str, metric: Metric, pair: Pair, named: Callable[[Cell], str]) -> dict[str, Any]:
    """A pair's cells of these columns, with corpus and metric; `named` are the names of its systems."""
    if pair.ahead is None:
        ahead: str = pair.why
    elif results.unread(corpus, metric.name):
        ahead = NO_MEASURE
    else:
        ahead = named(pair.ahead) if pair.ahead else NOT_SHOWN
    return {
        "corpus": corpus,
        "metric": results.titled(corpus, metric),
        "first": named(pair.first),
        "first_records": pair.first[1],
        "second": named(pair.second),
        "second_records": pair.second[1],
        "ahead": ahead,
        **numbers(pair, metric.decimals),
    }


def _row(results: Results, corpus: str, metric: Metric, question: str, pair: Pair) -> dict[str, Any]:
    wins, ties, losses = _outcomes(results, corpus, metric, pair)
    row = cells(results, corpus, metric, pair, lambda cell: results.marked(corpus, cell))
    if isinstance(winner := row["ahead"], Name) and pair.ahead:
        row["ahead"] = Name(winner, winner.shown) if question == SIZE else f"{number(pair.ahead[1])} records"
    return {
        **row,
        "question": question,
        "seen": Value(pair.seen, decimals=metric.decimals),
        "items": wins + ties + losses,
        "wins": wins,
        "ties": ties,
        "losses": losses,
    }


def _outcomes(results: Results, corpus: str, metric: Metric, pair: Pair) -> tuple[int, int, int]:
    """Numbers of items on which the first is better, as good, worse; scores averaged over seeds."""
    scorer = results.scorer(metric.name)
    of_cell = {system.cell: system for system in results.of(corpus, metric=metric.name)}
    first, second = (
        np.mean([items.of(metric.name) for items in of_cell[cell].scored(scorer)], axis=0)
        for cell in (pair.first, pair.second)
    )
    return outcomes(first, second, metric.higher_is_better)
