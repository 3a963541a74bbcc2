"""What a sign is to words in every script: one rule for ROUGE's modes `unicode` and `characters` and for the tokenizer
`unicode` of corpora. A word is a letter or number (categories L and N) and the letters, numbers and marks behind it.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Literal

JOINERS = "\u200c\u200d"
SPACING = "\u0e33\u0eb3"  # am of Thai and Lao: letters that stand in the cluster of the consonant before (UAX 29)
# Written without blanks, first and last: radicals, 々〆〇, kana, bopomofo, Han, Hangul syllables, half-width kana
CJK = (
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3105, 0x312F),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFD),
)
HANGUL = (0xAC00, 0xD7A3)  # counted by syllables, but its words have blanks between them
# Blocks of line-breaking class SA (UAX 14), without blanks between words: Thai, Lao, Burmese, Khmer, Tai and Ahom
SOUTH_EAST_ASIAN = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x1950, 0x19DF),
    (0x1A20, 0x1AAF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAADF),
    (0x11700, 0x1174F),
)
CLUSTERED = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in SOUTH_EAST_ASIAN) + "]")
UNREAD = 0.01  # of the references' letters; English with foreign names stays below
FittingMode = Literal["rouge-score", "unicode", "characters"]


@cache
def is_mark(character: str) -> bool:
    """Tell whether a sign belongs to the letter before: a combining mark (category M), a joiner, or am."""
    return unicodedata.category(character)[0] == "M" or character in JOINERS or character in SPACING


@cache
def is_single(character: str) -> bool:
    """Tell whether a sign, no mark, is a token by itself in scripts without blanks; their digits make numbers."""
    point = ord(character)
    if any(first <= point <= last for first, last in CJK):
        return True
    return unicodedata.category(character)[0] == "L" and any(first <= point <= last for first, last in SOUTH_EAST_ASIAN)


@cache
def classes() -> tuple[str, str]:
    """Marks, and signs that are tokens by themselves (Hangul is in words), as content of a class of `re`.

    Planes without a mark or such a sign, beside those of Han, are not looked at.
    """
    marks = filter(is_mark, map(chr, (*range(0x20000), *range(0xE0100, 0xE01F0))))
    letters = [chr(point) for first, last in SOUTH_EAST_ASIAN for point in range(first, last + 1)]
    singles = _ranges(letter for letter in letters if is_single(letter) and not is_mark(letter))
    return _ranges(marks), singles + "".join(
        f"{chr(first)}-{chr(last)}" for first, last in CJK if (first, last) != HANGUL
    )


def _ranges(characters: Iterable[str]) -> str:
    """Rising characters as ranges of a class, which `re` searches one after another beyond U+FFFF."""
    runs: list[list[str]] = []
    for character in characters:
        if runs and ord(runs[-1][1]) == ord(character) - 1:
            runs[-1][1] = character
        else:
            runs.append([character, character])
    return "".join(f"{first}-{last}" for first, last in runs)


def fitting_mode(texts: Iterable[str]) -> FittingMode:
    """The mode of ROUGE that reads these texts: rouge-score where letters are a to z, but for `UNREAD` of them;
    characters where most are of scripts that are counted by them; else unicode.
    """
    letters = unread = single = 0
    for text in texts:
        letters += sum(map(str.isalpha, text))
        if not text.isascii():
            beyond = [sign for sign in text if sign.isalpha() and not sign.isascii()]
            unread += len(beyond)
            single += sum(map(is_single, beyond))
    if unread < UNREAD * max(1, letters):
        return "rouge-score"
    return "characters" if 2 * single > letters else "unicode"
