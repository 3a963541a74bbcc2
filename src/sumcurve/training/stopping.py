"""Stopping rule of a phase: when it is validated, which of its validations is the best, and when it ends."""

import math
from collections.abc import Sequence
from dataclasses import replace

from sumcurve.settings.training import PhaseSettings
from sumcurve.training.history import History, Reason, Row
from sumcurve.training.optimization import warmup

COLLAPSE_REPETITION, COLLAPSE_ROUGE, HACKED_SHARE = 0.3, 0.5, 0.99
IN_A_ROW = 2  # validations that show it before a phase is stopped: one may be a dip


class Rule:
    """Judges the validations of one phase in their order; see `settings.training.Stop`.

    `period` are the updates between two validations, `budget` those that end the phase, `warmup` those in which the
    rate rises, `first` those of the first checkpoint that may be selected, `best` is the best that may be selected so
    far. `counted` states whether patience counts the last one, `is_falling` whether its NLL is the phase's lowest.
    """

    def __init__(self, phase: PhaseSettings, items: int, batch: int) -> None:
        """The rule of a phase that goes through `items` in an epoch, in batches of `batch`."""
        self.phase = phase
        epoch, stop = math.ceil(items / batch), phase.stop
        self.period = max(stop.every_updates, math.ceil(stop.every_epochs * epoch))
        self.budget = stop.budget(epoch)
        self.first = max(1, min(stop.min_updates, self.budget))
        self.warmup = warmup(phase.optimizer, self.budget)
        self.stale = self.validated = self.collapsed = self.hacked = 0
        self.best: Row | None = None
        self.counted = self.is_falling = False

    def next(self, update: int) -> int:
        """The update of the next validation after `update`."""
        return min(update + self.period, self.budget)

    def ended(self, update: int) -> Reason | None:
        """Reason why the phase ends at this update; None where it goes on."""
        if self.collapsed >= IN_A_ROW:
            return "collapse"
        if self.hacked >= IN_A_ROW:
            return "reward hacking"
        if self.stale >= self.phase.stop.patience:
            return "patience"
        if update < self.budget:
            return None
        return "most_updates with nll still falling" if self.is_falling else "most_updates"

    def take(self, row: Row, history: History) -> Row:
        """Judge a validation and append it to `history`, marked `best` where it is better than all before."""
        first = next(iter(history.of(self.phase.name)), row)
        selectable = row.update >= self.first
        # Reinforcement may lose what it optimises: then the phase is left as it began.
        starts = not row.update and row.reward is not None
        better = (selectable or starts) and row.better_than(self.best)
        if selectable:
            highest = self.best if first.update or not first.better_than(self.best) else first
            self.collapsed = self.collapsed + 1 if collapsed(row, highest) else 0
            self.hacked = self.hacked + 1 if hacked(row, first) else 0
        if better:
            row = replace(row, best=True)
            self.best = row
        history.append(row)
        self.validated = row.update
        self.is_falling = _is_falling(history.of(self.phase.name))
        self.counted = selectable and row.update > self.warmup and _speaks(history)
        if self.counted:
            self.stale = 0 if better or self.is_falling else self.stale + 1
        return row

    def end_of_patience(self, history: History) -> float:
        """The update at which patience has run out if no validation is better from now on."""
        if not _speaks(history):
            return math.inf
        left, last = self.phase.stop.patience - self.stale, self.validated
        ahead = math.ceil((self.first - last) / self.period)  # validations up to the first that can be selected
        # That one will be better than none, and where there is a best one already it is the first that may be stale.
        last += self.period * (max(1, ahead) if self.best is None else max(0, ahead - 1))
        uncounted = max(0, (self.warmup - last) // self.period)
        return last + self.period * (uncounted + left)

    def state(self) -> dict[str, int]:
        """State that `load` restores beside the History."""
        return {"stale": self.stale, "hacked": self.hacked, "collapsed": self.collapsed}

    def load(self, state: dict[str, int], history: History, update: int) -> None:
        """Go on after the validation at `update`, the last of `history`."""
        self.stale, self.hacked, self.collapsed = state["stale"], state["hacked"], state["collapsed"]
        self.validated = update
        rows = history.of(self.phase.name)
        self.best = next((row for row in reversed(rows) if row.best), None)
        self.is_falling = _is_falling(rows)


def _is_falling(rows: Sequence[Row]) -> bool:
    """Tell whether the last validation's NLL is below all before; never where reinforcement is judged by its reward."""
    return len(rows) > 1 and rows[-1].reward is None and all(rows[-1].nll < row.nll for row in rows[:-1])


def _speaks(history: History) -> bool:
    """Tell whether any greedy summary of any validation had a bigram right; true for a model that gives answers."""
    return any(row.rouge2 > 0 or row.accuracy is not None for row in history)


def collapsed(row: Row, best: Row | None) -> bool:
    """Tell whether a validation shows collapse into repetition.

    Its share of repeated trigrams is 0.3 above that of the phase's best checkpoint or start, and its ROUGE under half
    of it, while its likelihood has not risen: a model that warms up repeats itself, too, and learns.
    """
    return (
        best is not None
        and row.nll >= best.nll
        and row.repetition >= best.repetition + COLLAPSE_REPETITION
        and row.rouge < COLLAPSE_ROUGE * best.rouge
    )


def hacked(row: Row, start: Row) -> bool:
    """Tell whether the greedy reward is above that of the phase's start while ROUGE-1 and ROUGE-2 are 1 % below."""
    return (
        row.reward is not None
        and start.reward is not None
        and row.reward > start.reward
        and row.rouge1 < HACKED_SHARE * start.rouge1
        and row.rouge2 < HACKED_SHARE * start.rouge2
    )
