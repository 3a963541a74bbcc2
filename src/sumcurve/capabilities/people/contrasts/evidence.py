"""Evidence of human judgements of contrasts that a system failed to dodge (Kumar and Cheung 2019), from sheets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.contrasts.evidence import judged_systems, sheets_of
from sumcurve.capabilities.contrasts.planning import judged_folders
from sumcurve.capabilities.contrasts.sets import Contrasted, read
from sumcurve.capabilities.people.answers import read_answers
from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG
from sumcurve.capabilities.people.results import Results as Said
from sumcurve.capabilities.people.results import results as said_by
from sumcurve.capabilities.people.sheets import read_key, sha256_of
from sumcurve.capabilities.people.texts import words
from sumcurve.machine.arguments import CommandError
from sumcurve.settings.corpus import Judgements
from sumcurve.settings.study import Bootstrap
from sumcurve.store.manifest import sha256_file
from sumcurve.tables.evidence import Evidence, EvidenceError

if TYPE_CHECKING:
    from sumcurve.tables.results import Results


@dataclass(frozen=True)
class JudgedByPeople:
    """Human judgements of contrasts that one run failed to dodge: method, records and seed; by rule, and of all.

    `judges` names the annotators where they are not people.
    """

    method: str
    records: int | None
    seed: int | None
    annotators: int
    results: Said
    judges: str = ""


@dataclass(frozen=True)
class JudgedContrasts(Evidence):
    """Corpus and human judgements of every set of sheets about contrasts."""

    by_people: Sequence[tuple[str, JudgedByPeople]] = ()


def judged_contrasts(folders: Folders) -> JudgedContrasts:
    """Read those of every corpus with a scored output and sheets. Raises EvidenceError as `judged_by_people`."""
    plan, judged = folders.plan, list[tuple[str, JudgedByPeople]]()
    named = {plan.corpus_name(folder.specification["corpus"]) for folder in judged_folders(plan)}
    for corpus in sorted(named & {row.corpus for row, _ in folders.outputs}):
        if not (sheets := sheets_of(plan, corpus)):
            continue
        specification = judged_folders(plan, corpus)[0].specification
        contrasted = list(read(folders.results / specification["contrasts"]))
        runs: dict[str, tuple[str, int | None, int | None]] = {}
        for _, run, cell in judged_systems(folders, corpus):
            runs.setdefault(run, cell)
        where, prepared = f"study {plan.study}: {corpus}", specification["corpus"].split("/")[1]
        bootstrap = plan.settings.bootstrap
        judged += [(corpus, judged_by_people(where, of, prepared, contrasted, runs, bootstrap)) for of in sheets]
    return JudgedContrasts(judged)


def by_people(results: "Results") -> Sequence[tuple[str, JudgedByPeople]]:
    """Human judgements of a study's contrasts; empty where there are none."""
    evidence = results.study.evidence.get("people")
    return evidence.by_people if isinstance(evidence, JudgedContrasts) else ()


def judged_by_people(
    where: str,
    sheets: Judgements,
    prepared: str,
    contrasted: Sequence[Contrasted],
    runs: Mapping[str, tuple[str, int | None, int | None]],
    settings: Bootstrap,
) -> JudgedByPeople:
    """Read human judgements of contrasts of a corpus, whose folder is called `prepared`.

    `runs` are those that were judged on the contrasts, by the names of their folders, each with method, records and
    seed. Raises EvidenceError, which begins with `where`, for files that are missing or differ, and for sheets of other
    contrasts or another run.
    """
    for path, sha256 in ((sheets.key, sheets.key_sha256), (sheets.answers, sheets.answers_sha256)):
        observed = sha256_file(Path(path)) if Path(path).is_file() else None
        if observed != sha256:
            fault = f"has sha256 {observed}, not {sha256}" if observed else "is missing"
            raise EvidenceError(f"{where}: {path} {fault}; put it back, or write what is there into the study")
    try:
        key = read_key(Path(sheets.key))
        answers = read_answers([Path(sheets.answers)], key, partial=True)
    except CommandError as error:
        raise EvidenceError(f"{where}: {error}") from error
    if key.protocol is not KUMAR_CHEUNG:
        raise EvidenceError(
            f"{where}: {sheets.key} is of protocol {key.protocol.name}; name it below `scores: people:`"
        )
    if key.corpus not in ("", prepared):
        raise EvidenceError(
            f"{where}: {sheets.key} is of {key.corpus}, and this study has {prepared}; make sheets anew"
        )
    known = {(gold.item, sha256_of(words(contrast.sentences))) for gold in contrasted for contrast in gold.contrasts}
    for code, entry in key.entries.items():
        if (entry.id, entry.sha256) not in known:
            raise EvidenceError(
                f"{where}: {sheets.key}: code {code} is of no contrast of this study ({entry.id}); make sheets anew"
            )
    if key.system not in runs:
        raise EvidenceError(
            f"{where}: {sheets.key} is of what {key.system!r} failed to dodge, which is no run of this study that is "
            "judged; make sheets anew with --system and the name of one"
        )
    if not answers.given:
        raise EvidenceError(f"{where}: {sheets.answers} holds no answer; remove it from the study")
    annotators = {key.entries[code].annotator for code in answers.given}
    return JudgedByPeople(*runs[key.system], len(annotators), said_by(answers, settings), sheets.judges)
