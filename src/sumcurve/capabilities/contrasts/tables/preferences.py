"""Preferences of systems, computed once for the tables of contrasts.

Three sets of contrasts: those that *all* compared systems can tell apart from their golds (the main one), a system's
*own*, which all its seeds can tell apart, and *every* one, where a contrast that cannot be told apart is not dodged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.contrasts.evidence import Preferences, judged_of
from sumcurve.capabilities.contrasts.judged import Judged, margins
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.results import Results

POINTS = 100

Array = NDArray[np.float64]
Set = Literal["all", "own", "every"]
Ways = Literal["sum", "mean", "other"]


@dataclass(frozen=True)
class Judging:
    """Likelihoods by the seeds of one method at one size."""

    cell: Cell
    seeds: tuple[int, ...]
    judged: tuple[Judged, ...]

    @cached_property
    def visible_by_seed(self) -> NDArray[np.bool_]:
        """[seeds, contrasts]: True where a seed can tell a contrast apart; seeds differ in records and vocabulary."""
        return np.stack([judged.visible[judged.contrast] for judged in self.judged])

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """[contrasts]: True where all seeds can tell a contrast apart."""
        return np.asarray(self.visible_by_seed.all(axis=0))

    def dodged(self, way: Ways = "sum") -> NDArray[np.bool_] | None:
        """[seeds, contrasts]: True for dodged contrasts; None where the values are missing.

        By sums, by means over tokens, or given another record's source; a tie is not.
        """
        rows = []
        for judged in self.judged:
            values = {"mean": judged.means(), "other": judged.other}.get(way, judged.own)
            if values is None:
                return None
            rows.append(margins(values, judged) > 0)
        return np.stack(rows)


@dataclass(frozen=True)
class Fooled:
    """A contrast that is more probable than its gold under a system, by so many nats."""

    item: str
    rule: str
    gold: Sequence[str]
    contrast: Sequence[str]
    nats: float


class Preferred:
    """The systems of one corpus, and statistics of their preferences."""

    def __init__(self, evidence: Preferences, results: Results) -> None:
        self.corpus, self.evidence, self.results = evidence.corpus, evidence, results
        cells: dict[Cell, dict[int, Judged]] = {}
        for (method, records, seed), judged in evidence.systems.items():
            cells.setdefault((method, records), {})[seed or 0] = judged
        self.systems = {
            cell: Judging(cell, tuple(sorted(of)), tuple(of[seed] for seed in sorted(of))) for cell, of in cells.items()
        }
        self.items = np.array(evidence.items)
        self.rules = np.array(evidence.rules)
        self.groups = np.array(evidence.groups)

    @cached_property
    def common(self) -> NDArray[np.bool_]:
        """[contrasts]: True where all systems can tell a contrast apart."""
        flags = [system.visible for system in self.systems.values()]
        common: NDArray[np.bool_] = np.logical_and.reduce(flags) if flags else np.zeros(len(self.items), dtype=bool)
        return common

    def kept(self, system: Judging, of: Set) -> NDArray[np.bool_]:
        """[contrasts]: True for members of a set."""
        return {"all": self.common, "own": system.visible, "every": np.ones_like(self.common)}[of]

    def dodged(self, of: Set = "all", way: Ways = "sum", rule: str | None = None) -> dict[Cell, Estimate]:
        """The share of contrasts that each system dodges, in percent; only for systems with contrasts and values."""
        values = {}
        for cell, system in self.systems.items():
            kept = self.kept(system, of)
            if rule is not None:
                kept = kept & (self.rules == rule)
            dodged = system.dodged(way)
            if dodged is not None and kept.any():
                values[cell] = (POINTS * (dodged & system.visible_by_seed)[:, kept].astype(float), self.groups[kept])
        return self._shares(values, of)

    def by_source(self) -> dict[Cell, Estimate]:
        """Source sensitivity of dodged, in points: dodged given the item's source, minus given one of another group."""
        values = {}
        for cell, system in self.systems.items():
            own, other = system.dodged(), system.dodged("other")
            if own is not None and other is not None and self.common.any():
                gained = own[:, self.common].astype(float) - other[:, self.common]
                values[cell] = (POINTS * gained, self.groups[self.common])
        return self._estimates(values, "all")

    def escaped(self, of: Set = "all", way: Ways = "sum") -> dict[Cell, Estimate]:
        """The share of golds all of whose contrasts a system dodges, in percent, of golds that have contrasts."""
        values = {}
        for cell, system in self.systems.items():
            kept = self.kept(system, of)
            dodged_by_seed = system.dodged(way)
            if dodged_by_seed is None or not kept.any():
                continue
            golds, places, counts = np.unique(self.items[kept], return_inverse=True, return_counts=True)
            counted = (dodged_by_seed & system.visible_by_seed)[:, kept]
            dodged = np.stack([np.bincount(places, row, len(golds)) for row in counted])
            first = np.array([np.flatnonzero(places == place)[0] for place in range(len(golds))])
            values[cell] = (POINTS * (dodged == counts).astype(float), self.groups[kept][first])
        return self._shares(values, of)

    def _shares(self, values: dict[Cell, tuple[Array, NDArray[np.str_]]], of: Set) -> dict[Cell, Estimate]:
        return {cell: share.within(POINTS) for cell, share in self._estimates(values, of).items()}

    def _estimates(self, values: dict[Cell, tuple[Array, NDArray[np.str_]]], of: Set) -> dict[Cell, Estimate]:
        """Intervals over groups and seeds; systems with the same items form one design."""
        full = self.results.full_records(self.corpus)
        confidence = self.results.settings.confidence

        def design(cells: Sequence[Cell]) -> Design:
            made = [
                Replicates(cell[0], cell[1], self.systems[cell].seeds if cell[1] is not None else (), values[cell][0])
                for cell in cells
            ]
            return Design(common_seeds(made)[0], values[cells[0]][1].tolist(), full, confidence)

        estimates: dict[Cell, Estimate] = {}
        for cells in [[cell] for cell in values] if of == "own" else [list(values)]:
            if cells:
                whole = design(cells)
                estimates |= {cell: estimate(whole, cell) for cell in cells}
        return estimates

    def fooled(self, cell: Cell, most: int) -> list["Fooled"]:
        """The contrasts that a system of a single or the first seed prefers most to their golds, one of each gold."""
        judged = self.systems[cell].judged[0]
        behind = -margins(judged.own, judged)
        by_item: dict[str, Fooled] = {}
        for at in np.argsort(-behind, kind="stable").tolist():
            item = self.evidence.items[at]
            if behind[at] <= 0 or len(by_item) == most:
                break
            if item not in by_item:
                gold, target = self.evidence.golds[item], self.evidence.targets[at]
                rule = self.evidence.rules[at].replace("_", " ")
                by_item[item] = Fooled(item, rule, gold, target, float(behind[at]))
        return list(by_item.values())

    def words(self, name: str) -> tuple[float | None, float | None, float | None]:
        """Scores of a language model: dodged and escaped, and dodged of the set *every*, in percent."""
        judged = self.evidence.words[name]
        dodged = margins(judged.own, judged) > 0
        return self._plain(dodged) + self._plain(dodged, every=True)[:1]

    def _plain(self, dodged: NDArray[np.bool_], every: bool = False) -> tuple[float | None, float | None]:
        kept = np.ones_like(self.common) if every else self.common
        if not kept.any():
            return None, None
        golds, places, counts = np.unique(self.items[kept], return_inverse=True, return_counts=True)
        whole = np.bincount(places, dodged[kept], len(golds))
        return POINTS * float(dodged[kept].mean()), POINTS * float((whole == counts).mean())

    def chance(self) -> float | None:
        """Escaped by random scores, in percent: a gold is the best of itself and n contrasts 1 in n + 1."""
        if not self.common.any():
            return None
        _, counts = np.unique(self.items[self.common], return_counts=True)
        return POINTS * float((1 / (counts + 1)).mean())


def preferred(results: Results) -> list[Preferred]:
    """Preferences of the systems of every corpus, computed once."""
    systems: list[Preferred] = results.once(
        "preferences",
        lambda: [Preferred(evidence, results) for evidence in judged_of(results).corpora if evidence.systems],
    )
    return systems
