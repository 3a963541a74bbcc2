"""Types of command-line arguments, for `add_argument(type=…)`, which raise ArgumentTypeError, and files to write."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOST_SEED = 2**63 - 1  # that torch's generators take


class Once(argparse.Action):
    """Stores the value of an option without a default; an option given twice is an error, not the last of both."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if (earlier := getattr(namespace, self.dest)) is not None:
            parser.error(f"{option} stands twice ({earlier} and {values}): give it once")
        setattr(namespace, self.dest, values)


class CommandError(ValueError):
    """What the person asked cannot be done; the message is fit for a terminal."""


def natural(text: str, least: int = 0) -> int:
    """A whole number of at least `least`, in ASCII digits."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
    return number


def positive(text: str) -> int:
    """A whole number of at least 1."""
    return natural(text, least=1)


def seed(text: str) -> int:
    """A whole number that every generator takes."""
    number = natural(text)
    if number > MOST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is above {MOST_SEED}, the largest seed")
    return number


def percent(text: str) -> int:
    """A whole number from 1 to 100."""
    if not (text.isdecimal() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 100")
    return int(text)


def resamples(text: str) -> int:
    """A number of resamples that a 95 % interval can be read from, as `settings.study.Bootstrap` has it."""
    return natural(text, least=20)


def misplaced(written: Iterable[Path | None], read: Iterable[Path | None]) -> str | None:
    """Why a file cannot be written where it is asked for, in a sentence; None where all can. None is no file."""
    sources, taken = {path.resolve() for path in read if path}, set()
    for path in filter(None, written):
        if not path.parent.is_dir():
            return f"{path}: there is no folder {path.parent}; make it first"
        if path.is_dir():
            return f"{path}: this is a folder; name a file to write"
        if path.resolve() in sources:
            return f"{path}: this file is read, and would be lost; write to another"
        if path.resolve() in taken:
            return f"{path}: two results would be written to it; name a file for each"
        taken.add(path.resolve())
    return None


def check_written(written: Iterable[Path | None], read: Iterable[Path | None]) -> None:
    """CommandError for a file that cannot be written where it is asked for, or that is read."""
    if why := misplaced(written, read):
        raise CommandError(why)
