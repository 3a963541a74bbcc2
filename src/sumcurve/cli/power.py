"""`sumcurve power`: the items and seeds that are needed to tell two systems apart."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sumcurve
from sumcurve.files.layout import Layout
from sumcurve.machine.arguments import CommandError, Verbs, check_written
from sumcurve.machine.numbers import finite
from sumcurve.machine.parameters import add_function, add_option, add_options, given
from sumcurve.machine.spelling import alike
from sumcurve.store.records import write_json

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


@dataclass
class ItemScores:
    """A metric's F of every item of one system, by the item's id, and by its number; without ids `by_id` is empty."""

    path: Path
    by_id: dict[str, float] = field(default_factory=dict)
    by_number: dict[str, float] = field(default_factory=dict)


def _sd_items(paths: Sequence[Path], metric: str, layout: Layout) -> float:
    """Standard deviation, in points, of the per-item differences of two systems in files of per-item scores."""
    from sumcurve.statistics.power import sd_of_differences

    if len(paths) > 2:
        raise CommandError(f"--per-item takes one file with two systems or two files, not {len(paths)}")
    systems = [system for path in paths for system in _systems(path, f"{metric}_f", len(paths) > 1, layout)]
    if len(systems) == 1:
        raise CommandError(f"{paths[0]} holds one system; write it with --compare, or give a second file")
    try:
        return sd_of_differences(*_joined(*systems))
    except CommandError as error:
        raise CommandError(f"{paths[0]}: {error}") from error


def _joined(first: ItemScores, second: ItemScores) -> tuple[list[float], list[float]]:
    """Scores of the same items in points, joined by id; by number where `rouge` has done so, or no file has ids."""
    left, right, what = first.by_id, second.by_id, "id"
    if first.path == second.path and not (left and right):
        left, right, what = first.by_number, second.by_number, "item"
    elif not left and not right:
        print(f"No ids in {first.path} and {second.path}: items are joined by their order")
        left, right, what = first.by_number, second.by_number, "item"
    elif not (left and right):
        has, lacks = (first, second) if left else (second, first)
        raise CommandError(
            f"{has.path} has ids, {lacks.path} has none, so that items cannot be joined; score both with ids, or both "
            "without, in one order"
        )
    for here, there, path, without in ((left, right, first.path, second.path), (right, left, second.path, first.path)):
        if alone := [key for key in here if key not in there]:
            raise CommandError(
                f"{first.path} and {second.path} hold other items: {what} {alone[0]!r} of {path} is not among those of "
                f"{without} ({len(alone):,} are so); score both systems on the same items{alike(alone[0], there)}"
            )
    return [POINTS * left[key] for key in left], [POINTS * right[key] for key in left]


def _systems(path: Path, column: str, alone: bool, layout: Layout) -> list[ItemScores]:
    """The one system, or both, of a file that `--per-item` wrote; CommandError for two where one is to be `alone`."""
    from sumcurve.files.sheet import read_sheet

    sheet = read_sheet(path, layout)
    for guess in sheet.guesses:
        print(guess)
    needed = ("system", "item", column)
    if missing := [name for name in needed if name not in sheet.columns]:
        raise CommandError(f"{path} has no column {missing[0]!r}; give a file of `sumcurve rouge --per-item`")
    systems: dict[str, ItemScores] = {}
    places: dict[tuple[str, str, str], str] = {}
    for line in sheet.lines:
        name, score = line.text("system"), float(line.number(column))
        if not 0 <= score <= 1:
            raise line.error(column, "scores of a file of `sumcurve rouge --per-item` are in 0 to 1")
        line.text("item")
        system = systems.setdefault(name, ItemScores(path))
        for kind, scores in (("id", system.by_id), ("item", system.by_number)):
            if key := line.cells.get(kind):
                if key in scores:
                    raise line.error(kind, f"that of {name} in {places[name, kind, key]}, too; remove one row")
                scores[key], places[name, kind, key] = score, line.place
        if len(system.by_id) not in (0, len(system.by_number)):
            raise CommandError(f"{line.place}: {name} has ids in some rows only; write the file anew")
    if len(systems) > 2:
        raise CommandError(f"{path} holds {len(systems)} systems ({', '.join(systems)}): keep the rows of two")
    if alone and len(systems) > 1:
        raise CommandError(
            f"{path} holds two systems ({', '.join(systems)}), and there is a second file; give {path} alone, or two "
            "files of one system each"
        )
    return [*systems.values()]


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
