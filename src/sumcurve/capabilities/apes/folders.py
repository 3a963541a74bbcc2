"""Folders of entities, of questions and of their readers, and how each kind is made."""

from typing import Literal, NotRequired, TypedDict

from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.corpora.pipeline import PipelineError, placed
from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.numerics.sums import Sums
from sumcurve.store.errors import CorpusError
from sumcurve.store.kind import COMMITTED_OF_RUNS, Kind
from sumcurve.store.stage import Block, BuildError, Inputs, Stage
from sumcurve.training.place import Place


class EntitiesSpecification(TypedDict):
    corpus: str
    pipeline: str | Block  # "rules", or a spaCy pipeline's name, or the sha256 of its folder
    versions: Block  # of spaCy and the pipeline
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole


def entities(specification: EntitiesSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the entities of every part of a corpus: the names in its references, and their mentions in its sources."""
    from sumcurve.capabilities.apes.entities import annotate

    try:
        corpus, hyphenated = inputs[specification["corpus"]], specification.get("hyphenated", "whole")
        annotate(corpus, stage.folder, placed(specification["pipeline"], inputs), hyphenated)
    except PipelineError as error:
        raise CorpusError(f"{stage.name}: {error}") from error


class QuestionsSpecification(TypedDict):
    corpus: str
    pipeline: NotRequired[str | Block]  # as of entities; or
    files: NotRequired[Block]  # sha256 of ready-made questions, and the corpus's tokenizer and case
    never: NotRequired[list[str]]  # patterns of names that are no entities; without it none
    salient: NotRequired[Literal["names", "words"]]  # without it names
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole
    versions: NotRequired[Block]  # of spaCy and the pipeline


def questions(specification: QuestionsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the questions about every reference of a corpus, and the accuracy of guessing."""
    from sumcurve.capabilities.apes.cloze import ask, ask_by_files
    from sumcurve.capabilities.apes.entities import load
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
            finder = load(placed(specification["pipeline"], inputs))
            statistics = ask(corpus, stage.folder, finder, *how, never=specification.get("never", ()))
    except PipelineError as error:
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
    """Write a reader of questions, resuming from the state of an interrupted training."""
    from sumcurve.capabilities.apes.reader import train_reader
    from sumcurve.training.fit import ResumeError, TrainingError

    settings = AttentiveSettings.of_specification(specification["reader"])
    corpus, questions = inputs[specification["corpus"]], inputs[specification["questions"]]
    stage.facts["exclusive"] = stage.lease.exclusive
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            vectors = inputs[settings.vectors.sha256] if settings.vectors is not None else None
            train_reader(dict(specification), settings, corpus, questions, vectors, Place.of(stage, line))
        except (TrainingError, ResumeError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


KINDS: dict[str, Kind] = {
    "entities": Kind(
        step="annotations",
        stem="{corpus}-entities",
        specification=EntitiesSpecification,
        builder=entities,
        version=2,
        mem_mb=2000,
    ),
    "questions": Kind(
        step="annotations",
        stem="{corpus}-questions",
        specification=QuestionsSpecification,
        builder=questions,
        version=1,
        mem_mb=3000,
        tabled=True,
    ),
    "reader": Kind(
        step="runs",
        stem="{corpus}-reader-s{seed}",
        specification=ReaderSpecification,
        builder=reader,
        version=2,
        mem_mb=3000,
        gpu=True,
        together=True,
        committed=(*COMMITTED_OF_RUNS, "held_out.csv", "validation.csv"),
        leads_file=True,
    ),
}
