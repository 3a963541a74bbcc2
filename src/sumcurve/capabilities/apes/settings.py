"""Settings of questions about references, and of the readers that answer them."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from sumcurve.corpora.pipeline import Pipeline
from sumcurve.settings.base import Boolean, Dropout, Once, Positive, Seed, Settings, Sha256
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop, Training


class QuestionFiles(Settings):
    """Ready-made questions of CNN and the Daily Mail (Hermann et al. 2015), about stories whose ids the records have.

    They are of `cnn.tgz` and `dailymail.tgz`, or unpacked.
    """

    path: str
    """An archive, or a folder of archives or of `.question` files."""
    sha256: Sha256
    """sha256 of the archive; of a folder, of the lines that `sha256sum` prints of its files, in the order of their
    names.
    """


class Cloze(Settings):
    """Questions about a corpus's references (Eyal et al. 2019): sentences with one entity hidden."""

    files: QuestionFiles | None = None
    """Ready-made questions in place of those that are made of references; null: there are none."""
    never: Annotated[tuple[str, ...], Field(exclude_if=lambda patterns: not patterns)] = ()
    """Words that are no part of an entity, whatever recognises them: regular expressions, as `person\\d` where a corpus
    calls its speakers so, searched in single tokens in lower case. Such words are recognised in small letters, and a
    name that has one all the same is none.
    """
    salient: Literal["names", "words"] = "names"
    """Salient source words, where ENT learns them from the questions: whole mentions of answers, or every
    word of their names wherever it stands, as the authors' code has it.
    """

    @model_validator(mode="after")
    def one_source(self) -> Self:
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
    entities: Pipeline = "rules"
    """Finder of entities: `rules`, ours for texts about code; `names`, those of them that find names and coined words,
    for other texts; or a spaCy pipeline with a component `ner`, by the name of an installed one or pinned, whose names
    count that are of the paper's five types.
    """
    hyphenated: Literal["whole", "parts"] = "whole"
    """Reading of tokens with hyphens inside where entities are named: whole words; or their parts, so that "Qaeda" is a
    mention of "al-Qaeda" (Eyal et al. 2019). Tokenizers that leave them joined are `ptb` and `blanks`.
    """
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
    """Path of the file, which is no part of any name."""
    sha256: Sha256
    """sha256 of the file."""


class AttentiveSettings(Settings):
    """The attentive reader and its training; sizes are Chen et al.'s (2016), for news."""

    guessers: Annotated[Boolean, Field(exclude_if=lambda guessers: not guessers)] = False
    """True where three guessers stand beside it, on validation questions, too: the most frequent, the first, and by
    word overlap, which is also asked of summaries. Without, two do on test questions.
    """
    kind: Literal["attentive"] = "attentive"
    learns: Annotated[
        tuple[Literal["references", "sources"], ...],
        Field(min_length=1, exclude_if=lambda origins: origins == ("references",)),
        Once,
    ] = ("references",)
    """Questions that it learns from: questions about references, and about each sentence of a source, asked of the
    others.
    """
    answer: Annotated[Literal["markers", "mentions"], Field(exclude_if=lambda answer: answer == "markers")] = "markers"
    """Step from attention to an answer: by a layer over all markers (Chen et al. 2016), or as its sum over an entity's
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
        """Settings of `fit`."""
        phase = PhaseSettings(name="read", loss="nll", optimizer=self.optimizer, stop=self.stop)
        words, records = self.vocabulary, self.valid_questions
        return Training(
            batch=self.batch, vocabulary=words, min_count=self.min_count, valid_records=records, phases=[phase]
        )


class Apes(Settings):
    """Share of the questions about its reference that a trained reader of a summary answers.

    It applies to corpora with `cloze`.
    """

    reader: AttentiveSettings = AttentiveSettings()
    """Reader that answers: trained once for a corpus, on the questions about all its training records."""
    seeds: Annotated[list[Seed], Field(min_length=1), Once] = [1, 2, 3]  # a field of pydantic
    """A reader is trained with each; scores are their mean."""
    renumber: Boolean = True
    """True where entities are numbered by their first occurrence when a summary is read, as they are in training; the
    authors' code leaves the article's numbers.
    """
