"""Printed results of others, as they stand in papers, and beside them the study's best in columns that say so."""

from collections.abc import Sequence
from typing import Any

from sumcurve.capabilities.published.evidence import Published
from sumcurve.capabilities.published.settings import PublishedResult
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Name, Table

METRICS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeLsum": "ROUGE-Lsum"}
FIRST = "rouge1"  # the metric of our own best
RULES = {"mean": "mean", "best": "best", "first": "first", None: "first"}  # of our own, by what is printed
REFERENCES = {"mean": "mean over references", "best": "best reference", "first": "first reference"}
SECOND_HAND = "‖"  # beside a system
SECOND_HAND_NOTE = f"{SECOND_HAND} quoted at second hand; check before citing."


def table(results: Results) -> Table:
    """A row for every printed result, in the order of the study's file; scores are texts, as printed."""
    evidence = results.study.evidence.get("published")
    printed = evidence.results if isinstance(evidence, Published) else {}
    rows = [row for corpus, of_corpus in printed.items() for row in _rows(results, corpus, of_corpus)]
    shown = {name for row in rows for name in row}
    columns = [
        Column("corpus", "corpus"),
        Column("system", "printed elsewhere"),
        *(Column(metric, title if metric in shown else None) for metric, title in METRICS.items()),
        Column("parameters", "parameters" if "parameters" in shown else None, "count"),
        Column("records", "records", "count"),
        Column("rouge", "scorer"),
        Column("references", "references"),
        Column("source", "source"),
        Column("seen", None),
        Column("url", None),
        Column("comparable", None),
        Column("ours", "our best method" if "ours" in shown else None),
        Column("ours_records", None, "count"),
        Column("ours_references", "by" if "ours_references" in shown else None),
        Column(f"ours_{FIRST}", "its ROUGE-1, our scorer" if "ours" in shown else None, "number"),
    ]
    every = [(corpus, result) for corpus, of_corpus in printed.items() for result in of_corpus]
    notes = _notes(every, results, ours="ours" in shown)
    return Table("published", results.title("Results as printed elsewhere"), columns, rows, notes)


def _rows(results: Results, corpus: str, printed: Sequence[PublishedResult]) -> list[dict[str, Any]]:
    rows = []
    for result in printed:
        mark = "" if result.seen else f" {SECOND_HAND}"
        row: dict[str, Any] = {"corpus": corpus, "system": Name(result.system, result.system + mark)}
        row |= {str(metric): score for metric, score in result.scores.items()}
        row |= {"records": result.records, "rouge": result.rouge, "references": result.references}
        row |= {"parameters": result.parameters} if result.parameters else {}
        row |= {"source": result.source, "url": result.url, "comparable": result.comparable}
        row |= {"seen": "yes" if result.seen else "no"}
        if FIRST in result.scores:
            row |= _ours(results, corpus, RULES[result.references])
        rows.append(row)
    return rows


def _ours(results: Results, corpus: str, rule: str) -> dict[str, Any]:
    """The trained method with the best mean at its largest size; empty where no method has the metric.

    Where the study scores several references by every rule (scorer `references`), by the rule that is printed.
    """
    metrics = {metric.name for metric in results.metrics}
    metric = next((name for name in (f"{FIRST}_{rule}", FIRST) if name in metrics), None)
    if metric is None:
        return {}
    scored = [
        (results.estimate(corpus, metric, system.cell).mean, system)
        for system in results.largest(corpus).values()
        if results.scorer(metric) in system.scorers and results.counts(system, metric)
    ]
    if not scored:
        return {}
    mean, best = max(scored, key=lambda pair: pair[0])
    ours = {"ours": results.name(best), "ours_records": best.records, f"ours_{FIRST}": mean}
    return ours | ({} if metric == FIRST else {"ours_references": REFERENCES[rule]})


def _notes(printed: Sequence[tuple[str, PublishedResult]], results: Results, ours: bool) -> list[str]:
    several = len({corpus for corpus, _ in printed}) > 1
    comparable: dict[str, list[str]] = {}
    sources: dict[str, None] = {}
    for corpus, result in printed:
        comparable.setdefault(result.comparable, []).append(f"{corpus}: {result.system}" if several else result.system)
        sources[f"{result.source}: {result.url}"] = None
    return [
        "As printed, in the order of the study's file: neither ranked nor compared, in no test and no figure. Scorer "
        "and references: what the source says of them; –: it does not, or there is one reference. Records: –: all.",
        SECOND_HAND_NOTE if any(not result.seen for _, result in printed) else "",
        *(f"{', '.join(systems)}. {sentence}" for sentence, systems in comparable.items()),
        "Our best: the trained method with the best mean at its largest size, by this study's scorer and text; of "
        "several references by the rule that is printed, against the first where none is. The difference is no result."
        if ours
        else "",
        *sources,
        results.caveat,
    ]
