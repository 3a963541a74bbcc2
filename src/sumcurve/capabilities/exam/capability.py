"""The capability `exam`: metric validation, which decides the metrics that may rank systems on a corpus."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders, Verbs
from sumcurve.capabilities.exam import command
from sumcurve.machine.spelling import there_are
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import HELD_OUT

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.evidence import Exams
    from sumcurve.capabilities.exam.table import Sitting
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles


class Exam(Capability):
    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        """Outcomes of metric validation, which determine the metrics that rank, and those that are printed beside."""
        exams = _exams(plan).items()
        outcomes = {corpus: [[*key, text] for key, text in sat.outcomes.items()] for corpus, sat in exams}
        trained = {corpus: [[*key, text] for key, text in sat.trained.items()] for corpus, sat in exams if sat.trained}
        return {name: of for name, of in (("exam", outcomes), ("exam_trained", trained)) if of}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.exam.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Exams":
        from sumcurve.capabilities.exam.evidence import Exams

        return Exams(_exams(folders.plan))


def _exams(plan: PlannedStudy) -> "dict[str, Sitting]":
    """The recorded validations on the study's corpora; PlanError for one that cannot be read or is of another corpus.

    A validation is of a corpus by its name, or by that of its folder in results/corpora, which has a digest.
    That of a corpus is `config/validation/CORPUS.csv`, an exam.csv as `sumcurve validate-metric` writes it, and
    `config/validation/trained/CORPUS.csv`, which decides nothing, the one by outputs of trained methods. A part that is
    held out counts as its corpus. A scorer with other settings in the study has no outcome.
    """
    from sumcurve.settings.config import PlanError

    exams = {}
    for name in plan.corpora:
        corpus = name.removesuffix(HELD_OUT)
        path = plan.config / "validation" / f"{corpus}.csv"
        beside = path.parent / "trained" / path.name
        if path.exists() or path.is_symlink():  # a link to nothing is an error, and no corpus without a validation
            sat = _read(plan, corpus, path)
            exams[name] = replace(sat, trained=_read(plan, corpus, beside).outcomes) if beside.exists() else sat
        elif beside.exists():
            raise PlanError(f"{beside}: it decides nothing, and {path}, which does, is missing; write that, too")
    return exams


def _read(plan: PlannedStudy, corpus: str, path: Path) -> "Sitting":
    """The validation of a table, of the study's scorers with the study's settings."""
    from sumcurve.capabilities.exam.table import read_exam
    from sumcurve.settings.config import PlanError

    sat = read_exam(path)
    if sat.corpus not in {corpus, *(key.rpartition("/")[2] for key in plan.prepared)}:
        raise PlanError(
            f"{path}: validates metrics on {sat.corpus}, not on {corpus}, and a metric ranks where it is "
            f"validated; make one by `sumcurve validate-metric --study {plan.study} --of {corpus}`, or delete it"
        )
    validated = {name for name in plan.scorers if name in sat.settings and _agree(plan, path, name, sat.settings[name])}
    return replace(sat, outcomes={key: outcome for key, outcome in sat.outcomes.items() if key[0] in validated})


def _agree(plan: PlannedStudy, path: Path, scorer: str, settings: Mapping[str, Any]) -> bool:
    """Tell whether a scorer of the study was validated with the study's settings."""
    from sumcurve.settings.config import PlanError

    of_study = plan.scorers[scorer].settings
    known = of_study.model_dump(mode="json")
    for key in settings.keys() - type(of_study).model_fields.keys():
        raise PlanError(f"{path}: settings of {scorer} have {key!r}, no key of that scorer; {there_are(key, known)}")
    return type(of_study).of_specification(settings).model_dump(mode="json") == known


CAPABILITY = Exam()
