"""Folders of lengths: how the kind is made."""

from typing import TypedDict

from sumcurve.capabilities.lengths.counting import counted
from sumcurve.corpora.store import Corpus
from sumcurve.store.kind import Kind
from sumcurve.store.records import write_json


class LengthsSpecification(TypedDict):
    corpus: str
    longest: int


def lengths(specification, inputs, stage):
    part = Corpus(inputs[specification["corpus"]]).part("test")
    write_json(stage.folder / "lengths.json", counted(part, specification["longest"]))


KINDS = {
    "lengths": Kind(
        step="annotations",
        stem="{corpus}-lengths",
        specification=LengthsSpecification,
        builder=lengths,
        version=1,
        mem_mb=500,
        tabled=True,
    )
}
