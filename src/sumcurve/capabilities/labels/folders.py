"""Folders of related words, and how the kind is made."""

from typing import TypedDict

from sumcurve.corpora.store import Corpus
from sumcurve.numerics.sums import Sums
from sumcurve.store.kind import Kind
from sumcurve.store.stage import Inputs, Stage, sealed


class LabelsSpecification(TypedDict):
    run: str
    labels: int  # the most frequent content words of the training targets
    related: int  # words for each
    sums: Sums


def labels(specification: LabelsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the related words of a run, by its output distributions over its training records."""
    from sumcurve.capabilities.labels.related import find_labels, labels_of, write_labels
    from sumcurve.corpora.fraction import drawn_positions
    from sumcurve.systems.extractive import FUNCTION_WORDS
    from sumcurve.systems.families import MODELS

    run = inputs[specification["run"]]
    trained = sealed(run)["specification"]
    fraction = inputs[trained["fraction"]]
    corpus = inputs[sealed(fraction)["specification"]["corpus"]]
    train = Corpus(corpus).part("train")
    records = train[drawn_positions(fraction, train.ids, trained["seed"])]
    family = MODELS[trained["model"]["kind"]]
    with family.system(family.selected(run, inputs, specification["sums"], stage.lease.device)) as system:
        words = labels_of(records, system.vocabulary, specification["labels"], FUNCTION_WORDS)
        lengths = system.source_tokens, system.target_tokens
        model = system.decoder.model  # type: ignore[attr-defined]  # a kind of model that has one (`Capability.check`)
        rows = find_labels(model, system.vocabulary, records, lengths, words, specification["related"], system.device)
    write_labels(stage.folder, rows, specification["related"], FUNCTION_WORDS)


KINDS: dict[str, Kind] = {
    "labels": Kind(
        step="outputs",
        stem="{run}-labels",
        specification=LabelsSpecification,
        builder=labels,
        version=1,
        mem_mb=3000,
        gpu=True,
    ),
}
