"""Summaries that other programs wrote: which files and lines hold them, and how they become tokens."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.corpora.tokens import cut
from sumcurve.records import RecordError
from sumcurve.scores.texts import TextError, read_texts
from sumcurve.settings import CorpusSettings
from sumcurve.systems.system import SystemSettings


class OutsideSettings(SystemSettings):
    split: bool = False  # find sentences within what is given as one, as in the corpus's own texts
    cut: bool = True  # at the corpus's longest summary, as all systems' are

    def trainings(self, percents: Sequence[int], seeds: Sequence[int]) -> list[tuple[int, int]]:
        """Percent and seed of every training behind what it says, of a corpus with `percents` and a study with `seeds`.

        Empty where it is no curve, but one row of the tables.
        """
        return []


def tokenizing(settings: OutsideSettings, corpus: CorpusSettings) -> dict[str, int | bool | str | None]:
    """What decides how the summaries become tokens; the tokenizer `words` is not said."""
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
    """The summary of each id as it was written, a list of sentences: JSON lines {id, summary}, or one summary a line.

    A summary is a list of sentences, or a string in which line breaks (JSON) or marks ``<t> </t>`` divide sentences.
    With ids lines come in any order, without in that of `ids`. Raises RecordError that names line and id where a
    summary is missing, doubled or unknown; `called` stands for the path in messages.
    """
    named = called or str(path)
    if not path.stat().st_size:
        raise RecordError(f"{named} is empty, but there are {len(ids)} test items; write one summary a line")
    try:
        texts = read_texts(path, "candidate")
    except TextError as error:
        raise RecordError(str(error).replace(str(path), named)) from None
    found = [item[0] for item in texts.items]
    without = [line for line, name in enumerate(texts.ids, start=1) if name is None]
    if len(without) == len(texts.ids):
        return _in_order(found, ids, named)
    if without:
        raise RecordError(f"{named}:{without[0]}: no id, but other lines have one; give every line an id or none")
    known = set(ids)
    lines: dict[str | None, int] = {}
    for line, name in enumerate(texts.ids, start=1):
        if name not in known:
            raise RecordError(f"{named}:{line}: id {name!r} is of no test item; the first test item is {ids[0]!r}")
        if name in lines:
            raise RecordError(f"{named}:{line}: a second summary of id {name!r}, after line {lines[name]}; keep one")
        lines[name] = line
    if missing := [name for name in ids if name not in lines]:
        raise RecordError(
            f"{named}: no summary of id {missing[0]!r} ({len(missing)} of {len(ids)} test items have none); an empty "
            'one is "summary": ""'
        )
    return [found[lines[name] - 1] for name in ids]


def _in_order(found: list[list[str]], ids: Sequence[str], named: str) -> list[list[str]]:
    if len(found) < len(ids):
        raise RecordError(
            f"{named} ends after line {len(found)}, but there are {len(ids)} test items: line {len(found) + 1} is to "
            f"be the summary of id {ids[len(found)]!r}; an empty line is an empty summary"
        )
    if len(found) > len(ids):
        raise RecordError(
            f"{named}:{len(ids) + 1}: one summary more than the {len(ids)} test items; without ids line n is the "
            "summary of test item n"
        )
    return found


def tokenized(
    summary: Sequence[str], lower: bool, split: bool, max_tokens: int | None, words: str = "words"
) -> list[str]:
    """A summary's sentences as the corpus's tokenizer, of the name `words`, gives them, without empty ones; cut at
    `max_tokens` if given.
    """
    told = tokenizer(words)
    tokens = told.tokens([one for each in summary for one in (told.sentences(each) if split else [each])], lower)
    kept = [sentence for sentence in tokens if sentence]
    return kept if max_tokens is None else cut(kept, max_tokens)
