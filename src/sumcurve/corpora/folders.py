"""Folders of corpora, and of what is known of them: how each kind is made."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

from sumcurve.corpora.store import Corpus
from sumcurve.settings.corpus import Preparation
from sumcurve.sources import SOURCES
from sumcurve.store.errors import CorpusError
from sumcurve.store.kind import Kind
from sumcurve.store.records import write_json
from sumcurve.store.stage import Block, Inputs, Stage, sealed

if TYPE_CHECKING:
    from sumcurve.sources.content import Content


def _source(specification: Mapping[str, Any]) -> tuple[str, ...]:
    return (SOURCES[specification.get("form", "jsonl")].rows.__module__,)


class CorpusSpecification(TypedDict):
    raw: str  # sha256 of the raw content
    form: NotRequired[str]  # of sources; without it JSON lines
    fields: NotRequired[Block]  # what they are called; without it as ours
    least: NotRequired[dict[str, int]]  # of further fields; without it all rows are read
    compose: Block | None
    prepare: Block
    split: Block
    revisions: NotRequired[dict[str, int | str]]  # of what it uses; without it what it uses is as it first was


def corpus(specification: CorpusSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a prepared corpus; from the pieces of its shards, where these are finished."""
    from sumcurve.corpora.prepare import prepare
    from sumcurve.corpora.shards.assembly import assemble
    from sumcurve.corpora.shards.work import Work

    raw = inputs[specification["raw"]]
    content, settings = preparation(specification, raw)
    several = f", {len(content.shards)} files" if content.several else ""
    stage.note(f"{raw}: {specification.get('form', 'jsonl')}{several}")
    work = Work.complete(stage.home, stage.name, settings.prepare.near_duplicates is not None)
    if work is None:
        statistics = prepare(content, settings, stage.folder)
    else:
        stage.note(f"{work.folder}: {work.shards} shards")
        statistics = assemble(content, settings, work, stage.folder)
    counts = raw.with_suffix(".counts.json")  # beside what a harvest made
    if counts.is_file():
        write_json(Corpus(stage.folder).harvest_path, json.loads(counts.read_text()))
    dropped = sum(statistics["dropped"].values())
    stage.note(
        f"read {statistics['read']} records, kept {statistics['kept']}, dropped {dropped}: {statistics['dropped']}"
    )
    for part, counts in statistics.get("groups", {}).items():
        stage.note(f"{part}: {counts['in_train']} of {counts['groups']} groups stand in train")
    for part, counts in statistics.get("ready", {}).items():
        stage.note(f"{part}: kept {counts['kept']}, dropped {sum(counts['dropped'].values())}: {counts['dropped']}")


def preparation(specification: CorpusSpecification, raw: Path) -> tuple["Content", Preparation]:
    """The raw content of a corpus, and how it is prepared."""
    from sumcurve.sources import SOURCES
    from sumcurve.sources.content import Content

    source, fields = SOURCES[specification.get("form", "jsonl")], specification.get("fields")
    ready, least = specification["split"].get("ready"), specification.get("least", {})
    settings = Preparation.of_specification(
        {"compose": specification["compose"], "prepare": specification["prepare"], "split": specification["split"]}
    )
    return Content(raw, source, fields, ready, least, specification["split"].get("roles", {})), settings


def in_small_letters(corpus: Path, inputs: Inputs) -> bool:
    """Whether a corpus's tokens are in small letters; of a part that is held out, its corpus's, which is an input."""
    return bool(_preparation(corpus, inputs)["lower"])


def tokenizer_of(corpus: Path, inputs: Inputs) -> str:
    """The name of a corpus's tokenizer, as `in_small_letters` finds it."""
    return str(_preparation(corpus, inputs)["tokenizer"])


def _preparation(corpus: Path, inputs: Inputs) -> Block:
    specification = sealed(corpus)["specification"]
    while "prepare" not in specification:
        specification = sealed(inputs[specification["corpus"]])["specification"]
    return dict(specification["prepare"])


class UnseenSpecification(TypedDict):
    corpus: str


def unseen(specification: UnseenSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what a corpus holds out as a corpus of its own."""
    from sumcurve.corpora.unseen import write_unseen

    write_unseen(Corpus(inputs[specification["corpus"]]), stage.folder)


class Sized(TypedDict):
    percent: NotRequired[int]  # of the training part; or
    records: NotRequired[int]


class FractionSpecification(Sized):
    corpus: str
    seed: NotRequired[int]  # that draws the records; without it 1, the corpus's own order


def fraction(specification: FractionSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write word counts and statistics of some percent of a corpus, or of some of its records."""
    from sumcurve.corpora.fraction import write_fraction
    from sumcurve.corpora.sizes import write_records

    train, seed = Corpus(inputs[specification["corpus"]]).part("train"), specification.get("seed", 1)
    if "percent" in specification:
        write_fraction(train, specification["percent"], seed, stage.folder)
    else:
        write_records(train, specification["records"], seed, stage.folder)


class AnnotateSpecification(TypedDict):
    corpus: str


def annotate(specification: AnnotateSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the best single source sentence of every test record of a corpus."""
    from sumcurve.corpora.extraction import annotate

    annotate(inputs[specification["corpus"]], stage.folder)


class EntitiesSpecification(TypedDict):
    corpus: str
    pipeline: str  # "rules", or a spaCy pipeline's name
    versions: Block  # of spaCy and the pipeline
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole


def entities(specification: EntitiesSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the entities of every part of a corpus: what its references name, and where its sources name it."""
    from sumcurve.corpora.entities import EntityError, annotate

    try:
        corpus, hyphenated = inputs[specification["corpus"]], specification.get("hyphenated", "whole")
        annotate(corpus, stage.folder, specification["pipeline"], hyphenated)
    except EntityError as error:
        raise CorpusError(f"{stage.name}: {error}") from error


KINDS: dict[str, Kind] = {
    "corpus": Kind(
        step="corpora",
        stem="{corpus}",
        specification=CorpusSpecification,
        builder=corpus,
        modules=(
            "sumcurve.corpora.prepare",
            "sumcurve.corpora.shards.assembly",
            "sumcurve.corpora.shards.nearness",
            *(f"sumcurve.sources.{name}" for name in ("jsonl", "parquet")),
        ),
        further=_source,
        mem_mb=3000,
        minutes=240,
    ),
    "unseen": Kind(
        step="corpora",
        stem="{corpus}",
        specification=UnseenSpecification,
        builder=unseen,
        modules=("sumcurve.corpora.unseen",),
        version_key="fingerprint",
        mem_mb=1000,
        light=True,
    ),
    "fraction": Kind(
        step="corpora",
        stem="{corpus}-{size}{variant}",
        specification=FractionSpecification,
        builder=fraction,
        modules=("sumcurve.corpora.fraction", "sumcurve.corpora.sizes"),
        mem_mb=1000,
        light=True,
    ),
    "annotate": Kind(
        step="annotations",
        stem="{corpus}-extraction",
        specification=AnnotateSpecification,
        builder=annotate,
        modules=("sumcurve.corpora.extraction",),
        version_key="fingerprint",
        mem_mb=1000,
        light=True,
    ),
    "entities": Kind(
        step="annotations",
        stem="{corpus}-entities",
        specification=EntitiesSpecification,
        builder=entities,
        modules=("sumcurve.corpora.entities",),
        mem_mb=2000,
    ),
}
