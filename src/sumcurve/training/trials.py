"""The same budget of trials for every method: how the small form is chosen, on validation records alone.

`config/trials.yaml` lists the trials; a method is trained with each of them on one fraction of one corpus, and
`config/trials.csv` keeps what came out. The test set is never read.

There are two stages. The first trains the phases before the last (all, of a method of one phase) with each pair of rate
and dropout; the second trains the last phase with each of its rates, from the checkpoints of the best pair. Every trial
is trained with several seeds, each of which draws its own records, and a setting is chosen by its mean over seeds of
the number that training selects by (`history.Row.worth`, in percent). How far two seeds of a setting lie apart, and the
standard error of its mean, stand beside it: settings that differ by less were chosen by luck.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, variance
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from sumcurve import sums
from sumcurve.config import PlanError, read_method, read_settings
from sumcurve.locks import locked
from sumcurve.manifest import MANIFEST, digest
from sumcurve.plan import Plan, model_file, model_of, refusal
from sumcurve.records import read_csv, write_csv, write_text
from sumcurve.settings import Dropout, Form, Percent, Positive, Settings, SubwordSettings
from sumcurve.sums import Sums

COLUMNS = (
    "method",
    "stage",
    "rate",
    "dropout",
    "seed",
    "worth",
    "mean",  # of worth, over the seeds of this setting
    "difference",  # of worth, between the best and the worst seed of this setting
    "standard_error",  # of `mean`, by the variance between seeds of all settings of this stage
    "corpus",
    "records",
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
KEY = ("method", "stage", "rate", "dropout", "seed", "digest")

Rate = Annotated[float, Field(gt=0.0)]
Stage = Literal["first", "last"]


class Trial(Settings):
    """What one trial of the first stage puts into a method's small form."""

    rate: Rate
    """Of the first phase (and of FASTRL's extractor)."""
    dropout: Dropout
    """Of the whole model."""


class TrialsSettings(Settings):
    """The budget: every method gets all trials. A method goes to the first corpus whose targets it can serve."""

    study: str
    """Whose corpora the trials are trained on."""
    studies: Annotated[dict[str, str], Field(default_factory=dict)]
    """Of methods that are tried in another study, which has these corpora, too: a BART's, whose pretraining it says."""
    corpora: Annotated[dict[str, Percent], Field(min_length=1)]
    """The corpora, and the percent of each that is trained on."""
    percents: Annotated[dict[str, Percent], Field(default_factory=dict)]
    """Of methods that need more of any corpus."""
    seeds: Annotated[list[Positive], Field(min_length=2)]
    """Of every trial; each draws its own records."""
    first: Annotated[list[Trial], Field(min_length=1)]
    """Rate and dropout of the phases before the last."""
    last: Annotated[list[Rate], Field(min_length=1)]
    """Rates of a last phase, from the best of `first`."""
    tuned_with: Annotated[dict[str, str], Field(default_factory=dict)]
    """Twins, which share the settings of another method, their base."""
    sums: Sums = "native"
    """A choice among noisy trials is not worth what portable sums cost."""


@dataclass(frozen=True)
class Task:
    """One training: a method's trial with one seed. `rate` is of the phases that the stage trains."""

    method: str
    stage: Stage
    rate: float
    dropout: float
    seed: int
    corpus: str
    percent: int
    form: Form  # with the trial's settings
    data: str  # a digest of what the form is trained and validated on, and how
    digest: str  # of all that decides the outcome but the seed

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(str(getattr(self, name)) for name in KEY)


def form_with(form: Form, trial: Trial, last: float | None = None) -> Form:
    """`form` with the trial's rate in its first phases, the trial's dropout everywhere, and a rate in its last one.

    The only phase of a method is its first. Without `last` a last phase keeps its rate.
    """
    model = form.model.model_copy(update={"dropout": trial.dropout})
    if model.kind == "extract-rewrite":
        model = model.model_copy(update={"abstractor": model.abstractor.model_copy(update={"dropout": trial.dropout})})
    phases = list(form.training.phases)
    for index, phase in enumerate(phases):
        if index and index == len(phases) - 1:
            rate = last
        else:
            rate = trial.rate if index == 0 or phase.loss == "extraction" else None
        if rate is not None:
            phases[index] = phase.model_copy(update={"optimizer": phase.optimizer.model_copy(update={"rate": rate})})
    return form.model_copy(update={"model": model, "training": form.training.model_copy(update={"phases": phases})})


