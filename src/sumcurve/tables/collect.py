"""A study's finished folders, read into the evidence that its tables are made of."""

import csv
import json
from pathlib import Path
from typing import Any

from sumcurve import manifest
from sumcurve.manifest import ManifestError
from sumcurve.plan import Plan, Scored
from sumcurve.scores import METRICS
from sumcurve.tables.evidence import CorpusStatistics, PartStatistics, ScoredOutput, Timing


def _json(path: Path) -> Any:
    return json.loads(path.read_text())


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def timing(run: Path) -> Timing:
    """What a run cost up to its selected checkpoint, by its own files.

    Seconds in timings.csv are those of the path to each validation (see `training.history`): a later phase starts at
    its row of update 0, with the seconds of the checkpoint that it starts from.
    """
    facts = manifest.read(run)
    if facts is None:
        raise ManifestError(f"{run} is not finished; run the study first")
    training = _json(run / "training.json")
    selected = training["selected"]
    names = [entry["phase"] for entry in training["ended"]]
    rows = _rows(run / "timings.csv")
    first: dict[str, float] = {names[0]: 0.0}
    last: dict[str, float] = {}
    for row in rows:
        first.setdefault(row["phase"], float(row["seconds"]))
        last[row["phase"]] = float(row["seconds"])
        if row["phase"] == selected["phase"] and int(row["update"]) == selected["update"]:
            seconds = float(row["seconds"])
    ends = [*(first[name] for name in names[1:]), seconds]
    return Timing(
        seconds=seconds,
        total_seconds=sum(last[name] - first[name] for name in names),
        updates=training["updates"],
        examples=training["examples"],
        device=facts["facts"]["device"],
        exclusive=facts["facts"]["exclusive"],
        phases={name: end - first[name] for name, end in zip(names, ends, strict=True)},
    )


def scored_output(plan: Plan, results: Path, row: Scored) -> ScoredOutput:
    """One row of the score table with its per-item scores and what its training cost."""
    items = _rows(results / row.scores / "items.csv")
    scores = _json(results / row.scores / "scores.json")
    run = results / row.run if row.run else None
    return ScoredOutput(
        corpus=row.corpus,
        method=row.method,
        percent=row.percent,
        records=_json(run / "training.json")["records"] if run else None,
        seed=row.seed,
        run=(row.run or row.output).split("/")[1],
        signature=scores["signature"],
        ids=[item["id"] for item in items],
        items=[
            {metric: float(item[metric]) for metric in METRICS} | {"empty": item["empty"] == "True"} for item in items
        ],
        timing=timing(run) if run else None,
    )


def corpus_statistics(plan: Plan, results: Path, corpus: str) -> CorpusStatistics:
    """What became of a corpus, from the docstrings found or the records read to its parts and fractions."""
    (prepared,) = (folder for folder in plan.named("corpora", "corpus") if plan.corpus_name(folder.key) == corpus)
    statistics = _json(results / prepared.key / "statistics.json")
    read, dropped = statistics["read"], dict(statistics["dropped"])
    harvested = results / prepared.key / "harvest.json"
    if harvested.is_file():
        counts = _json(harvested)
        read = counts["found"]
        dropped = {f"docstring: {reason}": count for reason, count in counts["dropped"].items()} | dropped
    parts = [
        _part("train", _json(results / folder.key / "statistics.json"), folder.specification["percent"])
        for folder in plan.named("corpora", "fraction")
        if folder.specification["corpus"] == prepared.key
    ]
    parts += [_part(part, statistics["parts"][part], None) for part in ("valid", "test")]
    title = plan.settings.corpora[corpus].title
    return CorpusStatistics(corpus, title, read, statistics["kept"], dropped, parts)


def _part(part: str, statistics: dict[str, Any], percent: int | None) -> PartStatistics:
    return PartStatistics(
        part=part,
        percent=percent,
        records=statistics["records"],
        mean_source_tokens=statistics["mean_source_tokens"],
        mean_target_tokens=statistics["mean_target_tokens"],
        vocabulary=statistics["vocabulary"],
    )


def collect(plan: Plan, results: Path) -> tuple[list[CorpusStatistics], list[ScoredOutput]]:
    """All evidence of the study. Raises FileNotFoundError or ManifestError for a folder that is not finished."""
    statistics = [corpus_statistics(plan, results, corpus) for corpus in plan.settings.corpora]
    return statistics, [scored_output(plan, results, row) for row in plan.rows]
