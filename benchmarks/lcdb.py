"""Verdicts on learning curves, tried on real ones, of LCDB 1.0 and 1.1.

LCDB 1.0 (Mohr et al., 2022; PyPI `lcdb` 0.1.0, accuracies): its data sets are halved by a hash of their OpenML id. On
the first half, and on half of the data sets of LCDB 1.1 (Yan et al., 2025), the model of curves was chosen; the second
half is run after that. `benchmarks/README.md` has them.

A study is up to four random learners of one data set at six sizes, d/32 to d; four studies for each data set with at
least 2,048 training records. Of LCDB 1.0 each has three random seeds, as this project has them, and the truth is the
mean of the 22 other seeds at d, 2d and 4d. Of LCDB 1.1 means over 25 splits and their standard errors are taken as they
are, so that at d what is seen is the truth. Pairs whose held-out means are equal count for nothing; pairs within two
standard errors of the held-out difference are counted apart, too.

Baselines: whoever is ahead at d stays ahead, with the probability that draws of the measured scores at d give it; and a
straight line in log d through each curve, by least squares.

`--means` is a CSV of LCDB 1.1 with columns openml_id, learner, anchor, test_error_mean and test_error_stderr.

How many overtakings could be called: of the collections that were chosen on, what is called at other probabilities than
0.8; with the least probability at which four in five of those called are true, found in hindsight; and after isotonic
regression. `--learned` adds a network that has seen all pairs of LCDB 1.1's other data sets, and needs torch.

OMP_NUM_THREADS=1 python benchmarks/lcdb.py [--means FILE [--learned]] [--csv FILE] [--cache scratch/lcdb] [--sizes 6]
"""

import argparse
import csv
import hashlib
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from sumcurve.curves import fit
from sumcurve.curves.runs import seed_errors
from sumcurve.curves.verdict import Verdict, verdict

COLUMNS = ("test_error_mean", "test_error_stderr")
Half = Literal["first", "second"]
Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
OUTER, INNER = 5, 5  # LCDB's seeds: of the test set, and of the training set within it
STUDIES, METHODS, SEEDS, SIZES = 4, 4, 3, 6
DRAWS = 2000
TIMES = (1, 2, 4)
CALLED = 0.8  # probability of an overtaking within 4d
PROBABILITIES = (0.3, 0.4, 0.5, 0.6, 0.7, CALLED, 0.9)
TRUE = 0.8  # of what is called, hoped for
FOLDS = 10  # of data sets
LEARNED = "all pairs, by a network"
PREDICTORS = ("verdicts", "stays ahead", "log-linear")
Rows = list[dict[str, float | str]]


def half(openml_id: int) -> Half:
    """The half of LCDB that a data set belongs to, by a hash of its id alone: no curve has a say in it."""
    return "first" if hashlib.sha256(f"lcdb {openml_id}".encode()).digest()[0] < 128 else "second"


def accuracies(cache: Path) -> pd.DataFrame:
    """LCDB's table of accuracies, fetched through pip where `cache` lacks it; the package itself is never imported."""
    archive = cache / "lcdb-0.1.0.tar.gz"
    if not archive.exists():
        wanted = ["download", "--no-deps", "--no-binary", ":all:", "--dest", str(cache), "lcdb==0.1.0"]
        subprocess.run([sys.executable, "-m", "pip", *wanted], check=True)
    with tarfile.open(archive) as opened:
        table = opened.extractfile("lcdb-0.1.0/lcdb/database-accuracy.csv")
        assert table is not None
        columns = ["openmlid", "learner", "size_train", "outer_seed", "inner_seed", "score_test"]
        return pd.read_csv(io.BytesIO(table.read()), usecols=columns)


@dataclass(frozen=True)
class Study:
    """`seen` ``[learners, sizes, 3]`` at `sizes`, d the last; `held` ``[learners, 3, 22]`` at d, 2d, 4d; in percent."""

    data_set: int
    learners: tuple[str, ...]
    sizes: Array
    seen: Array
    held: Array


