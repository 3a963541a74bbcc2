"""Evidence of metric validation: metrics that are not validated on a corpus rank no system there."""

from collections.abc import Mapping
from dataclasses import dataclass

from sumcurve.capabilities.exam.table import Sitting
from sumcurve.tables.evidence import Evidence, Study

PASSED = "passed"
NOT_VALIDATED = "not validated on this corpus"
NOT_TESTED = f"{NOT_VALIDATED}: not tested"


@dataclass(frozen=True)
class Exams(Evidence):
    """The validation of metrics, by the study's corpus that has one."""

    corpora: Mapping[str, Sitting]

    def unread(self, study: Study, corpus: str, metric: str) -> str:
        if corpus not in self.corpora:
            return ""
        verdict = self.corpora[corpus].outcomes.get((study.metrics[metric][1], metric))
        return "" if verdict == PASSED else f"{NOT_VALIDATED}: {verdict}" if verdict else NOT_TESTED

    def notes(self, study: Study) -> list[str]:
        """A sentence for every metric that ranks no system on a corpus."""
        return [
            f"{corpus}: {metric.title} ranks no system ({why}; docs/reference/metric-validation.md)."
            for corpus in self.corpora
            for metric, _ in study.metrics.values()
            if metric.ranks and (why := self.unread(study, corpus, metric.name))
        ]
