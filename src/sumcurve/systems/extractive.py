"""Base of extractive systems that read one source at a time: words, length limits, the order of ties."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from sumcurve.corpora.tokens import cut
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.systems.system import Item, SystemSettings, Untrained

DIGITS = 9  # to which scores are compared: sums of floats may differ in their last bits between machines

# English function words: articles, pronouns, determiners, prepositions, conjunctions, auxiliaries and their like.
# fmt: off
FUNCTION_WORDS = frozenset([
    "a", "about", "above", "after", "again", "against", "all", "also", "although", "am", "among", "an", "and", "any",
    "are", "aren't", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by",
    "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down",
    "during", "each", "either", "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "have", "haven't",
    "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "if", "in",
    "into", "is", "isn't", "it", "it's", "its", "itself", "just", "may", "me", "might", "more", "most", "must", "my",
    "myself", "neither", "no", "nor", "not", "of", "off", "on", "once", "only", "onto", "or", "other", "others",
    "our", "ours", "ourselves", "out", "over", "own", "per", "same", "shall", "she", "should", "shouldn't", "since",
    "so", "some", "such", "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these",
    "they", "this", "those", "through", "to", "too", "under", "until", "up", "upon", "us", "very", "was", "wasn't",
    "we", "were", "weren't", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
    "will", "with", "within", "without", "won't", "would", "wouldn't", "you", "your", "yours", "yourself",
    "yourselves",
])
# fmt: on


class ExtractiveSettings(SystemSettings):
    stop_words: Literal["english", "none"] = "english"  # words that count nothing


def content_words(sentence: str, stopped: bool) -> list[str]:
    """The words of a sentence of blank-separated tokens, in lower case; without function words where `stopped`."""
    words = (token.lower() for token in sentence.split(" ") if any(map(str.isalnum, token)))
    return [word for word in words if not (stopped and word in FUNCTION_WORDS)]


def by_score(scores: Sequence[float]) -> list[int]:
    """Positions by falling score, none negative; the earlier first where two agree to `DIGITS` digits."""
    highest = max(scores, default=0.0) or 1.0
    return sorted(range(len(scores)), key=lambda place: (-round(scores[place] / highest, DIGITS), place))


class Extractive(Untrained):
    """Extractive system: takes as many sentences as the corpus's lead, in source order, cut at the longest summary."""

    Settings: ClassVar[type[SystemSettings]] = ExtractiveSettings

    @classmethod
    def specify(cls, settings: SystemSettings, corpus: CorpusSettings) -> dict[str, Any]:
        return {"sentences": corpus.lead_sentences, "max_tokens": corpus.search.max_tokens, **settings.own()}

    def choose(self, sentences: Sequence[list[str]], count: int) -> Sequence[int]:
        """`count` positions of sentences, given as their content words; at most all there are."""
        raise NotImplementedError

    def extract(self, source: Sequence[str], count: int) -> list[int]:
        """The positions, rising, of the `count` sentences that it takes, or of all where there are no more."""
        stopped = self.settings["stop_words"] == "english"
        words = [content_words(sentence, stopped) for sentence in source]
        return sorted(self.choose(words, min(count, len(source))))

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            source = item.record.source
            taken = self.extract(source, self.settings["sentences"])
            yield cut([source[place] for place in taken], self.settings["max_tokens"])
