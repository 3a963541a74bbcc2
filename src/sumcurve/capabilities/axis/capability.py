"""The capability `axis`: prompted, fine-tuned and from-scratch models over records, and where their curves cross."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.axis.settings import StudyKeys
from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.machine.spelling import there_are
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.config import PlanError
from sumcurve.settings.study import StudySettings
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.tables.evidence import Evidence
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles


class DataAxis(Capability):
    study_settings = StudyKeys
    listings = (
        Listing("data_axis", "sumcurve.capabilities.axis.table", measured=True, every=("method", "records", "search")),
    )

    def plan_study(self, plan: PlannedStudy) -> None:
        """Check the metric; PlanError for one by which the study does not rank."""
        metric = _metric(plan.settings)
        ranking = [known.name for scorer in plan.scorers.values() for known in scorer.metrics if known.ranks]
        if metric is not None and metric not in ranking:
            raise PlanError(f"{plan.where('axis')}: no metric {metric!r} that ranks; {there_are(metric, ranking)}")

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        return {"axis": metric} if (metric := _metric(plan.settings)) else {}

    def evidence(self, folders: Folders) -> "Evidence":
        from sumcurve.capabilities.axis.evidence import Axis, controls_of, kinds_of  # which read pandas
        from sumcurve.tables.evidence import Evidence

        metric = _metric(folders.plan.settings)
        if metric is None:
            return Evidence()
        return Axis(metric, kinds_of(folders.plan), controls_of(folders.plan))

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.axis.findings import findings

        return findings(corpus, titles)


def _metric(settings: StudySettings) -> str | None:
    return settings.axis if isinstance(settings, StudyKeys) else None


CAPABILITY = DataAxis()
