"""Broken references: contrasts by eight rules, of every test record.

Kumar and Cheung (NAACL 2019), "Understanding the behaviour of neural abstractive summarizers using contrastive
examples": a word of the reference (the gold summary) changes places with another of its class, or is overwritten by one
of the source. A good model should prefer the gold to each of its contrasts, given the source.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.store.records import RecordError, read_jsonl, write_jsonl

FILE = "contrasts.jsonl"
CLASSES = ("noun", "preposition", "verb", "adjective")
ORIGINS = ("gold", "source")
RULES = tuple(f"{origin}_{name}" for origin in ORIGINS for name in CLASSES)


@dataclass(frozen=True)
class Contrast:
    """A broken gold: `words` are its tokens, `lengths` those of its sentences; () where it is one sentence.

    A rule is its origin and its class of words, as "gold_noun".
    """

    rule: str
    words: tuple[str, ...]
    lengths: tuple[int, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Sentences as in records: tokens joined by blanks."""
        return joined(self.words, self.lengths)


@dataclass(frozen=True)
class Contrasted:
    """A test item (its record's id), its gold, truncated as for contrasts, and its contrasts, in the order of rules."""

    item: str
    gold: tuple[str, ...]
    contrasts: tuple[Contrast, ...]
    lengths: tuple[int, ...] = ()  # of the gold's sentences; () where it is one

    @property
    def sentences(self) -> list[str]:
        """The gold's sentences as in records: tokens joined by blanks."""
        return joined(self.gold, self.lengths)


def joined(words: Sequence[str], lengths: Sequence[int]) -> list[str]:
    """The sentences of these lengths, each as one string of tokens; one sentence where no lengths are given."""
    sentences, start = [], 0
    for length in lengths or [len(words)]:
        sentences.append(" ".join(words[start : start + length]))
        start += length
    return sentences


def write(folder: Path, rows: Iterable[Contrasted]) -> int:
    """Write contrasts.jsonl, a line for each item; returns the number of lines.

    A line is `{"id", "gold", "contrasts": [{"rule", "words"}]}`; gold and words are lists of sentences of tokens.
    """
    return write_jsonl(folder / FILE, map(_row, rows))


def read(folder: Path) -> Iterator[Contrasted]:
    """Read the file of `write`, in its order. RecordError for any other line."""
    path = folder / FILE
    for number, row in enumerate(read_jsonl(path), start=1):
        try:
            gold, lengths = _split(row["gold"])
            contrasts = tuple(Contrast(line["rule"], *_split(line["words"])) for line in row["contrasts"])
            yield Contrasted(row["id"], gold, contrasts, lengths)
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{path}:{number}: no item with its contrasts ({error}); rebuild its folder") from error


def _row(gold: Contrasted) -> dict[str, object]:
    contrasts = [{"rule": contrast.rule, "words": contrast.sentences} for contrast in gold.contrasts]
    return {"id": gold.item, "gold": gold.sentences, "contrasts": contrasts}


def _split(sentences: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Sentences of tokens as words, and the sentences' lengths, () for one."""
    tokens = [sentence.split(" ") for sentence in sentences]
    lengths = tuple(map(len, tokens)) if len(tokens) != 1 else ()
    return tuple(token for sentence in tokens for token in sentence), lengths
