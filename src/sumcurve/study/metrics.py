"""Metrics file for `dvc metrics diff` between two commits of a study, from the table of scores that is in git."""

import json
from pathlib import Path

from sumcurve.settings.config import PlanError
from sumcurve.store.records import write_text
from sumcurve.study.plan import Plan
from sumcurve.tables.report.facts import Corpus, read_tables

Numbers = dict[str, dict[str, float]]


def metrics(plan: Plan, tables: Path) -> Numbers:
    """Means of every trained method at its largest size, on the study's first corpus, by the metric that ranks there.

    Where none may rank there, by the first that would, whose key says "not ranked". PlanError where the study has no
    table of scores.
    """
    path = tables / plan.study / "scores.csv"
    if not path.is_file():
        raise PlanError(f"{path} is not here: run `make study`")
    corpus = Corpus(next(iter(plan.settings.corpora)), read_tables(path.parent))
    if not corpus.rows("scores"):
        return {}
    metric = corpus.column
    rows = [row for row in corpus.rows("scores") if row["records"] is not None and row[metric] is not None]
    rows.sort(key=lambda row: int(row["records"]))  # a larger size takes a smaller one's place
    key = f"{metric} (not ranked)" if corpus.unread else metric
    return {key: {row["method"]: float(row[metric]) for row in rows}}


def write(plan: Plan, tables: Path) -> Path:
    """Write the metrics beside the study's tables, for dvc.yaml; the file's path. Equal tables give equal bytes."""
    path = tables / f"{plan.study}.json"
    write_text(path, json.dumps(metrics(plan, tables), indent=2, sort_keys=True) + "\n")
    return path
