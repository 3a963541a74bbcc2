"""Every system's mean scores with intervals; bold where a method is best of its size beyond chance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.columns import shared
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import UNREAD, Results, metric_columns, units, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, number


def table(results: Results) -> Table:
    """A row for every system and size, scores averaged over seeds.

    `interval_covers` names the variation that all intervals of the row cover. `_least` and `_most` are over seeds where
    there are several.
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
            "selected": selected(system),
            "items": max(len(set(items.ids)) for items in scorers.values()),
            "groups": max(len(set(items.groups)) for items in scorers.values()),
            "empty": sum(empty(output) for output in system.outputs),
        }
        covers: dict[str, None] = {}
        for metric in results.metrics:
            scorer = results.scorer(metric.name)
            if scorer not in scorers:
                continue
            estimate = results.estimate(system.corpus, metric.name, cell)
            if estimate.low is not None:
                covers[estimate.covers] = None
            unread = results.unread(system.corpus, metric.name)
            bold = False
            if metric.ranks and not unread and system.records is not None:
                bold = results.ranking(system.corpus, metric.name, system.records).winner == system.method
            unranked = results.unranked(system.corpus, metric.name, cell)
            mark = unranked.mark if unranked else UNREAD if unread else ""
            row[metric.name] = value(estimate, bold=bold, mark=mark)
            means = by_seed(results, system, metric.name)
            if len(means) > 1:
                row |= {f"{metric.name}_least": min(means), f"{metric.name}_most": max(means)}
        rows.append(row | {"interval_covers": "; ".join(covers)})
    ends = [Column(f"{metric.name}_{end}", None, "number") for metric in results.metrics for end in ("least", "most")]
    columns = [
        *shared("corpus", "method"),
        *shared("role", shown=False),
        *shared("percent", "records", "seeds"),
        *metric_columns(results),
        *shared("interval_covers", "selected"),
        *shared("items", "groups", shown=False),
        Column("empty", "empty" if any(row["empty"] for row in rows) else None, "count"),
        *ends,
    ]
    notes = [
        f"{units(results.compared)}. In brackets: {results.share} intervals. {results.notes.seeds}",
        f"Bold: significantly better than every other method of its size. {_emptiness(rows)} {results.notes.caveat}",
        _items(rows),
        *not_trained(results),
        outside(results),
        *results.notes.without_interval,
        results.notes.cut_short,
        results.notes.marks,
        *results.notes.frames,
        *results.notes.identical,
        *signatures(results),
        *counted(results),
        *results.notes.corpora,
    ]
    return Table("scores", results.title("Mean scores on the test items, common search"), columns, rows, notes)


def by_seed(results: Results, system: System, metric: str) -> list[float]:
    """The mean scores of its seeds by a metric."""
    return [float(np.mean(items.of(metric))) for items in system.scored(results.scorer(metric))]


def empty(output: ScoredOutput) -> int:
    """Number of summaries without a word, by the scorer that counts most of them."""
    return max((int(items.counts.get("empty", 0)) for items in output.scores.values()), default=0)


def _emptiness(rows: Sequence[Mapping[str, Any]]) -> str:
    """Note on the column of empty summaries, or on its absence."""
    there = any(row["empty"] for row in rows)
    return "Empty: summaries without a word, of all seeds." if there else "No summary is without a word."


def _items(rows: Sequence[Mapping[str, Any]]) -> str:
    """State how many test items each corpus has, in how many groups."""
    counts = {row["corpus"]: (row["items"], row["groups"]) for row in rows}
    parts = [f"{corpus} {number(items)} in {number(groups)} groups" for corpus, (items, groups) in counts.items()]
    return f"Test items: {'; '.join(parts)}."


def selected(system: Any) -> str:
    """`phase update` of the scored checkpoints, where it is known; of several seeds each update."""
    updates_of: dict[str, list[int]] = {}
    for output in system.outputs:
        if output.training is not None:
            phase, update = output.training.selected
            updates_of.setdefault(phase, []).append(update)
    return "; ".join(f"{phase} {', '.join(map(str, updates))}" for phase, updates in updates_of.items())


def not_trained(results: Results) -> list[str]:
    """Describe the untrained systems, and state which of those that see the reference are no bounds."""
    here = dict.fromkeys(system.method for system in results.systems if system.role != "trained")
    titles = [f"{name}: {results.study.systems[name].rstrip('.')}" for name in here if name in results.study.systems]
    notes = [f"Not trained: {'; '.join(titles)}."] if titles else []
    for corpus in results.corpora:
        untrained = results.of(corpus, trained=False)
        if bounds := [system.method for system in untrained if system.role == "bound" and not system.beside]:
            notes.append(
                f"{corpus}: {' and '.join(bounds)} chose by the reference, whole sentences by ROUGE-1, cut to the "
                "summary's length afterwards: no bound."
            )
    return notes


def outside(results: Results) -> str:
    """List systems with a curve that are no methods of the study; empty without any."""
    here = dict.fromkeys(system.method for system in results.systems if system.outputs[0].search == "own")
    titles = [f"{name}: {results.study.titles[name].rstrip('.')}" for name in here]
    return f"Not trained by the study, with a search of their own: {'; '.join(titles)}." if titles else ""


def counted(results: Results) -> list[str]:
    """List each scorer's counts beside empty summaries, least to most over the outputs of a corpus."""
    counts_of: dict[tuple[str, str, str], list[float]] = {}
    for output in results.outputs:
        if output.part == "study" and output.search != "paper":
            for scorer, items in output.scores.items():
                for name, count in items.counts.items():
                    if name != "empty":
                        counts_of.setdefault((scorer, name, output.corpus), []).append(count)
    return [
        f"{scorer}, {name.replace('_', ' ')} ({corpus}): "
        + " to ".join(dict.fromkeys((f"{min(counts):.4g}", f"{max(counts):.4g}")))
        + "."
        for (scorer, name, corpus), counts in counts_of.items()
    ]


def signatures(results: Results) -> list[str]:
    """Every scorer's signature and the common search, each once, with its corpora."""
    corpora_of: dict[tuple[str, str], dict[str, None]] = {}
    for output in results.outputs:
        if output.part == "study" and output.search != "paper":
            for scorer, items in output.scores.items():
                corpora_of.setdefault((f"Signature of {scorer}", items.signature), {})[output.corpus] = None
            if output.search_signature:
                corpora_of.setdefault(("Common search", output.search_signature), {})[output.corpus] = None
    return [f"{what} ({', '.join(corpora)}): {signature}" for (what, signature), corpora in corpora_of.items()]
