"""What systems prefer, worked out once for the tables of contrasts.

Three sets of contrasts: those that *all* compared systems can tell apart from their golds (the main one), a system's
*own*, which all its seeds can tell apart, and *every* one, where what cannot be told apart is not dodged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sumcurve.capabilities.contrasts.evidence import Preferences, judged_of
from sumcurve.capabilities.contrasts.judged import Judged, margins
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.results import Results

POINTS = 100
AT = 5  # contrasts a gold, at which escaped is comparable over golds and corpora

Array = NDArray[np.float64]
Set = Literal["all", "own", "every"]
Ways = Literal["sum", "ties", "mean", "other", "assigned"]


@dataclass(frozen=True)
class Judging:
    """One method at one size: what its seeds find."""

    cell: Cell
    seeds: tuple[int, ...]
    judged: tuple[Judged, ...]

    @cached_property
    def visible_by_seed(self) -> NDArray[np.bool_]:
        """[seeds, contrasts]: which of them each seed can tell apart; seeds draw records, and know other words."""
        return np.stack([judged.visible[judged.contrast] for judged in self.judged])

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """[contrasts]: which of them all seeds can tell apart."""
        return np.asarray(self.visible_by_seed.all(axis=0))

    def dodged(self, way: Ways = "sum") -> NDArray[np.bool_] | None:
        """[seeds, contrasts]: which are dodged; None where that is not known.

        By sums ("sum", and "ties" where a tie counts as dodged), by means over tokens, given another record's source,
        or by the best assignment of sentences.
        """
        rows = []
        for judged in self.judged:
            values = {"mean": judged.means(), "other": judged.other, "assigned": judged.assigned}.get(way, judged.own)
            if values is None:
                return None
            apart = margins(values, judged)
            rows.append(apart >= 0 if way == "ties" else apart > 0)
        return np.stack(rows)


@dataclass(frozen=True)
class Fooled:
    """A contrast that a system finds more probable than its gold, by so many nats."""

    item: str
    rule: str
    gold: Sequence[str]
    contrast: Sequence[str]
    nats: float


class Preferred:
    """The systems of one corpus, and what there is to say of their preferences."""

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
        """[contrasts]: those that all systems can tell apart."""
        flags = [system.visible for system in self.systems.values()]
        common: NDArray[np.bool_] = np.logical_and.reduce(flags) if flags else np.zeros(len(self.items), dtype=bool)
        return common

    def kept(self, system: Judging, of: Set) -> NDArray[np.bool_]:
        """[contrasts]: those of a set."""
        return {"all": self.common, "own": system.visible, "every": np.ones_like(self.common)}[of]

    def dodged(self, of: Set = "all", way: Ways = "sum", rule: str | None = None) -> dict[Cell, Estimate]:
        """The share of contrasts that each system dodges, in percent; only where there is one, and it is known."""
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
        """Points of dodged that the own source buys: less what is dodged given the source of another group."""
        values = {}
        for cell, system in self.systems.items():
            own, other = system.dodged(), system.dodged("other")
            if own is not None and other is not None and self.common.any():
                gained = own[:, self.common].astype(float) - other[:, self.common]
                values[cell] = (POINTS * gained, self.groups[self.common])
        return self._estimates(values, "all")

    def escaped(self, of: Set = "all", way: Ways = "sum", at: int | None = None) -> dict[Cell, Estimate]:
        """The share of golds all of whose contrasts a system dodges, in percent, of golds that have any.

        With `at`, of as many of a gold's contrasts, whichever (`escapes`), and of golds that have so many.
        """
        values = {}
        for cell, system in self.systems.items():
            kept = self.kept(system, of)
            dodged_by_seed = system.dodged(way)
            if dodged_by_seed is None or not kept.any():
                continue
            golds, places, counts = np.unique(self.items[kept], return_inverse=True, return_counts=True)
            counted = (dodged_by_seed & system.visible_by_seed)[:, kept]
            dodged = np.stack([np.bincount(places, row, len(golds)) for row in counted])
            shares = escapes(dodged.astype(float), counts[None].astype(float), at)
            enough = counts >= (at or 1)
            first = np.array([np.flatnonzero(places == place)[0] for place in range(len(golds))])
            if enough.any():
                values[cell] = (POINTS * shares[:, enough], self.groups[kept][first][enough])
        return self._shares(values, of)

    def _shares(self, values: dict[Cell, tuple[Array, NDArray[np.str_]]], of: Set) -> dict[Cell, Estimate]:
        return {cell: share.within(POINTS) for cell, share in self._estimates(values, of).items()}

    def _estimates(self, values: dict[Cell, tuple[Array, NDArray[np.str_]]], of: Set) -> dict[Cell, Estimate]:
        """Intervals over groups and seeds; systems that have the same items are one design."""
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

    def words(self, name: str) -> tuple[float | None, float | None, float | None, float | None]:
        """Of a language model: dodged, with ties, by another set (every), and escaped, in percent."""
        judged = self.evidence.words[name]
        apart = margins(judged.own, judged)
        return self._plain(apart > 0) + self._plain(apart >= 0)[:1] + self._plain(apart > 0, every=True)[:1]

    def _plain(self, dodged: NDArray[np.bool_], every: bool = False) -> tuple[float | None, float | None]:
        kept = np.ones_like(self.common) if every else self.common
        if not kept.any():
            return None, None
        golds, places, counts = np.unique(self.items[kept], return_inverse=True, return_counts=True)
        whole = np.bincount(places, dodged[kept], len(golds))
        return POINTS * float(dodged[kept].mean()), POINTS * float((whole == counts).mean())

    def chance(self) -> float | None:
        """Escaped, in percent, of scores that know nothing: a gold is the best of itself and n contrasts 1 in n + 1."""
        if not self.common.any():
            return None
        _, counts = np.unique(self.items[self.common], return_counts=True)
        return POINTS * float((1 / (counts + 1)).mean())


def escapes(dodged: Array, counts: Array, at: int | None) -> Array:
    """How sure golds are to escape: 1 where all contrasts are dodged, else 0.

    With `at`, the probability that so many contrasts of a gold, drawn without replacement from its `counts`, are all
    dodged: it falls with their number. NaN-free: golds with fewer are given as they are.
    """
    if at is None:
        return (dodged == counts).astype(float)
    drawn = np.minimum(at, counts)

    def ways(of: Array) -> Array:  # log of the binomial coefficient
        return np.asarray(gammaln(of + 1) - gammaln(drawn + 1) - gammaln(np.maximum(of - drawn, 0) + 1))

    return np.asarray(np.where(dodged >= drawn, np.exp(ways(np.maximum(dodged, drawn)) - ways(counts)), 0.0))


def preferred(results: Results) -> list[Preferred]:
    """Those of every corpus, made once."""
    systems: list[Preferred] = results.once(
        "preferences",
        lambda: [Preferred(evidence, results) for evidence in judged_of(results).corpora if evidence.systems],
    )
    return systems
