"""A study's finished folders, read into the evidence that its tables are made of."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sumcurve.capabilities.capability import Folders
from sumcurve.corpora.fraction import read_statistics, read_words
from sumcurve.corpora.store import Corpus
from sumcurve.curves.stopping import read_history
from sumcurve.models.vocabulary import MARKS, Vocabulary
from sumcurve.scores.reading import TITLES
from sumcurve.scores.scorer import Metric
from sumcurve.settings.search import Search
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.store.records import read_csv, read_jsonl
from sumcurve.study.doors import CAPABILITIES, MODELS
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Folder, Plan
from sumcurve.systems.rows import Scored
from sumcurve.tables.evidence import (
    CorpusStatistics,
    EvidenceError,
    Example,
    Examples,
    Items,
    Missing,
    PartStatistics,
    ScoredOutput,
    Study,
    Timing,
    Training,
)

EXAMPLES = 40  # test items of a corpus that are drawn for reading


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _sealed(run: Path) -> dict[str, Any]:
    sealed = manifest.read(run)
    if sealed is None:
        raise ManifestError(f"{run} is not finished; run the study first")
    return sealed


def training(run: Path) -> Training:
    """Facts of a run's training and how it ended, by its own files."""
    training, sealed = _json(run / "training.json"), _sealed(run)
    settings = sealed["specification"].get("training", {})
    return Training(
        parameters=training["parameters"],
        epochs=training["epochs"],
        ended=[(entry["phase"], entry["reason"]) for entry in training["ended"]],
        precision=training["precision"],
        threads=sealed["facts"]["threads"],
        selected=(training["selected"]["phase"], training["selected"]["update"]),
        validated=0 if settings.get("valid_share") else settings.get("valid_records"),
    )


def timing(run: Path) -> Timing:
    """Cost of a run up to its selected checkpoint, by its own files.

    Seconds in timings.csv are those of the path to each validation (see `training.history`): a later phase starts at
    its row of update 0, with the seconds of the checkpoint that it starts from.
    """
    facts = _sealed(run)["facts"]
    training = _json(run / "training.json")
    selected = training["selected"]
    names = [entry["phase"] for entry in training["ended"]]
    rows = read_csv(run / "timings.csv")
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
        device=facts["device"],
        exclusive=facts["exclusive"],
        phases={name: end - first[name] for name, end in zip(names, ends, strict=True)},
    )


def timing_of_program(run: Path) -> Timing:
    """Cost of the training of an outside program, by its own files."""
    facts, (row,) = _sealed(run)["facts"], read_csv(run / "timings.csv")
    seconds = float(row["seconds"])
    return Timing(seconds, seconds, None, None, facts["device"], facts["exclusive"])


def scored_items(folder: Path) -> Items:
    """Per-item values with the metrics that the score folder describes."""
    scores = _json(folder / "scores.json")
    metrics = tuple(
        Metric(**metric | {"title": TITLES.get(metric["name"], metric["title"])}) for metric in scores["metrics"]
    )
    rows = read_csv(folder / "items.csv")
    known = {*scores["key"], "group", *(metric.name for metric in metrics)}
    return Items(
        metrics=metrics,
        ids=tuple(row["id"] for row in rows),
        groups=tuple(row["group"] for row in rows),
        values=np.array([[float(row[metric.name]) for row in rows] for metric in metrics]),
        signature=scores["signature"],
        counts=scores["counts"],
        further={column: tuple(row[column] for row in rows) for column in scores["key"] if column != "id"},
        references=scores["references"],
        details={column: tuple(row[column] for row in rows) for column in rows[0] if column not in known},
    )


def scored_output(plan: Plan, results: Path, row: Scored) -> ScoredOutput:
    """One output with its per-item values and the cost of its training."""
    run = results / row.run if row.run else None
    specification = plan.folder(row.output).specification
    search = Search.of_specification(specification["search"]).signature() if run and row.search != "own" else ""
    sealed = manifest.read(results / row.output) or {}
    measured = run if row.part in ("study", "after") else None  # the others are compared by their summaries alone
    trained = measured if row.search != "own" else None
    records = None
    if row.size is not None:
        records = _json(run / "training.json")["records"] if run else _records(results, row)
    cost = timing(trained) if trained else timing_of_program(measured) if measured else None
    return ScoredOutput(
        corpus=row.corpus,
        method=row.method,
        percent=row.percent,
        records=records,
        seed=row.seed,
        search=row.search,
        run=row.table_name,
        scores={scorer: scored_items(results / key) for scorer, key in row.scores.items()},
        search_signature=search,
        part=row.part,
        timing=cost,
        training=training(trained) if trained else None,
        history=read_history(trained) if trained else (),
        summaries=sealed.get("files", {}).get("summaries.jsonl", {}).get("sha256", ""),
        role=row.role,
    )


def _records(results: Path, row: Scored) -> int:
    """Number of records of the fraction that is stated for a file from outside."""
    assert row.fraction is not None
    return int(read_statistics(results / row.fraction)["records"])


def prepared_folders(plan: Plan) -> list[Folder]:
    """The folders of the corpora, and of the parts that some of them hold out."""
    return plan.named("corpora", "corpus") + plan.named("corpora", "unseen")


def corpus_statistics(plan: Plan, results: Path, prepared: Folder, fractions: list[Folder]) -> CorpusStatistics:
    """Statistics of a corpus, from the docstrings found or the records read to its parts and `fractions`."""
    corpus = plan.corpus_name(prepared.key)
    made = Corpus(results / prepared.key)
    statistics, counts = made.statistics, made.harvest
    read, dropped = statistics["read"], dict(statistics["dropped"])
    if counts is not None:
        read = counts["found"]
        dropped = {f"docstring: {reason}": count for reason, count in counts["dropped"].items()} | dropped
    parts = [
        replace(
            _part("train", read_statistics(results / folder.key), folder.specification.get("percent")),
            words_used=_words_used(plan, results, folder),
        )
        for folder in fractions
    ]
    parts += [_part(part, statistics["parts"][part], None) for part in statistics["parts"] if part != "train"]
    title = plan.corpora[corpus].title
    whole = statistics["parts"].get("train", {}).get("records")
    return CorpusStatistics(corpus, title, read, statistics["kept"], dropped, parts, whole)


