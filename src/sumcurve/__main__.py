"""Folders of a study, its raw files and tables, and tools for people: `python -m sumcurve VERB --help` says more.

`make` looks a folder up in the plan, does nothing when it is finished and verified, and otherwise makes it.
"""

import argparse
import os
import sys

from sumcurve.cli import efficiency, make, power, raw, results, rouge, studies, tables, tools
from sumcurve.cli.messages import ERRORS, refused
from sumcurve.study.doors import CAPABILITIES


def parser() -> argparse.ArgumentParser:
    """Every verb, whose namespace holds `run`, a function of it."""
    arguments = argparse.ArgumentParser(prog="sumcurve", description=__doc__)
    verbs = arguments.add_subparsers(dest="verb", required=True, metavar="verb")
    for group in (raw, make, tables, studies, tools, results):
        group.add_parsers(verbs)
    for tool in (rouge, power, efficiency):
        tool.add_parser(verbs)
    for capability in CAPABILITIES.values():
        capability.add_parsers(verbs)
    return arguments


def main() -> None:
    """Run a verb; errors whose message says all end the process with it."""
    arguments = parser().parse_args()
    try:
        arguments.run(arguments)
    except ERRORS as error:
        raise SystemExit(f"sumcurve: {error}") from None
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("sumcurve"):
            raise
        raise SystemExit(
            f"sumcurve: `{arguments.verb}` needs the Python package {error.name}, which is not installed here: use a "
            "study's environment (`make study` makes it), or pip install 'sumcurve[train,study,entities,pretrained]'"
        ) from error
    except BrokenPipeError:  # of `sumcurve … | head`; what is left must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        raise SystemExit(f"sumcurve: {refused(error)}") from None


if __name__ == "__main__":
    main()
