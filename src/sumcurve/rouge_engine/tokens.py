"""Texts as the tokens that ROUGE compares, in four modes.

- ``rouge-score``: lower-cased runs of [a-z0-9], as the package rouge-score makes them. Lower-casing is Unicode's: the
  Kelvin sign is a k, the dotted capital I an i and an end of word.
- ``rouge-1.5.5``: the same runs, but only A-Z are lower-cased, as in the official script.
- ``unicode``: for other alphabets. A word is a letter or number (categories L and N), then letters, numbers,
  combining marks (M) and joiners (U+200C, U+200D). Lower-cased by Unicode, then in the composed form (NFC). The
  underscore and all other punctuation end a word.
- ``characters``: for scripts without blanks: each Han character (LCSTS), kana, bopomofo letter, Hangul syllable, and
  each letter of Thai, Lao, Burmese and Khmer with its marks, is a token; text between them is cut as in ``unicode``, so
  that runs of Latin letters or digits stay whole. Punctuation is no token.

What letters and marks are, `scripts` says.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sumcurve.rouge_engine.kernels as rouge_kernels
from sumcurve.rouge_engine.kernels import BREAK, GAP, LETTER, MARK, SINGLE
from sumcurve.rouge_engine.scripts import is_mark, is_single
from sumcurve.rouge_engine.stemmers import Stemmer, nltk_stemmer, stemmer_155

Mode = Literal["rouge-score", "rouge-1.5.5", "unicode", "characters"]
MODES: tuple[Mode, ...] = ("rouge-score", "rouge-1.5.5", "unicode", "characters")

RULES = {
    "rouge-score": "lower+[a-z0-9]",
    "rouge-1.5.5": "lower-ascii+[a-z0-9]",
    "unicode": "lower+nfc+LN[LNM]",
    "characters": "lower+nfc+cjk-characters+LN[LNM]",
}


class Tokens(NamedTuple):
    """Tokens of joined sentences: numbers, the first token of each sentence (and the end), and how many words differ.

    `words` are the different words by number, where requested.
    """

    ids: NDArray[np.int32]
    firsts: NDArray[np.int64]
    distinct: int
    words: list[str]


def tokens(text: str, sentences: int, mode: Mode, stemmer: Stemmer | None, with_words: bool = True) -> Tokens:
    """The tokens of `text`, which holds `sentences` sentences, one a line."""
    if mode in ("rouge-score", "rouge-1.5.5"):
        if mode == "rouge-score" and not text.isascii():
            # The only characters beyond ASCII whose lower case has letters of ASCII
            text = text.replace("\u212a", "k").replace("\u0130", "i ")
        data = text.encode("ascii", "replace").lower()
        symbols: NDArray[Any] = np.frombuffer(data, np.uint8)
        classes, text = _ascii_classes(), ""
    else:
        text = unicodedata.normalize("NFC", text.lower())
        data, symbols = b"", np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        classes = _classes(symbols, mode)
    ids, firsts, begins, ends = rouge_kernels.tokenise(symbols, classes, sentences)
    if stemmer is None and not with_words:
        return Tokens(ids, firsts, len(begins), [])
    text = text or data.decode("ascii")
    words = [text[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    if stemmer is not None:
        numbers: dict[str, int] = {}
        stems = np.array([numbers.setdefault(stemmer(word), len(numbers)) for word in words], np.int32)
        ids, words = stems[ids], list(numbers)  # no stem is empty: no token is lost
    return Tokens(ids, firsts, len(words), words)


def stemmer_of(mode: Mode, stem: bool, wordnet: Path | None = None) -> tuple[Stemmer | None, str]:
    """The stemmer of a mode, and its name for a signature ("no" for none).

    Raises ValueError for a mode without one, and the errors of `rouge_stemmers.exceptions`.
    """
    if mode not in MODES:
        raise ValueError(f"no mode {mode!r}; take one of {', '.join(MODES)}")
    if not stem:
        return None, "no"
    if mode == "rouge-score":
        return nltk_stemmer(), "porter-nltk"
    if mode == "rouge-1.5.5":
        return stemmer_155(wordnet)
    raise ValueError(f"mode {mode!r} has no stemmer: the stemmers are for English; leave stem off")


def tokenize(text: str | Sequence[str], mode: Mode = "rouge-score", stem: bool = False) -> list[str]:
    """The tokens of a text, or of its sentences one after the other."""
    text = text if isinstance(text, str) else "\n".join(text)
    tokenised = tokens(text, text.count("\n") + 1, mode, stemmer_of(mode, stem)[0])
    return [tokenised.words[token] for token in tokenised.ids.tolist()]


def token_ids(
    texts: Sequence[str], mode: Mode = "rouge-score", stem: bool = False
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
    """The tokens of all texts as numbers, the first token of each text (and the end), and the words by number."""
    breaks = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([text.count("\n") + 1 for text in texts], out=breaks[1:])
    if not texts:
        return np.empty(0, np.int32), breaks, []
    tokenised = tokens("\n".join(texts), int(breaks[-1]), mode, stemmer_of(mode, stem)[0])
    return tokenised.ids, tokenised.firsts[breaks], tokenised.words


@cache
def _ascii_classes() -> NDArray[np.uint8]:
    classes = np.full(256, GAP, np.uint8)
    classes[np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)] = LETTER
    classes[ord("\n")] = BREAK
    return classes


def _classes(symbols: NDArray[Any], mode: Mode) -> NDArray[np.uint8]:
    """The class of each code point up to the greatest; those that `symbols` lacks are left out."""
    present = np.bincount(symbols, minlength=1).nonzero()[0]
    classes = np.full(int(present[-1]) + 1 if len(present) else 1, GAP, np.uint8)
    for point in present.tolist():
        classes[point] = _class(point, mode)
    return classes


@cache
def _class(point: int, mode: Mode) -> int:
    character = chr(point)
    if character == "\n":
        return BREAK
    if is_mark(character):
        return MARK
    if mode == "characters" and is_single(character):
        return SINGLE
    return LETTER if unicodedata.category(character)[0] in "LN" else GAP
