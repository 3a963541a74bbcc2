"""Folders of models and outputs of outside programs, and how each kind is made."""

from typing import Literal, NotRequired, TypedDict

from sumcurve.corpora.store import Corpus
from sumcurve.settings.study import Reading
from sumcurve.store import resume
from sumcurve.store.kind import COMMITTED_OF_RUNS, Kind
from sumcurve.store.records import RecordError
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed
from sumcurve.systems.family import PRETRAINED_MB
from sumcurve.systems.folders import items_of, log_of_program


class TrainProgramSpecification(TypedDict):
    fraction: str
    told: Block  # the command, the files that it names, its limits and settings
    seed: int
    threads: int
    training: Block  # which of the fraction's words it is asked of: all


def train_program(specification: TrainProgramSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the model that an outside program learns from a fraction; its messages are kept among the logs."""
    from sumcurve.capabilities.programs.training import train_program as learn

    fraction = inputs[specification["fraction"]]
    stage.facts.update(exclusive=stage.lease.exclusive, threads=specification["threads"])
    try:
        learn(
            settings=specification["told"],
            seed=specification["seed"],
            threads=specification["threads"],
            fraction=fraction,
            corpus=inputs[sealed(fraction)["specification"]["corpus"]],
            stage=stage.folder,
            scratch=resume.scratch(stage.home, stage.name),
            log=log_of_program(stage),
            device=stage.lease.device,
            note=stage.note,
        )
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error


class DecodeProgramSpecification(TypedDict):
    run: str
    corpus: str
    system: str  # a kind of `sumcurve.systems.SYSTEMS`
    told: Block
    reading: NotRequired[Block]  # of a program that gives log-probabilities
    target_tokens: NotRequired[int]  # words of a target with log-probabilities, with `reading`
    part: NotRequired[Literal["valid"]]  # of the corpus, where settings are tried; without it the test part


def decode_program(specification: DecodeProgramSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a trained outside program's summaries of the test set, or of the validation records."""
    from sumcurve.capabilities.programs.command import Command
    from sumcurve.capabilities.programs.program import decode_program as decode
    from sumcurve.systems.system import LOG_OF

    run, target_tokens = inputs[specification["run"]], specification.get("target_tokens", 0)
    logging = {**inputs, LOG_OF: log_of_program(stage)}
    system = Command.of_run(specification["told"], run, logging, stage.lease.device, target_tokens)
    reading = Reading.of_specification(specification["reading"]) if "reading" in specification else None
    items = items_of(Corpus(inputs[specification["corpus"]]).part(specification.get("part", "test")))
    try:
        decode(system, items, reading, target_tokens, stage.folder)
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error


KINDS: dict[str, Kind] = {
    "train_program": Kind(
        step="runs",
        stem="{corpus}-{method}-{size}-s{seed}",
        specification=TrainProgramSpecification,
        builder=train_program,
        version=1,
        mem_mb=3000,
        model_mb=PRETRAINED_MB,
        gpu=True,
        committed=COMMITTED_OF_RUNS,
        leads_file=True,
    ),
    "decode_program": Kind(
        step="outputs",
        stem="{run}{variant}",
        specification=DecodeProgramSpecification,
        builder=decode_program,
        version="df7cdd2d35f4602d",
        version_key="fingerprint",
        mem_mb=3000,
        model_mb=PRETRAINED_MB,
        gpu=True,
        committed=("summaries.jsonl",),
    ),
}
