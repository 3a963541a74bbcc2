"""Costs that a training would have had under other stopping rules, from the History that it kept.

Data time deficiency θ compares costs "to convergence", so it depends on who says when a training has converged: a
method that trains a fixed number of updates has θ = 0 by decree. Four rules:

- common: up to the checkpoint that the study's own rule selected;
- fixed updates: the same number of updates at every size, in every phase;
- fixed epochs: the same number of passes over the training items at every size, in every phase;
- within: up to the first validation of the last phase whose ROUGE is within a share (1 %) of the selected one's.

The first and last read a row's own counts, which are those of the path to its weights (see `training.history`). The
fixed rules add up phases: a phase costs what its own rows say from its start on, whichever checkpoint it started from,
and between two validations cost grows linearly. Rows after the selected one, while patience ran out, count there.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from sumcurve.statistics.errors import Undefined
from sumcurve.store.records import read_csv

WITHIN = 0.01
ROUNDING = 1e-9  # epochs are sums of fractions
Unit = Literal["updates", "epochs"]
Rule = Literal["common", "fixed updates", "fixed epochs", "within"]


@dataclass(frozen=True)
class Validation:
    """One row of a History. `updates`, `examples`, `epoch` and `seconds` are those of the path to its weights."""

    phase: str
    update: int  # in this phase; 0: the checkpoint that the phase starts from
    updates: int
    examples: int
    epoch: float
    rouge: float  # the number that selects: the geometric mean of ROUGE-1, -2 and -Lsum F1
    best: bool  # better than all rows before it in its phase
    seconds: float | None = None  # None where time was not measured
    reward: float | None = None  # of greedy summaries, ROUGE-L F1 in [0, 1]; phases of reinforcement only


@dataclass(frozen=True)
class Cost:
    """Cost of a training; updates and examples are whole only at a validation."""

    updates: float
    examples: float
    seconds: float | None


def selected(rows: Sequence[Validation]) -> Validation:
    """The row of the selected checkpoint: the last one marked best."""
    marked = [row for row in rows if row.best]
    if not marked:
        raise Undefined("no validation was marked as best")
    return marked[-1]


def common(rows: Sequence[Validation]) -> Cost:
    """The cost up to the selected checkpoint."""
    return _cost(selected(rows))


def within(rows: Sequence[Validation], share: float = WITHIN) -> Cost:
    """The cost up to the first validation whose ROUGE is at least (1 - `share`) of the selected one's.

    Only the last phase counts: a phase before may validate something else, such as rewrites of sentences that the
    reference chose. The start of the last phase may do.
    """
    if not 0 <= share < 1:
        raise ValueError(f"within {share:g} of the best; give a share from 0 to below 1, such as 0.01")
    best = selected(rows)
    return _cost(next(row for row in rows if row.phase == best.phase and row.rouge >= (1 - share) * best.rouge))


def fixed(rows: Sequence[Validation], unit: Unit, amounts: Mapping[str, float]) -> Cost:
    """The cost of `amounts[phase]` updates or epochs in every phase.

    Undefined where a phase of the History ends before.
    """
    names = list(_phases(rows))
    if sorted(names) != sorted(amounts):
        raise ValueError(f"amounts for phases {sorted(amounts)}, but the History has {names}; name each of its phases")
    updates = examples = seconds = 0.0
    timed = all(row.seconds is not None for row in rows)
    for name, own in _phases(rows).items():
        positions = [_position(row, unit) - _position(own[0], unit) for row in own]
        wanted = amounts[name]
        if wanted < 0:
            raise ValueError(f"{wanted:g} {unit} in phase {name!r}; give a number from 0")
        if wanted > positions[-1] * (1 + ROUNDING):
            raise Undefined(f"phase {name!r} ended after {positions[-1]:g} {unit}, before {wanted:g}")
        wanted = min(wanted, positions[-1])
        place = max(1, bisect_left(positions, wanted)) if len(own) > 1 else 0
        before, after = own[max(0, place - 1)], own[place]
        length = positions[place] - positions[max(0, place - 1)]
        share = (wanted - positions[max(0, place - 1)]) / length if length else 0.0
        start = own[0]
        updates += before.updates - start.updates + share * (after.updates - before.updates)
        examples += before.examples - start.examples + share * (after.examples - before.examples)
        if timed:
            seconds += _seconds(before) - _seconds(start) + share * (_seconds(after) - _seconds(before))
            seconds += _preparation(rows, start)
    return Cost(updates, examples, seconds if timed else None)


def largest_common(histories: Sequence[Sequence[Validation]], unit: Unit) -> dict[str, float]:
    """Find for every phase the most updates or epochs that all Histories of one method have."""
    phases = [_phases(rows) for rows in histories]
    if len({tuple(spans) for spans in phases}) > 1:
        raise ValueError(f"Histories of other phases: {sorted({tuple(spans) for spans in phases})}; give one method's")
    return {
        name: min(_position(spans[name][-1], unit) - _position(spans[name][0], unit) for spans in phases)
        for name in phases[0]
    }


def costs(
    histories: Mapping[float, Sequence[Sequence[Validation]]],
    *,
    share: float = WITHIN,
    updates: Mapping[str, float] | None = None,
    epochs: Mapping[str, float] | None = None,
) -> dict[Rule, dict[float, list[Cost | Undefined]]]:
    """Costs of every training of one method under every rule: by rule and size, one entry for each seed.

    `histories` holds by size the rows of each seed. Without `updates` or `epochs` (for each phase), the fixed rules
    take the largest number that all sizes and seeds have.
    """
    everything = [rows for seeds in histories.values() for rows in seeds]
    steps = largest_common(everything, "updates") if updates is None else updates
    passes = largest_common(everything, "epochs") if epochs is None else epochs
    rules: dict[Rule, Callable[[Sequence[Validation]], Cost]] = {
        "common": common,
        "fixed updates": lambda rows: fixed(rows, "updates", steps),
        "fixed epochs": lambda rows: fixed(rows, "epochs", passes),
        "within": lambda rows: within(rows, share),
    }
    return {
        rule: {size: [_attempt(cost, rows) for rows in seeds] for size, seeds in histories.items()}
        for rule, cost in rules.items()
    }


def read_history(run: Path) -> list[Validation]:
    """The rows of a finished run's folder, from its history.csv and, if there, its timings.csv."""
    seconds: dict[tuple[str, str], float] = {}
    if (run / "timings.csv").is_file():
        seconds = {(row["phase"], row["update"]): float(row["seconds"]) for row in read_csv(run / "timings.csv")}
    validations = []
    for number, row in enumerate(read_csv(run / "history.csv"), start=2):
        place = row["phase"], row["update"]
        if seconds and place not in seconds:
            raise ValueError(
                f"{run / 'history.csv'}, line {number}: phase {place[0]!r}, update {place[1]} has no line in "
                "timings.csv; fetch or train the run again"
            )
        rouge = float(row["rouge1"]) * float(row["rouge2"]) * float(row["rougeLsum"])
        validations.append(
            Validation(
                phase=row["phase"],
                update=int(row["update"]),
                updates=int(row["updates"]),
                examples=int(row["examples"]),
                epoch=float(row["epoch"]),
                rouge=rouge ** (1 / 3),
                best=row["best"] == "True",
                seconds=seconds.get(place),
                reward=float(row["reward"]) if row.get("reward") else None,
            )
        )
    if not validations:
        raise ValueError(f"{run / 'history.csv'} has no validation; train the run again")
    return validations


