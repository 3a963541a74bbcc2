"""Means over items that come in groups: each group is one draw, its items are not.

A mean over items is a ratio of sums over groups. Leaving one group out at a time gives its variance (the jackknife, or
CV3 of MacKinnon, Nielsen and Webb, 2023). It is a sum of squares of one *deviation* per group, and so is the covariance
of several means over the same items. Where each item is a group of its own it is the textbook's s² / n.

A large group counts for many, so that the degrees of freedom are fewer than groups - 1. They are those of Bell and
McCaffrey (2002) under a working model (Imbens and Kolesár, 2016): the sum of a group of m items varies by
(1 - θ) m + θ m² up to a factor, where θ is the most likely one given the groups' residuals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sumcurve.machine.counts import counted

Array = NDArray[np.float64]

LEAST_GROUPS = 10
LEAST_EFFECTIVE = 4.0  # equal groups that these count as; one with half of the items leaves fewer
WORKING_MODELS = np.linspace(0, 1, 41)  # θ


@dataclass(frozen=True)
class Groups:
    """Groups of items: the group of each item, `codes` ``[items]``, and items of each group, `sizes` ``[groups]``."""

    codes: NDArray[np.int64]
    sizes: NDArray[np.int64]
    largest: str

    @classmethod
    def of(cls, names: Sequence[str]) -> "Groups":
        if len(names) == 0:
            raise ValueError("there is no item; give the group of every item")
        kept, codes, sizes = np.unique(np.asarray(names, dtype=str), return_inverse=True, return_counts=True)
        return cls(codes.astype(np.int64), sizes.astype(np.int64), str(kept[sizes.argmax()]))

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def items(self) -> int:
        return len(self.codes)

    @property
    def why(self) -> str:
        """Explain why these groups allow no interval over items; empty where they do."""
        if self.count == self.items < LEAST_GROUPS:
            return (
                f"no interval: {counted(self.items, 'test item')}; it takes {LEAST_GROUPS} to tell what items vary by"
            )
        if self.count == 1:
            return f"no interval: all {self.items:,} test items are of one group, {self.largest!r}"
        if self.count < LEAST_GROUPS:
            return f"no interval: the test items come from {counted(self.count, 'group')}; it takes {LEAST_GROUPS}"
        if self.effective < LEAST_EFFECTIVE:
            return f"no interval: {self.unequal}; it takes {LEAST_EFFECTIVE:g}"
        return ""

    @property
    def effective(self) -> float:
        """Number of equal groups that these count as: 1 / the sum of squared shares of the items (Kish, 1965)."""
        return self.items**2 / float((self.sizes**2).sum())

    @property
    def unequal(self) -> str:
        """Say how far the largest group makes the others count for less."""
        share = 100 * self.sizes.max() / self.items
        return (
            f"group {self.largest!r} holds {share:.0f} % of the test items, so that {self.count:,} groups count as "
            f"{self.effective:.1f} equal ones"
        )

    def sums(self, values: Array) -> Array:
        """Sums over each group: ``[..., items] -> [..., groups]``"""
        order = np.argsort(self.codes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.add.reduceat(values[..., order], starts, axis=-1)

    def residuals(self, values: Array) -> Array:
        """Sums over each group less what the mean over items makes expect, ``[..., items] -> [..., groups]``."""
        centred = values - values.mean(axis=-1, keepdims=True)  # so that what never varies is exact
        return self.sums(centred)

    def deviations(self, residuals: Array) -> Array:
        """One per group, ``[..., groups]``: for means over items x and y, ``x @ y`` is their covariance."""
        others = np.maximum(1, self.items - self.sizes)  # one group alone deviates by 0 from itself
        return residuals / others * np.sqrt((self.count - 1) / self.count)

    def degrees(self, residuals: Array) -> float:
        """Degrees of freedom of the variance of a mean, under the model that suits residuals ``[columns, groups]``."""
        if (self.sizes == self.sizes[0]).all():
            return self.count - 1.0
        relative = self.sizes * (self.count / self.items)
        variances = (1 - WORKING_MODELS[:, None]) * relative + WORKING_MODELS[:, None] * relative**2  # [θ, groups]
        squares = residuals[np.any(residuals != 0, axis=-1)] ** 2
        fit = np.log(variances).sum(axis=1) * len(squares)  # minus twice the log likelihood, its scale profiled out
        fit += self.count * np.log((squares[:, None] / variances).mean(axis=-1)).sum(axis=0)
        model = variances[fit.argmin()]
        share = self.sizes / self.items
        spread = np.diag(model) - share[:, None] * model - model[:, None] * share
        spread += np.outer(share, share) * model.sum()  # covariance of the residuals, [groups, groups]
        weighted = spread / np.outer(self.items - self.sizes, self.items - self.sizes)
        return float(np.trace(weighted) ** 2 / (weighted**2).sum())
