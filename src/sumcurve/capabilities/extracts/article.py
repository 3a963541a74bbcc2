"""An article with counted sentences, from which the score of any extract is computed with small integers.

The F1 of ROUGE-N (Lin, 2004) is 2 h / (c + r) with h matching n-grams, c n-grams of the extract and r of the
abstract. Here it is a fraction of two integers, which can be compared and proven without rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts import SCORERS
from sumcurve.numerics.compiled import njit
from sumcurve.rouge_engine.tokens import Mode, token_ids

MODES: dict[str, tuple[Mode, bool]] = {  # of the ROUGE engine, and whether words are stemmed
    "rouge-score": ("rouge-score", False),
    "rouge-score-stem": ("rouge-score", True),
    "rouge-1.5.5": ("rouge-1.5.5", False),
    "rouge-1.5.5-m": ("rouge-1.5.5", True),
    "unicode": ("unicode", False),
    "characters": ("characters", False),
}
ORDERS = (1, 2)

_WORD_BITS = 32  # a bigram's key is its first word's id, shifted, and its second word's id


class OracleError(ValueError):
    """An article, a scorer or an extract that cannot be scored as given."""


@dataclass(frozen=True)
class Article:
    """A source of sentences and the abstract that its extracts are compared with; raw or tokenised text."""

    id: str
    sentences: list[str]
    abstract: list[str]

    def __post_init__(self) -> None:
        for name, texts in (("sentences", self.sentences), ("abstract", self.abstract)):
            if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
                raise OracleError(f"article {self.id!r}: `{name}` must be a list of strings, one per sentence")


@dataclass(frozen=True)
class Words:
    """An article's words as ids of one vocabulary; `ids[starts[i] : starts[i + 1]]` are those of sentence i."""

    ids: NDArray[np.int32]  # [words of the source]
    starts: NDArray[np.int64]  # [S + 1]
    abstract: NDArray[np.int32]
    size: int  # of the vocabulary
    abstract_sentences: int


@dataclass(frozen=True, eq=False)
class Instance:
    """One article under one scorer and order, counted once. S sentences; a type is a distinct n-gram of the abstract.

    Extracts are compared as one text: no scorer here ends an n-gram at the end of a sentence, and a sentence without
    words does not separate its neighbours. Every n-gram counts, and matches are clipped to the abstract's count.
    """

    scorer: str
    order: int  # 1 or 2
    words: NDArray[np.int32]  # ids of the source's words, sentence after sentence
    starts: NDArray[np.int64]  # [S + 1] rows of `words`
    reference_words: NDArray[np.int32]  # ids of the abstract's words, in the same vocabulary
    reference: NDArray[np.int32]  # [types] how often the abstract has each
    reference_total: int  # n-grams of the abstract
    lengths: NDArray[np.int32]  # [S] words of each sentence
    rows: NDArray[np.int64]  # [S + 1] rows of `types` and `counts`
    types: NDArray[np.int32]  # the abstract's n-grams inside each sentence, ascending in a row
    counts: NDArray[np.int32]  # how often the sentence has each, not clipped
    first: NDArray[np.int32]  # [S] id of the first word, -1 for a sentence without words
    last: NDArray[np.int32]  # [S] id of the last word, -1 likewise
    grams: NDArray[np.int64]  # [types] ascending: the word's id, or first word's id << 32 | second word's id
    abstract_sentences: int

    @property
    def size(self) -> int:
        """S, the number of sentences."""
        return len(self.lengths)


def instance(article: Article, scorer: str, order: int) -> Instance:
    """The article counted for this scorer and order.

    No sentences, an empty abstract, repeated sentences and sentences without words are all valid. OracleError (a
    ValueError) for an unknown scorer or order.
    """
    return counted(tokenized(article, scorer), scorer, order)


def instances(article: Article, scorer: str) -> tuple[Instance, Instance]:
    """The article counted for order 1 and for order 2, tokenised once."""
    words = tokenized(article, scorer)
    return counted(words, scorer, 1), counted(words, scorer, 2)


def tokenized(article: Article, scorer: str) -> Words:
    """The article's words by this scorer's tokenizer; for both orders at once.

    They are those of the ROUGE mode of its name. A sentence is tokenised by itself, so that words are additive over
    sentences.
    """
    if scorer not in SCORERS:
        raise OracleError(f"unknown scorer {scorer!r}; take one of {', '.join(SCORERS)}")
    mode, stem = MODES[scorer]
    ids, starts, vocabulary = token_ids([*article.sentences, *article.abstract], mode, stem)
    end = starts[len(article.sentences)]
    return Words(ids[:end], starts[: len(article.sentences) + 1], ids[end:], len(vocabulary), len(article.abstract))


