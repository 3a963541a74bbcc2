"""Studies read and checked: the settings, and the methods in the form that a study names.

Every check raises PlanError with the file, the line, the key, the value and the remedy.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from sumcurve.machine.spelling import there_are
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.settings.config import Block, PlanError, read, read_study
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form, MethodSettings
from sumcurve.settings.study import REFERENCE_SYSTEMS
from sumcurve.study.doors import CAPABILITIES, MODELS, SCORERS, SYSTEMS, StudySettings
from sumcurve.study.methods import read_method

# Folders are named by several of these, with numbers and digests, and a file system takes 255 bytes.
NAME = re.compile(r"[a-z][a-z0-9_]{,63}")
SYSTEM_NAME = re.compile(r"[a-z][a-z0-9_-]{,63}")
STUDY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{,63}")  # it becomes a folder's name and part of shell lines


@dataclass(frozen=True)
class Study:
    """A study whose settings were checked.

    By name: `methods` in its form, `titles` of them, `about` with a description of each, in a clause, and `twins` of
    those that begin as another: that one and its form.
    """

    name: str
    settings: StudySettings
    methods: dict[str, Form] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    twins: dict[str, tuple[str, Form]] = field(default_factory=dict)


def read_checked(config: Path, study: str | None) -> Study:
    """A study of `config/studies/`; without a name, the one that config.yaml names. PlanError for invalid settings."""
    default = _default(config)
    name = study or default
    if not STUDY_NAME.fullmatch(name):
        raise PlanError(
            f"{name!r} is no study's name: it holds letters, digits, hyphens and underscores, 64 at most, and "
            f"names a file of {config / 'studies'} without its ending"
        )
    block = read_study(config / "studies" / f"{name}.yaml")
    checked = Study(name, block.validated(StudySettings))
    settings, methods = checked.settings, checked.methods
    _check_scorers(block, settings)
    _check_systems(block, settings)
    for corpus in settings.corpora:
        _check_corpus(block, corpus, settings)
    _read_methods(config, block, checked)
    _check_methods(block, settings, methods)
    for capability in CAPABILITIES.values():
        capability.check(block, settings, methods)
    return checked


def _default(config: Path) -> str:
    """The study that config.yaml names."""
    main = read(config / "config.yaml").plain()
    if not isinstance(main, dict) or set(main) != {"study"} or not isinstance(main["study"], str):
        raise PlanError(
            f"{config / 'config.yaml'} must hold one key, `study`, that names a file of {config / 'studies'}"
        )
    return main["study"]


def _read_methods(config: Path, block: Block, study: Study) -> None:
    """Read the study's methods into it; PlanError for an unknown name, and for a method that lacks the study's form."""
    form = study.settings.form
    for method in study.settings.methods:
        if not NAME.fullmatch(method):
            raise PlanError(
                f"{block.path}: methods: {method!r} is no method's name (small letters, digits, underscores, 64 at "
                "most)"
            )
        file = config / "methods" / f"{method}.yaml"
        content = read_method(file)
        if form not in content.forms:
            raise PlanError(f"{file}: no form {form!r}, which {block.path} asks for; there are {sorted(content.forms)}")
        study.titles[method], study.methods[method] = content.title, content.forms[form]
        if content.about:
            study.about[method] = content.about
        if content.begins_as is not None:
            study.twins[method] = content.begins_as, _twin(config, file, content, form)


def _check_corpus(block: Block, name: str, settings: StudySettings) -> None:
    """Raise PlanError for an invalid name, impossible sizes and parts, and methods that are not the study's."""
    where, corpus = block.where("corpora", name), settings.corpora[name]
    if not NAME.fullmatch(name):
        raise PlanError(f"{where}: a corpus's name holds small letters, digits and underscores only, 64 at most")
    _check_sizes(block, name, settings)
    _check_published(block, name, corpus)
    if corpus.search.min_tokens > corpus.search.max_tokens:
        raise PlanError(f"{where}: search.min_tokens is above search.max_tokens")
    if strange := sorted(set(corpus.methods or []) - set(settings.methods)):
        raise PlanError(f"{where}: methods: {', '.join(strange)}: not among the study's methods; add them there")


def _check_scorers(block: Block, settings: StudySettings) -> None:
    """Raise PlanError for no scorer, one that does not exist, and one with a setting that it does not have."""
    if not settings.scores:
        raise PlanError(f"{block.where('scores')}: name at least one of {', '.join(SCORERS)}")
    for name in settings.scores:
        if name not in SCORERS:
            raise PlanError(f"{block.where('scores', name)}: no scorer {name!r}; {there_are(name, SCORERS)}")
        block.validated(SCORERS[name].Settings, "scores", name)
    metrics = [metric for name in settings.scores for metric in SCORERS[name].metrics]
    ranking = [metric.name for metric in metrics if metric.ranks and metric.higher_is_better]
    if settings.rank_by is not None and settings.rank_by not in ranking:
        here = there_are(settings.rank_by, ranking)
        raise PlanError(f"{block.where('rank_by')}: no metric {settings.rank_by!r} of which more is better; {here}")


