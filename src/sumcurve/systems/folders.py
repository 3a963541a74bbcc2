"""Folders of what trained runs say: how the kind is made."""

from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from sumcurve.corpora.store import Corpus
from sumcurve.machine.sums import Sums
from sumcurve.settings import Form, Reading, Search, SubwordSettings
from sumcurve.store.kind import Kind
from sumcurve.store.stage import Block, Inputs, Stage, sealed
from sumcurve.systems.system import Item


def test_items(corpus: Path) -> "list[Item]":
    from sumcurve.systems.system import Item

    return [Item(record, text) for record, text in Corpus(corpus).part("test").with_text]


def log_of_program(stage: Stage) -> Path:
    return stage.home.resolve() / "logs" / "programs" / f"{stage.name}.log"


class DecodeSpecification(TypedDict):
    run: str
    corpus: str
    search: Block
    sums: Sums
    reading: NotRequired[Block]  # for systems that score single tokens, with the common search
    checkpoint: NotRequired[Literal["before"]]  # of the run's last phase; without it the selected one
    entities: NotRequired[str]  # for a search that asks for gold positions


def decode(specification: DecodeSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a run's summaries of the test set; the stage's facts get the sha256 of the weights that were decoded."""
    from sumcurve.capabilities.fairseq.folders import decode_fairseq_run
    from sumcurve.capabilities.pretrained.folders import decode_pretrained_run
    from sumcurve.systems.trained import WEIGHTS, decode_run

    run = inputs[specification["run"]]
    run_manifest = sealed(run)
    trained = run_manifest["specification"]
    checkpoint: Literal["selected", "before"] = specification.get("checkpoint", "selected")
    stage.facts["weights"] = run_manifest["files"][WEIGHTS[checkpoint]]["sha256"]
    form = Form.of_run(trained)
    if isinstance(form.model, SubwordSettings):
        folder = run if form.model.kind == "bart" else inputs[form.model.sha256]
        decode_pretrained_run(form.model, folder, specification, trained, run / WEIGHTS[checkpoint], inputs, stage)
        return
    if form.model.kind == "fairseq":
        decode_fairseq_run(form, specification, trained, run, inputs, stage)
        return
    decode_run(
        settings=form,
        search=Search.of_specification(specification["search"]),
        run=run,
        specification=trained,
        corpus=inputs[specification["corpus"]],
        entities=inputs[specification["entities"]] if "entities" in specification else None,
        reading=Reading.of_specification(specification["reading"]) if "reading" in specification else None,
        stage=stage.folder,
        device=stage.lease.device,
        checkpoint=checkpoint,
    )


KINDS: dict[str, Kind] = {
    "decode": Kind(
        step="outputs",
        stem="{run}{variant}",
        specification=DecodeSpecification,
        builder=decode,
        modules=(
            "sumcurve.systems.trained",
            "sumcurve.capabilities.pretrained.system",
            "sumcurve.capabilities.fairseq.system",
            "sumcurve.machine.sums",
        ),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        packed=("summaries.jsonl", "summaries.text.jsonl"),
    ),
}
