"""Power analysis: items and seeds that a difference needs to be significant (`statistics.power`)."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sumcurve.files.layout import Layout
from sumcurve.interface.compare import replicates_of
from sumcurve.interface.items import Columns, read_items
from sumcurve.machine.arguments import CommandError, require_whole, shown
from sumcurve.machine.counts import counted
from sumcurve.machine.parameters import checked
from sumcurve.statistics.power import (
    MOST_ITEMS,
    MOST_SDS,
    MOST_SEEDS,
    MOST_SYSTEMS,
    Aim,
    Noise,
    Unreachable,
    items_needed,
    paired_sd,
    pooled_sd,
    sd_of_differences,
    seeds_needed,
    visible_effect,
)
from sumcurve.statistics.power import power as power_of
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table

MANY_SDS = 3  # of the items' differences, beyond which no effect of two real systems lies
METRIC, POINTS = "rouge1", 100  # of the items' scores, which are shares
ROUNDING = 1e-12  # share of a score, below which a spread is none
SEEDS = (2, 3, 5, 10, 20)  # for which the items needed are listed


@dataclass(frozen=True, repr=False)
class PowerResult(Result):
    """Result of `power`: `answers` are rows with `items`, `seeds` and, of both, `power` and detectable `effect`."""

    noise: Noise = None  # type: ignore[assignment]
    aim: Aim = None  # type: ignore[assignment]
    answers: tuple[dict[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"noise": asdict(self.noise), "aim": asdict(self.aim), "answers": [*self.answers]}


@checked
def power(
    sd_items: float | None = None,
    sd_seed: float = 0.0,
    effect: float = 1.0,
    power: float = 0.8,
    level: float = 0.05,
    *,
    items: int | None = None,
    seeds: int | None = None,
    paired: bool = False,
    systems: int = 2,
    design_effect: float = 1.0,
    per_item: str | Path | Sequence[str | Path] = (),
    metric: str | None = None,
    seed_scores: Sequence[Sequence[float]] = (),
    layout: Layout | None = None,
) -> PowerResult:
    """Test items, and seeds of each system, that it takes to see a difference between two systems, or their power.

    Without noise of seeds the question is about two trained models, not about methods. Of more than two systems every
    answer is also given for the family of all pairs, of which none is to be called different falsely.

    Args:
        sd_items: noise of the items, the standard deviation of the per-item differences, in points
        sd_seed: noise of the seeds, the standard deviation of a system's mean score between seeds, in points
        effect: the true difference, in points
        power: probability of seeing it
        level: of the two-sided test
        items: ask for seeds, or with seeds for the power
        seeds: ask for items, or with items for the power
        paired: the n-th seed shares its records over systems; the seeds' noise is the residual's of systems x seeds
        systems: over which seeds are pooled, and a family has pairs
        design_effect: of groups of items on differences, for which items count for fewer
        per_item: in place of sd_items, scores of two systems on the same items: a file of both, or one of each
        metric: column of per_item (default: rouge1_f of `rouge --per-item`, else the only one of scores)
        seed_scores: in place of sd_seed, the mean scores of the seeds of each system
        layout: of per_item

    Raises:
        CommandError: for numbers for which there is no power
    """
    require_whole(1, items=items, seeds=seeds, systems=systems)
    if (sd_items is None) == (not per_item):
        raise CommandError("the items' noise is lacking, or given twice: give either sd_items or per_item")
    if metric and not per_item:
        raise CommandError(f"--metric {metric}: no --per-item, whose column it is; add it")
    taken: Sequence[str] = ()
    if sd_items is None:
        sd_items, taken = _sd_of_items(per_item, metric, layout)
    if seed_scores:
        sd_seed = _sd_of_seeds(seed_scores, paired)
    for name, value in (("paired", paired), ("seeds", seeds)):
        if value and not sd_seed:
            raise CommandError(f"{name}: without noise of seeds it changes nothing; give sd_seed, or leave {name} out")
    noise, aim = Noise(sd_items, sd_seed, design_effect, paired, systems), Aim(effect, power, level)
    for name, value, most in (
        ("items", items, MOST_ITEMS),
        ("seeds", seeds, MOST_SEEDS),
        ("systems", systems, MOST_SYSTEMS),
    ):
        if value and value > most:
            raise CommandError(f"--{name} {shown(value)}: no study has more than {most:,}; give a smaller number")
    if effect > MOST_SDS * sd_items or not math.isfinite(power_of(noise, aim, items or MOST_ITEMS, seeds or 2)):
        raise CommandError(
            f"--effect {effect:g} with --design-effect {design_effect:g} and an items' SD of {sd_items:.4g}: no finite "
            "power; give the difference in points, and a design effect of 1 for independent items, above 1 in groups"
        )
    rows = _answers(noise, aim, items, seeds)
    if noise.systems > 2:
        alone = [row | {"question": "alone", "answer": f"alone: {row['answer']}"} for row in rows]
        together = _answers(noise, replace(aim, family=True), items, seeds)
        family = f"all pairs of {noise.systems}"
        rows = alone + [row | {"question": family, "answer": f"{family}: {row['answer']}"} for row in together]
    columns = [
        Column("question", None),
        Column("items", "items", "count"),
        Column("seeds", "seeds", "count"),
        Column("power", "power", "number", 3),
        Column("effect", "least difference", "number", 3),
        Column("answer", None),
    ]
    table = Table("answers", f"For a difference of {effect:g} with power {power:g} at level {level:g}", columns, rows)
    return PowerResult([*_sentences(noise, aim, rows)], [table], noise, aim, tuple(rows), taken=taken)


def _sd_of_items(given: Any, metric: str | None, layout: Layout | None) -> tuple[float, Sequence[str]]:
    """Standard deviation, in points, of the differences of two systems on the same items, and how these were read."""
    paths = [given] if isinstance(given, str | Path) else given
    files = {str(path): path for path in paths} if len(paths) > 1 else paths[0]
    try:
        items = read_items(files, Columns(metrics=(f"{metric or METRIC}_f",)), layout)
    except CommandError:  # no file of `rouge --per-item`: any other names its scores as it likes
        items = read_items(files, Columns(metrics=(metric,) if metric else ()), layout)
    if items.warnings:
        raise CommandError(f"--per-item: {items.warnings[0].removeprefix('WARNING: ')}")
    metric, *others = dict.fromkeys(name for row in items.scores for name in row.values)
    if others:
        raise CommandError(f"--per-item: scores of {', '.join((metric, *others))}: name one (--metric)")
    if outside := next((row for row in items.scores for value in row.values.values() if not 0 <= value <= 1), None):
        raise CommandError(f"{outside.place}: {metric} is a share, 0 to 1: no score of this item is")
    if len(systems := {row.system for row in items.scores}) > 2:
        raise CommandError(f"--per-item: {len(systems)} systems ({', '.join(sorted(systems))}): keep the rows of two")
    (first, second), _, _ = replicates_of(items.scores, metric, common=False)
    return sd_of_differences(*(POINTS * of.items.mean(axis=0) for of in (first, second))), items.taken


def _sd_of_seeds(scores: Sequence[Sequence[float]], paired: bool) -> float:
    """Noise of the seeds by the mean scores of each system's seeds."""
    if single := [*filter(lambda of: len(of) < 2, scores)]:
        raise CommandError(
            f"seed_scores {single[0]}: one seed says nothing of the spread between seeds; give two scores of each "
            "system at least, or leave the system out"
        )
    sd = (paired_sd if paired else pooled_sd)(scores)
    if sd <= ROUNDING * max(abs(score) for of in scores for score in of):
        beside = " but for what all systems share" if paired else ""
        raise CommandError(
            f"seed_scores: the seeds of each system score the same{beside}, so that their spread is unknown; give more "
            "digits or seeds, or leave them out"
        )
    return sd


