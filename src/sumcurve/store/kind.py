"""A kind of folder: where it stands in a study's steps, what decides it, and how it is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

Version = int | str


COMMITTED_OF_RUNS = ("training.json", "history.csv", "timings.csv")  # what is committed of a training


@dataclass(frozen=True)
class Kind:
    """One kind of folder: `results/<step>/<stem>-<digest of its specification>/`.

    `stem` is a format string of what the plan knows of the folder. `specification` holds all that decides its content
    (a TypedDict), beside the code. `version` stands for the code in the specification, under the key `version_key`
    (recorded names hold either word): raise it in the commit that changes what the builder writes. Where the code is a
    scorer's or a system's, which the specification names under its key `part`, the version is that of their class
    (`versions`, by name). Of trainings, `losses` are versions of single losses: one that a phase has follows `version`,
    so that a changed loss renames the trainings that it trains, and no other. `mem_mb` and `minutes` are what a
    scheduler is asked for at least (`sumcurve.study.needs`), and `model_mb` is what a model takes beside that no method
    of the study describes; a `light` one is made in seconds.
    `together`: several processes of one `torchrun` may make one folder. `of_models`: the study's families of models
    (`sumcurve.study.doors`) are the builder's first argument, and `of_trainables`: systems from outside that it trains
    the next one; `of_sources`: the formats of raw records are. `tabled`: tables read the annotation. `committed` are
    names, and patterns of names, of its files that committed results hold (`sumcurve.share.committed`); one that
    `leads_file` has a file of these with what is made from it.
    """

    step: str
    stem: str
    specification: type
    builder: Callable[..., None]
    mem_mb: int
    version: Version = 1
    version_key: Literal["recipe", "fingerprint"] = "recipe"
    part: str = ""
    versions: Mapping[str, Version] = field(default_factory=dict)
    losses: Mapping[str, Version] = field(default_factory=dict)
    model_mb: int = 0
    minutes: int = 240
    gpu: bool = False
    light: bool = False
    together: bool = False
    of_models: bool = False
    of_trainables: bool = False
    of_sources: bool = False
    tabled: bool = False
    committed: tuple[str, ...] = ()
    leads_file: bool = False

    @property
    def about(self) -> str:
        """Summary line of its builder's docstring, which Snakemake shows as the rule's."""
        builder = self.builder.func if isinstance(self.builder, partial) else self.builder
        return str(builder.__doc__).partition("\n")[0]

    def version_of(self, specification: Mapping[str, Any]) -> Version:
        """The version of the code that makes a folder of this specification."""
        if self.part:
            return self.versions[specification[self.part]]
        phases = specification["training"]["phases"] if self.losses else ()
        changed = sorted({phase["loss"] for phase in phases} & self.losses.keys())
        if not changed:
            return self.version
        return ", ".join([str(self.version), *(f"{loss} {self.losses[loss]}" for loss in changed)])
