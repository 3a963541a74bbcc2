"""The study and every folder it asks for, named before any data exists.

`Plan.read` validates the configuration once and derives, step by step, the folders with their specifications: all that
decides a folder's content, and nothing else. A folder's name ends in the digest of its specification; since a
specification names the folders it was made from, names chain from the raw corpus to the scores. The modules of
`sumcurve.study.planning` check what the study says, and plan each step.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from sumcurve.machine.sums import Sums
from sumcurve.scores.scorer import Scorer
from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import CorpusSettings, Preparation
from sumcurve.settings.forms import Form
from sumcurve.sources.pinned import File
from sumcurve.store.manifest import digest
from sumcurve.study.doors import CAPABILITIES, MODELS, SCORERS, SYSTEMS
from sumcurve.study.kinds import KINDS, RECIPES
from sumcurve.study.planning.checks import Study, read_checked
from sumcurve.study.planning.corpora import plan_corpus, plan_entities, plan_held_out, plan_prepared
from sumcurve.study.planning.folder import Folder, PlannedCorpus
from sumcurve.study.planning.outputs import (
    decoded,
    makes_a_curve,
    plan_held_out_outputs,
    plan_learned,
    plan_systems,
    reads_entities,
)
from sumcurve.study.planning.runs import paper_search, plan_run, plan_trainings
from sumcurve.study.planning.scores import check_files, check_scorers, plan_scores
from sumcurve.study.recipes import Recipe, Version, read_recipes
from sumcurve.systems.rows import Scored
from sumcurve.systems.system import System, SystemSettings


class Plan:
    """A study's folders by key (`step/name`), its score rows, and the digest of its tables.

    Empty when it is made; `of` plans a study that was checked. `together` are folders that one process makes, in its
    order. Outputs: of each run of a corpus, with all searches and of all parts. Scores: of each method and size of a
    corpus, and of each scorer of a corpus that asks for it. A folder is in one of them; one that several methods have
    is the first one's.
    """

    def __init__(self, study: Study, recipes: Mapping[str, Recipe], config: Path) -> None:
        self.study = study.name
        self.settings = study.settings
        self.methods = study.methods
        self.titles = dict(study.titles)  # of methods, and of what else makes a curve
        self.about = study.about  # what each method is, in a clause
        self.twins = study.twins  # of a method that begins as another: that one and its form
        self.config = config
        self.others: dict[str, Plan] = {}  # of other studies, by name, whose folders this one has, too
        self.planned: dict[str, PlannedCorpus] = {}
        self.corpora: dict[str, CorpusSettings] = {}  # also of parts that are held out, by the names of their rows
        self.prepared: dict[str, tuple[str, Preparation]] = {}  # by keys of prepared corpora, their names and settings
        self.folders: dict[str, Folder] = {}
        self.rows: list[Scored] = []
        self.shards: dict[str, int] = {}  # of corpora that are prepared by shards: by the names of their folders
        self.together: dict[tuple[str, Literal["run", "method", "scorer"], str], list[str]] = {}
        self.tables = ""  # the digest of what decides them
        self._recipes = recipes
        self.scorers: dict[str, Scorer] = {
            name: SCORERS[name](SCORERS[name].Settings.model_validate(settings))
            for name, settings in self.settings.scores.items()
        }
        self.systems: dict[str, tuple[type[System], SystemSettings]] = {}  # by name: kind and settings
        for name, settings in self.settings.systems.items():
            kind = SYSTEMS[(settings or {}).get("kind", name)]
            self.systems[name] = kind, kind.Settings.model_validate(settings)
        curves = {name for name, (_, settings) in self.systems.items() if makes_a_curve(settings)}
        self.titles |= {name: title for name, title in self._system_titles().items() if name in curves}

    @classmethod
    def read(cls, config: Path, study: str | None = None) -> "Plan":
        """The plan of a study of `config/studies/`; without a name, of the one that config.yaml names."""
        return cls.of(read_checked(config, study), read_recipes(config.parent / "recipes.yaml", RECIPES), config)

    @classmethod
    def of(cls, study: Study, recipes: Mapping[str, Recipe], config: Path) -> "Plan":
        """The plan of a study that was checked, corpus by corpus."""
        plan = cls(study, recipes, config)
        for name, settings in study.settings.corpora.items():
            corpus = plan_corpus(plan, name, settings)
            plan_systems(plan, corpus)
            corpus = _plan_learned(plan, corpus)
            _plan_scored(plan, corpus)
            if settings.split.unseen is not None:
                unseen = plan_held_out(plan, corpus, settings.split.unseen)
                plan_systems(plan, unseen)
                plan_held_out_outputs(plan, unseen)
                _plan_scored(plan, unseen)
        check_files(plan)
        check_scorers(plan)
        for capability in CAPABILITIES.values():
            capability.plan_study(plan)
        plan.tables = digest(plan.decides_tables())
        return plan

    def add(
        self,
        kind: str,
        specification: Mapping[str, object],
        inputs: Iterable[str],
        files: Iterable[File] = (),
        **named: Any,
    ) -> str:
        """The key of a folder of the kind; `named` is what its stem tells of it."""
        row = KINDS[kind]
        whole = dict(specification)
        whole[row.version_key] = self.version(row.recipe(kind, whole))
        folder = Folder(kind, f"{row.stem.format(**named)}-{digest(whole)}", whole, tuple(inputs), tuple(files))
        self.folders[folder.key] = folder
        return folder.key

    def version(self, recipe: str) -> Version:
        """The version of what a row of recipes.yaml stands for, in this study's names."""
        return self._recipes[recipe].of(self.study)

    # --- what capabilities plan with, beside `add`

    def plan_prepared(self, name: str, settings: Preparation, raw: Raw) -> str:
        """A prepared corpus."""
        return plan_prepared(self, name, settings, raw)

    def plan_run(
        self,
        corpus: PlannedCorpus,
        method: str,
        form: Form,
        size: int,
        seed: int,
        twin: tuple[str, Form] | None = None,
        sums: Sums | None = None,
    ) -> tuple[str, str]:
        """Stem and key of a training."""
        return plan_run(self, corpus, method, form, size, seed, twin=twin, sums=sums)

    def plan_learned(self, corpus: PlannedCorpus, name: str, size: int, seed: int) -> Scored:
        """The row of a training that is none of ours."""
        return plan_learned(self, corpus, name, size, seed)

    def decoded(self, row: Scored, output: str) -> None:
        """Add the row of a run's output, which one process makes with all others of the run."""
        decoded(self, row, output)

    def model_files(self, form: Form, method: str) -> list[File]:
        """The files that a method's model is made of."""
        return MODELS[form.model.kind].files(form.model, self.config / "methods" / f"{method}.yaml")

    # --- what is asked of a plan

    def decides_tables(self) -> dict[str, Any]:
        """What decides the study's tables, beside what the folders behind their rows hold."""
        settings = self.settings
        return {
            "study": settings.title,
            "form": settings.form,
            "methods": self.titles,
            "systems": self.system_titles,
            "scores": [[row.output, row.part, dict(row.scores)] for row in self.rows],
            "refused": [],  # methods that a corpus did not serve, when a plan could leave them out
            "corpora": {name: corpus.title for name, corpus in settings.corpora.items()},
            "bootstrap": settings.bootstrap.model_dump(mode="json"),
            "questions": [question.model_dump(mode="json") for question in settings.questions],
            # tables before version 6 do not say what methods are
            **({"about": self.about} if int(self.version("tables")) > 5 else {}),
            "fingerprint": self.version("tables"),
            **({"shown_items": settings.shown_items} if settings.shown_items else {}),
            **({"rank_by": settings.rank_by} if settings.rank_by else {}),
            **({} if settings.equivalence is None else {"equivalence": settings.equivalence.model_dump()}),
            **{key: value for capability in CAPABILITIES.values() for key, value in capability.digest(self).items()},
        }

    @property
    def contents(self) -> list[tuple[Raw, Preparation]]:
        """Where the records of the corpora come from, and those that capabilities read, and how they are prepared."""
        contents: list[tuple[Raw, Preparation]] = [(corpus.raw, corpus) for corpus in self.settings.corpora.values()]
        for capability in CAPABILITIES.values():
            contents += capability.contents(self.settings)
        for plan in self.others.values():
            contents += plan.contents
        return contents

    @property
    def raws(self) -> list[Raw]:
        return [raw for raw, _ in self.contents]

    @property
    def system_titles(self) -> dict[str, str]:
        """What each system that is not trained is, by name."""
        titles = {name: title for name, title in self._system_titles().items() if name not in self.titles}
        for capability in CAPABILITIES.values():
            titles |= capability.system_titles(self)
        return titles

    def _system_titles(self) -> dict[str, str]:
        return {name: settings.title or kind.title for name, (kind, settings) in self.systems.items()}

    @property
    def test_items(self) -> dict[str, int | None]:
        """How many items each corpus's test part has, by its split or study; a part held out is taken for as large."""
        return {name: corpus.split.test or corpus.published.get("test") for name, corpus in self.corpora.items()}

    def where(self, *location: str | int) -> str:
        """File, line and key of what the study says at `location`."""
        return read_study(self.config / "studies" / f"{self.study}.yaml").where(*location)

    def folder(self, key: str) -> Folder:
        """The folder of this key; PlanError when the study does not ask for it."""
        try:
            return self.folders[key]
        except KeyError:
            raise PlanError(
                f"study {self.study} asks for no folder {key}: settings, code or recipes have changed since its name "
                "was made; run the study again"
            ) from None

    def annotations(self, prepared: str, kind: str) -> list[str]:
        """The keys of the annotations of a kind that a prepared corpus has."""
        return [folder.key for folder in self.named("annotations", kind) if folder.specification["corpus"] == prepared]

    @staticmethod
    def corpus_name(prepared: str) -> str:
        """The name of the corpus whose folder has this key."""
        return prepared.split("/")[1].rsplit("-", 1)[0]

    def named(self, step: str, kind: str | None = None) -> list[Folder]:
        """The folders of one step, and of one kind where given, in the plan's order."""
        return [folder for folder in self.folders.values() if folder.step == step and kind in (None, folder.kind)]


