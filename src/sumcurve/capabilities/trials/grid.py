"""Trainings of a study's grid, stage by stage, and the settings that their validations choose.

The first stage trains the phases before the last (all, of a method of one phase) with each pair of rate and dropout;
`last` trains the last phase with each of its rates after the best pair. All are ordinary runs, which the plan names by
their settings. The last stage is planned when the table has every row of the first: the table is configuration, and no
plan depends on which folders are finished. Trainings in the table are not repeated. Programs with `trials` are
tried in the first stage alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

from sumcurve.capabilities.trials.settings import StudyKeys
from sumcurve.capabilities.trials.table import KEY, SETTING, Choice, in_words, read_rows, table_of
from sumcurve.planning.folder import Folder, PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.config import PlanError, read, read_mapping
from sumcurve.settings.forms import Form, MethodFile
from sumcurve.settings.training import Training as TrainingSettings
from sumcurve.store.manifest import digest
from sumcurve.store.records import RecordError
from sumcurve.systems.outside import LearningSettings

Stage = Literal["first", "last"]


@dataclass(frozen=True)
class Training:
    """One training of a trial with one seed: a row of the table, without its results."""

    row: Mapping[str, Any]  # `KEY` and the corpus
    folders: Sequence[Folder]  # the run, and of a program its summaries of the validation records
    plan: PlannedStudy  # that has these

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(str(self.row[name]) for name in KEY)


def tuned(form: Form) -> dict[str, list[tuple[str | int, ...]]]:
    """Paths in a form of the `rate` of the phases before the last, `dropout` and the last phase's rate, `last`.

    The only phase of a form is not a last one.
    """
    rates: list[tuple[str | int, ...]] = [
        ("training", "phases", index, "optimizer", "rate") for index in range(len(form.training.phases))
    ]
    places: dict[str, list[tuple[str | int, ...]]] = {"rate": rates[:-1] or rates, "dropout": [("model", "dropout")]}
    if len(rates) > 1:
        places["last"] = rates[-1:]
    return places


def _inner(block: Any, way: Iterable[str | int]) -> Any:
    for part in way:
        block = block[part]
    return block


def settings_of(form: Form) -> Choice:
    """The values of the tuned settings; of a pretrained model's own dropout None."""
    block = form.model_dump(mode="json")
    return {name: _inner(block, places[0]) for name, places in tuned(form).items()}


def form_with(form: Form, values: Choice) -> Form:
    """A copy of `form` with these values of the tuned settings."""
    block = {"training": form.training.model_dump(mode="json")}
    for name, value in values.items():
        for *way, key in tuned(form)[name] if name != "dropout" else ():
            _inner(block, way)[key] = value
    training = TrainingSettings.of_specification(block["training"])
    return form.model_copy(update={"model": form.model.with_dropout(values["dropout"]), "training": training})


