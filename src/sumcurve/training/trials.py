"""The same budget of trials for every method: how the small settings were chosen, on validation records alone.

`config/trials.yaml` lists the trials; every method is trained with each of them on one fraction of one corpus, and
`config/trials.csv` keeps what came out. The test set is never read.
"""

import csv
import fcntl
import io
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from sumcurve.manifest import digest
from sumcurve.plan import Plan, PlanError, read_settings
from sumcurve.records import read_records, write_text
from sumcurve.settings import Dropout, MethodSettings, Percent, Positive, Recipe, Settings

COLUMNS = (
    "method",
    "rate",
    "dropout",
    "corpus",
    "records",
    "seed",
    "rouge",
    "rouge1",
    "rouge2",
    "rougeLsum",
    "nll",
    "phase",
    "updates",
    "examples",
    "seconds",
    "digest",
)
KEY = ("method", "rate", "dropout", "digest")


class Trial(Settings):
    """What one trial puts into a method's small settings."""

    rate: Annotated[float, Field(gt=0.0)]  # of the first phase (and of FASTRL's extractor)
    dropout: Dropout


class TrialsSettings(Settings):
    """The budget: every method gets all trials. A method goes to the first corpus whose targets it can serve."""

    study: str
    corpora: Annotated[list[str], Field(min_length=1)]
    percent: Percent
    seed: Positive
    trials: Annotated[list[Trial], Field(min_length=1)]


def recipe_of(recipe: Recipe, trial: Trial) -> Recipe:
    """`recipe` with the trial's rate in its first phase and the trial's dropout everywhere."""
    model = recipe.model.model_copy(update={"dropout": trial.dropout})
    if model.kind == "extract-rewrite":
        model = model.model_copy(update={"abstractor": model.abstractor.model_copy(update={"dropout": trial.dropout})})
    phases = [
        phase.model_copy(update={"optimizer": phase.optimizer.model_copy(update={"rate": trial.rate})})
        if index == 0 or phase.loss == "extraction"
        else phase
        for index, phase in enumerate(recipe.training.phases)
    ]
    return recipe.model_copy(update={"model": model, "training": recipe.training.model_copy(update={"phases": phases})})


