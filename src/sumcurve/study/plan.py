"""Plan of a study: every folder that it requires, named before any data exists.

`Plan.read` validates the configuration once and derives, step by step, the folders with their specifications: all that
decides a folder's content, and nothing else. A folder's name ends in the digest of its specification; since a
specification names the folders it was made from, names chain from the raw corpus to the scores. The modules of
`sumcurve.study.planning` check the study's settings, and plan each step.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sumcurve.numerics.sums import Sums
from sumcurve.planning.folder import Folder, PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.config import PlanError
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import Preparation
from sumcurve.settings.forms import Form
from sumcurve.sources.pinned import File
from sumcurve.store.manifest import digest
from sumcurve.study.doors import CAPABILITIES, MODELS, SCORERS, SYSTEMS
from sumcurve.study.kinds import KINDS
from sumcurve.study.planning.checks import Study, read_checked
from sumcurve.study.planning.corpora import plan_corpus, plan_entities, plan_held_out
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
from sumcurve.systems.rows import Scored
from sumcurve.tables import VERSION


class Plan(PlannedStudy):
    """The plan of a study. Empty when it is made; `of` plans a study that was checked, `read` reads one before."""

    others: "dict[str, Plan]"  # type: ignore[assignment]

    def __init__(self, study: Study, config: Path) -> None:
        self.study = study.name
        self.settings = study.settings
        self.methods = study.methods
        self.titles = dict(study.titles)
        self.about = study.about
        self.twins = study.twins
        self.config = config
        self.others = {}
        self.planned = {}
        self.corpora = {}
        self.prepared = {}
        self.folders = {}
        self.rows = []
        self.together = {}
        self.tables = ""
        self.scorers = {
            name: SCORERS[name](SCORERS[name].Settings.model_validate(settings))
            for name, settings in self.settings.scores.items()
        }
        self.systems = {}
        for name, settings in self.settings.systems.items():
            kind = SYSTEMS[(settings or {}).get("kind", name)]
            self.systems[name] = kind, kind.Settings.model_validate(settings)
        curves = {name for name, (_, settings) in self.systems.items() if makes_a_curve(settings)}
        self.titles |= {name: title for name, title in self._system_titles().items() if name in curves}

    @classmethod
    def read(cls, config: Path, study: str | None = None) -> Self:
        """The plan of a study of `config/studies/`; without a name, of the one that config.yaml names."""
        return cls.of(read_checked(config, study), config)

    @classmethod
    def of(cls, study: Study, config: Path) -> Self:
        """The plan of a study that was checked, corpus by corpus."""
        plan = cls(study, config)
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
        """The key of a folder of the kind; `named` are the values of its stem's template."""
        row = KINDS[kind]
        whole = dict(specification)
        whole[row.version_key] = row.version_of(whole)
        folder = Folder(
            kind, row.step, f"{row.stem.format(**named)}-{digest(whole)}", whole, tuple(inputs), tuple(files)
        )
        self.folders[folder.key] = folder
        return folder.key

    # --- methods for capabilities, beside `add`

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

    def read_by(self, corpus: PlannedCorpus, form: Form) -> list[str]:
        """The folders that a system of this form reads of a corpus."""
        cased = corpus.seen is not None and MODELS[form.model.kind].reads_texts
        return [corpus.prepared, corpus.seen.prepared] if corpus.seen is not None and cased else [corpus.prepared]

    # --- properties of a plan

    def decides_tables(self) -> dict[str, Any]:
        """Values that decide the study's tables, beside the content of the folders behind their rows."""
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
            "questions": [],  # questions of a study to its tables, in older versions
            "about": self.about,
            "fingerprint": VERSION,
            **({"rank_by": settings.rank_by} if settings.rank_by else {}),
            **{key: value for capability in CAPABILITIES.values() for key, value in capability.digest(self).items()},
        }

    @property
    def contents(self) -> list[tuple[Raw, Preparation]]:
        """Origins of the corpora's records, with their preparation."""
        contents: list[tuple[Raw, Preparation]] = [(corpus.raw, corpus) for corpus in self.settings.corpora.values()]
        for plan in self.others.values():
            contents += plan.contents
        return contents

    @property
    def raws(self) -> list[Raw]:
        return [raw for raw, _ in self.contents]

    @property
    def system_titles(self) -> dict[str, str]:
        """Descriptions of the untrained systems, by name."""
        titles = {name: title for name, title in self._system_titles().items() if name not in self.titles}
        for capability in CAPABILITIES.values():
            titles |= capability.system_titles(self)
        return titles

    def _system_titles(self) -> dict[str, str]:
        return {name: settings.title or kind.title for name, (kind, settings) in self.systems.items()}

    @property
    def test_items(self) -> dict[str, int | None]:
        """Numbers of items of each corpus's test part, by its split or study; a part held out is taken for as large."""
        return {name: corpus.split.test or corpus.published.get("test") for name, corpus in self.corpora.items()}


def _plan_learned(plan: Plan, corpus: PlannedCorpus) -> PlannedCorpus:
    """Plan all trainings of a corpus with their inputs; the corpus, with its entities where something needs them."""
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
    """Plan folders that capabilities read from trained runs, and the scores of all outputs of a corpus."""
    for capability in CAPABILITIES.values():
        capability.plan_trained(plan, corpus)
    plan_scores(plan, corpus)


def studies(config: Path) -> list[str]:
    """The names of all studies, sorted."""
    return sorted(path.stem for path in (config / "studies").glob("*.yaml"))


def plan_holding(config: Path, key: str, home: Path = Path()) -> Plan:
    """The plan of a study that requires the folder `key`: config.yaml's, or else another. For commands without a study.

    Folders of one name have one specification, but studies may name one raw content by several paths: the first
    whose files are there is taken (fetched ones lie below `home`). A study that cannot be read is skipped.
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
        f"no study in {config / 'studies'} asks for {key}: settings or versions of code have changed since its name "
        "was made; run the study again" + "".join(f"\nnot read: {error}" for error in dict.fromkeys(unread))
    )
