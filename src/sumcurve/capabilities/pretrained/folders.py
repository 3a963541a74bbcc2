"""Folders of outputs of a pretrained model before any training, and how the kind is made."""

from typing import TypedDict

from sumcurve.capabilities.pretrained.family import Transformers
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.corpora.folders import in_small_letters, tokenizer_of
from sumcurve.numerics.sums import Sums
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.store.kind import Kind
from sumcurve.store.stage import Block, Inputs, Stage
from sumcurve.systems.family import PRETRAINED_MB, FinishedRun
from sumcurve.systems.folders import write_output


class UntrainedSpecification(TypedDict):
    model: Block
    corpus: str
    search: Block
    source_tokens: int
    target_tokens: int
    threads: int
    sums: Sums


def untrained(specification: UntrainedSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a pretrained model's summaries of the test set before any training (zero shot)."""
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
    "untrained": Kind(
        step="outputs",
        stem="{corpus}-{method}-000",
        specification=UntrainedSpecification,
        builder=untrained,
        version=1,
        mem_mb=3000,
        model_mb=PRETRAINED_MB,
        gpu=True,
    ),
}
