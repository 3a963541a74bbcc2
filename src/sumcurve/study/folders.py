"""Folders of the outputs of systems and of the values of scorers: how each kind is made."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from sumcurve.corpora.store import Corpus
from sumcurve.store.kind import Kind
from sumcurve.store.records import RecordError
from sumcurve.store.stage import Block, BuildError, Inputs, Stage
from sumcurve.study.doors import SCORERS, SYSTEMS
from sumcurve.systems.folders import log_of_program, test_items


class BaselineSpecification(TypedDict):
    corpus: str
    system: str  # lead, random or best-sentence
    max_tokens: int
    sentences: NotRequired[int]  # of lead and random
    annotation: NotRequired[str]  # of the best single sentence


def baseline(specification: BaselineSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the summaries of the test set by lead, random or the best single sentence."""
    _summarize(specification["corpus"], specification["system"], specification, inputs, stage)


class SystemSpecification(TypedDict):
    corpus: str
    system: str  # a kind of `sumcurve.systems.SYSTEMS`
    told: Block  # settings that decide its summaries beside the corpus and its code


def system(specification: SystemSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the summaries of the test set by an untrained system."""
    _summarize(specification["corpus"], specification["system"], specification["told"], inputs, stage)


def _summarize(corpus: str, kind: str, settings: Mapping[str, Any], inputs: Inputs, stage: Stage) -> None:
    from sumcurve.study.doors import SYSTEMS
    from sumcurve.systems.system import LOG_OF, write_summaries

    made = SYSTEMS[kind](settings, {**inputs, LOG_OF: log_of_program(stage)})
    try:
        write_summaries(made, test_items(inputs[corpus]), stage.folder)
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error


class ScoreSpecification(TypedDict):
    output: str
    corpus: str
    inputs: Block  # further folders, by key, files, by sha256, and the scorer's parameters for each
    scorer: str
    settings: Block


def score(specification: ScoreSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the per-item values of one output under one scorer."""
    from sumcurve.scores.run import write_scores
    from sumcurve.study.doors import SCORERS

    name = specification["scorer"]
    scorer = SCORERS[name]
    write_scores(
        name,
        scorer(scorer.Settings.of_specification(specification["settings"])),
        inputs[specification["output"]],
        Corpus(inputs[specification["corpus"]]).part("test"),
        {inputs[key]: what for key, what in specification["inputs"].items()},
        stage.folder,
    )


KINDS: dict[str, Kind] = {
    "baseline": Kind(
        step="outputs",
        stem="{corpus}-{system}",
        specification=BaselineSpecification,
        builder=baseline,
        part="system",
        versions={name: system.version for name, system in SYSTEMS.items() if system.is_baseline},
        mem_mb=1000,
        light=True,
    ),
    "system": Kind(
        step="outputs",
        stem="{corpus}-{system}",
        specification=SystemSpecification,
        builder=system,
        part="system",
        versions={name: system.version for name, system in SYSTEMS.items() if not system.is_baseline},
        version_key="fingerprint",
        mem_mb=2000,
        light=True,
    ),
    "score": Kind(
        step="scores",
        stem="{output}-{scorer}",
        specification=ScoreSpecification,
        builder=score,
        part="scorer",
        versions={name: scorer.version for name, scorer in SCORERS.items()},
        version_key="fingerprint",
        mem_mb=1000,
        light=True,
        committed=("items.csv", "scores.json"),
    ),
}
