"""Cloze questions about a corpus's references, for APES: sentences with a hidden entity, which a reader names.

Eyal, Baumel and Elhadad (NAACL 2019), "Question answering as an automatic evaluation metric for news article
summarization". A reference's entities are numbered (`numbered`); a question is a sentence of the reference in which
every mention of one entity is `@placeholder` and every other entity is `@entityN`. A reader of the anonymised summary
(`anonymise`) names the entity that is missing.

Words are a record's own tokens, blank-separated, without possessives; names are in lower case. Mentions are whole
tokens: a name inside another name is read as a part of the longer one, and no character of a name is a pattern.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sumcurve.capabilities.apes.entities import PLACEHOLDER, Entities, Hyphenated, anonymised, longest_first, parted
from sumcurve.capabilities.apes.entities import merged as entities_of
from sumcurve.capabilities.apes.entities import questions as questions_about
from sumcurve.corpora.store import Part
from sumcurve.store.records import Record, RecordError, read_jsonl, write_jsonl

MARKER = re.compile(r"@entity(\d+)")
FEWEST = 2  # distinct entities of a reference that is asked about: of one alone any summary that names it is right
NOT_ASKED = "no entity", "one entity", "no question"  # reasons why a reference has no questions
GUESSES = "chance", "majority", "frequency"  # baselines that guess without reading


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence of a reference with one entity hidden.

    `words` hold `@placeholder` and `@entityN`, `answer` is the hidden entity's N.
    """

    item: str  # id of the record
    sentence: int  # of the reference, from 0
    words: tuple[str, ...]
    answer: int


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions about one reference.

    `names` is its entity graph: lower-case name to entity number. `lemmas` holds the lemmas of names that differ from
    them. `further` are names in the source that the reference does not have, numbered by `merged`. `salient` are the
    spans of source tokens (half-open) where answers are mentioned. `questions` is empty where fewer than `FEWEST`
    entities are named. `hyphenated` states how tokens with hyphens are divided, in the names and in the texts that are
    compared with them.
    """

    item: str
    names: Mapping[str, int]
    questions: tuple[Question, ...]
    further: Mapping[str, int] = field(default_factory=dict)
    lemmas: Mapping[str, str] = field(default_factory=dict)
    salient: tuple[tuple[int, int], ...] = ()
    hyphenated: Hyphenated = "whole"

    def about_source(self, record: Record) -> Iterator[tuple[list[str], list[str], int]]:
        """Yield, for every sentence of the record's source and entity in it, the other sentences, anonymised, the
        question, and the number of the answer.

        Copies of the sentence are left out of the others. The other sentences need not name the answer.
        """
        sentences = [list(self.anonymised([sentence])) for sentence in record.source]
        for row in questions_about(self.parted(record.source), by_number(self.source_names)):
            hidden = sentences[row["sentence"]]
            others = [word for sentence in sentences if sentence != hidden for word in sentence]
            yield others, row["text"].split(" "), row["answer"]

    @property
    def source_names(self) -> dict[str, int]:
        """Names with which the source is anonymised: the reference's graph and the source's own entities merged in."""
        return {**self.names, **self.further}

    def anonymised(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """The tokens of the source, or of a summary, with `source_names` replaced."""
        return anonymise([word for token in self.parted(tokens) for word in token.split(" ")], self.source_names)

    def parted(self, texts: Iterable[str]) -> list[str]:
        """Texts of blank-separated tokens, divided into the words by which names are compared."""
        return parted(texts, self.hyphenated)


# --- entities


def numbered(lemmas: Mapping[str, str]) -> dict[str, int]:
    """The entity graph of a text's names, given with their lemmas: the entity number of every name.

    Names stand longest first (by length, then text, descending). Each joins the first listed one with the same lemma or
    of which it is a part (whole words). An entity's number is the place of its first name, as in the authors' code, so
    that there are gaps where names joined.
    """
    listed = longest_first(lemmas)
    first = {name: names[0] for names in entities_of(lemmas) for name in names}
    return {name: listed.index(first[name]) for name in listed}


def merged(names: Mapping[str, int], own: Mapping[str, str], lemmas: Mapping[str, str] | None = None) -> dict[str, int]:
    """The graph `names` with another text's `own` names (name to lemma) merged into it: new entities are distractors.

    As the authors do for TAC: longest first, a new name joins the first listed one with the same lemma, or where one is
    a part of the other (whole words), or else is a new entity. The numbers of `names` stay, and their order is the one
    in which they are listed; new names are numbered on, with gaps where they joined. `lemmas` are those of `names` that
    are not their own lemma.
    """
    graph = dict(names)
    known = {name: (lemmas or {}).get(name, name) for name in names}
    new = [name for name in longest_first(own) if name not in names]
    for number, name in enumerate(new, start=max([len(graph) - 1, *graph.values()]) + 1):
        same = (
            other
            for other in known
            if own[name] == known[other] or f" {name} " in f" {other} " or f" {other} " in f" {name} "
        )
        graph[name] = next((graph[other] for other in same), number)
        known[name] = own[name]
    return graph


def by_number(names: Mapping[str, int]) -> Entities:
    """The names of every entity, by its number; none where a number is no entity's."""
    entities: Entities = [[] for _ in range(max(names.values(), default=-1) + 1)]
    for name, number in names.items():
        entities[number].append(name)
    return entities