def _plan_learned(plan: Plan, corpus: PlannedCorpus) -> PlannedCorpus:
    """All trainings of a corpus with what they read of it; the corpus, with its entities where something needs them."""
    settings = corpus.settings
    methods = {
        method: form for method, form in plan.methods.items() if settings.methods is None or method in settings.methods
    }
    searches = [settings.search, *(paper_search(form, settings) for form in methods.values())]
    learned = any(form.model.learns_entities for form in methods.values())
    if learned or any(map(reads_entities, searches)):
        corpus = replace(corpus, entities=plan_entities(plan, corpus))
    plan.planned[corpus.name] = corpus
    for capability in CAPABILITIES.values():
        capability.plan_models(plan, corpus, methods)
    plan_trainings(plan, corpus, methods)
    return corpus


def _plan_scored(plan: Plan, corpus: PlannedCorpus) -> None:
    """What capabilities read of trained runs, and the scores of all outputs of a corpus."""
    for capability in CAPABILITIES.values():
        capability.plan_trained(plan, corpus)
    plan_scores(plan, corpus)


def studies(config: Path) -> list[str]:
    """The names of all studies, sorted."""
    return sorted(path.stem for path in (config / "studies").glob("*.yaml"))


def plan_holding(config: Path, key: str, home: Path = Path()) -> Plan:
    """The plan of a study that asks for the folder `key`: config.yaml's, or else another. For people who name none.

    Folders of one name have one specification, but studies may name one raw content by several paths: the first
    whose files are there is taken, below `home` what is fetched. A study that cannot be read hinders no other.
    """
    unread: list[str] = []
    without: Plan | None = None
    for study in (None, *studies(config)):
        try:
            plan = Plan.read(config, study)
        except PlanError as error:
            unread.append(str(error))
            continue
        if key in plan.folders:
            if all(file.at(home).exists() for file in plan.folders[key].files):
                return plan
            without = without or plan
    if without is not None:
        return without
    raise PlanError(
        f"no study in {config / 'studies'} asks for {key}: settings, code or recipes have changed since its name "
        "was made; run the study again" + "".join(f"\nnot read: {error}" for error in dict.fromkeys(unread))
    )
