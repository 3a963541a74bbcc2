"""Are the core-hours of `make plan` those that come? The default study, predicted from its small sizes alone.

Reads recorded tables; trains nothing. The basis are the recorded trainings of at most `--most` records; predicted are
all trainings of the default study, and those beyond the basis alone. Prints predicted and measured core-hours of
updates, their ratio, and whether the interval holds what was measured. With --jobs CHECKOUT, where a study has run, it
also compares the wall-clock seconds of its jobs (Snakemake's own) with the constants of `sumcurve.watch.estimate`.
"""

import argparse
import csv
import json
import statistics
from pathlib import Path

import numpy as np

from sumcurve.study.plan import Plan
from sumcurve.watch import estimate as costs

ROOT = Path(__file__).parents[1]


def predicted(plan: Plan, basis: list[costs.Measured], wanted: list[costs.Measured]) -> np.ndarray:
    """Hours of updates of these trainings, in draws, by what the basis says."""
    model = costs.Costs(basis, ROOT / "config")
    total = np.zeros(costs.DRAWS)
    for one in wanted:
        form, corpus = plan.methods[one.method], plan.settings.corpora[one.corpus]
        updates = model.updates(one.method, form, one.corpus, one.records)
        total += updates * model.of_update(one.method, form, corpus)
    return total / 3600


def compare(plan: Plan, basis: list[costs.Measured], wanted: list[costs.Measured], what: str) -> None:
    middle, low, high = costs.interval(predicted(plan, basis, wanted))
    came = sum(one.seconds for one in wanted) / 3600
    holds = "holds" if low <= came <= high else "does NOT hold"
    print(
        f"{what}: {len(wanted)} trainings, predicted {middle:.2f} core-hours ({low:.2f} to {high:.2f}), measured "
        f"{came:.2f}, ratio {middle / came:.2f}; the interval {holds} it"
    )


def jobs(checkout: Path) -> None:
    """Wall-clock seconds of trainings beside what the constants make of their updates and validations."""
    told, came = [], []
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
        told.append(costs.START + updates + costs.VALIDATED * validated)
        came.append(job["endtime"] - job["starttime"])
    if not told:
        raise SystemExit(f"{checkout} has no job of a training that Snakemake remembers")
    ratios = [one / other for one, other in zip(told, came, strict=True)]
    print(
        f"{len(told)} jobs: {sum(told) / 3600:.2f} hours by the constants, {sum(came) / 3600:.2f} by the clock, ratio "
        f"{sum(told) / sum(came):.2f} (median of jobs {statistics.median(ratios):.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1600, help="records of a training of the basis, at most [1600]")
    parser.add_argument("--jobs", type=Path, help="a checkout in which a study has run")
    arguments = parser.parse_args()
    plan = Plan.read(ROOT / "config", "docstrings")
    recorded = costs.measured(ROOT / "config", ROOT / "results" / "tables")
    basis = [one for one in recorded if one.records <= arguments.most]
    names = {row.table_name for row in plan.rows if row.part == "study"}
    default = [
        one for one in costs.measured(ROOT / "config", ROOT / "results" / "tables", "docstrings") if one.run in names
    ]
    compare(plan, basis, default, f"from at most {arguments.most:,} records, all of the default study")
    compare(plan, basis, [one for one in default if one.records > arguments.most], "of these, beyond the basis")
    if arguments.jobs:
        jobs(arguments.jobs)


if __name__ == "__main__":
    main()