def studies(table: pd.DataFrame, chosen: Half, number: int = SIZES) -> Iterator[Study]:
    table = table[(table.inner_seed < INNER) & (np.log2(table.size_train) % 1 == 0)]
    for data_set, rows in table.groupby("openmlid"):
        largest = int(rows.size_train.max())
        if half(int(data_set)) != chosen or largest < 2048:
            continue
        seeds = rows.outer_seed * INNER + rows.inner_seed
        scores = rows.assign(seed=seeds).pivot_table(
            index=["learner", "size_train"], columns="seed", values="score_test"
        )
        scores = scores.dropna() if scores.shape[1] == OUTER * INNER else scores.iloc[:0]
        generator = np.random.default_rng([7, int(data_set)])
        powers = powers_of(largest)
        for _ in range(STUDIES):
            power = int(generator.choice(powers))
            sizes = [2**step for step in range(power - 5, power + 3)]
            have = [
                learner
                for learner in scores.index.get_level_values(0).unique()
                if all((learner, size) in scores.index for size in sizes)
            ]
            if len(have) < 2:
                continue
            learners = tuple(sorted(generator.choice(have, min(METHODS, len(have)), replace=False)))
            # Seeds of three test sets: what a seed varies by is then independent.
            kept = INNER * generator.choice(OUTER, SEEDS, replace=False) + generator.integers(0, INNER, SEEDS)
            found = 100 * np.array([[scores.loc[(learner, size)] for size in sizes] for learner in learners])
            yield Study(
                int(data_set),
                learners,
                np.array(sizes[6 - number : 6], dtype=np.float64),
                found[:, 6 - number : 6][..., kept],
                np.delete(found[:, 5:], kept, axis=2),
            )


@dataclass(frozen=True)
class Trial:
    """What is seen of a study and what is true: `means` ``[learners, sizes]`` with joint draws of their `errors`,
    `truth` ``[learners, 3]``, and the standard errors `apart` ``[learners, learners, 3]`` of its differences, on the
    diagonal of itself.
    """

    data_set: int
    learners: tuple[str, ...]
    sizes: Array
    means: Array
    errors: Array
    truth: Array
    apart: Array


def seeded(study: Study) -> Trial:
    held, itself = study.held, np.eye(len(study.learners), dtype=bool)[..., None, None]
    differences = np.where(itself, held[:, None], held[:, None] - held)  # [learners, learners, 3, 22]
    apart = differences.std(axis=-1, ddof=1) / np.sqrt(held.shape[-1])
    means, errors = study.seen.mean(axis=2), noise(study, DRAWS)
    return Trial(study.data_set, study.learners, study.sizes, means, errors, held.mean(axis=2), apart)


def powers_of(largest: int) -> list[int]:
    """The powers of two that d may be, where `largest` is the largest size measured."""
    return [power for power in range(9, 40) if 2 ** (power + 2) <= largest]


def complete(wide: pd.DataFrame, sizes: list[int]) -> pd.DataFrame:
    """The learners of one data set of LCDB 1.1 that have all these sizes, d/32 to 4d."""
    wanted = [(column, size) for column in COLUMNS for size in sizes]
    return wide[wanted].dropna() if {*wanted} <= {*wide.columns} else wide.iloc[:0]


