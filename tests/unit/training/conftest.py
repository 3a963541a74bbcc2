"""Tiny invented corpora, models and settings for the training tests."""

import random
from types import SimpleNamespace

import pytest
import torch

from sumcurve.models.batch import encode
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.models import RecurrentSettings, TransformerSettings
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop, Training
from sumcurve.store.records import Record

WORDS = [f"word{number}" for number in range(25)]
STRANGERS = [f"stranger{number}" for number in range(15)]  # in no vocabulary


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def corpus():
    """37 training and 9 validation examples, whose lengths differ, with their references."""
    rng = random.Random(5)
    records = []
    for number in range(46):
        source = [rng.choice(WORDS + STRANGERS) for _ in range(rng.randint(3, 9))]
        target = [rng.choice(source) for _ in range(rng.randint(1, 5))]
        records.append(Record(f"r{number}", [" ".join(source)], [" ".join(target[:3]), *target[3:]]))
    vocabulary = Vocabulary(WORDS)
    examples = [encode(record, vocabulary, 8, 6) for record in records]
    return SimpleNamespace(
        vocabulary=vocabulary,
        train=examples[:37],
        valid=examples[37:],
        references=[record.all_references for record in records[37:]],
    )


@pytest.fixture(scope="session")
def lstm():
    return RecurrentSettings(
        kind="recurrent", embedding=6, hidden=5, feed="merged", query="hc", copy_attention=True, dropout=0.3
    )


@pytest.fixture(scope="session")
def lstm_without_copy():
    return RecurrentSettings(kind="recurrent", embedding=6, hidden=5, feed="nothing", dropout=0.3)


@pytest.fixture(scope="session")
def transformer():
    return TransformerSettings(
        kind="transformer", width=8, heads=2, feedforward=12, encoder_layers=1, decoder_layers=1, dropout=0.3
    )


@pytest.fixture(scope="session")
def phase():
    def make(name="nll", loss="nll", coverage=False, smoothing=0.0, method="adam", **keys):
        stop = {"every_updates": 4, "every_epochs": 0.1, "patience": 3, "max_updates": 12}
        optimizer = {"name": method, "rate": 0.01, "clip_norm": 2.0}
        for key, value in keys.items():
            (stop if key in Stop.model_fields else optimizer)[key] = value
        return PhaseSettings(
            name=name,
            loss=loss,
            coverage=coverage,
            label_smoothing=smoothing,
            optimizer=Optimizer(**optimizer),
            stop=Stop(**stop),
        )

    return make


@pytest.fixture(scope="session")
def training():
    def make(*phases, valid_records=7, batch=8):
        return Training(batch=batch, vocabulary=25, valid_records=valid_records, phases=list(phases))

    return make
