"""The study and every folder it asks for, named before any data exists.

`Plan.read` validates the configuration once and derives, step by step, the folders with their specifications: all that
decides a folder's content, and nothing else. A folder's name ends in the digest of its specification; since a
specification names the folders it was made from, names chain from the raw corpus to the scores.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sumcurve.corpora.folders import (
    AnnotateSpecification,
    CorpusSpecification,
    EntitiesSpecification,
    FractionSpecification,
    Sized,
    UnseenSpecification,
)
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.needs import Needing
from sumcurve.scores.scorer import Scorer
from sumcurve.settings.base import HELD_OUT, ZERO_SHOT
from sumcurve.settings.config import Block, PlanError, read, read_method, read_study
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import CorpusSettings, Preparation, Split
from sumcurve.settings.forms import Form, MethodSettings
from sumcurve.settings.search import Search
from sumcurve.settings.study import Equivalence, Reading, VarianceTable
from sumcurve.sources import SOURCES
from sumcurve.sources.content import patterns
from sumcurve.sources.pinned import File
from sumcurve.store.kind import Kind
from sumcurve.store.manifest import digest
from sumcurve.store.provenance import versions
from sumcurve.store.records import RecordError
from sumcurve.study.doors import CAPABILITIES, MODELS, SCORERS, SYSTEMS, StudySettings
from sumcurve.study.folders import ScoreSpecification, SystemSpecification
from sumcurve.study.kinds import CORPUS_PARTS, KINDS, RECIPES
from sumcurve.study.recipes import Recipe, Version, read_recipes
from sumcurve.systems.file import FileSettings
from sumcurve.systems.folders import DecodeSpecification
from sumcurve.systems.outside import OutsideSettings
from sumcurve.systems.rows import Scored
from sumcurve.systems.system import System, SystemSettings
from sumcurve.training.folders import TrainSpecification

# Folders are named by several of these, with numbers and digests, and a file system takes 255 bytes.
NAME = re.compile(r"[a-z][a-z0-9_]{,63}")
SYSTEM_NAME = re.compile(r"[a-z][a-z0-9_-]{,63}")
STUDY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{,63}")  # it becomes a folder's name and part of shell lines


@dataclass(frozen=True)
class Folder:
    """One folder of results: `step/name` below the results folder, of a kind (`study.kinds`), made from `inputs`."""

    kind: str
    name: str
    specification: dict[str, Any]
    inputs: tuple[str, ...]  # keys of other folders
    files: tuple[File, ...] = ()

    @property
    def row(self) -> Kind:
        """The row of its kind."""
        return KINDS[self.kind]

    @property
    def step(self) -> str:
        return self.row.step

    @property
    def key(self) -> str:
        return f"{self.step}/{self.name}"

    @property
    def stem(self) -> str:
        """Its name without the digest."""
        return self.name.rsplit("-", 1)[0]

    @property
    def code(self) -> tuple[str, ...]:
        """The modules that decide it, for `sumcurve.store.fingerprint`."""
        return self.row.code(self.specification)


@dataclass(frozen=True)
class PlannedCorpus:
    """A corpus while its folders are planned; `prepared` and `entities` are keys of folders."""

    name: str
    settings: CorpusSettings
    prepared: str
    entities: str | None = None  # where a method learns them, or a search reads them: the folder that has them
    seen: "PlannedCorpus | None" = None  # of a part that is held out: the corpus

    def sized(self, size: int) -> Sized:
        """One of its sizes as specifications and rows say it."""
        return {"percent": size} if self.settings.percents is not None else {"records": size}

    def called(self, size: int) -> str:
        """One of its sizes as names of folders say it."""
        return f"{size:03d}" if self.settings.percents is not None else f"n{size}"

    def read_by(self, form: Form) -> list[str]:
        """The folders that a system of this form reads of it: of a part that is held out its corpus's, too.

        That one says whether tokens are in small letters, which models that read texts ask.
        """
        cased = self.seen is not None and MODELS[form.model.kind].reads_texts
        return [self.prepared, self.seen.prepared] if self.seen is not None and cased else [self.prepared]


def _check_scorers(block: Block, settings: StudySettings) -> None:
    """PlanError for no scorer, one that does not exist, and one that is told what it does not know."""
    if not settings.scores:
        raise PlanError(f"{block.where('scores')}: name at least one of {', '.join(SCORERS)}")
    for name in settings.scores:
        if name not in SCORERS:
            raise PlanError(f"{block.where('scores', name)}: no scorer {name!r}; there are: {', '.join(SCORERS)}")
        block.validated(SCORERS[name].Settings, "scores", name)


def _check_systems(block: Block, settings: StudySettings) -> None:
    """PlanError for a system of no kind, one that is told what its kind does not know, and one of no corpus."""
    given = block.deepest(("systems",))[0].mapping if "systems" in block.mapping else {}
    for name, told in settings.systems.items():
        where = block.where("systems", name)
        if not SYSTEM_NAME.fullmatch(name):
            raise PlanError(
                f"{where}: a system's name holds small letters, digits, hyphens and underscores, 64 at most"
            )
        if name in settings.methods:
            raise PlanError(f"{where}: a method of this study has that name; give the system another")
        if name.endswith(ZERO_SHOT):
            raise PlanError(f"{where}: names that end in {ZERO_SHOT} are those of pretrained methods; give it another")
        kind = (told or {}).get("kind", name)
        if kind not in SYSTEMS:
            raise PlanError(f"{where}: no kind {kind!r}; there are: {', '.join(SYSTEMS)}")
        if name not in given:
            continue  # a reference system of every study
        validated = block.validated(SYSTEMS[kind].Settings, "systems", name)
        if strange := [one for one in validated.corpora or [] if one not in settings.corpora]:
            raise PlanError(f"{where}: corpora: no corpus {strange[0]!r}; there are: {', '.join(settings.corpora)}")


def _check_methods(block: Block, settings: StudySettings, methods: dict[str, Form]) -> None:
    """PlanError for a method that a corpus cannot serve, which nobody then finds in a table."""
    problems = []
    for name, corpus in settings.corpora.items():
        asked = settings.methods if corpus.methods is None else corpus.methods
        reasons = {method: MODELS[methods[method].model.kind].refusal(corpus) for method in asked}
        served = ", ".join(method for method, reason in reasons.items() if reason is None)
        problems += [
            f"{block.where('corpora', name, *reason.key)}: corpus {name} cannot serve {method}: {reason.why}; change "
            f"it, or list in {block.path} the methods that it serves: `corpora: {{{name}: {{methods: [{served}]}}}}`"
            for method, reason in reasons.items()
            if reason is not None
        ]
    if problems:
        raise PlanError("\n".join(problems))


def _check_variance(block: Block, settings: StudySettings, table: VarianceTable, methods: dict[str, Form]) -> None:
    """PlanError where the study does not have what is to be trained anew."""

    def where(key: str) -> str:
        return block.where("variance", key)

    if table.corpus not in settings.corpora:
        raise PlanError(f"{where('corpus')}: no corpus {table.corpus!r}; there are: {', '.join(settings.corpora)}")
    corpus = settings.corpora[table.corpus]
    if corpus.percents is None:
        raise PlanError(
            f"{where('corpus')}: {table.corpus} has `sizes`; draws are compared at a percent: choose another"
        )
    if table.percent not in corpus.percents:
        raise PlanError(f"{where('percent')}: {table.percent} is none of {table.corpus}'s percents {corpus.percents}")
    trained = [method for method in methods if corpus.methods is None or method in corpus.methods]
    if strange := [method for method in table.methods if method not in trained]:
        raise PlanError(
            f"{where('methods')}: {', '.join(strange)}: not trained on {table.corpus}; "
            f"choose among {', '.join(trained)}"
        )
    for key, values in (("methods", table.methods), ("draws", table.draws), ("seeds", table.seeds)):
        if len(set(map(str, values))) < len(values):
            raise PlanError(f"{where(key)}: {values} names one twice")


def _check_equivalence(block: Block, told: Equivalence, methods: dict[str, Form], scorers: Iterable[str]) -> None:
    """PlanError where a method or the metric is not the study's, or a method is to equal itself."""
    known = [metric.name for name in scorers for metric in SCORERS[name].metrics]
    if told.metric not in known:
        where = block.where("equivalence", "metric")
        raise PlanError(f"{where}: no metric {told.metric!r} in the study; there are: {', '.join(known)}")
    for method, other in told.methods.items():
        where = block.where("equivalence", "methods", method)
        if strange := [one for one in (method, other) if one not in methods]:
            raise PlanError(f"{where}: no method {strange[0]!r} in the study; there are: {', '.join(methods)}")
        if method == other:
            raise PlanError(f"{where}: {method} equals itself; name another method")


