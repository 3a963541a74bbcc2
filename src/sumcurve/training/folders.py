"""Folders of trainings: how the kind is made."""

import sys
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from sumcurve.corpora.folders import in_small_letters
from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.machine.sums import Sums
from sumcurve.settings import Form
from sumcurve.store import resume
from sumcurve.store.kind import PACKED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed

TOKEN_IDS = Path("scratch", "token-ids")  # below a study's home: of training parts, made by whoever reads them first


def places(stage: Stage, line: int) -> dict[str, Any]:
    """What a training is told beside what it learns: what it writes, where, and to whom; `line` is its bar's."""
    return {
        "stage": stage.folder,
        "state": resume.state(stage.home, stage.name),
        "events": stage.home / "logs" / "tensorboard" / stage.name,
        "name": stage.name,
        "lease": stage.lease,
        "note": stage.note,
        "terminal": sys.__stderr__ or sys.stderr,
        "position": line,
        "found": stage.facts,
    }


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


def train(specification: TrainSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the weights and History of one run, resuming where an interrupted training left its state."""
    from sumcurve.capabilities.fairseq.model import FairseqError
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.corpora.token_ids import TokenIds
    from sumcurve.systems.trained import WEIGHTS
    from sumcurve.training.fit import ResumeError, TrainingError
    from sumcurve.training.run import train_run

    fraction = inputs[specification["fraction"]]
    corpus = inputs[sealed(fraction)["specification"]["corpus"]]
    part = Corpus(corpus).part("train")
    sha256 = sealed(corpus)["files"][part.path.name]["sha256"]
    tokens = TokenIds.of_part(part, sha256, stage.home / TOKEN_IDS, stage.note)
    stage.facts["exclusive"] = stage.lease.exclusive
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            train_run(
                specification=dict(specification),
                settings=Form.of_run(dict(specification)),
                fraction=fraction,
                corpus=corpus,
                tokens=tokens,
                entities=inputs[specification["entities"]] if "entities" in specification else None,
                parent=inputs[specification["parent"]] if "parent" in specification else None,
                begins=inputs[specification["begins"]] if "begins" in specification else None,
                **places(stage, line),
                subwords=subwords_of(specification, inputs),
                lower=in_small_letters(corpus, inputs),
                weights=inputs[specification["pretrained"]] / WEIGHTS["selected"]
                if "pretrained" in specification
                else None,
                outside=inputs[specification["outside"]] if "outside" in specification else None,
            )
        except (TrainingError, ResumeError, PretrainedError, FairseqError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


def subwords_of(specification: TrainSpecification, inputs: Inputs) -> Path | None:
    """The folder of a pretrained model, or of the tokenizer of one made here; None for a model without subwords."""
    if "subwords" in specification:
        return inputs[specification["subwords"]]
    model = specification["model"]
    return inputs[model["sha256"]] if model["kind"] == "transformers" else None


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
    ),
}
