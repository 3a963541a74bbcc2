"""The same budget of trials for every method: how a form's settings are chosen, on validation records alone.

A file lists the trials, `config/trials.yaml` those of the small form; a method is trained with each of them on one
fraction of one corpus, and a table beside the file, `config/trials.csv`, keeps what came out. The test set is never
read.

There are two stages. The first trains the phases before the last (all, of a method of one phase) with each pair of rate
and dropout; the second, `last`, trains the last phase with each of its rates, from the checkpoints of the best pair.
Between them the best pairs may be trained once more, `again`, on more records, which then decide among these. A trial
is trained with each seed, which draws its own records, and a setting is chosen by its mean over seeds of the number
that training selects by (`history.Row.worth`, in percent). How far two seeds of a setting lie apart, and the standard
error of its mean, stand beside it: settings that differ by less were chosen by luck.

A method whose file says `trials` is tried with those pairs, at most as many. An outside program that trains is tried
with its own `trials`, likewise, in the first stage alone: it writes summaries of the validation records, which are
scored as those of every method are.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, fields, replace
from math import prod, sqrt
from pathlib import Path
from statistics import fmean, variance
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

import yaml
from pydantic import Field, model_validator

from sumcurve.machine import sums
from sumcurve.machine.locks import locked
from sumcurve.machine.sums import Sums
from sumcurve.machine.workers import worker_pool
from sumcurve.settings.base import Percent, Positive, Settings
from sumcurve.settings.config import PlanError, read, read_settings
from sumcurve.settings.forms import Form, Trial
from sumcurve.store.manifest import MANIFEST, digest, sha256_file
from sumcurve.store.records import read_csv, write_csv, write_text
from sumcurve.study.doors import MODELS
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from sumcurve.systems.outside import LearningSettings
from sumcurve.training.folders import TOKEN_IDS

if TYPE_CHECKING:
    from sumcurve.training.history import Row
    from sumcurve.training.run import Lessons

COLUMNS = (
    "method",
    "stage",
    "rate",
    "dropout",
    "settings",  # of a program, in place of rate and dropout
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
KEY = ("method", "stage", "rate", "dropout", "settings", "seed", "digest")

Rate = Annotated[float, Field(gt=0.0)]
Stage = Literal["first", "again", "last"]
STAGES: tuple[Stage, ...] = get_args(Stage)


class Again(Settings):
    """A stage between the first and the last: what was best among few records is compared on more."""

    records: Positive
    """That are trained on; more than in the first stage."""
    best: Annotated[int, Field(ge=2)]
    """How many settings of the first stage; of equal ones those that it would choose."""


class TrialsSettings(Settings):
    """The budget: every method gets all trials. A method goes to the first corpus whose targets it can serve."""

    study: str
    """Whose corpora the trials are trained on."""
    form: str = "small"
    """Whose settings are chosen."""
    studies: Annotated[dict[str, str], Field(default_factory=dict)]
    """Of methods that are tried in another study, which has these corpora, too: a BART's, whose pretraining it says."""
    corpora: Annotated[dict[str, Percent], Field(default_factory=dict)]
    """Corpora, and the percent of each that is trained on."""
    records: Annotated[dict[str, Positive], Field(default_factory=dict)]
    """Further corpora, and the number of records of each that are trained on."""
    percents: Annotated[dict[str, Percent], Field(default_factory=dict)]
    """Of methods that need more of any corpus; none with `records`."""
    seeds: Annotated[list[Positive], Field(min_length=1)]
    """Of every trial; each draws its own records. With percents two or more; with one there is no standard error."""
    first: Annotated[list[Trial], Field(min_length=1)]
    """Rate and dropout of the phases before the last."""
    again: Again | None = None
    """Which of these are trained once more, on more records."""
    last: Annotated[list[Rate], Field(min_length=1)]
    """Rates of a last phase, from the best of `first`, as `again` found it, where it was trained first."""
    tuned_with: Annotated[dict[str, str], Field(default_factory=dict)]
    """Twins, which share the settings of another method, their base."""
    sums: Sums = "native"
    """A choice among noisy trials is not worth what portable sums cost."""

    @model_validator(mode="after")
    def _sized(self) -> Self:
        if not self.corpora and not self.records:
            raise ValueError("no corpus: name one in `corpora`, with a percent, or in `records`, with a number")
        if both := sorted(self.corpora.keys() & self.records.keys()):
            raise ValueError(f"{both[0]} has a percent in `corpora` and a number in `records`; leave one out")
        if self.percents and self.records:
            raise ValueError("`percents` of methods say nothing of a corpus in `records`; leave one of both out")
        if self.corpora and len(self.seeds) < 2:
            raise ValueError(f"seeds: {self.seeds}: trials at percents have two seeds or more; add one")
        if self.again is not None and self.again.records <= max(self.records.values(), default=0):
            raise ValueError(f"again.records: {self.again.records}: say more than in `records`")
        return self

    def size(self, method: str, corpus: str, stage: Stage) -> dict[str, int]:
        """How much of a corpus a method's trial is trained on, as specifications say it."""
        if stage == "again":
            assert self.again is not None
            return {"records": self.again.records}
        if corpus in self.records:
            return {"records": self.records[corpus]}
        return {"percent": self.percents.get(method, self.corpora[corpus])}


