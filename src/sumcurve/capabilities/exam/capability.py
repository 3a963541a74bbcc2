"""The capability `exam`: a metric sits an exam, in public, before it may rank."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders, Verbs
from sumcurve.capabilities.exam import command
from sumcurve.capabilities.exam.settings import CorpusKeys

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.evidence import Exams
    from sumcurve.capabilities.exam.table import Outcomes
    from sumcurve.study.plan import Plan
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles


class Exam(Capability):
    corpus_settings = CorpusKeys

    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        """The outcomes, which decide who is ranked."""
        exams = _exams(plan)
        outcomes = {corpus: [[*key, text] for key, text in exam.items()] for corpus, exam in exams.items()}
        return {"exam": outcomes} if outcomes else {}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.exam.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Exams":
        from sumcurve.capabilities.exam.evidence import Exams

        return Exams(_exams(folders.plan))


def _exams(plan: "Plan") -> "dict[str, Outcomes]":
    """The outcomes of the exams that the study's corpora name; PlanError for a table that cannot be read."""
    from sumcurve.capabilities.exam.table import read_outcomes
    from sumcurve.settings.config import PlanError

    exams = {}
    for name, corpus in plan.corpora.items():
        if isinstance(corpus, CorpusKeys) and corpus.exam:
            try:
                exams[name] = read_outcomes(Path(corpus.exam))
            except PlanError as error:
                raise PlanError(f"{plan.where('corpora', name, 'exam')}: {error}") from error
            for scorer in {scorer for scorer, _ in exams[name]} & {*plan.scorers}:
                if plan.scorers[scorer].settings != type(plan.scorers[scorer].settings)():
                    raise PlanError(
                        f"{plan.where('scores', scorer)}: the exam of corpus {name} is of {scorer} without settings; "
                        "leave its settings out, or `exam`"
                    )
    return exams


CAPABILITY = Exam()
