"""The tables as people read them: frames of ready cells with headings, and the reasons for empty ones as notes."""

from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd

from sumcurve.scores.rouge import METRICS
from sumcurve.tables.comparisons import LEVEL, Place
from sumcurve.tables.efficiencies import SHORT, UNITS
from sumcurve.tables.figure import TITLES
from sumcurve.tables.table import NOTHING, bold, number, span


def _counts(values: Iterable[Any]) -> list[str]:
    return [number(value) for value in values]


def _words(values: Iterable[Any]) -> list[str]:
    return [NOTHING if pd.isna(value) else str(value) for value in values]


def _interval(row: Any) -> str:
    return f"{row.from_percent} → {row.to_percent}"


def corpora(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "part": frame.part,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "source": [number(value, 1) for value in frame.source_tokens],
            "target": [number(value, 1) for value in frame.target_tokens],
            "vocabulary": _counts(frame.vocabulary),
            "words used": _counts(frame.words_used),
        }
    )


def dropped(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "outcome": frame.outcome,
            "records": _counts(frame.records),
            "% of read": [number(value, 1) for value in frame.share_percent],
        }
    )


def scores(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    numbers, reasons = _number_reasons(frame)
    shown = pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "seed": _counts(frame.seed),
            "search": _words(frame.search),
            **{
                TITLES[metric]: [
                    _marked(cell, mark) for cell, mark in zip(_counts(frame[metric]), numbers, strict=True)
                ]
                for metric in METRICS
            },
            "items": _counts(frame["items"]),
        }
    )
    return shown, reasons


def intervals(frame: pd.DataFrame, best: Collection[Place]) -> pd.DataFrame:
    columns = {
        "corpus": list(frame.corpus),
        "method": list(frame.method),
        "%": _counts(frame.percent),
        "seeds": _counts(frame.seeds),
    }
    several = bool((frame.seeds > 1).any())
    for metric in METRICS:
        cells = [
            span(mean, low, high)
            for mean, low, high in zip(frame[metric], frame[f"{metric}_low"], frame[f"{metric}_high"], strict=True)
        ]
        columns[TITLES[metric]] = [
            bold(cell) if (row.corpus, row.percent, metric, row.method) in best else cell
            for cell, row in zip(cells, frame.itertuples(index=False), strict=True)
        ]
        if several:
            columns[f"{TITLES[metric]} over seeds"] = [
                NOTHING if pd.isna(least) else f"{number(least)} to {number(most)}"
                for least, most in zip(frame[f"{metric}_least"], frame[f"{metric}_most"], strict=True)
            ]
    return pd.DataFrame(columns | {"items": _counts(frame["items"]), "empty": _counts(frame["empty"])})


def seeds(frame: pd.DataFrame) -> pd.DataFrame:
    def cell(method: Any, records: Any, deviation: Any) -> str:
        return NOTHING if pd.isna(deviation) else f"{number(deviation)} ({method}, {number(records)} records)"

    ends = {
        end: [
            cell(*one) for one in zip(frame[f"{end}_method"], frame[f"{end}_records"], frame[f"{end}_sd"], strict=True)
        ]
        for end in ("smallest", "largest")
    }
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "metric": [TITLES[metric] for metric in frame.metric],
            "cells": _counts(frame.cells),
            "degrees": _counts(frame.degrees),
            "sd": _counts(frame.sd),
            "of models": _counts(frame.sd_of_models),
            **ends,
            "equal": [NOTHING if pd.isna(p) else _probability(p) for p in frame.equal_p],
            "r of methods": _counts(frame.between_methods),
            "r of sizes": _counts(frame.between_sizes),
        }
    )


def _by_interval(frame: pd.DataFrame) -> list[tuple[dict[str, str], list[Any]]]:
    """The rows of each interval of each curve, one for each metric, with the cells that name it."""
    found = []
    for _, rows in frame.groupby(["corpus", "method", "from_records", "to_records"], sort=False):
        first = rows.iloc[0]
        named = {
            "corpus": first.corpus,
            "method": first.method,
            "seeds": number(first.seeds),
            "interval (%)": f"{_interval(first)}{' ' + first.marks if first.marks else ''}",
        }
        found.append((named, list(rows.itertuples(index=False))))
    return found


