"""The steps of a study, and one row for every kind of folder in them.

`corpora → annotations → runs → outputs → scores → tables`: each reads only what stands to its left. The plan, the
rules, the command line, recipes and fingerprints read this table; a new kind of folder is a specification and a
builder (`sumcurve.study.builders`), a row here, and the line of the plan that asks for it.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sumcurve.sources import SOURCES
from sumcurve.study import builders
from sumcurve.study.doors import SCORERS, SYSTEMS
from sumcurve.tables import APPENDIX, TABLES, module_of


def _no_other(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return ()


def _scorer(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return (SCORERS[specification["scorer"]].__module__,)


def _system(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return (SYSTEMS[specification["system"]].__module__,)


def _system_if_told(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return _system(specification) if "system" in specification else ()


def _source(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return (SOURCES[specification.get("form", "jsonl")].rows.__module__,)


@dataclass(frozen=True)
class Kind:
    """One kind of folder: `results/<step>/<stem>-<digest of its specification>/`.

    `stem` is a format string of what the plan knows of the folder. `specification` holds all that decides its content
    (a TypedDict), beside the code: its modules are `modules`, with all that these import, and `further` ones by the
    specification. A version of recipes.yaml stands for the code in the specification, under the key `version_key`
    (recorded names hold either word). Where the kind has several `parts`, each has a version of its own, chosen by the
    specification's key `part`. `mem_mb` and `minutes` are what a scheduler is asked for at least
    (`sumcurve.study.needs`). `together`: several processes of one `torchrun` may make one folder.
    """

    step: str
    stem: str
    specification: type
    builder: Callable[[Any, builders.Inputs, builders.Stage], None]
    modules: tuple[str, ...]
    mem_mb: int
    version_key: Literal["recipe", "fingerprint"] = "recipe"
    part: str = ""
    parts: tuple[str, ...] = ()
    minutes: int = 60
    gpu: bool = False
    together: bool = False
    further: Callable[[Mapping[str, Any]], tuple[str, ...]] = _no_other

    def code(self, specification: Mapping[str, Any]) -> tuple[str, ...]:
        """The modules whose code, with all that they import, decides a folder of this specification."""
        return self.modules + self.further(specification)

    def recipe(self, kind: str, specification: Mapping[str, Any]) -> str:
        """The row of recipes.yaml that stands for this code; `kind` is this row's own name."""
        return f"{kind}/{specification[self.part]}" if self.part else kind