def published(table: pd.DataFrame) -> Iterator[Trial]:
    """Studies of LCDB 1.1's means, in percent of accuracy."""
    table = table[np.log2(table.anchor) % 1 == 0]
    for data_set, rows in table.groupby("openml_id"):
        wide = 100 * rows.pivot_table(index="learner", columns="anchor", values=[*COLUMNS])
        generator = np.random.default_rng([11, int(data_set)])
        powers = powers_of(int(rows.anchor.max()))
        for _ in range(STUDIES if powers else 0):
            power = int(generator.choice(powers))
            sizes = [2**step for step in range(power - 5, power + 3)]
            have = complete(wide, sizes)
            if len(have) < 2:
                continue
            learners = tuple(sorted(generator.choice(have.index, min(METHODS, len(have)), replace=False)))
            found, errors = (have.loc[[*learners], column].to_numpy() for column in COLUMNS)
            found = 100 - found
            drawn = generator.standard_normal((DRAWS, len(learners), SIZES)) * errors[:, :SIZES]
            held = errors[:, SIZES - 1 :]
            apart = np.sqrt(held[:, None] ** 2 + np.where(np.eye(len(held))[..., None], 0.0, held**2))
            seen, truth = found[:, :SIZES], found[:, SIZES - 1 :]
            yield Trial(int(data_set), learners, np.array(sizes[:SIZES], dtype=float), seen, drawn, truth, apart)


def noise(study: Study, draws: int) -> Array:
    """Joint draws ``[draws, learners, sizes]`` of the errors of means over seeds, as `statistics.intervals.draws`."""
    learners, sizes, seeds = study.seen.shape
    names = [name for name in study.learners for _ in range(sizes)]
    values, drawn = study.seen.reshape(-1, seeds), np.random.default_rng(1)
    errors = seed_errors(values, names, list(study.sizes) * learners, draws, drawn)
    return errors.reshape(draws, learners, sizes)


def log_linear(trial: Trial) -> Array:
    """Draws ``[draws, learners, 3]`` of a straight line in log d at d, 2d, 4d, with the t distribution of its error."""
    x, generator = np.log2(trial.sizes), np.random.default_rng(2)
    design, at = np.vander(x, 2), np.vander(x[-1] + np.log2(TIMES), 2)
    inverse = np.linalg.inv(design.T @ design)
    drawn = []
    for scores in trial.means:
        line = inverse @ design.T @ scores
        free = len(x) - 2
        variance = max(float(np.square(scores - design @ line).sum()) / free, 1e-8)
        scale = np.sqrt(variance * free / generator.chisquare(free, DRAWS))[:, None]
        drawn.append((line + scale * (generator.standard_normal((DRAWS, 2)) @ np.linalg.cholesky(inverse).T)) @ at.T)
    return np.stack(drawn, axis=1)


def tried(trial: Trial) -> tuple[Rows, Rows]:
    """A row for each pair and one for each fitted curve."""
    means, errors, truth = trial.means, trial.errors, trial.truth
    try:
        fits = fit.fit_curves(fit.Curves(trial.learners, trial.sizes, means, errors), fit.Extrapolation(draws=DRAWS))
    except fit.NoCurve:
        return [], []
    d = trial.sizes[-1]
    curves: Rows = []
    for method in fits.methods:
        place = trial.learners.index(method)
        low, middle, high = fits.band(method, d * np.array(TIMES))
        # The held-out mean is the truth and its own noise, which the band does not hold.
        own = trial.apart[place, place]
        row: dict[str, float | str] = {"data_set": trial.data_set}
        for index, times in enumerate(TIMES):
            row |= {
                f"within {times}": float(low[index] <= truth[place, index] <= high[index]),
                f"within, noise {times}": float(
                    low[index] - 2 * own[index] <= truth[place, index] <= high[index] + 2 * own[index]
                ),
                f"error {times}": float(middle[index] - truth[place, index]),
                f"last value {times}": float(means[place, -1] - truth[place, index]),
                f"width {times}": float(high[index] - low[index]),
            }
        curves.append(row)
    lines = log_linear(trial)
    pairs: Rows = []
    for first, second in combinations(fits.methods, 2):
        one = verdict(fits, first, second)
        a, b = trial.learners.index(one.first), trial.learners.index(one.second)
        lead = truth[a] - truth[b]
        stays = float(((means[a, -1] - means[b, -1] + errors[:, a, -1] - errors[:, b, -1]) > 0).mean())
        row = {"data_set": trial.data_set, "kind": one.kind, "claimed": one.probability}
        row["true"] = float(borne_out(one, dict(zip((d, 2 * d, 4 * d), lead.tolist(), strict=True))))
        for index, times in enumerate(TIMES):
            row |= {
                f"truth {times}": float(lead[index]),
                f"error {times}": float(trial.apart[a, b, index]),
                f"verdicts {times}": one.ahead[index],
                f"stays ahead {times}": stays,
                f"log-linear {times}": float((lines[:, a, index] > lines[:, b, index]).mean()),
            }
        pairs.append(row)
    return pairs, curves


