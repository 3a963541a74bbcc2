"""Are the core-hours of `make plan` those that come? Recorded trainings, predicted without those that are left out.

Reads recorded tables; trains nothing. Left out are, in turn: one size of one method (with all its seeds), one study,
one corpus, one method, and all sizes of a study that are above `--most` records. Prints of single trainings how many
the 90 % interval holds, how wide it is (upper by lower end) and by what factor the estimate is off, both medians; and
of the sums of what is left out at a time the same. With --jobs CHECKOUT, where a study has run, it also compares the
wall-clock seconds of its jobs (Snakemake's own) with the constants of `sumcurve.watch.costs`.
"""

import argparse
import csv
import json
import math
import statistics
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import numpy as np

from sumcurve.watch import costs
from sumcurve.watch.costs import Costs, Measured, measured

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "results" / "tables"


def seconds_of(model: Costs, run: Measured) -> np.ndarray:
    """Low, middle and high of the seconds of a training's updates."""
    return model.updates(run.training) * model.of_update(run.training)


def left_out(
    runs: Sequence[Measured], group: Callable[[Measured], Hashable], wanted: Callable[[Measured], bool] = lambda _: True
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Of single trainings, and of the sums of groups that are left out in turn: low, middle, high and what came."""
    single, sums = [], []
    for name in sorted({group(run) for run in runs if wanted(run)}, key=str):
        out = [run for run in runs if group(run) == name and wanted(run)]
        model = Costs([run for run in runs if run not in out])
        rows = [np.array([*seconds_of(model, run), run.seconds]) for run in out]
        single += rows
        sums.append(np.sum(rows, axis=0))
    return single, sums


def summary(rows: Sequence[np.ndarray]) -> str:
    """How many intervals hold what came, how wide they are, and what estimates are off by."""
    low, middle, high, came = np.array(rows).T
    holds = float(np.mean((low <= came) & (came <= high)))
    width, off = np.median(high / low), math.exp(np.median(np.abs(np.log(middle / came))))
    return f"{len(rows)}: held {100 * holds:.0f} %, width x{width:.1f}, off x{off:.2f}"


def jobs(checkout: Path) -> None:
    """Wall-clock seconds of trainings beside what the constants make of their updates and validations."""
    predicted, came = [], []
    for path in (checkout / ".snakemake" / "metadata").iterdir():
        job = json.loads(path.read_text()) if path.is_file() else {}
        if job.get("rule") != "train" or not job.get("log") or not job.get("endtime"):
            continue
        run = checkout / "results" / "runs" / Path(job["log"][0]).stem
        if not (run / "timings.csv").is_file():
            continue
        specification = json.loads((run / "manifest.json").read_text())["specification"]
        if "parent" in specification or "begins" in specification:
            continue
        with (run / "timings.csv").open() as stream:
            rows = list(csv.DictReader(stream))
        first = {rows[0]["phase"]: 0.0}
        last = {}
        for row in rows:
            first.setdefault(row["phase"], float(row["seconds"]))
            last[row["phase"]] = float(row["seconds"])
        updates = sum(last[phase] - first[phase] for phase in last)
        words = specification["target_tokens"] / costs.ITEM_WORDS
        validated = len(rows) * specification["training"]["valid_records"] * words
        predicted.append(costs.START + updates + costs.VALIDATED * validated)
        came.append(job["endtime"] - job["starttime"])
    if not predicted:
        raise SystemExit(f"{checkout} has no job of a training that Snakemake remembers")
    ratios = [ours / clock for ours, clock in zip(predicted, came, strict=True)]
    print(
        f"{len(predicted)} jobs: {sum(predicted) / 3600:.2f} hours by the constants, {sum(came) / 3600:.2f} by the "
        f"clock, ratio {sum(predicted) / sum(came):.2f} (median of jobs {statistics.median(ratios):.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1600, help="records that are known of a study at most [1600]")
    parser.add_argument("--jobs", type=Path, help="a checkout in which a study has run")
    arguments = parser.parse_args()
    studies = sorted(path.parent.name for path in TABLES.glob("*/seeds.csv"))
    study = {run.run: name for name in reversed(studies) for run in measured(ROOT / "config", TABLES, name)}
    runs = measured(ROOT / "config", TABLES)
    for what, group, wanted in (
        ("one size of a method", lambda run: run.cell, lambda _: True),
        ("one study", lambda run: study[run.run], lambda _: True),
        ("one corpus", lambda run: run.cell[0], lambda _: True),
        ("one method", lambda run: run.cell[1], lambda _: True),
        (
            f"what of a study is above {arguments.most:,} records",
            lambda run: study[run.run],
            lambda run: run.training.records > arguments.most,
        ),
    ):
        single, sums = left_out(runs, group, wanted)
        print(f"left out {what}: trainings {summary(single)}; sums {summary(sums)}")
    if arguments.jobs:
        jobs(arguments.jobs)


if __name__ == "__main__":
    main()
