"""Words and sentences of running text in every script: the tokenizer `unicode`.

Words are those of ROUGE's mode `unicode` (`rouge_engine.scripts`), and text without blanks between words is cut into
characters, each with its marks. Of English the tokens are those of `tokens.tokenize`.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from sumcurve.corpora.tokens import ABBREVIATIONS, PARAGRAPH
from sumcurve.rouge_engine.scripts import classes

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

INVISIBLE = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # soft hyphens, marks of direction: no token

# Signs that end a sentence whatever follows: Unicode's property Sentence_Terminal in scripts of today, but for . ! ?
STOPS = "։؞؟۔܀-܂।॥။።፧፨។៕᠃᠉᪨᪩᭞᭟།༎‼⁇-⁉。﹖﹗！？｡"
CLOSING = "”’」』）)\"'»›】〉》〕］\\]"

# Beside those of English; in small letters, without the last full stop. None is a word that may end a sentence.
# fmt: off
FURTHER = frozenset([
    "abs", "aufl", "bd", "bspw", "bzgl", "bzw", "evtl", "geb", "ggf", "hrsg", "inkl", "jh", "mio", "mrd", "sog", "str",
    "tel", "u.a", "usw", "vgl", "z.b", "d.h", "o.ä", "zzgl",  # German
    "акад", "гг", "гл", "д-р", "доц", "др", "им", "напр", "обл", "проф", "рис", "св", "стр", "т.е", "т.к", "т.н",
    "табл", "ул",  # Russian
    "bs", "gs", "gs.ts", "ks", "nxb", "pgs", "pgs.ts", "th.s", "ths", "tp", "ts",  # Vietnamese
    "bkz", "doç", "örn", "yrd",  # Turkish
    "av", "mme", "núm", "pág", "sra", "dra", "ee.uu",  # French, Spanish
    "डॉ", "प्रो", "श्री",  # Hindi
])
# What comes after a German ordinal, beside a word in small letters
COUNTED = (
    "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhunderts?|Jh|"
    "Jahrtausends?|Weltkriegs?|Mal|Platz|Klasse|Auflage|Runde|Minute|Etage|Stock|Kapitel|Bundesliga|Liga|FC|Semester|Tag"
)
# fmt: on
_BEFORE = "der|die|das|dem|den|des|am|im|zum|zur|vom|beim|ins|seit|bis|jede[rnsm]?"  # articles before ordinals
# Text whose full stop ends no sentence: an ordinal behind an article, a number of a king, a letter of a script without
# capitals; and a number before a noun that is counted.
_GOES_ON = re.compile(rf"(?:\b(?:{_BEFORE}) \d{{1,3}}|\b[IVX]+|(?<!\w)[^\W\d_a-zA-Z])\.$")
_NUMBER = re.compile(r"\b\d{1,2}\.$")
_COUNTED = re.compile(rf"(?:{COUNTED})\b")


@cache
def token() -> re.Pattern[str]:
    """Tokens of text in Unicode's composed form: numbers, characters without blanks, words, and other signs alone."""
    marks, single = classes()
    word = rf"[^\W{single}][^\W{single}{marks}]*(?:[{marks}]+[^\W{single}{marks}]*)*"
    return re.compile(
        r"\d+(?:[.,٫٬]\d+)+(?!\w)"
        rf"|{word}(?:['’]{word})*"
        rf"|[{single}][{marks}]*"
        rf"|[^\w\s{INVISIBLE}][{marks}]*"
    )


def tokenize(text: str, lower: bool) -> list[str]:
    """Words with their marks, characters of scripts without blanks, numbers and single signs, in the composed form.

    Invisible signs are no tokens, unless the text has nothing else.
    """
    return token().findall(unicodedata.normalize("NFC", text.lower() if lower else text)) or text.split()


@cache
def _divisions() -> re.Pattern[str]:
    """Ends of sentences but for full stops: stops of all scripts; ! ? and line ends behind a character of a script
    without blanks; the question mark of Greek; and blanks between letters of Thai and Lao, which have no stop.
    """
    _, single = classes()
    thai = "\u0e00-\u0e45\u0e47-\u0e4e\u0e80-\u0ec5\u0ec8-\u0ecd\u0edc-\u0edf"  # without the sign of repetition
    return re.compile(
        rf"[{STOPS}][{STOPS}.!?]*[{CLOSING}]*|(?<=[{single}])[!?]+[{CLOSING}]*|(?<=[{single}，、；])\n"
        rf"|(?<=[\u0370-\u03ff\u1f00-\u1fff]);|(?<=[{thai}])[ \t]+(?=[{thai}])"
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; an empty line always ends one.

    A stop of the text's script ends a sentence, and so do . ! ? by Punkt (Kiss and Strunk, 2006) without learned
    parameters, but for abbreviations, ordinals, initials, and full stops before a small letter. A text of small letters
    alone is divided at each. Thai and Lao, which have no stop, are divided at their blanks.
    """
    return [
        sentence
        for paragraph in PARAGRAPH.split(text)
        for piece in _divided(paragraph)
        for sentence in _by_full_stops(piece)
    ]


def _divided(text: str) -> Iterator[str]:
    begin = 0
    for end in _divisions().finditer(text):
        yield text[begin : end.end()]
        begin = end.end()
    yield text[begin:]


def _by_full_stops(text: str) -> list[str]:
    found: list[str] = []
    has_capitals = text != text.lower()
    for piece in (" ".join(piece.split()) for piece in punkt().tokenize(text)):
        if (
            found
            and found[-1].endswith(".")
            and not found[-1].endswith("..")
            and (
                (has_capitals and piece[:1].islower())
                or _GOES_ON.search(found[-1])
                or (_NUMBER.search(found[-1]) and _COUNTED.match(piece))
            )
        ):
            found[-1] += f" {piece}"
        elif piece:
            found.append(piece)
    return found


@cache
def punkt() -> "PunktSentenceTokenizer":
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer  # nltk takes seconds to import

    parameters = PunktParameters()
    parameters.abbrev_types = {*ABBREVIATIONS, *FURTHER}
    return PunktSentenceTokenizer(parameters)
