"""Recognisers of the names in a text of a corpus's tokens, each with its lemma: our rules, or a spaCy pipeline."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import Any

from sumcurve.capabilities.apes.entities import Finder, lemma, load, without_possessive
from sumcurve.store.records import Record


@dataclass(frozen=True, slots=True)
class Named:
    """The names of a text: `names` with their lemmas, and the `lemmas` of its other words that differ from the word.

    All are in lower case; the words of a name are joined by blanks. Stop words have no lemma here.
    """

    names: dict[str, str]
    lemmas: dict[str, str]

    def known(self, names: Collection[str]) -> dict[str, str]:
        """The names, and each word whose lemma is one of them or of `names`, another text's."""
        words = {word: of for word, of in self.lemmas.items() if of in names or of in self.names}
        return words | self.names

    def without(self, never: re.Pattern[str]) -> "Named":
        """A copy without names that have a word in which the pattern occurs."""
        kept = {name: of for name, of in self.names.items() if not any(map(never.search, name.split(" ")))}
        return Named(kept, self.lemmas)


@dataclass(frozen=True)
class Recogniser:
    """Recogniser of names; `finder` finds the entities of texts of our tokens, and marks the names among them."""

    finder: Finder

    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the recogniser: its name, and versions."""
        return self.finder.facts

    def read(self, texts: Iterable[Sequence[str]], never: Sequence[str] = ()) -> Iterator[Named]:
        """The names of every text, given as its sentences of blank-separated tokens in their own case.

        Words in which, in lower case, one of the patterns `never` occurs are no part of a name.
        """
        if never:
            pattern = re.compile("|".join(f"(?:{source})" for source in never))
            for named in self.read(_small(text, pattern) for text in texts):
                yield named.without(pattern)
            return
        for_docs, for_words = tee(texts)
        for doc, text in zip(self.finder.nlp.pipe(map(self.finder.doc, for_docs)), for_words, strict=True):
            lowered = [sentence.lower() for sentence in text]
            words = [without_possessive(token) for sentence in lowered for token in sentence.split(" ")]
            others = {
                word: of
                for word, token in zip(words, doc, strict=True)
                if not token.is_stop and (of := lemma(token)) != word
            }
            yield Named(self.finder.lemmas(doc, Record("", [], lowered)), others)


def _small(text: Sequence[str], never: re.Pattern[str]) -> list[str]:
    """A text in which words are in small letters where the pattern occurs in their small letters."""
    return [
        " ".join(small if never.search(small := word.lower()) else word for word in sentence.split(" "))
        for sentence in text
    ]


def pipeline(name: str) -> Recogniser:
    """The rules ("rules"), or the spaCy pipeline of that name or path; EntityError with the remedy."""
    return Recogniser(load(name))
