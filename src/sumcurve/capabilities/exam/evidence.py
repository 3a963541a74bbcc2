"""Evidence of metric validation: which metrics rank on a corpus, and which do so without a passed validation.

A metric that failed ranks no system, nor does one that the validation of the corpus has not tested. One that is
undecided ranks, and so do all on a corpus without a validation; tables and findings say so. An outcome by outputs of
trained methods stands behind the one that decides, by systems that take no training: that is there before any method
is trained, so that no method of a study decides by which metric it is ranked.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sumcurve.capabilities.exam.table import BY_TRAINED, Sitting
from sumcurve.tables.evidence import Evidence, Study
from sumcurve.tables.table import listed

NOT_VALIDATED = "not validated on this corpus"
FAILED, NOT_TESTED, NONE = "failed", "not tested", "no validation"


@dataclass(frozen=True)
class Exams(Evidence):
    """The validation of metrics, by the study's corpus that has one."""

    corpora: Mapping[str, Sitting]

    def validation(self, study: Study, corpus: str, metric: str) -> str:
        if (sat := self.corpora.get(corpus)) is None:
            return NONE
        key = study.metrics[metric][1], metric
        trained = f"; {BY_TRAINED}: {sat.trained[key]}" if key in sat.trained else ""
        return sat.outcomes.get(key, NOT_TESTED) + trained

    def unread(self, study: Study, corpus: str, metric: str) -> str:
        outcome = self.validation(study, corpus, metric)
        return f"{NOT_VALIDATED}: {outcome}" if outcome.startswith((FAILED, NOT_TESTED)) else ""

    def notes(self, study: Study) -> list[str]:
        """A sentence for every corpus and outcome of metrics that are not validated: who ranks all the same."""
        notes = []
        for corpus in study.corpora:
            titles: dict[str, list[str]] = {}
            for metric, _ in study.metrics.values():
                if metric.ranks:
                    titles.setdefault(self.validation(study, corpus, metric.name), []).append(metric.title)
            titles.pop("passed", None)
            for outcome, names in titles.items():
                state, says = NOT_VALIDATED, ": no system is ranked by them"
                if outcome.startswith("passed"):
                    state, says = "validated on this corpus", ""
                elif outcome.startswith(("undecided", NONE)):
                    says = ": ranked all the same"
                notes.append(
                    f"{corpus}: {listed(names)} {state} ({outcome}; docs/reference/metric-validation.md){says}."
                )
        return notes
