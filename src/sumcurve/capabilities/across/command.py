"""`sumcurve across`: recorded studies of several corpora side by side."""

import argparse
from pathlib import Path

import sumcurve
from sumcurve.machine.arguments import STUDIES, CommandError, Verbs, check_written
from sumcurve.machine.parameters import add_function, given
from sumcurve.store.records import write_json


def add_parser(verbs: Verbs) -> None:
    """Add the verb `across`; `arguments.run(arguments)` raises CommandError for unrecorded studies."""
    command = verbs.add_parser(
        "across",
        group=STUDIES,
        printing=True,
        help="recorded studies -> who wins on which corpus",
        example="aeslc dialogsum --at 1000 --at 10000 --out scratch/across",
        further=lambda command: add_function(command, sumcurve.across),
    )
    command.add_argument("studies", nargs="+", metavar="STUDY", help="below results/tables, or a folder of tables")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="write tables and across.svg into it")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the answer and the tables of recorded studies; write the requested files."""
    check_written([arguments.json], [])
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise CommandError(f"--out {arguments.out}: this is a file; name a folder")
    result = sumcurve.across(**given(arguments, sumcurve.across))
    if arguments.out is not None:
        result.write(arguments.out)
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    print("\n".join([*result.taken, *result.sentences]) if arguments.quiet else result)
