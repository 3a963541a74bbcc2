"""Evidence of the axis: the systems of each kind, with their scores and costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.evidence import Evidence
from sumcurve.tables.table import Name

if TYPE_CHECKING:
    from sumcurve.scores.scorer import Metric
    from sumcurve.tables.results import Results
    from sumcurve.tables.systems import System

PROMPTED, TUNED, SCRATCH, OUTSIDE = "prompted", "fine-tuned", "from scratch", "trained elsewhere"


@dataclass(frozen=True)
class Axis(Evidence):
    """The metric of the axis, the kind of each method or system by name, and controls.

    `controls` names, for a method with pretrained weights, the one that begins with random weights in their place.
    """

    metric: str
    kind_by_name: Mapping[str, str]
    controls: Mapping[str, str] = field(default_factory=dict)

    def name(self, system: "System") -> str:
        """Name of the system's curve: untrained outputs are at 0 records of a method's or a prompted model's curve."""
        return system.method.removesuffix(ZERO_SHOT)

    def kind(self, system: "System") -> str | None:
        """Kind of a system; None for one without a number of records."""
        return self.kind_by_name.get(self.name(system))

    def title(self, results: "Results", system: "System") -> Name:
        """Title of the system's curve for people, with its own marks."""
        own, curve = results.name(system), results.titles.get(self.name(system), self.name(system))
        marks = own.shown.removeprefix(results.titles.get(system.method, system.method))
        return Name(own, curve + marks, own.facts)

    def kinds(self) -> Mapping[str, str]:
        return self.kind_by_name


def kinds_of(plan: PlannedStudy) -> dict[str, str]:
    """Kinds of methods, and of systems with a curve, by name: prompted, fine-tuned, from scratch or outside."""
    kinds = {}
    for name, form in plan.methods.items():
        kinds[name] = TUNED if form.model.is_pretrained else SCRATCH
    for name, settings in plan.settings.systems.items():
        if (settings or {}).get("kind") == "chat":
            kinds[name] = PROMPTED
        elif name in plan.titles:  # it makes a curve
            kinds[name] = OUTSIDE
    return kinds


def controls_of(plan: PlannedStudy) -> dict[str, str]:
    """Name, for each method with pretrained weights, the method of the same model that begins with random ones."""
    models = {name: form.model.model_dump() for name, form in plan.methods.items()}
    return {
        name: control
        for name, model in models.items()
        for control, other in models.items()
        if name != control and other == model | {"random_weights": True}
    }


def axis_of(results: "Results") -> Axis | None:
    axis = results.study.evidence.get("axis")
    return axis if isinstance(axis, Axis) else None


def metric_of(axis: Axis, results: "Results", corpus: str) -> "Metric | None":
    """The metric of the axis; None where a corpus is not ranked by it."""
    return next((metric for metric in results.ranking_metrics(corpus) if metric.name == axis.metric), None)


def systems_at(axis: Axis, results: "Results", corpus: str) -> list[tuple[int, str, "System"]]:
    """Every system on the axis of a corpus, with its records and its kind; untrained ones are at 0."""
    return [
        (system.records or 0, kind, system)
        for system in results.of(corpus, metric=axis.metric)
        if (kind := axis.kind(system)) is not None
    ]


def devices_of(system: "System") -> list[str]:
    """Devices on which its seconds were measured."""
    return sorted({output.timing.device for output in system.outputs if output.timing})
