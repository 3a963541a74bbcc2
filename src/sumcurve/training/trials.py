"""The same budget of trials for every method: how the small settings were chosen, on validation records alone.

`config/trials.yaml` lists the trials; every method is trained with each of them on one fraction of one corpus, and
`config/trials.csv` keeps what came out. The test set is never read.
"""

import csv
import fcntl
import io
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from sumcurve.manifest import digest
from sumcurve.plan import Folder, Plan, PlanError, read_settings, refusal
from sumcurve.records import write_text
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
    corpora: Annotated[dict[str, Percent], Field(min_length=1)]  # and the percent of each that is trained on
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
    import torch  # in the processes that train, not in the one that waits

    from sumcurve.corpora.fraction import positions, read_words
    from sumcurve.corpora.store import Corpus
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.training.fit import fit
    from sumcurve.training.run import compute_clock, learner_of, salient_spans

    settings = read_settings(config / "trials.yaml", TrialsSettings)
    plan = Plan.read(config, settings.study)
    recipe = recipe_of(small(config, method), trial)
    fraction = _fraction(plan, corpus, settings.corpora[corpus], settings.seed)
    prepared = Corpus(home / "results" / fraction.specification["corpus"])
    train = prepared.part("train")
    drawn = positions(home / "results" / fraction.key, train, settings.seed)
    salient = None
    if getattr(recipe.model, "entity_attention", False):
        (entities,) = (
            folder
            for folder in plan.named("annotations", "entities")
            if folder.specification["corpus"] == fraction.specification["corpus"]
        )
        salient = salient_spans(home / "results" / entities.key, drawn)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    training, cpu = recipe.training, torch.device("cpu")
    lengths = plan.settings.corpora[corpus]
    learner = learner_of(
        {"source_tokens": lengths.source_tokens, "target_tokens": lengths.target_tokens, "seed": settings.seed},
        recipe,
        train[drawn],
        prepared.part("valid").first(training.valid_records),
        Vocabulary.from_counts(read_words(home / "results" / fraction.key), training.vocabulary, training.least_count),
        cpu,
        salient,
    )
    row = fit(learner, training, seed=settings.seed, clock=compute_clock(cpu), device=cpu).selected
    return {
        "method": method,
        "rate": trial.rate,
        "dropout": trial.dropout,
        "corpus": corpus,
        "records": len(drawn),
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
        "digest": trial_digest(recipe, corpus, settings),
    }


def small(config: Path, method: str) -> Recipe:
    """The method's small settings."""
    return read_settings(config / "methods" / f"{method}.yaml", MethodSettings).settings["small"]


def trial_digest(recipe: Recipe, corpus: str, settings: TrialsSettings) -> str:
    """What tells a trial from one under other settings."""
    return digest(
        {
            "model": recipe.model.model_dump(mode="json"),
            "training": recipe.training.model_dump(mode="json"),
            "corpus": corpus,
            "percent": settings.corpora[corpus],
            "seed": settings.seed,
        }
    )


def corpus_of(plan: Plan, recipe: Recipe, settings: TrialsSettings) -> str:
    """The first corpus of the trials that can serve the method."""
    for corpus in settings.corpora:
        if not refusal(recipe, plan.settings.corpora[corpus]):
            return corpus
    raise PlanError(
        f"no corpus of {list(settings.corpora)} can serve a model of kind {recipe.model.kind}; name another"
    )


def _fraction(plan: Plan, corpus: str, percent: int, seed: int) -> Folder:
    for folder in plan.named("corpora", "fraction"):
        told = folder.specification
        if (plan.corpus_name(told["corpus"]), told["percent"], told.get("seed", 1)) == (corpus, percent, seed):
            return folder
    raise PlanError(
        f"study {plan.study} has no {percent} % of {corpus} with seed {seed}; name one of its percents and seeds in "
        "trials.yaml"
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
        recipe = small(config, method)
        corpus = corpus_of(plan, recipe, settings)
        for trial in settings.trials:
            key = trial_digest(recipe_of(recipe, trial), corpus, settings)
            if (method, str(trial.rate), str(trial.dropout), key) not in there:
                waiting.append((method, corpus, trial))
    print(f"{len(waiting)} trials to go", flush=True)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(one_trial, config, home, *one) for one in waiting]
        for future in as_completed(running):
            row = future.result()
            _add(table, lock, row)
            print(f"{row['method']} rate {row['rate']} dropout {row['dropout']}: {row['rouge']}", flush=True)