def counted(article: Words, scorer: str, order: int) -> Instance:
    """The Instance of an article that is tokenised already."""
    if order not in ORDERS:
        raise OracleError(f"order {order!r}: ROUGE-1 and ROUGE-2 are supported; take 1 or 2")
    grams, reference = np.unique(_keys(article.abstract, order), return_counts=True)
    total = len(article.abstract) - order + 1 if len(article.abstract) >= order else 0
    rows, types, counts = _count(article.ids, article.starts, grams, order, article.size)
    lengths = np.diff(article.starts).astype(np.int32)
    first = np.full(len(lengths), -1, np.int32)
    last = first.copy()
    full = lengths > 0
    first[full] = article.ids[article.starts[:-1][full]]
    last[full] = article.ids[article.starts[1:][full] - 1]
    return Instance(
        scorer=scorer,
        order=order,
        words=article.ids,
        starts=article.starts,
        reference_words=article.abstract,
        reference=reference.astype(np.int32),
        reference_total=int(total),
        lengths=lengths,
        rows=rows,
        types=types,
        counts=counts,
        first=first,
        last=last,
        grams=grams,
        abstract_sentences=article.abstract_sentences,
    )


def value(instance: Instance, sentences: Sequence[int]) -> tuple[int, int]:
    """(numerator, denominator) of the extract's F1: twice its matching n-grams, and its n-grams plus the abstract's.

    The sentences are joined in the order given, and one given twice counts twice. The numerator is 0 where nothing
    matches or is chosen; the denominator is 0 only where extract and abstract have no n-gram at all, and such an F1
    is 0. OracleError for an index out of the article's range.
    """
    for index in sentences:
        if not 0 <= index < instance.size:
            raise OracleError(f"sentence {index} of an article of {instance.size}; indices start with 0")
    starts = instance.starts
    chosen = [instance.words[starts[index] : starts[index + 1]] for index in sentences]
    keys = _keys(np.concatenate([np.zeros(0, np.int32), *chosen]), instance.order)
    grams, have = np.unique(keys, return_counts=True)
    _, mine, theirs = np.intersect1d(grams, instance.grams, assume_unique=True, return_indices=True)
    hits = int(np.minimum(have[mine], instance.reference[theirs]).sum())
    return 2 * hits, int(have.sum()) + instance.reference_total


def _keys(words: NDArray[np.int32], order: int) -> NDArray[np.int64]:
    """A number for each n-gram of the words, in order."""
    wide = words.astype(np.int64)
    return wide if order == 1 else wide[:-1] << _WORD_BITS | wide[1:]


@njit(cache=True)
def find(grams: NDArray[np.int64], key: int) -> int:  # pragma: no cover (compiled)
    """Find the key in ascending grams: its index, or -1."""
    low, high = 0, len(grams)
    while low < high:
        middle = (low + high) >> 1
        if grams[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(grams) and grams[low] == key else -1


@njit(cache=True)
def _count(
    words: NDArray[np.int32], starts: NDArray[np.int64], grams: NDArray[np.int64], order: int, size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:  # pragma: no cover (compiled)
    # Grams are ascending, so those with one first word are neighbours: [bucket[word], bucket[word + 1]).
    bucket = np.zeros(size + 2, np.int64)
    for gram in grams:
        bucket[(gram if order == 1 else gram >> 32) + 1] += 1
    for word in range(size):
        bucket[word + 1] += bucket[word]
    have = np.zeros(len(grams), np.int32)
    sentences = len(starts) - 1
    rows = np.zeros(sentences + 1, np.int64)
    types = np.empty(len(words), np.int32)
    counts = np.empty(len(words), np.int32)
    filled = 0
    for sentence in range(sentences):
        begin = filled
        for place in range(starts[sentence], starts[sentence + 1] - order + 1):
            word = words[place]
            gram = -1
            if order == 1:
                if bucket[word + 1] > bucket[word]:
                    gram = bucket[word]
            else:
                key = np.int64(word) << 32 | np.int64(words[place + 1])
                for candidate in range(bucket[word], bucket[word + 1]):
                    if grams[candidate] == key:
                        gram = candidate
            if gram >= 0:
                if have[gram] == 0:
                    slot = filled  # types ascend in a row
                    while slot > begin and types[slot - 1] > gram:
                        types[slot] = types[slot - 1]
                        slot -= 1
                    types[slot] = gram
                    filled += 1
                have[gram] += 1
        for place in range(begin, filled):
            counts[place] = have[types[place]]
            have[types[place]] = 0
        rows[sentence + 1] = filled
    return rows, types[:filled].copy(), counts[:filled].copy()
