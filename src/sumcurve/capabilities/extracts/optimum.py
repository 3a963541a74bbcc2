"""Result of a proof for one article: the best extract, and a bound on all others."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sumcurve.capabilities.extracts.article import Instance

Status = Literal["proven", "bounded"]


@dataclass(frozen=True)
class Optimum:
    """The best extract found, and a bound on any other. All values are fractions of integers."""

    sentences: tuple[int, ...]  # ascending
    numerator: int  # of the F1: twice the matching n-grams
    denominator: int  # n-grams of extract and abstract; 0 only where neither has any, and the F1 is 0
    bound_numerator: int  # no extract has an F1 above bound_numerator / bound_denominator; equal to the F1 where proven
    bound_denominator: int
    status: Status
    nodes: int  # subproblems that were examined
    solver: str  # the solver that ended the proof, or tried last: "trivial", "branch-and-bound" or "milp" (HiGHS)
    seconds: float

    @property
    def value(self) -> float:
        """The F1 of the extract, between 0 and 1."""
        return self.numerator / self.denominator if self.denominator else 0.0

    @property
    def bound(self) -> float:
        """Upper bound on the F1 of any extract."""
        return self.bound_numerator / self.bound_denominator if self.bound_denominator else 0.0

    @property
    def gap(self) -> float:
        """Gap between bound and value, 0 where proven."""
        return self.bound - self.value


def reach(instance: Instance) -> tuple[int, int]:
    """An F1 that no sequence of the article's sentences exceeds, as a fraction: all possible matches, and nothing else.

    A match can be any n-gram of the abstract that is inside a sentence, or across two sentences in any order, as often
    as the abstract has it. Sentences may repeat.
    """
    reached = np.zeros(len(instance.reference), np.bool_)
    reached[instance.types] = True
    if instance.order == 2:
        reached |= np.isin(instance.grams >> 32, instance.last) & np.isin(instance.grams & 0xFFFFFFFF, instance.first)
    matches = int(instance.reference[reached].sum())
    return 2 * matches, matches + instance.reference_total
