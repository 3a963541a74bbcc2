"""Ready-made cloze questions of CNN and the Daily Mail (Hermann et al. 2015), joined to records by their urls' SHA1.

A record's id is the SHA1 of its story's url, as on the hub. As in Eyal et al.'s code, the entities of an article and
its questions are those in the files. Names and questions become tokens of the corpus, by its tokenizer.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.apes import published_questions as hermann
from sumcurve.capabilities.apes.entities import FRAME, PLACEHOLDER, Hyphenated, occurrences, parted, without_possessive
from sumcurve.capabilities.apes.questions import FEWEST, Asked, Question, anonymise, by_number
from sumcurve.sources.raw import Refused
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record

ENTITY = "@entity"
MARKS = re.compile(rf"({ENTITY}\d+|{PLACEHOLDER})")
STAND_IN = "xqzentity"
BEFORE_POSSESSIVE = re.compile(rf"({STAND_IN}[a-j]+) +(['’]s\b)")
Tokens = Callable[[Sequence[str]], list[str]]  # of sentences, blank-separated

# Reasons for which a file has no usable question.
NO_RECORD = "story of no record"
OTHER_ARTICLE = "most of its entities are not in the record"
NO_NAME = "answer without a word"
FEW_ENTITIES = f"fewer than {FEWEST} entities"
REPEATED = "question that its story has twice"


@dataclass(frozen=True, slots=True)
class Filed:
    """A question as in its file; `entities` are names by `@entityN`, as JSON."""

    id: str
    entities: str
    question: str
    answer: str


def gathered(path: Path, records: Collection[str], counts: Counter[str]) -> dict[str, list[Filed]]:
    """The questions about these records by their ids, those of a record sorted by their own ids.

    `path` is an archive, a folder of archives or of files, or one file. Counts in `counts` all files ("read") and, by
    reason, those without a usable question. Documents do not stay in memory. CorpusError where no file is about a
    record.
    """
    by_record: dict[str, list[Filed]] = {}
    stranger = ""
    for question in hermann.questions(path):
        counts["read"] += 1
        if isinstance(question, Refused):
            counts[question.reason] += 1
        elif question.story not in records:
            counts[NO_RECORD] += 1
            stranger = stranger or f"{question.id}.question is about {question.story}, the SHA1 of {question.url}"
        else:
            of_story = by_record.setdefault(question.story, [])
            entities = json.dumps(question.entities, ensure_ascii=False)
            if of_story and of_story[-1].entities == entities:
                entities = of_story[-1].entities  # the same string, not another copy
            of_story.append(Filed(question.id, entities, question.question, question.answer))
    if not by_record:
        raise CorpusError(
            f"{path}: none of {counts['read']:,} question files is about a record of the corpus"
            f"{f' ({stranger})' if stranger else ''}; ids of records are as {next(iter(records), 'none')!r}: give the "
            "question files of this corpus's stories, whose ids are the SHA1 of their urls, or remove `questions.files`"
        )
    for of_story in by_record.values():
        of_story.sort(key=lambda question: question.id)
    return by_record


def asked_in(
    record: Record, filed: Sequence[Filed], tokens: Tokens, counts: Counter[str], hyphenated: Hyphenated = "whole"
) -> Asked:
    """The questions of the files about a record; counts "asked", and by reason the files without a usable question.

    An entity is its name: files that number the same names otherwise are renumbered, and two numbers of one name are
    one entity, the first file's. Where the record has fewer than half of the names, the files are about another
    article. `sentence` is the sentence of the reference that shares most words with the question, since files do not
    name it. Hyphenated tokens are divided as `tokens` divides them; those of the record as `hyphenated` states.
    """
    names, maps = _names(filed, tokens)
    entities, target = set(names.values()), parted(record.target, hyphenated)
    words = [word for text in (*parted(record.source, hyphenated), *target) for word in text.split(" ")]
    present = {number for _, _, number in occurrences(words, by_number(names))}
    if 2 * len(present) < len(entities):
        counts[OTHER_ARTICLE] += len(filed)
        return Asked(record.id, {}, ())
    if len(entities) < FEWEST:
        counts[FEW_ENTITIES] += len(filed)
        return Asked(record.id, names, (), hyphenated=hyphenated)
    reference = [Counter(anonymise(sentence.split(" "), names)) for sentence in target]
    by_words: dict[tuple[tuple[str, ...], int], Question] = {}
    for question in filed:
        markers = maps[question.entities]
        text, answer = _words(question.question, markers, tokens), markers[question.answer]
        if answer not in entities:
            counts[NO_NAME] += 1
            continue
        if (text, answer) in by_words:
            counts[REPEATED] += 1
            continue
        shared = [(sentence & Counter(text)).total() for sentence in reference]
        sentence = max(range(len(shared)), key=shared.__getitem__)
        by_words[text, answer] = Question(record.id, sentence, text, answer)
    counts["asked"] += len(by_words)
    questions = sorted(by_words.values(), key=lambda question: (question.sentence, question.answer, question.words))
    return Asked(record.id, names, tuple(questions), hyphenated=hyphenated)


def _names(filed: Sequence[Filed], tokens: Tokens) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """The entity of every name, and the entities of every map's markers; markers without a word have a number only."""
    names: dict[str, int] = {}
    maps: dict[str, dict[str, int]] = {}
    taken: set[int] = set()
    for question in filed:
        if question.entities in maps:
            continue
        entities = json.loads(question.entities)
        markers = maps[question.entities] = {}
        for marker, text in zip(entities, tokens(list(entities.values())) if entities else [], strict=True):
            name, wanted = _name(text), int(marker.removeprefix(ENTITY))
            number = names.get(name, wanted if wanted not in taken else max(taken) + 1)
            taken.add(number)
            markers[marker] = number
            if name:
                names[name] = number
    return names, maps


def _name(text: str) -> str:
    """A tokenised name in lower case, without possessives, and without brackets and quotes around it."""
    words = [without_possessive(token).lower() for token in text.split()]
    while words and words[0] in FRAME:
        words.pop(0)
    while words and words[-1] in FRAME:
        words.pop()
    return " ".join(words)


def _words(question: str, markers: dict[str, int], tokens: Tokens) -> tuple[str, ...]:
    """A question in the corpus's tokens; markers stay whole, each with its entity's number.

    For the tokenizer each marker is replaced by a word, followed by the possessive if there is one.
    """
    placed = [part for part in MARKS.split(question) if MARKS.fullmatch(part)]
    words = {
        _stand_in(place): f"{ENTITY}{markers[marker]}" if marker in markers else marker
        for place, marker in enumerate(placed)
    }
    places = iter(words)
    text = MARKS.sub(lambda _: f" {next(places)} ", question)
    (made,) = tokens([BEFORE_POSSESSIVE.sub(r"\1\2", text)])
    return tuple(words.get(token.lower(), token) for token in map(without_possessive, made.split()))


def _stand_in(number: int) -> str:
    """A word that occurs in no text, one for each number."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return f"{STAND_IN}{letters}"
