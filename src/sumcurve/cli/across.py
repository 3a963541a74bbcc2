"""`sumcurve across`: recorded studies of several corpora side by side."""

import argparse
from pathlib import Path

from sumcurve.machine.arguments import STUDIES, CommandError, Verbs, add_printing, check_written, positive
from sumcurve.store.records import write_json

DESCRIPTION = """\
Reads the recorded tables of studies, trains and tests nothing: who is ahead on which corpus, whether that ranking
travels, where curves cross, and what of the data efficiency is the corpus's and what the method's.

A recorded size within a factor of 2 stands for the one asked for, and is said. Scores of two corpora are never
compared, only differences and ranks. Methods whose settings differ between the studies are marked.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb `across`, whose namespace holds `run`; that raises CommandError for what is not recorded."""
    command = verbs.add_parser(
        "across",
        help="recorded studies -> who wins on which corpus",
        description=DESCRIPTION,
        group=STUDIES,
        example="docstrings docstrings-large --at 1000 --at 10000 --out scratch/across",
    )
    command.add_argument("studies", nargs="+", metavar="STUDY", help="below results/tables, or a folder of tables")
    command.add_argument(
        "--at", type=positive, action="append", metavar="N", help="records; may stand again (default: 1000, 10000)"
    )
    command.add_argument("--metric", default="rouge1", metavar="NAME", help="column of table scores (default: rouge1)")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="write tables and across.svg into it")
    add_printing(command, "write the answer and all tables")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the answer and the tables; write what is asked for."""
    check_written([arguments.json], [])
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise CommandError(f"--out {arguments.out}: this is a file; name a folder")
    from sumcurve.interface.across import across

    result = across(arguments.studies, arguments.at or (1000, 10000), arguments.metric)
    if arguments.out is not None:
        result.write(arguments.out)
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    print("\n".join([*result.taken, *result.sentences]) if arguments.quiet else result)
