"""Per-item scores of several systems, from any file or data frame: long, wide, or a file a system.

A *long* table has a row for every item and system, and columns for item, system and scores; with a column of seeds a
system has several rows an item. A *wide* table has a row for every item and a column for every system. Files of one
system each are named after it: `NAME=FILE`, or the file.

Output of lm-evaluation-harness with `--log_samples` (`samples_TASK_TIME.jsonl` in a folder for each model) is a file
a system, named after its folder (in one folder, after its task or name): items are its `doc_id`, scores those that its
key `metrics` names. Where a file has several filters, they stand behind the metric's name: `exact_match,strict-match`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile
from pathlib import Path
from statistics import fmean
from typing import Any

from sumcurve.files.layout import Layout
from sumcurve.files.sheet import (
    GROUP,
    INDEX,
    ITEM,
    METRIC,
    NO_SCORES,
    RECORDS,
    SEED,
    SYSTEM,
    Line,
    Sheet,
    sheet_of,
)
from sumcurve.machine.arguments import CommandError, shown
from sumcurve.machine.numbers import finite
from sumcurve.machine.spelling import shortened

KEYS = {*ITEM, *SYSTEM, *SEED, *GROUP, *RECORDS, *NO_SCORES, "empty"}  # never taken for scores
HARNESS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}  # of its samples
HASHES = ("doc_hash", "prompt_hash", "target_hash")
SAMPLES = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")

RESULTS = re.compile(r"results\.(?P<task>.+)\.(?P<metric>[^.]+,[^.]+)")  # columns of the harness's means over items
CHART = re.compile(r"(?:[\w ]+: )?(?P<name>.+?) - (?P<metric>.+)")  # columns of a tracker's chart, a run each
ENDS = ("__MIN", "__MAX", "__STEP")  # of further columns of a chart
TEXTS = ("prediction", "predictions", "candidate", "generated", "hypothesis", "output")
LOSS = re.compile(  # names of scores of which less is better
    r"loss|nll|perplexity|error|(?<![a-z])(ppl|[wcmt]er|eer|r?mse|mape|mae|brier|fid)(?![a-z])", re.IGNORECASE
)


@dataclass(frozen=True)
class Columns:
    """Names of columns, where a caller gives them; None is found by its usual name. `metrics` () are all numbers."""

    item: str | None = None
    system: str | None = None
    metrics: tuple[str, ...] = ()
    group: str | None = None
    seed: str | None = None
    records: str | None = None


@dataclass(frozen=True)
class Score:
    """One row: a system's scores of one item, by metric; `seed` and `group` are "" and `records` None where unknown."""

    place: str
    item: str
    system: str
    seed: str
    group: str
    records: int | None
    values: Mapping[str, float]
    content: str = ""  # identifies the item, beside its id


@dataclass(frozen=True)
class Items:
    """Scores that were read, and sentences on the roles of columns, equal ones once.

    `declared`: the files themselves name the scores.
    """

    scores: list[Score]
    taken: list[str]
    declared: bool = False
    warnings: Sequence[str] = ()

    @classmethod
    def of(cls, parts: Iterable["Items"]) -> "Items":
        """Items of several files together."""
        parts = [*parts]
        sentences = dict.fromkeys(sentence for part in parts for sentence in part.taken)
        warnings = [warning for part in parts for warning in part.warnings]
        scores = [score for part in parts for score in part.scores]
        return cls(scores, [*sentences], all(part.declared for part in parts), warnings)


def plain_name(column: str) -> str:
    """The last part of a column's name in small letters: `rouge_1` of `metrics/eval_Rouge 1,none`."""
    column = re.sub(r"(?<=.)\s*\([^()]*\)\s*$", "", column.split(",")[0])  # Train Time (s)
    name = re.sub(r"[\s-]+", "_", re.split(r"[/.:]", column)[-1].strip().casefold())
    return re.sub("^(eval|test|predict|valid|validation|val|dev|final|best)_", "", name)