def _sentences(noise: Noise, aim: Aim, rows: list[dict[str, Any]]) -> list[str]:
    points = "point" if aim.effect == 1 else "points"
    grouped = f" and a design effect of {noise.design_effect:g}" if noise.design_effect != 1 else ""
    pairing = "paired " if noise.paired else ""
    times = aim.effect / noise.sd_items
    warning = (
        f"WARNING: a difference of {aim.effect:g} {points} is {times:.3g} times the items' SD of {noise.sd_items:.4g}: "
        "the units may not agree; give both in points (100 times scores in 0 to 1)"
    )
    lines = [
        *([warning] if times > MANY_SDS else []),
        f"To see a difference of {aim.effect:g} {points} with power {aim.power:g} in a t-test of level {aim.level:g},",
        f"where items' differences have SD {noise.sd_items:.4g} points{grouped} and mean scores between {pairing}seeds "
        f"SD {noise.sd_seed:.4g} points:",
        *(f"  {row['answer']}" for row in rows),
    ]
    if not noise.sd_seed:
        lines.append("No noise of seeds was given: this is about two trained models, not about their methods.")
    return lines


def _answers(noise: Noise, aim: Aim, items: int | None, seeds: int | None) -> list[dict[str, Any]]:
    """Each answer with the numbers in it; `items` or `seeds` is null where no number is enough."""
    rows: list[dict[str, Any]] = []
    several = noise.sd_seed > 0
    if items and (seeds or not several):
        count = seeds or 1
        row: dict[str, Any] = {"items": items, "seeds": count, "power": float(power_of(noise, aim, items, count))}
        with_seeds = f" and {counted(count, 'seed')}" if several else ""
        answer = f"{counted(items, 'item')}{with_seeds}: power {row['power']:.3f}"
        try:
            row["effect"] = visible_effect(noise, aim, items, count)
            answer += f"; the least difference seen with power {aim.power:g} is {row['effect']:.3g} points"
        except Unreachable as error:
            answer += f" ({error})"
        rows.append(row | {"answer": answer})
    if items and several:
        try:
            least = seeds_needed(noise, aim, items)
            needed: int | None = least
            answer = f"{counted(items, 'item')}: {counted(least, 'seed')} of each system"
        except Unreachable as error:
            needed, answer = None, f"{counted(items, 'item')}: {error}"
        rows.append({"items": items, "seeds": needed, "answer": answer})
    for count in [seeds] if seeds else SEEDS if several else [1]:
        if items and not seeds and several:
            break
        try:
            needed = items_needed(noise, aim, count)
            answer = counted(needed, "item")
        except Unreachable as error:
            needed, answer = None, str(error)
        rows.append(
            {"items": needed, "seeds": count, "answer": (f"{counted(count, 'seed')}: " if several else "") + answer}
        )
    return rows
