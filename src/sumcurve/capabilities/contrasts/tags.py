"""Part-of-speech tags of the Penn Treebank for English sentences of tokens, and dependencies where a parser gives them.

A corpus's tokens stay as they are: tokens that a tagger requires in parts ("bank's", "isn't") are tagged in parts, and
the token's tag joins theirs ("NN+POS", "VBZ+RB").
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import tee
from typing import TYPE_CHECKING, Any, Protocol

from sumcurve.corpora.pipeline import PipelineError
from sumcurve.corpora.pipeline import load as load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

TEXTBLOB = "textblob"
CLITIC = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)
OWN = re.compile(r"(?<=\w)[-|].*")  # of TextBlob
REMEDY = f"set the corpus's `contrasts: {{tagger: …}}` to an installed English pipeline of spaCy, or to {TEXTBLOB}"

Sentences = Sequence[Sequence[str]]  # of tokens


@dataclass(frozen=True)
class Parsed:
    """Words of a text with their tags and their sentences' numbers; all are of one length.

    `labels` are the dependency labels of words to their heads, `heads` the heads' places (a root's is its own). Both
    are None where there is no parser. `further` are the same text by further taggers.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    sentence: tuple[int, ...]
    labels: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    further: tuple["Parsed", ...] = ()


class Tagger(Protocol):
    """Tagger of words; `facts` name it and its version."""

    facts: dict[str, Any]

    def parse(self, texts: Iterable[Sentences]) -> Iterator[Parsed]:
        """Each text's tokens with their tags, in order."""


def load(name: Any) -> Tagger:
    """TextBlob's tagger, the spaCy pipeline of a name or folder, or those of a list; PipelineError with the remedy."""
    if isinstance(name, list):
        return Together([load(one) for one in name])
    return TextBlob() if name == TEXTBLOB else Pipeline(name)


class Together:
    """Several taggers: a text as the first reads it, and `further` as each of the others does."""

    def __init__(self, taggers: Sequence[Tagger]) -> None:
        self._taggers = taggers
        self.facts: dict[str, Any] = {
            "name": " + ".join(tagger.facts["name"] for tagger in taggers),
            "version": " + ".join(tagger.facts["version"] for tagger in taggers),
        }

    def parse(self, texts: Iterable[Sentences]) -> Iterator[Parsed]:
        copies = tee(texts, len(self._taggers))
        read = [tagger.parse(copy) for tagger, copy in zip(self._taggers, copies, strict=True)]
        for first, *others in zip(*read, strict=True):
            yield replace(first, further=tuple(others))


@dataclass(frozen=True)
class Parts:
    """The tokens of a text divided as a tagger requires: `owner` is the token's place of each part."""

    words: list[str]
    owner: list[int]
    starts: list[bool | int | None]  # whether a sentence begins with this part

    @classmethod
    def of(cls, text: Sentences) -> "Parts":
        words: list[str] = []
        owner: list[int] = []
        starts: list[bool | int | None] = []
        place = 0
        for sentence in text:
            for position, token in enumerate(sentence):
                parts = apart(token)
                words += parts
                owner += [place] * len(parts)
                starts += [position == 0 and part == 0 for part in range(len(parts))]
                place += 1
        return cls(words, owner, starts)

    def joined(self, tags: Sequence[str]) -> tuple[str, ...]:
        """A token's tag from those of its parts."""
        joined: list[str] = []
        for tag, owner in zip(tags, self.owner, strict=True):
            if owner == len(joined):
                joined.append(tag)
            else:
                joined[owner] += f"+{tag}"
        return tuple(joined)


def apart(token: str) -> list[str]:
    """A token without the possessive or contracted word at its end, and that word."""
    clitic = CLITIC.search(token)
    return [token[: clitic.start()], clitic.group()] if clitic else [token]


def sentence_numbers(text: Sentences) -> tuple[int, ...]:
    return tuple(number for number, sentence in enumerate(text) for _ in sentence)


def flat(text: Sentences) -> tuple[str, ...]:
    return tuple(token for sentence in text for token in sentence)


class TextBlob:
    """The tagger of `pattern` (De Smedt and Daelemans, JMLR 2012) in TextBlob: a lexicon and Brill's kinds of rules.

    Its lexicon has names such as "Water". So the `first` word of a sentence is read in lower case if the lexicon has
    that form.
    """

    def __init__(self, first: bool = True) -> None:
        try:
            from textblob.en import parser
        except ImportError as error:
            raise PipelineError(
                f"the tagger of contrasts is not installed ({error}): pip install 'sumcurve[contrasts]', or {REMEDY}"
            ) from error
        self._parser, self._first = parser, first
        self.facts: dict[str, Any] = {"name": TEXTBLOB, "version": version(TEXTBLOB)}

    def parse(self, texts: Iterable[Sentences]) -> Iterator[Parsed]:
        for text in texts:
            tags = tuple(tag for sentence in text for tag in self._tags(sentence))
            yield Parsed(flat(text), tags, sentence_numbers(text))

    def _tags(self, sentence: Sequence[str]) -> tuple[str, ...]:
        parts = Parts.of([sentence])
        words = parts.words
        if self._first and words[0].istitle() and words[0].lower() in self._parser.lexicon:
            words = [words[0].lower(), *words[1:]]
        # Beside the treebank's tags it has NNP-PERS and the like, for known names, and a few as "VBN|JJ".
        return parts.joined([OWN.sub("", tag) for _, tag in self._parser.find_tags(words)])


class Pipeline:
    """An English pipeline of spaCy with a tagger and a parser."""

    def __init__(self, name: str) -> None:
        self._nlp: Language
        self.facts: dict[str, Any]
        self._nlp, self.facts = load_pipeline(name, ("tagger", "parser"), REMEDY)
        if self._nlp.lang != "en":
            raise PipelineError(f"the spaCy pipeline {name!r} is of language {self._nlp.lang!r}, not English: {REMEDY}")
        if strange := {"NN", "IN", "VB", "JJ"}.difference(self._nlp.pipe_labels.get("tagger", [])):
            raise PipelineError(
                f"the tagger of spaCy pipeline {name!r} has no tag {', '.join(sorted(strange))} of the Penn Treebank: "
                f"{REMEDY}"
            )

    def parse(self, texts: Iterable[Sentences]) -> Iterator[Parsed]:
        docs = ((self._doc(Parts.of(text)), text) for text in texts)
        for doc, text in self._nlp.pipe(docs, as_tuples=True, disable=("ner", "lemmatizer")):
            yield self._parsed(doc, text)

    def _doc(self, parts: Parts) -> "Doc":
        from spacy.tokens import Doc

        return Doc(self._nlp.vocab, words=parts.words, sent_starts=parts.starts)

    def _parsed(self, doc: "Doc", text: Sentences) -> Parsed:
        parts = Parts.of(text)
        first = {owner: part for part, owner in reversed(list(enumerate(parts.owner)))}
        own = [doc[first[place]] for place in range(len(first))]
        return Parsed(
            flat(text),
            parts.joined([token.tag_ for token in doc]),
            sentence_numbers(text),
            tuple(token.dep_ for token in own),
            tuple(parts.owner[token.head.i] for token in own),
        )