def names_of_chart(columns: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Run and metric by column of a tracker's chart (`bart - eval/rouge1`), without its ends; none of other tables."""
    own = [column for column in columns if not column.endswith(ENDS)]
    found = {column: (named["name"], named["metric"]) for column in own if (named := CHART.fullmatch(column))}
    return found if len(found) > len(own) / 2 and len(found) >= len(own) - 2 else {}


def names_of_grid(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """System and metric by column where columns are all pairs of these (`bart_rouge1`, `out.bart.bleu`); else none."""
    parts = [column.split(".") for column in columns]
    shared = len([*takewhile(lambda part: len({*part}) == 1, zip(*parts, strict=False))])
    names = {column: ".".join(part[shared:]) for column, part in zip(columns, parts, strict=True)}
    for sign, split in product("._- /", (str.partition, str.rpartition)):
        for turn in (slice(None, None, 2), slice(None, None, -2)):
            pairs = {column: split(name, sign)[turn] for column, name in names.items()}
            systems, metrics = ({pair[place] for pair in pairs.values()} for place in (0, 1))
            is_grid = len(systems) * len(metrics) == len({*pairs.values()}) == len(columns)
            is_pair = is_grid and len(systems) > 1 < len(metrics) and not any(map(METRIC.fullmatch, systems))
            if is_pair and (sign == "." or any(map(METRIC.fullmatch, metrics))):
                return pairs  # type: ignore[return-value]
    return {}


def read_items(sources: Any, columns: Columns, layout: Layout | None = None) -> Items:
    """The scores of a table or file, of several files, or of a mapping from systems to files or lists of numbers.

    CommandError without any score, and for a column of numbers that no argument names and that holds no scores, such
    as ids or groups.
    """
    items = _read(sources, columns, layout)
    if not items.scores:
        raise CommandError(
            f"scores is {shown(sources)}: it holds no score; give a table or a file with a row for each item and "
            "system, or a file or a list of scores for each system"
        )
    if not (columns.metrics or items.declared):
        _check_metrics(items.scores)
    systems = [*dict.fromkeys(score.system for score in items.scores)]
    names = dict(zip(systems, shortened(systems), strict=True))
    if [*names.values()] != systems:
        items = replace(items, scores=[replace(score, system=names[score.system]) for score in items.scores])
    return items


def _read(sources: Any, columns: Columns, layout: Layout | None) -> Items:
    if isinstance(sources, Mapping):
        return Items.of(_of_system(str(name), source, columns, layout) for name, source in sources.items())
    many = not isinstance(sources, str | Path) and isinstance(sources, Sequence)
    listed = [*sources] if many and all(isinstance(source, str | Path) for source in sources) else [sources]
    sheets = [sheet_of(source, layout) for source in listed]
    paths = [Path(source) if isinstance(source, str | Path) else None for source in listed]
    names = shortened([str(path.with_suffix("")) if path else "" for path in paths], paths=True)
    if means := next((sheet for sheet in sheets if any(map(RESULTS.fullmatch, sheet.columns))), None):
        raise CommandError(
            f"{means.name}: means over all items, which cannot be paired: give the samples that `--log_samples` writes "
            "beside it (samples_*.jsonl), a file for each model; means at several sizes are for sumcurve curve"
        )
    if any(_is_samples(sheet) for sheet in sheets):
        folders = shortened([str(path.absolute().parent) if path else "" for path in paths], paths=True)
        tasks = [_task(path) if path else "" for path in paths]
        by_file = tasks if len({*tasks}) == len(tasks) else names
        names = by_file if len({*folders}) == 1 < len(paths) else folders
        several = len({*names}) < len(names)
        return Items.of(
            _samples(sheet, name, path, several, columns)
            for sheet, name, path in zip(sheets, names, paths, strict=True)
        )
    parts = []
    for sheet, name in zip(sheets, names, strict=True):
        system = columns.system or sheet.called(SYSTEM)
        if system is None and len(sheets) == 1:
            return _wide(sheet, columns)
        parts.append(_long(sheet, columns, system, name))
    return Items.of(parts)


def _of_system(name: str, source: Any, columns: Columns, layout: Layout | None) -> Items:
    """Items of one system, from its file, its table, or its numbers in the order of the items."""
    numbers = not isinstance(source, str | Path) and not hasattr(source, "columns")
    if numbers and not any(isinstance(value, Mapping) for value in source):
        source = [{"item": number, "score": value} for number, value in enumerate(source, start=1)]
    sheet = sheet_of(source, layout)
    if _is_samples(sheet):
        return _samples(sheet, name, Path(source), False, columns)
    return _long(sheet, columns, None, name)


def _long(sheet: Sheet, columns: Columns, system: str | None, name: str) -> Items:
    """A row for every item of every system; without a column of systems all are of the one named.

    Without a column of items, too, the rows are the items, in their order.
    """
    if system is not None:
        system = sheet.column(system, SYSTEM, "system", "--system")
    if system is None and columns.item is None and not sheet.called((*ITEM, INDEX, *TEXTS)):
        said = "Items: rows in their order, as no column names them (--item)."
        numbered = [replace(line, cells={**line.cells, "item": str(n)}) for n, line in enumerate(sheet.lines, start=1)]
        sheet = replace(sheet, columns=("item", *sheet.columns), lines=numbered, guesses=[*sheet.guesses, said])
    item = _item(sheet, columns)
    keys = _keys(sheet, columns, item, system)
    metrics = _metrics(sheet, columns.metrics, (item, system, *keys.values()))
    scores = [
        _score(line, line.text(item), line.text(system) if system else name, {name: name for name in metrics}, keys)
        for line in sheet.lines
    ]
    roles = {"item": [item], "system": [system] if system else [], **_roles(keys), "scores": metrics}
    return Items(scores, sheet.taken(roles))


def _wide(sheet: Sheet, columns: Columns) -> Items:
    """A column of scores for every system."""
    chart = names_of_chart(sheet.columns)
    item = sheet.columns[0] if chart and not columns.item else _item(sheet, columns)
    keys = _keys(sheet, columns, item, None)
    systems = _metrics(sheet, columns.metrics, (item, *keys.values()))
    if len(systems) < 2:
        raise CommandError(
            f"{sheet.name}: one column of scores, {systems[0]}, and none that names systems: add one (--system), or a "
            "column of scores for each system"
        )
    if not columns.metrics:
        _check_systems(sheet, systems)
    grid = names_of_grid(systems)
    named = {column: grid.get(column) or chart.get(column, (column, "score")) for column in systems}
    scores = [
        _score(line, line.text(item), name, {metric: column}, keys)
        for line in sheet.lines
        for column, (name, metric) in named.items()
    ]
    warnings = []
    if chart:
        warnings.append(
            f"WARNING: items are column {item} of a chart: where these are sizes or steps, the test says nothing of "
            "other test items; sumcurve curve continues curves over sizes"
        )
    elif not grid and (like := [name for name in systems if METRIC.fullmatch(plain_name(name))]):
        warnings.append(
            f"WARNING: {', '.join(like)}: called as metrics are, and taken for systems: where rows are of several "
            "systems, name their column (--system)"
        )
    what = "a system and a metric each" if grid else "a system each"
    taken = sheet.taken({"item": [item], **_roles(keys), what: systems})
    return Items(scores, taken, warnings=warnings)


def _item(sheet: Sheet, columns: Columns) -> str:
    """The column of items; a table's index, if no other."""
    if (sheet.called(TEXTS) or len(sheet.columns) == 1) and sheet.called((*ITEM, *SYSTEM)) is None:
        raise CommandError(
            f"{sheet.name}: texts, no scores: sumcurve rouge --references FILE --candidates FILE "
            "--per-item scores.csv scores them, for sumcurve compare scores.csv"
        )
    is_older = columns.item is None and {"item", "id", "empty"} <= {*sheet.columns}  # of rouge --per-item: row numbers
    if is_older and all(line.cells["id"] for line in sheet.lines):
        return "id"
    return sheet.column(columns.item, (*ITEM, INDEX), "item", "--item")


def _roles(keys: Mapping[str, str]) -> dict[str, list[str]]:
    return {key: [column] for key, column in keys.items()}


def _check_systems(sheet: Sheet, systems: Sequence[str]) -> None:
    """Raise CommandError for a column of a wide table that is no system's: constant, or whole numbers such as ids.

    These are all different, or stand in order, or go beyond the 0 to 1 of all other columns. All 0 may be scores.
    """
    values = {column: [float(line.cells[column] or "nan") for line in sheet.lines] for column in systems}
    whole = {column: all(value == value // 1 for value in values[column]) for column in systems}
    for column, own in values.items():
        others = [value for other in systems if other != column for value in values[other]]
        several = len({*own}) > 2
        if len({*own}) == 1 and len(own) > 1 and own[0]:
            why = f"holds {sheet.lines[0].cells[column]} in every row"
        elif not (several and whole[column]):
            continue
        elif own == sorted(own):
            why = "holds whole numbers in growing order, as ids and groups do"
        elif len({*own}) == len(own):
            why = "holds whole numbers that are all different, as ids do"
        elif all(0 <= value <= 1 for value in others):
            why = "holds whole numbers, and the other systems' scores are from 0 to 1"
        else:
            continue
        rest = " ".join(f"--metric {name}" for name in systems if name != column)
        raise CommandError(
            f"{sheet.name}: column {column} {why}: it is no system's. Name it where it is a group (--group {column}), "
            f"or name the columns of scores ({rest})"
        )


def _check_metrics(scores: Sequence[Score]) -> None:
    """Raise CommandError for a metric that is equal for all systems on each item, where there are others.

    It is a property of the item, not of a system's output; all 0 may be scores.
    """
    by_item: dict[str, dict[str, set[float]]] = {}
    for score in scores:
        for metric, value in score.values.items():
            by_item.setdefault(metric, {}).setdefault(score.item, set()).add(value)
    same = {metric: all(len(values) == 1 for values in items.values()) for metric, items in by_item.items()}
    if len({score.system for score in scores}) < 2 or all(same.values()):
        return
    rest = " ".join(f"--metric {metric}" for metric in by_item if not same[metric])
    for metric, items in by_item.items():
        values = set().union(*items.values())
        if same[metric] and values != {0.0}:
            where = "every row" if len(values) == 1 else "all rows of an item, whatever the system"
            raise CommandError(
                f"{scores[0].place}: column {metric} holds the same in {where}: it is no score. Name it where it is a "
                f"group (--group {metric}), or name the scores ({rest})"
            )


def _keys(sheet: Sheet, columns: Columns, item: str, system: str | None) -> dict[str, str]:
    """The columns of seeds, groups and records that exist, by role."""
    keys = {}
    for key, names in (("seed", SEED), ("group", GROUP), ("records", RECORDS)):
        wanted = getattr(columns, key)
        name = sheet.column(wanted, names, key, f"--{key}") if wanted else sheet.called(names)
        if name is not None and name not in (item, system):
            keys[key] = name
    return keys


def _metrics(sheet: Sheet, wanted: Sequence[str], without: Iterable[str | None]) -> list[str]:
    if wanted:
        return [sheet.column(name, (), "score", "--metric") for name in wanted]
    named = [column for column in sheet.columns if column.casefold() in KEYS]
    metrics = sheet.numeric([*named, *filter(None, without)], "--metric")
    if not metrics:
        others = [column for column in sheet.columns if column not in {*named, *filter(None, without)}]
        first = next(((line, column) for line in sheet.lines for column in others if line.cells.get(column)), None)
        held = f" ({first[0].place}: {first[1]} holds {shown(first[0].cells[first[1]])})" if first else ""
        raise CommandError(
            f"{sheet.name}: no column of scores among {', '.join(sheet.columns)}: write a plain number in every row of "
            f"one{held}, or name it (--metric)"
        )
    return metrics


def _score(line: Line, item: str, system: str, metrics: Mapping[str, str], keys: Mapping[str, str]) -> Score:
    """A row's scores; `keys` and `metrics` map a role to its column."""
    remedy = "write a plain number, such as 0.5; every item needs a score of every system"
    cells = {key: line.cells[column] for key, column in keys.items()}
    records = line.count(keys["records"], "write a whole number above 0") if cells.get("records") else None
    values = {metric: float(line.number(column, remedy)) for metric, column in metrics.items()}
    content = next((line.cells[name] for name in HASHES if line.cells.get(name)), "")
    seed = line.seed(keys["seed"]) if cells.get("seed") else ""
    return Score(line.place, item, system, seed, cells.get("group", ""), records, values, content)


def _is_samples(sheet: Sheet) -> bool:
    return "doc_id" in sheet.columns and bool({"resps", "filtered_resps", "doc_hash"} & {*sheet.columns})


def _task(path: Path) -> str:
    named = SAMPLES.fullmatch(path.name)
    return named["task"] if named else path.stem


def _samples(sheet: Sheet, name: str, path: Path | None, several: bool, columns: Columns) -> Items:
    """Items of one system in samples of lm-evaluation-harness; of several tasks an item has its task's name."""
    filters = {line.cells.get("filter", "") for line in sheet.lines}
    id_column = sheet.column(columns.item, ("doc_id",), "item", "--item")
    keys = _keys(sheet, columns, id_column, None)
    rows: dict[str, Score] = {}
    lists, pairs = _lists(sheet)
    for line in sheet.lines:
        told = {"target_hash": line.cells.get("target", "")}  # of older samples, which have no hash of their own
        cells = told | line.cells | {key: repr(mean) for key, mean in lists.get(line.place, {}).items()}
        declared = cells["metrics"].split(",") if cells.get("metrics") else [*cells]
        plain = [key for key in declared if key not in {*HARNESS, *HASHES} and "." not in key]
        by_filter = f",{cells.get('filter', '')}" if len(filters) > 1 else ""
        scored = {f"{key}{by_filter}": key for key in plain if finite(cells.get(key)) is not None}
        if columns.metrics:
            scored = {key: column for key, column in scored.items() if {key, column} & {*columns.metrics}}
        item = f"{_task(path)}/{line.text(id_column)}" if several and path else line.text(id_column)
        score = _score(replace(line, cells=cells), item, name, scored, keys)
        earlier = rows.setdefault(item, score)
        if earlier is not score and {*score.values} & {*earlier.values}:
            raise CommandError(
                f"{line.place}: {item} comes a second time, after {earlier.place}: keep one, or where they are of "
                "several filters, name these in a key `filter`"
            )
        rows[item] = replace(score, values={**earlier.values, **score.values})
    paired = f"pairs, which only all items together have a score of: {', '.join(pairs)}" if pairs else ""
    if not any(score.values for score in rows.values()):
        numbers = {key for line in sheet.lines for key, value in line.cells.items() if finite(value) is not None}
        known = sorted(numbers - HARNESS - {*HASHES})
        wanted = f" {', '.join(columns.metrics)}" if columns.metrics else " that is a number"
        there = "; ".join(filter(None, [f"there are: {', '.join(known)}" if known else "", paired]))
        raise CommandError(f"{sheet.name}: no metric{wanted}; {there or 'there are: none'}")
    scores = [*rows.values()]
    metrics = [*dict.fromkeys(metric for score in scores for metric in score.values)]
    known = [f"{column} ({key})" for key, column in {"item": id_column, **keys}.items()]
    of_lists = dict.fromkeys(key for means in lists.values() for key in means)
    said = f"; means of each item's list: {', '.join(of_lists)}" if of_lists else ""
    said += f"; not used: {paired}" if paired else ""
    return Items(
        scores, [*sheet.guesses, f"Columns: {'; '.join(known)}; {', '.join(metrics)} (scores){said}."], declared=True
    )


def _lists(sheet: Sheet) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Means of lists of numbers, by place and key; the keys whose lists are pairs, as a log-likelihood and words."""
    values: dict[str, dict[str, list[Any]]] = {}
    for line in sheet.lines:
        for key, written in line.written.items():
            if key not in HARNESS and written.startswith("["):
                values.setdefault(key, {})[line.place] = json.loads(written)
    pairs = [
        key
        for key, lists in values.items()
        if all(len(one) == 2 and not {*map(type, one)} <= {bool} for one in lists.values())
    ]
    means: dict[str, dict[str, float]] = {}
    for key, lists in values.items():
        for place, one in lists.items() if key not in pairs else ():
            if one and all(finite(str(float(value))) is not None for value in one):
                means.setdefault(place, {})[key] = fmean(one)
    return means, pairs


def warnings_of(names: Iterable[str], lower_is_better: bool) -> list[str]:
    """A warning where a column that is called a loss counts as better the higher it is."""
    losses = [name for name in names if LOSS.search(name.lower())]
    if lower_is_better or not losses:
        return []
    return [f"WARNING: {', '.join(losses)}: higher counts as better; for losses say --lower-is-better."]


def mixed_units(scores: Iterable[tuple[str, float]], metric: str) -> list[str]:
    """A warning where the scores of one system look like shares, 0 to 1, and those of another like points, 0 to 100."""
    highest: dict[str, float] = {}
    for system, value in scores:
        if value > 0:
            highest[system] = max(value, highest.get(system, 0.0))
    ordered = sorted(highest, key=highest.__getitem__)
    least, most = (highest[ordered[place]] for place in (0, -1)) if ordered else (0.0, 0.0)
    if not (least <= 1 < most <= 100 and 20 * least <= most):
        return []
    share, point = (f"{name}'s highest {metric} is {highest[name]:g}" for name in (ordered[0], ordered[-1]))
    return [f"WARNING: {share}, {point}: if one is a share of 1 and the other points of 100, bring them to one unit."]