def sigma(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The paper's layout: a row for each interval, a column for each metric."""
    marks, reasons = _number_reasons(frame)
    shown = []
    place = iter(marks)
    for named, rows in _by_interval(frame):
        cells = dict(named)
        noted = [next(place) for _ in rows]
        for sign, name in (("σ", "sigma_percent"), ("gap", "gap_closed_percent")):
            for row, mark in zip(rows, noted, strict=True):
                value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
                cells[f"{sign} {SHORT[row.metric]}"] = _marked(span(value, low, high, decimals=1), mark)
        for row in rows:
            cells[f"Σ {SHORT[row.metric]}"] = number(row.Sigma_per_1000_records, 2)
        shown.append(cells)
    names = [f"{sign} {SHORT[metric]}" for sign in ("σ", "gap", "Σ") for metric in METRICS]
    return pd.DataFrame(shown, columns=["corpus", "method", "seeds", "interval (%)", *names]), reasons


def stopping(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    marks, reasons = _number_reasons(frame)
    columns: dict[str, Any] = {
        "corpus": list(frame.corpus),
        "method": list(frame.method),
        "seeds": _counts(frame.seeds),
        "interval (%)": [_interval(row) for row in frame.itertuples(index=False)],
        "rule": list(frame.rule),
    }
    for unit in UNITS:
        ends = (frame[f"theta_{unit}_percent{end}"] for end in ("", "_low", "_high"))
        columns[f"θ {unit}"] = [
            _marked(span(value, low, high, decimals=1), mark)
            for value, low, high, mark in zip(*ends, marks, strict=True)
        ]
    return pd.DataFrame(columns), reasons


def comparisons(frame: pd.DataFrame) -> pd.DataFrame:
    """A matrix for each corpus and metric: row minus column."""
    names = list(dict.fromkeys([*frame["first"], *frame["second"]]))
    shown = []
    for (corpus, metric), rows in frame.groupby(["corpus", "metric"], sort=False):
        cells = {}
        for row in rows.itertuples(index=False):
            for one, other, sign in ((row.first, row.second, 1), (row.second, row.first, -1)):
                cell = number(sign * row.difference)
                cells[one, other] = bold(cell) if row.p_holm < LEVEL else cell
        for one in dict.fromkeys([*rows["first"], *rows["second"]]):
            named = {"corpus": corpus, "metric": TITLES[metric], "system": one}
            shown.append(named | {other: cells.get((one, other), "") for other in names})
    return pd.DataFrame(shown, columns=["corpus", "metric", "system", *names])


def families(frame: pd.DataFrame) -> pd.DataFrame:
    measures = {
        f"{title} ({held})": [number(value, 2) for value in frame[f"{name}_{held}"]]
        for held in (1, 2)
        for name, title in (("rmse", "RMSE"), ("log_score", "log score"), ("coverage", "coverage"))
    }
    return pd.DataFrame(
        {
            "family": frame.family,
            "formula": frame.formula,
            "weight": _counts(frame.weight),
            **measures,
            "curves": _counts(frame.curves),
        }
    )


def verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    ends = zip(frame.difference, frame.low, frame.high, strict=True)
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "metric": [TITLES[metric] for metric in frame.metric],
            "first": frame["first"],
            "second": frame["second"],
            "difference now": [span(*cells) for cells in ends],
            "verdict": frame.sentence,
        }
    )


def timings(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "seed": _counts(frame.seed),
            "seconds": [number(value, 1) for value in frame.seconds],
            "of them in": [_phases(cell) for cell in frame.phase_seconds],
            "total": [number(value, 1) for value in frame.total_seconds],
            "updates": _counts(frame.updates),
            "examples": _counts(frame.examples),
            "device": frame.device,
            "lease": frame.lease,
        }
    )


def _phases(cell: str) -> str:
    """`nll=1.2345;mixed=2.0000` -> `nll 1.2, mixed 2.0`."""
    pairs = [phase.rsplit("=", 1) for phase in cell.split(";") if phase]
    return ", ".join(f"{phase} {number(float(seconds), 1)}" for phase, seconds in pairs)