def small(config: Path, method: str) -> Form:
    """The method's small form."""
    return read_method(config / "methods" / f"{method}.yaml").forms["small"]


def settings_of(form: Form) -> tuple[float, float | None, float | None]:
    """What is tuned: the first phase's rate, the dropout (of a pretrained model None: its own), and the last phase's
    rate where there are several.
    """
    phases = form.training.phases
    last = phases[-1].optimizer.rate if len(phases) > 1 else None
    return phases[0].optimizer.rate, form.model.dropout, last


def corpus_of(plan: Plan, form: Form, settings: TrialsSettings) -> str:
    """The first corpus of the trials that can serve the method."""
    for corpus in settings.corpora:
        if not refusal(form, plan.settings.corpora[corpus]):
            return corpus
    raise PlanError(f"no corpus of {list(settings.corpora)} can serve a model of kind {form.model.kind}; name another")


def tasks(
    plan: Plan, settings: TrialsSettings, method: str, form: Form, stage: Stage, best: Trial | None = None
) -> list[Task]:
    """The trainings of a method's stage; `best` is the choice of the first, and needed for the last."""
    corpus = corpus_of(plan, form, settings)
    percent = settings.percents.get(method, settings.corpora[corpus])
    found = []
    several = len(form.training.phases) > 1
    if stage == "first":
        given = [(trial.rate, trial.dropout, form_with(form, trial)) for trial in settings.first]
        chosen = [(rate, dropout, one.before() if several else one) for rate, dropout, one in given]
    elif several and best is not None:
        chosen = [(rate, best.dropout, form_with(form, best, rate)) for rate in settings.last]
    else:
        chosen = []
    lengths = plan.settings.corpora[corpus]
    data = {
        "corpus": corpus,
        "percent": percent,
        "raw": lengths.raw.sha256,
        **lengths.raw.form_and_fields(),
        "prepare": lengths.prepare.model_dump(mode="json"),
        "split": lengths.split.model_dump(mode="json"),
        "source_tokens": lengths.source_tokens,
        "target_tokens": lengths.target_tokens,
        "validation": lengths.search.greedy().model_dump(mode="json"),
        "sums": settings.sums,
    }
    if form.model.kind == "bart":
        data["made_of"] = made_of(plan, method)
    for rate, dropout, one in chosen:
        told = {"model": model_of(one), "training": one.training.model_dump(mode="json"), **data}
        found += [
            Task(method, stage, rate, dropout, seed, corpus, percent, one, digest(data), digest(told))
            for seed in settings.seeds
        ]
    return found


def made_of(plan: Plan, method: str) -> dict[str, Any]:
    """What of a study's folders a BART is made of: its architecture, and keys of folders."""
    runs = (folder.specification for folder in plan.named("runs", "train"))
    told = next(one for one in runs if one["method"] == method)
    return {key: told[key] for key in ("architecture", "subwords", "pretrained", "outside") if key in told}


# --- the table


def read_rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    return read_csv(path)


