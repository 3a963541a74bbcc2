"""Words and sentences of running text."""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+(?!\w)"  # 1.5 and 10,000
    r"|\w+(?:['’]\w+)*"  # words, identifiers with underscores, don't
    r"|[^\w\s]"  # every other sign alone
)
PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")

# Lower case, without the last full stop, as Punkt requires.
# fmt: off
ABBREVIATIONS = frozenset([
    "a.k.a", "al", "approx", "apr", "assoc", "aug", "bros", "ca", "cf", "ch", "chap", "co", "corp", "dept",
    "dr", "e.g", "eg", "eq", "eqn", "eqs", "esp", "est", "etc", "feb", "fig", "figs", "gen", "gov", "hon",
    "i.e", "ie", "inc", "incl", "jan", "jr", "jul", "jun", "ltd", "mr", "mrs", "ms", "mt", "nos", "nov",
    "nr", "oct", "ph.d", "pp", "prof", "resp", "rev", "sen", "sept", "sgt", "sr", "st", "u.k", "u.n", "u.s",
    "univ", "viz", "vol", "vols", "vs", "w.r.t", "wrt",
])
# fmt: on


def tokenize(text: str, lower: bool) -> list[str]:
    """Words (identifiers whole), numbers and single signs. No token holds white space."""
    return TOKEN.findall(text.lower() if lower else text)


def own_case(text: str, lowered: str, token: re.Pattern[str] = TOKEN) -> str:
    """The tokens `lowered` (blank-separated) in the case of the text that they were made from, by a rule for tokens.

    A token of the lower-cased text is read at its place in the text itself. A character that is longer in lower case
    (Turkish İ) stays in lower case, so that the following positions agree. Tokens that were not lower-cased are
    returned as they are.
    """
    if " ".join(token.findall(text.lower())) != lowered:
        return lowered
    same_length = "".join(sign if len(sign.lower()) == 1 else sign.lower() for sign in text)
    return " ".join(same_length[found.start() : found.end()] for found in token.finditer(text.lower()))


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; an empty line always ends one.

    Punkt (Kiss and Strunk, 2006) without learned parameters: a full stop ends a sentence unless it belongs to
    one of our abbreviations, an initial or an ellipsis.
    """
    divided: list[str] = []
    for paragraph in PARAGRAPH.split(text):
        divided.extend(" ".join(sentence.split()) for sentence in punkt().tokenize(paragraph))
    return [sentence for sentence in divided if sentence]


def cut(sentences: Sequence[str], most_tokens: int) -> list[str]:
    """The sentences of blank-separated tokens up to `most_tokens` tokens in all; the last one is truncated."""
    kept = []
    for sentence in sentences:
        tokens = sentence.split(" ")[:most_tokens]
        if not tokens:
            break
        kept.append(" ".join(tokens))
        most_tokens -= len(tokens)
    return kept


@cache
def punkt(further: frozenset[str] = frozenset()) -> "PunktSentenceTokenizer":
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer  # nltk takes seconds to import

    parameters = PunktParameters()
    parameters.abbrev_types = {*ABBREVIATIONS, *further}
    return PunktSentenceTokenizer(parameters)