def anonymise(words: Sequence[str], names: Mapping[str, int]) -> tuple[str, ...]:
    """The words with every mention of a name replaced by `@entityN`, the longest name first.

    A mention is a whole one: its tokens follow each other, in any case, without possessives. Other tokens stay as they
    are, but for possessives and for words that look like a marker (`entities.anonymised`).
    """
    return tuple(anonymised(words, by_number(names)))


# --- questions


def asked_about(item: str, reference: Sequence[str], names: Mapping[str, int]) -> tuple[Question, ...]:
    """One question for every sentence and distinct entity in it; none where `names` are fewer than `FEWEST` entities.

    `reference` holds sentences of blank-separated tokens.
    """
    if len(set(names.values())) < FEWEST:
        return ()
    return tuple(
        Question(item, question["sentence"], tuple(question["text"].split(" ")), question["answer"])
        for question in questions_about(reference, by_number(names))
    )


def renumbered(
    document: Sequence[str], question: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], dict[int, int]]:
    """Document and question with entities numbered by their first occurrence, the document's before the question's.

    The mapping holds the new number of each old one in them; an answer that neither text names is not in it.
    """
    mapping: dict[int, int] = {}
    for word in (*document, *question):
        number = entity_in(word)
        if number is not None:
            mapping.setdefault(number, len(mapping))

    def renamed(words: Sequence[str]) -> tuple[str, ...]:
        return tuple(word if (number := entity_in(word)) is None else f"@entity{mapping[number]}" for word in words)

    return renamed(document), renamed(question), mapping


