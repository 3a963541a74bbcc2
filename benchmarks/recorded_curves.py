"""`sumcurve curve` on recorded studies: fits of the smaller sizes, the truth at the largest (`recorded_curves.csv`).

    python benchmarks/recorded_curves.py [--csv FILE]

From results/tables/*/seeds.csv alone, so that anyone can repeat it: every corpus and metric whose methods have four
sizes up to half of the largest. With all seeds of a study, and with seed 1 alone, as of a CSV without seeds. Bands are
of a measurement with the noise that the fit knows of. The baseline says that whoever is ahead stays ahead.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from held_back import SHARE, held_back, summary

from sumcurve.curves.fit import Curves, Extrapolation, NoCurve
from sumcurve.curves.runs import Runs, curves_of_runs
from sumcurve.store.records import csv_text, write_text

TABLES = Path(__file__).parents[1] / "results" / "tables"
METRICS = ("rouge1", "rouge2", "rougeLsum", "chrf")
SEEDS = {"all seeds": None, "seed 1": 1}


def recorded(study: Path, seed: int | None) -> Iterator[Runs]:
    """For each corpus and metric the scores of trained methods under the common search; of one seed, if it is named."""
    rows = pd.read_csv(study / "seeds.csv")
    rows = rows[(rows.part == "study") & (rows.search == "common") & rows.records.notna()]
    if seed is not None:
        rows = rows[rows.seed == seed]
    scores = rows.melt(["corpus", "method", "records", "seed"], [name for name in METRICS if name in rows], "metric")
    for _, of_metric in scores.groupby(["corpus", "metric"]):
        runs: dict[tuple[str, float], dict[str, float]] = {}
        for row in of_metric.dropna().itertuples(index=False):
            runs.setdefault((row.method, float(row.records)), {})[str(row.seed)] = row.value
        yield runs


def curves_of(runs: Runs) -> Curves:
    """The curves; the noise of sizes that are fitted is estimated from these alone."""
    curves, _ = curves_of_runs(runs)
    half = np.ceil(SHARE * curves.sizes[-1])
    if any(size <= half for _, size in runs):
        fitted, _ = curves_of_runs({cell: seeds for cell, seeds in runs.items() if cell[1] <= half})
        rows = [curves.methods.index(name) for name in fitted.methods]
        curves.errors[:, rows, : len(fitted.sizes)] = fitted.errors
    return curves


def figures(seed: int | None) -> dict[str, float]:
    """What `held_back.summary` says of all recorded curves with all seeds, or with one."""
    every, all_pairs, studies = [], [], set()
    for study in sorted(path.parent for path in TABLES.glob("*/seeds.csv")):
        for runs in recorded(study, seed):
            if seed is None:  # a study has no curve of a single seed
                runs = {cell: seeds for cell, seeds in runs.items() if len(seeds) > 1}
            try:
                of_curves, of_pairs = held_back(curves_of(runs), Extrapolation()) if runs else ([], [])
            except NoCurve:
                continue  # fewer than four sizes up to half of the largest
            every += of_curves
            all_pairs += of_pairs
            studies |= {study.name} if of_curves else set()
    return {"studies": len(studies), **summary(every, all_pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, help="write the figures")
    arguments = parser.parse_args()
    rows = [
        (noise, measure, f"{value:.3f}".removesuffix(".000"))
        for noise, seed in SEEDS.items()
        for measure, value in figures(seed).items()
    ]
    for row in rows:
        print(f"{row[0]:10} {row[1]:60} {row[2]:>8}")
    if arguments.csv:
        write_text(arguments.csv, csv_text(("noise", "measure", "value"), rows))


if __name__ == "__main__":
    main()
