"""Folders of corpora, their fractions and their annotations."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from sumcurve.corpora.store import UNSEEN, Corpus
from sumcurve.settings.content import FormAndFields
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.source import Source
from sumcurve.store.kind import Kind
from sumcurve.store.records import write_json
from sumcurve.store.stage import Block, Inputs, Stage, sealed

if TYPE_CHECKING:
    from sumcurve.sources.content import Content


class CorpusSpecification(FormAndFields):
    raw: str  # sha256 of the raw content
    compose: Block | None
    prepare: Block
    split: Block
    revisions: NotRequired[dict[str, int]]  # of its components; without it the first revisions


def corpus(sources: Mapping[str, Source], specification: CorpusSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a prepared corpus."""
    from sumcurve.corpora.prepare import prepare

    raw = inputs[specification["raw"]]
    content, settings = preparation(sources, specification, raw)
    several = f", {len(content.shards)} files" if content.several else ""
    stage.note(f"{raw}: {specification.get('form', 'jsonl')}{several}")
    statistics = prepare(content, settings, stage.folder)
    counts = raw.with_suffix(".counts.json")  # beside what a harvest made
    if counts.is_file():
        write_json(Corpus(stage.folder).harvest_path, json.loads(counts.read_text(encoding="utf-8")))
    dropped = sum(statistics["dropped"].values())
    stage.note(
        f"read {statistics['read']} records, kept {statistics['kept']}, dropped {dropped}: {statistics['dropped']}"
    )
    for part, counts in statistics.get("groups", {}).items():
        stage.note(f"{part}: {counts['in_train']} of {counts['groups']} groups stand in train")
    for part, counts in statistics.get("ready", {}).items():
        stage.note(f"{part}: kept {counts['kept']}, dropped {sum(counts['dropped'].values())}: {counts['dropped']}")


def preparation(
    sources: Mapping[str, Source], specification: CorpusSpecification, raw: Path
) -> tuple["Content", Preparation]:
    """The raw content of a corpus, and the settings of its preparation."""
    from sumcurve.sources.content import Content

    source, fields = sources[specification.get("form", "jsonl")], specification.get("fields")
    ready, least = specification["split"].get("ready"), specification.get("least", {})
    source = source.by_layout(specification.get("layout", {}))
    settings = Preparation.of_specification(
        {"compose": specification["compose"], "prepare": specification["prepare"], "split": specification["split"]}
    )
    roles, only = specification["split"].get("roles", {}), tuple(specification.get("only", ()))
    return Content(raw, source, fields, ready, least, roles, only, specification.get("gather")), settings


def in_small_letters(corpus: Path, inputs: Inputs) -> bool:
    """Tell whether a corpus's tokens are in small letters; a held-out part has those of its corpus, an input."""
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
    """Write the held-out groups of a corpus as the test part of a corpus of their own; no model is trained on it."""
    corpus, alone = Corpus(inputs[specification["corpus"]]), Corpus(stage.folder)
    shutil.copyfile(corpus.part(UNSEEN).path, alone.part("test").path)
    shutil.copyfile(corpus.part(UNSEEN).text_path, alone.part("test").text_path)
    measured = corpus.statistics["parts"][UNSEEN]
    counts = {"read": measured["records"], "kept": measured["records"], "dropped": {}, "composed": False}
    write_json(alone.statistics_path, {**counts, "parts": {"test": measured}})


class Sized(TypedDict):
    percent: NotRequired[int]  # of the training part; or
    records: NotRequired[int]


class FractionSpecification(Sized):
    corpus: str
    seed: NotRequired[int]  # that draws the records; without it 1, the corpus's own order


def fraction(specification: FractionSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write word counts and statistics of a percentage of a corpus, or of a number of its records."""
    from sumcurve.corpora.fraction import write_fraction

    train, seed = Corpus(inputs[specification["corpus"]]).part("train"), specification.get("seed", 1)
    write_fraction(train, seed, stage.folder, specification.get("percent"), specification.get("records"))


class AnnotateSpecification(TypedDict):
    corpus: str
    words: NotRequired[str]  # "tokens": of text beyond a to z; without it rouge-score's


def annotate(specification: AnnotateSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the best single source sentence of every test record of a corpus."""
    from sumcurve.corpora.extraction import annotate, tokens_of, words

    annotate(inputs[specification["corpus"]], stage.folder, tokens_of if "words" in specification else words)


KINDS: dict[str, Kind] = {
    "corpus": Kind(
        of_sources=True,
        step="corpora",
        stem="{corpus}",
        specification=CorpusSpecification,
        builder=corpus,
        version=3,
        mem_mb=3000,
    ),
    "unseen": Kind(
        step="corpora",
        stem="{corpus}",
        specification=UnseenSpecification,
        builder=unseen,
        version="7f23844b941e6697",
        version_key="fingerprint",
        mem_mb=1000,
        light=True,
    ),
    "fraction": Kind(
        step="corpora",
        stem="{corpus}-{size}{variant}",
        specification=FractionSpecification,
        builder=fraction,
        version=3,
        mem_mb=1000,
        light=True,
    ),
    "annotate": Kind(
        step="annotations",
        stem="{corpus}-extraction",
        specification=AnnotateSpecification,
        builder=annotate,
        version="d9235926b2b14537",
        version_key="fingerprint",
        mem_mb=1000,
        light=True,
    ),
}
