"""The table of a study's trials, `config/STUDY.csv`: a row for every finished training, and its noise."""

import json
from collections.abc import Iterable, Mapping
from math import prod, sqrt
from pathlib import Path
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

from sumcurve.planning.study import PlannedStudy
from sumcurve.store.manifest import verify
from sumcurve.store.records import read_csv, read_jsonl, write_csv

if TYPE_CHECKING:
    from sumcurve.capabilities.trials.grid import Training

# `settings` are a program's, in place of rate and dropout. `worth` is the selection score (`history.Row.worth`), in
# percent; `mean` and `difference`, between best and worst, are over the seeds of a setting; `standard_error` is that
# of the mean, by the variance between seeds of all settings of the stage.
KEY = ("method", "stage", "rate", "dropout", "settings", "seed", "digest")
COLUMNS = (
    *KEY[:-1],
    *("worth", "mean", "difference", "standard_error", "corpus", "records", "rouge1", "rouge2", "rougeLsum"),
    *("nll", "phase", "updates", "examples", "seconds", "digest"),
)
STAGES = ("first", "last")
SETTING = ("rate", "dropout", "settings")
Choice = dict[str, Any]  # of a method rate, dropout and the last phase's rate, `last`; of a program its settings


def in_words(choice: Choice) -> str:
    """Values in one cell, in the order of their names."""
    return "; ".join(f"{name}={value}" for name, value in sorted(choice.items()))


def table_of(plan: PlannedStudy) -> Path:
    """Path of a study's table."""
    return plan.config / f"{plan.study}.csv"


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none where there is no file."""
    return read_csv(path) if path.is_file() else []


def write_rows(path: Path, new: Iterable[Mapping[str, Any]]) -> None:
    """Add rows to a table, in place of those of the same trial and seed under older settings."""
    texts = [{name: str(value) for name, value in row.items()} for row in new]
    rows = {tuple(row[name] for name in KEY[:-1]): row for row in (*read_rows(path), *texts)}
    write_csv(path, COLUMNS, with_noise(rows.values()))


def with_noise(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with mean, difference and standard error of their settings, in the table's order.

    The variance between seeds is pooled over a method's settings of a stage; a setting with one seed has none.
    """

    def order(row: Mapping[str, Any]) -> tuple[Any, ...]:
        rate, dropout, seed = (float(row[name] or 0) for name in ("rate", "dropout", "seed"))
        return row["method"], STAGES.index(row["stage"]), rate, dropout, row["settings"], seed

    stages: dict[tuple[str, ...], dict[tuple[str, ...], list[float]]] = {}
    placed = []
    for row in sorted(rows, key=order):
        settings = stages.setdefault((row["method"], row["stage"]), {})
        worths = settings.setdefault(tuple(str(row[name]) for name in (*SETTING, "digest")), [])
        worths.append(float(row["worth"]))
        placed.append((row, settings, worths))
    whole = []
    for row, settings, worths in placed:
        noise: dict[str, Any] = {"mean": round(fmean(worths), 3), "difference": "", "standard_error": ""}
        if len(worths) > 1:
            pooled = fmean(variance(others) for others in settings.values() if len(others) > 1)
            noise["difference"] = round(max(worths) - min(worths), 3)
            noise["standard_error"] = round(sqrt(pooled / len(worths)), 3)
        whole.append({**row, **noise})
    return whole


def row_of(training: "Training", results: Path) -> dict[str, Any] | None:
    """The row of a training; None where its folders are not finished. Raises ManifestError for damaged ones."""
    paths = [results / folder.key for folder in training.folders]
    if not all(verify(path, folder.specification) for path, folder in zip(paths, training.folders, strict=True)):
        return None
    records = json.loads((paths[0] / "training.json").read_text(encoding="utf-8"))["records"]
    values = _of_run(paths[0])
    if len(paths) > 1:
        values |= _of_summaries(paths[1], results / training.folders[1].specification["corpus"])
    return dict.fromkeys(COLUMNS, "") | {**training.row, "records": records, **values}


def _of_run(run: Path) -> dict[str, Any]:
    """Cost of a run, and the values of its selected row if it has a History."""
    from sumcurve.training.history import METRICS, History, Row

    times = read_csv(run / "timings.csv")
    if not (run / "history.csv").is_file():
        return {"seconds": round(float(times[0]["seconds"]), 1)}
    rows = zip(read_csv(run / "history.csv"), times, strict=True)
    row = History([Row.of_csv({**row, "seconds": spent["seconds"]}) for row, spent in rows]).selected
    return {
        "worth": round(100 * row.worth, 3),
        **{metric: round(100 * getattr(row, metric), 3) for metric in METRICS},
        "nll": round(row.nll, 4),
        **{name: getattr(row, name) for name in ("phase", "updates", "examples")},
        "seconds": round(row.seconds, 1),
    }


def _of_summaries(output: Path, corpus: Path) -> dict[str, Any]:
    """Scores of summaries of the validation records, as in every training; their likelihood is not available."""
    from sumcurve.corpora.store import Corpus
    from sumcurve.training.history import METRICS
    from sumcurve.training.validation import measured

    summaries = [row["summary"] for row in read_jsonl(output / "summaries.jsonl")]
    scores = measured([0.0], summaries, [[record.target] for record in Corpus(corpus).part("valid")])
    shares = {metric: scores[metric] for metric in METRICS}
    shares["worth"] = prod(shares.values()) ** (1 / len(shares))
    return {name: round(100 * value, 3) for name, value in shares.items()}