def borne_out(one: Verdict, lead: dict[float, float]) -> bool:
    """Whether the held-out lead of the first at d, 2d and 4d is as claimed."""
    if one.kind == "overtaken":
        before, after = one.between or (None, one.furthest)
        return lead[after] < 0 and (before is None or lead[before] > 0)
    return all(ahead > 0 for size, ahead in lead.items() if one.kind == "ahead throughout" or size == one.size)


def brier(probabilities: Array, outcomes: Array) -> float:
    return float(np.square(probabilities - outcomes).mean())


def called_at(least: float, chance: Array, behind: Flags) -> tuple[Flags, Flags]:
    """Pairs of which a chance ``[pairs, sizes]`` of being behind is at least so high, and those of which it is true."""
    named = chance >= least
    return named.any(axis=1), (named & behind).any(axis=1)


def overtakings(pairs: pd.DataFrame) -> tuple[Array, Flags, Flags]:
    """Chances and truths ``[pairs, 2]`` of who is ahead at d being behind at 2d and 4d, and real overtakings."""
    later = pairs[[f"truth {n}" for n in TIMES[1:]]]
    real = (np.sign(later).ne(np.sign(pairs["truth 1"]), axis=0)).any(axis=1).to_numpy()
    return 1 - pairs[[f"verdicts {n}" for n in TIMES[1:]]].to_numpy(), later.to_numpy() < 0, real


