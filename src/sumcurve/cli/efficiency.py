"""`sumcurve efficiency`: the metrics of Čano and Bojar (2020) for any results, and published tables checked."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.curves.errors import ResultsError
from sumcurve.machine.arguments import Verbs, add_printing, misplaced
from sumcurve.store.records import csv_text, write_json, write_text

if TYPE_CHECKING:
    from sumcurve.curves.published import Cell, Comparison
    from sumcurve.curves.results_file import EfficiencyRow

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
    from sumcurve.interface.efficiency import efficiency

    read = [Path(name) for name in (arguments.file, arguments.compare) if name]
    if why := misplaced((arguments.json, arguments.csv), read):
        raise ResultsError(why)
    if arguments.digits != "cell" and not arguments.compare:
        raise ResultsError("--digits changes nothing: it is how --compare checks cells; add --compare, or leave it out")
    given = [name.strip() for name in arguments.scores.split(",")] if arguments.scores else []
    result = efficiency(arguments.file, given)
    comparison = None
    if arguments.compare:
        from sumcurve.curves.published import compare, published_file, read_published

        table = read_published(published_file(arguments.compare), result.results.scores)
        comparison = compare(result.results, table, by_column=arguments.digits == "column")
    if arguments.json:
        mismatches = [cell.as_dict() for cell in comparison.mismatches] if comparison else []
        write_json(arguments.json, {"rows": [row.as_dict() for row in result.rows], "mismatches": mismatches})
    if arguments.csv:
        write_text(arguments.csv, _csv(result.rows))
    print("\n".join(result.sentences) if arguments.quiet else result)
    if comparison is not None:
        print("\n".join(_compared(comparison)))


def _csv(rows: Sequence["EfficiencyRow"]) -> str:
    cells = [row.as_dict() for row in rows]
    columns = list(dict.fromkeys(column for row in cells for column in row))  # some rows lack intervals
    return csv_text(columns, ([row.get(column) for column in columns] for row in cells))


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
    from sumcurve.tables.table import number

    exponent = int(cell.published.as_tuple().exponent)
    return number(cell.computed, max(0, -exponent) + 2)


def _aligned(rows: Sequence[Sequence[str]], first: int, end: int | None = None) -> list[str]:
    """Lines of a table; columns from `first` to before `end` are set flush right."""
    from sumcurve.tables.result import aligned

    return aligned(rows, range(len(rows[0]))[first:end])