def _check_sizes(block: Block, name: str, settings: StudySettings) -> None:
    """PlanError for sizes that do not rise, and for sizes and seeds of a method that its study does not have."""

    def where(*keys: str) -> str:
        return block.where("corpora", name, *keys)

    corpus = settings.corpora[name]
    key = "percents" if corpus.percents is not None else "sizes"
    if not corpus.asked:
        raise PlanError(f"{where(key)}: name one at least (value: [])")
    if corpus.asked != sorted(set(corpus.asked)):
        raise PlanError(f"{where()}: {key} must rise without repetition, not {corpus.asked}")
    for method, told in corpus.trainings.items():
        if method not in (settings.methods if corpus.methods is None else corpus.methods):
            raise PlanError(f"{where('trainings', method)}: no method of this corpus; correct it, or remove it")
        if told.sizes is not None and told.sizes != [size for size in corpus.asked if size in told.sizes]:
            raise PlanError(
                f"{where('trainings', method, 'sizes')}: {told.sizes}: name some of {key} {corpus.asked}, rising"
            )
    if strange := sorted(set(corpus.seeds_at) - set(corpus.asked)):
        raise PlanError(f"{where('seeds_at')}: {strange[0]} is none of {key} {corpus.asked}")
    given: dict[tuple[str, ...], list[int]] = {
        ("trainings", method, "seeds"): told.seeds or [] for method, told in corpus.trainings.items()
    }
    given |= {("seeds_at", str(size)): seeds for size, seeds in corpus.seeds_at.items()}
    for keys, seeds in given.items():
        if strange := sorted(set(seeds) - set(settings.seeds)):
            raise PlanError(f"{where(*keys)}: {strange[0]} is none of the study's seeds {settings.seeds}")
    for method in settings.methods:
        for size in corpus.asked_of(method):
            if not corpus.seeds_of(method, size, settings.seeds):
                raise PlanError(f"{where('seeds_at')}: no seed is left of {method} at {size}; name one that it has")


