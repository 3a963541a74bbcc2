"""Summaries by other programs: their files and lines, and their tokenization."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.corpora.tokens import cut
from sumcurve.files.errors import FileError
from sumcurve.rouge_engine.texts import places_by_id, read_texts
from sumcurve.settings.base import Boolean, Once
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.records import RecordError
from sumcurve.systems.system import SystemSettings

OBJECT = re.compile(r"""\{\s*["'](id|summary)["']\s*:""")  # how a line begins that means to be a JSON object

OF_ROUGE = re.compile(r", or name (it|the texts') \(`sumcurve rouge`: [^)]*\)")  # an option that a study does not have

Value = str | int | float


class OutsideSettings(SystemSettings):
    split: Boolean = False  # find sentences within what is given as one, as in the corpus's own texts
    cut: Boolean = True  # at the corpus's longest summary, as all systems' are

    def trainings(self, percents: Sequence[int], seeds: Sequence[int]) -> list[tuple[int, int]]:
        """Percent and seed of every training behind the summaries, for a corpus's `percents` and a study's `seeds`.

        Empty for a system that is no curve, but one row of the tables.
        """
        return []


class LearningSettings(OutsideSettings):
    """Settings of a kind whose systems may learn from a study's records."""

    settings: Annotated[dict[str, Value], Field(default_factory=dict)]  # settings of its training and decoding
    trials: Annotated[list[dict[str, Value]], Once, Field(default_factory=list)]  # settings that trials try

    def training(self) -> dict[str, Any]:
        """Settings that decide a training, beside the records and the seed. RecordError as in `specify` of its kind."""
        raise NotImplementedError


def tokenizing(settings: OutsideSettings, corpus: CorpusSettings) -> dict[str, int | bool | str | None]:
    """Settings that decide the tokens of summaries; the tokenizer `words` is left out."""
    words = corpus.prepare.tokenizer
    return {
        **({} if words == "words" else {"tokenizer": words}),
        "lower": corpus.prepare.lower,
        "split": settings.split,
        "max_tokens": corpus.search.max_tokens if settings.cut else None,
    }


def sha256_of(path: Path, whose: str) -> str:
    """The sha256 (hex) of a file that a study names; RecordError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror}): {whose}") from error


def read_summaries(path: Path, ids: Sequence[str], called: str = "") -> list[list[str]]:
    """The summary of each id as it was written, a list of sentences.

    Files have the forms of `rouge.texts`: JSON lines {id, summary}, a table with these columns, or one summary a line.
    A summary is a list of sentences, or a string in which line breaks (JSON, tables) or marks ``<t> </t>`` divide
    sentences. With ids items come in any order, without in that of `ids`. Raises RecordError that names line and id
    where a summary is missing, doubled or unknown; `called` stands for the path in messages.
    """
    named = called or str(path)
    if not path.stat().st_size:
        raise RecordError(f"{named} is empty, but there are {len(ids)} test items; write one summary a line")
    try:
        texts = read_texts(path, "candidate")
        if texts.guesses:
            raise FileError(f"{path}: {texts.guesses[0]} A study guesses nothing: write a UTF-8 file as its name says")
        for line, item in zip(texts.lines, texts.items, strict=True):  # all lines are plain where the first is no JSON
            if item[0] and OBJECT.match(item[0][0]):
                raise FileError(
                    f"{path}:{line}: {item[0][0][:60]!r} begins as a JSON object and is none; write it by a JSON "
                    "library (double quotes, a line each)"
                )
        if len(texts) == len(ids) and not any(sentence.strip() for item in texts.items for sentence in item[0]):
            raise RecordError(f"{named}: all {len(ids)} summaries are empty; write a text for some of them at least")
        if texts.named:
            places = places_by_id(texts, {name: f"test item {number}" for number, name in enumerate(ids, start=1)})
            return [texts.items[place][0] for place in places]
    except FileError as error:
        message = OF_ROUGE.sub("", str(error))
        raise RecordError(message.replace(str(path), named)) from None
    if len(texts) < len(ids):
        raise RecordError(
            f"{named} ends after summary {len(texts)}, but there are {len(ids)} test items: the next is to be that of "
            f"id {ids[len(texts)]!r}; an empty line is an empty summary"
        )
    if len(texts) > len(ids):
        raise RecordError(
            f"{named}:{texts.lines[len(ids)]}: one summary more than the {len(ids)} test items; without ids summary n "
            "is that of test item n"
        )
    return [item[0] for item in texts.items]


def tokenized(
    summary: Sequence[str], lower: bool, split: bool, max_tokens: int | None, words: str = "words"
) -> list[str]:
    """A summary's sentences as the corpus's tokenizer, of the name `words`, makes them, without empty ones; cut at
    `max_tokens` if given.
    """
    reads = tokenizer(words)
    sentences = [sentence for text in summary for sentence in (reads.sentences(text) if split else [text])]
    kept = [sentence for sentence in reads.tokens(sentences, lower) if sentence]
    return kept if max_tokens is None else cut(kept, max_tokens)