def methods(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "title": frame.title,
            "%": _counts(frame.percent),
            "seeds": _counts(frame.seeds),
            "parameters": _counts(frame.parameters),
            "vocabulary": _counts(frame.vocabulary_parameters),
            "other": _counts(frame.other_parameters),
            "updates": [number(value, 0) for value in frame.mean_updates],
            "examples": [number(value, 0) for value in frame.mean_examples],
            "epochs": [number(value, 1) for value in frame.epochs],
            "seconds": [number(value, 1) for value in frame.seconds],
            "ended": _words(frame.ended),
            "precision": _words(frame.precision),
            "threads": _counts(frame.threads),
            "device": _words(frame.device),
        }
    )


def searches(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    numbers, reasons = _number_reasons(frame)
    columns: dict[str, Any] = {"corpus": frame.corpus, "method": frame.method, "%": _counts(frame.percent)}
    for metric in METRICS:
        columns[TITLES[metric]] = _counts(frame[f"{metric}_common"])
        columns[f"{TITLES[metric]} paper"] = _counts(frame[f"{metric}_paper"])
        ends = zip(*(frame[f"{metric}_{end}"] for end in ("difference", "low", "high")), strict=True)
        columns[f"Δ {TITLES[metric]}"] = [span(*cells) for cells in ends]
    columns["paper's search"] = [
        _marked(search or NOTHING, mark) for search, mark in zip(frame.paper_search, numbers, strict=True)
    ]
    return pd.DataFrame(columns), reasons


def missing(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "seed": _counts(frame.seed),
            "search": _words(frame.search),
            "waits for": frame.folder,
        }
    )


def efficiency(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The layout of the paper's Tables 3 and 4: a row for each interval, σ and ε of every metric, θ once."""
    marks, reasons = _number_reasons(frame)
    place = iter(marks)
    shown = []
    for named, rows in _by_interval(frame):
        noted = [next(place) for _ in rows]
        cells = dict(named)
        for row in rows:
            cells[f"σ {SHORT[row.metric]}"] = number(row.sigma_percent)
        first, mark = rows[0], noted[0]
        cells["θ"] = _marked(span(first.theta_percent, first.theta_percent_low, first.theta_percent_high), mark)
        for row, mark in zip(rows, noted, strict=True):
            cells[f"ε {SHORT[row.metric]}"] = _marked(span(row.epsilon, row.epsilon_low, row.epsilon_high, 3), mark)
        cells["θ updates"] = number(first.theta_updates_percent)
        cells["θ examples"] = number(first.theta_examples_percent)
        cells["Σ 1"] = number(first.Sigma_per_1000_records, 2)
        cells["Θ"] = number(first.Theta_seconds_per_1000_records)
        cells["E 1"] = number(first.E_per_hour)
        shown.append(cells)
    names = [f"{sign} {SHORT[metric]}" for sign in ("σ", "ε") for metric in METRICS]
    columns = [*names[:3], "θ", *names[3:], "θ updates", "θ examples", "Σ 1", "Θ", "E 1"]
    return pd.DataFrame(shown, columns=["corpus", "method", "seeds", "interval (%)", *columns]), reasons


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    ends = zip(frame.difference, frame.low, frame.high, strict=True)
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "against": frame.against,
            "metric": [TITLES[metric] for metric in frame.metric],
            "difference": [span(*cells) for cells in ends],
            "wins": _counts(frame.wins),
            "ties": _counts(frame.ties),
            "losses": _counts(frame.losses),
            "p": [_probability(value) for value in frame.p],
            "p (Holm)": [_probability(value) for value in frame.p_holm],
        }
    )


def _probability(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _number_reasons(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """For every row the marks of its reasons, and one note for every reason."""
    every = list(dict.fromkeys(frame.reason))
    known = [reason for reason in every if reason]
    marks = [f" [{known.index(reason) + 1}]" if reason else "" for reason in frame.reason]
    return marks, [f"[{place}] {reason}." for place, reason in enumerate(known, start=1)]


def _marked(cell: str, mark: str) -> str:
    return cell + mark if cell == NOTHING else cell
