"""Systems of a study: the outputs of one method at one size with all its seeds, and untrained systems."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sumcurve.scores.references import NAME, OWN
from sumcurve.statistics.design import Cell
from sumcurve.systems.system import Role
from sumcurve.tables.evidence import Items, ScoredOutput, is_beside


@dataclass(frozen=True)
class System:
    """All seeds of one method at one size under one search, or a system that is not trained."""

    corpus: str
    method: str
    percent: int | None
    records: int | None
    outputs: tuple[ScoredOutput, ...]

    @property
    def cell(self) -> Cell:
        return self.method, self.records

    @property
    def role(self) -> Role:
        return self.outputs[0].role

    @property
    def beside(self) -> bool:
        return is_beside(self.role, self.method)

    @property
    def own_reference(self) -> int | None:
        """Number of the reference that a human wrote, where the scorer `references` scored it; None for all others."""
        own = self.outputs[0].scores[NAME].details[OWN][0] if NAME in self.outputs[0].scores else ""
        return int(own) if own else None

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(output.seed for output in self.outputs if output.seed is not None)

    def scored(self, scorer: str) -> tuple[Items, ...]:
        """The items of every seed that a scorer scored; people may have judged one of several."""
        return tuple(output.scores[scorer] for output in self.outputs if scorer in output.scores)

    @property
    def scorers(self) -> dict[str, Items]:
        """Items of the first scored seed, by scorer."""
        every = {scorer: items for output in reversed(self.outputs) for scorer, items in output.scores.items()}
        return {scorer: every[scorer] for output in self.outputs for scorer in output.scores}

    @property
    def summaries(self) -> tuple[str, ...]:
        """Digests that identify all summaries; empty where they are unknown."""
        digests = tuple(output.summaries for output in self.outputs)
        return digests if all(digests) else ()


def systems_of(outputs: Iterable[ScoredOutput]) -> list[System]:
    """The outputs that differ by their seed alone, together; the order stays."""
    groups: dict[tuple[Any, ...], list[ScoredOutput]] = {}
    for output in outputs:
        groups.setdefault(
            (output.corpus, output.method, output.percent, output.records, output.search, output.part), []
        ).append(output)
    return [
        System(group[0].corpus, group[0].method, group[0].percent, group[0].records, tuple(group))
        for group in groups.values()
    ]
