"""Power analysis: items and seeds that a difference needs to be significant (`statistics.power`)."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

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
    seeds_needed,
    visible_effect,
)
from sumcurve.statistics.power import power as power_of
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table

MANY_SDS = 3  # of the items' differences, beyond which no effect of two real systems lies
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
    sd_items: float,
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

    Raises:
        CommandError: for numbers for which there is no power
    """
    require_whole(1, items=items, seeds=seeds, systems=systems)
    for name, value in (("paired", paired), ("seeds", seeds)):
        if value and not sd_seed:
            raise CommandError(f"{name}: without noise of seeds it changes nothing; give sd_seed, or leave {name} out")
    noise, aim = Noise(sd_items, sd_seed, design_effect, paired, systems), Aim(effect, power, level)
    _check_finite(noise, aim, items, seeds)
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
    return PowerResult([*_sentences(noise, aim, rows)], [table], noise, aim, tuple(rows))


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


def _check_finite(noise: Noise, aim: Aim, items: int | None, seeds: int | None) -> None:
    """Raise CommandError for numbers beyond which the power cannot be computed."""
    bounds = (("items", items, MOST_ITEMS), ("seeds", seeds, MOST_SEEDS), ("systems", noise.systems, MOST_SYSTEMS))
    for name, value, most in bounds:
        if value and value > most:
            raise CommandError(f"--{name} {shown(value)}: no study has more than {most:,}; give a smaller number")
    if aim.effect > MOST_SDS * noise.sd_items:
        raise CommandError(
            f"--effect {aim.effect:g}: more than {MOST_SDS:,} times the items' SD of {noise.sd_items:.4g}; give the "
            "difference in points"
        )
    if not math.isfinite(power_of(noise, aim, items or MOST_ITEMS, seeds or 2)):
        raise CommandError(
            f"--design-effect {noise.design_effect:g} gives no finite power with --effect {aim.effect:g}; it is 1 for "
            "independent items, above 1 in groups"
        )


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
