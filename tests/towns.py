"""A corpus in which a reader's questions have answers by construction: who did what in a town.

A source says what each of `FACTS` people did, a sentence each, in any order; the reference says five things, one of
them of somebody whom the source leaves out for two of three records. Every name is one word, so that random order keeps
it. Written as a prepared corpus's folder and its questions' folder.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from sumcurve.capabilities.apes.questions import Asked, asked_about, numbered, write_questions
from sumcurve.store.records import Record, write_jsonl

NAMES = [
    first + last
    for first in ("bar", "cor", "del", "fin", "gor", "hal", "jor", "mil")
    for last in ("an", "eth", "is", "o")
]
DEEDS = {
    "miller": "ground the corn",
    "baker": "burnt the bread",
    "mayor": "opened the bridge",
    "smith": "mended the bell",
    "piper": "played at night",
    "tailor": "lost the thread",
    "widow": "sold the boat",
    "judge": "closed the court",
}
SAID = 5  # facts of a reference


def town(number: int) -> Record:
    """The record of this number."""
    drawn = random.Random(f"town {number}")
    people = dict(zip(drawn.sample(list(DEEDS), 6), drawn.sample(NAMES, 6), strict=True))
    facts = {trade: f"the {trade} {name} {DEEDS[trade]} ." for trade, name in people.items()}
    told = drawn.sample(list(facts), SAID)
    hidden = set(told[:2]) if number % 3 else set()
    source = [facts[trade] for trade in drawn.sample(list(facts), len(facts)) if trade not in hidden]
    source.append(f"nobody saw the old {drawn.choice(list(DEEDS))} that day .")
    return Record(f"town-{number:04d}", source, [facts[trade] for trade in told], group=f"group-{number // 4}")


def asked_of(record: Record) -> Asked:
    """What is asked about a record, by the names that this module gives."""

    def named(sentences: Sequence[str]) -> dict[str, str]:
        return {word: word for sentence in sentences for word in sentence.split(" ") if word in NAMES}

    names = numbered(named(record.target))
    first = max(names.values()) + 1
    further = {name: place for place, name in enumerate(sorted(set(named(record.source)) - set(names)), start=first)}
    return Asked(record.id, names, asked_about(record.id, record.target, names), further)


def write_raw(path: Path, many: int) -> None:
    """Raw records as JSON lines, in which names have capitals."""

    def written(sentences: Sequence[str]) -> list[str]:
        return [
            " ".join(word.capitalize() if word in NAMES else word for word in sentence.split(" ")).replace(" .", ".")
            for sentence in sentences
        ]

    with path.open("w", encoding="utf-8") as stream:
        for number in range(many):
            record = town(number)
            row = record.as_dict() | {"source": written(record.source), "target": written(record.target)}
            stream.write(json.dumps(row) + "\n")


def write_towns(folder: Path, train: int = 400, valid: int = 60, test: int = 120) -> tuple[Path, Path]:
    """The folders of the corpus and of its questions."""
    corpus, questions = folder / "corpus", folder / "questions"
    first = 0
    for path in (corpus, questions):
        path.mkdir(parents=True)
    for part, many in (("train", train), ("valid", valid), ("test", test)):
        records = [town(number) for number in range(first, first + many)]
        first += many
        write_jsonl(corpus / f"{part}.jsonl", (record.as_dict() for record in records))
        write_questions(questions, part, map(asked_of, records))
    return corpus, questions