def report(pairs: pd.DataFrame, curves: pd.DataFrame, probabilities: tuple[float, ...] = (CALLED,)) -> Rows:
    """Every figure as (measure, of, value, cases); truths of equal means are left out where someone must be ahead."""
    rows: Rows = []

    def put(measure: str, of: str, value: float, cases: int) -> None:
        rows.append({"measure": measure, "of": of, "value": round(float(value), 4), "cases": cases})

    for n in TIMES:
        put("share of 95 % bands that hold the held-out mean", f"{n}d", curves[f"within {n}"].mean(), len(curves))
        put("the same, two of its standard errors granted", f"{n}d", curves[f"within, noise {n}"].mean(), len(curves))
        put("median width of bands", f"{n}d", curves[f"width {n}"].median(), len(curves))
        for of, name in (("fit", "error"), ("last value", "last value")):
            put("median absolute error", f"{of} at {n}d", curves[f"{name} {n}"].abs().median(), len(curves))
            put("root mean square error", f"{of} at {n}d", np.sqrt(curves[f"{name} {n}"].pow(2).mean()), len(curves))
    decided = pairs.kind != "undecided"
    for kind in ("ahead throughout", "ahead now", "overtaken", "undecided"):
        put("share of verdicts", kind, (pairs.kind == kind).mean(), len(pairs))
    for kind, times in {"ahead throughout": TIMES, "ahead now": TIMES[:1], "overtaken": TIMES[-1:]}.items():
        chosen = pairs[pairs.kind == kind]
        clear = np.all([chosen[f"truth {n}"].abs() > 2 * chosen[f"error {n}"] for n in times], axis=0)
        put("claimed", kind, chosen.claimed.mean(), len(chosen))
        put("true", kind, chosen.true.mean(), len(chosen))
        put("true where held-out means are apart", kind, chosen.true[clear].mean(), int(clear.sum()))
        put(
            "true where held-out means are within two standard errors", kind, chosen.true[~clear].mean(), (~clear).sum()
        )
        put("clearly wrong", kind, (clear & (chosen.true == 0)).mean(), len(chosen))
    for measure in ("claimed", "true"):
        put(measure, "all stated verdicts", pairs[decided][measure].mean(), int(decided.sum()))
    for of, pairs_of in (("all", pairs), ("held-out means apart at d and then", pairs[clearly_apart(pairs)])):
        chance, behind, real = overtakings(pairs_of)
        put("overtaken within 4d", of, real.mean(), len(pairs_of))
        for least in probabilities:
            called, true = called_at(least, chance, behind)
            put(f"called at {least:g} of what was overtaken", of, true[real].mean(), int(real.sum()))
            put(f"called at {least:g}, who is ahead then", of, true[called].mean(), int(called.sum()))
    for n in TIMES:
        apart = pairs[pairs[f"truth {n}"] != 0]
        outcome = (apart[f"truth {n}"] > 0).to_numpy(dtype=np.float64)
        for who in PREDICTORS:
            said = apart[f"{who} {n}"].to_numpy()
            put("Brier score of P(ahead)", f"{who} at {n}d", brier(said, outcome), len(apart))
            likely = np.where(outcome > 0, said, 1 - said)
            put("log loss of P(ahead)", f"{who} at {n}d", -np.log(np.maximum(likely, 1e-3)).mean(), len(apart))
        for low, high in ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.99), (0.99, 1.01)):
            for who in PREDICTORS:
                said = apart[f"{who} {n}"].to_numpy()
                surer = np.maximum(said, 1 - said)
                here = (surer >= low) & (surer < high)
                if here.any():
                    label = f"{who} at {n}d, {low:g} to {min(high, 1):g}"
                    put("reliability: claimed", label, surer[here].mean(), int(here.sum()))
                    put("reliability: true", label, ((said > 0.5) == (outcome > 0))[here].mean(), int(here.sum()))
    # Pairs of a data set hang together: whole data sets are resampled.
    sets, generator = pairs.data_set.unique(), np.random.default_rng(3)
    for n in TIMES[1:]:
        apart = pairs[pairs[f"truth {n}"] != 0]
        outcome = (apart[f"truth {n}"] > 0).to_numpy(dtype=np.float64)
        for who in PREDICTORS[1:]:
            gain = np.square(apart[f"{who} {n}"] - outcome) - np.square(apart[f"verdicts {n}"] - outcome)
            of_sets = gain.groupby(apart.data_set).agg(["sum", "size"]).reindex(sets, fill_value=0).to_numpy()
            sums = of_sets[generator.integers(0, len(sets), (2000, len(sets)))].sum(axis=1)
            put("Brier score, less by", f"than {who} at {n}d", gain.mean(), len(apart))
            for name, end in zip(("low", "high"), np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975]), strict=True):
                put(f"Brier score, less by (95 % interval, {name})", f"than {who} at {n}d", end, len(apart))
    return rows


def ceiling(chance: Array, behind: Flags, real: Flags, data_sets: NDArray[np.int64], of: str) -> Rows:
    """What these chances could call at most: with the best threshold in hindsight, and through isotonic regression.

    The regression is made on nine tenths of the data sets and applied to the last: the best that any growing function
    of the probability gives.
    """
    tried = [called_at(least, chance, behind) for least in np.unique(chance)]
    true_enough = [true[real] for called, true in tried if true.sum() >= TRUE * called.sum()]
    share = max((float(true.mean()) for true in true_enough), default=0.0)
    again = recalibrated(chance, behind, data_sets)
    called, true = called_at(CALLED, again, behind)
    found = {
        "called with four in five true, in hindsight, of what was overtaken": (share, real),
        f"called at {CALLED:g} after isotonic regression of what was overtaken": (true[real].mean(), real),
        f"called at {CALLED:g} after isotonic regression, who is ahead then": (true[called].mean(), called),
    }
    return [
        {"measure": measure, "of": of, "value": round(float(value), 4), "cases": int(cases.sum())}
        for measure, (value, cases) in found.items()
    ]


