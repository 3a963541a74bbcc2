"""From one number of a table back to the raw corpus, recomputing every hash on the way."""

import json
from pathlib import Path

from sumcurve import manifest
from sumcurve.manifest import ManifestError
from sumcurve.plan import File, Folder, Plan, PlanError, Scored
from sumcurve.records import read_csv


def _row(table: Path, run: str | None) -> dict[str, str]:
    rows = read_csv(table)
    for row in rows:
        if row["run"] == run or (run is None and row["seed"]):
            return row
    raise PlanError(f"{table} has no row with run {run}; its runs: {', '.join(row['run'] for row in rows)}")


def _size(row: dict[str, str]) -> str:
    return f"{row['percent']} %" if row["percent"] else f"{row['records']} records" if row["records"] else "- %"


def _planned(plan: Plan, run: str) -> Scored:
    for row in plan.rows:
        if run in (row.table_name, row.output.split("/")[1]):
            return row
    raise PlanError(
        f"the table's run {run} is none that study {plan.study} asks for now: the table was made under another "
        "configuration or other code; run `make study`"
    )


def _check(results: Path, plan: Plan, key: str) -> dict:
    folder = plan.folder(key)
    sealed = manifest.verify(results / key, folder.specification)
    if sealed is None:
        raise ManifestError(
            f"{results / key} is not finished or not here: get it (`make pull`) or make it (`make study`)"
        )
    if not key.endswith(manifest.digest(sealed["specification"])):
        raise ManifestError(f"{results / key}: the manifest's specification does not give the folder's name")
    facts = sealed["facts"]
    clean = {True: "", False: " (with uncommitted changes)", None: ""}[facts["clean"]]
    print(f"{results / key}")
    absent = manifest.lacking(results / key)
    kept = f", of the {len(sealed['files']) - len(absent)} that are here" if absent else ""
    print(f"    name = digest of its specification: yes; {len(sealed['files'])} files as recorded: yes{kept}")
    commit = (facts["commit"] or "unknown")[:12]
    print(f"    code {facts['fingerprint']}, commit {commit}{clean}, Python {facts['python']}")
    if absent:
        print(f"    taken up from a pack: {', '.join(absent)} stayed behind, and are known by their hashes alone")
    if "device" in facts:
        print(f"    torch {facts['versions']['torch']} on {facts['device']}")
    return sealed


def _check_means(scores: Path, row: dict[str, str], table: Path) -> None:
    items = read_csv(scores / "items.csv")
    for metric in (one["name"] for one in json.loads((scores / "scores.json").read_text())["metrics"]):
        mean = sum(float(item[metric]) for item in items) / len(items)
        if abs(mean - float(row[metric])) > 1e-3:
            raise ManifestError(f"{table}: {metric} is {row[metric]}, but the mean of {len(items)} items is {mean:.4f}")
        print(f"    {metric} {row[metric]} = mean of {len(items)} items: yes")


def _check_weights(results: Path, folder: Folder, made: dict[str, dict]) -> None:
    run = folder.specification["run"]
    file = "before.safetensors" if folder.specification.get("checkpoint") == "before" else "weights.safetensors"
    weights = made[run]["files"][file]["sha256"]
    if made[folder.key]["facts"]["weights"] != weights:
        raise ManifestError(f"{results / folder.key} was decoded from other weights than {results / run} holds")
    print(f"{results / folder.key}\n    weights {weights[:12]} of {run} are those that were decoded: yes")


def _check_file(file: File, home: Path) -> None:
    path, observed = file.at(home), file.observed(home)
    if observed is None:
        print(f"{path}\n    not on this machine; its sha256 must be {file.sha256}")
    elif observed != file.sha256:
        raise ManifestError(f"{path} does not have sha256 {file.sha256}")
    else:
        print(f"{path}\n    sha256 {file.sha256}: yes")


def trace(plan: Plan, results: Path, run: str | None) -> None:
    """Print the way from the row of `run` (the first trained one without it) to the raw corpus.

    Raises ManifestError or PlanError at the first thing that is not what it should be.
    """
    table = results / "tables" / plan.study / "seeds.csv"
    if not table.is_file():
        raise PlanError(f"{table} is not here: run `make study`")
    row = _row(table, run)
    planned = _planned(plan, row["run"])
    print(f"{table}: {row['corpus']} {row['method']} {_size(row)} seed {row['seed'] or '-'}")
    made: dict[str, dict] = {}
    waiting = [*planned.scores.values(), planned.output]
    for key in waiting:  # which grows: every folder is followed by those that it was made from
        if key not in made:
            made[key] = _check(results, plan, key)
            if key in planned.scores.values():
                _check_means(results / key, row, table)
            waiting += plan.folder(key).inputs
    behind = [plan.folder(key) for key in made]
    for folder in behind:
        if folder.kind == "decode":
            _check_weights(results, folder, made)
    for file in dict.fromkeys(file for folder in behind for file in folder.files):
        _check_file(file, results.parent)
