"""Verbs that rules call: they make the file or folder at a path, and write their log to a file."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill

from sumcurve.cli.messages import ERRORS
from sumcurve.machine.arguments import INTERNALS, Verbs

TO_MAKE = "the folder to make, or its manifest; of fetch the file or folder below data/raw"


def add_job(
    verbs: Verbs,
    verb: str,
    text: str,
    work: Callable[[argparse.Namespace], None],
    example: str,
    epilog: str = "",
    group: str = INTERNALS,
) -> argparse.ArgumentParser:
    """Add a verb whose `path` `work` makes, in the checkout and with a log beside stderr where they are named.

    Snakemake runs in another folder than the checkout, and gives whole paths.
    """

    def run(arguments: argparse.Namespace) -> None:
        if checkout := os.environ.get("SUMCURVE_CHECKOUT"):
            os.chdir(checkout)
        with logged(arguments.log):
            arguments.path = named(arguments.path)
            work(arguments)

    command = verbs.add_parser(verb, group=group, help=text, epilog=fill(epilog, 100), example=example)
    command.add_argument("path", type=Path, help=TO_MAKE)
    command.add_argument("--log", type=Path, help="a file for what would go to stderr")
    command.set_defaults(run=run)
    return command


@contextmanager
def logged(path: Path | None) -> Iterator[None]:
    """Copy stderr to a log file as well, without the output that is for terminals alone."""
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal = sys.stderr
    with path.open("w") as stream:
        sys.stderr = stream
        try:
            yield
        except ERRORS as error:
            print(f"sumcurve: {error}", file=stream)
            raise
        except SystemExit:  # its raiser has printed the reason
            raise
        except BaseException:
            traceback.print_exc(file=stream)
            raise
        finally:
            sys.stderr = terminal


def named(path: Path) -> Path:
    """A folder, which may be named by its manifest."""
    return path.parent if path.name.startswith("manifest") else path
