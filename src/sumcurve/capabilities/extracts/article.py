"""An article whose sentences are counted once, so that any extract of it is scored from small integers.

The F1 of ROUGE-N (Lin, 2004) is 2 h / (c + r) with h matching n-grams, c n-grams of the extract and r of the
abstract. Here it stays a fraction of two integers, which can be compared and proven without rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts import SCORERS
from sumcurve.machine.compiled import njit
from sumcurve.rouge_engine.kernels import BREAK, GAP, LETTER, tokenise
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

_BLANKS = [point for point in range(0x3001) if chr(point).isspace()]  # all of Unicode's
_STOP, _LINE = ord("."), ord("\n")

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
    same: NDArray[np.int32]  # [S] index of the first sentence with the same text


@dataclass(frozen=True, eq=False)
class Instance:
    """One article under one scorer and order, counted once. S sentences; a type is a distinct n-gram of the abstract.

    Extracts are compared as one text: no scorer here ends an n-gram at the end of a sentence, and a sentence without
    words does not part its neighbours. Scorer `set` counts each distinct n-gram once (Akhmetov et al. 2022, equations
    1 and 2); all others count every one and clip matches to the abstract's count.
    """

    scorer: str
    order: int  # 1 or 2
    words: NDArray[np.int32]  # ids of the source's words, sentence after sentence
    starts: NDArray[np.int64]  # [S + 1] rows of `words`
    reference_words: NDArray[np.int32]  # ids of the abstract's words, in the same vocabulary
    reference: NDArray[np.int32]  # [types] how often the abstract has each (`set`: 1)
    reference_total: int  # n-grams of the abstract (`set`: distinct ones)
    lengths: NDArray[np.int32]  # [S] words of each sentence
    rows: NDArray[np.int64]  # [S + 1] rows of `types` and `counts`
    types: NDArray[np.int32]  # the abstract's n-grams inside each sentence, ascending in a row
    counts: NDArray[np.int32]  # how often the sentence has each, not clipped (`set`: 1)
    first: NDArray[np.int32]  # [S] id of the first word, -1 for a sentence without words
    last: NDArray[np.int32]  # [S] id of the last word, -1 likewise
    grams: NDArray[np.int64]  # [types] ascending: the word's id, or first word's id << 32 | second word's id
    # `set` only, since its denominator counts distinct n-grams of the extract; empty for the other scorers:
    other_rows: NDArray[np.int64]  # [S + 1] rows of `others`
    others: NDArray[np.int32]  # distinct n-grams inside each sentence that the abstract lacks: ids into `other_grams`
    other_grams: NDArray[np.int64]  # ascending, as `grams`
    abstract_sentences: int
    same: NDArray[np.int32]  # [S] index of the first sentence with the same text

    @property
    def size(self) -> int:
        """S, the number of sentences."""
        return len(self.lengths)


def instance(article: Article, scorer: str, order: int) -> Instance:
    """The article counted for this scorer and order.

    No sentences, an empty abstract, repeated sentences and sentences without words are all fine. OracleError (a
    ValueError) for an unknown scorer or order.
    """
    return counted(tokenized(article, scorer), scorer, order)


def instances(article: Article, scorer: str) -> tuple[Instance, Instance]:
    """The article counted for order 1 and for order 2, tokenised once."""
    words = tokenized(article, scorer)
    return counted(words, scorer, 1), counted(words, scorer, 2)


def tokenized(article: Article, scorer: str) -> Words:
    """The article's words as this scorer makes them; for both orders at once.

    `set` and `multiset` take the words of `authors_words`, the others those of the ROUGE mode of their name. A
    sentence is tokenised by itself, so that words are additive over sentences.
    """
    if scorer not in SCORERS:
        raise OracleError(f"unknown scorer {scorer!r}; take one of {', '.join(SCORERS)}")
    texts = [*article.sentences, *article.abstract]
    if scorer in ("set", "multiset"):
        ids, starts, size = _authors_ids(texts)
    else:
        mode, stem = MODES[scorer]
        ids, starts, vocabulary = token_ids(texts, mode, stem)
        size = len(vocabulary)
    end = starts[len(article.sentences)]
    seen: dict[str, int] = {}
    same = [seen.setdefault(sentence, index) for index, sentence in enumerate(article.sentences)]
    return Words(
        ids[:end],
        starts[: len(article.sentences) + 1],
        ids[end:],
        size,
        len(article.abstract),
        np.array(same, np.int32),
    )


def _authors_ids(texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """`authors_words` of all texts as ids, the first of each text (and the end), and how many ids there are."""
    lines = "\n".join(text.replace("\n", " ") for text in texts)
    if lines.isascii():
        symbols: NDArray[Any] = np.frombuffer(lines.encode("ascii"), np.uint8)
    else:
        symbols = np.frombuffer(lines.encode("utf-32-le", "surrogatepass"), np.uint32)
    classes = np.full(max(_BLANKS[-1], int(symbols.max(initial=0))) + 1, LETTER, np.uint8)
    classes[_BLANKS] = GAP
    if _has_blank_piece(symbols, classes):  # rare: an empty word is no run of characters
        vocabulary: dict[str, int] = {}
        words = [authors_words(text) for text in texts]
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in words], out=starts[1:])
        ids = [vocabulary.setdefault(word, len(vocabulary)) for text in words for word in text]
        return np.array(ids, np.int32), starts, len(vocabulary)
    classes[_STOP] = GAP
    classes[_LINE] = BREAK
    word_ids, starts, begins, _ = tokenise(symbols, classes, max(len(texts), 1))
    return word_ids, starts[: len(texts) + 1], len(begins)


def authors_words(sentence: str) -> list[str]:
    """The words of a sentence as in the runs of Akhmetov et al. (2022): PyPI `rouge` 1.0.0.

    The text is split at every full stop, within numbers, too, and each piece at blanks. Case and other punctuation
    stay. A piece of nothing but blanks is one *empty* word, and a piece of nothing at all is none.

    The authors join sentences with ". " first, so that a sentence that begins with a full stop, or is empty, brings
    one more empty word unless it comes first. Here each sentence is split by itself, and that word is left out
    wherever the sentence stands: otherwise what a sentence counts would depend on the others.
    """
    return [word for piece in sentence.split(".") if piece for word in piece.split() or [""]]


def counted(article: Words, scorer: str, order: int) -> Instance:
    """The Instance of words that are tokenised already."""
    if order not in ORDERS:
        raise OracleError(f"order {order!r}: ROUGE-1 and ROUGE-2 are supported; take 1 or 2")
    unique = scorer == "set"
    grams, reference = np.unique(_keys(article.abstract, order), return_counts=True)
    total = len(article.abstract) - order + 1 if len(article.abstract) >= order else 0
    if unique:
        reference, total = np.ones(len(grams), np.int64), len(grams)
    rows, types, counts = _count(article.ids, article.starts, grams, order, article.size, unique)
    lengths = np.diff(article.starts).astype(np.int32)
    first = np.full(len(lengths), -1, np.int32)
    last = first.copy()
    full = lengths > 0
    first[full] = article.ids[article.starts[:-1][full]]
    last[full] = article.ids[article.starts[1:][full] - 1]
    other_rows, others, other_grams = _others(article, grams, order, unique)
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
        other_rows=other_rows,
        others=others,
        other_grams=other_grams,
        abstract_sentences=article.abstract_sentences,
        same=article.same,
    )


def value(instance: Instance, sentences: Sequence[int]) -> tuple[int, int]:
    """(numerator, denominator) of the extract's F1: twice its matching n-grams, and its n-grams plus the abstract's.

    The sentences are joined in the order given, and one given twice counts twice. The numerator is 0 where nothing
    matches or is chosen; the denominator is 0 only where extract and abstract have no n-gram at all, and such an F1
    is 0. OracleError for an index that the article lacks.
    """
    for index in sentences:
        if not 0 <= index < instance.size:
            raise OracleError(f"sentence {index} of an article of {instance.size}; indices start with 0")
    starts = instance.starts
    chosen = [instance.words[starts[index] : starts[index + 1]] for index in sentences]
    keys = _keys(np.concatenate([np.zeros(0, np.int32), *chosen]), instance.order)
    grams, have = np.unique(keys, return_counts=True)
    if instance.scorer == "set":
        have = np.ones(len(grams), np.int64)
    _, mine, theirs = np.intersect1d(grams, instance.grams, assume_unique=True, return_indices=True)
    hits = int(np.minimum(have[mine], instance.reference[theirs]).sum())
    return 2 * hits, int(have.sum()) + instance.reference_total


def _keys(words: NDArray[np.int32], order: int) -> NDArray[np.int64]:
    """A number for each n-gram of the words, in order."""
    wide = words.astype(np.int64)
    return wide if order == 1 else wide[:-1] << _WORD_BITS | wide[1:]


def _others(
    article: Words, grams: NDArray[np.int64], order: int, unique: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    size = len(article.starts) - 1
    if not unique or not len(article.ids):
        return np.zeros(size + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64)
    keys = _keys(article.ids, order)
    sentence = np.repeat(np.arange(size), np.diff(article.starts))
    inside = sentence[: len(keys)] == sentence[order - 1 :]
    foreign = inside & ~np.isin(keys, grams)
    other_grams, ids = np.unique(keys[foreign], return_inverse=True)
    pairs = np.unique(sentence[: len(keys)][foreign] * max(len(other_grams), 1) + ids)
    rows = np.searchsorted(pairs, np.arange(size + 1) * max(len(other_grams), 1))
    return rows.astype(np.int64), (pairs % max(len(other_grams), 1)).astype(np.int32), other_grams


@njit(cache=True)
def _has_blank_piece(symbols: NDArray[Any], classes: NDArray[np.uint8]) -> bool:  # pragma: no cover (compiled)
    """Whether somewhere between full stops or ends of lines there are blanks only."""
    blanks, words = 0, 0
    for symbol in symbols:
        if symbol in (_STOP, _LINE):
            if blanks and not words:
                return True
            blanks = words = 0
        elif classes[symbol] == GAP:
            blanks += 1
        else:
            words += 1
    return bool(blanks and not words)


@njit(cache=True)
def find(grams: NDArray[np.int64], key: int) -> int:  # pragma: no cover (compiled)
    """Where the key stands in ascending grams, or -1."""
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
    words: NDArray[np.int32], starts: NDArray[np.int64], grams: NDArray[np.int64], order: int, size: int, unique: bool
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
            counts[place] = 1 if unique else have[types[place]]
            have[types[place]] = 0
        rows[sentence + 1] = filled
    return rows, types[:filled].copy(), counts[:filled].copy()
