"""Rows of a study's scores: one for every output, planned before any data exists."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sumcurve.systems.system import Role


@dataclass(frozen=True)
class Scored:
    """One output of the score table, with the folders behind it.

    Every run is decoded with its corpus's common search, and at the largest percent with the search of its method's
    paper, too, where that is another one. Programs and files from outside that make a curve have a search of their
    "own"; of a file's training only the `fraction` is known. An untrained system (of another
    `role`, see `sumcurve.systems.system`) has no percent, seed, search and run.

    Of a corpus with `sizes` there are `records` in place of a percent.

    `part` is "study" except in ablations of a last phase, at the largest percent of methods of several phases: the
    checkpoint "before" that phase, the "control" that spent the same updates on the loss of the phase before, and
    "after" it, where the study itself has no such seed.
    """

    corpus: str
    method: str
    percent: int | None
    seed: int | None
    search: Literal["common", "paper", "own"] | None
    run: str | None  # keys of folders
    output: str
    scores: Mapping[str, str] = field(default_factory=dict)  # by scorer; without those that do not apply
    part: Literal["study", "after", "before", "control"] = "study"
    role: Role = "trained"
    fraction: str | None = None  # of a file from outside: of which records it is
    records: int | None = None  # where the corpus has `sizes` in place of percents

    @property
    def size(self) -> int | None:
        """The percent, or the number of records; None for an untrained system."""
        return self.percent if self.percent is not None else self.records

    @property
    def table_name(self) -> str:
        """Name in the table's column `run`: its run's folder, or its output's where it has no run of its own."""
        own = self.search != "paper" and self.part != "before"
        return (self.run if self.run and own else self.output).split("/")[1]
