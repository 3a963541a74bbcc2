"""A trained reader puts summaries in the order that is known by construction."""

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sumcurve.capabilities.apes import scorer as apes
from sumcurve.capabilities.apes.answers import read_reader
from sumcurve.capabilities.apes.levels import Answered, Reader, level
from sumcurve.capabilities.apes.reader import train_reader
from sumcurve.capabilities.apes.settings import Apes, AttentiveSettings
from sumcurve.corpora.store import Corpus
from sumcurve.machine.devices import Lease
from sumcurve.settings.training import Optimizer, Stop
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import estimate
from sumcurve.store.records import Record, read_csv, write_jsonl
from sumcurve.systems.bounds import shuffled
from sumcurve.training.place import Place
from towns import NAMES, write_towns

pytestmark = pytest.mark.slow

SEEDS = (1, 2)
SETTINGS = AttentiveSettings(
    embedding=32,
    hidden=32,
    dropout=0.0,
    optimizer=Optimizer(name="adam", rate=0.005, clip_norm=10.0),
    stop=Stop(every_updates=100, every_epochs=0.1, patience=3, max_updates=500),
)


def swapped(record: Record) -> list[str]:
    """The reference with every name in another's place."""
    names = [word for sentence in record.target for word in sentence.split(" ") if word in NAMES]
    turned = dict(zip(names, [*names[1:], names[0]], strict=True))
    return [" ".join(turned.get(word, word) for word in sentence.split(" ")) for sentence in record.target]


def lost(record: Record) -> list[str]:
    """The reference without names."""
    return [" ".join("someone" if word in NAMES else word for word in one.split(" ")) for one in record.target]


def half(record: Record) -> list[str]:
    """The reference with the names of half of its sentences, drawn."""
    kept = set(random.Random(record.id).sample(range(len(record.target)), 2))
    without = lost(record)
    return [sentence if place in kept else without[place] for place, sentence in enumerate(record.target)]


SUMMARIES = {
    "gold": lambda record: record.target,
    "source": lambda record: record.source,
    "lead": lambda record: record.source[:3],
    "shuffled": shuffled,
    "half": half,
    "swapped": swapped,
    "lost": lost,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[int, Path]]:
    home = tmp_path_factory.mktemp("towns")
    corpus, questions = write_towns(home)
    readers = {}
    for seed in SEEDS:
        readers[seed] = home / f"reader-{seed}"
        readers[seed].mkdir()
        train_reader(
            specification={"seed": seed, "threads": 1},
            settings=SETTINGS,
            corpus=corpus,
            questions=questions,
            vectors=None,
            place=Place(
                folder=readers[seed],
                name=f"reader-{seed}",
                state=home / f"{seed}.pt",
                events=home / "events",
                lease=Lease("cpu", exclusive=False),
                note=print,
                terminal=(home / "terminal").open("w"),
                line=0,
                facts={},
            ),
        )
    return corpus, questions, readers


@pytest.fixture(scope="module")
def scores(trained, tmp_path_factory: pytest.TempPathFactory):
    """By summary its share of all questions with the interval over groups and readers."""
    corpus, questions, readers = trained
    records = list(Corpus(corpus).part("test"))
    told = {questions: "questions"} | {path: {"seed": seed} for seed, path in readers.items()}
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apes, "reader_of", lambda folder, renumber: read_reader(folder, SETTINGS, renumber))
        for name, write in SUMMARIES.items():
            output = tmp_path_factory.mktemp(name)
            rows = ({"id": record.id, "summary": list(write(record))} for record in records)
            write_jsonl(output / "summaries.jsonl", rows)
            scorer = apes.AnswersQuestions(Apes(reader=SETTINGS, seeds=list(SEEDS)))
            given = scorer.score(output, records, told)
            values = np.array(given.values["apes"])
            total = sum(given.details["questions"])
            by_reader = np.array([100 * sum(given.details[f"right_{seed}"]) / total for seed in SEEDS])
            design = Design([Replicates(name, None, (), values[None], by_reader[None])], given.groups, None)
            found[name] = estimate(design, (name, None)), given
    return found


def test_more_kept_is_more_answered(scores) -> None:
    told = {name: (one.mean, one.low, one.high) for name, (one, _) in scores.items()}
    print(told)
    order = ["gold", "source", "lead", "shuffled"]
    for better, worse in pairwise(order):
        low = told[better][1] if told[better][1] is not None else told[better][0]  # all answered: no interval
        assert low > told[worse][2], told
    assert told["gold"][0] > 90
    assert 25 < told["half"][0] < 45  # two names of five
    assert told["swapped"][0] < 10
    assert told["lost"][0] == 0


def test_what_names_nobody_is_counted_and_words_alone_are_not_enough(scores) -> None:
    assert scores["lost"][1].counts["without_entity"] == len(scores["lost"][1].ids)
    assert scores["gold"][1].counts["without_entity"] == 0
    named = [scores[name][1].values["apes_entities"] for name in ("gold", "shuffled")]
    assert named[0] == named[1]  # the shuffled reference has all its names


def test_the_readers_beat_guessing_by_an_interval(trained) -> None:
    _, _, readers = trained
    known = []
    for seed, path in readers.items():
        rows = read_csv(path / "held_out.csv")

        def column(name: str, rows: list[dict[str, str]] = rows) -> np.ndarray:
            return np.array([float(row[name]) for row in rows])

        groups = tuple(row["group"] for row in rows)
        baselines = {name: column(name) for name in ("majority", "frequency")}
        held_out = Answered(groups, column("reader"), baselines)
        chance = float(column("chance").mean())
        several = np.ones(len(rows), dtype=bool)  # a town's record names several
        known.append(Reader("towns", seed, held_out, several, chance, {}, {}, None, None))
    found = level("towns", known, 0.95)
    assert found.beats, found
    assert "NOT TO BE READ" not in found.sentence()
    guessed = known[0].held_out
    blind = [replace(known[0], held_out=replace(guessed, right=guessed.baselines["majority"]))]
    assert not level("towns", blind, 0.95).beats
    assert "NOT TO BE READ" in level("towns", blind, 0.95).sentence()
