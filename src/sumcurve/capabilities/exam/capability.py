"""The capability `exam`: a metric sits an exam, in public, before it may rank."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders, Verbs
from sumcurve.capabilities.exam import command
from sumcurve.capabilities.exam.settings import CorpusKeys
from sumcurve.settings.base import HELD_OUT

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.evidence import Exams
    from sumcurve.capabilities.exam.table import Sitting
    from sumcurve.study.plan import Plan
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles


class Exam(Capability):
    corpus_settings = CorpusKeys

    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        """The outcomes, which decide who is ranked."""
        exams = _exams(plan).items()
        outcomes = {corpus: [[*key, text] for key, text in sat.outcomes.items()] for corpus, sat in exams}
        return {"exam": outcomes} if outcomes else {}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.exam.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Exams":
        from sumcurve.capabilities.exam.evidence import Exams

        return Exams(_exams(folders.plan))


def _exams(plan: "Plan") -> "dict[str, Sitting]":
    """The exams that the study's corpora name; PlanError for one that cannot be read or is of something else."""
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
        sat_on, sits = exams[name].corpus, name.removesuffix(HELD_OUT)  # what is held out counts as its corpus
        if not re.fullmatch(rf"{re.escape(sits)}(-[0-9a-f]{{8}})?", sat_on):  # or a folder of results/corpora
            raise PlanError(
                f"{plan.where('corpora', sits, 'exam')}: the exam in {corpus.exam} was on {sat_on}, not on {sits}, and "
                f"a metric ranks where it has passed; sit one by `sumcurve exam --study {plan.study} --of {sits}`"
            )
        for scorer in {*exams[name].settings} & {*plan.scorers}:
            here = plan.scorers[scorer].settings.model_dump(mode="json")
            sat = type(plan.scorers[scorer].settings)().model_dump(mode="json") | exams[name].settings[scorer]
            if strange := sorted(key for key in sat if sat[key] != here.get(key)):
                raise PlanError(
                    f"{plan.where('scores', scorer)}: the exam in {corpus.exam} is of {scorer} with "
                    f"{strange[0]}: {sat[strange[0]]}, not {here.get(strange[0])}; sit one with the study's settings "
                    f"by `sumcurve exam --study`, or take `exam` out of corpus {name}"
                )
    return exams


CAPABILITY = Exam()
