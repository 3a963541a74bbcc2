"""Trace from any cell of any table of a study back to the raw corpus, recomputing the cell and every hash on the way.

Three things are shown. The tables were made from the present folders: every file of the study is hashed, and the
folders in the tables' manifest are the present ones. The cell equals that of its table when it is made again from
these folders. And from the outputs that the row is about, `Folder.inputs` is followed to the raw content.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.planning.folder import Folder
from sumcurve.settings.config import PlanError
from sumcurve.sources.pinned import File
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.store.records import csv_rows, read_csv
from sumcurve.study.collect import collect
from sumcurve.study.doors import APPENDIX, LISTINGS, TABLES
from sumcurve.study.plan import Plan
from sumcurve.study.tables import made
from sumcurve.systems.rows import Scored
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.notes import FRAMED, MARK
from sumcurve.tables.results import UNREAD, Results
from sumcurve.watch import verify

SEEDS = "seeds"  # the table of single outputs
FORM = (
    "name a cell by TABLE:ROW:COLUMN, the row by its number from 1 or by what it holds: scores:7:rouge1, "
    "scores:method=pcov,percent=100:rouge1"
)
SIZES = ("records", "from_records", "to_records", "first_records", "second_records")


@dataclass(frozen=True)
class Cell:
    """One cell of a study's table, as it stands in the CSV."""

    path: Path
    number: int  # of its row, from 1
    row: Mapping[str, str]
    column: str

    @property
    def table(self) -> str:
        return self.path.stem

    @property
    def text(self) -> str:
        return self.row[self.column]

    def __str__(self) -> str:
        about = [f"{name} {value}" for name, value in list(self.row.items())[:6] if value and name != self.column]
        return f"{self.path}, row {self.number} ({', '.join(about)}): {self.column} = {self.text or 'nothing'}"


def find(tables: Path, address: str | None) -> Cell:
    """The cell of an address; without an address the first metric of the first trained output in `SEEDS`.

    Raises PlanError for an address of no cell, or of several, and lists the choices.
    """
    name, _, rest = (address or SEEDS).partition(":")
    wanted, _, column = rest.rpartition(":") if ":" in rest else (rest, "", "")
    name = Path(name).name.removesuffix(".csv").removesuffix(".md")
    path = tables / f"{name}.csv"
    if name not in (*TABLES, *APPENDIX) or not path.is_file():
        there = ", ".join(sorted(file.stem for file in tables.glob("*.csv")))
        raise PlanError(f"{tables} has no table {name!r}; {f'it has {there}' if there else 'run `make study`'}; {FORM}")
    rows = read_csv(path)
    if address is None:
        number = next((place for place, row in enumerate(rows, start=1) if row["seed"]), 1)
        return Cell(path, number, rows[number - 1], list(rows[0])[list(rows[0]).index("draw") + 1])
    if wanted.isdecimal():
        if not 1 <= int(wanted) <= len(rows):
            raise PlanError(f"{path} has {len(rows)} rows, and no row {wanted}")
        number = int(wanted)
    else:
        number = _only(path, rows, wanted)
    columns = list(rows[0])
    if column not in columns:
        raise PlanError(f"{path} has no column {column!r}, but {', '.join(columns)}; {FORM}")
    return Cell(path, number, rows[number - 1], column)


def _only(path: Path, rows: Sequence[Mapping[str, str]], wanted: str) -> int:
    """The number of the only row that has the wanted cells."""
    numbers = list(range(1, len(rows) + 1))
    for condition in filter(None, wanted.split(",")):
        column, sign, value = condition.partition("=")
        if not sign or column not in rows[0]:
            raise PlanError(f"{path}: {condition!r} is no condition on one of {', '.join(rows[0])}; {FORM}")
        numbers = [place for place in numbers if rows[place - 1][column] == value.rstrip(MARK + UNREAD + FRAMED)]
    if len(numbers) != 1:
        places = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
        raise PlanError(f"{path}: {wanted or 'no condition'} leaves {len(numbers)} rows ({places}), not one; {FORM}")
    return numbers[0]


