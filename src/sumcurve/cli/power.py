"""`sumcurve power`: the items and seeds that it takes to tell two systems apart."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sumcurve.cli.rouge import METRICS
from sumcurve.machine.arguments import CommandError, Verbs, add_printing, check_written, positive
from sumcurve.machine.numbers import finite
from sumcurve.store.records import write_json

POINTS = 100  # scores are shares in files, percent ("points") on paper
ROUNDING = 1e-12  # share of a score, below which a spread is none

POWER = """\
Says how many test items, and seeds of each system, it takes to see a difference between two systems; all figures are
points (100 F). Noise of the items: standard deviation of the per-item differences, given or taken from files that
`sumcurve rouge --per-item` wrote. Noise of the seeds: standard deviation of one system's mean score between seeds,
given or pooled from mean scores. Without noise of seeds the question is about two trained models, not about methods.

Items in groups count for fewer: --design-effect. Seeds that share their records over systems are --paired. With
--systems every answer is also given for all pairs of so many systems, of which none is to be called different falsely.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb; `arguments.run(arguments)` raises CommandError, or ResultsError for a row that cannot be used."""
    power = verbs.add_parser(
        "power",
        help="items and seeds needed to see a difference",
        description=POWER,
        example="--sd-items 18 --sd-seed 0.8 --effect 2",
    )
    items = power.add_mutually_exclusive_group(required=True)
    items.add_argument("--sd-items", type=float, metavar="SD", help="of the per-item differences, in points")
    items.add_argument(
        "--per-item",
        type=Path,
        nargs="+",
        metavar="CSV",
        help="one file written with --compare, or one for each system",
    )
    power.add_argument("--metric", help=f"column of --per-item (default: {METRICS[0]})")
    seeds = power.add_mutually_exclusive_group()
    seeds.add_argument("--sd-seed", type=float, default=0.0, metavar="SD", help="of mean scores, in points")
    seeds.add_argument(
        "--seed-scores",
        nargs="+",
        metavar="S,S,...",
        help="mean scores in points, one list of seeds for each system, such as 31.2,31.5,30.9",
    )
    power.add_argument(
        "--paired",
        action="store_true",
        help="the n-th seed shares its records over systems; the seeds' SD is the residual's of systems x seeds",
    )
    power.add_argument(
        "--systems", type=positive, default=2, metavar="M", help="over which seeds are pooled, and a family has pairs"
    )
    power.add_argument(
        "--design-effect", type=float, default=1.0, metavar="D", help="of groups of items on differences (default: 1)"
    )
    power.add_argument("--effect", type=float, default=1.0, help="the true difference, in points (default: 1)")
    power.add_argument("--power", type=float, default=0.8, help="how surely it is to be seen (default: 0.8)")
    power.add_argument("--level", type=float, default=0.05, help="of the two-sided test (default: 0.05)")
    power.add_argument("--items", type=positive, metavar="N", help="ask for seeds, or with --seeds for the power")
    power.add_argument("--seeds", type=positive, metavar="K", help="ask for items, or with --items for the power")
    add_printing(power)
    power.set_defaults(run=run_power)


def run_power(arguments: argparse.Namespace) -> None:
    """Print what was asked for and write the file asked for."""
    check_written([arguments.json], arguments.per_item or [])
    if arguments.metric and not arguments.per_item:
        raise CommandError(f"--metric {arguments.metric}: no --per-item, whose column it is; add it")
    from sumcurve.interface.power import power

    metric = arguments.metric or METRICS[0]
    result = power(
        _sd_items(arguments.per_item, metric) if arguments.per_item else arguments.sd_items,
        _sd_seed(arguments),
        arguments.effect,
        arguments.power,
        arguments.level,
        items=arguments.items,
        seeds=arguments.seeds,
        paired=arguments.paired,
        systems=arguments.systems,
        design_effect=arguments.design_effect,
    )
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


def _sd_items(paths: Sequence[Path], metric: str) -> float:
    """Standard deviation, in points, of the per-item differences of two systems in files of per-item scores."""
    from sumcurve.statistics.power import sd_of_differences

    if len(paths) > 2:
        raise CommandError(f"--per-item takes one file with two systems or two files, not {len(paths)}")
    systems = [system for path in paths for system in _systems(path, f"{metric}_f", alone=len(paths) > 1)]
    if len(systems) == 1:
        raise CommandError(f"{paths[0]} holds one system; write it with --compare, or give a second file")
    try:
        return sd_of_differences(*_joined(*systems))
    except ValueError as error:
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
                f"{without} ({len(alone):,} are so); score both systems on the same items"
            )
    return [POINTS * left[key] for key in left], [POINTS * right[key] for key in left]


def _systems(path: Path, column: str, alone: bool) -> list[ItemScores]:
    """The one system, or both, of a file that `--per-item` wrote; CommandError for two where one is to be `alone`."""
    from sumcurve.interface.sheets import read_sheet

    sheet = read_sheet(path)
    needed = ("system", "item", column)
    if missing := [name for name in needed if name not in sheet.columns]:
        raise CommandError(f"{path} has no column {missing[0]!r}; give a file of `sumcurve rouge --per-item`")
    systems: dict[str, ItemScores] = {}
    places: dict[tuple[str, str, str], str] = {}
    for line in sheet.lines:
        for lacking in {*needed} - {*line.cells}:  # as a row of JSON lines may
            line.cells[lacking] = ""
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


def _sd_seed(arguments: argparse.Namespace) -> float:
    """Noise of the seeds, 0 where none is given; CommandError for options that do nothing without it."""
    from sumcurve.statistics.power import paired_sd, pooled_sd

    sd_seed: float = arguments.sd_seed
    if arguments.seed_scores:
        lists = [_numbers(text) for text in arguments.seed_scores]
        try:
            sd_seed = (paired_sd if arguments.paired else pooled_sd)(lists)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if sd_seed <= ROUNDING * max(abs(score) for scores in lists for score in scores):
            beside = " but for what all systems share" if arguments.paired else ""
            raise CommandError(
                f"--seed-scores {' '.join(arguments.seed_scores)}: the seeds of each system score the same{beside}, so "
                "that their spread is unknown; give more digits or seeds, or leave the option out"
            )
    for option, value in (("--paired", arguments.paired), ("--seeds", arguments.seeds)):
        if value and not sd_seed:
            raise CommandError(f"{option}: without noise of seeds it changes nothing; add --sd-seed or --seed-scores")
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