def _check_published(block: Block, name: str, corpus: CorpusSettings) -> None:
    """PlanError for parts and sizes of more records than their content is known to have."""
    split, published = corpus.split, corpus.published
    most = max(corpus.sizes or [1])
    asked = {"train": split.train, "valid": split.valid, "test": split.test}
    remedy = "lower it, or correct `published`"
    if published and split.ready is None:
        total = (split.train or most) + (split.valid or 0) + (split.test or 0)
        if total > sum(published.values()):
            raise PlanError(
                f"{block.where('corpora', name, 'split')}: with the largest size it asks for {total:,} records of the "
                f"{sum(published.values()):,} that are `published`; {remedy}"
            )
    elif split.ready is not None:
        for part, records in published.items():
            if (asked[part] or 0) > records:
                raise PlanError(
                    f"{block.where('corpora', name, 'split', part)}: {asked[part]:,} of {records:,} records that are "
                    f"`published`; {remedy}"
                )
    for key, train in (("split.train", split.train), ("published.train", published.get("train"))):
        if train is not None and most > train:
            raise PlanError(
                f"{block.where('corpora', name, 'sizes')}: {most:,} training records of the {train:,} of "
                f"`{key}`; lower it, or correct `{key}`"
            )


def _check_questions(block: Block, settings: StudySettings) -> None:
    """PlanError for a question about a metric, corpus, method or size that the study does not have."""
    ranking = [metric.name for name in settings.scores for metric in SCORERS[name].metrics if metric.ranks]
    for place, one in enumerate(settings.questions):
        known: dict[str, tuple[Collection[Any], Sequence[Any]]] = {
            "corpus": (settings.corpora, [one.corpus] if one.corpus else []),
            "methods": (settings.methods, one.methods or []),
            "metric": (ranking, [one.metric]),
        }
        asked = [corpus for name, corpus in settings.corpora.items() if one.corpus in (None, name)]
        if all(corpus.sizes is not None for corpus in asked):  # of percents the numbers are not known yet
            known["sizes"] = ({size for corpus in asked for size in corpus.asked}, one.sizes or [])
        for key, (there, told) in known.items():
            if strange := [value for value in told if value not in there]:
                raise PlanError(
                    f"{block.where('questions', place, key)}: {strange[0]!r} is none of the study's "
                    f"({', '.join(map(str, sorted(there)))})"
                )


def _twin(config: Path, path: Path, content: MethodSettings, name: str) -> Form:
    """The form `name` of the method that `content`, of `path`, begins as; PlanError where it begins otherwise."""
    where = f"{read(path).where('begins_as')}: {content.begins_as}"
    file = config / "methods" / f"{content.begins_as}.yaml"
    if not file.is_file():
        raise PlanError(f"{where}: there is no {file}")
    other = read_method(file)
    if other.begins_as is not None:
        raise PlanError(f"{where}: that begins as {other.begins_as} itself; name this one")
    if name not in other.forms:
        raise PlanError(f"{where}: {file} has no form {name!r}; there are {sorted(other.forms)}")
    own, base = content.forms[name], other.forms[name]
    if len(base.training.phases) < 2 or len(own.training.phases) != len(base.training.phases):
        raise PlanError(f"{where}: both need the same number of phases, two or more")
    if (own.before().model, own.before().training) != (base.before().model, base.before().training):
        raise PlanError(
            f"{where}: model, batches or phases before the last of form {name!r} differ from those of {file}; "
            "make them equal, or remove begins_as"
        )
    return base


def _row(
    corpus: PlannedCorpus,
    method: str,
    size: int,
    seed: int,
    search: Literal["common", "own"],
    run: str | None,
    **told: Any,
) -> Scored:
    """A row of one training whose output is not planned yet."""
    sized = corpus.sized(size)
    return Scored(
        corpus.name, method, sized.get("percent"), seed, search, run, "", records=sized.get("records"), **told
    )


def _makes_a_curve(system: SystemSettings) -> bool:
    """Whether it has rows by percent and seed, as a method has."""
    return isinstance(system, OutsideSettings) and bool(system.trainings([1], [1]))


def _paper_search(method: Form, corpus: CorpusSettings) -> Search | None:
    """What the method's paper asks of decoding, where it differs from the corpus's common search."""
    search = method.search.over(corpus.search) if method.search else corpus.search
    return search if search != corpus.search else None


def _reads_entities(search: Search | None) -> bool:
    return search is not None and search.entity_positions == "gold"


