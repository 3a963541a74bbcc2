"""What stands on the axis: the systems of each kind, with their scores, and what each costs."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.settings.base import ZERO_SHOT
from sumcurve.store.records import write_text
from sumcurve.tables.evidence import Evidence
from sumcurve.tables.table import Name

if TYPE_CHECKING:
    from markupsafe import Markup

    from sumcurve.capabilities.chat.evidence import Prompted
    from sumcurve.scores.scorer import Metric
    from sumcurve.study.plan import Plan
    from sumcurve.tables.results import Results
    from sumcurve.tables.systems import System

PROMPTED, TUNED, SCRATCH, OUTSIDE = "prompted", "fine-tuned", "from scratch", "trained elsewhere"
KINDS = (PROMPTED, TUNED, SCRATCH, OUTSIDE)
FIGURE = "data_axis"
TITLE = "Prompted, fine-tuned and from scratch: scores and costs against records"  # of the figure


@dataclass(frozen=True)
class Axis(Evidence):
    """The metric of the axis, and by name of a method or system its kind."""

    metric: str
    kinds: Mapping[str, str]

    def name(self, system: "System") -> str:
        """Of its curve: what is not trained yet stands at 0 records of a method's, or a prompted model's."""
        return system.method.removesuffix(ZERO_SHOT)

    def kind(self, system: "System") -> str | None:
        """None of what stands at no number of records."""
        return self.kinds.get(self.name(system))

    def title(self, results: "Results", system: "System") -> Name:
        """For people that of its curve, with its own marks."""
        own, curve = results.name(system), results.titles.get(self.name(system), self.name(system))
        marks = own.shown.removeprefix(results.titles.get(system.method, system.method))
        return Name(own, curve + marks, own.facts)

    def figures(self, results: "Results", folder: Path) -> Mapping[str, str]:
        if drawn := self._drawn(results):
            write_text(folder / f"{FIGURE}.svg", drawn)
        return {FIGURE: TITLE} if drawn else {}

    def sections(self, results: "Results") -> Sequence["Markup"]:
        from markupsafe import Markup

        if not (drawn := self._drawn(results)):
            return ()
        source = f"data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"
        image = f'<img alt="{TITLE}; the numbers are in table data_axis" src="{source}">'
        heading = f'<h2 id="data-axis-heading">{TITLE}</h2>'
        figure = f'<figure class="sheet">{image}</figure>'
        return [Markup(f'<section id="data-axis" aria-labelledby="data-axis-heading">{heading}{figure}</section>')]

    def _drawn(self, results: "Results") -> str:
        """The figure as SVG; empty where no system stands on an axis."""
        from sumcurve.capabilities.axis.figure import figure
        from sumcurve.tables.chart import svg

        drawn: str = results.once(FIGURE, lambda: svg(chart) if (chart := figure(self, results)) else "")
        return drawn

    def answer_notes(self, results: "Results") -> Sequence[str]:
        from sumcurve.capabilities.axis.table import sentences

        return sentences(self, results)


def kinds_of(plan: "Plan") -> dict[str, str]:
    """By name of each method, and of each system with a curve, how it comes to its weights."""
    kinds = {}
    for name, form in plan.methods.items():
        pretrained = form.model.kind == "transformers" or getattr(form.model, "outside", "nothing") != "nothing"
        kinds[name] = TUNED if pretrained else SCRATCH
    for name, settings in plan.settings.systems.items():
        if (settings or {}).get("kind") == "chat":
            kinds[name] = PROMPTED
        elif name in plan.titles:  # it makes a curve
            kinds[name] = OUTSIDE
    return kinds


def axis_of(results: "Results") -> Axis | None:
    axis = results.study.evidence.get("axis")
    return axis if isinstance(axis, Axis) else None


def metric_of(axis: Axis, results: "Results", corpus: str) -> "Metric | None":
    """None where a corpus is not ranked by it."""
    return next((metric for metric in results.ranked(corpus) if metric.name == axis.metric), None)


def systems_at(axis: Axis, results: "Results", corpus: str) -> list[tuple[int, str, "System"]]:
    """Every system on the axis of a corpus, with its records and its kind; untrained ones stand at 0."""
    return [
        (system.records or 0, kind, system)
        for system in results.of(corpus, metric=axis.metric)
        if (kind := axis.kind(system)) is not None
    ]


def prompts_of(results: "Results", corpus: str) -> dict[tuple[str, int], "Prompted"]:
    """What answers took, by system without `ZERO_SHOT` and number of examples; nothing without prompted models."""
    evidence = results.study.evidence.get("chat")
    if evidence is None:
        return {}
    from sumcurve.capabilities.chat.evidence import Prompts  # which is there, since its evidence is

    rows = evidence.rows if isinstance(evidence, Prompts) else ()
    return {(row.method.removesuffix(ZERO_SHOT), row.examples): row for row in rows if row.corpus == corpus}


def devices_of(system: "System") -> list[str]:
    """Those that its seconds were measured on."""
    return sorted({output.timing.device for output in system.outputs if output.timing})
