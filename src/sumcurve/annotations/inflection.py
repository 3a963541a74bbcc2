"""A word in the form that another's place wants, by lemminflect: the variant of contrasts that inflects."""

from functools import cache

from sumcurve.annotations.rules import Inflect, Place
from sumcurve.annotations.tags import TagError

PLURAL_SUBJECTS = frozenset({"we", "you", "they", "these", "those"})


def inflector() -> Inflect:
    """What gives a word of one tag the form of another's; TagError where lemminflect is not installed.

    It gives None where lemminflect knows no form. Of the two forms of "be" in the past, and in the present, the one is
    taken that the word before the place wants, as far as that can be a subject: "I", a plural pronoun, or a plural.
    """
    try:
        from lemminflect import getInflection, getLemma
    except ImportError as error:
        raise TagError(
            f"lemminflect is not installed ({error}): pip install 'sumcurve[contrasts]', or set the corpus's "
            "`contrasts: {inflect: false}`"
        ) from error

    @cache
    def forms(word: str, tag: str) -> tuple[bool, tuple[str, ...]]:
        kind = "NOUN" if tag.startswith("NN") else "VERB" if tag.startswith("VB") else "ADJ"
        lemma = getLemma(word, upos=kind)
        return lemma[:1] == ("be",), getInflection(lemma[0], tag=tag) if lemma else ()

    def inflect(word: Place, slot: Place) -> str | None:
        be, found = forms(word.word, slot.tag)
        if not found:
            return None
        return of_be(slot) if be and len(found) > 1 else found[0]

    return inflect


def of_be(slot: Place) -> str:
    """The form of "be" where a tag has two."""
    if slot.tag == "VBP":
        return "am" if slot.before == "i" else "are"
    plural = slot.before in PLURAL_SUBJECTS or (slot.before.endswith("s") and not slot.before.endswith("ss"))
    return "were" if plural else "was"