def _asked(cell: Cell, outputs: Sequence[tuple[Scored, ScoredOutput]]) -> list[Scored]:
    """The outputs that a cell's row is about: that of its `run`, or those that its columns choose."""
    row, listing = cell.row, LISTINGS[cell.table]
    if not listing.outputs:
        return []
    if "run" in row:
        return [scored for scored, output in outputs if output.run == row["run"]]
    of_corpus = [(scored, output) for scored, output in outputs if output.corpus == row["corpus"]]
    methods = set(row.values()) & {output.method for _, output in of_corpus}
    if listing.folders and not methods and "method" not in listing.every:
        return []  # of words alone
    sizes, percent = {int(row[name]) for name in SIZES if row.get(name)}, row.get("percent")
    chooses: Mapping[str, Callable[[ScoredOutput], bool]] = {
        "method": lambda output: not methods or output.method in methods,
        "records": lambda output: (
            (not sizes or output.records is None or output.records in sizes)
            and (not percent or output.percent is None or str(output.percent) == percent)
        ),
        "part": lambda output: output.part == row.get("part", "study"),
        "search": lambda output: (output.search == "paper") == (row.get("search") == "paper"),
    }
    rules = [fits for name, fits in chooses.items() if name not in listing.every]
    return [scored for scored, output in of_corpus if all(fits(output) for fits in rules)]


def _behind(plan: Plan, keys: Iterable[str]) -> list[str]:
    """These folders, and all that they were made from, each once and before its inputs."""
    waiting = list(keys)
    for key in waiting:  # which grows
        waiting += plan.folder(key).inputs
    return list(dict.fromkeys(waiting))


def _beside(plan: Plan, cell: Cell) -> list[str]:
    """The folders that a row is about that are not of an output."""
    row, keys, listing = cell.row, [], LISTINGS[cell.table]
    for folder in plan.folders.values():
        if folder.kind not in listing.folders:
            continue
        if not any(
            plan.folder(key).kind in ("corpus", "unseen") and plan.corpus_name(key) == row["corpus"]
            for key in _behind(plan, [folder.key])
        ):
            continue
        known = {
            key: value for source in folder.inputs for key, value in plan.folder(source).specification.items()
        } | folder.specification
        if all(str(known.get(column, row[column])) == row[column] for column in listing.same):
            keys.append(folder.key)
    return keys


def _scores(plan: Plan, cell: Cell, rows: Sequence[Scored]) -> list[str]:
    """The score folders of these outputs that have the cell's metric; all where the cell is of none alone."""
    titled = cell.row.get("metric", "").split(" (")[0]  # without its unit
    of_metric = [
        name
        for name, scorer in plan.scorers.items()
        if any(metric.name in (cell.column, titled) or metric.title == titled for metric in scorer.metrics)
    ]
    scorers = [name for name in of_metric if any(name in row.scores for row in rows)] or list(plan.scorers)
    return [row.scores[name] for row in rows for name in scorers if name in row.scores]


def _of_runs(plan: Plan, cell: Cell, rows: Sequence[Scored]) -> list[str]:
    """The folders of these outputs' runs that a row is about, too."""
    runs = {row.run for row in rows}
    return [
        folder.key
        for folder in plan.folders.values()
        if folder.kind in LISTINGS[cell.table].of_runs
        and plan.corpus_name(folder.specification["corpus"]) == cell.row["corpus"]
        and not runs.isdisjoint(folder.inputs)
    ]


def about(plan: Plan, cell: Cell, outputs: Sequence[tuple[Scored, ScoredOutput]]) -> list[str]:
    """The folders that a cell's row is about: scores of its outputs, these, and further ones of its corpus."""
    rows = _asked(cell, outputs)
    written = [row.output for row in rows]
    first = [*_scores(plan, cell, rows), *written, *_of_runs(plan, cell, rows), *_beside(plan, cell)]
    if not first:
        raise PlanError(f"{cell.path}:{cell.number + 1}: no folder of the study is known to be behind this row")
    return first


def _show(results: Path, key: str, sealed: Mapping[str, Any], absent: Sequence[str]) -> None:
    """Print the facts of a folder that was hashed."""
    if not key.endswith(manifest.digest(sealed["specification"])):
        raise ManifestError(f"{results / key}: the manifest's specification does not give the folder's name")
    facts = sealed["facts"]
    clean = {True: "", False: " (with uncommitted changes)", None: ""}[facts["clean"]]
    print(f"{results / key}")
    kept = f", of the {len(sealed['files']) - len(absent)} that are here" if absent else ""
    print(f"    name = digest of its specification: yes; {len(sealed['files'])} files as recorded: yes{kept}")
    commit = (facts["commit"] or "unknown")[:12]
    print(f"    commit {commit}{clean}, Python {facts['python']}")
    if absent:
        print(f"    restored from committed results: {', '.join(absent)} stayed behind, known by their hashes alone")
    if "device" in facts:
        print(f"    torch {facts['versions']['torch']} on {facts['device']}")


