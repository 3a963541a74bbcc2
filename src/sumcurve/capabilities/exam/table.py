"""The table of a metric validation: rows, the outcome for a metric, and reading both back, without numpy for plans."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.files.errors import FileError
from sumcurve.files.sheet import read_sheet
from sumcurve.machine.numbers import finite
from sumcurve.scores.scorer import Claim
from sumcurve.settings.config import PlanError

Verdict = Literal["passed", "failed", "undecided", "not applicable", "shown"]
Outcomes = Mapping[tuple[str, str], str]  # by scorer and metric
OF_PEOPLE = ("people", "people_systems", "people_given_length")  # rows that take judgements by people
BY_TRAINED = "by outputs of trained methods"  # how a second outcome is called
KEY = ("corpus", "scorer", "settings", "metric", "claim")  # the columns before those of `Row`; settings are JSON


@dataclass(frozen=True)
class Sitting:
    """A finished validation: its corpus, settings by scorer, and the outcomes of their metrics.

    `trained` are outcomes by outputs of trained methods, where there are any, which decide nothing.
    """

    corpus: str
    settings: Mapping[str, Mapping[str, Any]]
    outcomes: Outcomes
    trained: Outcomes = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A row of the table: the statistic with its 95 % interval, p against the threshold, and the outcome (`verdict`).

    `p` is adjusted over the rows of the metric and corpus that are decided. `part` is a dose or a score of people.
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
    """Outcome of the validation of a metric in one line: it may rank where every applicable row is passed.

    A descriptive metric never ranks; its scores must still be repeatable. Since a share of copied words passes the rows
    on swapped and guessed texts, a metric of faithfulness must distinguish true texts from broken ones, too.
    """
    for verdict in ("failed", "undecided"):
        if names := [f"{row.row} {row.part}".strip() for row in rows if row.verdict == verdict]:
            return f"{verdict}: {', '.join(names)}"
    if claim == "description":
        return "describes: it does not rank"
    if claim == "faithfulness" and not any(row.row == "dodges" and row.verdict == "passed" for row in rows):
        return "undecided: dodges not tested (broken texts: --contrasts)"
    if not any(row.p is not None for row in rows):
        return "undecided: no row is applicable"
    return "passed"


def read_exam(path: Path) -> Sitting:
    """The validation of a table; the outcome of each metric is computed from the rows.

    PlanError names file, line and remedy of a table that is missing or invalid.
    """
    remedy = "write it with `sumcurve validate-metric`, or delete it"
    if not path.is_file():
        raise PlanError(f"{path} {'is a folder: name its exam.csv' if path.is_dir() else 'is missing'}; {remedy}")
    try:
        sheet = read_sheet(path)
    except FileError as error:
        raise PlanError(f"{error}; {remedy}") from error
    if sheet.guesses:
        raise PlanError(f"{sheet.guesses[0]} A study guesses nothing; {remedy}")
    rows: dict[tuple[str, str], list[Row]] = {}
    claims: dict[tuple[str, str], Claim] = {}
    corpora: dict[str, None] = {}
    settings: dict[str, dict[str, Any]] = {}
    needed = [*KEY, *(field.name for field in fields(Row)[:4]), "value", "p"]
    if lacking := sorted({*needed} - {*sheet.columns}):
        raise PlanError(
            f"{path}:1: no column {lacking[0]!r}; name an exam.csv; `sumcurve validate-metric --again` writes older "
            "ones anew"
        )
    for line in sheet.lines:
        cells = line.cells
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
            of_scorer = json.loads(cells["settings"])
            if not isinstance(of_scorer, dict):
                raise ValueError(f"settings {cells['settings']} are no JSON object")
            if p is not None and not 0 <= p <= 1:
                raise ValueError(f"{cells['metric']}, row {name} {row.part}".rstrip() + f": p {p:g} is not in [0, 1]")
            if settings.setdefault(cells["scorer"], of_scorer) != of_scorer:
                raise ValueError(f"{cells['scorer']} has other settings above")
        except (TypeError, ValueError, RecursionError) as error:
            raise PlanError(f"{line.place}: {error}; {remedy}") from error
        rows.setdefault(key, []).append(row)
        corpora[cells["corpus"]] = None
    if len(corpora) > 1:
        raise PlanError(f"{path}: several corpora ({', '.join(corpora)}); name the table of one")
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
    """Explain why no validation can have given this outcome; empty where one can."""
    rules = thresholds()
    rule = rules.rows[row.row]
    if row.threshold != rule.threshold:
        return f"threshold {row.threshold:g}, not {rule.threshold:g}, which thresholds.yaml has"
    applies = claim in rule.claims and (row.row not in OF_PEOPLE or claim in rules.people.get(row.part, ()))
    is_shown = row.row in PERTURBATIONS and float(row.part or rules.dose) != rules.dose
    is_sure = row.p is not None and row.p < rules.level
    allowed: tuple[str, ...] = ("undecided",)
    if row.value is None:  # of a metric that does not vary, or without texts
        allowed = ("failed", "undecided", "not applicable") if applies else ("not applicable",)
    elif not applies or is_shown:
        allowed = ("shown",) if applies else ("not applicable", "shown")
    elif is_sure or row.row == "repeats":
        above = row.value <= row.threshold if row.row == "repeats" else row.value > row.threshold
        allowed = ("passed",) if above else ("failed",)
    is_told = row.verdict != "not applicable" or not applies or row.why
    beside = f"value {row.value}, p {row.p} at threshold {row.threshold:g} give {' or '.join(allowed)}"
    return "" if row.verdict in allowed and is_told else f"{row.verdict}, but {beside}"


def _number(cell: str) -> float:
    """The finite number in a cell; ValueError for other text."""
    number = finite(cell)
    if number is None:
        raise ValueError(f"{cell!r} is no number")
    return number


def _one_of(words: Collection[Any], word: str) -> Any:
    """The word, which has to be one of these; ValueError."""
    if word not in words:
        raise ValueError(f"{word!r} is none of {', '.join(words)}")
    return word
