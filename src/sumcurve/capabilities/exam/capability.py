"""The capability `exam`: metric validation, which decides the metrics that may rank systems on a corpus."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders, Verbs
from sumcurve.capabilities.exam import command
from sumcurve.capabilities.exam.settings import CorpusKeys
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import HELD_OUT

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.evidence import Exams
    from sumcurve.capabilities.exam.table import Sitting
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles


class Exam(Capability):
    corpus_settings = CorpusKeys

    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        """Outcomes of metric validation, which determine the metrics that rank."""
        exams = _exams(plan).items()
        outcomes = {corpus: [[*key, text] for key, text in sat.outcomes.items()] for corpus, sat in exams}
        return {"exam": outcomes} if outcomes else {}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.exam.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Exams":
        from sumcurve.capabilities.exam.evidence import Exams

        return Exams(_exams(folders.plan))


def _exams(plan: PlannedStudy) -> "dict[str, Sitting]":
    """The validations that the study's corpora name; PlanError for one that cannot be read or does not match."""
    from sumcurve.capabilities.exam.table import read_exam
    from sumcurve.settings.config import PlanError

    exams = {}
    for name, corpus in plan.corpora.items():
        if not (isinstance(corpus, CorpusKeys) and corpus.exam):
            continue
        try:
            exams[name] = read_exam(Path(corpus.exam))
        except PlanError as error:
            raise PlanError(f"{plan.where('corpora', name, 'exam')}: {error}") from error
        validated, needed = exams[name].corpus, name.removesuffix(HELD_OUT)  # a held-out part counts as its corpus
        if not re.fullmatch(rf"{re.escape(needed)}(-[0-9a-f]{{8}})?", validated):  # or a folder of results/corpora
            raise PlanError(
                f"{plan.where('corpora', needed, 'exam')}: {corpus.exam} validates metrics on {validated}, not on "
                f"{needed}, and a metric ranks where it is validated; make one by "
                f"`sumcurve validate-metric --study {plan.study} --of {needed}`"
            )
        for scorer in {*exams[name].settings} & {*plan.scorers}:
            here = plan.scorers[scorer].settings.model_dump(mode="json")
            of_exam = type(plan.scorers[scorer].settings)().model_dump(mode="json") | exams[name].settings[scorer]
            if strange := sorted(key for key in of_exam if of_exam[key] != here.get(key)):
                raise PlanError(
                    f"{plan.where('scores', scorer)}: {corpus.exam} validates {scorer} with "
                    f"{strange[0]}: {of_exam[strange[0]]}, not {here.get(strange[0])}; make one with the study's "
                    f"settings by `sumcurve validate-metric --study`, or take `exam` out of corpus {name}"
                )
    return exams


CAPABILITY = Exam()
