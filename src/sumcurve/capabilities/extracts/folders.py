"""Folders of the best extracts, and how the kind is made."""

from typing import TypedDict

from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.corpora.store import Corpus
from sumcurve.settings.study import Rouge
from sumcurve.store.kind import Kind
from sumcurve.store.stage import Block, Inputs, Stage


class ProveSpecification(TypedDict):
    corpus: str
    oracle: Block
    rouge: Block
    versions: Block  # of algebra, and of the solver that picks among optima


def prove(specification: ProveSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the best extracts of every item, with certificates, and the scores of searches and systems."""
    from sumcurve.capabilities.extracts.corpus import write_oracle

    settings, rouge = Oracle.of_specification(specification["oracle"]), Rouge.of_specification(specification["rouge"])
    write_oracle(Corpus(inputs[specification["corpus"]]), settings, rouge, stage.folder)


KINDS: dict[str, Kind] = {
    "prove": Kind(
        step="annotations",
        stem="{corpus}-oracle",
        specification=ProveSpecification,
        builder=prove,
        version=5,
        mem_mb=2000,
        tabled=True,
    ),
}
