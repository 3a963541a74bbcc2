"""Folders of trainings: how the kind is made."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from sumcurve.corpora.folders import in_small_letters, tokenizer_of
from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.machine.sums import Sums
from sumcurve.store.kind import PACKED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed
from sumcurve.training.place import Place
from sumcurve.training.trainer import Trainer

if TYPE_CHECKING:
    from sumcurve.training.run import Lessons

TOKEN_IDS = Path("scratch", "token-ids")  # below a study's home: of training parts, made by whoever reads them first


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
    draw: NotRequired[int]  # the fraction's seed where it is not `seed`
    parent: NotRequired[str]  # of a control: the run from whose checkpoint before its last phase it starts
    begins: NotRequired[str]  # the run of the same phases but the last, from whose checkpoint before it starts
    architecture: NotRequired[Block]  # of a BART that is made here, and these:
    subwords: NotRequired[str]  # its tokenizer
    pretrained: NotRequired[str]  # the pretraining from whose weights it starts; without it they are new
    outside: NotRequired[str]  # the corpus whose pairs it learns, too


def train(models: Mapping[str, Trainer], specification: TrainSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the weights and History of one run, resuming where an interrupted training left its state."""
    from sumcurve.training.fit import ResumeError, TrainingError

    family = models[specification["model"]["kind"]]
    learned = lessons(family, specification, inputs, stage)
    stage.facts["exclusive"] = stage.lease.exclusive
    errors: tuple[type[Exception], ...] = (TrainingError, ResumeError, *family.errors())
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            family.train(learned, Place.of(stage, line))
        except errors as error:
            raise BuildError(f"{stage.name}: {error}") from error


def lessons(family: Trainer, specification: TrainSpecification, inputs: Inputs, stage: Stage) -> "Lessons":
    """What the model of a run learns from."""
    from sumcurve.corpora.token_ids import TokenIds
    from sumcurve.training.run import Lessons

    fraction = inputs[specification["fraction"]]
    corpus = inputs[sealed(fraction)["specification"]["corpus"]]
    part = Corpus(corpus).part("train")
    sha256 = sealed(corpus)["files"][part.path.name]["sha256"]
    return Lessons(
        specification=dict(specification),
        form=family.form(specification),
        corpus=corpus,
        fraction=fraction,
        tokens=TokenIds.of_part(part, sha256, stage.home / TOKEN_IDS, stage.note),
        inputs=inputs,
        lower=in_small_letters(corpus, inputs),
        device=stage.lease.device,
        note=stage.note,
        tokenizer=tokenizer_of(corpus, inputs),
    )


KINDS: dict[str, Kind] = {
    "train": Kind(
        step="runs",
        stem="{corpus}-{method}-{size}-s{seed}{variant}",
        specification=TrainSpecification,
        builder=train,
        modules=("sumcurve.training.run", "sumcurve.machine.sums"),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        together=True,
        packed=PACKED_OF_RUNS,
        leads_pack=True,
        of_models=True,
    ),
}
