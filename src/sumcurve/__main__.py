"""Measurements of how summarizers learn from data: scores, tests and curves, and studies from data to report."""

import argparse
import os
import sys
from typing import cast

import sumcurve
from sumcurve.cli import efficiency, make, power, raw, results, rouge, studies, tables, tools
from sumcurve.cli.messages import ERRORS, LASTING, refused
from sumcurve.machine.arguments import Parser, UsageError, Verbs, silenced
from sumcurve.machine.ending import REFUSED
from sumcurve.study.doors import CAPABILITIES


def parser() -> argparse.ArgumentParser:
    """Parser of every verb, whose namespace holds the function `run`."""
    arguments = Parser(
        prog="sumcurve",
        usage="%(prog)s [-h] [--version] VERB ...",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    arguments.add_argument("--version", action="version", version=f"sumcurve {sumcurve.__version__}")
    verbs = cast(
        Verbs,
        arguments.add_subparsers(
            action=Verbs, prog="sumcurve", dest="verb", required=True, metavar="VERB", help=argparse.SUPPRESS
        ),
    )
    for group in (studies, tools, raw, make, tables, results):
        group.add_parsers(verbs)
    for tool in (rouge, power, efficiency):
        tool.add_parser(verbs)
    for capability in CAPABILITIES.values():
        capability.add_parsers(verbs)
    arguments.epilog = f"{verbs.listed()}\n\nsumcurve VERB --help says more, with an example."
    return arguments


def main() -> None:
    """Run a verb, or print the list of verbs where none is named; user errors end the process with their message."""
    words = sys.argv[1:] or ["--help"]
    try:
        arguments = parser().parse_args(words)
        with silenced(arguments):
            arguments.run(arguments)
    except UsageError as error:
        print(f"sumcurve {words[0]}: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except ERRORS as error:
        ended = SystemExit(f"sumcurve: {error}")
        if isinstance(error, LASTING):
            print(ended, file=sys.stderr)
            ended.code = REFUSED
        raise ended from None
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("sumcurve"):
            raise
        raise SystemExit(
            f"sumcurve: `{words[0]}` needs the Python package {error.name}, which is not installed here: use a "
            "study's environment (`make study` makes it), or pip install 'sumcurve[train,study,entities,pretrained]'"
        ) from error
    except BrokenPipeError:  # of `sumcurve … | head`; the rest must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        raise SystemExit(f"sumcurve: {refused(error)}") from None


if __name__ == "__main__":
    main()
