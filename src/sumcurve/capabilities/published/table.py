"""Printed results of others, as in their papers, and beside them the study's best, in columns marked as the study's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sumcurve.capabilities.published.settings import PublishedResult
from sumcurve.tables.columns import shared
from sumcurve.tables.evidence import Evidence
from sumcurve.tables.report.facts import Corpus, Record
from sumcurve.tables.report.leaderboard import Printed
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Name, Table

METRICS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeLsum": "ROUGE-Lsum"}
FIRST = "rouge1"  # the metric of our own best
RULES = {"mean": "mean", "best": "best", "first": "first", None: "first"}  # of our own, by the printed rule
REFERENCES = {"mean": "mean over references", "best": "best reference", "first": "first reference"}
SECOND_HAND = "‖"  # beside a system
SECOND_HAND_NOTE = f"{SECOND_HAND} quoted at second hand; check before citing."


@dataclass(frozen=True)
class Published(Evidence):
    """Printed results by corpus, in the order of the study's file."""

    results: Mapping[str, Sequence[PublishedResult]]


def table(results: Results) -> Table:
    """A row for every printed result, in the order of the study's file; scores are texts, as printed."""
    evidence = results.study.evidence.get("published")
    printed = evidence.results if isinstance(evidence, Published) else {}
    rows = [row for corpus, of_corpus in printed.items() for row in _rows(results, corpus, of_corpus)]
    shown = {name for row in rows for name in row}
    columns = [
        *shared("corpus"),
        Column("system", "printed elsewhere"),
        *(Column(metric, title if metric in shown else None) for metric, title in METRICS.items()),
        Column("parameters", "parameters" if "parameters" in shown else None, "count"),
        *shared("records"),
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
    return Table("published", results.title("Results as printed elsewhere"), columns, rows, _notes(every, results))


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

    Where the study scores several references by every rule (scorer `references`), the mean is by the printed rule.
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


def _notes(printed: Sequence[tuple[str, PublishedResult]], results: Results) -> list[str]:
    several = len({corpus for corpus, _ in printed}) > 1
    comparable: dict[str, list[str]] = {}
    sources: dict[str, None] = {}
    for corpus, result in printed:
        comparable.setdefault(result.comparable, []).append(f"{corpus}: {result.system}" if several else result.system)
        sources[f"{result.source}: {result.url}"] = None
    return [
        "As printed: neither ranked nor compared.",
        SECOND_HAND_NOTE if any(not result.seen for _, result in printed) else "",
        *(f"{', '.join(systems)}. {sentence}" for sentence, systems in comparable.items()),
        *sources,
        results.notes.caveat,
    ]


def leaderboard_rows(corpus: Corpus) -> Iterator[Printed]:
    """The rows of table published that have the metric of a corpus's leaderboard, in its order."""
    for row in corpus.rows("published"):
        if row.get(corpus.column) is not None:
            yield _printed(row, str(row[corpus.column]))


def _printed(row: Record, score: str) -> Printed:
    second_hand = row["seen"] != "yes"
    scored = [row["rouge"], REFERENCES.get(row["references"], row["references"])]
    return Printed(
        row["system"] + (f" {SECOND_HAND}" if second_hand else ""),
        score,
        ", ".join(filter(None, scored)),
        row["source"],
        row["comparable"],
        row["parameters"],
        row["records"],
        [*_by_its_rule(row), *([SECOND_HAND_NOTE] if second_hand else [])],
    )


def _by_its_rule(row: Record) -> list[str]:
    """Sentence with our best by the rule of the printed row, where it differs from the leaderboard's."""
    rule = row.get("ours_references")
    if not rule or rule == REFERENCES["best"]:
        return []
    score = f"{row['ours_rouge1']:.1f}"
    by = f"Against the {rule}" if rule == REFERENCES["first"] else f"By the {rule}"
    return [f"{by} our ROUGE-1 is {score} at most."]
