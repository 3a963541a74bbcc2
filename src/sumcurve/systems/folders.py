"""Folders of trainings, and of the outputs of trained runs: how the kinds are made."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from sumcurve.corpora.folders import in_small_letters, tokenizer_of
from sumcurve.corpora.store import Corpus, Part
from sumcurve.machine import devices
from sumcurve.numerics.sums import Sums
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.kind import COMMITTED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed
from sumcurve.systems.family import Family, FinishedRun
from sumcurve.systems.system import Item
from sumcurve.training.place import WEIGHTS, Place

if TYPE_CHECKING:
    from sumcurve.training.run import NewRun


LINES = Path("scratch", "lines")  # below a study's home: of training parts, made by their first reader


class TrainSpecification(TypedDict):
    fraction: str
    method: str
    model: Block
    training: Block
    source_tokens: int
    target_tokens: int
    validation: Block  # the search that validation decodes with
    seed: int
    threads: int
    sums: Sums
    entities: NotRequired[str]  # where the method learns them
    parent: NotRequired[str]  # of a control: the run from whose checkpoint before its last phase it starts
    begins: NotRequired[str]  # the run of the same phases but the last, from whose checkpoint before it starts


def train(models: Mapping[str, Family], specification: TrainSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the weights and History of one run, resuming where an interrupted training left its state."""
    from sumcurve.training.fit import ResumeError, TrainingError
    from sumcurve.training.run import train_run

    family = models[specification["model"]["kind"]]
    run = new_run(family, specification, inputs, stage)
    stage.facts["exclusive"] = stage.lease.exclusive
    errors: tuple[type[Exception], ...] = (TrainingError, ResumeError, *family.errors())
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            train_run(family, run, Place.of(stage, line))
        except errors as error:
            raise BuildError(f"{stage.name}: {error}") from error


def new_run(family: Family, specification: TrainSpecification, inputs: Inputs, stage: Stage) -> "NewRun":
    """The run that is to be trained, by its specification."""
    from sumcurve.corpora.lines import Lines
    from sumcurve.training.run import NewRun

    fraction = inputs[specification["fraction"]]
    corpus = inputs[sealed(fraction)["specification"]["corpus"]]
    part = Corpus(corpus).part("train")
    sha256 = sealed(corpus)["files"][part.path.name]["sha256"]
    return NewRun(
        specification=dict(specification),
        form=family.form(specification),
        corpus=corpus,
        fraction=fraction,
        lines=Lines.of_part(part, sha256, stage.home / LINES, stage.note),
        inputs=inputs,
        lower=in_small_letters(corpus, inputs),
        device=stage.lease.device,
        note=stage.note,
        tokenizer=tokenizer_of(corpus, inputs),
    )


def test_items(corpus: Path) -> list[Item]:
    return items_of(Corpus(corpus).part("test"))


def items_of(part: Part) -> list[Item]:
    """Items of a part as a system reads them, with their references."""
    return [Item(record, text) for record, text in part.with_text]


def made_as(family: Family, corpus: Path, inputs: Inputs) -> tuple[bool, str]:
    """Tell whether a corpus's tokens are in small letters, and its tokenizer's name, for families that read texts.

    Others read tokens as they are: the corpus of a held-out part, which has both values, is no input of theirs.
    """
    return (in_small_letters(corpus, inputs), tokenizer_of(corpus, inputs)) if family.reads_texts else (False, "words")


def log_of_program(stage: Stage) -> Path:
    return stage.home.resolve() / "logs" / "programs" / f"{stage.name}.log"


class DecodeSpecification(TypedDict):
    run: str
    corpus: str
    search: Block
    sums: Sums
    reading: NotRequired[Block]  # for systems that score single tokens, with the common search
    checkpoint: NotRequired[Literal["before"]]  # of the run's last phase; without it the selected one
    entities: NotRequired[str]  # for a search that needs gold positions


def write_output(family: Family, run: FinishedRun, corpus: Path, reading: Reading | None, stage: Stage) -> None:
    """Write the outputs of a run's system on a test part: summaries, and logp.safetensors where `reading` is set.

    There is no logp.safetensors where all items are of one group. Raises BuildError for errors of the family.
    """
    from sumcurve.corpora.derangement import GroupError
    from sumcurve.decoding.logp import write_logp

    try:
        with family.system(run) as system:
            items = test_items(corpus)
            family.write(system, items, stage)
            if reading is not None:
                logp = system.reading(items, reading)
                write_logp(stage.folder, logp, [item.record.id for item in items])
    except GroupError:
        return  # the scorer of the file reports why it is missing
    except family.errors() as error:
        raise BuildError(f"{stage.name}: {error}") from error


def decode(models: Mapping[str, Family], specification: DecodeSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a run's summaries of the test set; the stage's facts get the sha256 of the weights that were decoded."""
    run, corpus = inputs[specification["run"]], inputs[specification["corpus"]]
    run_manifest = sealed(run)
    family = models[run_manifest["specification"]["model"]["kind"]]
    form = family.form(run_manifest["specification"])
    checkpoint: Literal["selected", "before"] = specification.get("checkpoint", "selected")
    stage.facts["weights"] = run_manifest["files"][WEIGHTS[checkpoint]]["sha256"]
    salient = {}
    if "entities" in specification:
        from sumcurve.corpora.store import read_salient

        spans = read_salient(inputs[specification["entities"]], "test")
        salient = dict(zip(Corpus(corpus).part("test").ids, spans, strict=True))
    lower, words = made_as(family, corpus, inputs)
    finished = FinishedRun(
        form=form if checkpoint == "selected" else form.before(),
        specification=run_manifest["specification"] | {"sums": specification["sums"]},
        folder=run,
        weights=run / WEIGHTS[checkpoint],
        search=Search.of_specification(specification["search"]),
        device=stage.lease.device,
        inputs=inputs,
        lower=lower,
        salient=salient,
        tokenizer=words,
    )
    reading = Reading.of_specification(specification["reading"]) if "reading" in specification else None
    write_output(family, finished, corpus, reading, stage)


KINDS: dict[str, Kind] = {
    "train": Kind(
        step="runs",
        stem="{corpus}-{method}-{size}-s{seed}{variant}",
        specification=TrainSpecification,
        builder=train,
        version=4,
        losses={"mixed": 2, "actor-critic": 2},  # 2: sums of log p over a constant; samples in history.csv
        mem_mb=3000,
        gpu=True,
        together=True,
        committed=COMMITTED_OF_RUNS,
        leads_file=True,
        of_models=True,
    ),
    "decode": Kind(
        step="outputs",
        stem="{run}{variant}",
        specification=DecodeSpecification,
        builder=decode,
        version=3,
        mem_mb=3000,
        gpu=True,
        committed=("summaries.jsonl", "summaries.text.jsonl"),
        of_models=True,
    ),
}