@dataclass(frozen=True)
class Task:
    """One training: a method's trial with one seed. `rate` is of the phases that the stage trains."""

    method: str
    stage: Stage
    rate: float
    dropout: float
    seed: int
    corpus: str
    size: dict[str, int]  # of the corpus, as specifications say it
    form: Form  # with the trial's settings
    data: str  # a digest of what the form is trained and validated on, and how
    digest: str  # of all that decides the outcome but the seed
    settings: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(str(getattr(self, name)) for name in KEY)


@dataclass(frozen=True)
class ProgramTask:
    """One training of an outside program: a trial of the system `method` with one seed."""

    method: str
    seed: int
    corpus: str
    size: dict[str, int]
    program: LearningSettings  # with the trial's settings
    digest: str
    stage: Stage = "first"
    rate: str = ""
    dropout: str = ""

    @property
    def settings(self) -> str:
        return told_settings(self.program)

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(str(getattr(self, name)) for name in KEY)


def told_settings(program: LearningSettings) -> str:
    """A program's settings in one cell, in the order of their names."""
    return "; ".join(f"{name}={value}" for name, value in sorted(program.settings.items()))


def form_with(form: Form, trial: Trial, last: float | None = None) -> Form:
    """`form` with the trial's rate in its first phases, the trial's dropout everywhere, and a rate in its last one.

    The only phase of a method is its first. Without `last` a last phase keeps its rate.
    """
    model = form.model.with_dropout(trial.dropout)
    phases = list(form.training.phases)
    for index, phase in enumerate(phases):
        if index and index == len(phases) - 1:
            rate = last
        else:
            rate = trial.rate if index == 0 or phase.loss == "extraction" else None
        if rate is not None:
            phases[index] = phase.model_copy(update={"optimizer": phase.optimizer.model_copy(update={"rate": rate})})
    return form.model_copy(update={"model": model, "training": form.training.model_copy(update={"phases": phases})})


def form_of(config: Path, method: str, name: str = "small") -> Form:
    """A form of the method; PlanError where it has none of this name."""
    path = config / "methods" / f"{method}.yaml"
    forms = read_method(path).forms
    if name not in forms:
        raise PlanError(f"{path}: forms: no {name}, whose settings the trials choose; add it, or leave the method out")
    return forms[name]


def settings_of(form: Form) -> tuple[float, float | None, float | None]:
    """What is tuned: the first phase's rate, the dropout (of a pretrained model None: its own), and the last phase's
    rate where there are several.
    """
    phases = form.training.phases
    last = phases[-1].optimizer.rate if len(phases) > 1 else None
    return phases[0].optimizer.rate, dict(form.model)["dropout"], last


def corpus_of(plan: Plan, form: Form, settings: TrialsSettings) -> str:
    """The first corpus of the trials that can serve the method."""
    asked = [*settings.corpora, *settings.records]
    for corpus in asked:
        if not MODELS[form.model.kind].refusal(plan.settings.corpora[corpus]):
            return corpus
    raise PlanError(f"no corpus of {asked} can serve a model of kind {form.model.kind}; name another")


