"""Reinforcement on tasks whose optimum is known: the reward rises towards it, and lengths stay."""

import random
from statistics import fmean

import pytest
import torch

import invented
from invented import CONFIG
from sumcurve.capabilities.extract_rewrite.learner import ExtractRewriteLearner
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.rouge_engine.rewards import rouge_l_f1
from sumcurve.settings.training import Optimizer, Stop
from sumcurve.store.records import Record
from sumcurve.study.methods import read_method
from sumcurve.training.fit import fit

GOOD, POOR = ([f"{kind}{number}" for number in range(12)] for kind in ("good", "poor"))
LENGTHS = 20, 20  # most tokens of a source and of an output


def stop(updates, period):
    """Of a phase of so many updates, validated every `period` of them."""
    return Stop(every_updates=period, every_epochs=0.01, patience=99, max_updates=updates)


def reinforced(method, model, train, valid, learned, updates, rate, batch):
    """The validations of a method's phase of reinforcement, after `learned` updates on likelihood."""
    form = read_method(CONFIG / f"{method}.yaml").forms["smoke"]
    first, last = form.training.phases[-2:]
    first = first.model_copy(
        update={"optimizer": Optimizer(rate=0.01, clip_norm=2.0), "stop": stop(learned, learned)},
    )
    last = last.model_copy(
        update={"optimizer": Optimizer(rate=rate, warmup_updates=10, clip_norm=2.0), "stop": stop(updates, 10)},
    )
    training = form.training.model_copy(update={"phases": [first, last], "batch": batch})
    form = form.model_copy(update={"model": form.model.model_copy(update=model), "training": training})
    learner = invented.learner_of(form, train, valid, Vocabulary(GOOD + POOR), LENGTHS)
    return fit(learner, training, seed=1, clock=lambda: 0.0, device=torch.device("cpu")).history.of(last.name)


def best_words(record):
    return [word for word in record.source[0].split() if word in GOOD]


def titles(count, seed):
    """Titles of three in four good words of their source, in order, and of one to three that nobody can foretell."""
    rng = random.Random(seed)
    records = []
    for number in range(count):
        source = rng.choices(GOOD, k=rng.randint(2, 4)) + rng.choices(POOR, k=rng.randint(2, 4))
        rng.shuffle(source)
        target = [word for word in source if word in GOOD and rng.random() < 0.75]
        target += rng.choices(GOOD, k=rng.randint(1, 3))
        records.append(Record(f"{seed}-{number}", [" ".join(source)], [" ".join(target)]))
    return records


def test_self_critical_training_raises_its_reward_towards_the_best_and_keeps_lengths():
    """Best is each good word of the source in order: one that is right in three of four cases pays at any F1 here.

    Most samples are worse than the greedy output. log p averaged over a sample's own tokens writes 1.4
    to 1.7 times as many words after 20 updates, and its reward falls by 0.05 to 0.08, with each of three seeds. A batch
    of 256 makes that no matter of chance.
    """
    valid = titles(200, 99)
    best = fmean(rouge_l_f1(best_words(record), record.target[0].split()) for record in valid)
    model = {"embedding": 16, "hidden": 12, "decoder": 24, "dropout": 0.0}
    rows = reinforced("pgrl", model, titles(2000, 1), valid, learned=120, updates=60, rate=0.002, batch=256)
    start, last = rows[0], rows[-1]
    assert start.reward < 0.92 * best
    assert last.reward > 0.93 * best
    assert last.reward > start.reward + 0.02
    assert min(row.reward for row in rows) > start.reward - 0.015
    usual = sorted((start.tokens, fmean(len(best_words(record)) for record in valid)))
    assert all(0.85 * usual[0] < row.tokens < 1.15 * usual[1] for row in rows)
    assert last.sample_reward > start.sample_reward + 0.08, "what the gradient raises"
    assert last.entropy < start.entropy / 2, "and at what price"


def digests(count, seed):
    """Documents of sentences of good and of poor words; their summaries are the good ones, in order."""
    rng = random.Random(seed)
    records = []
    for number in range(count):
        good = [" ".join(rng.choices(GOOD, k=3)) for _ in range(rng.randint(1, 3))]
        poor = [" ".join(rng.choices(POOR, k=2) + rng.choices(GOOD, k=1)) for _ in range(rng.randint(1, 2))]
        rest, source = list(good), []
        while rest or poor:
            source.append(rest.pop(0) if rest and (not poor or rng.random() < 0.6) else poor.pop())
        records.append(Record(f"{seed}-{number}", source, good))
    return records


def test_actor_critic_training_raises_its_reward_towards_the_best_and_learns_to_stop(monkeypatch):
    """A rewrite is the sentence itself, so that 1 is the best reward."""
    monkeypatch.setattr(
        ExtractRewriteLearner,
        "_rewritten",
        lambda self, documents, search: {one: one for document in documents for one in document.sentences},
    )
    model = {"filters": 8, "hidden": 16, "dropout": 0.0}
    valid = digests(100, 99)
    rows = reinforced("fastrl", model, digests(500, 1), valid, learned=30, updates=40, rate=0.01, batch=32)
    start, last = rows[0], rows[-1]
    assert start.reward < 0.9
    assert last.reward > 0.98
    assert min(row.reward for row in rows) == start.reward
    usual = fmean(3 * len(record.target) for record in valid)
    assert last.tokens == pytest.approx(usual, rel=0.05)
    assert last.sample_reward > start.sample_reward + 0.1
    assert last.entropy < start.entropy / 2
