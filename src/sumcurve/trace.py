"""From one number of a table back to the raw corpus, recomputing every hash on the way."""

import csv
import json
from pathlib import Path

from sumcurve import manifest
from sumcurve.corpora.build import content_of, sha256
from sumcurve.manifest import ManifestError
from sumcurve.plan import Plan, PlanError, Scored


def _row(table: Path, run: str | None) -> dict[str, str]:
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        if row["run"] == run or (run is None and row["percent"]):
            return row
    raise PlanError(f"{table} has no row with run {run}; its runs: {', '.join(row['run'] for row in rows)}")


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
    print(f"    name = digest of its specification: yes; {len(sealed['files'])} files as recorded: yes")
    commit = (facts["commit"] or "unknown")[:12]
    print(f"    code {facts['fingerprint']}, commit {commit}{clean}, Python {facts['python']}")
    if "device" in facts:
        print(f"    torch {facts['versions']['torch']} on {facts['device']}")
    return sealed


def trace(plan: Plan, results: Path, run: str | None) -> None:
    """Print the way from the row of `run` (the first trained one without it) to the raw corpus.

    Raises ManifestError or PlanError at the first thing that is not what it should be.
    """
    table = results / "tables" / plan.study / "seeds.csv"
    if not table.is_file():
        raise PlanError(f"{table} is not here: run `make study`")
    row = _row(table, run)
    planned = _planned(plan, row["run"])
    print(f"{table}: {row['corpus']} {row['method']} {row['percent'] or '-'} % seed {row['seed'] or '-'}")
    for scores in planned.scores.values():
        _check(results, plan, scores)
        with (results / scores / "items.csv").open(newline="") as stream:
            items = list(csv.DictReader(stream))
        for metric in (one["name"] for one in json.loads((results / scores / "scores.json").read_text())["metrics"]):
            mean = sum(float(item[metric]) for item in items) / len(items)
            if abs(mean - float(row[metric])) > 1e-3:
                raise ManifestError(
                    f"{table}: {metric} is {row[metric]}, but the mean of {len(items)} items is {mean:.4f}"
                )
            print(f"    {metric} {row[metric]} = mean of {len(items)} items: yes")
    output = _check(results, plan, planned.output)
    if planned.run is not None:
        trained = _check(results, plan, planned.run)
        file = "before.safetensors" if planned.part == "before" else "weights.safetensors"
        weights = trained["files"][file]["sha256"]
        if output["facts"]["weights"] != weights:
            raise ManifestError(
                f"{results / planned.output} was decoded from other weights than {results / planned.run} holds"
            )
        print(f"    weights {weights[:12]} are those that were decoded: yes")
        _check(results, plan, plan.folder(planned.run).specification["fraction"])
    made_from = [plan.folder(key).specification for key in (planned.output, planned.run) if key is not None]
    for annotation in sorted({one["entities"] for one in made_from if "entities" in one}):
        _check(results, plan, annotation)
    corpus = plan.folder(planned.output).specification["corpus"]
    _check(results, plan, corpus)
    raw = plan.raw_path(corpus.split("/")[1], results.parent)
    specification = plan.folder(corpus).specification
    expected = specification["raw"]
    if not raw.exists():
        print(f"{raw}\n    not on this machine; its sha256 must be {expected}")
    elif sha256(content_of(raw, specification)) != expected:
        raise ManifestError(f"{raw} does not have sha256 {expected}")
    else:
        print(f"{raw}\n    sha256 {expected}: yes")
