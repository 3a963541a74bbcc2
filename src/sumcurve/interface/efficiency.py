"""The metrics of Čano and Bojar (2020) for any results: what `sumcurve efficiency` prints of files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.curves.results_file import EfficiencyRow, Results, efficiency_rows, read_results, results_file, results_of
from sumcurve.interface.sheets import sheet_of
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class EfficiencyResult(Result):
    """What `efficiency` found: table `efficiency` has a row for each interval of a method, σ and θ in percent."""

    results: Results = None  # type: ignore[assignment]
    rows: tuple[EfficiencyRow, ...] = ()


def efficiency(
    results: "str | Path | pd.DataFrame | Sequence[Mapping[str, Any]]", scores: Sequence[str] = ()
) -> EfficiencyResult:
    """σ, θ and ε between neighbouring sizes of every method, and over its whole curve, with intervals from seeds.

    `results` is a data frame, a list of mappings or a CSV's path, with columns corpus, method, split (1, 2, … by size),
    records, scores and, where known, seconds and seed; or "cano-bojar-2020", the paper's own figures. `scores` names
    the columns of scores, else all numbers are. ResultsError for what cannot be used.
    """
    if isinstance(results, str | Path):
        read = read_results(results_file(str(results)), scores)
    else:
        sheet = sheet_of(results)
        for line in sheet.lines:
            for name in sheet.columns:
                line.cells.setdefault(name, "")
        read = results_of(sheet.name, sheet.columns, sheet.lines, scores)
    rows = efficiency_rows(read)
    names = list(rows[0].values)
    columns = [
        Column("corpus", "corpus" if len({row.corpus for row in rows}) > 1 else None),
        Column("method", "method"),
        Column("interval", "interval"),
        Column("place", "place"),
        *(Column(name, title, "count") for name, title in (("from_records", "from"), ("to_records", "to"))),
        *(Column(name, _title(name), "number", 3, interval=True) for name in names),
        Column("reason", None),
    ]
    cells = [_cells(row) for row in rows]
    reasons = list(dict.fromkeys(f"{row.method}: {row.reason}." for row in rows if row.reason))
    table = Table("efficiency", "Data efficiency between sizes", columns, cells, reasons)
    means = "; brackets: 95 % intervals from seeds" if read.seeded else "; one training each, without intervals"
    sentence = f"Scores {', '.join(read.scores)}; training time {read.seconds or 'not known'}{means}."
    return EfficiencyResult([sentence], [table], read, tuple(rows))


def _cells(row: EfficiencyRow) -> dict[str, Any]:
    plain = {"corpus": row.corpus, "method": row.method, "interval": row.interval, "place": row.place}
    sizes = {"from_records": row.first.records, "to_records": row.second.records}
    values = {name: Value(value, *row.intervals.get(name, (None, None))) for name, value in row.values.items()}
    return {**plain, **sizes, **values, "reason": row.reason}


def _title(name: str) -> str | None:
    """σ, θ and ε are for people, absolute quotients for programs."""
    for word, letter in (("sigma", "σ"), ("theta", "θ"), ("epsilon", "ε")):
        if name.startswith(word):
            percent = name.endswith("_pct")
            return f"{letter}{name.removeprefix(word).removesuffix('_pct')}{' %' if percent else ''}"
    return None