def tasks(
    plan: Plan, settings: TrialsSettings, method: str, form: Form, stage: Stage, best: Sequence[Trial] = ()
) -> list[Task]:
    """The trainings of a method's stage; `best` are the trials that `again` compares, or the one that the last starts
    from. A single one is not compared.
    """
    corpus = corpus_of(plan, form, settings)
    size = settings.size(method, corpus, stage)
    found = []
    several = len(form.training.phases) > 1
    chosen: list[tuple[float, float, Form]] = []
    if stage == "last":
        if several:
            chosen = [(rate, one.dropout, form_with(form, one, rate)) for one in best for rate in settings.last]
    elif stage == "first" or len(best) > 1:
        tried = first_trials(plan.config, settings, method) if stage == "first" else best
        given = [(trial.rate, trial.dropout, form_with(form, trial)) for trial in tried]
        chosen = [(rate, dropout, one.before() if several else one) for rate, dropout, one in given]
    data = _data(plan, settings, corpus, size)
    if made := made_of(plan, method):
        data["made_of"] = made
    for rate, dropout, one in chosen:
        model = one.model.decides()
        told = {"model": model, "training": one.training.model_dump(mode="json"), **data}
        found += [
            Task(method, stage, rate, dropout, seed, corpus, size, one, digest(data), digest(told))
            for seed in settings.seeds
        ]
    return found


def _data(plan: Plan, settings: TrialsSettings, corpus: str, size: dict[str, int]) -> dict[str, Any]:
    """What trials of a corpus are trained and validated on, and how."""
    lengths = plan.settings.corpora[corpus]
    return {
        "corpus": corpus,
        **size,
        "raw": lengths.raw.sha256,
        **lengths.raw.form_and_fields(),
        "prepare": lengths.prepare.model_dump(mode="json"),
        "split": lengths.split.model_dump(mode="json"),
        "source_tokens": lengths.source_tokens,
        "target_tokens": lengths.target_tokens,
        "validation": lengths.search.greedy().model_dump(mode="json"),
        "sums": settings.sums,
    }


def first_trials(config: Path, settings: TrialsSettings, method: str) -> list[Trial]:
    """The rates and dropouts that a method is tried with; PlanError for more than every method gets."""
    path = config / "methods" / f"{method}.yaml"
    own = read_method(path).trials
    if own is None:
        return settings.first
    if not 0 < len(own) <= len(settings.first):
        raise PlanError(
            f"{read(path).where('trials')}: {len(own)} trials, but every method gets {len(settings.first)} "
            f"(`first` of form {settings.form}'s trials); leave some out, or give all more"
        )
    return own


def programs_of(plan: Plan) -> dict[str, LearningSettings]:
    """The outside programs of the trials' study that say what to try."""
    return {
        name: told for name, (_, told) in plan.systems.items() if isinstance(told, LearningSettings) and told.trials
    }


def program_tasks(plan: Plan, settings: TrialsSettings, name: str, program: LearningSettings) -> list[ProgramTask]:
    """The trainings of a program, in one stage; PlanError for more trials than every method gets."""
    study = plan.config / "studies" / f"{plan.study}.yaml"
    if len(program.trials) > len(settings.first):
        raise PlanError(
            f"{study}: systems.{name}: {len(program.trials)} trials, but every method gets {len(settings.first)} "
            f"(`first` of form {settings.form}'s trials); leave some out, or give all more"
        )
    asked = [*settings.corpora, *settings.records]
    corpus = next((one for one in asked if program.corpora is None or one in program.corpora), None)
    if corpus is None:
        raise PlanError(f"{study}: systems.{name}: corpora has none of the trials' {', '.join(asked)}")
    size = settings.size(name, corpus, "first")
    data = _data(plan, settings, corpus, size)
    found = []
    for trial in program.trials:
        one = program.model_copy(update={"settings": trial})
        told = one.training() | plan.systems[name][0].specify(one, plan.settings.corpora[corpus])
        found += [ProgramTask(name, seed, corpus, size, one, digest({**told, **data})) for seed in settings.seeds]
    return found


def best_program(rows: Sequence[dict[str, Any]]) -> str:
    """The settings of the highest mean worth."""
    worths: dict[str, list[float]] = {}
    for row in rows:
        worths.setdefault(row["settings"], []).append(float(row["worth"]))
    return max(worths, key=lambda one: fmean(worths[one]))


