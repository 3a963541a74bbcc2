"""The tables of a study as data frames: one row per observation, units in column names, empty if undefined.

Scores are F1 in percent, called points below. Rows come in the order of `evidence.align`. Of the trained outputs,
`scores` and `searches` show every one; all other tables are for those of the corpus's common search.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.curves import efficiency
from sumcurve.curves.efficiency import Point, Undefined
from sumcurve.plan import Refused
from sumcurve.scores import METRICS
from sumcurve.scores.comparison import bootstrap_means, holm, paired_difference, percentile_interval
from sumcurve.settings import Bootstrap
from sumcurve.tables.evidence import BLIND, TRIVIAL, Aligned, CorpusStatistics, Missing, Timing, groups

SHORT = {"rouge1": "1", "rouge2": "2", "rougeLsum": "L"}
PAIR = ["corpus", "method", "seed", "interval", "from_percent", "to_percent", "from_records", "to_records"]
QUOTIENTS: list[tuple[str, Callable[[Point, Point], float], str, float]] = [  # column, function, unit of t, factor
    ("Sigma_per_1000_records", efficiency.score_efficiency, "", 1000),
    ("Theta_seconds_per_1000_records", efficiency.cost_deficiency, "seconds", 1000),
    ("E_per_hour", efficiency.overall_efficiency, "seconds", 3600),
    ("sigma_percent", efficiency.relative_score_efficiency, "", 100),
    ("theta_percent", efficiency.relative_cost_deficiency, "seconds", 100),
    ("epsilon", efficiency.relative_overall_efficiency, "seconds", 1),
    ("theta_updates_percent", efficiency.relative_cost_deficiency, "updates", 100),
    ("theta_examples_percent", efficiency.relative_cost_deficiency, "examples", 100),
]
INTEGERS = [
    "percent",
    "records",
    "seed",
    "seeds",
    "items",
    "empty",
    "updates",
    "examples",
    "parameters",
    "vocabulary_parameters",
    "other_parameters",
    "threads",
    "vocabulary",
    "words_used",
    "wins",
    "ties",
    "losses",
    "from_percent",
    "to_percent",
    "from_records",
    "to_records",
]


def corpora(statistics: Sequence[CorpusStatistics]) -> pd.DataFrame:
    """Table 1 of Čano and Bojar (2020): records, mean lengths in tokens, vocabulary of every part and
    fraction.
    """
    rows = []
    for corpus in sorted(statistics, key=lambda one: one.corpus):
        for part in sorted(
            corpus.parts, key=lambda one: (["train", "valid", "test"].index(one.part), one.percent or 0)
        ):
            rows.append(
                {
                    "corpus": corpus.corpus,
                    "part": part.part,
                    "percent": part.percent,
                    "records": part.records,
                    "source_tokens": part.mean_source_tokens,
                    "target_tokens": part.mean_target_tokens,
                    "vocabulary": part.vocabulary,
                    "words_used": part.words_used,
                }
            )
    return _frame(
        rows,
        [
            "corpus",
            "part",
            "percent",
            "records",
            "source_tokens",
            "target_tokens",
            "vocabulary",
            "words_used",
        ],
    )


def dropped(statistics: Sequence[CorpusStatistics]) -> pd.DataFrame:
    """How many records of each corpus were read, kept, and dropped for which reason."""
    rows: list[dict[str, Any]] = []
    for corpus in sorted(statistics, key=lambda one: one.corpus):
        outcomes = {"read": corpus.read, "kept": corpus.kept}
        outcomes |= {f"dropped: {reason}": corpus.dropped[reason] for reason in sorted(corpus.dropped)}
        for outcome, records in outcomes.items():
            share = 100 * records / corpus.read if corpus.read else None
            rows.append({"corpus": corpus.corpus, "outcome": outcome, "records": records, "share_percent": share})
    return _frame(rows, ("corpus", "outcome", "records", "share_percent"))


def scores(aligned: Sequence[Aligned], refused: Sequence[Refused] = ()) -> pd.DataFrame:
    """Mean F1 in percent of every output, with its signature and the run behind it; of a refused method, the reason.

    `search` is empty for a trivial system, which searches nothing.
    """
    rows: list[dict[str, Any]] = []
    for one in aligned:
        means = one.scores.mean(axis=1)  # [metrics, items] -> [metrics]
        rows.append(
            {
                "corpus": one.output.corpus,
                "method": one.output.method,
                "percent": one.output.percent,
                "records": one.output.records,
                "seed": one.output.seed,
                "search": one.output.search,
                **dict(zip(METRICS, means, strict=True)),
                "items": len(one.output.ids),
                "reason": "",
                "signature": one.output.signature,
                "run": one.output.run,
            }
        )
    for corpus in dict.fromkeys([one.output.corpus for one in aligned] + [one.corpus for one in refused]):
        place = max([place for place, row in enumerate(rows, start=1) if row["corpus"] == corpus], default=len(rows))
        rows[place:place] = [
            {"corpus": corpus, "method": one.method, "reason": one.reason}
            for one in sorted(refused, key=lambda one: one.method)
            if one.corpus == corpus
        ]
    columns = ["corpus", "method", "percent", "records", "seed", "search", *METRICS, "items"]
    return _frame(rows, (*columns, "reason", "signature", "run"))


def missing(unfinished: Sequence[Missing]) -> pd.DataFrame:
    """The outputs that an unfinished study lacks, and the first folder that each still waits for."""
    columns = ("corpus", "method", "percent", "seed", "search", "folder")
    return _frame([{name: getattr(one, name) for name in columns} for one in unfinished], columns)


def intervals(aligned: Sequence[Aligned], settings: Bootstrap) -> pd.DataFrame:
    """Scores averaged over seeds: test-item interval, and least and most over the seeds where several.

    `empty` counts the summaries without a word, over all seeds.
    """
    rows = []
    for group in groups(aligned):
        output = group[0].output
        row: dict[str, Any] = {
            "corpus": output.corpus,
            "method": output.method,
            "percent": output.percent,
            "records": output.records,
            "seeds": len(group),
            "items": len(output.ids),
            "empty": sum(one.empty for one in group),
        }
        seeds = np.stack([one.scores for one in group])  # [seeds, metrics, items]
        resampled = bootstrap_means(seeds.mean(axis=0), settings)
        for index, metric in enumerate(METRICS):
            low, high = percentile_interval(resampled[index], settings)
            means = seeds[:, index].mean(axis=1)
            row |= {metric: means.mean(), f"{metric}_low": low, f"{metric}_high": high}
            several = len(group) > 1
            row |= {f"{metric}_least": means.min() if several else None}
            row |= {f"{metric}_most": means.max() if several else None}
        rows.append(row)
    measures = [f"{metric}{end}" for metric in METRICS for end in ("", "_low", "_high", "_least", "_most")]
    return _frame(rows, ("corpus", "method", "percent", "records", "seeds", "items", "empty", *measures))


def sigma(aligned: Sequence[Aligned], settings: Bootstrap) -> pd.DataFrame:
    """σ in percent with its test-item interval, and Σ in points per 1,000 records, on every interval."""
    rows = []
    for smaller, larger, row in _pairs(aligned):
        reasons: list[str] = []
        for index, metric in enumerate(METRICS):
            first, second = _point(smaller, index), _point(larger, index)
            name = SHORT[metric]
            value = _attempt(reasons, efficiency.relative_score_efficiency, first, second)
            try:
                low, high = efficiency.relative_score_efficiency_interval(
                    smaller.scores[index], larger.scores[index], first.samples, second.samples, settings
                )
            except Undefined as reason:
                reasons.append(str(reason))
                low = high = None  # type: ignore[assignment]
            row[f"sigma{name}_percent"] = _times(value, 100)
            row[f"sigma{name}_low"] = _times(low, 100)
            row[f"sigma{name}_high"] = _times(high, 100)
            row[f"Sigma{name}_per_1000_records"] = 1000 * efficiency.score_efficiency(first, second)
        row["reason"] = _join(reasons)
        rows.append(row)
    measures = [
        name
        for short in SHORT.values()
        for name in (
            f"sigma{short}_percent",
            f"sigma{short}_low",
            f"sigma{short}_high",
            f"Sigma{short}_per_1000_records",
        )
    ]
    return _frame(rows, (*PAIR, *measures, "reason"))


def timings(aligned: Sequence[Aligned]) -> pd.DataFrame:
    """Measured cost of every training: seconds to the selected checkpoint, in total, and by phase, in order."""
    columns = ("corpus", "method", "percent", "records", "seed", "seconds", "total_seconds", "phase_seconds")
    rows = []
    for one in aligned:
        output, timing = one.output, one.output.timing
        if timing is not None:
            rows.append(
                {
                    "corpus": output.corpus,
                    "method": output.method,
                    "percent": output.percent,
                    "records": output.records,
                    "seed": output.seed,
                    "seconds": timing.seconds,
                    "total_seconds": timing.total_seconds,
                    "phase_seconds": ";".join(f"{phase}={seconds:.4f}" for phase, seconds in timing.phases.items()),
                    "updates": timing.updates,
                    "examples": timing.examples,
                    "device": timing.device,
                    "lease": "exclusive" if timing.exclusive else "shared",
                }
            )
    return _frame(rows, (*columns, "updates", "examples", "device", "lease"))


def methods(aligned: Sequence[Aligned], titles: Mapping[str, str]) -> pd.DataFrame:
    """What each method was at its largest fraction: its size, and what its training took and how it ended.

    Parameters are counts; updates, examples, epochs and seconds run up to the selected checkpoint and are means over
    seeds. `ended` names each phase, in order, with the reasons it ended for, and how many seeds where they disagree.
    """
    rows = []
    for group in _largest(aligned):
        output, trainings = group[0].output, [one.output.training for one in group]
        timed = [one.output.timing for one in group if one.output.timing is not None]
        known = [training for training in trainings if training is not None]
        row: dict[str, Any] = {
            "corpus": output.corpus,
            "method": output.method,
            "title": titles.get(output.method, output.method),
            "percent": output.percent,
            "records": output.records,
            "seeds": len(group),
        }
        if known:
            size = known[0].parameters
            row |= {"parameters": size["total"], "vocabulary_parameters": size["vocabulary"]}
            row |= {"other_parameters": size["other"], "epochs": np.mean([one.epochs for one in known])}
            row |= {"precision": known[0].precision, "threads": known[0].threads}
            row |= {"ended": _endings([one.ended for one in known])}
        if timed:
            row |= {f"mean_{unit}": np.mean([getattr(one, unit) for one in timed]) for unit in ("updates", "examples")}
            row |= {"seconds": np.mean([one.seconds for one in timed])}
            row |= {"device": "+".join(sorted({one.device for one in timed}))}
        rows.append(row)
    columns = ["corpus", "method", "title", "percent", "records", "seeds"]
    columns += ["parameters", "vocabulary_parameters", "other_parameters"]
    columns += ["mean_updates", "mean_examples", "epochs", "seconds", "ended", "precision", "threads", "device"]
    return _frame(rows, columns)


def _endings(seeds: Sequence[Sequence[tuple[str, str]]]) -> str:
    """`phase: reason` of every phase; where seeds disagree, `phase: reason (2), other (1)`."""
    reasons: dict[str, Counter[str]] = {}
    for ended in seeds:
        for phase, reason in ended:
            reasons.setdefault(phase, Counter())[reason] += 1
    return "; ".join(
        f"{phase}: " + (", ".join(f"{reason} ({n})" for reason, n in found.items()) if len(found) > 1 else min(found))
        for phase, found in reasons.items()
    )


def searches(aligned: Sequence[Aligned], settings: Bootstrap, unfinished: Sequence[Missing] = ()) -> pd.DataFrame:
    """Each method at its largest fraction under the corpus's common search and under that of its paper.

    `difference` is paper minus common in points, paired over test items, scores averaged over seeds first, with its
    bootstrap interval. `reason` says why there is no second search.
    """
    paper = {_curve(group): group for group in groups(aligned) if group[0].output.search == "paper"}
    rows = []
    for group in _largest([one for one in aligned if one.output.search == "common"]):
        output, other = group[0].output, paper.get(_curve(group), [])
        seeds = {one.output.seed for one in group} & {one.output.seed for one in other}
        if seeds:  # of a study in part, those that have both
            group = [one for one in group if one.output.seed in seeds]
        other = [one for one in other if one.output.seed in seeds]
        row: dict[str, Any] = {
            "corpus": output.corpus,
            "method": output.method,
            "percent": output.percent,
            "common_search": output.search_signature,
            "paper_search": other[0].output.search_signature if other else "",
            "seeds": len(group),
            "items": len(output.ids),
        }
        for index, metric in enumerate(METRICS):
            row[f"{metric}_common"] = _mean(group, index).mean()
            if other:
                result = paired_difference(_mean(other, index), _mean(group, index), settings)
                row[f"{metric}_paper"] = _mean(other, index).mean()
                row[f"{metric}_difference"] = result.mean
                row |= {f"{metric}_low": result.low, f"{metric}_high": result.high}
        if not other:
            waits = any((one.corpus, one.method, one.search) == (*_curve(group)[:2], "paper") for one in unfinished)
            row["reason"] = "the paper's search is not finished" if waits else "the paper asks for no other search"
        rows.append({"reason": ""} | row)
    measures = [f"{metric}_{end}" for metric in METRICS for end in ("common", "paper", "difference", "low", "high")]
    columns = ["corpus", "method", "percent", "seeds", "items", *measures, "common_search", "paper_search", "reason"]
    return _frame(rows, columns)


def _curve(group: Sequence[Aligned]) -> tuple[str, str, int | None]:
    return (group[0].output.corpus, group[0].output.method, group[0].output.percent)


def _largest(aligned: Sequence[Aligned]) -> list[list[Aligned]]:
    """The seeds of every trained method at its largest fraction, by corpus and method."""
    last = {
        _curve(group)[:2]: group
        for group in groups(aligned)  # by rising percent
        if group[0].output.percent is not None
    }
    return list(last.values())


def clock_refusal(timings: Sequence[Timing]) -> str:
    """Why seconds of these trainings must not stand in one table; empty where they may."""
    devices = sorted({timing.device for timing in timings})
    if len(devices) > 1:
        return f"Θ, E, θ, ε refused: seconds of different devices do not compare ({', '.join(devices)})"
    shared = sum(not timing.exclusive for timing in timings)
    if shared:
        return f"Θ, E, θ, ε refused: {shared} of {len(timings)} trainings shared their device with other work"
    return ""


def efficiencies(aligned: Sequence[Aligned]) -> pd.DataFrame:
    """Σ, Θ, E, σ, θ, ε for every metric on every interval; θ in seconds, updates and examples side by side.

    Σ is in points per 1,000 records, Θ in seconds per 1,000 records, E in points per hour; `reason` says why
    a cell is empty. What depends on seconds is refused for the whole table when it would mix devices or
    shared leases.
    """
    refusal = clock_refusal([one.output.timing for one in aligned if one.output.timing is not None])
    rows = [
        {**row, "metric": metric, **_quotients(smaller, larger, index, refusal)}
        for smaller, larger, row in _pairs(aligned)
        for index, metric in enumerate(METRICS)
    ]
    return _frame(rows, (*PAIR, "metric", *(name for name, *_ in QUOTIENTS), "reason"))


def _quotients(smaller: Aligned, larger: Aligned, index: int, refusal: str) -> dict[str, Any]:
    reasons = [refusal] if refusal else []
    row: dict[str, Any] = {}
    for name, function, unit, factor in QUOTIENTS:
        if unit == "seconds" and refusal:
            row[name] = None
        else:
            first, second = (_point(one, index, unit) for one in (smaller, larger))
            row[name] = _times(_attempt(reasons, function, first, second), factor)
    return {**row, "reason": _join(reasons)}


def differences(aligned: Sequence[Aligned], settings: Bootstrap) -> pd.DataFrame:
    """Each method at its largest fraction against the best blind trivial system and its smallest fraction.

    Paired over test items, scores averaged over seeds first. The best blind system is the one with the
    highest mean on this very test set, chosen for each metric. `p_holm` corrects over all rows.
    """
    found = groups(aligned)
    rows: list[dict[str, Any]] = []
    for corpus in dict.fromkeys(one.output.corpus for one in aligned):
        here = [group for group in found if group[0].output.corpus == corpus]
        blind = [group for group in here if group[0].output.method in BLIND]
        curves: dict[str, list[list[Aligned]]] = {}
        for group in here:
            if group[0].output.method not in TRIVIAL:
                curves.setdefault(group[0].output.method, []).append(group)
        for curve in curves.values():
            for index, metric in enumerate(METRICS):
                rivals = [_best(blind, index)] if blind else []
                rivals += [curve[0]] if len(curve) > 1 else []
                for rival in rivals:
                    rows.append(_difference(curve[-1], rival, index, metric, settings))
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = p
    columns = [
        "corpus",
        "method",
        "percent",
        "against",
        "metric",
        "seeds",
        "items",
        "difference",
        "low",
        "high",
        "wins",
        "ties",
        "losses",
        "p",
        "p_holm",
    ]
    return _frame(rows, columns)


def _difference(
    group: list[Aligned], rival: list[Aligned], index: int, metric: str, settings: Bootstrap
) -> dict[str, Any]:
    output, other = group[0].output, rival[0].output
    result = paired_difference(_mean(group, index), _mean(rival, index), settings)
    return {
        "corpus": output.corpus,
        "method": output.method,
        "percent": output.percent,
        "against": other.method if other.percent is None else f"{other.method} {other.percent} %",
        "metric": metric,
        "seeds": len(group),
        "items": result.items,
        "difference": result.mean,
        "low": result.low,
        "high": result.high,
        "wins": result.wins,
        "ties": result.ties,
        "losses": result.losses,
        "p": result.p,
    }


def _best(found: Sequence[list[Aligned]], index: int) -> list[Aligned]:
    return max(found, key=lambda group: _mean(group, index).mean())


def _mean(group: Sequence[Aligned], index: int) -> np.ndarray:
    """Per-item scores of one metric averaged over seeds: [seeds, metrics, items] -> [items]"""
    return np.mean([one.scores[index] for one in group], axis=0)


def _pairs(aligned: Sequence[Aligned]) -> list[tuple[Aligned, Aligned, dict[str, Any]]]:
    """Both ends of every interval of every curve (corpus, method, seed), with the columns that name it."""
    curves: dict[tuple[str, str, int | None], dict[float, Aligned]] = {}
    for one in aligned:
        if one.output.records is not None:
            key = (one.output.corpus, one.output.method, one.output.seed)
            curves.setdefault(key, {})[one.output.records] = one
    pairs = []
    for (corpus, method, seed), curve in curves.items():
        for interval in efficiency.intervals([Point(records, 0.0) for records in curve]):
            smaller, larger = curve[interval.first.samples], curve[interval.second.samples]
            row = {
                "corpus": corpus,
                "method": method,
                "seed": seed,
                "interval": "whole" if interval.whole else "step",
                "from_percent": smaller.output.percent,
                "to_percent": larger.output.percent,
                "from_records": smaller.output.records,
                "to_records": larger.output.records,
            }
            pairs.append((smaller, larger, row))
    return pairs


def _point(one: Aligned, index: int, unit: str = "") -> Point:
    """A training as a point of its curve; `unit` names the field of its timing that is its cost."""
    cost = getattr(one.output.timing, unit) if unit and one.output.timing is not None else None
    return Point(one.output.records or 0, float(one.scores[index].mean()), cost)


def _attempt(
    reasons: list[str], function: Callable[[Point, Point], float], first: Point, second: Point
) -> float | None:
    try:
        return function(first, second)
    except Undefined as reason:
        reasons.append(str(reason))
        return None


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value


def _join(reasons: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(reasons))


def _frame(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=list(columns))
    types = {name: "Int64" for name in frame.columns if name in INTEGERS}
    types |= {name: "float" for name in frame.select_dtypes("number").columns if name not in INTEGERS}
    return frame.astype(types)
