"""What a study may say of questions about references, and of who answers them."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sumcurve.settings.base import Boolean, Dropout, Once, Positive, Seed, Settings, Sha256
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop, Training


class Recogniser(Settings):
    """A local folder with what recognises names in references; nothing is downloaded."""

    kind: Literal["spacy", "transformers"]
    """A spaCy pipeline with a component `ner`, or a token classifier of Hugging Face transformers (safetensors)."""
    path: str
    """The folder; where it lies is no part of any name."""
    sha256: Sha256
    """Of its files: of the lines that `sha256sum` prints of them, in the order of their names."""
    types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Of a token classifier: its labels (without B- and I-) that are names; null: persons, organisations, places and
    nationalities, as OntoNotes and CoNLL 2003 call them.
    """

    @model_validator(mode="after")
    def types_of_a_classifier(self) -> Self:
        if self.types is not None and self.kind != "transformers":
            raise ValueError("`types` are labels of a token classifier; of a spaCy pipeline the paper's five count")
        return self


class QuestionFiles(Settings):
    """Ready-made questions of CNN and the Daily Mail (Hermann et al. 2015), about stories whose ids the records have.

    They are of `cnn.tgz` and `dailymail.tgz`, or unpacked.
    """

    path: str
    """An archive, or a folder of archives or of `.question` files."""
    sha256: Sha256
    """Of the archive; of a folder, of the lines that `sha256sum` prints of its files, in the order of their names."""


class Cloze(Settings):
    """Questions about a corpus's references (Eyal et al. 2019): sentences with one entity hidden."""

    recogniser: Recogniser | None = None
    """What finds the entities; null: what the corpus's `entities` names."""
    files: QuestionFiles | None = None
    """Ready-made questions in place of those that are made of references; null: there are none."""
    never: Annotated[tuple[str, ...], Field(exclude_if=lambda patterns: not patterns)] = ()
    """Words that are no part of an entity, whatever recognises them: regular expressions, as `person\\d` where a corpus
    calls its speakers so, searched in single tokens in lower case. Such words are recognised in small letters, and a
    name that has one all the same is none.
    """
    salient: Literal["names", "words"] = "names"
    """Which source words are salient, where ENT learns them from the questions: whole mentions of answers, or every
    word of their names wherever it stands, as the authors' code has it.
    """

    @model_validator(mode="after")
    def one_source(self) -> Self:
        if self.recogniser is not None and self.files is not None:
            raise ValueError("ready-made `files` name their entities: leave `recogniser` out")
        if self.never and self.files is not None:
            raise ValueError("ready-made `files` name their entities: leave `never` out")
        return self

    @field_validator("never")
    @classmethod
    def patterns(cls, never: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in never:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression ({error}): correct it") from error
        return never


class CorpusKeys(Settings):
    cloze: Cloze | None = None
    """Questions about its references, and what they ask about; null: none are asked."""
    salient: Literal["entities", "cloze"] = "entities"
    """Whose salient entities ENT learns, and its bound sees: every reference's, or the answers of `cloze`'s questions,
    which are asked only of references with two entities or more.
    """

    @model_validator(mode="after")
    def salient_of_something(self) -> Self:
        if self.salient == "cloze" and self.cloze is None:
            raise ValueError("`salient: cloze` needs questions: add `cloze: {}`, or remove it")
        return self


class Vectors(Settings):
    """A file of GloVe's form: a word and its numbers a line, plain, .gz or .zst."""

    path: Annotated[str, Field(exclude=True)] = ""
    """Where it lies, which is no part of any name."""
    sha256: Sha256
    """Of the file."""


class Answerer(Settings):
    """What is said of every reader."""

    guessers: Annotated[Boolean, Field(exclude_if=lambda guessers: not guessers)] = False
    """Whether three guessers stand beside it, on validation questions, too: the most frequent, the first, and by word
    overlap, which is also asked of summaries. Without, two do on test questions.
    """


class AttentiveSettings(Answerer):
    """The attentive reader and its training; sizes are Chen et al.'s (2016), for news."""

    kind: Literal["attentive"] = "attentive"
    learns: Annotated[
        tuple[Literal["references", "sources"], ...],
        Field(min_length=1, exclude_if=lambda origins: origins == ("references",)),
        Once,
    ] = ("references",)
    """What it learns from: questions about references, and about each sentence of a source, asked of the others."""
    answer: Annotated[Literal["markers", "mentions"], Field(exclude_if=lambda answer: answer == "markers")] = "markers"
    """How attention becomes an answer: by a layer over all markers (Chen et al. 2016), or as its sum over an entity's
    mentions (Kadlec et al. 2016), of entities that the question does not name, since its answer is hidden everywhere.
    """
    embedding: Positive = 100
    """Width of a word."""
    hidden: Positive = 128
    """Width of each direction of the GRUs."""
    dropout: Dropout = 0.2
    """Share of the words' values that training sets to zero."""
    init_std: Annotated[float, Field(gt=0.0)] = 1.0
    """Standard deviation of new words. With 0.1 a small reader of few questions learned nothing: attention stayed flat.
    """
    vectors: Vectors | None = None
    """Words to start from; null: new ones."""
    vocabulary: Positive = 50_000
    """Most frequent words of the training questions and their documents, beside the entities."""
    min_count: Positive = 1
    """Occurrences a word needs to enter the vocabulary."""
    batch: Positive = 32
    """Questions of one update."""
    valid_questions: Positive = 5_000
    """Questions that a validation answers: the first of the validation part."""
    optimizer: Optimizer = Optimizer(name="sgd", rate=0.1, clip_norm=10.0)
    stop: Stop = Stop(every_updates=100, every_epochs=0.01, patience=50, max_updates=1_000_000)
    """When it is validated and when it ends; the share of answered questions selects."""

    def training(self) -> Training:
        """What `fit` is told."""
        phase = PhaseSettings(name="read", loss="nll", optimizer=self.optimizer, stop=self.stop)
        words, records = self.vocabulary, self.valid_questions
        return Training(
            batch=self.batch, vocabulary=words, min_count=self.min_count, valid_records=records, phases=[phase]
        )


class SpanReaderSettings(Answerer):
    """An extractive question-answering model of Hugging Face transformers, a local folder's, which is not trained."""

    kind: Literal["transformers"]
    path: Annotated[str, Field(exclude=True)] = ""
    """The folder of the model, AutoModelForQuestionAnswering in safetensors, which is no part of any name."""
    sha256: Sha256
    """Of the model's files, as of a pretrained method's."""
    placeholder: str = "what"
    """The word that stands in a question where its answer is hidden."""


ReaderSettings = Annotated[AttentiveSettings | SpanReaderSettings, Field(discriminator="kind")]


def reader_settings(block: Mapping[str, Any]) -> AttentiveSettings | SpanReaderSettings:
    """The settings that a reader's specification holds."""
    kind = AttentiveSettings if block["kind"] == "attentive" else SpanReaderSettings
    return kind.of_specification(block)


class Apes(Settings):
    """How many questions about its reference a summary lets a trained reader answer.

    Corpora with `cloze` are asked.
    """

    reader: ReaderSettings = AttentiveSettings()
    """Who answers: trained once for a corpus, on the questions about all its training records."""
    seeds: Annotated[list[Seed], Field(min_length=1), Once] = [1, 2, 3]  # a field of pydantic
    """A reader is trained with each; scores are their mean."""
    renumber: Boolean = True
    """Whether entities are numbered by their first occurrence when a summary is read, as they are in training; the
    authors' code leaves the article's numbers.
    """