def _attempt(cost: Callable[[Sequence[Validation]], Cost], rows: Sequence[Validation]) -> Cost | Undefined:
    try:
        return cost(rows)
    except Undefined as reason:
        return reason


def _phases(rows: Sequence[Validation]) -> dict[str, list[Validation]]:
    """The rows of each phase, from its start on: of the first phase, nothing at no cost."""
    phases = {name: list(own) for name, own in groupby(rows, key=lambda row: row.phase)}
    if not phases:
        raise ValueError("a History without validations; read a finished run's")
    first = next(iter(phases.values()))
    if first[0].update:
        timed = first[0].seconds is not None
        first.insert(0, Validation(first[0].phase, 0, 0, 0, 0.0, 0.0, False, 0.0 if timed else None))
    return phases


def _preparation(rows: Sequence[Validation], start: Validation) -> float:
    """Seconds between the checkpoint that a phase starts from and its start; of the first phase in its first row."""
    before = list(rows[: rows.index(start)]) if start in rows else []
    return _seconds(start) - _seconds(selected(before)) if before else 0.0


def _position(row: Validation, unit: Unit) -> float:
    return row.updates if unit == "updates" else row.epoch


def _seconds(row: Validation) -> float:
    if row.seconds is None:
        raise Undefined("the seconds of this training are not known")
    return row.seconds


def _cost(row: Validation) -> Cost:
    return Cost(row.updates, row.examples, row.seconds)
