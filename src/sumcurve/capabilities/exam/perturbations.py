"""Summaries that are worse by construction, each by a dose: the share of the summary that is changed.

Texts are lists of sentences, each of tokens joined by blanks. Draws depend on the key only. A text in which no change
is possible, such as one word of which a quarter is to be lost, is returned as it is.
"""

import hashlib
import random
from collections.abc import Callable, Sequence

Sentences = Sequence[str]


def lost(text: Sentences, other: Sentences, source: Sentences, dose: float, key: str) -> list[str]:
    """Remove this share of the words, drawn anywhere."""
    words = _words(text)
    dropped = set(_drawn(len(words), dose, key))
    return _kept(text, [None if place in dropped else word for place, word in enumerate(words)])


def truncated(text: Sentences, other: Sentences, source: Sentences, dose: float, key: str) -> list[str]:
    """Remove this share of the words from the end."""
    words = _words(text)
    kept = len(words) - round(dose * len(words))
    return _kept(text, [word if place < kept else None for place, word in enumerate(words)])


def swapped(text: Sentences, other: Sentences, source: Sentences, dose: float, key: str) -> list[str]:
    """Replace this share of the words by words of another document's summary, in their order."""
    words, others = _words(text), _words(other)
    places = _drawn(len(words), dose, key) if others else []
    for number, place in enumerate(places):
        words[place] = others[number % len(others)]
    return _kept(text, list(words))


def repeated(text: Sentences, other: Sentences, source: Sentences, dose: float, key: str) -> list[str]:
    """Repeat the first words, this share, at the end."""
    words = _words(text)
    again = words[: round(dose * len(words))]
    return [*text, " ".join(again)] if again else list(text)


def copied(text: Sentences, other: Sentences, source: Sentences, dose: float, key: str) -> list[str]:
    """Replace the summary by this share of its source, from the beginning."""
    words = _words(source)
    kept = round(dose * len(words))
    return _kept(source, [word if place < kept else None for place, word in enumerate(words)])


PERTURBATIONS: dict[str, Callable[[Sentences, Sentences, Sentences, float, str], list[str]]] = {
    "lost": lost,
    "truncated": truncated,
    "swapped": swapped,
    "repeated": repeated,
    "copied": copied,
}


def _words(text: Sentences) -> list[str]:
    return [word for sentence in text for word in sentence.split()]


def _drawn(count: int, dose: float, key: str) -> list[int]:
    """Drawn places, in order."""
    seed = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest())
    return sorted(random.Random(seed).sample(range(count), round(dose * count)))


def _kept(text: Sentences, words: Sequence[str | None]) -> list[str]:
    """The words in the sentences of the text, without those that are None; no sentence is empty."""
    rest = iter(words)
    sentences = [[word for _ in sentence.split() if (word := next(rest)) is not None] for sentence in text]
    return [" ".join(sentence) for sentence in sentences if sentence]
