"""Folders of pretraining, and what a pretrained model says before any training: how each kind is made."""

from typing import NotRequired, TypedDict

from sumcurve.capabilities.pretrained.family import Transformers
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.corpora.folders import in_small_letters, tokenizer_of
from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.machine.sums import Sums
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.study import Architecture
from sumcurve.store.kind import PACKED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed
from sumcurve.systems.family import PRETRAINED_MB, FinishedRun
from sumcurve.systems.folders import write_output
from sumcurve.training.place import Place


class OutsideSpecification(TypedDict):
    outside: str  # the corpus of the packages
    corpus: NotRequired[str]  # whose validation and test parts it may not overlap; without it any study may have it
    overlap: NotRequired[int]
    near_duplicates: NotRequired[float]


def outside(specification: OutsideSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what of packages outside of a corpus's overlaps nothing that methods are chosen by or tested on."""
    from sumcurve.capabilities.pretrained.outside import HeldOut, write_outside

    held_out = None
    if "corpus" in specification:
        corpus = Corpus(inputs[specification["corpus"]])
        held_out = HeldOut(corpus, specification["overlap"], specification["near_duplicates"])
    counts = write_outside(Corpus(inputs[specification["outside"]]), held_out, stage.folder)
    removed = sum(counts["removed"].values())
    stage.note(
        f"read {counts['read']} records, kept {counts['kept']}, removed {removed}: {counts['removed']}; of "
        f"{counts['sentences']} sentences of bodies {counts['sentences_removed']} are summaries and were removed"
    )


class SubwordsSpecification(TypedDict):
    outside: str
    subwords: int
    lower: bool


def subwords(specification: SubwordsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the tokenizer that is trained on the bodies of the training part of packages outside of a corpus's."""
    from sumcurve.capabilities.pretrained.bart import write_subwords
    from sumcurve.capabilities.pretrained.outside import bodies_path
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.store.records import read_jsonl

    rows = read_jsonl(bodies_path(Corpus(inputs[specification["outside"]]), "train"))
    texts = (sentence for row in rows for sentence in row["sentences"])
    try:
        size = write_subwords(texts, specification["subwords"], specification["lower"], stage.folder)
    except PretrainedError as error:
        raise BuildError(f"{stage.name}: {error}") from error
    stage.note(f"{size} subwords")


class PretrainSpecification(TypedDict):
    outside: str
    subwords: str
    model: Block
    dropout: float
    tokens: int
    noise: Block
    training: Block
    seed: int
    threads: int
    sums: Sums


def pretrain(specification: PretrainSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the weights and History of a pretraining, resuming where an interrupted one left its state."""
    from sumcurve.capabilities.pretrained.denoising import pretrain_run
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.training.fit import ResumeError, TrainingError

    tokenizer = inputs[specification["subwords"]]
    stage.facts["exclusive"] = stage.lease.exclusive
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            pretrain_run(
                specification=dict(specification),
                outside=inputs[specification["outside"]],
                subwords=tokenizer,
                lower=bool(sealed(tokenizer)["specification"]["lower"]),
                place=Place.of(stage, line),
            )
        except (TrainingError, ResumeError, PretrainedError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


class OverlapSpecification(TypedDict):
    outside: str  # of a pretraining that any study may have, as what follows
    subwords: str
    model: Block
    tokens: int
    corpus: str  # whose validation and test parts are compared
    overlap: int
    near_duplicates: float


def overlap(specification: OverlapSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what a shared pretraining has read, and what of it overlaps what methods are chosen by or tested on."""
    from sumcurve.capabilities.pretrained.bart import make
    from sumcurve.capabilities.pretrained.outside import HeldOut
    from sumcurve.capabilities.pretrained.overlap import write_overlap

    tokenizer = inputs[specification["subwords"]]
    lower = bool(sealed(tokenizer)["specification"]["lower"])
    model = make(tokenizer, Architecture.of_specification(specification["model"]), 0.0, lower, 0)
    outside, corpus = Corpus(inputs[specification["outside"]]), Corpus(inputs[specification["corpus"]])
    held_out = HeldOut(corpus, specification["overlap"], specification["near_duplicates"])
    counts = write_overlap(outside, model, specification["tokens"], held_out, stage.folder)
    stage.note(f"of {counts['read']} records these overlap the corpus: {counts['overlapping'] or 'none'}")


class UntrainedSpecification(TypedDict):
    model: Block
    corpus: str
    search: Block
    source_tokens: int
    target_tokens: int
    threads: int
    sums: Sums


def untrained(specification: UntrainedSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what a pretrained model says of the test set before any training (zero shot)."""
    corpus = inputs[specification["corpus"]]
    block = dict(specification)
    run = FinishedRun(
        form=Form.model_construct(model=TransformersSettings.model_validate(block["model"])),  # nothing is trained
        specification=block,
        folder=stage.folder,
        weights=None,
        search=Search.of_specification(specification["search"]),
        device=stage.lease.device,
        inputs=inputs,
        lower=in_small_letters(corpus, inputs),
        tokenizer=tokenizer_of(corpus, inputs),
    )
    write_output(Transformers(), run, corpus, None, stage)


KINDS: dict[str, Kind] = {
    "outside": Kind(
        step="corpora",
        stem="{corpus}-outside",
        specification=OutsideSpecification,
        builder=outside,
        modules=("sumcurve.capabilities.pretrained.outside",),
        mem_mb=2000,
    ),
    "subwords": Kind(
        step="annotations",
        stem="{corpus}-subwords",
        specification=SubwordsSpecification,
        builder=subwords,
        modules=("sumcurve.capabilities.pretrained.bart", "sumcurve.capabilities.pretrained.outside"),
        mem_mb=2000,
    ),
    "pretrain": Kind(
        step="runs",
        stem="{corpus}-pretraining",
        specification=PretrainSpecification,
        builder=pretrain,
        modules=("sumcurve.capabilities.pretrained.denoising", "sumcurve.machine.sums"),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        together=True,
        priority=1_000_000,
        packed=(*PACKED_OF_RUNS, "weights.safetensors"),
        leads_pack=True,
    ),
    "overlap": Kind(
        step="annotations",
        stem="{corpus}-overlap",
        specification=OverlapSpecification,
        builder=overlap,
        modules=("sumcurve.capabilities.pretrained.overlap",),
        mem_mb=2000,
        tabled=True,
    ),
    "untrained": Kind(
        step="outputs",
        stem="{corpus}-{method}-000",
        specification=UntrainedSpecification,
        builder=untrained,
        modules=("sumcurve.capabilities.pretrained.family", "sumcurve.machine.sums"),
        mem_mb=3000,
        model_mb=PRETRAINED_MB,
        minutes=240,
        gpu=True,
        decodes=True,
    ),
}
