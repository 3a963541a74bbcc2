"""Metrics file for `dvc metrics diff` between two commits of a study, from the table of scores that is in git."""

import json
from pathlib import Path

from sumcurve.settings.config import PlanError
from sumcurve.store.records import read_csv, write_text
from sumcurve.study.plan import Plan

Numbers = dict[str, dict[str, float]]


def metrics(plan: Plan, tables: Path) -> Numbers:
    """Means of every trained method at its largest size, on the study's first corpus, by the metric that ranks there.

    PlanError where the study has no table of scores.
    """
    path = tables / plan.study / "scores.csv"
    if not path.is_file():
        raise PlanError(f"{path} is not here: run `make study`")
    ranking = [metric.name for scorer in plan.scorers.values() for metric in scorer.metrics if metric.ranks]
    metric, corpus = plan.settings.rank_by or ranking[0], next(iter(plan.settings.corpora))
    rows = [row for row in read_csv(path) if row["corpus"] == corpus and row["records"] and row.get(metric)]
    rows.sort(key=lambda row: int(row["records"]))  # a larger size takes a smaller one's place
    return {metric: {row["method"]: float(row[metric]) for row in rows}}


def write(plan: Plan, tables: Path) -> Path:
    """Write the metrics beside the study's tables, for dvc.yaml; the file's path. Equal tables give equal bytes."""
    path = tables / f"{plan.study}.json"
    write_text(path, json.dumps(metrics(plan, tables), indent=2, sort_keys=True) + "\n")
    return path