def folds(data_sets: NDArray[np.int64]) -> Iterator[Flags]:
    """Rows of a tenth of the data sets at a time."""
    shuffled = np.random.default_rng(5).permutation(np.unique(data_sets))
    return (np.isin(data_sets, shuffled[fold::FOLDS]) for fold in range(FOLDS))


def recalibrated(chance: Array, behind: Flags, data_sets: NDArray[np.int64]) -> Array:
    """Chances ``[pairs, sizes]`` through the isotonic regression of the other tenths of the data sets, size by size."""
    found = np.empty_like(chance)
    for out in folds(data_sets):
        for size in range(chance.shape[1]):
            x, y = chance[~out, size], behind[~out, size].astype(np.float64)
            order = np.lexsort((-y, x))  # equal chances are pooled
            found[out, size] = np.interp(chance[out, size], x[order], isotonic_regression(y[order]).x)
    return found


def learned(table: pd.DataFrame) -> Rows:
    """What a network calls that has seen all pairs of the other data sets of LCDB 1.1, each with its truth."""
    scores, errors, data_sets = every_pair(table)
    lead = scores[:, 0] - scores[:, 1]
    behind = (lead[:, SIZES:] < 0).any(axis=1)
    inputs, chance = described(scores[..., :SIZES], errors[..., :SIZES]), np.empty(len(lead))
    for out in folds(data_sets):
        chance[out] = network(inputs[~out], behind[~out], inputs[out])
    rows: Rows = []
    for least in PROBABILITIES:
        called = chance >= least
        for measure, cases in ((" of what was overtaken", behind), (", who is ahead then", called)):
            value = (called & behind).sum() / cases.sum()
            name, number = f"called at {least:g}{measure}", int(cases.sum())
            rows.append({"measure": name, "of": LEARNED, "value": round(float(value), 4), "cases": number})
    return rows + ceiling(chance[:, None], behind[:, None], behind, data_sets, LEARNED)


def every_pair(table: pd.DataFrame) -> tuple[Array, Array, NDArray[np.int64]]:
    """Scores and standard errors ``[pairs, 2, d/32 to 4d]`` at every possible d, who is ahead at d first; data sets."""
    found: list[Array] = []
    data_sets: list[int] = []
    table = table[np.log2(table.anchor) % 1 == 0]
    for data_set, rows in table.groupby("openml_id"):
        wide = 100 * rows.pivot_table(index="learner", columns="anchor", values=[*COLUMNS])
        for power in powers_of(int(rows.anchor.max())):
            have = complete(wide, [2**step for step in range(power - 5, power + 3)])
            curves = np.stack([100 - have[COLUMNS[0]].to_numpy(), have[COLUMNS[1]].to_numpy()]) if len(have) else []
            for pair in combinations(range(len(have)), 2):
                first, second = sorted(pair, key=lambda row: -curves[0][row, SIZES - 1])
                if curves[0][first, SIZES - 1] > curves[0][second, SIZES - 1]:
                    found.append(curves[:, [first, second]])
                    data_sets.append(int(data_set))
    both = np.array(found)
    return both[:, 0], both[:, 1], np.array(data_sets)


