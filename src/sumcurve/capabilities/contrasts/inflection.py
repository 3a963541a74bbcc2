"""A word in the form that another's place wants, by lemminflect: the variant of contrasts that inflects."""

from collections.abc import Callable

from sumcurve.capabilities.contrasts.rules import Inflect, Place
from sumcurve.capabilities.contrasts.tags import TagError

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

    known: dict[tuple[str, str, str], str | None] = {}

    def inflect(word: Place, slot: Place) -> str | None:
        key = (word.word, slot.tag, slot.before)
        if key not in known:
            known[key] = form(word, slot, getLemma, getInflection)
        return known[key]

    return inflect


def form(
    word: Place,
    slot: Place,
    lemmas: Callable[..., tuple[str, ...]],
    inflections: Callable[..., tuple[str, ...]],
) -> str | None:
    """The word's form of the slot's tag; `lemmas` and `inflections` are lemminflect's functions."""
    kind = "NOUN" if slot.tag.startswith("NN") else "VERB" if slot.tag.startswith("VB") else "ADJ"
    lemma = lemmas(word.word, upos=kind)
    forms = inflections(lemma[0], tag=slot.tag) if lemma else ()
    if not forms:
        return None
    if lemma[0] != "be" or len(forms) < 2:
        return forms[0]
    if slot.tag == "VBP":
        return "am" if slot.before == "i" else "are"
    plural = slot.before in PLURAL_SUBJECTS or (slot.before.endswith("s") and not slot.before.endswith("ss"))
    return "were" if plural else "was"
