"""What an exam says of the metrics of a study: those that did not pass rank nobody."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sumcurve.capabilities.exam.table import Sitting
from sumcurve.tables.evidence import Evidence

if TYPE_CHECKING:
    from sumcurve.tables.results import Results

PASSED = "passed"
NOT_PASSED = "not passed in the exam"
NOT_SAT = f"{NOT_PASSED}: not sat"


@dataclass(frozen=True)
class Exams(Evidence):
    """The exams by the study's corpus, of those whose metrics sat one."""

    corpora: Mapping[str, Sitting]

    def unread(self, results: "Results", corpus: str, metric: str) -> str:
        if corpus not in self.corpora:
            return ""
        verdict = self.corpora[corpus].outcomes.get((results.scorer(metric), metric))
        return "" if verdict == PASSED else f"{NOT_PASSED}: {verdict}" if verdict else NOT_SAT

    def notes(self, results: "Results") -> list[str]:
        """A sentence for every metric that ranks nobody on a corpus."""
        return [
            f"{corpus}: {metric.title} ranks nobody: {why} (docs/reference/exam.md)."
            for corpus in self.corpora
            for metric in results.ranking
            if (why := self.unread(results, corpus, metric.name))
        ]
