"""Extractive systems that do not see the abstract: lead, and SumBasic, LexRank and LSA of the sumy package.

Each takes as many sentences as the abstract has, in document order, so that it compares with the searches of Akhmetov
et al. (2022), which know that number, too. Words are the tokens of the prepared text; none is stemmed or stopped.
"""

from collections.abc import Mapping
from typing import Any

from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.lsa import LsaSummarizer
from sumy.summarizers.sum_basic import SumBasicSummarizer

from sumcurve.annotations.oracle.article import Article

SYSTEMS = ("Lead", "SumBasic", "LexRank", "LSA")


class _Blanks:
    """The tokenizer that sumy asks for: prepared text has a blank between any two tokens."""

    def to_words(self, sentence: str) -> tuple[str, ...]:
        return tuple(word for word in sentence.split() if any(character.isalnum() for character in word))


class _OrderedLsa(LsaSummarizer):
    """Rows of the matrix in the order of the words: sumy's follow a set's, which differs from process to process."""

    def _create_dictionary(self, document: Any) -> Mapping[str, int]:
        words = super()._create_dictionary(document)
        return {word: row for row, word in enumerate(sorted(words))}


def extracts(article: Article) -> dict[str, tuple[int, ...]]:
    """By system the sentences that it takes, ascending. A system that finds no words takes the first sentences."""
    count = min(len(article.abstract), len(article.sentences))
    lead = tuple(range(count))
    tokenizer = _Blanks()
    texts = [Sentence(text, tokenizer) for text in article.sentences]
    place = {id(text): index for index, text in enumerate(texts)}
    found = {"Lead": lead}
    for name, summarizer in (
        ("SumBasic", SumBasicSummarizer()),
        ("LexRank", LexRankSummarizer()),
        ("LSA", _OrderedLsa()),
    ):
        document = ObjectDocumentModel([Paragraph(texts)])
        try:
            chosen = summarizer(document, count) if any(text.words for text in texts) else ()
        except (ValueError, ZeroDivisionError):  # sumy, where no two sentences share a word, or all are one
            chosen = ()
        found[name] = tuple(sorted(place[id(text)] for text in chosen)) or lead
    return found
