"""Systems compared on the same items, as a study compares its methods: paired, by groups of items, in one family.

The statistics are those of a study's tables: `statistics.design`, `statistics.family`, `tables.pairs`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from sumcurve.interface.items import Columns, Score, mixed_units, read_items, warnings_of
from sumcurve.machine.arguments import CommandError
from sumcurve.machine.counts import counted
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import estimate
from sumcurve.tables.pairs import DECIDING, LEVEL, POWER, Pair, compared
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value, listed, number, probability, span

SMALL = 0.01  # a range of scores below this is stretched, so that no difference passes for rounding
NOT_SHOWN = "no significant difference"
SINGLE_MEANS = "Brackets: 95 % intervals of single means; whether two overlap is no test."


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """What `compare` found: `tables` are `pairs` and `systems`; `pairs_of` has each metric's pairs by cells."""

    pairs_of: Mapping[str, Mapping[tuple[Cell, Cell], Pair]] = None  # type: ignore[assignment]


def compare(
    scores: Any,
    *,
    item: str | None = None,
    system: str | None = None,
    metric: str | Sequence[str] = (),
    group: str | None = None,
    seed: str | None = None,
    records: str | None = None,
    lower_is_better: bool = False,
    common: bool = False,
    random_seed: int = 1,
) -> Comparison:
    """Differences between all pairs of systems, with the family's intervals and p values, and what would be detected.

    `scores` is a data frame, the path of a CSV or of JSON lines, a list of paths, or a mapping from each system to its
    path or its list of scores (`interface.items` has the forms). The names of columns are found where they are usual.
    Items of one `group` (a document's questions) are drawn together. With a `seed` column, systems of several seeds are
    methods, whose other trainings the intervals cover; seeds are paired. With `records`, systems are compared at the
    largest size, and the others help to estimate what seeds vary by. `common` keeps the items that all systems have.

    CommandError or ResultsError says which row cannot be used, and why.
    """
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    items = read_items(scores, Columns(item, system, metrics, group, seed, records))
    rows = items.scores
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    made = [_of_metric(rows, name, not lower_is_better, common, random_seed) for name in names]
    sentences = [
        (f"{name}: " if len(made) > 1 or name != "score" else "") + one_metric.sentence
        for name, one_metric in zip(names, made, strict=True)
    ]
    decimals = {name: one_metric.decimals for name, one_metric in zip(names, made, strict=True)}
    shares = all(0 <= value <= 1 for row in rows for value in row.values.values())
    points = ", 0 to 1: `sumcurve rouge` and `power` speak of points, 100 times as much" if shares else ""
    notes = [f"Unit: that of the scores{points}."]
    notes += list(dict.fromkeys(note for one_metric in made for note in one_metric.notes))
    tables = [
        _pairs_table([row for one_metric in made for row in one_metric.pairs], decimals, notes),
        _systems_table([row for one_metric in made for row in one_metric.systems], decimals),
    ]
    warnings = warnings_of(names, lower_is_better)
    for name in names:
        warnings += mixed_units(((row.system, row.values[name]) for row in rows if name in row.values), name)
    return Comparison(
        [*warnings, *sentences],
        tables,
        {name: of.by_cell for name, of in zip(names, made, strict=True)},
        taken=[*items.taken, *_smaller_sizes(rows)],
    )


def _smaller_sizes(rows: Sequence[Score]) -> list[str]:
    """What becomes of scores at other sizes than the largest, and which systems have none at that."""
    sizes = sorted({row.records for row in rows if row.records is not None})
    if len(sizes) < 2:
        return []
    seeds: dict[tuple[str, int | None], set[str]] = {}
    for row in rows:
        seeds.setdefault((row.system, row.records), set()).add(row.seed)
    single = all(len(names) == 1 for names in seeds.values())
    others = listed([f"{size:,}" for size in sizes[:-1]])
    fate = "left out" if single else "used for what seeds vary by alone"
    sentences = [f"Sizes: compared at {sizes[-1]:,} records, the largest; scores at {others} are {fate}."]
    absent = [system for system, size in seeds if size is not None and (system, sizes[-1]) not in seeds]
    if absent := [*dict.fromkeys(absent)]:
        verb = "is" if len(absent) == 1 else "are"
        sentences.append(f"Not compared: {listed(absent)}, which {verb} not scored at {sizes[-1]:,} records.")
    return sentences


