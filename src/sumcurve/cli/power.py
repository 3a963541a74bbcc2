"""`sumcurve power`: the items and seeds that are needed to tell two systems apart."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import sumcurve
from sumcurve.files.layout import Layout
from sumcurve.machine.arguments import CommandError, Verbs, check_written
from sumcurve.machine.counts import counted
from sumcurve.machine.numbers import finite
from sumcurve.machine.parameters import add_function, add_option, add_options, given
from sumcurve.machine.spelling import alike
from sumcurve.store.records import write_json

if TYPE_CHECKING:
    from sumcurve.files.sheet import Sheet

POINTS = 100  # scores are shares in files, percent ("points") on paper
ROUNDING = 1e-12  # share of a score, below which a spread is none

METRIC = "rouge1"
POWER = """\
All figures are points (100 F). Noise of the items is given, or taken from files that `sumcurve rouge --per-item` wrote;
noise of the seeds is given, or pooled from mean scores.
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
        metavar="CSV",
        help="one file written with --compare, or one for each system",
    )
    power.add_argument("--metric", metavar="NAME", help=f"column of --per-item (default: {METRIC})")
    seeds = power.add_mutually_exclusive_group()
    add_option(seeds, sumcurve.power, "sd_seed")
    seeds.add_argument(
        "--seed-scores",
        nargs="+",
        metavar="S,S,...",
        help="mean scores in points, one list of seeds for each system, such as 31.2,31.5,30.9",
    )
    add_function(power, sumcurve.power, POWER)
    add_options(power, Layout)


def run_power(arguments: argparse.Namespace) -> None:
    """Print the answers and write the requested file."""
    check_written([arguments.json], arguments.per_item or [])
    if arguments.metric and not arguments.per_item:
        raise CommandError(f"--metric {arguments.metric}: no --per-item, whose column it is; add it")
    values = given(arguments, sumcurve.power)
    if arguments.per_item:
        layout = Layout(**given(arguments, Layout))
        values["sd_items"] = _sd_items(arguments.per_item, arguments.metric or METRIC, layout)
    if arguments.seed_scores:
        values["sd_seed"] = _sd_seed(arguments.seed_scores, arguments.paired)
    result = sumcurve.power(**values)
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    warnings = [sentence for sentence in result.sentences if sentence.startswith("WARNING")]
    answers = [*warnings, *(row["answer"] for row in result.answers)]
    print("\n".join(answers if arguments.quiet else result.sentences))


def _sd_items(paths: Sequence[Path], metric: str, layout: Layout) -> float:
    """Standard deviation, in points, of the per-item differences of two systems in files that `--per-item` wrote.

    Items are joined by id, where every row has one, else by number: in one file `rouge` has joined them.
    """
    from sumcurve.files.sheet import read_sheet
    from sumcurve.statistics.power import sd_of_differences

    if len(paths) > 2:
        raise CommandError(f"--per-item takes one file with two systems or two files, not {len(paths)}")
    sheets = [read_sheet(path, layout) for path in paths]
    ids = [sum(bool(line.cells.get("id")) for line in sheet.lines) for sheet in sheets]
    key = "id" if ids == [len(sheet.lines) for sheet in sheets] else "item"
    systems = [_by_system(sheet, key, f"{metric}_f") for sheet in sheets]
    for sheet, found in zip(sheets, systems, strict=True):
        print(*sheet.guesses, sep="\n", end="\n" if sheet.guesses else "")
        if len(found) != 3 - len(sheets):
            raise CommandError(
                f"{sheet.name} holds {counted(len(found), 'system')} ({', '.join(found)}): give one file of two, as "
                "--compare writes it, or two files of one each; keep their rows alone"
            )
    if key == "item" and len(paths) > 1 and any(ids):
        raise CommandError(
            f"{paths[0]} has {counted(ids[0], 'id')}, {paths[1]} has {ids[1]:,}, so that items cannot be joined; score "
            "both with ids, or both without, in one order"
        )
    if key == "item" and len(paths) > 1:
        print(f"No ids in {paths[0]} and {paths[1]}: items are joined by their order")
    left, right = (scores for found in systems for scores in found.values())
    for here, there, place in ((left, right, 0), (right, left, -1)):
        if alone := [item for item in here if item not in there]:
            raise CommandError(
                f"{' and '.join(map(str, paths))}: the systems have other items: {key} {alone[0]!r} of {paths[place]} "
                f"is not among the other's ({len(alone):,} are so); score both systems on the same items"
                f"{alike(alone[0], there)}"
            )
    try:
        return sd_of_differences([POINTS * left[item] for item in left], [POINTS * right[item] for item in left])
    except CommandError as error:
        raise CommandError(f"{paths[0]}: {error}") from error


def _by_system(sheet: "Sheet", key: str, column: str) -> dict[str, dict[str, float]]:
    """The scores of each system by item."""
    if missing := [name for name in ("system", "item", column) if name not in sheet.columns]:
        raise CommandError(f"{sheet.name} has no column {missing[0]!r}; give a file of `sumcurve rouge --per-item`")
    systems: dict[str, dict[str, float]] = {}
    places: dict[tuple[str, str], str] = {}
    for line in sheet.lines:
        name, item, score = line.text("system"), line.text(key), float(line.number(column))
        if not 0 <= score <= 1:
            raise line.error(column, "scores of a file of `sumcurve rouge --per-item` are in 0 to 1")
        if (first := places.setdefault((name, item), line.place)) != line.place:
            raise line.error(key, f"that of {name} in {first}, too; remove one row")
        systems.setdefault(name, {})[item] = score
    return systems


def _sd_seed(texts: Sequence[str], paired: bool) -> float:
    """Noise of the seeds by the mean scores of each system's seeds."""
    from sumcurve.statistics.power import paired_sd, pooled_sd

    lists = [_numbers(text) for text in texts]
    sd_seed = (paired_sd if paired else pooled_sd)(lists)
    if sd_seed <= ROUNDING * max(abs(score) for scores in lists for score in scores):
        beside = " but for what all systems share" if paired else ""
        raise CommandError(
            f"--seed-scores {' '.join(texts)}: the seeds of each system score the same{beside}, so that their spread "
            "is unknown; give more digits or seeds, or leave the option out"
        )
    return sd_seed


def _numbers(text: str) -> list[float]:
    read = [finite(number) for number in text.split(",")]
    scores = [number for number in read if number is not None]
    if len(scores) < len(read):
        raise CommandError(f"--seed-scores {text!r}: give numbers with commas between, such as 31.2,31.5,30.9")
    if len(scores) == 1:
        raise CommandError(
            f"--seed-scores {text!r}: one seed says nothing of the spread between seeds; give two scores of each "
            "system at least, or leave the system out"
        )
    return scores
