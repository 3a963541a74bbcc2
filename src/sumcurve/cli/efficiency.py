"""`sumcurve efficiency`: the metrics of Čano and Bojar (2020) for any results, and published tables checked."""

import argparse
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.curves.errors import ResultsError
from sumcurve.machine.arguments import Verbs, add_printing, misplaced
from sumcurve.store.records import csv_text, write_json, write_text

if TYPE_CHECKING:
    from sumcurve.curves.published import Cell, Comparison
    from sumcurve.curves.results_file import EfficiencyRow, Results

HEADS = ["corpus", "method", "interval", "column", "published", "computed", "note"]  # of published cells
HELP = "σ, θ, ε of any systems from a CSV of their results; checks published tables"
DESCRIPTION = """\
FILE is a CSV with one row per training: corpus, method, split (1, 2, ... by size), records, one or more columns of
scores, and train_seconds or seconds, without which θ and ε stay empty. With a column seed, rows of one corpus, method
and split are repetitions: their mean scores count, and the geometric mean of their seconds. Other columns of numbers
are taken for scores, except seed, parameters, percent, items, updates, examples, epochs; --scores names the scores
instead.

Interval 12 goes from split 1 to split 2; with a split above 9 it is written 9-10. σ and θ are in percent, ε is a plain
ratio; Σ and Θ are per 1,000 records and E per hour in the printed table, per record and per second in --json and
--csv, whose numbers are not rounded. rouge1 gives the columns sigma1_pct, epsilon1, Sigma1, E1, and theta_pct and
Theta are the cost's.

--compare PUBLISHED.csv (corpus, method, interval and such columns) lists every published cell that does not follow
from FILE, that is, which the computed value rounded to the cell's own decimals does not give (a tie may go either way).
So a last zero that a spreadsheet cut off is not asked for; --digits column asks of every cell the most decimals that
its column has, which is too strict where a table prints some cells shorter. Notes: slip; truncated (digits cut, not
rounded); within input rounding (scores or seconds before rounding may give it); from the printed σ and θ.

The figures of Čano and Bojar (2020) are shipped: sumcurve efficiency cano-bojar-2020 --compare cano-bojar-2020
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb `efficiency`, whose namespace holds `run`; that raises ResultsError for what cannot be used."""
    command = verbs.add_parser(
        "efficiency", help=HELP, description=DESCRIPTION, example="cano-bojar-2020 --compare cano-bojar-2020"
    )
    command.add_argument("file", metavar="FILE", help="a CSV of results, or cano-bojar-2020")
    command.add_argument("--compare", metavar="PUBLISHED", help="a CSV of published metrics, or cano-bojar-2020")
    command.add_argument("--scores", metavar="A,B", help="columns that hold scores, separated by commas")
    command.add_argument(
        "--digits", choices=("cell", "column"), default="cell", help="the decimals that --compare checks a cell at"
    )
    add_printing(command, '{"rows": [...], "mismatches": [...]}')
    command.add_argument("--csv", type=Path, metavar="OUT", help="the rows")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the tables and write the files asked for."""
    from sumcurve.curves.results_file import efficiency_rows, read_results, results_file

    read = [Path(name) for name in (arguments.file, arguments.compare) if name]
    if why := misplaced((arguments.json, arguments.csv), read):
        raise ResultsError(why)
    if arguments.digits != "cell" and not arguments.compare:
        raise ResultsError("--digits changes nothing: it is how --compare checks cells; add --compare, or leave it out")
    given = [name.strip() for name in arguments.scores.split(",")] if arguments.scores else []
    results = read_results(results_file(arguments.file), given)
    rows = efficiency_rows(results)
    comparison = None
    if arguments.compare:
        from sumcurve.curves.published import compare, published_file, read_published

        table = read_published(published_file(arguments.compare), results.scores)
        comparison = compare(results, table, by_column=arguments.digits == "column")
    if arguments.json:
        mismatches = [cell.as_dict() for cell in comparison.mismatches] if comparison else []
        write_json(arguments.json, {"rows": [row.as_dict() for row in rows], "mismatches": mismatches})
    if arguments.csv:
        write_text(arguments.csv, _csv(rows))
    print("\n".join(_report(arguments.file, results, rows)))
    if comparison is not None:
        print("\n".join(_compared(comparison)))


def _csv(rows: Sequence["EfficiencyRow"]) -> str:
    cells = [row.as_dict() for row in rows]
    columns = list(dict.fromkeys(column for row in cells for column in row))  # some rows lack intervals
    return csv_text(columns, ([row.get(column) for column in columns] for row in cells))


def _report(file: str, results: "Results", rows: Sequence["EfficiencyRow"]) -> list[str]:
    from sumcurve.curves.results_file import interval_name, short_name

    lines = [
        f"{file}: scores {', '.join(results.scores)}; training time {results.seconds or 'not known'}"
        + (f"; not used: {', '.join(results.left_out)}" if results.left_out else "")
    ]
    if results.seeded:
        lines.append(
            "Means over seeds; in brackets 95 % intervals from seeds alone, on this test set: their variance is pooled "
            "over the methods and splits of a corpus."
        )
    else:
        lines.append("One training each, without intervals: those need several seeds or the scores of single items.")
    for (corpus, method), trainings in results.trainings.items():
        if len(trainings) == 1:
            lines.append(f"{corpus} {method} has split {trainings[0].split} only, hence no interval.")
        for start, end in pairwise(training.split for training in trainings):
            if missing := ", ".join(map(str, range(start + 1, end))):
                lines.append(
                    f"{corpus} {method} has no split {missing}: interval {interval_name(start, end)} spans it."
                )
    names = [short_name(score) for score in results.scores]
    relative = [(f"sigma{name}_pct", f"σ{name} %", 2, 1.0) for name in names]
    relative += [("theta_pct", "θ %", 2, 1.0)]
    relative += [(f"epsilon{name}", f"ε{name}", 3, 1.0) for name in names]
    absolute = [(f"Sigma{name}", f"Σ{name} /1,000", 4, 1000.0) for name in names]
    absolute += [("Theta", "Θ s/1,000", 1, 1000.0)]
    absolute += [(f"E{name}", f"E{name} /h", 4, 3600.0) for name in names]
    order = {row.corpus: index for index, row in reversed(list(enumerate(rows)))}

    def block(row: "EfficiencyRow") -> tuple[int, bool, int, int, int, int]:
        splits = row.first.split, row.second.split
        return order[row.corpus], row.place == "whole", *splits, row.first.records, row.second.records

    for _, group in groupby(sorted(rows, key=block), key=block):
        members = list(group)
        first = members[0]
        place = "whole curve" if first.place == "whole" else first.place
        title = f"{first.corpus}, interval {first.interval}, {place}".removesuffix(", ")
        lines += ["", f"{title}: {first.first.records:,} → {first.second.records:,} records"]
        for columns in (relative, absolute):
            heads = ["method", *(["seeds"] if results.seeded else []), *(head for _, head, _, _ in columns)]
            body = [
                [
                    row.method,
                    *([_seeds(row)] if results.seeded else []),
                    *(_span(row, column, decimals, factor) for column, _, decimals, factor in columns),
                ]
                for row in members
            ]
            lines += _aligned([heads, *body], 1)
        lines += [f"{row.method}: {row.reason}" for row in members if row.reason]
    return lines


def _compared(comparison: "Comparison") -> list[str]:
    missing, follow = comparison.mismatches, comparison.cells - len(comparison.mismatches)
    lines = ["", f"{comparison.cells} published cells: {follow} follow at the digits printed, {len(missing)} do not"]
    if missing:
        lines += _aligned([HEADS, *map(_row, missing)], 4, 6)
    if comparison.coarse:
        lines += ["", "These follow at their own digits, which are fewer than their column has elsewhere:"]
        lines += _aligned([row[:-1] for row in (HEADS, *map(_row, comparison.coarse))], 4)
    if comparison.unpublished:
        named = ", ".join(f"{row.corpus} {row.method} {row.interval}" for row in comparison.unpublished)
        lines += ["", f"Not in the published table: {named}"]
    return lines


def _row(cell: "Cell") -> list[str]:
    return [cell.corpus, cell.method, cell.interval, cell.column, str(cell.published), _beside(cell), cell.note]


def _beside(cell: "Cell") -> str:
    """The computed value with two digits more than the published one."""
    exponent = int(cell.published.as_tuple().exponent)
    return _number(cell.computed, max(0, -exponent) + 2)


def _number(value: float | None, decimals: int, factor: float = 1.0) -> str:
    """A cell for people."""
    from sumcurve.tables.table import number

    return number(None if value is None else factor * value, decimals)


def _span(row: "EfficiencyRow", column: str, decimals: int, factor: float) -> str:
    """A value, with its interval where it has one."""
    value = _number(row.values[column], decimals, factor)
    if column not in row.intervals:
        return value
    low, high = (_number(end, decimals, factor) for end in row.intervals[column])
    return f"{value} [{low}, {high}]"


def _seeds(row: "EfficiencyRow") -> str:
    first, second = row.first.seeds, row.second.seeds
    return str(first) if first == second else f"{first} → {second}"


def _aligned(rows: Sequence[Sequence[str]], first: int, end: int | None = None) -> list[str]:
    """Lines of a table; columns from `first` to before `end` are set flush right."""
    from sumcurve.tables.result import aligned

    return aligned(rows, range(len(rows[0]))[first:end])
