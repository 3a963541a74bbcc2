"""What an exam says of the metrics of a study: those that did not pass rank nobody."""

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.capabilities.exam.verdicts import Row, Verdict, outcome
from sumcurve.scores.scorer import Claim
from sumcurve.settings.config import PlanError
from sumcurve.tables.evidence import Evidence

if TYPE_CHECKING:
    from sumcurve.tables.results import Results

PASSED = "passed"
NOT_PASSED = "not passed in the exam"
NOT_SAT = f"{NOT_PASSED}: not sat"
Outcomes = Mapping[tuple[str, str], str]  # by scorer and metric


def read_outcomes(path: Path) -> Outcomes:
    """What the exam of a table says of each metric, computed from its rows.

    PlanError names file, line and remedy of a table that is missing, or is none of an exam.
    """
    remedy = "write it with `sumcurve exam`, or take `exam` out of the corpus"
    if not path.is_file():
        raise PlanError(f"{path} {'is a folder: name its exam.csv' if path.is_dir() else 'is missing'}; {remedy}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise PlanError(f"{path}: no table of an exam, but other bytes (not UTF-8); {remedy}") from error
    rows: dict[tuple[str, str], list[Row]] = {}
    claims: dict[tuple[str, str], Claim] = {}
    reader = csv.DictReader(lines)
    needed = ["scorer", "metric", "claim", *(field.name for field in fields(Row)[:4]), "p"]
    if lacking := sorted({*needed} - {*(reader.fieldnames or ())}):
        raise PlanError(f"{path}:1: no column {lacking[0]!r}; name the exam.csv that `sumcurve exam` wrote")
    for cells in reader:
        try:
            verdict, claim = _one_of(get_args(Verdict), cells["verdict"]), _one_of(get_args(Claim), cells["claim"])
            p, threshold = float(cells["p"]) if cells["p"] else None, float(cells["threshold"])
            row = Row(_one_of(thresholds().rows, cells["row"]), cells["part"], threshold, verdict, p=p)
        except (TypeError, ValueError) as error:
            raise PlanError(f"{path}:{reader.line_num}: {error}; {remedy}") from error
        key = cells["scorer"], cells["metric"]
        rows.setdefault(key, []).append(row)
        claims[key] = claim
    if not rows:
        raise PlanError(f"{path}: no row; {remedy}")
    for (_, metric), of_metric in rows.items():
        if missing := [name for name in thresholds().rows if name not in {row.row for row in of_metric}]:
            raise PlanError(f"{path}: {metric} has no row {missing[0]!r}: the table is cut; {remedy}")
    return {key: outcome(of_metric, claims[key]) for key, of_metric in rows.items()}


def _one_of(words: Collection[Any], word: str) -> Any:
    """The word, which has to be one of these; ValueError."""
    if word not in words:
        raise ValueError(f"{word!r} is none of {', '.join(words)}")
    return word


@dataclass(frozen=True)
class Exams(Evidence):
    """Outcomes by corpus, of corpora whose metrics sat an exam."""

    corpora: Mapping[str, Outcomes]

    def unread(self, results: "Results", corpus: str, metric: str) -> str:
        if corpus not in self.corpora:
            return ""
        verdict = self.corpora[corpus].get((results.scorer(metric), metric))
        return "" if verdict == PASSED else f"{NOT_PASSED}: {verdict}" if verdict else NOT_SAT

    def notes(self, results: "Results") -> list[str]:
        """A sentence for every metric that ranks nobody on a corpus."""
        return [
            f"{corpus}: {metric.title} ranks nobody: {why} (docs/reference/exam.md)."
            for corpus in self.corpora
            for metric in results.ranking
            if (why := self.unread(results, corpus, metric.name))
        ]
