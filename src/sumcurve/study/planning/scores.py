"""Folders of scores: one for every output of a corpus and every scorer that applies to it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.needs import Needing
from sumcurve.scores.references import NAME
from sumcurve.scores.scorer import Scorer, own_reference
from sumcurve.settings.config import PlanError
from sumcurve.sources.pinned import File
from sumcurve.store.records import RecordError
from sumcurve.study.folders import ScoreSpecification
from sumcurve.systems.rows import Scored


def plan_scores(plan: PlannedStudy, corpus: PlannedCorpus) -> None:
    """Plan scores for all rows of the corpus, and put their keys into the rows."""
    needed = {name: _plan_needs(plan, corpus, name, scorer) for name, scorer in plan.scorers.items()}
    outputs = [row.output for row in plan.rows if row.corpus == corpus.name]
    specifications = {key: folder.specification for key, folder in plan.folders.items()}
    placed: set[str] = {key for keys in plan.together.values() for key in keys}
    for place, row in enumerate(plan.rows):
        if row.corpus != corpus.name:
            continue
        scores: dict[str, str] = {}
        for name, scorer in plan.scorers.items():
            inputs, needs = scorer.inputs(row.output, outputs, specifications), needed[name]
            if inputs is None or needs is None:
                continue
            scores[name] = _plan_score(plan, corpus, row.output, name, scorer, {**needs, **inputs})
            if scores[name] not in placed:
                placed.add(scores[name])
                plan.together.setdefault(_group(row, name, scorer), []).append(scores[name])
        plan.rows[place] = replace(row, scores=scores)


def _plan_score(
    plan: PlannedStudy, corpus: PlannedCorpus, output: str, name: str, scorer: Scorer, inputs: Mapping[str, Any]
) -> str:
    """The key of one output's scores; `inputs` are folders, with the scorer's parameters for each."""
    given = scorer.files(plan.folders[output].name) if isinstance(scorer, ReadsFiles) else {}
    specification: ScoreSpecification = {
        "output": output,
        "corpus": corpus.prepared,
        "inputs": dict(inputs) | {str(file.sha256): what for file, what in given.items()},
        "scorer": name,
        "settings": scorer.settings.model_dump(mode="json"),
    }
    made_from = dict.fromkeys([output, corpus.prepared, *inputs])
    return plan.add("score", specification, made_from, given, output=plan.folders[output].stem, scorer=name)


def _group(row: Scored, name: str, scorer: Scorer) -> tuple[str, Literal["method", "scorer"], str]:
    """Group of scores that one process makes with a row's: all of the scorer, or all of the method at its size."""
    if isinstance(scorer, Needing) and scorer.together:
        return row.corpus, "scorer", name
    return row.corpus, "method", row.method if row.size is None else f"{row.method} {row.size}"


def _plan_needs(plan: PlannedStudy, corpus: PlannedCorpus, name: str, scorer: Scorer) -> dict[str, Any] | None:
    """Inputs of a scorer from a corpus beside outputs, by key, with their parameters; None where it does not apply.

    Of a part that is held out it reads the questions about it, and the systems trained on the corpus.
    """
    if not isinstance(scorer, Needing):
        return {}
    seen = corpus.seen or corpus
    try:
        needs = scorer.needs(seen.name, plan.settings)
    except RecordError as error:
        raise PlanError(f"{plan.where('scores', name)}: {error}") from None
    if needs is None:
        return None
    made: dict[str, str] = {}
    inputs = {}
    for need in needs:
        if not need.specification:
            made[need.kind] = plan.annotations(seen.prepared, need.kind)[0]
            inputs[plan.annotations(corpus.prepared, need.kind)[0]] = need.role
            continue
        of = {kind: made[kind] for kind in need.of}
        files = [File(sha256, path, shards=shards) for sha256, (path, shards) in need.files.items()]
        specification = {"corpus": seen.prepared, **of, **need.specification}
        key = plan.add(need.kind, specification, [seen.prepared, *of.values()], files, corpus=seen.name, **need.named)
        made.setdefault(need.kind, key)
        inputs[key] = need.role
    return inputs


def check_files(plan: PlannedStudy) -> None:
    """Raise PlanError where a scorer's files are of outputs that the study does not have."""
    outputs = {plan.folders[row.output].name for row in plan.rows}
    for name, scorer in plan.scorers.items():
        if isinstance(scorer, ReadsFiles):
            try:
                scorer.check(outputs)
            except RecordError as error:
                raise PlanError(f"{plan.where('scores', name)}: {error}") from None


def check_scorers(plan: PlannedStudy) -> None:
    """Raise PlanError for a scorer without any output of the study, and for a human without any comparison."""
    for name in plan.scorers:
        if plan.rows and not any(name in row.scores for row in plan.rows):
            raise PlanError(
                f"{plan.where('scores', name)}: nothing of this study is scored by {name}; leave it out, or give the "
                "study what it scores (docs/reference/scores.md)"
            )
    for row in plan.rows:
        if own_reference(plan.folders[row.output].specification) and NAME not in row.scores:
            raise PlanError(
                f"{plan.where('systems', row.method)}: who wrote a reference is scored by {NAME} alone; add "
                f"`{NAME}: {{}}` below the study's `scores:`"
            )
