"""The two programs that docs/how-to/own-program.md shows, run as they stand there."""

from collections import Counter
from math import exp

import pytest

import programs
from sumcurve.capabilities.programs.command import Command, CommandSettings
from sumcurve.capabilities.programs.process import MODEL
from sumcurve.capabilities.programs.training import learn
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.records import Record, Text
from sumcurve.systems.system import LOG_OF, Item

CORPUS = CorpusSettings.model_validate(
    {
        "raw": {"path": "x.jsonl", "sha256": "0" * 64},
        "split": {"valid": 1, "test": 3},
        "percents": [100],
        "source_tokens": 99,
        "target_tokens": 99,
        "search": {"max_tokens": 50},
    }
)
TRAIN = [
    {"id": "1", "source": ["A fox ran over the hill."], "target": ["Fox runs far"]},
    {"id": "2", "source": ['Bees "hum" and fly.', "They fly far."], "target": ["Bees", "They fly"]},
    {"id": "3", "source": ["Rain fell on the house."], "target": ["Rain"]},
]
SOURCES = {
    "a": ["All bees fly.", "They sting, too."],
    "b": ['The "old" fox\tran over a very long hill.'],
    "c": ["Rain fell."],
}
ITEMS = [Item(Record(name, [], []), Text(name, source, [])) for name, source in SOURCES.items()]


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A function that trains a program of the page and returns it."""
    monkeypatch.chdir(tmp_path)
    programs.write(tmp_path)

    def train(name):
        settings = CommandSettings.model_validate(programs.systems()[name])
        told = settings.training()
        assert len(told["files"]) == 1
        learn(told, TRAIN, TRAIN[:1], 1, 1, "cpu", tmp_path / MODEL, tmp_path / "scratch", tmp_path / "log")
        return Command(Command.specify(settings, CORPUS), {MODEL: tmp_path / MODEL, LOG_OF: tmp_path / "said"})

    return train


def test_the_example_in_python_says_what_people_said_of_the_nearest_source(trained):
    nearest = trained("nearest")
    assert list(nearest.summarize(ITEMS)) == [["bees", "they fly"], ["fox runs far"], ["rain"]]
    targets = Counter(["fox", "runs", "far", "bees", "they", "fly", "rain"])
    words = [*targets, "hum", "fell."]
    found = nearest.word_logp([ITEMS[2]] * len(words), [[word] for word in words])
    for word, (logp,) in zip(words, found, strict=True):
        expected = ((word in ("rain", "fell.")) / 2 + (targets[word] + 1) / (targets.total() + 100_000)) / 2
        assert exp(logp) == pytest.approx(expected)


def test_the_example_in_shell_says_as_many_words_as_targets_have(trained):
    """Two and a third in the mean: two."""
    assert list(trained("first").summarize(ITEMS)) == [["all bees"], ['the " old "'], ["rain fell ."]]