def described(scores: Array, errors: Array) -> Array:
    """Inputs of the network: leads and gains in units of either, of today's lead and of the noise; standardized."""
    lead, noise = scores[:, 0] - scores[:, 1], np.hypot(errors[:, 0], errors[:, 1]) + 0.02
    closing, now = np.diff(lead, axis=1), lead[:, -1:]
    unit = np.sqrt(now**2 + noise[:, -1:] ** 2 + np.square(closing[:, -3:]).mean(axis=1, keepdims=True))
    gains = (np.diff(scores, axis=2) / unit[:, None]).reshape(len(scores), -1)
    ratios = [lead / unit, gains, np.clip(closing / (now + 0.05), -6, 6), lead / noise]
    ratios.append((now + closing[:, -1:]) / noise[:, -1:])
    inputs = np.concatenate(
        [*ratios, np.log(unit), np.log(now + 0.05), np.log(noise[:, -1:]), np.log(100.5 - scores[:, :, -1])], axis=1
    )
    return np.asarray(np.clip((inputs - inputs.mean(axis=0)) / inputs.std(axis=0), -5, 5))


def network(inputs: Array, outcomes: Flags, new: Array) -> Array:
    """Chances of `new` by a network of two layers; its size and steps were not tuned."""
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Linear(inputs.shape[1], 48), torch.nn.SiLU(), torch.nn.Dropout(0.1)]
    layers += [torch.nn.Linear(48, 48), torch.nn.SiLU(), torch.nn.Dropout(0.1), torch.nn.Linear(48, 1)]
    model = torch.nn.Sequential(*layers)
    steps = 1200
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    known, truth = torch.tensor(inputs, dtype=torch.float32), torch.tensor(outcomes, dtype=torch.float32)
    for _ in range(steps):
        batch = torch.randint(len(known), (2048,))
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(known[batch])[:, 0], truth[batch]).backward()
        optimizer.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        return np.asarray(torch.sigmoid(model(torch.tensor(new, dtype=torch.float32))[:, 0]).double())


def clearly_apart(pairs: pd.DataFrame) -> pd.Series:
    """Pairs whose held-out means are two standard errors apart at d, and at 4d."""
    apart = [pairs[f"truth {n}"].abs() > 2 * pairs[f"error {n}"] for n in (TIMES[0], TIMES[-1])]
    return apart[0] & apart[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", nargs="*", default=["first", "second"], help="of LCDB 1.0: first, second")
    parser.add_argument("--means", type=Path, help="LCDB 1.1's table, too")
    parser.add_argument("--learned", action="store_true", help="what a network calls that has seen other data sets")
    parser.add_argument("--csv", type=Path, help="write the figures here, too")
    parser.add_argument("--cache", type=Path, default=Path("scratch/lcdb"), help="where the archive is kept")
    parser.add_argument("--sizes", type=int, default=SIZES, help="the largest of the six, of LCDB 1.0")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    table = accuracies(arguments.cache)
    trials = {name: map(seeded, studies(table, name, arguments.sizes)) for name in arguments.half}
    if arguments.learned and not arguments.means:
        parser.error("--learned needs --means: the network sees LCDB 1.1 alone")
    means = pd.read_csv(arguments.means) if arguments.means else None
    if means is not None:
        trials["LCDB 1.1"] = published(means)
    written: Rows = []
    for name, of in trials.items():
        pairs: Rows = []
        curves: Rows = []
        for trial in of:
            of_pairs, of_curves = tried(trial)
            pairs += of_pairs
            curves += of_curves
        table_of_pairs = pd.DataFrame(pairs)
        # Of the second half nothing is looked at that one could choose by.
        rows = report(table_of_pairs, pd.DataFrame(curves), (CALLED,) if name == "second" else PROBABILITIES)
        if name != "second":
            rows += ceiling(*overtakings(table_of_pairs), table_of_pairs.data_set.to_numpy(), "all")
        if name == "LCDB 1.1" and arguments.learned and means is not None:
            rows += learned(means)
        for row in rows:
            print(f"{name:8} {row['measure']:62} {row['of']:40} {row['value']:8.4f} {row['cases']:6}", flush=True)
            written.append({"half": name} | row)
    if arguments.csv:
        with arguments.csv.open("w", newline="", encoding="utf-8") as opened:
            writer = csv.DictWriter(opened, ["half", "measure", "of", "value", "cases"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(written)


if __name__ == "__main__":
    main()
