"""Every system's mean scores with intervals; bold where a method is best of its size beyond chance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import LEVEL, UNREAD, Results, System, metric_columns, units, value
from sumcurve.tables.table import Column, Table, number


def table(results: Results) -> Table:
    """A row for every system and size, scores averaged over seeds.

    `interval_covers` names what all intervals of the row cover. `_least` and `_most` are over seeds where there are
    several.
    """
    rows: list[dict[str, Any]] = []
    for system in results.systems:
        scorers = system.scorers
        cell = system.cell
        untrained = 0 if system.method.endswith(ZERO_SHOT) else None  # a method at 0 records
        row: dict[str, Any] = {
            "corpus": system.corpus,
            "method": results.name(system),
            "role": system.role,
            "percent": system.percent or untrained,
            "records": system.records or untrained,
            "seeds": len(system.seeds) or None,
            "selected": selected(results, system),
            "items": max(len(set(items.ids)) for items in scorers.values()),
            "groups": max(len(set(items.groups)) for items in scorers.values()),
            "empty": sum(empty(one) for one in system.outputs),
        }
        covers: dict[str, None] = {}
        for metric in results.metrics:
            scorer = results.scorer(metric.name)
            if scorer not in scorers:
                continue
            found = results.estimate(system.corpus, metric.name, cell)
            if found.low is not None:
                covers[found.covers] = None
            asked = system.records if not metric.describes else None
            best = asked is not None and results.ahead(system.corpus, metric.name, asked) == cell
            mark = UNREAD if results.unread(system.corpus, metric.name) else ""
            unranked = results.unranked(system.corpus, metric.name, cell)
            row[metric.name] = value(found, bold=best, mark=unranked.mark if unranked else mark)
            means = by_seed(results, system, metric.name)
            if len(means) > 1:
                row |= {f"{metric.name}_least": min(means), f"{metric.name}_most": max(means)}
        rows.append(row | {"interval_covers": "; ".join(covers)})
    ends = [Column(f"{one.name}_{end}", None, "number") for one in results.metrics for end in ("least", "most")]
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("role", None),
        Column("percent", "%", "count"),
        Column("records", "records", "count"),
        Column("seeds", "seeds", "count"),
        *metric_columns(results),
        Column("interval_covers", "intervals cover"),
        Column("selected", "selected"),
        Column("items", None, "count"),
        Column("groups", None, "count"),
        Column("empty", "empty" if any(row["empty"] for row in rows) else None, "count"),
        *ends,
    ]
    notes = [
        f"{units(results.compared)}. In brackets: {results.share} intervals. {results.seeds_note}",
        f"Bold: ahead of every other method of its size in the paired test of table comparisons (family: all pairs of "
        f"that size and metric, {100 * LEVEL:g} %). Selected: the phase and update whose checkpoint is scored. "
        f"{_emptiness(rows)} {results.caveat}",
        _items(rows),
        *not_trained(results),
        outside(results),
        *results.without_interval,
        results.cut_short,
        results.marks_note,
        *results.frame_notes,
        *results.identical,
        *signatures(results),
        *counted(results),
        *results.corpora_notes,
    ]
    return Table("scores", results.title("Mean scores on the test items, common search"), columns, rows, notes)


def by_seed(results: Results, system: System, metric: str) -> list[float]:
    """The mean scores of its seeds by a metric."""
    known = system.scored(results.scorer(metric))
    place = [one.name for one in known[0].metrics].index(metric)
    return [float(np.mean(items.values[place])) for items in known]


def empty(output: ScoredOutput) -> int:
    """How many of its summaries have no word, by the scorer that counts most of them."""
    return max((int(items.counts.get("empty", 0)) for items in output.scores.values()), default=0)


def _emptiness(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the column says, or why there is none."""
    there = any(row["empty"] for row in rows)
    return "Empty: summaries without a word, of all seeds." if there else "No summary is without a word."


def _items(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many test items each corpus has, in how many groups."""
    found = {row["corpus"]: (row["items"], row["groups"]) for row in rows}
    parts = [f"{corpus} {number(items)} in {number(groups)} groups" for corpus, (items, groups) in found.items()]
    return f"Test items: {'; '.join(parts)}."


def selected(results: Results, system: Any) -> str:
    """`phase update` of the scored checkpoints, where it is known; of several seeds each update."""
    found: dict[str, list[int]] = {}
    for one in system.outputs:
        if one.training is not None:
            phase, update = one.training.selected
            found.setdefault(phase, []).append(update)
    return "; ".join(f"{phase} {', '.join(map(str, updates))}" for phase, updates in found.items())


def not_trained(results: Results) -> list[str]:
    """What the systems are that are not trained, and what those bound that see the reference."""
    here = dict.fromkeys(one.method for one in results.systems if one.role != "trained")
    told = [f"{name}: {results.study.systems[name].rstrip('.')}" for name in here if name in results.study.systems]
    notes = [f"Not trained: {'; '.join(told)}."] if told else []
    for corpus in results.corpora:
        untrained = results.of(corpus, trained=False)
        if bounds := [one.method for one in untrained if one.role == "bound" and not one.beside]:
            notes.append(
                f"{corpus}: {' and '.join(bounds)} chose by the reference, whole sentences by ROUGE-1, cut to the "
                "summary's length afterwards: no bound."
            )
    return notes


def outside(results: Results) -> str:
    """What makes a curve and is no method of the study's; empty without any."""
    here = dict.fromkeys(one.method for one in results.systems if one.outputs[0].search == "own")
    told = [f"{name}: {results.study.titles[name].rstrip('.')}" for name in here]
    return f"Trained outside, decoded by a search of their own: {'; '.join(told)}." if told else ""


def counted(results: Results) -> list[str]:
    """What each scorer counted beside empty summaries, least to most over the outputs of a corpus."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for one in results.outputs:
        if one.part == "study" and one.search != "paper":
            for scorer, items in one.scores.items():
                for name, count in items.counts.items():
                    if name != "empty":
                        found.setdefault((scorer, name, one.corpus), []).append(count)
    return [
        f"{scorer}, {name.replace('_', ' ')} ({corpus}): "
        + " to ".join(dict.fromkeys((f"{min(counts):.4g}", f"{max(counts):.4g}")))
        + "."
        for (scorer, name, corpus), counts in found.items()
    ]


def signatures(results: Results) -> list[str]:
    """Every scorer's signature and the common search, each once, with its corpora."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for one in results.outputs:
        if one.part == "study" and one.search != "paper":
            for scorer, items in one.scores.items():
                found.setdefault((f"Signature of {scorer}", items.signature), {})[one.corpus] = None
            if one.search_signature:
                found.setdefault(("Common search", one.search_signature), {})[one.corpus] = None
    return [f"{what} ({', '.join(corpora)}): {signature}" for (what, signature), corpora in found.items()]
