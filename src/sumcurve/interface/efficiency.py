"""The metrics of Čano and Bojar (2020) for any results, for `sumcurve efficiency`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from sumcurve.curves.results_file import (
    KEYS,
    EfficiencyRow,
    Results,
    efficiency_rows,
    interval_name,
    results_file,
    results_of,
)
from sumcurve.files.layout import Layout
from sumcurve.files.sheet import Sheet, Source, sheet_of, sheet_of_lines
from sumcurve.interface.runs import Runs, called, runs_of
from sumcurve.machine.parameters import checked
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value

CORPUS = ("corpus", "dataset", "dataset_name", "task")


@dataclass(frozen=True, repr=False)
class EfficiencyResult(Result):
    """Result of `efficiency`: a row for each interval of a method.

    Table `efficiency` has σ and θ in percent, ε, and for programs absolute quotients; `absolute` has these for people,
    per 1,000 records and per hour.
    """

    results: Results = None  # type: ignore[assignment]
    rows: tuple[EfficiencyRow, ...] = ()


@checked
def efficiency(
    results: Source,
    scores: Sequence[str] = (),
    *,
    method: str | None = None,
    size: str | None = None,
    seed: str | None = None,
    layout: Layout | None = None,
) -> EfficiencyResult:
    """σ, θ and ε between neighbouring sizes of every method, and over its whole curve, with intervals from seeds.

    Args:
        results: a data frame, a list of mappings or a CSV's path, with columns corpus, method, split (1, 2, … by size),
            records, scores and, where known, seconds and seed; or a tracker's table, as `curve` takes it; or
            "cano-bojar-2020", the paper's own figures
        scores: columns of scores (default: all numbers; of a tracker's table those called as scores are)
        method: column of methods (default: method, else as `curve` finds it)
        size: column of training sizes (default: records, else as `curve` finds it)
        seed: column of seeds (default: seed, else as `curve` finds it)
        layout: of a file

    Raises:
        FileError: for unusable results
    """
    sheet = sheet_of(results_file(str(results)) if isinstance(results, str | Path) else results, layout)
    if not {*KEYS} <= {*sheet.columns}:
        sheet, scores = _of_runs(runs_of(sheet, None, "efficiency", method=method, size=size, scores=scores, seed=seed))
    read = results_of(sheet, scores)
    order = list(dict.fromkeys(corpus for corpus, _ in read.trainings))

    def block(row: EfficiencyRow) -> tuple[int, bool, int, int]:
        """Sort key by corpus and sizes, the whole curve last."""
        return order.index(row.corpus), row.place == "whole", row.first.split, row.second.split

    rows = sorted(efficiency_rows(read), key=block)
    names = list(rows[0].values)
    plain = [
        Column("corpus", "corpus" if len({row.corpus for row in rows}) > 1 else None),
        Column("interval", "interval"),
        Column("place", "place"),
        *(Column(name, title, "count") for name, title in (("from_records", "from"), ("to_records", "to"))),
        Column("method", "method"),
        Column("seeds", "seeds" if read.seeded else None),
    ]
    relative = [Column(name, _title(name), "number", 3 if name[0] == "e" else 2, interval=True) for name in names]
    reasons = list(dict.fromkeys(f"{row.method}: {row.reason}." for row in rows if row.reason))
    cells = [_cells(row) for row in rows]
    columns = [*plain, *relative, Column("reason", None)]
    table = Table("efficiency", "Data efficiency between sizes", columns, cells, reasons)
    scaled = [_scaled(name) for name in names if _title(name) is None]
    absolute = [Column(name, title, "number", decimals, interval=True) for name, title, decimals, _ in scaled]
    of_units = [_cells(row, {name: factor for name, _, _, factor in scaled}) for row in rows]
    beside = Table("absolute", "The same, absolute", [*plain, *absolute], of_units)
    return EfficiencyResult([*_sentences(read)], [table, beside], read, tuple(rows), taken=sheet.guesses)


def _of_runs(runs: Runs) -> tuple[Sheet, tuple[str, ...]]:
    """A tracker's table as a results file: splits are the places of sizes among all."""
    sizes = sorted({line.number(runs.size) for line in runs.sheet.lines})
    roles = {"corpus": called(runs.sheet, CORPUS), "method": runs.method, "records": runs.size, "seed": runs.seed}
    found = {role: [name] for role, name in {**roles, "train_seconds": runs.seconds}.items() if name}
    lines = []
    for line in runs.sheet.lines:
        cells = {"corpus": "all", "method": "all", "split": str(1 + sizes.index(line.number(runs.size)))}
        cells |= {role: line.cells[name] for role, (name,) in found.items()}
        lines.append(replace(line, cells=cells | {name: line.cells[name] for name in runs.scores}))
    return sheet_of_lines(runs.sheet.name, lines, runs.sheet.taken({**found, "scores": runs.scores})), runs.scores


def _sentences(results: Results) -> Iterator[str]:
    seeded = "means over seeds, with 95 % intervals from seeds alone"
    means = seeded if results.seeded else "one training each, without intervals"
    left = f"; not used: {', '.join(results.left_out)}" if results.left_out else ""
    yield f"Scores {', '.join(results.scores)}; training time {results.seconds or 'not known'}; {means}{left}."
    for (corpus, method), trainings in results.trainings.items():
        if len(trainings) == 1:
            yield f"{corpus} {method} has split {trainings[0].split} only, hence no interval."
        for start, end in pairwise(training.split for training in trainings):
            if missing := ", ".join(map(str, range(start + 1, end))):
                yield f"{corpus} {method} has no split {missing}: interval {interval_name(start, end)} spans it."


def _cells(row: EfficiencyRow, factors: Mapping[str, float] | None = None) -> dict[str, Any]:
    """A row's cells; with `factors` only values that have one, times it."""
    seeds = dict.fromkeys((row.first.seeds, row.second.seeds))
    values = {}
    for name, value in row.values.items():
        if factor := 1.0 if factors is None else factors.get(name):
            ends = value, *row.intervals.get(name, (None, None))
            number, low, high = (None if end is None else factor * end for end in ends)
            values[name] = Value(number, low, high)
    return {
        "corpus": row.corpus,
        "method": row.method,
        "interval": row.interval,
        "place": row.place,
        "from_records": row.first.records,
        "to_records": row.second.records,
        "seeds": " → ".join(map(str, seeds)),
        **values,
        **({"reason": row.reason} if factors is None else {}),
    }


def _title(name: str) -> str | None:
    """Title of a column: σ, θ and ε have one, absolute quotients are in the CSV alone."""
    for word, letter in (("sigma", "σ"), ("theta", "θ"), ("epsilon", "ε")):
        if name.startswith(word):
            percent = name.endswith("_pct")
            return f"{letter}{name.removeprefix(word).removesuffix('_pct')}{' %' if percent else ''}"
    return None


def _scaled(name: str) -> tuple[str, str, int, float]:
    """An absolute quotient for people: its name, title with unit, decimals, and factor."""
    if name == "Theta":
        return name, "Θ s/1,000", 1, 1000.0
    return (name, f"E{name[1:]} /h", 4, 3600.0) if name[0] == "E" else (name, f"Σ{name[5:]} /1,000", 4, 1000.0)