def _check_systems(block: Block, settings: StudySettings) -> None:
    """Raise PlanError for a system of no kind or no corpus, one with a setting that its kind lacks, and one twice."""
    given = block.deepest(("systems",))[0].mapping if "systems" in block.mapping else {}
    for name, entry in given.items():
        if entry.value is None and name not in REFERENCE_SYSTEMS:
            raise PlanError(f"{entry.where()}: no system to leave out; there are: {', '.join(REFERENCE_SYSTEMS)}")
    names: dict[tuple[str, str], str] = {}
    for name, system in settings.systems.items():
        where = block.where("systems", name)
        if not SYSTEM_NAME.fullmatch(name):
            raise PlanError(
                f"{where}: a system's name holds small letters, digits, hyphens and underscores, 64 at most"
            )
        if name in settings.methods:
            raise PlanError(f"{where}: a method of this study has that name; give the system another")
        if name.endswith(ZERO_SHOT):
            raise PlanError(f"{where}: names that end in {ZERO_SHOT} are those of pretrained methods; give it another")
        kind = (system or {}).get("kind", name)
        if kind not in SYSTEMS:
            raise PlanError(f"{where}: no kind {kind!r}; {there_are(kind, SYSTEMS)}")
        if name not in given:
            continue  # a reference system of every study
        validated = block.validated(SYSTEMS[kind].Settings, "systems", name)
        if strange := [corpus for corpus in validated.corpora or [] if corpus not in settings.corpora]:
            raise PlanError(f"{where}: corpora: no corpus {strange[0]!r}; {there_are(strange[0], settings.corpora)}")
        first = names.setdefault((kind, validated.model_dump_json(exclude={"kind"})), name)
        if first != name:
            raise PlanError(f"{where}: it is what {first!r} is, and would count twice; leave one of them out")


def _check_methods(block: Block, settings: StudySettings, methods: dict[str, Form]) -> None:
    """Raise PlanError for a method that a corpus cannot serve, which would be missing from its tables."""
    problems = []
    for name, corpus in settings.corpora.items():
        trained = settings.methods if corpus.methods is None else corpus.methods
        reasons = {method: MODELS[methods[method].model.kind].refusal(corpus) for method in trained}
        served = ", ".join(method for method, reason in reasons.items() if reason is None)
        problems += [
            f"{block.where('corpora', name, *reason.key)}: corpus {name} cannot serve {method}: {reason.why}; change "
            f"it, or list in {block.path} the methods that it serves: `corpora: {{{name}: {{methods: [{served}]}}}}`"
            for method, reason in reasons.items()
            if reason is not None
        ]
    if problems:
        raise PlanError("\n".join(problems))


def _check_sizes(block: Block, name: str, settings: StudySettings) -> None:
    """Raise PlanError for sizes that do not rise, and for sizes and seeds of a method that its study does not have."""

    def where(*keys: str) -> str:
        return block.where("corpora", name, *keys)

    corpus = settings.corpora[name]
    key, sizes = "percents" if corpus.percents is not None else "sizes", corpus.all_sizes
    if not sizes:
        raise PlanError(f"{where(key)}: name one at least (value: [])")
    if sizes != sorted(set(sizes)):
        raise PlanError(f"{where()}: {key} must rise without repetition, not {sizes}")
    trainings = {method: of for method, of in corpus.trainings.items() if of is not None}
    for method, training in trainings.items():
        if method not in (settings.methods if corpus.methods is None else corpus.methods):
            raise PlanError(
                f"{where('trainings', method)}: no method of this corpus; correct it, remove it, or say null"
            )
        if training.sizes is not None and training.sizes != [size for size in sizes if size in training.sizes]:
            raise PlanError(
                f"{where('trainings', method, 'sizes')}: {training.sizes}: name some of {key} {sizes}, rising"
            )
        if strange := sorted(set(training.seeds or []) - set(settings.seeds)):
            raise PlanError(
                f"{where('trainings', method, 'seeds')}: {strange[0]} is none of the study's seeds {settings.seeds}"
            )


def _check_published(block: Block, name: str, corpus: CorpusSettings) -> None:
    """Raise PlanError for parts and sizes of more records than their content is known to have."""
    split, published = corpus.split, corpus.published
    most = max(corpus.sizes or [1])
    counts = {"train": split.train, "valid": split.valid, "test": split.test}
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
            if (counts[part] or 0) > records:
                raise PlanError(
                    f"{block.where('corpora', name, 'split', part)}: {counts[part]:,} of {records:,} records that are "
                    f"`published`; {remedy}"
                )
    for key, train in (("split.train", split.train), ("published.train", published.get("train"))):
        if train is not None and most > train:
            raise PlanError(
                f"{block.where('corpora', name, 'sizes')}: {most:,} training records of the {train:,} of "
                f"`{key}`; lower it, or correct `{key}`"
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
