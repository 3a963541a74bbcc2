"""Words and sentences of running text in every script: the tokenizer `unicode`.

Words are those of ROUGE's mode `unicode` (`rouge_engine.scripts`), and text without blanks between words is cut into
characters, each with its marks. Of English the tokens are those of `tokens.tokenize`.
"""

import re
import unicodedata
from functools import cache

from sumcurve.corpora.tokens import PARAGRAPH, punkt
from sumcurve.rouge_engine.scripts import classes

INVISIBLE = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # soft hyphens, marks of direction: no token
# Signs that end a sentence whatever follows: Unicode's property Sentence_Terminal in scripts of today, but for . ! ?
STOPS = "։؞؟۔܀-܂।॥။።፧፨។៕᠃᠉᪨᪩᭞᭟།༎‼⁇-⁉。﹖﹗！？｡"
CLOSING = "”’」』）)\"'»›】〉》〕］\\]"
# Beside those of English; in small letters, without the last full stop. None is a word that may end a sentence.
_FURTHER = (
    # German
    "abs aufl bd bspw bzgl bzw evtl geb ggf hrsg inkl jh mio mrd sog str tel u.a usw vgl z.b d.h o.ä zzgl "
    # Russian
    "акад гг гл д-р доц др им напр обл проф рис св стр т.е т.к т.н табл ул "
    # Vietnamese, Turkish, French and Spanish, Hindi
    "bs gs gs.ts ks nxb pgs pgs.ts th.s ths tp ts bkz doç örn yrd av mme núm pág sra dra ee.uu डॉ प्रो श्री"
)
FURTHER = frozenset(_FURTHER.split())
# A full stop ends no sentence behind a German article and a number, the number of a king, and a letter of a script
# without capitals; nor between a number and a noun that is counted.
_ARTICLES = "der|die|das|dem|den|des|am|im|zum|zur|vom|beim|ins|seit|bis|jede[rnsm]?"
_GOES_ON = re.compile(rf"(?:\b(?:{_ARTICLES}) \d{{1,3}}|\b[IVX]+|(?<!\w)[^\W\d_a-zA-Z])\.$")
_COUNTED = re.compile(
    r"\b\d{1,2}\. (?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jh|"
    r"Jahrhunderts?|Jahrtausends?|Weltkriegs?|Mal|Platz|Klasse|Auflage|Runde|Minute|Etage|Stock|Kapitel|Liga|FC|Tag)\b"
)


@cache
def token() -> re.Pattern[str]:
    """Tokens of text in Unicode's composed form: numbers, words, characters without blanks, and other signs alone."""
    marks, single = classes()
    word = rf"[^\W{single}][^\W{single}{marks}]*(?:[{marks}]+[^\W{single}{marks}]*)*"
    return re.compile(
        rf"\d+(?:[.,٫٬]\d+)+(?!\w)|{word}(?:['’]{word})*|[{single}][{marks}]*|[^\w\s{INVISIBLE}][{marks}]*"
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
    parameters, but for abbreviations, ordinals, initials, and full stops before a small letter; in text that begins
    with a small letter these end one, too. Thai and Lao, which have no stop, are divided at their blanks.
    """
    found: list[str] = []
    for piece in PARAGRAPH.split(_divisions().sub("\\g<0>\n\n", text)):
        begins = True
        has_capitals = next(filter(str.isalpha, piece), "").isupper()
        for sentence in (" ".join(sentence.split()) for sentence in punkt(FURTHER).tokenize(piece)):
            if (
                not begins
                and found[-1].endswith(".")
                and not found[-1].endswith("..")
                and (
                    (has_capitals and sentence[:1].islower())
                    or _GOES_ON.search(found[-1])
                    or _COUNTED.search(f"{found[-1][-4:]} {sentence}")
                )
            ):
                found[-1] += f" {sentence}"
            elif sentence:
                found.append(sentence)
                begins = False
    return found
