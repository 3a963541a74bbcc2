"""Tokenizers of a corpus's sentences: the choices of `prepare.tokenizer`, by name."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from sumcurve.corpora import tokens, unicode
from sumcurve.store.errors import CorpusError

if TYPE_CHECKING:
    import jieba


@dataclass(frozen=True)
class Tokenizer:
    """`sentences` of a running text, and the `tokens` of sentences, blank-separated, in small letters if requested.

    There are as many results as sentences. A sentence that has a token by `tokens.TOKEN` has one here.
    """

    sentences: Callable[[str], list[str]]
    tokens: Callable[[Sequence[str], bool], list[str]]


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of this name: `words` (tokens.py), `unicode`, `ptb` (modules), `blanks`, `jieba`, `characters`."""
    return TOKENIZERS[name]


def of_each(tokens: Callable[[str], Sequence[str]]) -> Callable[[Sequence[str], bool], list[str]]:
    """The tokens of sentences by those of a sentence."""
    return lambda sentences, lower: [" ".join(tokens(one.lower() if lower else one)) for one in sentences]


words = of_each(partial(tokens.tokenize, lower=False))
unicode_words = of_each(partial(unicode.tokenize, lower=False))
blanks = of_each(str.split)  # of text that is tokenised already


def ptb_sentences(text: str) -> list[str]:
    from sumcurve.corpora.ptb import sentences

    return sentences(text)


def ptb(sentences: Sequence[str], lower: bool) -> list[str]:
    from sumcurve.corpora.ptb import tokenize  # numba takes a second to import

    if not sentences:
        return []
    lines = tokenize("\n".join(" ".join(sentence.split()) for sentence in sentences))
    return (lines.lower() if lower else lines).split("\n")


def own_case(text: str, lowered: str) -> str:
    """The tokens `lowered` (blank-separated), of any of the tokenizers, in the case of the text they were made from.

    Tokens that none of them makes of the text in small letters are returned as they are. See `tokens.own_case`.
    """
    if words([text], True) == [lowered]:
        return tokens.own_case(text, lowered)
    if unicode_words([text], True) == [lowered]:
        return tokens.own_case(unicodedata.normalize("NFC", text), lowered, unicode.token())
    (cased,) = blanks([text], False)
    if cased.lower() == lowered:
        return cased
    (cased,) = ptb([text], False)
    return cased if cased.lower() == lowered else lowered


# --- Chinese

_CHINESE_ENDS = re.compile(r"[^。！？!?\n]*(?:[。！？!?]+[”’」』）)\"']*|\n|$)")
# A character of a script without blanks; a run of letters and digits, with signs inside numbers; any other sign.
_CHARACTER = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u30a1-\u30fa\u3105-\u312f\u31a0-\u31bf"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
    r"|[0-9]+(?:[.,][0-9]+)*|[A-Za-z\u00c0-\u024f]+|\S"
)


def chinese_sentences(text: str) -> list[str]:
    """Sentences that end with 。！？ and the quotation marks and brackets after these, or with a line."""
    return [sentence for line in _CHINESE_ENDS.findall(text) if (sentence := " ".join(line.split()))]


# Every Chinese character as a token, as Hu et al. (2015) read LCSTS; Latin words and numbers whole.
characters = of_each(_CHARACTER.findall)


def jieba_words(sentences: Sequence[str], lower: bool) -> list[str]:
    """Words of jieba's dictionary, and of its hidden Markov model for unknown words."""
    cut = _jieba().lcut
    return [
        " ".join(word for word in cut(sentence.lower() if lower else sentence) if not word.isspace())
        for sentence in (" ".join(sentence.split()) for sentence in sentences)
    ]


@cache
def _jieba() -> "jieba.Tokenizer":
    """jieba with its own dictionary, without its cache in the temporary folder, which any user could write."""
    try:
        import jieba
    except ImportError as error:
        raise CorpusError(
            "prepare.tokenizer: jieba needs a package that is not installed: pip install 'sumcurve[chinese]'"
        ) from error
    made = jieba.Tokenizer()
    made.FREQ, made.total = made.gen_pfdict(made.get_dict_file())
    made.initialized = True
    return made


TOKENIZERS: dict[str, Tokenizer] = {
    "words": Tokenizer(tokens.sentences, words),
    "unicode": Tokenizer(unicode.sentences, unicode_words),
    "ptb": Tokenizer(ptb_sentences, ptb),
    "blanks": Tokenizer(tokens.sentences, blanks),
    "jieba": Tokenizer(chinese_sentences, jieba_words),
    "characters": Tokenizer(chinese_sentences, characters),
}
VERSIONS = {"ptb": 2}  # where it is above 1, it stands in names of corpora
