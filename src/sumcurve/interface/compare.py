"""Systems compared on the same items, as a study compares its methods: paired, by groups of items, in one family.

The statistics are those of a study's tables: `statistics.design`, `statistics.family`, `tables.pairs`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from sumcurve.files.layout import Layout
from sumcurve.files.sheet import Source
from sumcurve.interface.items import Columns, Score, mixed_units, read_items, warnings_of
from sumcurve.machine.arguments import CommandError, require_whole
from sumcurve.machine.counts import counted
from sumcurve.machine.parameters import checked
from sumcurve.machine.spelling import alike
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.groups import LEAST_GROUPS
from sumcurve.statistics.intervals import estimate
from sumcurve.tables.pairs import DECIDING, LEVEL, POWER, Pair, compared, difference_columns, numbers, outcomes, turned
from sumcurve.tables.ranking import ranked
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value, listed, number, probability

SMALL = 0.01  # a range of scores below this is stretched, so that no difference passes for rounding
OUTCOMES = ("wins", "ties", "losses")
NOT_SHOWN = "no significant difference"
SINGLE_MEANS = "Brackets: 95 % intervals of single means; whether two overlap is no test."


@checked
def compare(
    scores: Source | Sequence[str | Path] | Mapping[str, Source | Sequence[Any]],
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
    layout: Layout | None = None,
) -> Result:
    """Compare systems on the same items: who is significantly better, by how much, and what would have been detected.

    Differences are paired; items of one group (a document's questions) are drawn together. With seeds, systems are
    methods, whose other trainings the intervals cover; seeds are paired. Of several sizes the largest is compared, and
    the others help to estimate the variance of seeds. All pairs under a metric are one family of tests.

    Args:
        scores: a data frame, the path of a CSV or of JSON lines, a list of paths, or a mapping from each system to its
            path or its list of scores (`interface.items` has the forms)
        item: column of items (default: item, id, doc_id)
        system: column of systems (default: system, model, method)
        metric: columns of scores (default: all numbers)
        group: column of groups, which are drawn together (default: group, cluster)
        seed: column of seeds (default: seed)
        records: column of training records (default: records)
        lower_is_better: as of losses
        common: keep the items that all systems have
        random_seed: of the test
        layout: of files

    Returns:
        A result with the tables `pairs` and `systems`

    Raises:
        CommandError: names the row that cannot be used, and the reason
    """
    require_whole(0, random_seed=random_seed)
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    items = read_items(scores, Columns(item, system, metrics, group, seed, records), layout)
    rows = items.scores
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    shares = all(0 <= value <= 1 for row in rows for value in row.values.values())
    points = ", 0 to 1: `sumcurve rouge` and `power` speak of points, 100 times as much" if shares else ""
    notes = {f"Unit: that of the scores{points}.": None}
    sentences = [*items.warnings, *warnings_of(names, lower_is_better)]
    for name in names:
        sentences += mixed_units(((row.system, row.values[name]) for row in rows if name in row.values), name)
    pair_rows: list[Mapping[str, Any]] = []
    system_rows: list[Mapping[str, Any]] = []
    decimals: dict[str, int] = {}
    for name in names:
        replicates, groups, left_out = replicates_of([row for row in rows if name in row.values], name, common)
        every = np.concatenate([entry.items.ravel() for entry in replicates])
        unit = float(np.ptp(every)) / 100 if 0 < np.ptp(every) < SMALL else 1.0
        kept, cut = common_seeds([replace(entry, items=entry.items / unit) for entry in replicates])
        design = Design(kept, groups, None)
        cells = _compared_cells(design)
        pairs = [pair for pair in combinations(cells, 2) if not _both_fixed(design, pair)]
        by_cell = compared(design, pairs, not lower_is_better, random_seed)
        decimals[name] = _decimals(by_cell.values(), unit, float(np.std(every)))
        means = {cell: float(design.means[design.place(cell)]) for cell in cells}
        sentence = _sentence(design, by_cell, means, -1 if lower_is_better else 1, unit, decimals[name])
        sentences.append((f"{name}: " if len(names) > 1 or name != "score" else "") + sentence)
        notes |= dict.fromkeys([*left_out, *_notes(design, cut, cells)])
        items_of = {entry.cell: entry.items.mean(axis=0) for entry in replicates}
        pair_rows += [_pair_row(pair, name, unit, not lower_is_better, items_of) for pair in by_cell.values()]
        system_rows += [
            _system_row(design, cell, name, unit, replicates, groups)
            for cell in sorted(cells, key=means.__getitem__, reverse=not lower_is_better)
        ]
    tables = [_pairs_table(pair_rows, decimals, [*notes]), _systems_table(system_rows, decimals)]
    return Result(sentences, tables, taken=[*items.taken, *_smaller_sizes(rows)])


def _smaller_sizes(rows: Sequence[Score]) -> list[str]:
    """Notes on scores at other sizes than the largest, and on systems without scores at that size."""
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


def _compared_cells(design: Design) -> list[Cell]:
    """The systems at the largest size, trained ones first, in their order."""
    largest = max((cell[1] or 0 for cell in design.cells), default=0)
    cells = [cell for cell in design.cells if cell[1] in (None, largest)]
    return sorted(cells, key=lambda cell: cell[1] is None)


def _decimals(pairs: Iterable[Pair], unit: float, deviation: float) -> int:
    """Decimals with which the narrowest interval shows two digits; without intervals the deviation of scores."""
    ends = [pair.interval for pair in pairs]
    halves = [unit * (high - low) / 2 for low, high in ends if low is not None and high is not None]
    least = min((half for half in halves if half > 0), default=deviation or unit)
    return max(0, 1 - math.floor(math.log10(least)))


def _notes(design: Design, cut: str, cells: Sequence[Cell]) -> Iterator[str]:
    """Notes on the basis of a metric's tests."""
    if design.why:
        yield f"{design.why[0].upper()}{design.why[1:]}; nothing is tested."
    elif design.groups.effective < LEAST_GROUPS:
        yield f"{design.groups.unequal[0].upper()}{design.groups.unequal[1:]}: intervals are wide."
    if cut:
        yield f"{cut}."
    if "replicated" not in {design.kinds[design.place(cell)] for cell in cells}:
        yield (
            "One run of each system: the tests are about these outputs, and say nothing of what another training would "
            "give."
        )
    if len(design.replicated) == len(design.seeds) == 2 and not design.why:
        yield (
            "Two systems with two seeds: where seeds vary ten times as much as items, up to 6.7 % of tests err, not 5; "
            "train three."
        )
    if design.groups.count == design.groups.items:
        yield "Items count as independent; where some belong together, name their group (--group)."


def _both_fixed(design: Design, pair: tuple[Cell, Cell]) -> bool:
    """Tell whether neither system of a pair has seeds where others have: such a pair does not compare methods."""
    return all(cell[1] is None for cell in pair) and set(design.kinds) != {"fixed"}


def replicates_of(rows: Sequence[Score], metric: str, common: bool) -> tuple[list[Replicates], list[str], list[str]]:
    """Every system's scores ``[seeds, items]`` in one order of items, each item's group, and notes."""
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
        spelt = alike(lacking, next(items for _, _, items in runs if lacking not in items))
        if not common or not whole:
            raise CommandError(
                f"{metric}: item {lacking!r} has no score of {which} ({len(order) - len(whole):,} of {len(order):,} "
                f"items lack a system): score all systems on the same items, or keep what all have (--common){spelt}"
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
    verdict = pair.why or "not tested" if pair.ahead is None else pair.ahead[0] if pair.ahead else NOT_SHOWN
    return {
        "metric": metric,
        "first": pair.first[0],
        "second": pair.second[0],
        **numbers(pair, unit=unit),
        "better": verdict,
        "detectable": _scaled(pair.seen, unit),
        **dict(zip(OUTCOMES, outcomes(items_of[pair.first] / unit, items_of[pair.second] / unit, higher), strict=True)),
    }


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else unit * value


def _value(value: float, low: float | None, high: float | None, unit: float) -> Value:
    return Value(unit * value, _scaled(low, unit), _scaled(high, unit))


def _sentence(
    design: Design,
    by_cell: Mapping[tuple[Cell, Cell], Pair],
    means: Mapping[Cell, float],
    sign: int,
    unit: float,
    decimals: int,
) -> str:
    """State who is best and against whom that is significant, on how many items, with the minimum detectable effect."""

    def pair_of(first: Cell, second: Cell) -> Pair | None:
        reverse = by_cell.get((second, first))
        return by_cell.get((first, second)) or (reverse and turned(reverse))

    ranking = ranked(means, sign, pair_of, unit)
    groups = "" if design.groups.count == design.groups.items else f" in {counted(design.groups.count, 'group')}"
    text = ". ".join(ranking.sentences(decimals=decimals))
    if len(by_cell) == 1 and (p := next(iter(by_cell.values())).p) is not None:
        text += f", p = {probability(p)}".replace("= <", "< ")
    text += f"; {counted(design.groups.items, 'item')}{groups}"
    seen = [standing.detectable for standing in ranking.of("tied") if standing.detectable is not None]
    if seen:
        text += f"; minimum detectable effect {number(fmean(seen), decimals)} ({100 * POWER:g} % power)"
    return f"{text}."


def _pairs_table(rows: Sequence[Mapping[str, Any]], decimals: Mapping[str, int], notes: Sequence[str]) -> Table:
    many = len(decimals) > 1
    most = max(decimals.values(), default=2)
    columns = [
        Column("metric", "metric" if many else None),
        Column("first", "first"),
        Column("second", "second"),
        *difference_columns(most, "first − second"),
        Column("better", "significantly better"),
        Column("detectable", "detectable", "number", most),
        *(Column(name, name, "count") for name in OUTCOMES),
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
