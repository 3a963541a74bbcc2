"""Folders of what trained runs say: how the kind is made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from sumcurve.corpora.folders import in_small_letters, tokenizer_of
from sumcurve.corpora.store import Corpus, Part
from sumcurve.machine.sums import Sums
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.kind import Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed
from sumcurve.systems.family import Family, FinishedRun
from sumcurve.systems.system import Item
from sumcurve.training.place import WEIGHTS


def test_items(corpus: Path) -> list[Item]:
    return items_of(Corpus(corpus).part("test"))


def items_of(part: Part) -> list[Item]:
    """What a system sees of a part, and its references."""
    return [Item(record, text) for record, text in part.with_text]


def made_as(family: Family, corpus: Path, inputs: Inputs) -> tuple[bool, str]:
    """Whether a corpus's tokens are in small letters, and its tokenizer's name, for families that read texts.

    Others read tokens as they are: the corpus that a held-out part is of, which knows both, is no input of theirs.
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
    entities: NotRequired[str]  # for a search that asks for gold positions


def write_output(family: Family, run: FinishedRun, corpus: Path, reading: Reading | None, stage: Stage) -> None:
    """Write what a run's system says of a test part: summaries, and logp.safetensors where `reading` asks for it.

    There is no logp.safetensors where all items are of one group. Raises BuildError for what the family refuses.
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
        return  # the scorer that would read the file says why there is none
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
        from sumcurve.corpora.entities import read_salient

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
    "decode": Kind(
        step="outputs",
        stem="{run}{variant}",
        specification=DecodeSpecification,
        builder=decode,
        modules=("sumcurve.systems.trained", "sumcurve.machine.sums"),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        decodes=True,
        packed=("summaries.jsonl", "summaries.text.jsonl"),
        of_models=True,
    ),
}