def read_rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def best_trial(rows: list[dict[str, str]], method: str) -> dict[str, str]:
    """The method's row with the highest validation ROUGE (geometric mean), then the lowest NLL."""
    found = [row for row in rows if row["method"] == method]
    return max(found, key=lambda row: (float(row["rouge"]), -float(row["nll"])))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _add(path: Path, lock: Path, row: dict[str, Any]) -> None:
    """Put one row into the table, in place of an older one of the same method and trial."""
    with _alone(lock):
        place = [str(row[name]) for name in KEY[:3]]
        rows: list[dict[str, Any]] = [
            *(old for old in read_rows(path) if [old[name] for name in KEY[:3]] != place),
            row,
        ]
        rows.sort(key=lambda one: (one["method"], float(one["rate"]), float(one["dropout"])))
        stream = io.StringIO()
        writer = csv.DictWriter(stream, fieldnames=COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(path, stream.getvalue())


def one_trial(config: Path, home: Path, method: str, corpus: str, trial: Trial) -> dict[str, Any]:
    """Train a method once and return its row of the table."""
    import torch

    from sumcurve.corpora.fraction import read_words
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.training.fit import fit
    from sumcurve.training.run import compute_clock, learner_of, salient_spans

    settings = read_settings(config / "trials.yaml", TrialsSettings)
    plan = Plan.read(config, settings.study)
    fraction = next(
        folder
        for folder in plan.named("corpora", "fraction")
        if folder.specification["percent"] == settings.percent
        and plan.corpus_name(folder.specification["corpus"]) == corpus
    )
    prepared = home / "results" / fraction.specification["corpus"]
    entities = [
        folder
        for folder in plan.named("annotations")
        if folder.specification["corpus"] == fraction.specification["corpus"] and "pipeline" in folder.specification
    ]
    recipe = recipe_of(_recipe(config, method), trial)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    counts = list(read_words(home / "results" / fraction.key))
    training = recipe.training
    size = int(_json(home / "results" / fraction.key / "statistics.json")["records"])
    corpus_settings = plan.settings.corpora[corpus]
    marks = getattr(recipe.model, "entity_attention", False)
    learner = learner_of(
        {
            "source_tokens": corpus_settings.source_tokens,
            "target_tokens": corpus_settings.target_tokens,
            "seed": settings.seed,
        },
        recipe,
        list(islice(read_records(prepared / "train.jsonl"), size)),
        list(islice(read_records(prepared / "valid.jsonl"), training.valid_records)),
        Vocabulary.from_counts(counts, training.vocabulary, training.least_count),
        torch.device("cpu"),
        salient_spans(home / "results" / entities[0].key) if marks else None,
    )
    fitted = fit(
        learner, training, seed=settings.seed, clock=compute_clock(torch.device("cpu")), device=torch.device("cpu")
    )
    row = fitted.selected
    return {
        "method": method,
        "rate": trial.rate,
        "dropout": trial.dropout,
        "corpus": corpus,
        "records": size,
        "seed": settings.seed,
        "rouge": round(100 * row.rouge, 3),
        "rouge1": round(100 * row.rouge1, 3),
        "rouge2": round(100 * row.rouge2, 3),
        "rougeLsum": round(100 * row.rougeLsum, 3),
        "nll": round(row.nll, 4),
        "phase": row.phase,
        "updates": row.updates,
        "examples": row.examples,
        "seconds": round(row.seconds, 1),
        "digest": _digest(recipe, fraction.key),
    }


def _recipe(config: Path, method: str) -> Recipe:
    return read_settings(config / "methods" / f"{method}.yaml", MethodSettings).settings["small"]


def _json(path: Path) -> Any:
    import json

    return json.loads(path.read_text())


def _digest(recipe: Recipe, fraction: str) -> str:
    return digest(
        {
            "model": recipe.model.model_dump(mode="json"),
            "training": recipe.training.model_dump(mode="json"),
            "fraction": fraction,
        }
    )


def run_trials(config: Path, home: Path, jobs: int, methods: list[str] | None = None) -> None:
    """Train what `config/trials.csv` lacks, `jobs` at a time, and write a row when a trial ends."""
    settings = read_settings(config / "trials.yaml", TrialsSettings)
    plan = Plan.read(config, settings.study)
    table, lock = config / "trials.csv", home / "scratch" / "trials.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    there = {tuple(row[name] for name in KEY) for row in read_rows(table)}
    waiting = []
    for method in methods or plan.settings.methods:
        corpus = next(
            (
                name
                for name in settings.corpora
                if not _refused(_recipe(config, method), plan.settings.corpora[name].target)
            ),
            None,
        )
        if corpus is None:
            raise PlanError(f"{config / 'trials.yaml'}: no corpus of {settings.corpora} serves method {method}")
        fraction = next(
            folder.key
            for folder in plan.named("corpora", "fraction")
            if folder.specification["percent"] == settings.percent
            and plan.corpus_name(folder.specification["corpus"]) == corpus
        )
        for trial in settings.trials:
            recipe = recipe_of(_recipe(config, method), trial)
            if (method, str(trial.rate), str(trial.dropout), _digest(recipe, fraction)) not in there:
                waiting.append((method, corpus, trial))
    print(f"{len(waiting)} trials to go", flush=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(one_trial, config, home, *one): one for one in waiting}
        for future in as_completed(running):
            row = future.result()
            _add(table, lock, row)
            print(f"{row['method']} rate {row['rate']} dropout {row['dropout']}: {row['rouge']}", flush=True)


def _refused(recipe: Recipe, target: str) -> bool:
    return recipe.model.kind == "extract-rewrite" and target == "titles"
