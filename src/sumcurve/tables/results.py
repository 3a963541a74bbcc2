"""Results of a study as its tables show them: numbers, with names, marks and notes."""

from collections.abc import Sequence
from functools import cached_property

from sumcurve.scores.references import JACKKNIFE
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell
from sumcurve.statistics.intervals import Estimate
from sumcurve.tables.evidence import OptimumWords
from sumcurve.tables.notes import FRAMED, MARK, Notes
from sumcurve.tables.numbers import Numbers
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Name, Value

UNREAD = "‡"  # beside a metric that is not to be read of a corpus
NO_MEASURE = "no valid measure"
NOT_TESTED = "not tested"  # in place of yes and no, of other parts and searches than tables rank


class Results(Numbers):
    """The numbers of a study, with the names that tables and figures give to systems and metrics."""

    @cached_property
    def notes(self) -> Notes:
        return Notes(self)

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of methods by name, where figures have a marker for every kind."""
        return {name: kind for evidence in self.study.evidence.values() for name, kind in evidence.kinds().items()}

    @property
    def optimum_words(self) -> OptimumWords:
        """Display strings of the optimum."""
        words_of = (evidence.optimum_words for evidence in self.study.evidence.values())
        return next((words for words in words_of if words is not None), OptimumWords())

    def titled(self, corpus: str, metric: Metric, unit: str = "") -> Name:
        """A metric's title, with its unit where it is given; marked where it is not valid on a corpus."""
        behind = f" ({unit})" if unit else ""
        why = self.unread(corpus, metric.name)
        if not why:
            return Name(f"{metric.title}{behind}", facts={"ranked": "yes" if metric.ranks else "no", "why": ""})
        facts = {"ranked": "no", "why": why}
        return Name(f"{metric.title}{behind}", f"{metric.title}{UNREAD}{behind}", facts)

    @property
    def about(self) -> dict[str, str]:
        """Descriptions of methods and systems by name, in a sentence or less."""
        outside = {name: title for name, title in self.study.titles.items() if name not in self.titles}
        return {**self.study.systems, **outside, **self.study.about}

    def name(self, *systems: System) -> Name:
        """Their method's name, marked where one of them does not read its source, and where one fills one frame."""
        reads, framed = ([of(system) for system in systems] for of in (self.reads, self.framed))
        facts = {"reads_source": "no" if False in reads else "yes" if True in reads else ""}
        if self._has_frames:
            facts["one_frame"] = "yes" if True in framed else "no" if False in framed else ""
        marks = (MARK if False in reads else "") + (FRAMED if True in framed else "")
        marks += "".join(evidence.mark(systems[0].method) for evidence in self.study.evidence.values())
        method = systems[0].method
        human = systems[0].own_reference
        title = self.title_of(method)
        if human is not None:  # `gold` where it is one of several people
            named = "" if method.startswith("human") else f"{title}: "
            title = f"{named}human {human}, against the others"
        return Name(method, title + marks, facts)

    def marked(self, corpus: str, cell: Cell) -> Name:
        """`name` of the system of a cell; the cell's own where none has it, as of the optimum."""
        return next((self.name(system) for system in self.of(corpus) if system.cell == cell), Name(cell[0]))

    def unasked(self, method: str, shown: str = "") -> Name:
        """A method's name where no marks are known for a row, such as that of weights before a last phase."""
        facts = ("reads_source", "one_frame") if self._has_frames else ("reads_source",)
        return Name(method, shown, dict.fromkeys(facts, NOT_TESTED))

    @property
    def share(self) -> str:
        return f"{100 * self.settings.confidence:g} %"

    def title(self, caption: str) -> str:
        """A caption with the study's title, and a note where the study is unfinished."""
        parts = [self.study.title, self.study.in_part, caption]
        return ". ".join(part.rstrip(".") for part in parts if part) + "."


def value(estimated: Estimate, bold: bool = False, decimals: int | None = None, mark: str = "") -> Value:
    """An estimate as a cell; the reason for a missing interval is a separate note."""
    return Value(estimated.mean, estimated.low, estimated.high, bold=bold, decimals=decimals, mark=mark)


def units(metrics: Sequence[Metric]) -> str:
    """The titles of metrics by unit."""
    by_unit: dict[str, list[str]] = {}
    for metric in metrics:
        by_unit.setdefault(metric.unit, []).append(metric.title)
    return "; ".join(f"{', '.join(titles)} in {unit}" for unit, titles in by_unit.items())


def metric_columns(results: Results) -> list[Column]:
    """A column with intervals for every metric; shown are those that are compared, and the one that ranks people."""
    shown = {metric.name for metric in results.compared}
    if any(system.own_reference for system in results.systems):
        shown |= {metric.name for metric in results.metrics if metric.name.endswith(f"_{JACKKNIFE}")}
    return [
        Column(metric.name, metric.title if metric.name in shown else None, "number", metric.decimals, interval=True)
        for metric in results.metrics
    ]
