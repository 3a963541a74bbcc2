"""The table of an exam: its rows, what they say of a metric, and reading them back, without numpy for plans."""

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.machine.numbers import finite
from sumcurve.scores.scorer import Claim
from sumcurve.settings.config import PlanError

Verdict = Literal["passed", "failed", "undecided", "not applicable", "shown"]
Outcomes = Mapping[tuple[str, str], str]  # by scorer and metric
OF_PEOPLE = ("people", "people_systems", "people_given_length")  # rows that take judgements by people
KEY = ("corpus", "scorer", "settings", "metric", "claim")  # the columns before those of `Row`; settings are JSON


@dataclass(frozen=True)
class Sitting:
    """An exam as it was sat: its corpus, settings by scorer, and what it says of their metrics."""

    corpus: str
    settings: Mapping[str, Mapping[str, Any]]
    outcomes: Outcomes


@dataclass(frozen=True)
class Row:
    """A row of the table: the statistic with its 95 % interval, p against the threshold, and the verdict.

    `p` is adjusted over the rows of the metric and corpus that have a verdict. `part` is a dose or a score of people.
    """

    row: str
    part: str
    threshold: float
    verdict: Verdict
    why: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    systems: int = 0
    documents: int = 0


def outcome(rows: Sequence[Row], claim: Claim) -> str:
    """What the exam says of a metric in one line: it may rank where every applicable row is passed.

    One that describes ranks nowhere; it has to repeat all the same. A share of copied words notices what is swapped and
    guessed: one of faithfulness has to tell true texts from broken ones, too.
    """
    for verdict in ("failed", "undecided"):
        if names := [f"{row.row} {row.part}".strip() for row in rows if row.verdict == verdict]:
            return f"{verdict}: {', '.join(names)}"
    if claim == "description":
        return "describes: it does not rank"
    if claim == "faithfulness" and not any(row.row == "dodges" and row.verdict == "passed" for row in rows):
        return "undecided: dodges not sat (broken texts: --contrasts)"
    if not any(row.p is not None for row in rows):
        return "undecided: no row is applicable"
    return "passed"


def read_exam(path: Path) -> Sitting:
    """The exam of a table; what it says of each metric is computed from the rows.

    PlanError names file, line and remedy of a table that is missing, or is none of an exam.
    """
    remedy = "write it with `sumcurve exam`, or take `exam` out of the corpus"
    if not path.is_file():
        raise PlanError(f"{path} {'is a folder: name its exam.csv' if path.is_dir() else 'is missing'}; {remedy}")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # spreadsheets write a mark before UTF-8
    except UnicodeDecodeError as error:
        raise PlanError(f"{path}: no table of an exam, but other bytes (not UTF-8); {remedy}") from error
    rows: dict[tuple[str, str], list[Row]] = {}
    claims: dict[tuple[str, str], Claim] = {}
    corpora: dict[str, None] = {}
    settings: dict[str, dict[str, Any]] = {}
    reader = csv.DictReader(lines)
    needed = [*KEY, *(field.name for field in fields(Row)[:4]), "value", "p"]
    if lacking := sorted({*needed} - {*(reader.fieldnames or ())}):
        raise PlanError(
            f"{path}:1: no column {lacking[0]!r}; name an exam.csv; `sumcurve exam --again` writes older ones anew"
        )
    for cells in reader:
        try:
            verdict, claim = _one_of(get_args(Verdict), cells["verdict"]), _one_of(get_args(Claim), cells["claim"])
            p, value = (_number(cells[name]) if cells[name] else None for name in ("p", "value"))
            name, threshold = _one_of(thresholds().rows, cells["row"]), _number(cells["threshold"])
            row = Row(name, cells["part"], threshold, verdict, cells.get("why") or "", value=value, p=p)
            key = cells["scorer"], cells["metric"]
            if claims.setdefault(key, claim) != claim:
                raise ValueError(f"{cells['metric']} claims {claims[key]} above, here {claim}")
            if (name, row.part) in {(above.row, above.part) for above in rows.get(key, ())}:
                raise ValueError(f"{cells['metric']} has row {name} {row.part}".rstrip() + " above, too")
            if why := _contradiction(row, claim):
                raise ValueError(f"{cells['metric']}, row {name} {row.part}".rstrip() + f": {why}")
            of_scorer = dict(json.loads(cells["settings"]))
            if settings.setdefault(cells["scorer"], of_scorer) != of_scorer:
                raise ValueError(f"{cells['scorer']} has other settings above")
        except (TypeError, ValueError) as error:
            raise PlanError(f"{path}:{reader.line_num}: {error}; {remedy}") from error
        rows.setdefault(key, []).append(row)
        corpora[cells["corpus"]] = None
    if not rows:
        raise PlanError(f"{path}: no row; {remedy}")
    if len(corpora) > 1:
        raise PlanError(f"{path}: exams on several corpora ({', '.join(corpora)}); name the table of one")
    for (_, metric), of_metric in rows.items():
        if missing := [name for name in thresholds().rows if name not in {row.row for row in of_metric}]:
            raise PlanError(f"{path}: {metric} has no row {missing[0]!r}: the table is cut; {remedy}")
        doses = {row.row: [other.part for other in of_metric if other.row == row.row] for row in of_metric}
        dose = f"{thresholds().dose:g}"
        if missing := [name for name in PERTURBATIONS if doses[name] != [""] and dose not in doses[name]]:
            raise PlanError(f"{path}: {metric} has no row {missing[0]} {dose}: the table is cut; {remedy}")
    outcomes = {key: outcome(of_metric, claims[key]) for key, of_metric in rows.items()}
    return Sitting(next(iter(corpora)), settings, outcomes)


def _contradiction(row: Row, claim: Claim) -> str:
    """Why an exam cannot have given this verdict; empty where it can."""
    rules = thresholds()
    rule = rules.rows[row.row]
    decided = row.verdict in ("passed", "failed")
    sure = row.p is not None and row.p < rules.level
    if row.threshold != rule.threshold:
        return f"threshold {row.threshold:g}, not {rule.threshold:g}, which thresholds.yaml has"
    sits = claim in rule.claims and (row.row not in OF_PEOPLE or claim in rules.people.get(row.part, ()))
    if decided and not sits:
        return f"{row.verdict}, though a metric that claims {claim} does not sit it"
    if row.value is None:
        if row.verdict == "not applicable" and sits and not row.why:
            return "not applicable without a reason"
        return "passed without a value" if row.verdict == "passed" else ""
    passed = row.value <= row.threshold if row.row == "repeats" else row.value > row.threshold
    if decided and row.value != row.threshold and passed != (row.verdict == "passed"):
        return f"{row.verdict} with value {row.value:g} at threshold {row.threshold:g}"
    if decided and not sure and row.row != "repeats":
        return f"{row.verdict} with p {row.p}: it takes one below {rules.level:g}"
    if sure and not decided:
        return f"{row.verdict} with p {row.p}: it is passed or failed"
    if row.verdict == "shown" and (row.row not in PERTURBATIONS or float(row.part) == rules.dose):
        return "shown, though the verdict is of this row"
    return "not applicable, though it has a value" if row.verdict == "not applicable" and sits else ""


def _number(cell: str) -> float:
    """The finite number that a cell has; ValueError."""
    number = finite(cell)
    if number is None:
        raise ValueError(f"{cell!r} is no number")
    return number


def _one_of(words: Collection[Any], word: str) -> Any:
    """The word, which has to be one of these; ValueError."""
    if word not in words:
        raise ValueError(f"{word!r} is none of {', '.join(words)}")
    return word
