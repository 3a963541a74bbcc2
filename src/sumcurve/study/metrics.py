"""What two commits of a study are compared by: `dvc metrics diff` reads it, from the table of scores that is in git."""

import json
from pathlib import Path

from sumcurve.settings.config import PlanError
from sumcurve.store.records import read_csv, write_text
from sumcurve.study.plan import Plan

Numbers = dict[str, dict[str, dict[str, float]]]


def metrics(plan: Plan, tables: Path) -> Numbers:
    """By corpus and metric that ranks, the mean of every system, of a trained one at its largest size.

    PlanError where the study has no table of scores.
    """
    path = tables / plan.study / "scores.csv"
    if not path.is_file():
        raise PlanError(f"{path} is not here: run `make study`")
    ranking = [metric.name for scorer in plan.scorers.values() for metric in scorer.metrics if metric.ranks]
    values: Numbers = {}
    rows = read_csv(path)
    for row in sorted(rows, key=lambda row: int(row["records"] or 0)):  # a larger size takes a smaller one's place
        for metric in ranking:
            if row.get(metric):
                of_metric = values.setdefault(row["corpus"], {}).setdefault(metric, {})
                of_metric[row["method"]] = float(row[metric])
    return values


def write(plan: Plan, tables: Path) -> Path:
    """Write them beside the study's tables, for dvc.yaml; the file's path. Equal tables give equal bytes."""
    path = tables / f"{plan.study}.json"
    write_text(path, json.dumps(metrics(plan, tables), indent=2, sort_keys=True) + "\n")
    return path
