"""The tables of a study as data frames: one row per observation, units in column names, empty if undefined.

Scores are F1 in percent, called points below. Rows come in the order of `evidence.align`. Of the trained outputs,
`scores` and `searches` show every one; all other tables are for those of the corpus's common search.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.curves.variance import mean_score
from sumcurve.plan import Refused
from sumcurve.scores.comparison import paired_difference
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.cells import Variances, cell
from sumcurve.tables.evidence import Aligned, CorpusStatistics, Missing, groups

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
    "first_percent",
    "second_percent",
    "from_records",
    "to_records",
    "at_records",
    "up_to_records",
    "smallest_records",
    "largest_records",
    "cells",
    "degrees",
    "curves",
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
    return framed(
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
    return framed(rows, ("corpus", "outcome", "records", "share_percent"))


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
    return framed(rows, (*columns, "reason", "signature", "run"))


def missing(unfinished: Sequence[Missing]) -> pd.DataFrame:
    """The outputs that an unfinished study lacks, and the first folder that each still waits for."""
    columns = ("corpus", "method", "percent", "seed", "search", "folder")
    return framed([{name: getattr(one, name) for name in columns} for one in unfinished], columns)


def intervals(aligned: Sequence[Aligned], variances: Variances, settings: Bootstrap) -> pd.DataFrame:
    """Scores averaged over seeds with their intervals, and least and most over the seeds where several.

    `_low` and `_high` are of items and seeds together where the corpus has several seeds, else of items (`source` says
    which); `_items_low` and `_items_high` are of items alone. `empty` counts the summaries without a word, over all
    seeds.
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
        for index, metric in enumerate(METRICS):
            one = cell(group, index)
            estimate = mean_score(one, variances[output.corpus, metric], settings)
            row |= {metric: estimate.value, "source": "items and seeds" if estimate.seeds else "items"}
            for name, bounds in (("", estimate.bounds), ("_items", estimate.items)):
                low, high = bounds or (None, None)
                row |= {f"{metric}{name}_low": low, f"{metric}{name}_high": high}
            means = one.scores.mean(axis=1)
            several = len(group) > 1
            row |= {f"{metric}_least": means.min() if several else None}
            row |= {f"{metric}_most": means.max() if several else None}
        rows.append(row)
    ends = ("", "_low", "_high", "_items_low", "_items_high", "_least", "_most")
    measures = [f"{metric}{end}" for metric in METRICS for end in ends]
    return framed(rows, ("corpus", "method", "percent", "records", "seeds", "items", "empty", "source", *measures))


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
    return framed(rows, (*columns, "updates", "examples", "device", "lease"))


def methods(aligned: Sequence[Aligned], titles: Mapping[str, str]) -> pd.DataFrame:
    """What each method was at its largest fraction: its size, and what its training took and how it ended.

    Parameters are counts; updates, examples, epochs and seconds run up to the selected checkpoint and are means over
    seeds. `ended` names each phase, in order, with the reasons it ended for, and how many seeds where they disagree.
    """
    rows = []
    for group in largest(aligned):
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
    return framed(rows, columns)


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
    for group in largest([one for one in aligned if one.output.search == "common"]):
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
    return framed(rows, columns)


def _curve(group: Sequence[Aligned]) -> tuple[str, str, int | None]:
    return (group[0].output.corpus, group[0].output.method, group[0].output.percent)


def largest(aligned: Sequence[Aligned]) -> list[list[Aligned]]:
    """The seeds of every trained method at its largest fraction, by corpus and method."""
    last = {
        _curve(group)[:2]: group
        for group in groups(aligned)  # by rising percent
        if group[0].output.percent is not None
    }
    return list(last.values())


def _mean(group: Sequence[Aligned], index: int) -> np.ndarray:
    """Per-item scores of one metric averaged over seeds: [seeds, metrics, items] -> [items]"""
    return np.mean([one.scores[index] for one in group], axis=0)


def framed(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these columns, whole numbers as such, whatever some rows lack."""
    frame = pd.DataFrame(list(rows), columns=list(columns))
    types = {name: "Int64" for name in frame.columns if name in INTEGERS}
    types |= {name: "float" for name in frame.select_dtypes("number").columns if name not in INTEGERS}
    return frame.astype(types)
