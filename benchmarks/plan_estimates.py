"""Do trainings stay below the upper bound of `make plan`? Recorded ones are predicted without those that are left out.

Reads recorded tables; trains nothing. Left out are, in turn: one size of one method (with all its seeds), one study,
one corpus, one method, and all sizes of a study that are above `--most` records. Prints how many times the estimate
95 % of them stay below, how many stay below `sumcurve.watch.costs.UPPER` times, and by what factor the estimate is off
(median). With --jobs CHECKOUT, where a study has run, it also compares the wall-clock seconds of its jobs (Snakemake's
own) with the constants of `sumcurve.watch.costs`.
"""

import argparse
import csv
import json
import statistics
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import numpy as np

from sumcurve.watch import costs
from sumcurve.watch.costs import UPPER, Measured, measured

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "results" / "tables"


def ratios(
    runs: Sequence[Measured], group: Callable[[Measured], Hashable], wanted: Callable[[Measured], bool] = lambda _: True
) -> np.ndarray:
    """Seconds of the updates of each training, by their estimate from the others than its group."""
    off = []
    for name in {group(run) for run in runs if wanted(run)}:
        out = [run for run in runs if group(run) == name and wanted(run)]
        basis = [run for run in runs if run not in out]
        off += [run.seconds / costs.update_seconds(run.training, basis) for run in out]
    return np.array(off)


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
        off = ratios(runs, group, wanted)
        typical = np.exp(np.median(np.abs(np.log(off))))
        print(
            f"left out {what}: {len(off)} trainings, 95 % of them below {np.quantile(off, 0.95):.2f} times the "
            f"estimate, {100 * np.mean(off < UPPER):.0f} % below {UPPER:g} times; off by a factor of {typical:.2f}"
        )
    if arguments.jobs:
        jobs(arguments.jobs)


if __name__ == "__main__":
    main()