def _words_used(plan: Plan, results: Path, fraction: Folder) -> int | None:
    """Number of a fraction's words in the vocabulary of a method trained on it that reads whole words; the most."""
    runs = {row.run: plan.methods[row.method] for row in plan.rows if row.run and row.method in plan.methods}
    forms = [form for run, form in runs.items() if fraction.key in plan.folder(run).inputs]
    limits = {
        (form.training.vocabulary, form.training.min_count) for form in forms if not MODELS[form.model.kind].reads_texts
    }
    known = [Vocabulary.from_counts(read_words(results / fraction.key), *limit) for limit in limits]
    return max((len(summary) - len(MARKS) for summary in known), default=None)


def _part(part: str, statistics: dict[str, Any], percent: int | None) -> PartStatistics:
    return PartStatistics(
        part=part,
        percent=percent,
        records=statistics["records"],
        mean_source_tokens=statistics["mean_source_tokens"],
        mean_target_tokens=statistics["mean_target_tokens"],
        vocabulary=statistics["vocabulary"],
    )


def examples(plan: Plan, results: Path, corpus: str, outputs: Sequence[tuple[Scored, ScoredOutput]]) -> Examples:
    """Test items of a corpus, drawn by the study's seed, with all systems' summaries under the common search."""
    settings, seed = plan.corpora[corpus], plan.settings.bootstrap.seed
    (prepared,) = (folder.key for folder in prepared_folders(plan) if plan.corpus_name(folder.key) == corpus)
    part = Corpus(results / prepared).part("test")
    ids = sorted(part.ids)
    drawn = random.Random(f"{seed} {corpus}").sample(ids, min(EXAMPLES, len(ids)))
    written: dict[str, dict[tuple[str, int | None], Sequence[str]]] = {name: {} for name in drawn}
    for row, output in sorted(outputs, key=lambda pair: pair[0].seed or 0):
        cell = output.method, output.records
        if row.corpus == corpus and row.part == "study" and row.search != "paper" and cell not in written[drawn[0]]:
            if "summaries.jsonl" in manifest.lacking(results / row.output):
                continue  # restored without them
            for line in read_jsonl(results / row.output / "summaries.jsonl"):
                if line["id"] in written:
                    written[line["id"]][cell] = line["summary"]
    sizes = {
        record.id: Example(
            record.id,
            text.source,
            [text.target, *text.references],
            record.source_tokens,
            written[record.id],
        )
        for record, text in part.with_text
        if record.id in written
    }
    return Examples(corpus, seed, settings.source_tokens, settings.search.max_tokens, [sizes[name] for name in drawn])


def collect(plan: Plan, results: Path, partial: bool = False) -> Study:
    """All evidence of the study; with `partial`, of the finished folders, with a list of the missing outputs.

    Raises ManifestError for a folder that is not finished, EvidenceError where no output is.
    """

    def finished(key: str) -> bool:
        return manifest.read(results / key) is not None

    for folder in plan.folders.values():
        needless = folder.step == "annotations" and not KINDS[folder.kind].tabled
        if not partial and not needless and not finished(folder.key):
            raise ManifestError(
                f"{results / folder.key} is not finished; run the study first, or make its tables with --partial"
            )
    rows, missing = [], []
    for row in plan.rows:
        way = [key for key in (row.fraction, row.run, row.output, *row.scores.values()) if key]
        first = next((key for key in way if not finished(key)), None)
        if first is None:
            rows.append(row)
        else:
            missing.append(Missing(row.corpus, row.method, row.percent, row.seed, row.search, first, row.records))
    for capability in CAPABILITIES.values():
        missing += capability.missing(Folders(plan, results, finished, lambda key: timing(results / key)))
    if not rows:
        first = f": {results / missing[0].folder} is not finished, nor is any other way to a score" if missing else ""
        raise EvidenceError(f"no output is finished and scored{first}; run the study first")
    if partial and not missing:
        return collect(plan, results)
    shown = {row.corpus for row in rows}
    statistics = []
    for prepared in prepared_folders(plan):
        if plan.corpus_name(prepared.key) in shown:
            fractions: dict[tuple[int | None, int | None], Folder] = {}  # of each size the first seed's
            for folder in plan.named("corpora", "fraction"):
                if folder.specification["corpus"] == prepared.key and finished(folder.key):
                    specification = folder.specification
                    fractions.setdefault((specification.get("percent"), specification.get("records")), folder)
            statistics.append(corpus_statistics(plan, results, prepared, list(fractions.values())))
    outputs = [scored_output(plan, results, row) for row in rows]
    both = list(zip(rows, outputs, strict=True))
    items = [examples(plan, results, corpus, both) for corpus in sorted(shown)]
    folders = Folders(plan, results, finished, lambda key: timing(results / key), both, items)
    return Study(
        title=plan.settings.title,
        form=plan.settings.form,
        statistics=statistics,
        outputs=outputs,
        titles=plan.titles,
        about=plan.about,
        systems=plan.system_titles,
        missing=missing,
        trained=sum(row.size is not None for row in plan.rows),
        scores=[key for row in rows for key in row.scores.values()],
        rank_by=plan.settings.rank_by,
        evidence={name: capability.evidence(folders) for name, capability in CAPABILITIES.items()},
        examples=items,
    )
