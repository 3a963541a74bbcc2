"""`sumcurve efficiency`: the metrics of Čano and Bojar (2020) for any results."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import sumcurve
from sumcurve.machine.arguments import Verbs, check_written
from sumcurve.machine.parameters import COMMAS, add_function, given
from sumcurve.store.records import csv_text, write_json, write_text

if TYPE_CHECKING:
    from sumcurve.curves.results_file import EfficiencyRow

EFFICIENCY = """\
FILE is a CSV with one row per training: corpus, method, split (1, 2, ... by size), records, one or more columns of
scores, and train_seconds or seconds, without which θ and ε stay empty. With a column seed, rows of one corpus, method
and split are repetitions: their mean scores count, and the geometric mean of their seconds. Other columns of numbers
are taken for scores, except seed, parameters, percent, items, updates, examples, epochs; --scores names the scores
instead.

Interval 12 goes from split 1 to split 2; with a split above 9 it is written 9-10. σ and θ are in percent, ε is a plain
ratio; Σ and Θ are per 1,000 records and E per hour in the printed table, per record and per second in --json and
--csv, whose numbers are not rounded. rouge1 gives the columns sigma1_pct, epsilon1, Sigma1, E1, and theta_pct and
Theta are the cost's.

The figures of Čano and Bojar (2020) are shipped: sumcurve efficiency cano-bojar-2020; sumcurve check cano-bojar-2020
compares the published σ, θ and ε with them.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb `efficiency`, whose namespace holds `run`; that raises CommandError for unusable results."""
    command = verbs.add_parser(
        "efficiency",
        help="σ, θ, ε of any systems from a CSV of their results",
        example="cano-bojar-2020",
        further=lambda command: add_function(command, sumcurve.efficiency, EFFICIENCY, scores=COMMAS),
    )
    command.add_argument("file", metavar="FILE", help="a CSV of results, or cano-bojar-2020")
    command.add_argument("--csv", type=Path, metavar="OUT", help="the rows")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the tables and write the requested files."""
    check_written([arguments.json, arguments.csv], [Path(arguments.file)])
    result = sumcurve.efficiency(arguments.file, **given(arguments, sumcurve.efficiency))
    if arguments.json:
        write_json(arguments.json, {"rows": [row.as_dict() for row in result.rows]})
    if arguments.csv:
        write_text(arguments.csv, _csv(result.rows))
    print("\n".join(result.sentences) if arguments.quiet else result)


def _csv(rows: Sequence["EfficiencyRow"]) -> str:
    cells = [row.as_dict() for row in rows]
    columns = list(dict.fromkeys(column for row in cells for column in row))  # some rows lack intervals
    return csv_text(columns, ([row.get(column) for column in columns] for row in cells))