def made_of(plan: Plan, method: str) -> dict[str, Any]:
    """What of a study's folders a BART is made of: its architecture, and keys of folders."""
    runs = (folder.specification for folder in plan.named("runs", "train"))
    told = next((one for one in runs if one["method"] == method), {})
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
    rows = sorted(rows, key=_order)
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


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    rate, dropout, seed = (float(row[name] or 0) for name in ("rate", "dropout", "seed"))
    return row["method"], STAGES.index(row["stage"]), rate, dropout, row["settings"], seed


def _place(row: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (row["method"], row["stage"]), (str(row["rate"]), str(row["dropout"]), row["digest"])


def ranked(rows: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """Rates and dropouts among the rows of one stage, by falling mean worth, then by rising mean NLL."""
    settings: dict[tuple[float, float], list[dict[str, Any]]] = {}
    for row in rows:
        settings.setdefault((float(row["rate"]), float(row["dropout"])), []).append(row)

    def mean(found: list[dict[str, Any]], name: str) -> float:
        return fmean(float(row[name]) for row in found)

    return sorted(settings, key=lambda one: (-mean(settings[one], "worth"), mean(settings[one], "nll")))


def best_setting(rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Rate and dropout of the highest mean worth among the rows of one stage, then of the lowest mean NLL."""
    return ranked(rows)[0]


def best_of_first(
    plan: Plan, settings: TrialsSettings, method: str, form: Form, rows: Sequence[dict[str, Any]]
) -> list[Trial] | None:
    """The trials of the first stage that `again` compares, or the best one without it; None where a row is missing."""
    found = _rows_of(tasks(plan, settings, method, form, "first"), rows)
    if found is None:
        return None
    count = 1 if settings.again is None else settings.again.best
    return [Trial(rate=rate, dropout=dropout) for rate, dropout in ranked(found)[:count]]


def best_before_last(
    plan: Plan, settings: TrialsSettings, method: str, form: Form, rows: Sequence[dict[str, Any]]
) -> Trial | None:
    """What the stages before the last chose; None where a row is missing."""
    best = best_of_first(plan, settings, method, form, rows)
    if best is None:
        return None
    if len(best) == 1:
        return best[0]
    found = _rows_of(tasks(plan, settings, method, form, "again", best), rows)
    if found is None:
        return None
    rate, dropout = best_setting(found)
    return Trial(rate=rate, dropout=dropout)


def chosen(
    plan: Plan, settings: TrialsSettings, method: str, form: Form, rows: Sequence[dict[str, Any]]
) -> tuple[float, float, float | None] | None:
    """What the finished trials of a method choose (see `settings_of`); None where one is missing.

    Rows of other settings than the present ones do not count.
    """
    best = best_before_last(plan, settings, method, form, rows)
    if best is None:
        return None
    last = tasks(plan, settings, method, form, "last", [best])
    if not last:
        return best.rate, best.dropout, None
    found = _rows_of(last, rows)
    return None if found is None else (best.rate, best.dropout, best_setting(found)[0])


def _rows_of(wanted: Sequence[Task | ProgramTask], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
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


def one_trial(config: Path, home: Path, settings: TrialsSettings, task: Task) -> dict[str, Any]:
    """Train once and return the row of the table.

    A last phase starts from the checkpoint that the first stage left in scratch; where it is gone, that is made again.
    """
    sums.apply(settings.sums)
    import torch  # in the processes that train, not in the one that waits

    from sumcurve.training.fit import Checkpoint
    from sumcurve.training.run import read_state, write_state

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    family, lessons = MODELS[task.form.model.kind], _lessons(config, home, settings, task)
    start = None
    if task.stage == "last":
        place = _checkpoint(home, task.form.before(), task)
        keys = {setting.name for setting in fields(Checkpoint)}
        kept = read_state(place, print, keys)
        if kept is None:
            one_trial(config, home, settings, replace(task, stage="first", form=task.form.before()))
            kept = read_state(place, print, keys)
        assert kept is not None
        start = Checkpoint(**kept)
    scratch = home / "scratch" / "trials" / f"trial-{task.method}-{task.digest}-s{task.seed}"
    fitted = family.trial(lessons, scratch, start)
    row = fitted.selected
    if task.stage == "first":
        told = Checkpoint(
            fitted.weights, row.phase, row.update, row.updates, row.examples, row.epoch, row.seconds
        ).plain()
        write_state(_checkpoint(home, task.form, task), told)
    return _row(task, row, len(lessons.drawn))


def _row(task: Task, row: "Row", records: int) -> dict[str, Any]:
    """The table's, of a training on so many records that selected this row of its History."""
    return {
        "method": task.method,
        "stage": task.stage,
        "rate": task.rate,
        "dropout": task.dropout,
        "settings": "",
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


def one_program_trial(config: Path, home: Path, settings: TrialsSettings, task: ProgramTask) -> dict[str, Any]:
    """Train a program once, let it summarize the validation records, and return the row of the table."""
    from sumcurve.corpora.store import Corpus, rows_of
    from sumcurve.store.records import Record
    from sumcurve.systems.system import Item
    from sumcurve.training.history import METRICS
    from sumcurve.training.validation import measured

    plan = plan_of(config, settings, task.method)
    _, prepared, _, drawn = _drawn(plan, home, task)
    train, valid = (Corpus(prepared).part(name) for name in ("train", "valid"))
    items = [Item(Record(record.id, record.source, []), text) for record, text in valid.with_text]
    name = f"trial-{task.method}-{task.digest}-s{task.seed}"
    log = home.resolve() / "logs" / "programs" / f"{name}.log"
    scratch = home / "scratch" / "trials" / name
    run = scratch / "run"
    shutil.rmtree(run, ignore_errors=True)
    rows = rows_of(train, drawn), rows_of(valid, range(len(items)))
    run.mkdir(parents=True)
    seconds = task.program.learn(*rows, task.seed, run, scratch / "kept", log)
    told = plan.systems[task.method][0].specify(task.program, plan.settings.corpora[task.corpus])
    system = task.program.trained(told, run, log.with_suffix(".summarize.log"))
    summaries = list(system.summarize(items))
    found = measured([0.0], summaries, [record.all_references for record in valid])  # its likelihood is unknown
    shutil.rmtree(scratch)
    points = {metric: round(100 * found[metric], 3) for metric in METRICS}
    return dict.fromkeys(COLUMNS, "") | {
        "method": task.method,
        "stage": task.stage,
        "settings": task.settings,
        "seed": task.seed,
        "worth": round(100 * prod(found[metric] for metric in METRICS) ** (1 / 3), 3),
        "corpus": task.corpus,
        "records": len(drawn),
        **points,
        "seconds": round(seconds, 1),
        "digest": task.digest,
    }


def _drawn(plan: Plan, home: Path, task: Task | ProgramTask) -> tuple[Any, Path, Path, Sequence[int]]:
    """The task's corpus, the folders of it and of the fraction, and which training records that has."""
    from sumcurve.corpora.fraction import is_written, write_fraction
    from sumcurve.corpora.sizes import positions, write_records
    from sumcurve.corpora.store import Corpus

    (corpus,) = (one for one in plan.named("corpora", "corpus") if plan.corpus_name(one.key) == task.corpus)
    prepared = home / "results" / corpus.key
    if not prepared.is_dir():
        raise PlanError(f"{prepared} is not finished; `make trials` makes it first")
    train = Corpus(prepared).part("train")
    ((unit, size),) = task.size.items()
    told = f"{size:03d}" if unit == "percent" else f"n{size}"
    fraction = home / "scratch" / "trials" / f"{corpus.name}-{told}-s{task.seed}"
    with locked(home / "scratch" / "trials.lock"):
        if not is_written(fraction):
            if unit == "records" and size > (there := len(train)):
                raise PlanError(
                    f"{train.path} holds {there:,} records, the trials' stage {task.stage} asks for {size:,}; ask for "
                    "fewer in their `records` or `again`"
                )
            fraction.mkdir(parents=True, exist_ok=True)
            write = write_fraction if unit == "percent" else write_records
            write(train, size, task.seed, fraction)
    return corpus, prepared, fraction, positions(fraction, train.ids, task.seed)


def _lessons(config: Path, home: Path, settings: TrialsSettings, task: Task) -> "Lessons":
    """What the task's model learns from. PlanError for a folder or file that is not there as the plan says."""
    from sumcurve.corpora.store import Corpus
    from sumcurve.corpora.token_ids import TokenIds
    from sumcurve.training.run import Lessons

    plan = plan_of(config, settings, task.method)
    corpus, prepared, fraction, _ = _drawn(plan, home, task)
    lengths, model = plan.settings.corpora[task.corpus], task.form.model
    specification: dict[str, Any] = {
        "source_tokens": lengths.source_tokens,
        "target_tokens": lengths.target_tokens,
        "validation": lengths.search.greedy().model_dump(mode="json"),
        "seed": task.seed,
        "threads": 1,
        "sums": settings.sums,
        **made_of(plan, task.method),
    }
    family, inputs = MODELS[model.kind], {}
    for file in family.files(model, config / "methods" / f"{task.method}.yaml"):
        place = file.at(home)
        if file.observed(home) != file.sha256:
            raise PlanError(f"{place} is not what {file.pinned} pins; `python -m sumcurve fetch {place}` fetches it")
        inputs[str(file.sha256)] = place
    if model.learns_entities:
        runs = (folder.specification for folder in plan.named("runs", "train"))
        entities = next(
            one["entities"] for one in runs if "entities" in one and corpus.key in plan.folder(one["fraction"]).inputs
        )
        specification["entities"] = entities
        inputs[entities] = home / "results" / entities
    inputs |= {key: _finished(home, plan, key) for key in made_of(plan, task.method).values() if key in plan.folders}
    train = Corpus(prepared).part("train")
    return Lessons(
        specification=specification,
        form=task.form,
        corpus=prepared,
        fraction=fraction,
        tokens=TokenIds.of_part(train, sha256_file(train.path), home / TOKEN_IDS, print),
        inputs=inputs,
        lower=lengths.prepare.lower,
        device="cpu",
        note=print,
    )


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


def run_trials(
    config: Path,
    home: Path,
    jobs: int,
    methods: list[str] | None = None,
    write: bool = False,
    path: Path | None = None,
) -> None:
    """Train what the table beside the settings' file lacks, `jobs` at a time, and write a row when a trial ends.

    `path` is that file, `config/trials.yaml` where it is not given; its table ends in `.csv`. `methods` may name
    outside programs of the trials' study, too. In the end print what the trials chose; with `write`, put it into the
    methods' files and those of their twins, and into the study that says a program's settings.
    """
    path = path or config / "trials.yaml"
    if path.suffix != ".yaml" or not path.is_file():
        raise PlanError(f"{path} is no file of trials; give one that ends in .yaml, as {config / 'trials.yaml'}")
    if jobs < 1:
        raise PlanError(f"--jobs {jobs}: give how many trainings run at a time, 1 or more")
    settings = read_settings(path, TrialsSettings)
    table, lock = path.with_suffix(".csv"), home / "scratch" / "trials.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    plan = Plan.read(config, settings.study)
    for corpus in (*settings.corpora, *settings.records):
        if corpus not in plan.settings.corpora:
            raise PlanError(
                f"{path}: {corpus} is no corpus of study {plan.study}; name some of {', '.join(plan.settings.corpora)}"
            )
    programs = programs_of(plan)
    wanted_names = methods or [*plan.settings.methods, *settings.studies, *programs]
    for name in wanted_names:
        if name not in programs and not (config / "methods" / f"{name}.yaml").is_file():
            raise PlanError(
                f"{name} is no method of {config / 'methods'} and no program with `trials` of study {plan.study}; "
                f"programs there: {', '.join(programs) or 'none'}"
            )
    programs = {name: told for name, told in programs.items() if name in wanted_names}
    of_programs = {name: program_tasks(plan, settings, name, told) for name, told in programs.items()}
    ours = [name for name in wanted_names if name not in programs]
    bases = list(dict.fromkeys(settings.tuned_with.get(method, method) for method in ours))
    forms = {method: form_of(config, method, settings.form) for method in bases}
    plans = {method: plan_of(config, settings, method) for method in bases}
    with worker_pool(jobs) as pool:
        for stage in STAGES:
            if stage == "again" and settings.again is None:
                continue
            rows = read_rows(table)
            there = {tuple(row[name] for name in KEY) for row in rows}
            wanted: list[Task] = []
            for method, form in forms.items():
                best: list[Trial] | None = []
                if stage == "again":
                    best = best_of_first(plans[method], settings, method, form, rows)
                elif stage == "last":
                    single = best_before_last(plans[method], settings, method, form, rows)
                    best = None if single is None else [single]
                assert best is not None  # the stages before have ended
                wanted += tasks(plans[method], settings, method, form, stage, best)
            waiting = [task for task in wanted if task.key not in there]
            others = [task for tasks in of_programs.values() for task in tasks if stage == "first"]
            waiting_others = [task for task in others if task.key not in there]
            count = len(waiting) + len(waiting_others)
            print(f"stage {stage}: {count} of {len(wanted) + len(others)} trials to go", flush=True)
            running = [pool.submit(one_trial, config, home, settings, task) for task in waiting]
            running += [pool.submit(one_program_trial, config, home, settings, task) for task in waiting_others]
            for future in as_completed(running):
                row = future.result()
                _add(table, lock, row)
                told = "{method} {stage} {tried} seed {seed}: {worth} ({seconds} s)"
                tried = row["settings"] or f"rate {row['rate']} dropout {row['dropout']}"
                print(told.format(**row, tried=tried), flush=True)
    rows = read_rows(table)
    for name, tried_tasks in of_programs.items():
        _choose(config, plan.study, programs[name], tried_tasks, rows, write)
    for method, form in forms.items():
        found = chosen(plans[method], settings, method, form, rows)
        assert found is not None
        for one in (method, *(twin for twin, base in settings.tuned_with.items() if base == method)):
            place = config / "methods" / f"{one}.yaml"
            present = settings_of(form_of(config, one, settings.form))
            if present == found:
                print(f"{place}: {settings.form} has what the trials chose: {_told(found)}")
            elif write:
                write_settings(place, settings.form, found)
                print(f"{place}: {settings.form} now has {_told(found)}, no longer {_told(present)}")
            else:
                print(
                    f"{place}: put {_told(found)} into {settings.form}, in place of {_told(present)} "
                    "(or run with --write)"
                )


def _choose(
    config: Path,
    study: str,
    program: LearningSettings,
    tried: Sequence[ProgramTask],
    rows: Sequence[dict[str, Any]],
    write: bool,
) -> None:
    """Print what the trials of a program chose; with `write`, put it into the study."""
    found = _rows_of(tried, rows)
    assert found is not None
    best = best_program(found)
    name, place = tried[0].method, config / "studies" / f"{study}.yaml"
    if best == told_settings(program):
        print(f"{place}: systems.{name} has what the trials chose: {best}")
    elif write:
        chosen = next(task.program.settings for task in tried if task.settings == best)
        _replace(place, {("systems", name, "settings", key): str(value) for key, value in chosen.items()}, ())
        print(f"{place}: systems.{name} now has {best}, no longer {told_settings(program)}")
    else:
        print(f"{place}: put {best} into systems.{name}.settings, in place of {told_settings(program)} (or --write)")


def _told(found: tuple[float, float | None, float | None]) -> str:
    dropout = "the model's own" if found[1] is None else f"{found[1]:g}"
    last = "" if found[2] is None else f", last phase's rate {found[2]:g}"
    return f"rate {found[0]:g}, dropout {dropout}{last}"


def write_settings(path: Path, name: str, found: tuple[float, float, float | None]) -> None:
    """Put what the trials chose (see `settings_of`) into a form of a method's file; all else stays.

    Raises PlanError where a key is missing.
    """
    rate, dropout, last = found
    form = read_method(path).forms[name]
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
    _replace(path, {at: f"{value:g}" for at, value in values.items()}, ("forms", name))


def _replace(path: Path, values: Mapping[tuple[str, ...], str], below: tuple[str, ...]) -> None:
    """Put values into a YAML file in place of those that stand at these locations; all else stays."""
    text = path.read_text()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    nodes = {at: _node(path, root, (*below, *at)) for at in values}
    for at in sorted(values, key=lambda one: nodes[one].start_mark.index, reverse=True):
        text = text[: nodes[at].start_mark.index] + values[at] + text[nodes[at].end_mark.index :]
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
