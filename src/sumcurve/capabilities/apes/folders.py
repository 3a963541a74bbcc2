"""Folders of questions and of their readers: how each kind is made."""

import sys
from typing import Literal, NotRequired, TypedDict

from sumcurve.capabilities.apes.settings import SpanReaderSettings, reader_settings
from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.machine.sums import Sums
from sumcurve.store import resume
from sumcurve.store.errors import CorpusError
from sumcurve.store.kind import PACKED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage


class QuestionsSpecification(TypedDict):
    corpus: str
    pipeline: NotRequired[str]  # "rules", or a spaCy pipeline's name; or
    recogniser: NotRequired[Block]  # kind, sha256 of its folder, types; or
    files: NotRequired[Block]  # sha256 of ready-made questions, and the corpus's tokenizer and case
    salient: NotRequired[Literal["names", "words"]]  # without it names
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole
    versions: NotRequired[Block]  # of what recognises entities


def questions(specification: QuestionsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the questions about every reference of a corpus, and what guessing gets of them."""
    from sumcurve.capabilities.apes.cloze import ask, ask_by_files
    from sumcurve.capabilities.apes.recognisers import classifier, pipeline
    from sumcurve.corpora.entities import EntityError
    from sumcurve.corpora.tokenizers import tokenizer

    corpus, salient = Corpus(inputs[specification["corpus"]]), specification.get("salient", "names")
    hyphenated = specification.get("hyphenated", "whole")
    try:
        if "files" in specification:
            told = specification["files"]
            made, lower = tokenizer(told["tokenizer"]), told["lower"]
            files = inputs[told["sha256"]]
            found = ask_by_files(
                corpus, stage.folder, files, lambda texts: made.tokens(texts, lower), salient, hyphenated
            )
        elif "recogniser" in specification:
            told = specification["recogniser"]
            folder = inputs[told["sha256"]]
            recogniser = (
                pipeline(str(folder)) if told["kind"] == "spacy" else classifier(folder, told.get("types") or None)
            )
            found = ask(corpus, stage.folder, recogniser, salient, hyphenated)
        else:
            found = ask(corpus, stage.folder, pipeline(specification["pipeline"]), salient, hyphenated)
    except EntityError as error:
        raise CorpusError(f"{stage.name}: {error}") from error
    for part, told in found["parts"].items():
        stage.note(
            f"{part}: {told['asked']} of {told['records']} references are asked about, {told['questions']} questions"
        )
    if "files" in found:
        told = found["files"]
        stage.note(f"read {told['read']} files, asked {told['asked']}, dropped {told['dropped']}")


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
            train_reader(
                specification=dict(specification),
                settings=settings,
                corpus=corpus,
                questions=questions,
                vectors=inputs[settings.vectors.sha256] if settings.vectors is not None else None,
                stage=stage.folder,
                state=resume.state(stage.home, stage.name),
                events=stage.home / "logs" / "tensorboard" / stage.name,
                name=stage.name,
                lease=stage.lease,
                note=stage.note,
                terminal=sys.__stderr__ or sys.stderr,
                position=line,
                found=stage.facts,
            )
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
        packed=(*PACKED_OF_RUNS, "held_out.csv"),
        leads_pack=True,
    ),
}