def _check_means(cell: Cell, results: Path, scores: Iterable[str]) -> None:
    """Check that the metrics of a single output are the means of its items, whatever code made the table."""
    for key in scores:
        items = read_csv(results / key / "items.csv")
        for metric in (
            listed["name"]
            for listed in json.loads((results / key / "scores.json").read_text(encoding="utf-8"))["metrics"]
        ):
            mean, shown = sum(float(item[metric]) for item in items) / len(items), cell.row[metric]
            if abs(mean - float(shown)) > 1e-3:
                raise ManifestError(
                    f"{cell.path}: {metric} is {shown}, but the mean of {len(items)} items is {mean:.4f}"
                )
            print(f"    {metric} {shown} = mean of {len(items)} items: yes")


def _check_weights(results: Path, folder: Folder, sealed: Mapping[str, Mapping[str, Any]]) -> None:
    run = folder.specification["run"]
    file = "before.safetensors" if folder.specification.get("checkpoint") == "before" else "weights.safetensors"
    weights = sealed[run]["files"][file]["sha256"]
    if sealed[folder.key]["facts"]["weights"] != weights:
        raise ManifestError(f"{results / folder.key} was decoded from other weights than {results / run} holds")
    print(f"{results / folder.key}\n    weights {weights[:12]} of {run} are those that were decoded: yes")


def _check_file(file: File, home: Path) -> None:
    path, observed = file.at(home), file.observed(home)
    if observed is None:
        print(f"{path}\n    not on this machine; its {file.word} must be {file.sha256}")
    elif observed != file.sha256:
        raise ManifestError(f"{path} does not have {file.word} {file.sha256}")
    else:
        print(f"{path}\n    {file.word} {file.sha256}: yes")


def _verified(plan: Plan, results: Path) -> verify.Verification:
    """The study, hashed, whose tables were made from the present folders; anything else is an error."""
    verified = verify.study(plan, results)
    verified.require()
    if verified.missing:
        raise ManifestError(
            f"{verified.missing[0]} is not finished or not here ({len(verified.missing)} in all): get it (`make pull "
            f"STUDY={plan.study}`) or make it (`make study STUDY={plan.study}`)"
        )
    path = verify.tables_manifest(plan, results)
    if not path.is_file() or path.name == verify.PARTIAL:
        raise PlanError(f"{path.parent} has no tables of the whole study as it is configured now: run `make study`")
    return verified


def _check_again(cell: Cell, results: Results) -> None:
    """Raise ManifestError where the cell's row differs from its table's when it is made again."""
    again = csv_rows(made(cell.table, results).csv())
    row = again[cell.number - 1] if len(again) >= cell.number else {}
    for column in (cell.column, *cell.row):
        if row.get(column) != cell.row[column]:
            raise ManifestError(
                f"{cell.path}:{cell.number + 1}: {column} is {cell.row[column]}, but what is here gives "
                f"{row.get(column)}"
            )


def trace(plan: Plan, results: Path, address: str | None) -> None:
    """Print the way from the cell that `address` names to the raw corpus (see `find`).

    Raises ManifestError or PlanError at the first difference.
    """
    cell = find(results / "tables" / plan.study, address)
    print(cell)
    verified = _verified(plan, results)
    print(f"    {len(verified.manifests)} folders of the study are what its tables were made from: yes")
    study = collect(plan, results)
    _check_again(cell, Results(study, plan.settings.bootstrap))
    print("    made again of these folders, the row is the same: yes")
    outputs = list(zip(plan.rows, study.outputs, strict=True))
    if "run" in cell.row:
        _check_means(cell, results, (key for row in _asked(cell, outputs) for key in row.scores.values()))
    behind = [plan.folder(key) for key in _behind(plan, about(plan, cell, outputs))]
    for folder in behind:
        _show(results, folder.key, verified.manifests[folder.key], verified.restored.get(folder.key, ()))
    for folder in behind:
        if folder.kind == "decode":
            _check_weights(results, folder, verified.manifests)
    for file in dict.fromkeys(file for folder in behind for file in folder.files):
        _check_file(file, results.parent)
