"""What people said of contrasts that a system failed to dodge, from the sheets that the capability `people` makes.

This module and table `contrast_people` alone import that capability: its protocol and its sheets are what was asked.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sumcurve.capabilities.contrasts.evidence import JudgedByPeople
from sumcurve.capabilities.contrasts.sets import Contrasted
from sumcurve.capabilities.people.answers import read_answers
from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG, PeopleError
from sumcurve.capabilities.people.results import results as people_results
from sumcurve.capabilities.people.sheets import read_key, sha256_of
from sumcurve.capabilities.people.texts import words
from sumcurve.settings.corpus import Judgements
from sumcurve.settings.study import Bootstrap
from sumcurve.store.manifest import sha256_file
from sumcurve.tables.evidence import EvidenceError


def judged_by_people(
    where: str,
    sheets: Judgements,
    prepared: str,
    contrasted: Sequence[Contrasted],
    runs: Mapping[str, tuple[str, int | None, int | None]],
    settings: Bootstrap,
) -> JudgedByPeople:
    """What people said of contrasts of a corpus, whose folder is called `prepared`.

    `runs` are those that were judged on the contrasts, by the names of their folders, each with method, records and
    seed. Raises EvidenceError, which begins with `where`, for files that are missing or others, and for sheets of other
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
    except PeopleError as error:
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
    return JudgedByPeople(*runs[key.system], len(annotators), people_results(answers, settings), sheets.judges)