def answerable(
    document: Sequence[str], questions: Sequence[Question]
) -> list[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Document, question and answer, renumbered, of each question whose answer occurs in the document.

    `document` is anonymised: of a record its source, by `Asked.source_names`.
    """
    there, clozes = candidates(document), []
    for question in questions:
        if question.answer in there:
            read, words, mapping = renumbered(document, question.words)
            clozes.append((read, words, mapping[question.answer]))
    return clozes


def entity_in(word: str) -> int | None:
    """The number N of a word `@entityN`; None for any other word."""
    marker = MARKER.fullmatch(word) if word.startswith("@") else None
    return int(marker[1]) if marker else None


def candidates(document: Iterable[str]) -> Counter[int]:
    """Count the occurrences of every entity in a document, in the order of first occurrence."""
    return Counter(number for word in document if (number := entity_in(word)) is not None)


# --- levels that need no reader


def chance(document: Iterable[str], answer: int) -> float:
    """The probability that a guess among the entities of the document is right: 0 where the answer is none of them."""
    there = candidates(document)
    return 1 / len(there) if answer in there else 0.0


def most_frequent(document: Iterable[str]) -> int | None:
    """The entity that occurs most often in the document, the first of several; None where there is none."""
    there = candidates(document)
    return max(there, key=there.__getitem__) if there else None


def guesses(sentences: Iterable[Sequence[str]], question: Sequence[str]) -> dict[str, int | None]:
    """Answers of three baselines by their names for a document, given as its anonymised sentences.

    "frequency" answers the entity that occurs most often, "first" the first one, "overlap" the one with a sentence that
    shares most distinct words with the question, markers and signs included; of several the first. None answers an
    entity that the question names, since all mentions of its answer are hidden; the answer is None where no other is
    left.
    """
    shown, words = candidates(question), set(question)
    counts: Counter[int] = Counter()
    shared: dict[int, int] = {}
    for sentence in sentences:
        common = len(words.intersection(sentence))
        for number, count in candidates(sentence).items():
            if number not in shown:
                counts[number] += count
                shared[number] = max(common, shared.get(number, 0))
    return {
        "frequency": max(counts, key=counts.__getitem__, default=None),
        "first": next(iter(counts), None),
        "overlap": max(shared, key=shared.__getitem__, default=None),
    }


def majority(answers: Iterable[int]) -> int | None:
    """The entity that is most often the answer, the lowest number of several; None where there are no answers.

    `answers` are those of training questions after `renumbered`: before, a number has no meaning beyond its record.
    """
    counts = Counter(answers)
    return min(counts, key=lambda number: (-counts[number], number)) if counts else None


# --- files


def write_questions(folder: Path, part: str, rows: Iterable[Asked]) -> int:
    """Write `<part>.jsonl`, a line for every reference in order; returns the number of lines."""
    return write_jsonl(folder / f"{part}.jsonl", map(_row, rows))


def _row(reference: Asked) -> dict[str, Any]:
    return {
        "id": reference.item,
        "names": dict(reference.names),
        "lemmas": dict(reference.lemmas),
        "further": dict(reference.further),
        "questions": [
            {"sentence": question.sentence, "text": " ".join(question.words), "answer": question.answer}
            for question in reference.questions
        ],
        "salient": [list(span) for span in reference.salient],
        **({} if reference.hyphenated == "whole" else {"hyphenated": reference.hyphenated}),
    }


def read_questions(folder: Path, part: str = "test") -> Iterator[Asked]:
    """Read a part's file of `write_questions`, in order; RecordError with file and line for any other line."""
    path = folder / f"{part}.jsonl"
    for number, row in enumerate(read_jsonl(path), start=1):
        try:
            reference = Asked(
                item=row["id"],
                names=row["names"],
                questions=tuple(
                    Question(row["id"], question["sentence"], tuple(question["text"].split(" ")), question["answer"])
                    for question in row["questions"]
                ),
                further=row["further"],
                lemmas=row["lemmas"],
                salient=tuple((start, end) for start, end in row["salient"]),
                hyphenated=row.get("hyphenated", "whole"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(
                f"{path}:{number}: not a reference's questions ({error!r}); rebuild its folder"
            ) from error
        for question in reference.questions:
            if PLACEHOLDER not in question.words:
                raise RecordError(f"{path}:{number}: a question without {PLACEHOLDER}: {' '.join(question.words)!r}")
        yield reference


def asked_of(part: Part, folder: Path) -> Iterator[tuple[Record, Asked]]:
    """Every record of a part with the questions about it in `folder`.

    RecordError where the two do not hold the same ids in the same order.
    """
    path = folder / f"{part.name}.jsonl"
    for number, (record, reference) in enumerate(zip_longest(part, read_questions(folder, part.name)), start=1):
        if record is None or reference is None or record.id != reference.item:
            ids = [reference and reference.item, record and record.id]
            raise RecordError(
                f"{path}:{number}: questions about {ids[0]!r}, but {part.path} has {ids[1]!r} there: they are of "
                "another corpus; rebuild the folder"
            )
        yield record, reference
