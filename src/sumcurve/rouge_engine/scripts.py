"""Role of a sign in words, in every script: one rule for ROUGE's modes `unicode` and `characters` and for the tokenizer
`unicode` of corpora. A word is a letter or number (categories L and N) and the letters, numbers and marks behind it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Literal

JOINERS = "\u200c\u200d"
SPACING = "\u0e33\u0eb3"  # am of Thai and Lao: letters that stand in the cluster of the consonant before (UAX 29)
HANGUL = "가-힣"  # counted by syllables, but its words have blanks between them
# Written without blanks: radicals, 々〆〇, kana, bopomofo, Han, half-width kana
CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
    "\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
# Blocks of line-breaking class SA (UAX 14), without blanks between words: Thai, Lao, Burmese, Khmer, Tai and Ahom
CLUSTERED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf\U00011700-\U0001174f]"
)
ALONE = re.compile(f"[{CJK}{HANGUL}]")
UNREAD = 0.01  # of the references' letters; English with foreign names stays below


@cache
def is_mark(character: str) -> bool:
    """Tell whether a sign belongs to the letter before: a combining mark (category M), a joiner, or am."""
    return unicodedata.category(character)[0] == "M" or character in JOINERS or character in SPACING


@cache
def is_single(character: str) -> bool:
    """Tell whether a sign, no mark, is a token by itself in scripts without blanks; their digits make numbers."""
    of_cluster = unicodedata.category(character)[0] == "L" and CLUSTERED.match(character)
    return bool(ALONE.match(character) or of_cluster)


@cache
def classes() -> tuple[str, str]:
    """Marks, and signs that are tokens by themselves (Hangul is in words), as content of a class of `re`."""
    points = [chr(point) for point in (*range(0x20000), *range(0xE0100, 0xE01F0))]  # no other plane has a mark
    letters = [sign for sign in points if CLUSTERED.match(sign) and is_single(sign) and not is_mark(sign)]
    # As ranges, since `re` compares with one sign after another beyond U+FFFF
    return _ranges(filter(is_mark, points)), CJK + _ranges(letters)


def _ranges(characters: Iterable[str]) -> str:
    ends: list[str] = []
    for character in characters:
        if ends and ord(ends[-1]) == ord(character) - 1:
            ends[-1] = character
        else:
            ends += [character, character]
    return "".join(f"{first}-{last}" for first, last in zip(ends[::2], ends[1::2], strict=True))


def fitting_mode(texts: Iterable[str]) -> Literal["rouge-score", "unicode", "characters"]:
    """The mode of ROUGE that reads these texts: rouge-score where letters are a to z, but for `UNREAD` of them;
    characters where most are of scripts that are counted by them; else unicode.
    """
    share, single = beyond_ascii(texts)
    return "rouge-score" if share < UNREAD else "characters" if 2 * single > 1 else "unicode"


def beyond_ascii(texts: Iterable[str]) -> tuple[float, float]:
    """The shares of letters that are not a to z, and of those among them that are tokens by themselves."""
    counts = Counter[str]()
    for text in texts:
        counts.update(text)
    letters = {sign: count for sign, count in counts.items() if sign.isalpha()}
    beyond = {sign: count for sign, count in letters.items() if not sign.isascii()}
    single = sum(count for sign, count in beyond.items() if is_single(sign))
    total = max(1, sum(letters.values()))
    return sum(beyond.values()) / total, single / total
