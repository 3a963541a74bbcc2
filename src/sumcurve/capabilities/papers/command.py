"""`sumcurve check`: claims of a paper, by its printed numbers."""

import argparse
import importlib

from sumcurve.capabilities.papers import PAPERS
from sumcurve.machine.arguments import Verbs, check_written
from sumcurve.store.records import write_json

CHECK = """\
Each claim holds, does not follow from what the paper itself prints, differs from what its authors published elsewhere
(code, notebooks, logs), or cannot be checked here; then it says what that would need. Printed numbers are rounded: a
cell does not follow only if no numbers that round to the printed ones give a value that rounds to it, where half a unit
of the last digit may go either way.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb `check`."""
    command = verbs.add_parser(
        "check",
        help="claims of a paper, recomputed from its own tables",
        description=CHECK,
        example="cano-bojar-2020",
    )
    command.add_argument("paper", choices=PAPERS, metavar="PAPER", help=", ".join(PAPERS))
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print a paper's claims and write the requested file."""
    check_written([arguments.json], [])
    paper = importlib.import_module(f"sumcurve.capabilities.papers.{arguments.paper.replace('-', '_')}")
    result = paper.check()
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    print("\n".join(result.sentences) if arguments.quiet else result)