def with_noise(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with mean, difference and standard error of their settings, in the table's order.

    The variance between seeds is pooled over a method's settings of a stage; a setting with one seed has none.
    """
    rows = sorted(rows, key=lambda one: (one["method"], one["stage"], *(float(one[name]) for name in KEY[2:5])))
    groups: dict[tuple[str, ...], dict[tuple[str, ...], list[float]]] = {}
    for row in rows:
        stage, setting = _place(row)
        groups.setdefault(stage, {}).setdefault(setting, []).append(float(row["worth"]))
    told = []
    for row in rows:
        stage, setting = _place(row)
        own = groups[stage][setting]
        spreads = [variance(others) for others in groups[stage].values() if len(others) > 1]
        noise = {"mean": round(fmean(own), 3), "difference": "", "standard_error": ""}
        if len(own) > 1:
            noise["difference"] = round(max(own) - min(own), 3)
            noise["standard_error"] = round(sqrt(fmean(spreads) / len(own)), 3)
        told.append({**row, **noise})
    return told


def _place(row: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (row["method"], row["stage"]), (str(row["rate"]), str(row["dropout"]), row["digest"])


def best_setting(rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Rate and dropout of the highest mean worth among the rows of one stage, then of the lowest mean NLL."""
    settings: dict[tuple[float, float], list[dict[str, Any]]] = {}
    for row in rows:
        settings.setdefault((float(row["rate"]), float(row["dropout"])), []).append(row)

    def mean(found: list[dict[str, Any]], name: str) -> float:
        return fmean(float(row[name]) for row in found)

    return max(settings, key=lambda one: (mean(settings[one], "worth"), -mean(settings[one], "nll")))


def chosen(
    plan: Plan, settings: TrialsSettings, method: str, form: Form, rows: Sequence[dict[str, Any]]
) -> tuple[float, float, float | None] | None:
    """What the finished trials of a method choose (see `settings_of`); None where one is missing.

    Rows of other settings than the present ones do not count.
    """
    first = _rows_of(tasks(plan, settings, method, form, "first"), rows)
    if first is None:
        return None
    rate, dropout = best_setting(first)
    last = tasks(plan, settings, method, form, "last", Trial(rate=rate, dropout=dropout))
    if not last:
        return rate, dropout, None
    found = _rows_of(last, rows)
    return None if found is None else (rate, dropout, best_setting(found)[0])


def _rows_of(wanted: Sequence[Task], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The rows of these trainings; None where one is missing."""
    there = {tuple(str(row[name]) for name in KEY): row for row in rows}
    found = [there.get(task.key) for task in wanted]
    return None if None in found else [row for row in found if row is not None]


def _add(path: Path, lock: Path, row: dict[str, Any]) -> None:
    """Put one row into the table, in place of one of the same trial and seed under older settings."""
    with locked(lock):
        place = [str(row[name]) for name in KEY[:-1]]
        rows: list[dict[str, Any]] = [
            *(old for old in read_rows(path) if [old[name] for name in KEY[:-1]] != place),
            {name: str(value) for name, value in row.items()},
        ]
        write_csv(path, COLUMNS, with_noise(rows))


# --- training


def one_trial(config: Path, home: Path, task: Task) -> dict[str, Any]:
    """Train once and return the row of the table.

    A last phase starts from the checkpoint that the first stage left in scratch; where it is gone, that is made again.
    """
    sums.apply(read_settings(config / "trials.yaml", TrialsSettings).sums)
    import torch  # in the processes that train, not in the one that waits

    from sumcurve.training.fit import Checkpoint, fit
    from sumcurve.training.run import compute_clock, read_state, write_state

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    cpu = torch.device("cpu")
    learner, records = _learner(config, home, task)
    training = task.form.training
    start = None
    if task.stage == "last":
        place = _checkpoint(home, task.form.before(), task)
        kept = read_state(place, print)
        if kept is None:
            one_trial(config, home, replace(task, stage="first", form=task.form.before()))
            kept = read_state(place, print)
        assert kept is not None
        start = Checkpoint(**kept)
    fitted = fit(learner, training, seed=task.seed, clock=compute_clock(cpu), device=cpu, start=start)
    row = fitted.selected
    if task.stage == "first":
        told = Checkpoint(
            fitted.weights, row.phase, row.update, row.updates, row.examples, row.epoch, row.seconds
        ).plain()
        write_state(_checkpoint(home, task.form, task), told)
    return {
        "method": task.method,
        "stage": task.stage,
        "rate": task.rate,
        "dropout": task.dropout,
        "seed": task.seed,
        "worth": round(100 * row.worth, 3),
        "corpus": task.corpus,
        "records": records,
        "rouge1": round(100 * row.rouge1, 3),
        "rouge2": round(100 * row.rouge2, 3),
        "rougeLsum": round(100 * row.rougeLsum, 3),
        "nll": round(row.nll, 4),
        "phase": row.phase,
        "updates": row.updates,
        "examples": row.examples,
        "seconds": round(row.seconds, 1),
        "digest": task.digest,
    }


def _checkpoint(home: Path, first: Form, task: Task) -> Path:
    """Where the checkpoint lies that the phases `first` end in."""
    told = {"recipe": first.model_dump(mode="json", exclude={"search"}), "data": task.data}
    return home / "scratch" / "trials" / f"{task.method}-s{task.seed}-{digest(told)}.pt"


def _learner(config: Path, home: Path, task: Task) -> tuple[Any, int]:
    """What the task trains, and on how many records."""
    import torch
    from safetensors.torch import load_file

    from sumcurve.corpora.fraction import is_written, positions, read_words, write_fraction
    from sumcurve.corpora.store import Corpus
    from sumcurve.models.bart import opened
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.training.run import learner_of, pretrained_learner, salient_spans, with_texts

    plan = plan_of(config, read_settings(config / "trials.yaml", TrialsSettings), task.method)
    (corpus,) = (one for one in plan.named("corpora", "corpus") if plan.corpus_name(one.key) == task.corpus)
    prepared = home / "results" / corpus.key
    if not prepared.is_dir():
        raise PlanError(f"{prepared} is not finished; `make trials` makes it first")
    train = Corpus(prepared).part("train")
    fraction = home / "scratch" / "trials" / f"{corpus.name}-{task.percent:03d}-s{task.seed}"
    with locked(home / "scratch" / "trials.lock"):
        if not is_written(fraction):
            fraction.mkdir(parents=True, exist_ok=True)
            write_fraction(train, task.percent, task.seed, fraction)
    drawn = positions(fraction, train, task.seed)
    training, lengths = task.form.training, plan.settings.corpora[task.corpus]
    told: dict[str, Any] = {
        "source_tokens": lengths.source_tokens,
        "target_tokens": lengths.target_tokens,
        "seed": task.seed,
    }
    search, cpu = lengths.search.greedy(), torch.device("cpu")
    valid = Corpus(prepared).part("valid").first(training.valid_records)
    if isinstance(settings := task.form.model, SubwordSettings):
        parts = with_texts(train, drawn), with_texts(Corpus(prepared).part("valid"), range(len(valid)))
        weights = None
        if settings.kind == "bart":
            made = made_of(plan, task.method)
            told["architecture"] = made.pop("architecture")
            folders = {name: _finished(home, plan, key) for name, key in made.items()}
            place, weights = folders["subwords"], folders.get("pretrained")
            if "outside" in folders:
                parts[0].extend(Corpus(folders["outside"]).part("train").with_text)
        else:
            file = model_file(task.form, config, task.method)
            assert file is not None
            place = file.at(home)
            if file.observed(home) != file.sha256:
                raise PlanError(
                    f"{place} is not what {file.pinned} pins; `python -m sumcurve fetch {place}` fetches it"
                )
        model = opened(settings, place, told, lengths.prepare.lower)
        if weights is not None:
            model.load(load_file(weights / "weights.safetensors"))
        return pretrained_learner(told, settings, model, *parts, cpu, search, print), len(drawn)
    salient = None
    if getattr(task.form.model, "entity_attention", False):
        (entities,) = (
            folder for folder in plan.named("annotations", "entities") if folder.specification["corpus"] == corpus.key
        )
        salient = salient_spans(home / "results" / entities.key, drawn)
    vocabulary = Vocabulary.from_counts(read_words(fraction), training.vocabulary, training.min_count)
    learner = learner_of(told, task.form, train[drawn], valid, vocabulary, cpu, salient, search)
    return learner, len(drawn)


def _finished(home: Path, plan: Plan, key: str) -> Path:
    """A finished folder of a plan; PlanError says how it is made."""
    folder = home / "results" / key
    if not folder.is_dir():
        raise PlanError(
            f"{folder} is not finished; make it first: `snakemake --config study={plan.study} -- {folder / MANIFEST}`"
        )
    return folder


def plan_of(config: Path, settings: TrialsSettings, method: str) -> Plan:
    """The plan of the study that a method is tried in."""
    return Plan.read(config, settings.studies.get(method, settings.study))


def run_trials(config: Path, home: Path, jobs: int, methods: list[str] | None = None, write: bool = False) -> None:
    """Train what `config/trials.csv` lacks, `jobs` at a time, and write a row when a trial ends.

    In the end print what the trials chose; with `write`, put it into the methods' files and those of their twins.
    """
    settings = read_settings(config / "trials.yaml", TrialsSettings)
    table, lock = config / "trials.csv", home / "scratch" / "trials.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    named = methods or [*Plan.read(config, settings.study).settings.methods, *settings.studies]
    bases = list(dict.fromkeys(settings.tuned_with.get(method, method) for method in named))
    forms = {method: small(config, method) for method in bases}
    plans = {method: plan_of(config, settings, method) for method in bases}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for stage in ("first", "last"):
            rows = read_rows(table)
            there = {tuple(row[name] for name in KEY) for row in rows}
            wanted: list[Task] = []
            for method, form in forms.items():
                best = None
                if stage == "last":
                    rate, dropout = best_setting(
                        _rows_of(tasks(plans[method], settings, method, form, "first"), rows) or []
                    )
                    best = Trial(rate=rate, dropout=dropout)
                wanted += tasks(plans[method], settings, method, form, stage, best)
            waiting = [task for task in wanted if task.key not in there]
            print(f"stage {stage}: {len(waiting)} of {len(wanted)} trials to go", flush=True)
            running = [pool.submit(one_trial, config, home, task) for task in waiting]
            for future in as_completed(running):
                row = future.result()
                _add(table, lock, row)
                told = "{method} {stage} rate {rate} dropout {dropout} seed {seed}: {worth} ({seconds} s)"
                print(told.format(**row), flush=True)
    rows = read_rows(table)
    for method, form in forms.items():
        found = chosen(plans[method], settings, method, form, rows)
        assert found is not None
        for one in (method, *(twin for twin, base in settings.tuned_with.items() if base == method)):
            place = config / "methods" / f"{one}.yaml"
            present = settings_of(small(config, one))
            if present == found:
                print(f"{place}: small has what the trials chose: {_told(found)}")
            elif write:
                write_settings(place, found)
                print(f"{place}: small now has {_told(found)}, no longer {_told(present)}")
            else:
                print(f"{place}: put {_told(found)} into small, in place of {_told(present)} (or run with --write)")


def _told(found: tuple[float, float | None, float | None]) -> str:
    dropout = "the model's own" if found[1] is None else f"{found[1]:g}"
    last = "" if found[2] is None else f", last phase's rate {found[2]:g}"
    return f"rate {found[0]:g}, dropout {dropout}{last}"


def write_settings(path: Path, found: tuple[float, float, float | None]) -> None:
    """Put what the trials chose (see `settings_of`) into the small form of a method's file; all else stays.

    Raises PlanError where a key is missing.
    """
    rate, dropout, last = found
    form = read_method(path).forms["small"]
    count = len(form.training.phases)
    values: dict[tuple[str, ...], float] = {("model", "dropout"): dropout}
    if form.model.kind == "extract-rewrite":
        values["model", "abstractor", "dropout"] = dropout
    for index, phase in enumerate(form.training.phases):
        at: tuple[str, ...] = ("phases", phase.name, "optimizer", "rate")
        if index and index == count - 1:
            assert last is not None
            values[at] = last
        elif index == 0 or phase.loss == "extraction":
            values[at] = rate
    text = path.read_text()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    nodes = {at: _node(path, root, ("forms", "small", *at)) for at in values}
    for at in sorted(values, key=lambda one: nodes[one].start_mark.index, reverse=True):
        text = text[: nodes[at].start_mark.index] + f"{values[at]:g}" + text[nodes[at].end_mark.index :]
    write_text(path, text)


def _node(path: Path, node: Any, location: tuple[str, ...]) -> yaml.Node:
    for part in location:
        found = [value for key, value in node.value if key.value == part]
        if not found:
            shown = ".".join(location)
            raise PlanError(f"{path}:{node.start_mark.line + 1}: {shown} is not there to be changed; write it out")
        (node,) = found
    assert isinstance(node, yaml.Node)
    return node