@dataclass(frozen=True)
class _OfMetric:
    """What one metric says."""

    sentence: str
    systems: Sequence[Mapping[str, Any]]
    pairs: Sequence[Mapping[str, Any]]
    notes: Sequence[str]
    decimals: int
    by_cell: Mapping[tuple[Cell, Cell], Pair]


def _of_metric(rows: Sequence[Score], metric: str, higher: bool, common: bool, random_seed: int) -> _OfMetric:
    replicates, groups, notes = _replicates([row for row in rows if metric in row.values], metric, common)
    every = np.concatenate([entry.items.ravel() for entry in replicates])
    unit = float(np.ptp(every)) / 100 if 0 < np.ptp(every) < SMALL else 1.0
    scaled = [Replicates(entry.system, entry.records, entry.seeds, entry.items / unit) for entry in replicates]
    kept, cut = common_seeds(scaled)
    design = Design(kept, groups, None)
    largest = max((cell[1] or 0 for cell in design.cells), default=0)
    cells = [cell for cell in design.cells if cell[1] in (None, largest)]
    order = sorted(cells, key=lambda cell: (cell[1] is None, design.cells.index(cell)))  # trained ones first, as given
    pairs = [pair for pair in combinations(order, 2) if not _both_fixed(design, pair)]
    by_cell = compared(design, pairs, higher, random_seed)
    halves = [(pair.interval[1] - pair.interval[0]) / 2 for pair in by_cell.values() if None not in pair.interval]  # type: ignore[operator]
    least = unit * min((half for half in halves if half > 0), default=float(np.std(every / unit)) or 1.0)
    decimals = min(9, max(0, 1 - math.floor(math.log10(least))))
    if design.why:
        notes.append(f"{design.why[0].upper()}{design.why[1:]}; nothing is tested.")
    if cut:
        notes.append(f"{cut}.")
    kinds = {design.kinds[design.place(cell)] for cell in cells}
    if "replicated" not in kinds:
        notes.append(
            "One run of each system: the tests are about these outputs, and say nothing of what another training would "
            "give."
        )
    if len({*groups}) == len(groups):
        notes.append("Items count as independent; where some belong together, name their group (--group).")
    items_of = {entry.cell: entry.items.mean(axis=0) for entry in replicates}
    means = {cell: unit * float(design.means[design.place(cell)]) for cell in cells}
    ranked = sorted(cells, key=lambda cell: -means[cell] if higher else means[cell])
    return _OfMetric(
        _sentence(design, by_cell, ranked, unit, decimals),
        [_system_row(design, cell, metric, unit, replicates, groups) for cell in ranked],
        [_pair_row(pair, metric, unit, higher, items_of) for pair in by_cell.values()],
        notes,
        decimals,
        by_cell,
    )


def _both_fixed(design: Design, pair: tuple[Cell, Cell]) -> bool:
    """Whether neither has seeds where others have: such a pair says nothing of a method."""
    return all(cell[1] is None for cell in pair) and set(design.kinds) != {"fixed"}


