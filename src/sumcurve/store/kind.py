"""A kind of folder: where it stands in a study's steps, what decides it, and how it is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


def _no_other(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return ()


PACKED_OF_RUNS = ("training.json", "history.csv", "timings.csv")  # what packs keep of a training


@dataclass(frozen=True)
class Kind:
    """One kind of folder: `results/<step>/<stem>-<digest of its specification>/`.

    `stem` is a format string of what the plan knows of the folder. `specification` holds all that decides its content
    (a TypedDict), beside the code: its modules are `modules`, with all that these import, and `further` ones by the
    specification. A version of recipes.yaml stands for the code in the specification, under the key `version_key`
    (recorded names hold either word). Where the kind has several `parts`, each has a version of its own, chosen by the
    specification's key `part`. `mem_mb` and `minutes` are what a scheduler is asked for at least
    (`sumcurve.study.needs`), and `model_mb` is what a model takes beside that no method of the study describes; one
    that `decodes` takes as long as it has test items; a `light` one is made in seconds. `together`: several processes
    of one `torchrun` may make one folder. `of_models`: the study's families of models (`sumcurve.study.doors`) are the
    builder's first argument, and `of_trainables`: systems from outside that it trains the next one. `priority` is its
    jobs', where others wait for them. `tabled`: tables read the annotation. `packed` are names, and patterns of names,
    of what a pack keeps of it, and a pack may begin with one that `leads_pack`.
    """

    step: str
    stem: str
    specification: type
    builder: Callable[..., None]
    modules: tuple[str, ...]
    mem_mb: int
    version_key: Literal["recipe", "fingerprint"] = "recipe"
    part: str = ""
    parts: tuple[str, ...] = ()
    model_mb: int = 0
    minutes: int = 60
    gpu: bool = False
    light: bool = False
    decodes: bool = False
    together: bool = False
    of_models: bool = False
    of_trainables: bool = False
    priority: int = 0
    tabled: bool = False
    packed: tuple[str, ...] = ()
    leads_pack: bool = False
    further: Callable[[Mapping[str, Any]], tuple[str, ...]] = _no_other

    def code(self, specification: Mapping[str, Any]) -> tuple[str, ...]:
        """The modules whose code, with all that they import, decides a folder of this specification."""
        return self.modules + self.further(specification)

    def recipe(self, kind: str, specification: Mapping[str, Any]) -> str:
        """The row of recipes.yaml that stands for this code; `kind` is this row's own name."""
        return f"{kind}/{specification[self.part]}" if self.part else kind
