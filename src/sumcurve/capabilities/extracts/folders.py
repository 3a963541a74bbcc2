"""Folders of the best extracts: how the kind is made."""

from collections.abc import Mapping
from typing import Any, TypedDict

from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.corpora.store import Corpus
from sumcurve.settings import Rouge
from sumcurve.store.kind import Cost, Kind
from sumcurve.store.stage import Block, Inputs, Stage

PROVEN = 0.1  # seconds of both optima and the searches of an item, measured on jobs of the recorded studies


class ProveSpecification(TypedDict):
    corpus: str
    oracle: Block
    rouge: Block
    versions: Block  # of algebra, and of the solver that picks among optima


def prove(specification: ProveSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write how far an extract of every item can go, with certificates, and how far searches and systems get."""
    from sumcurve.capabilities.extracts.corpus import write_oracle

    settings, rouge = Oracle.of_specification(specification["oracle"]), Rouge.of_specification(specification["rouge"])
    write_oracle(Corpus(inputs[specification["corpus"]]), settings, rouge, stage.folder)


def cost(specification: Mapping[str, Any], train: int, test: int) -> Cost:
    """Proofs and searches of the items of its parts; a validation part is taken for as large as the test part."""
    parts = {*Oracle.of_specification(specification["oracle"]).parts}
    many = train * ("train" in parts) + test * len(parts - {"train"})
    return Cost(PROVEN * many, many, 3000.0 * many)


KINDS: dict[str, Kind] = {
    "prove": Kind(
        step="annotations",
        stem="{corpus}-oracle",
        specification=ProveSpecification,
        builder=prove,
        modules=("sumcurve.capabilities.extracts.corpus",),
        mem_mb=2000,
        minutes=720,
        tabled=True,
        cost=cost,
    ),
}