def _replicates(rows: Sequence[Score], metric: str, common: bool) -> tuple[list[Replicates], list[str], list[str]]:
    """Every system's scores ``[seeds, items]`` in one order of items, each item's group, and what is to be noted."""
    by_run: dict[tuple[str, int | None], dict[str, dict[str, Score]]] = {}
    for row in rows:
        items = by_run.setdefault((row.system, row.records), {}).setdefault(row.seed, {})
        if row.item in items:
            run = f"{row.system!r}" + (f", seed {row.seed}" if row.seed else "")
            raise CommandError(
                f"{row.place}: item {row.item!r} of {run} comes a second time, after {items[row.item].place}: keep "
                "one, name the column of systems (--system) or of seeds (--seed), or name systems (NAME=FILE)"
            )
        items[row.item] = row
    if len({name for name, _ in by_run}) < 2:
        raise CommandError(
            f"{metric}: scores of one system, {next(iter(by_run))[0]!r}; a comparison takes two: give a file for each "
            "system, or name the column of systems (--system)"
        )
    runs = [(cell, seed, items) for cell, seeds in by_run.items() for seed, items in seeds.items()]
    order = list(dict.fromkeys(row.item for row in rows))
    whole = [name for name in order if all(name in items for _, _, items in runs)]
    notes = []
    if len(whole) < len(order):
        lacking = next(name for name in order if any(name not in items for _, _, items in runs))
        (system, _), seed, _ = next(run for run in runs if lacking not in run[2])
        which = f"{system!r}" + (f" with seed {seed}" if seed else "")
        if not common or not whole:
            raise CommandError(
                f"{metric}: item {lacking!r} has no score of {which} ({len(order) - len(whole):,} of {len(order):,} "
                "items lack a system): score all systems on the same items, or keep what all have (--common)"
            )
        notes.append(
            f"Left out: {counted(len(order) - len(whole), 'item')} of {len(order):,}, which not all systems have."
        )
    groups = []
    for name in whole:
        for what in ("content", "group"):
            known = {getattr(items[name], what) for _, _, items in runs} - {""}
            if len(known) > 1:
                place = runs[0][2][name].place
                raise CommandError(
                    f"{place}: item {name!r} has {len(known)} values of {what} over the systems, such as "
                    f"{', '.join(sorted(known)[:2])}: these are not the same items"
                )
        groups.append(next((items[name].group for _, _, items in runs if items[name].group), ""))
    if any(groups) and not all(groups):
        first = runs[0][2][whole[groups.index("")]]
        raise CommandError(
            f"{first.place}: no group, and other items have one ({counted(groups.count(''), 'item')} of {len(whole):,} "
            "without): name every item's group, its own where it shares none, or remove the column"
        )
    groups = groups if any(groups) else whole
    single = all(len(seeds) == 1 for seeds in by_run.values())
    if single:
        largest = max(records or 0 for _, records in by_run)
        by_run = {cell: seeds for cell, seeds in by_run.items() if cell[1] in (None, largest)}
    replicates = []
    for (system, records), seeds in by_run.items():
        if "" in seeds and len(seeds) > 1:
            place = next(iter(seeds[""].values())).place
            raise CommandError(f"{place}: a row of {system!r} without a seed, and others have one: name every seed")
        values = np.array([[items[name].values[metric] for name in whole] for items in seeds.values()])
        trained = not single and "" not in seeds
        numbers = tuple(range(len(seeds))) if not trained else tuple(_seed(seed, by_run) for seed in seeds)
        replicates.append(Replicates(system, (records or 1) if trained else None, numbers if trained else (), values))
    return replicates, groups, notes


def _seed(name: str, by_run: Mapping[Any, Mapping[str, Any]]) -> int:
    """A number for each seed, the same for all systems: its own where all are whole numbers."""
    names = sorted({seed for seeds in by_run.values() for seed in seeds})
    return int(name) if all(seed.isdecimal() for seed in names) else names.index(name)


def _system_row(
    design: Design, cell: Cell, metric: str, unit: float, replicates: Iterable[Replicates], groups: Sequence[str]
) -> dict[str, Any]:
    mean = estimate(design, cell)
    entry = next(entry for entry in replicates if entry.cell == cell)
    return {
        "metric": metric,
        "system": cell[0],
        "mean": _value(mean.mean, mean.low, mean.high, unit),
        "seeds": len(entry.seeds) or None,
        "items": entry.items.shape[1],
        "groups": len({*groups}),
        "interval_covers": mean.covers if mean.low is not None else mean.why,
    }


def _pair_row(pair: Pair, metric: str, unit: float, higher: bool, items_of: Mapping[Cell, Any]) -> dict[str, Any]:
    better = np.sign(np.round((items_of[pair.first] - items_of[pair.second]) / unit, 9)) * (1 if higher else -1)
    verdict = pair.why or "not tested" if pair.ahead is None else pair.ahead[0] if pair.ahead else NOT_SHOWN
    return {
        "metric": metric,
        "first": pair.first[0],
        "second": pair.second[0],
        "difference": _value(pair.difference.mean, *pair.interval, unit),
        "pointwise_low": _scaled(pair.difference.low, unit),
        "pointwise_high": _scaled(pair.difference.high, unit),
        "p": pair.p,
        "better": verdict,
        "detectable": _scaled(pair.seen, unit),
        "wins": int((better > 0).sum()),
        "ties": int((better == 0).sum()),
        "losses": int((better < 0).sum()),
        "interval_covers": pair.difference.covers if pair.difference.low is not None else None,
    }


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else unit * value


def _value(value: float, low: float | None, high: float | None, unit: float) -> Value:
    return Value(unit * value, _scaled(low, unit), _scaled(high, unit))


