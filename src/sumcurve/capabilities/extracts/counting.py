"""ROUGE as counted by Akhmetov et al. (2022), to compare their numbers with those of an extract here."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

from sumcurve.capabilities.extracts import METRICS

COUNTINGS = ("set", "multiset")
COUNTED = {f"{metric}_{counting}": (metric, counting) for metric, counting in product(METRICS, COUNTINGS)}  # columns


def papers_rouge(extract: Sequence[str], abstract: Sequence[str], order: int, counting: str) -> tuple[int, int]:
    """(numerator, denominator) of the F1 of ROUGE-`order` of the extract's sentences, in the order given.

    `set` counts distinct n-grams, as in equations 1 and 2 of the article. `multiset` counts every one and clips matches
    to the abstract's count, as PyPI `rouge` 1.0.0 does, by which the authors' notebooks score; the 1e-8 that it adds to
    a denominator is left out. The denominator is 0 only where both have no n-gram, and such an F1 is 0.

    Words are those of the notebooks under both: sentences are joined with ". " and the text is split at every full
    stop, within numbers, too, and each piece at blanks. Case and other punctuation stay. A piece that consists of
    blanks is one *empty* word, and an empty piece is no word.
    """

    def ngrams(sentences: Sequence[str]) -> Counter[tuple[str, ...]]:
        pieces = [piece for piece in ". ".join(sentences).split(".") if piece]
        words = [word for piece in pieces for word in piece.split() or [""]]
        grams = Counter(zip(*(words[start:] for start in range(order)), strict=False))
        return Counter(grams.keys()) if counting == "set" else grams

    if counting not in COUNTINGS:
        raise ValueError(f"unknown counting {counting!r}; take set or multiset")
    ours, theirs = ngrams(extract), ngrams(abstract)
    return 2 * (ours & theirs).total(), ours.total() + theirs.total()
