"""Folders of questions and of their readers: how each kind is made."""

from typing import Literal, NotRequired, TypedDict

from sumcurve.capabilities.apes.settings import SpanReaderSettings, reader_settings
from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.machine.sums import Sums
from sumcurve.store.errors import CorpusError
from sumcurve.store.kind import PACKED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage
from sumcurve.training.place import Place


class QuestionsSpecification(TypedDict):
    corpus: str
    pipeline: NotRequired[str]  # "rules", or a spaCy pipeline's name; or
    recogniser: NotRequired[Block]  # kind, sha256 of its folder, types; or
    files: NotRequired[Block]  # sha256 of ready-made questions, and the corpus's tokenizer and case
    never: NotRequired[list[str]]  # patterns of names that are no entities; without it none
    salient: NotRequired[Literal["names", "words"]]  # without it names
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole
    versions: NotRequired[Block]  # of what recognises entities


def questions(specification: QuestionsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the questions about every reference of a corpus, and what guessing gets of them."""
    from sumcurve.capabilities.apes.cloze import ask, ask_by_files
    from sumcurve.capabilities.apes.recognisers import classifier, pipeline
    from sumcurve.corpora.entities import EntityError
    from sumcurve.corpora.tokenizers import tokenizer

    corpus = Corpus(inputs[specification["corpus"]])
    how = specification.get("salient", "names"), specification.get("hyphenated", "whole")
    try:
        if "files" in specification:
            files = specification["files"]
            split = tokenizer(files["tokenizer"])
            statistics = ask_by_files(
                corpus, stage.folder, inputs[files["sha256"]], lambda texts: split.tokens(texts, files["lower"]), *how
            )
        else:
            if "recogniser" in specification:
                block = specification["recogniser"]
                folder = inputs[block["sha256"]]
                spacy = block["kind"] == "spacy"
                recogniser = pipeline(str(folder)) if spacy else classifier(folder, block.get("types") or None)
            else:
                recogniser = pipeline(specification["pipeline"])
            statistics = ask(corpus, stage.folder, recogniser, *how, never=specification.get("never", ()))
    except EntityError as error:
        raise CorpusError(f"{stage.name}: {error}") from error
    for part, counts in statistics["parts"].items():
        stage.note(
            f"{part}: {counts['asked']} of {counts['records']} references are asked about, {counts['questions']} "
            "questions"
        )
    if "files" in statistics:
        counts = statistics["files"]
        stage.note(f"read {counts['read']} files, asked {counts['asked']}, dropped {counts['dropped']}")


class ReaderSpecification(TypedDict):
    corpus: str
    questions: str
    reader: Block
    seed: int
    threads: int
    sums: Sums


def reader(specification: ReaderSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a reader of questions, resuming where an interrupted one left its state; one from elsewhere as it is."""
    from sumcurve.capabilities.apes.reader import train_reader
    from sumcurve.capabilities.apes.span_reader import take_over
    from sumcurve.capabilities.apes.spans import ReaderError
    from sumcurve.training.fit import ResumeError, TrainingError

    settings = reader_settings(specification["reader"])
    corpus, questions = inputs[specification["corpus"]], inputs[specification["questions"]]
    stage.facts["exclusive"] = stage.lease.exclusive
    if isinstance(settings, SpanReaderSettings):
        try:
            take_over(dict(specification), settings, inputs[settings.sha256], corpus, questions, stage.folder)
        except ReaderError as error:
            raise BuildError(f"{stage.name}: {error}") from error
        return
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            vectors = inputs[settings.vectors.sha256] if settings.vectors is not None else None
            train_reader(dict(specification), settings, corpus, questions, vectors, Place.of(stage, line))
        except (TrainingError, ResumeError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


KINDS: dict[str, Kind] = {
    "questions": Kind(
        step="annotations",
        stem="{corpus}-questions",
        specification=QuestionsSpecification,
        builder=questions,
        modules=("sumcurve.capabilities.apes.cloze",),
        mem_mb=3000,
        tabled=True,
    ),
    "reader": Kind(
        step="runs",
        stem="{corpus}-reader-s{seed}",
        specification=ReaderSpecification,
        builder=reader,
        modules=(
            "sumcurve.capabilities.apes.reader",
            "sumcurve.capabilities.apes.span_reader",
            "sumcurve.machine.sums",
        ),
        mem_mb=3000,
        minutes=240,
        gpu=True,
        together=True,
        packed=(*PACKED_OF_RUNS, "held_out.csv", "validation.csv"),
        leads_pack=True,
    ),
}
