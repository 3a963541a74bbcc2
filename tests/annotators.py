"""A corpus with outputs of known quality, and simulated annotators who see what a sheet shows, and nothing else.

A summary's last word says what is wrong with it. An annotator reads that word, sees it rightly as often as they do, and
else guesses; a lenient one calls some bad summaries good.
"""

import csv
import random
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG, WEI
from sumcurve.store import manifest
from sumcurve.store.records import write_jsonl

CORPUS = "corpora/foxes-0a1b2c3d"
WORDS = {"garbled": "not fluent", "elsewhere": "not related", "wrong": "not faithful", "fine": "good"}
ISSUES = {"upset": "readability", "otherwise": "discrepancy", "alike": "neither"}
COMPUTED = '=HYPERLINK("http://example.org","fox")'  # begins a source, as a formula would


@dataclass
class Annotator:
    """Right with probability `right`, else any outcome; then bad becomes good with probability `lenient`."""

    seed: int
    right: float = 1.0
    lenient: float = 0.0

    def __post_init__(self):
        self.generator = random.Random(self.seed)

    def sees(self, text, meanings):
        outcomes = list(meanings.values())
        outcome = next(meaning for word, meaning in meanings.items() if text.rstrip(" .").endswith(word))
        if self.generator.random() >= self.right:
            outcome = self.generator.choice(outcomes)
        if outcome != outcomes[-1] and self.generator.random() < self.lenient:
            outcome = outcomes[-1]
        return outcome

    def answers(self, protocol, text):
        if protocol is KUMAR_CHEUNG:
            return {"issue": self.sees(text, ISSUES)}
        outcome = self.sees(text, WORDS)
        answers = {}
        for question in WEI.questions:
            failed = outcome == f"not {question.name}"
            answers[question.name] = "no" if failed else "yes"
            if failed:
                break
        return answers


def write_corpus(home: Path, shares: dict[str, dict[str, float]], records=120, per_group=2, seed=1) -> list[Path]:
    """Folders of outputs, and of their corpus: a system's summaries end in each word with the share told of it."""
    generator = random.Random(seed)
    test, texts = [], []
    for number in range(records):
        begins = COMPUTED if number == 0 else f"The fox number {number}"
        record = {"id": f"den/{number}", "source": [f"{begins.lower()} ran ."], "target": [f"a fox {number} ran fine"]}
        test.append(record | {"group": f"den{number // per_group}"})
        texts.append(record | {"source": [f"{begins} ran.", "It was late."], "target": [f"A fox {number} ran fine."]})
    with manifest.building(home / "results" / CORPUS, {"raw": "invented"}, {}) as stage:
        write_jsonl(stage / "test.jsonl", test)
        write_jsonl(stage / "test.text.jsonl", texts)
    made = []
    for name, share in shares.items():
        folder = home / "results" / "outputs" / f"foxes-{name}-12345678"
        with manifest.building(folder, {"corpus": CORPUS, "system": name}, {}) as stage:
            rows = []
            for record in test:
                (word,) = generator.choices(list(share), list(share.values()))
                rows.append({"id": record["id"], "summary": [f"fox {generator.randrange(10**6)} of {word}"]})
            write_jsonl(stage / "summaries.jsonl", rows)
        made.append(folder)
    return made


def read_sheet(path: Path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def write_filled(path: Path, rows, newline="\r\n"):
    """Rows as a spreadsheet saves them."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator=newline)
        writer.writeheader()
        writer.writerows(rows)
    return path


def fill(path: Path, protocol, annotator: Annotator, to: Path) -> Path:
    """The sheet, filled, in folder `to`."""
    rows = [row | annotator.answers(protocol, row[protocol.judged]) for row in read_sheet(path)]
    return write_filled(to / path.name, rows)
