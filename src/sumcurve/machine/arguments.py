"""The command line's parser with its groups of verbs, types of arguments (`add_argument(type=…)`), files to write."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from numbers import Integral
from os import devnull
from pathlib import Path
from typing import Any

from sumcurve.machine.spelling import there_are

TOOLS = "Tools, for any files of yours"
STUDIES = "Studies, in a checkout (`make` calls most of them)"
INTERNALS = "Internals, which rules and other verbs call"  # in no list of verbs; each has its own --help
MOST_SEED = 2**63 - 1  # that torch's generators take
GROUPS = (TOOLS, STUDIES, INTERNALS)
SHOWN = 80  # characters of a value in an error


class Parser(argparse.ArgumentParser):
    """A parser that knows what a misspelt choice may have meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, f"no {value!r}; {there_are(value, map(str, action.choices))}")

    def parse_known_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Parse words as argparse does; a second value behind an option that may stand again is an error with both."""
        found, unknown = super().parse_known_args(words, namespace)
        for option, value, other in zip(words or (), *(words[place:] for place in (1, 2)), strict=False):
            if [other] == unknown[:1] and isinstance(self._option_string_actions.get(option), argparse._AppendAction):
                self.error(f"{other!r} behind {option} {value}: say {option} again: {option} {value} {option} {other}")
        return found, unknown


class Verbs(argparse._SubParsersAction):
    """The verbs of the command line, each in one group, with an example in its help."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.groups: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
        self._further: dict[str, Callable[[argparse.ArgumentParser], None]] = {}

    def add_parser(
        self,
        name: str,
        *,
        group: str = TOOLS,
        example: str = "",
        further: Callable[[argparse.ArgumentParser], None] | None = None,
        printing: bool | None = None,
        **options: Any,
    ) -> argparse.ArgumentParser:
        """Add a verb to a group; `printing` gives it `--json` and `-q`, which tools have by default.

        `example` holds lines without "sumcurve VERB", which its help shows at its end. `further` adds options that are
        slow to import, once the verb is named.
        """
        self.groups[group][name] = options.get("help", "")
        lines = [f"example: {self._prog_prefix} {name} {line}".rstrip() for line in example.splitlines()]
        options["epilog"] = "\n".join([*filter(None, [options.get("epilog")]), *lines])
        options.setdefault("description", options.get("help"))
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        command: argparse.ArgumentParser = super().add_parser(name, **options)
        if printing or (printing is None and group == TOOLS):
            command.add_argument("--json", type=Path, metavar="OUT", help="write the answer as JSON")
            command.add_argument(
                "-q", "--quiet", action="store_true", help="print the answer alone: no notes, no progress"
            )
        if further is not None:
            self._further[name] = further
        return command

    def complete(self, name: str) -> argparse.ArgumentParser:
        """The verb with all its options."""
        command: argparse.ArgumentParser = self.choices[name]
        if (further := self._further.pop(name, None)) is not None:
            further(command)
        return command

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if values[0] in self.choices:
            self.complete(values[0])
        super().__call__(parser, namespace, values, option)

    def listed(self) -> str:
        """The verbs with their help, by group, without internals."""
        groups = {group: self.groups[group] for group in (TOOLS, STUDIES)}
        width = max(len(name) for verbs in groups.values() for name in verbs)
        blocks = [
            "\n".join([f"{group}:", *(f"  {name:{width}}  {text}" for name, text in verbs.items())])
            for group, verbs in groups.items()
        ]
        return "\n\n".join(blocks)


@contextmanager
def silenced(arguments: argparse.Namespace) -> Iterator[None]:
    """Nothing on standard error where `--quiet` is asked for; what is raised passes."""
    if not getattr(arguments, "quiet", False):
        yield
        return
    with open(devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        yield


class Once(argparse.Action):
    """Stores the value of an option without a default; an option given twice is an error, not the last of both."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if (earlier := getattr(namespace, self.dest)) is not None:
            parser.error(f"{option} stands twice ({earlier} and {values}): give it once")
        setattr(namespace, self.dest, values)


class CommandError(ValueError):
    """Request that cannot be met; the message is fit for a terminal."""


class UsageError(CommandError):
    """Argument whose value is none that it can have: ends a command as a misspelt option does, with status 2."""


def require_whole(least: int, **values: object) -> None:
    """UsageError for a value that is no whole number of at least `least`; None is a value that is not given."""
    for name, value in values.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
            raise UsageError(f"{name} is {shown(value)}; give a whole number of at least {least}, or leave it out")


def shown(value: object) -> str:
    """A value in an error: on one line, and cut where it is long."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = f"a number of more than {sys.get_int_max_str_digits():,} digits"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def listed(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


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


def check_written(written: Iterable[Path | None], read: Iterable[Path | None]) -> None:
    """CommandError for a file that cannot be written at its path, or that is read; None is no file."""
    sources, taken = {path.resolve() for path in read if path}, set()
    for path in filter(None, written):
        if not path.parent.is_dir():
            raise CommandError(f"{path}: there is no folder {path.parent}; make it first")
        if path.is_dir():
            raise CommandError(f"{path}: this is a folder; name a file to write")
        if path.resolve() in sources:
            raise CommandError(f"{path}: this file is read, and would be lost; write to another")
        if path.resolve() in taken:
            raise CommandError(f"{path}: two results would be written to it; name a file for each")
        taken.add(path.resolve())