class Trials:
    """The grid of a study, with the rows that its table has."""

    def __init__(self, plan: PlannedStudy, rows: Iterable[Mapping[str, str]] | None = None) -> None:
        """`rows` replace those of the table. PlanError for a study without a grid."""
        settings = plan.settings
        if not isinstance(settings, StudyKeys) or settings.grid is None:
            raise PlanError(f"study {plan.study} has no trials: write a `grid`, as config/studies/trials.yaml does")
        self.plan, self.grid = plan, settings.grid
        known = read_rows(table_of(plan)) if rows is None else rows
        self.rows = {tuple(row[name] for name in KEY): row for row in known}
        for study in self.grid.studies.values():
            if study not in plan.others:
                plan.others[study] = type(plan).read(plan.config, study)

    @property
    def methods(self) -> list[str]:
        """Methods that are tried; an ablation is replaced by its base."""
        named = (*self.plan.settings.methods, *self.grid.studies)
        return list(dict.fromkeys(self.grid.tuned_with.get(method, method) for method in named))

    @property
    def programs(self) -> dict[str, LearningSettings]:
        """The outside programs of the study with settings to try."""
        return {
            name: settings
            for name, (_, settings) in self.plan.systems.items()
            if isinstance(settings, LearningSettings) and settings.trials
        }

    def form(self, method: str) -> Form:
        """Form of a method to try. PlanError where its study does not have it, or starts it from another."""
        plan, where = self._plan_of(method), self.plan.where("grid")
        if method not in plan.methods or plan.settings.form != self.plan.settings.form:
            raise PlanError(
                f"{where}: study {plan.study} has no method {method} in form {self.plan.settings.form}; name a study "
                "in `studies` that has it, or another base in `tuned_with`"
            )
        if method in plan.twins:
            begins = plan.twins[method][0]
            raise PlanError(f"{where}: {method} begins as {begins}, whose phases it has; name a base in `tuned_with`")
        return plan.methods[method]

    def stages(self, name: str) -> list[list[Training]]:
        """The trainings of a method or program by stage, as far as the table's rows determine them."""
        if name in self.programs:
            return [self._of_program(name, self.programs[name])]
        form = self.form(name)
        several = "last" in tuned(form)
        whole = [(pair, form_with(form, pair)) for pair in self._first(name)]
        first = self._of_method(name, "first", [(pair, of.before() if several else of) for pair, of in whole])
        ranked = self.ranked(first)
        if not several or not ranked:
            return [first]
        # One training of the phases before serves all rates: that of the first rate, as which the others begin.
        behind = [form_with(form, {**ranked[0], "last": rate}) for rate in self.grid.last]
        pairs = [{**ranked[0], "rate": rate} for rate in self.grid.last]
        return [first, self._of_method(name, "last", list(zip(pairs, behind, strict=True)), behind[0])]

    def ranked(self, trainings: Sequence[Training]) -> list[Choice]:
        """The settings of one stage, by falling mean selection score, then rising mean NLL; none if a row is missing.

        Rows of other settings than the present ones do not count.
        """
        rows: dict[tuple[Any, ...], list[Mapping[str, str]]] = {}
        for training in trainings:
            if training.key not in self.rows:
                return []
            setting = tuple(training.row[name] for name in SETTING)
            rows.setdefault(setting, []).append(self.rows[training.key])

        def order(setting: tuple[Any, ...]) -> tuple[float, float]:
            worth, nll = (fmean(float(row[name] or 0) for row in rows[setting]) for name in ("worth", "nll"))
            return -worth, nll

        whole = [dict(zip(SETTING, setting, strict=True)) for setting in sorted(rows, key=order)]
        return [{name: value for name, value in setting.items() if value != ""} for setting in whole]

    def chosen(self, name: str) -> Choice | None:
        """Settings chosen by the trials of a method or program; None where a row is missing."""
        best = [self.ranked(stage)[:1] for stage in self.stages(name)]
        if not all(best):
            return None
        ((choice,),) = best[-1:]
        if name in self.programs:
            return next(trial for trial in self.programs[name].trials if in_words(trial) == choice["settings"])
        return {**best[-2][0], "last": choice["rate"]} if "last" in tuned(self.form(name)) else choice

    def missing(self, names: Iterable[str] = ()) -> Iterator[Training]:
        """The trainings missing from the table: of these methods and programs, or of all."""
        for name in names or (*self.methods, *self.programs):
            for stage in self.stages(name):
                yield from (training for training in stage if training.key not in self.rows)

    def _plan_of(self, method: str) -> PlannedStudy:
        study = self.grid.studies.get(method)
        return self.plan if study is None else self.plan.others[study]

    def _first(self, method: str) -> list[Choice]:
        """The rates and dropouts to try for a method."""
        path = self.plan.config / "methods" / f"{method}.yaml"
        own = read_mapping(path).validated(MethodFile).trials
        trials = self.grid.first if own is None else own
        self._check_budget(f"{read(path).where('trials')}", trials)
        return [trial.model_dump() for trial in trials]

    def _check_budget(self, where: str, trials: Sequence[Any]) -> None:
        """PlanError for more trials than the budget of every method."""
        if not 0 < len(trials) <= len(self.grid.first):
            raise PlanError(
                f"{where}: {len(trials)} trials, but every method gets {len(self.grid.first)} (`first` of study "
                f"{self.plan.study}'s grid); leave some out, or give all more"
            )

    def _sized(self, name: str, plan: PlannedStudy, serves: Iterable[str]) -> tuple[PlannedCorpus, int]:
        """The first corpus of the grid among those that a method or program is trained on, and its training size."""
        corpus = next((corpus for corpus in self.grid.sizes if corpus in serves and corpus in plan.planned), None)
        if corpus is None:
            there = ", ".join(self.grid.sizes)
            where = self.plan.where("grid", "sizes")
            raise PlanError(f"{where}: study {plan.study} trains {name} on none of {there}; name another corpus")
        return plan.planned[corpus], self.grid.method_sizes.get(name, self.grid.sizes[corpus])

    def _of_method(
        self, method: str, stage: Stage, tried: Sequence[tuple[Choice, Form]], begins: Form | None = None
    ) -> list[Training]:
        """A stage of a method: forms, by the values of rows, which share the earlier phases with `begins`."""
        plan, sums = self._plan_of(method), self.plan.settings.sums
        corpora = plan.settings.corpora.items()
        serves = [name for name, corpus in corpora if corpus.methods is None or method in corpus.methods]
        corpus, size = self._sized(method, plan, serves)
        twin = None if begins is None else (method, begins)
        trainings = []
        for values, form in tried:
            for seed in self.plan.settings.seeds:
                _, run = plan.plan_run(corpus, method, form, size, seed, twin=twin, sums=sums)
                decides = plan.folders[run].specification
                learned = {key: decides[key] for key in ("model", "training")}
                row = {"method": method, "stage": stage, **values, "settings": "", "seed": seed}
                trainings.append(self._training(row, learned, corpus, size, plan, run))
        return trainings

    def _of_program(self, name: str, settings: LearningSettings) -> list[Training]:
        """The one stage of a program."""
        plan, kind = self.plan, self.plan.systems[name][0]
        where = plan.where("systems", name)
        self._check_budget(where, settings.trials)
        corpus, size = self._sized(name, plan, settings.corpora or plan.planned)
        trainings = []
        try:
            for trial in settings.trials:
                plan.systems[name] = kind, settings.model_copy(update={"settings": trial})
                for seed in plan.settings.seeds:
                    plan.plan_learned(replace(corpus, decoded="valid"), name, size, seed)
                    keys = str(plan.rows[-1].run), plan.rows[-1].output
                    learns, says = (plan.folders[key].specification["told"] for key in keys)
                    row = dict.fromkeys(KEY, "") | {"method": name, "stage": "first", "settings": in_words(trial)}
                    row["seed"] = str(seed)
                    trainings.append(self._training(row, {**learns, **says}, corpus, size, plan, *keys))
        except RecordError as error:
            raise PlanError(f"{where}: {error}") from None
        finally:
            plan.systems[name] = kind, settings
        return trainings

    def _training(
        self,
        row: dict[str, Any],
        learned: dict[str, Any],
        corpus: PlannedCorpus,
        size: int,
        plan: PlannedStudy,
        *keys: str,
    ) -> Training:
        """A training whose row holds a digest of all that determines the outcome except the seed and the code."""
        settings = corpus.settings
        decides = {
            "corpus": corpus.name,
            **corpus.sized(size),
            "raw": settings.raw.sha256,
            **settings.raw.form_and_fields(),
            "prepare": settings.prepare.model_dump(mode="json"),
            "split": settings.split.model_dump(mode="json"),
            "source_tokens": settings.source_tokens,
            "target_tokens": settings.target_tokens,
            "validation": settings.search.greedy().model_dump(mode="json"),
            "sums": self.plan.settings.sums,
        }
        whole = {**row, "corpus": corpus.name, "digest": digest({**learned, **decides})}
        return Training(whole, [plan.folders[key] for key in keys], plan)


def asked_for(trials: Trials) -> dict[str, Folder]:
    """The folders of the trainings missing from the table, and of all their inputs, in the plan's order."""
    keys: set[str] = set()
    for training in trials.missing():
        waiting = list(training.folders)
        while waiting:
            folder = waiting.pop()
            if folder.key not in keys:
                keys.add(folder.key)
                waiting += (training.plan.folders[key] for key in folder.inputs)
    plans = (trials.plan, *trials.plan.others.values())
    return {key: folder for plan in plans for key, folder in plan.folders.items() if key in keys}