class Plan:
    """A study's folders by key (`step/name`), its score rows, and the digest of its tables."""

    def __init__(
        self,
        study: str,
        settings: StudySettings,
        methods: dict[str, Form],
        titles: dict[str, str],
        twins: dict[str, tuple[str, Form]],
        recipes: Mapping[str, Recipe],
        config: Path,
    ) -> None:
        self.study = study
        self.settings = settings
        self.methods = methods
        self.titles = dict(titles)  # of methods, and of what else makes a curve
        self.twins = twins  # of a method that begins as another: that one and its form
        self.config = config
        self.corpora: dict[str, CorpusSettings] = {}  # also of parts that are held out, by the names of their rows
        self.folders: dict[str, Folder] = {}
        self.rows: list[Scored] = []
        self.prepared: dict[str, tuple[str, Preparation]] = {}  # by keys of prepared corpora, their names and settings
        self.shards: dict[str, int] = {}  # of corpora that are prepared by shards: by the names of their folders
        # Folders that one process makes, in its order. Outputs: of each run of a corpus, with all searches and of all
        # parts. Scores: of each method and size of a corpus, and of each scorer of a corpus that asks for it. A folder
        # is in one of them; what several methods have is the first one's.
        self.together: dict[tuple[str, Literal["run", "method", "scorer"], str], list[str]] = {}
        self._recipes = recipes
        self.scorers: dict[str, Scorer] = {
            name: SCORERS[name](SCORERS[name].Settings.model_validate(told)) for name, told in settings.scores.items()
        }
        self.systems: dict[str, tuple[type[System], SystemSettings]] = {}  # by name: kind, and what it is told
        for name, told in settings.systems.items():
            kind = SYSTEMS[(told or {}).get("kind", name)]
            self.systems[name] = kind, kind.Settings.model_validate(told)
        curves = {name for name, (_, told) in self.systems.items() if _makes_a_curve(told)}
        self.titles |= {name: title for name, title in self._system_titles().items() if name in curves}
        for corpus, corpus_settings in settings.corpora.items():
            self._plan_corpus(corpus, corpus_settings)
        self._check_files()
        self.tables = digest(
            {
                "study": settings.title,
                "form": settings.form,
                "methods": self.titles,
                "systems": self.system_titles,
                "scores": [[row.output, row.part, dict(row.scores)] for row in self.rows],
                "refused": [],  # methods that a corpus did not serve, when a plan could leave them out
                "corpora": {name: corpus.title for name, corpus in settings.corpora.items()},
                "bootstrap": settings.bootstrap.model_dump(mode="json"),
                "questions": [one.model_dump(mode="json") for one in settings.questions],
                "fingerprint": self._version("tables"),
                **({"shown_items": settings.shown_items} if settings.shown_items else {}),
                **({} if settings.equivalence is None else {"equivalence": settings.equivalence.model_dump()}),
                **{key: value for one in CAPABILITIES.values() for key, value in one.digest(self).items()},
            }
        )

    @classmethod
    def read(cls, config: Path, study: str | None = None) -> "Plan":
        """The plan of a study of `config/studies/`; without a name, of the one that config.yaml names."""
        main = read(config / "config.yaml").plain()
        if not isinstance(main, dict) or set(main) != {"study"} or not isinstance(main["study"], str):
            raise PlanError(
                f"{config / 'config.yaml'} must hold one key, `study`, that names a file of {config / 'studies'}"
            )
        study = study or main["study"]
        if not STUDY_NAME.fullmatch(study):
            raise PlanError(
                f"{study!r} is no study's name: it holds letters, digits, hyphens and underscores, 64 at most, and "
                f"names a file of {config / 'studies'} without its ending"
            )
        path = config / "studies" / f"{study}.yaml"
        block = read_study(path)
        settings = block.validated(StudySettings)
        _check_scorers(block, settings)
        _check_systems(block, settings)
        for corpus, corpus_settings in settings.corpora.items():
            where = block.where("corpora", corpus)
            if not NAME.fullmatch(corpus):
                raise PlanError(
                    f"{where}: a corpus's name holds small letters, digits and underscores only, 64 at most"
                )
            _check_sizes(block, corpus, settings)
            _check_published(block, corpus, corpus_settings)
            if corpus_settings.search.min_tokens > corpus_settings.search.max_tokens:
                raise PlanError(f"{where}: search.min_tokens is above search.max_tokens")
            if strange := sorted(set(corpus_settings.methods or []) - set(settings.methods)):
                raise PlanError(
                    f"{where}: methods: {', '.join(strange)}: not among the study's methods; add them there"
                )
        methods, titles, twins = {}, {}, {}
        for method in settings.methods:
            if not NAME.fullmatch(method):
                raise PlanError(
                    f"{path}: methods: {method!r} is no method's name (small letters, digits, underscores, 64 at most)"
                )
            file = config / "methods" / f"{method}.yaml"
            content = read_method(file)
            titles[method] = content.title
            if settings.form not in content.forms:
                raise PlanError(
                    f"{file}: no form {settings.form!r}, which {path} asks for; there are {sorted(content.forms)}"
                )
            methods[method] = content.forms[settings.form]
            if content.begins_as is not None:
                twins[method] = (content.begins_as, _twin(config, file, content, settings.form))
        _check_methods(block, settings, methods)
        if settings.variance is not None:
            _check_variance(block, settings, settings.variance, methods)
        if settings.equivalence is not None:
            _check_equivalence(block, settings.equivalence, methods, settings.scores)
        for capability in CAPABILITIES.values():
            capability.check(block, settings, methods)
        _check_questions(block, settings)
        recipes = read_recipes(config.parent / "recipes.yaml", RECIPES)
        return cls(study, settings, methods, titles, twins, recipes, config)

    @classmethod
    def holding(cls, config: Path, key: str, home: Path = Path()) -> "Plan":
        """The plan of a study that asks for the folder `key`: config.yaml's, or else another.

        Folders of one name have one specification, but studies may name one raw content by several paths: the first
        whose files are there is taken, below `home` what is fetched. A study that cannot be read hinders no other.
        """
        unread: list[str] = []
        without: Plan | None = None
        for study in (None, *studies(config)):
            try:
                plan = cls.read(config, study)
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
        whole[row.version_key] = self._version(row.recipe(kind, whole))
        folder = Folder(kind, f"{row.stem.format(**named)}-{digest(whole)}", whole, tuple(inputs), tuple(files))
        self.folders[folder.key] = folder
        return folder.key

    def _version(self, recipe: str) -> Version:
        """The version of what a row of recipes.yaml stands for, in this study's names."""
        return self._recipes[recipe].of(self.study)

    def _plan_corpus(self, name: str, corpus: CorpusSettings) -> None:
        self.corpora[name] = corpus
        prepared = self.plan_prepared(name, corpus, corpus.raw)
        if corpus.shards is not None:
            self.shards[self.folder(prepared).name] = corpus.shards
        extraction: AnnotateSpecification = {"corpus": prepared}
        self.add("annotate", extraction, [prepared], corpus=name)
        planned = PlannedCorpus(name, corpus, prepared)
        for capability in CAPABILITIES.values():
            capability.plan_annotations(self, planned)
        for system, (kind, told) in self.systems.items():
            if told.corpora is None or name in told.corpora:
                self._plan_system(planned, system, kind, told)
        methods = {
            method: form for method, form in self.methods.items() if corpus.methods is None or method in corpus.methods
        }
        searches = [corpus.search, *(_paper_search(form, corpus) for form in methods.values())]
        learned = any(MODELS[form.model.kind].learns_entities(form.model) for form in methods.values())
        if learned or any(map(_reads_entities, searches)):
            planned = replace(planned, entities=self._plan_entities(planned))
        for capability in CAPABILITIES.values():
            capability.plan_models(self, planned, methods)
        for size in corpus.asked:
            for seed in self.settings.seeds:
                self._plan_fraction(planned, size, seed)
            for method, form in methods.items():
                if size in corpus.asked_of(method):
                    for seed in corpus.seeds_of(method, size, self.settings.seeds):
                        self._plan_row(planned, method, form, size, seed)
        for method, form in methods.items():
            if len(form.training.phases) > 1:
                self._plan_phases(planned, method, form)
        if self.settings.variance is not None and self.settings.variance.corpus == name:
            self._plan_variance(planned, methods, self.settings.variance)
        for capability in CAPABILITIES.values():
            capability.plan_trained(self, planned)
        self._plan_scores(planned)
        if corpus.split.unseen is not None:
            self._plan_unseen(planned, corpus.split.unseen)

    def _plan_entities(self, corpus: PlannedCorpus) -> str:
        """What is salient: the entities of references, or what a capability has in their place."""
        for capability in CAPABILITIES.values():
            if (salient := capability.salient(self, corpus)) is not None:
                return salient
        pipeline = corpus.settings.entities
        specification: EntitiesSpecification = {
            "corpus": corpus.prepared,
            "pipeline": pipeline,
            "versions": versions("spacy", *([pipeline] if pipeline != "rules" else [])),
        }
        if corpus.settings.hyphenated != "whole":
            specification["hyphenated"] = corpus.settings.hyphenated
        return self.add("entities", specification, [corpus.prepared], corpus=corpus.name)

    def plan_prepared(self, name: str, settings: Preparation, raw: Raw) -> str:
        """A prepared corpus."""
        specification: CorpusSpecification = {
            "raw": raw.sha256 or f"unknown, of {raw_file(raw, settings.split).path}",
            **raw.form_and_fields(),
            "compose": settings.compose.model_dump(mode="json") if settings.compose else None,
            "prepare": settings.prepare.model_dump(mode="json"),
            "split": settings.split.model_dump(mode="json"),
        }
        used = (settings.prepare.tokenizer, *settings.prepare.clean, raw.format_in_force())
        in_force = {part: self._version(f"corpus/{part}") for part in used if part in CORPUS_PARTS}
        if revisions := {part: version for part, version in in_force.items() if version != 1}:
            specification["revisions"] = revisions
        key = self.add("corpus", specification, [], [raw_file(raw, settings.split)], corpus=name)
        self.prepared[key] = name, settings
        return key

    def _plan_unseen(self, corpus: PlannedCorpus, groups: Sequence[str]) -> None:
        """What all systems say of the part that the corpus holds out, under the common search: rows of their own."""
        title = f"{corpus.settings.title} No training has seen {', '.join(groups)}.".lstrip()
        settings = corpus.settings.model_copy(update={"title": title})
        name = corpus.name + HELD_OUT
        self.corpora[name] = settings
        specification: UnseenSpecification = {"corpus": corpus.prepared}
        prepared = self.add("unseen", specification, [corpus.prepared], corpus=name)
        unseen = PlannedCorpus(name, settings, prepared, seen=corpus)
        extraction: AnnotateSpecification = {"corpus": unseen.prepared}
        self.add("annotate", extraction, [unseen.prepared], corpus=name)
        for capability in CAPABILITIES.values():
            capability.plan_annotations(self, unseen)
        for system, (kind, told) in self.systems.items():
            here = told.corpora is None or corpus.name in told.corpora
            here = here and all(self.annotations(prepared, made) for made in kind.needs.values())
            if here and not _makes_a_curve(told) and not isinstance(told, FileSettings):  # which is of the test items
                self._plan_system(unseen, system, kind, told)
        for row in [row for row in self.rows if row.corpus == corpus.name and row.run and row.part == "study"]:
            other, stem = replace(row, corpus=name, scores={}), self.folders[str(row.run)].stem
            if row.search == "common":
                self._plan_output(unseen, other, stem, settings.search, variant="-unseen")
            elif row.search == "own":
                for capability in CAPABILITIES.values():
                    capability.plan_output(self, unseen, other, stem, "-unseen")
        for capability in CAPABILITIES.values():
            capability.plan_trained(self, unseen)
        self._plan_scores(unseen)

    def _plan_fraction(self, corpus: PlannedCorpus, size: int, seed: int) -> str:
        specification: FractionSpecification = {"corpus": corpus.prepared, **corpus.sized(size)}
        variant = ""
        if seed != 1:  # which takes the corpus's own order (corpora.fraction)
            specification["seed"] = seed
            variant = f"-s{seed}"
        inputs = [corpus.prepared]
        called = corpus.called(size)
        return self.add("fraction", specification, inputs, corpus=corpus.name, size=called, variant=variant)

    def _plan_system(self, corpus: PlannedCorpus, name: str, kind: type[System], settings: SystemSettings) -> None:
        """What a system says that is no method of ours."""
        try:
            if isinstance(settings, OutsideSettings) and _makes_a_curve(settings):
                self._plan_curve(corpus, name, settings)
                return
            decides = kind.specify(settings, corpus.settings)
            files = [File(sha256, path) for sha256, path in kind.files(settings).items()]
        except RecordError as error:
            raise PlanError(f"study {self.study}: systems.{name}: {error}") from None
        needed = {key: self.annotations(corpus.prepared, made)[0] for key, made in kind.needs.items()}
        told = decides | needed
        inputs, named = [corpus.prepared, *needed.values()], {"corpus": corpus.name, "system": name}
        whose = {"corpus": corpus.prepared, "system": settings.kind or name}
        if kind.recipe:
            output = self.add("baseline", whose | told, inputs, files, **named)
        else:
            output = self.add("system", whose | {"told": told}, inputs, files, **named)
        self.rows.append(Scored(corpus.name, name, None, None, None, None, output, role=kind.role))

    def _plan_curve(self, corpus: PlannedCorpus, name: str, settings: OutsideSettings) -> None:
        """What a program or files from outside say at every percent and seed. Raises RecordError."""
        for size, seed in settings.trainings(corpus.settings.asked, self.settings.seeds):
            fraction = self._plan_fraction(corpus, size, seed)
            row = _row(corpus, name, size, seed, "own", None, fraction=fraction)
            for capability in CAPABILITIES.values():
                capability.plan_curve(self, corpus, row)
            if isinstance(settings, FileSettings):
                kind, one = self.systems[name][0], settings.at(size, seed)
                specification: SystemSpecification = {
                    "corpus": corpus.prepared,
                    "system": settings.kind or name,
                    "told": kind.specify(one, corpus.settings),
                }
                files = [File(sha256, path) for sha256, path in kind.files(one).items()]
                named = {"corpus": corpus.name, "system": f"{name}-{corpus.called(size)}-s{seed}"}
                output = self.add("system", specification, [corpus.prepared], files, **named)
                self.rows.append(replace(row, output=output))

    def _plan_row(self, corpus: PlannedCorpus, method: str, form: Form, size: int, seed: int) -> None:
        """A training, decoded with the common search, and at the method's largest size with its paper's, too."""
        stem, run = self.plan_run(corpus, method, form, size, seed)
        row = _row(corpus, method, size, seed, "common", run)
        self._plan_output(corpus, row, stem, corpus.settings.search)
        paper = _paper_search(form, corpus.settings)
        if paper is not None and size == corpus.settings.asked_of(method)[-1]:
            self._plan_output(corpus, replace(row, search="paper"), stem, paper, variant="-paper")

    def _plan_phases(self, corpus: PlannedCorpus, method: str, form: Form) -> None:
        """What tells the worth of the method's last phase, at its largest size (see `Scored`)."""
        size, search = corpus.settings.asked_of(method)[-1], corpus.settings.search
        own = corpus.settings.seeds_of(method, size, self.settings.seeds)
        more = self.settings.phases.seeds if self.settings.phases else []
        control = form.control()
        for seed in [*own, *(seed for seed in more if seed not in own)]:
            stem, run = self.plan_run(corpus, method, form, size, seed)
            row = _row(corpus, method, size, seed, "common", run)
            if seed not in own:
                self._plan_output(corpus, replace(row, part="after"), stem, search)
            self._plan_output(corpus, replace(row, part="before"), stem, search, variant="-before")
            if control is not None:
                other, spent = self.plan_run(corpus, method, control, size, seed, parent=run)
                self._plan_output(corpus, replace(row, run=spent, part="control"), other, search)

    def _plan_variance(self, corpus: PlannedCorpus, methods: dict[str, Form], table: VarianceTable) -> None:
        """Every draw with every seed; a draw's own seed of the study is there already."""
        for method in table.methods:
            for draw in table.draws:
                for seed in table.seeds:
                    if draw == seed and seed in self.settings.seeds:
                        continue
                    stem, run = self.plan_run(corpus, method, methods[method], table.percent, seed, draw=draw)
                    row = Scored(
                        corpus.name, method, table.percent, seed, "common", run, "", part="variance", draw=draw
                    )
                    self._plan_output(corpus, row, stem, corpus.settings.search)

    def plan_run(
        self,
        corpus: PlannedCorpus,
        method: str,
        form: Form,
        size: int,
        seed: int,
        parent: str | None = None,
        draw: int | None = None,
    ) -> tuple[str, str]:
        """Stem and key of a training; with `parent`, of the control that starts from that run's checkpoint before.

        A method that begins as another starts from that one's checkpoint before. The seed draws the records, too,
        unless `draw` is another.
        """
        settings = corpus.settings
        fraction = self._plan_fraction(corpus, size, draw if draw is not None else seed)
        specification: TrainSpecification = {
            "fraction": fraction,
            "method": method,
            "model": MODELS[form.model.kind].decides(form.model),
            "training": form.training.model_dump(mode="json"),
            "source_tokens": settings.source_tokens,
            "target_tokens": settings.target_tokens,
            "validation": settings.search.greedy().model_dump(mode="json"),
            "seed": seed,
            "threads": self.settings.threads,
            "sums": self.settings.sums,
        }
        inputs = [corpus.prepared, fraction]
        if MODELS[form.model.kind].learns_entities(form.model) and corpus.entities:
            specification["entities"] = corpus.entities
            inputs.append(corpus.entities)
        for capability in CAPABILITIES.values():
            inputs += capability.plan_training(self, corpus, form, specification)
        variant = ""
        if draw is not None and draw != seed:
            specification["draw"] = draw
            variant += f"-d{draw}"
        if parent is not None:
            specification["parent"] = parent
            specification["method"] = self.folders[parent].specification["method"]  # twins may share the parent
            inputs.append(parent)
            variant += "-control"
        named: dict[str, Any] = {"corpus": corpus.name, "method": specification["method"]}
        named |= {"size": corpus.called(size), "seed": seed, "variant": variant}
        stem = KINDS["train"].stem.format(**named)
        if parent is None and method in self.twins:
            other, base = self.twins[method]
            _, begins = self.plan_run(corpus, other, base, size, seed, draw=draw)
            if (base.model, base.training) == (form.model, form.training):  # they differ by their search alone
                return stem, begins
            specification["begins"] = begins
            inputs.append(begins)
        return stem, self.add("train", specification, inputs, self.model_files(form, method), **named)

    def model_files(self, form: Form, method: str) -> list[File]:
        """The files that a method's model is made of."""
        return MODELS[form.model.kind].files(form.model, self.config / "methods" / f"{method}.yaml")

    def _plan_output(self, corpus: PlannedCorpus, row: Scored, stem: str, search: Search, variant: str = "") -> None:
        specification: DecodeSpecification = {
            "run": str(row.run),
            "corpus": corpus.prepared,
            "search": search.model_dump(mode="json"),
            "sums": self.settings.sums,
        }
        if row.part == "before":
            specification["checkpoint"] = "before"
        inputs = [str(row.run), *corpus.read_by(self.methods[row.method])]
        scores_tokens = MODELS[self.methods[row.method].model.kind].scores_tokens()
        if row.search == "common" and scores_tokens:  # whoever asks: no scorer renames it
            reading = Reading.model_validate(self.settings.scores.get("reading", {}))
            specification["reading"] = reading.model_dump(mode="json")
        if _reads_entities(search) and corpus.entities:
            specification["entities"] = corpus.entities
            inputs.append(corpus.entities)
        models = self.model_files(self.methods[row.method], row.method)
        output = self.add("decode", specification, inputs, models, run=stem, variant=variant)
        self.decoded(row, output)

    def decoded(self, row: Scored, output: str) -> None:
        """The row of a run's output, which one process makes with all others of the run."""
        outputs = self.together.setdefault((row.corpus.removesuffix(HELD_OUT), "run", str(row.run)), [])
        if output not in outputs:  # methods that differ by their search alone share a run
            outputs.append(output)
        self.rows.append(replace(row, output=output))

    def _plan_scores(self, corpus: PlannedCorpus) -> None:
        """One folder for every output of the corpus and every scorer that has something to say of it."""
        needed = {name: self._plan_needs(corpus, name, scorer) for name, scorer in self.scorers.items()}
        outputs = [row.output for row in self.rows if row.corpus == corpus.name]
        specifications = {key: folder.specification for key, folder in self.folders.items()}
        placed: set[str] = {key for keys in self.together.values() for key in keys}
        for place, row in enumerate(self.rows):
            if row.corpus != corpus.name:
                continue
            scores: dict[str, str] = {}
            for name, scorer in self.scorers.items():
                inputs, needs = scorer.inputs(row.output, outputs, specifications), needed[name]
                if inputs is None or needs is None:
                    continue
                inputs = {**needs, **inputs}
                given = scorer.files(self.folders[row.output].name) if isinstance(scorer, ReadsFiles) else {}
                specification: ScoreSpecification = {
                    "output": row.output,
                    "corpus": corpus.prepared,
                    "inputs": dict(inputs) | {sha256: told for sha256, (_, told) in given.items()},
                    "scorer": name,
                    "settings": scorer.settings.model_dump(mode="json"),
                }
                made_from = dict.fromkeys([row.output, corpus.prepared, *inputs])
                stem = self.folders[row.output].stem
                files = [File(sha256, path) for sha256, (path, _) in given.items()]
                scores[name] = self.add("score", specification, made_from, files, output=stem, scorer=name)
                if scores[name] not in placed:
                    placed.add(scores[name])
                    sized = row.method if row.size is None else f"{row.method} {row.size}"
                    group: tuple[str, Literal["method", "scorer"], str] = (corpus.name, "method", sized)
                    if isinstance(scorer, Needing) and scorer.together:
                        group = (corpus.name, "scorer", name)
                    self.together.setdefault(group, []).append(scores[name])
            self.rows[place] = replace(row, scores=scores)

    def _check_files(self) -> None:
        """PlanError where a scorer's files are of outputs that the study does not have."""
        outputs = {self.folders[row.output].name for row in self.rows}
        for name, scorer in self.scorers.items():
            if isinstance(scorer, ReadsFiles):
                try:
                    scorer.check(outputs)
                except RecordError as error:
                    raise PlanError(f"study {self.study}: scores.{name}: {error}") from None

    def _plan_needs(self, corpus: PlannedCorpus, name: str, scorer: Scorer) -> dict[str, Any] | None:
        """What a scorer reads of a corpus beside outputs, by key, and what it is told; None where it says nothing.

        Of a part that is held out it reads the questions about it, and what was trained on the corpus.
        """
        if not isinstance(scorer, Needing):
            return {}
        seen = corpus.seen or corpus
        try:
            needs = scorer.needs(seen.name, self.settings)
        except RecordError as error:
            raise PlanError(f"study {self.study}: scores.{name}: {error}") from None
        if needs is None:
            return None
        made: dict[str, str] = {}
        told = {}
        for need in needs:
            if not need.specification:
                made[need.kind] = self.annotations(seen.prepared, need.kind)[0]
                told[self.annotations(corpus.prepared, need.kind)[0]] = need.told
                continue
            of = {kind: made[kind] for kind in need.of}
            files = [File(sha256, path, shards=shards) for sha256, (path, shards) in need.files.items()]
            specification = {"corpus": seen.prepared, **of, **need.specification}
            key = self.add(
                need.kind, specification, [seen.prepared, *of.values()], files, corpus=seen.name, **need.named
            )
            made.setdefault(need.kind, key)
            told[key] = need.told
        return told

    @property
    def contents(self) -> list[tuple[Raw, Preparation]]:
        """Where the records of the corpora come from, and those that capabilities read, and how they are prepared."""
        contents: list[tuple[Raw, Preparation]] = [(one.raw, one) for one in self.settings.corpora.values()]
        for capability in CAPABILITIES.values():
            contents += capability.contents(self.settings)
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
        return {name: told.title or kind.title for name, (kind, told) in self.systems.items()}

    @property
    def test_items(self) -> dict[str, int | None]:
        """How many items each corpus's test part has, by its split or study; a part held out is taken for as large."""
        return {name: one.split.test or one.published.get("test") for name, one in self.corpora.items()}

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
        return [one.key for one in self.named("annotations", kind) if one.specification["corpus"] == prepared]

    @staticmethod
    def corpus_name(prepared: str) -> str:
        """The name of the corpus whose folder has this key."""
        return prepared.split("/")[1].rsplit("-", 1)[0]

    def named(self, step: str, kind: str | None = None) -> list[Folder]:
        """The folders of one step, and of one kind where given, in the plan's order."""
        return [folder for folder in self.folders.values() if folder.step == step and kind in (None, folder.kind)]