def _sentence(
    design: Design,
    pairs: Mapping[tuple[Cell, Cell], Pair],
    ranked: Sequence[Cell],
    unit: float,
    decimals: int,
) -> str:
    """Who is better than whom, in one sentence: the best system against all others."""
    best, *others = ranked
    of_best = {cell: pairs.get((best, cell)) or pairs.get((cell, best)) for cell in others}
    known = {cell: pair for cell, pair in of_best.items() if pair is not None}

    def shown(cell: Cell) -> str:
        pair = known[cell]
        sign = 1 if pair.first == best else -1
        low, high = (None if end is None else sign * unit * end for end in pair.interval[::sign])
        return span(sign * unit * pair.difference.mean, low, high, decimals)

    behind = [cell for cell, pair in known.items() if pair.ahead == best]
    level = [cell for cell, pair in known.items() if pair.ahead == ""]
    untested = [cell for cell in others if cell not in (*behind, *level)]
    groups = "" if design.groups.count == design.groups.items else f" in {counted(design.groups.count, 'group')}"
    over = f" over {counted(design.groups.items, 'item')}{groups}"
    if len(others) == 1 and known and known[others[0]].p is not None:
        p = f"p = {probability(known[others[0]].p)}".replace("= <", "< ")
        if behind:
            return f"{best[0]} is significantly better than {others[0][0]}: {shown(others[0])}, {p},{over}."
        detectable = _mde(known.values(), unit, decimals)
        both = f"{best[0]} and {others[0][0]}: {shown(others[0])}, {p}"
        return f"No significant difference between {both},{over}{detectable}."
    if not (behind or level):
        tested = [pair for pair in pairs.values() if pair.p is not None]
        rest = "it is not tested; see the pairs of the others" if tested else "nothing is tested"
        sharing = [best, *(cell for cell, pair in known.items() if pair.difference.mean == 0)]
        best_mean = f"{listed([cell[0] for cell in sharing])} share" if len(sharing) > 1 else f"{best[0]} has"
        return f"{best_mean} the best mean{over}; {rest}."
    parts = []
    if behind:
        nearest = behind[0]
        whom = "every other system" if len(behind) == len(others) else listed([cell[0] for cell in behind])
        near = f"; the nearest, {nearest[0]}, by {shown(nearest)}" if len(behind) > 1 else f" ({shown(nearest)})"
        parts.append(f"is significantly better than {whom}{near}")
    if level:
        whom = f"any of the {len(level)} others" if len(level) == len(others) else listed([cell[0] for cell in level])
        near = f", such as {level[0][0]}: {shown(level[0])}" if len(level) > 1 else f" ({shown(level[0])})"
        parts.append(f"has no significant difference from {whom}{near}")
    if untested:
        parts.append(f"is not tested against {listed([cell[0] for cell in untested])}")
    detectable = _mde([known[cell] for cell in level], unit, decimals) if level else ""
    return f"{best[0]} has the best mean and {' and '.join(parts)},{over}{detectable}."


def _mde(pairs: Iterable[Pair], unit: float, decimals: int) -> str:
    seen = [unit * pair.seen for pair in pairs if pair.seen is not None]
    return f"; minimum detectable effect {number(fmean(seen), decimals)} ({100 * POWER:g} % power)" if seen else ""


def _pairs_table(rows: Sequence[Mapping[str, Any]], decimals: Mapping[str, int], notes: Sequence[str]) -> Table:
    many = len(decimals) > 1
    most = max(decimals.values(), default=2)
    columns = [
        Column("metric", "metric" if many else None),
        Column("first", "first"),
        Column("second", "second"),
        Column("difference", "first − second", "number", most, interval=True),
        *(Column(f"pointwise_{end}", None, "number", most) for end in ("low", "high")),
        Column("p", "p (family)", "p"),
        Column("better", "significantly better"),
        Column("detectable", "detectable", "number", most),
        *(Column(name, name, "count") for name in ("wins", "ties", "losses")),
        Column("interval_covers", None),
    ]
    about = (
        f"p: of max-|t| over the family of all pairs under one metric; significant: p < {LEVEL:g}. Brackets: "
        f"{DECIDING} Detectable: the true difference that the test finds with {100 * POWER:g} % power (minimum "
        "detectable effect). Wins: items on which the first is better."
    )
    return Table("pairs", "Paired differences", columns, rows, [about, *notes])


def _systems_table(rows: Sequence[Mapping[str, Any]], decimals: Mapping[str, int]) -> Table:
    columns = [
        Column("metric", "metric" if len(decimals) > 1 else None),
        Column("system", "system"),
        Column("mean", "mean", "number", max(decimals.values(), default=2), interval=True),
        *(Column(name, name, "count") for name in ("seeds", "items", "groups")),
        Column("interval_covers", "interval covers"),
    ]
    return Table("systems", "Mean scores", columns, rows, [SINGLE_MEANS])