KINDS: dict[str, Kind] = {
    "corpus": Kind(
        step="corpora",
        stem="{corpus}",
        specification=builders.CorpusSpecification,
        builder=builders.corpus,
        modules=(
            "sumcurve.corpora.prepare",
            "sumcurve.corpora.shards",
            *(f"sumcurve.sources.{name}" for name in ("jsonl", "parquet", "questions", "stories", "tagged")),
        ),
        further=_source,
        mem_mb=3000,
        minutes=240,
    ),
    "unseen": Kind(
        step="corpora",
        stem="{corpus}",
        specification=builders.UnseenSpecification,
        builder=builders.unseen,
        modules=("sumcurve.corpora.unseen",),
        version_key="fingerprint",
        mem_mb=1000,
    ),
    "fraction": Kind(
        step="corpora",
        stem="{corpus}-{size}{variant}",
        specification=builders.FractionSpecification,
        builder=builders.fraction,
        modules=("sumcurve.corpora.fraction", "sumcurve.corpora.sizes"),
        mem_mb=1000,
    ),
    "outside": Kind(
        step="corpora",
        stem="{corpus}-outside",
        specification=builders.OutsideSpecification,
        builder=builders.outside,
        modules=("sumcurve.capabilities.pretrained.outside",),
        mem_mb=2000,
    ),
    "annotate": Kind(
        step="annotations",
        stem="{corpus}-extraction",
        specification=builders.AnnotateSpecification,
        builder=builders.annotate,
        modules=("sumcurve.corpora.extraction",),
        version_key="fingerprint",
        mem_mb=1000,
    ),
    "entities": Kind(
        step="annotations",
        stem="{corpus}-entities",
        specification=builders.EntitiesSpecification,
        builder=builders.entities,
        modules=("sumcurve.corpora.entities",),
        mem_mb=2000,
    ),
    "questions": Kind(
        step="annotations",
        stem="{corpus}-questions",
        specification=builders.QuestionsSpecification,
        builder=builders.questions,
        modules=("sumcurve.capabilities.apes.cloze",),
        mem_mb=3000,
    ),
    "contrasts": Kind(
        step="annotations",
        stem="{corpus}-contrasts",
        specification=builders.ContrastsSpecification,
        builder=builders.contrasts,
        modules=("sumcurve.capabilities.contrasts.broken",),
        version_key="fingerprint",
        mem_mb=2000,
    ),
    "prove": Kind(
        step="annotations",
        stem="{corpus}-oracle",
        specification=builders.ProveSpecification,
        builder=builders.prove,
        modules=("sumcurve.capabilities.extracts.corpus",),
        mem_mb=2000,
        minutes=720,
    ),
    "subwords": Kind(
        step="annotations",
        stem="{corpus}-subwords",
        specification=builders.SubwordsSpecification,
        builder=builders.subwords,
        modules=("sumcurve.capabilities.pretrained.bart", "sumcurve.capabilities.pretrained.outside"),
        mem_mb=2000,
    ),
    "pretrain": Kind(
        step="runs",
        stem="{corpus}-pretraining",
        specification=builders.PretrainSpecification,
        builder=builders.pretrain,
        modules=("sumcurve.capabilities.pretrained.denoising", "sumcurve.machine.sums"),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        together=True,
    ),
    "reader": Kind(
        step="runs",
        stem="{corpus}-reader-s{seed}",
        specification=builders.ReaderSpecification,
        builder=builders.reader,
        modules=(
            "sumcurve.capabilities.apes.reader",
            "sumcurve.capabilities.apes.span_reader",
            "sumcurve.machine.sums",
        ),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        together=True,
    ),
    "train": Kind(
        step="runs",
        stem="{corpus}-{method}-{size}-s{seed}{variant}",
        specification=builders.TrainSpecification,
        builder=builders.train,
        modules=("sumcurve.training.run", "sumcurve.machine.sums"),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        together=True,
    ),
    "train_program": Kind(
        step="runs",
        stem="{corpus}-{method}-{size}-s{seed}",
        specification=builders.TrainProgramSpecification,
        builder=builders.train_program,
        modules=("sumcurve.capabilities.programs.training",),
        mem_mb=3000,
        minutes=240,
        gpu=True,
    ),
    "decode": Kind(
        step="outputs",
        stem="{run}{variant}",
        specification=builders.DecodeSpecification,
        builder=builders.decode,
        modules=(
            "sumcurve.systems.trained",
            "sumcurve.capabilities.pretrained.system",
            "sumcurve.capabilities.fairseq.system",
            "sumcurve.machine.sums",
        ),
        mem_mb=3000,
        minutes=240,
        gpu=True,
    ),
    "untrained": Kind(
        step="outputs",
        stem="{corpus}-{method}-000",
        specification=builders.UntrainedSpecification,
        builder=builders.untrained,
        modules=("sumcurve.capabilities.pretrained.system", "sumcurve.machine.sums"),
        mem_mb=3000,
        minutes=240,
        gpu=True,
    ),
    "decode_program": Kind(
        step="outputs",
        stem="{run}{variant}",
        specification=builders.DecodeProgramSpecification,
        builder=builders.decode_program,
        modules=("sumcurve.capabilities.programs.program",),
        further=_system,
        part="system",
        parts=("command",),
        version_key="fingerprint",
        mem_mb=3000,
        minutes=240,
        gpu=True,
    ),
    "judge": Kind(
        step="outputs",
        stem="{corpus}-{method}-contrasts",
        specification=builders.JudgeSpecification,
        builder=builders.judge,
        modules=("sumcurve.capabilities.contrasts.judge", "sumcurve.machine.sums"),
        further=_system_if_told,
        mem_mb=3000,
        gpu=True,
    ),
    "judge_words": Kind(
        step="outputs",
        stem="{corpus}-words-contrasts",
        specification=builders.JudgeWordsSpecification,
        builder=builders.judge_words,
        modules=("sumcurve.capabilities.contrasts.language",),
        version_key="fingerprint",
        mem_mb=1000,
    ),
    "labels": Kind(
        step="outputs",
        stem="{run}-labels",
        specification=builders.LabelsSpecification,
        builder=builders.labels,
        modules=(
            "sumcurve.capabilities.labels.related",
            "sumcurve.capabilities.contrasts.judge",
            "sumcurve.systems.extractive",
            "sumcurve.machine.sums",
        ),
        mem_mb=3000,
        gpu=True,
    ),
    "baseline": Kind(
        step="outputs",
        stem="{corpus}-{system}",
        specification=builders.BaselineSpecification,
        builder=builders.baseline,
        modules=("sumcurve.systems.baselines", "sumcurve.systems.system"),
        mem_mb=1000,
    ),
    "system": Kind(
        step="outputs",
        stem="{corpus}-{system}",
        specification=builders.SystemSpecification,
        builder=builders.system,
        modules=("sumcurve.systems.system",),
        further=_system,
        part="system",
        parts=tuple(name for name, system in SYSTEMS.items() if not system.recipe),
        version_key="fingerprint",
        mem_mb=2000,
    ),
    "score": Kind(
        step="scores",
        stem="{output}-{scorer}",
        specification=builders.ScoreSpecification,
        builder=builders.score,
        modules=("sumcurve.scores.run",),
        further=_scorer,
        part="scorer",
        parts=tuple(SCORERS),
        version_key="fingerprint",
        mem_mb=1000,
    ),
}

# The last step has no kinds: a study has one folder of tables, which bears its name and is made anew.
TABLES_MODULES = (
    "sumcurve.tables.study",
    "sumcurve.study.collect",
    *(module_of(name) for name in (*TABLES, *APPENDIX)),
)
# Rows of recipes.yaml, each with the modules that it stands for. What a raw format, a tokenizer or a step of cleaning
# writes has a version of its own, which stands in the names of corpora that use it where it is above 1.
CORPUS_PARTS = {name: (source.rows.__module__,) for name, source in SOURCES.items()} | {
    "boilerplate": ("sumcurve.sources.cleaning",),
    "markup": ("sumcurve.sources.cleaning",),
    "wayback": ("sumcurve.sources.cleaning",),
    "ptb": ("sumcurve.corpora.tokenizers",),
}
RECIPES: dict[str, tuple[str, ...]] = {
    **{name: kind.modules for name, kind in KINDS.items() if not kind.part},
    **{
        f"{name}/{part}": kind.code({kind.part: part})
        for name, kind in KINDS.items()
        if kind.part
        for part in kind.parts
    },
    **{f"corpus/{part}": modules for part, modules in CORPUS_PARTS.items()},
    "tables": TABLES_MODULES,
}
STEPS = (*dict.fromkeys(kind.step for kind in KINDS.values()), "tables")