def raw_file(raw: Raw, split: Split) -> File:
    """The raw content of a corpus. Harvested files are named after it and shared by the corpora made from it."""
    if raw.harvest:
        return File(raw.sha256, f"data/raw/harvest-{str(raw.sha256)[:12]}.jsonl", harvested=True)
    if raw.apt:
        return File(
            raw.sha256, place_of_lists(str(raw.sha256)), harvested=True, shards=patterns(SOURCES[raw.format_in_force()])
        )
    shards = patterns(SOURCES[raw.format_in_force()], split.files())
    files = tuple(sorted((raw.files or {}).items()))
    if raw.path:
        return File(raw.sha256, raw.path, shards=shards, files=files)
    return File(raw.sha256, place_of_hub(raw), harvested=True, shards=shards, files=files)


HUB, LISTS = "hub-", "lists-"


def place_of_hub(raw: Raw) -> str:
    """Where files of the hub lie, below the study's home: what is asked of the hub decides it."""
    asked = {"hub": raw.hub, "revision": raw.revision, "files": sorted(raw.files or {})}
    return f"data/raw/{HUB}{digest(asked)}"


def place_of_lists(sha256: str) -> str:
    """Where Debian's lists of packages lie, below the study's home."""
    return f"data/raw/{LISTS}{sha256[:12]}"


def studies(config: Path) -> list[str]:
    """The names of all studies, sorted."""
    return sorted(path.stem for path in (config / "studies").glob("*.yaml"))
