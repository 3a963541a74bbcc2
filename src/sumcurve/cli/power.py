"""`sumcurve power`: the items and seeds that are needed to tell two systems apart."""

import argparse
from pathlib import Path

import sumcurve
from sumcurve.machine.arguments import Verbs, check_written
from sumcurve.machine.numbers import finite
from sumcurve.machine.parameters import add_function, add_option, given
from sumcurve.store.records import write_json

POWER = """\
All figures are points (100 F). Noise of the items is given, or taken from files that `sumcurve rouge --per-item` wrote,
or of any other scores of each item; noise of the seeds is given, or pooled from mean scores.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb; `arguments.run(arguments)` raises CommandError."""
    power = verbs.add_parser(
        "power",
        help="items and seeds needed to see a difference",
        example="--sd-items 18 --sd-seed 0.8 --effect 2",
        further=_add_options,
    )
    power.set_defaults(run=run_power)


def _add_options(power: argparse.ArgumentParser) -> None:
    items = power.add_mutually_exclusive_group(required=True)
    add_option(items, sumcurve.power, "sd_items")
    items.add_argument(
        "--per-item",
        type=Path,
        nargs="+",
        default=(),
        metavar="CSV",
        help="scores of two systems on the same items: one file of both, or one of each",
    )
    seeds = power.add_mutually_exclusive_group()
    add_option(seeds, sumcurve.power, "sd_seed")
    seeds.add_argument(
        "--seed-scores",
        nargs="+",
        type=_numbers,
        default=(),
        metavar="S,S,...",
        help="mean scores in points, one list of seeds for each system, such as 31.2,31.5,30.9",
    )
    add_function(power, sumcurve.power, POWER)


def run_power(arguments: argparse.Namespace) -> None:
    """Print the answers and write the requested file."""
    check_written([arguments.json], arguments.per_item or [])
    result = sumcurve.power(**given(arguments, sumcurve.power))
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    warnings = [sentence for sentence in result.sentences if sentence.startswith("WARNING")]
    answers = [*warnings, *(row["answer"] for row in result.answers)]
    print("\n".join(answers if arguments.quiet else [*result.taken, *result.sentences]))


def _numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    read = [finite(number) for number in text.split(",")]
    scores = [number for number in read if number is not None]
    if len(scores) < len(read):
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers with commas between, such as 31.2,31.5,30.9")
    return scores
