"""What must be learnable is learned: copying strings with unknown words, and 32 pairs by heart."""

import random

import pytest
import torch

from sumcurve.decoding.search import greedy
from sumcurve.models.batch import Example, batches, encode
from sumcurve.models.summarizer import Summarizer, build
from sumcurve.models.vocabulary import EOS, Vocabulary
from sumcurve.records import Record
from sumcurve.settings import (
    Optimizer,
    PhaseSettings,
    RecurrentSettings,
    Search,
    Stop,
    Training,
    TransformerSettings,
)
from sumcurve.training.fit import Fitted, fit

CPU = torch.device("cpu")
ABS = RecurrentSettings(kind="recurrent", embedding=32, hidden=32, feed="nothing", output="tied")
PCOV = RecurrentSettings(
    kind="recurrent", embedding=32, hidden=32, feed="merged", query="hc", copy_attention=True, output="tied"
)
TRANS = TransformerSettings(
    kind="transformer",
    width=32,
    heads=4,
    feedforward=64,
    encoder_layers=2,
    decoder_layers=2,
    output="tied",
    dropout=0.0,
)
Settings = RecurrentSettings | TransformerSettings


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def _string(rng: random.Random, words: list[str], name: str) -> Record:
    """Three to seven words, 30% of them nowhere else; the target is the source."""
    text = " ".join(
        f"unknown{rng.randrange(10**9)}" if rng.random() < 0.3 else rng.choice(words) for _ in range(rng.randint(3, 7))
    )
    return Record(name, [text], [text])


def _trained(
    settings: Settings,
    vocabulary: Vocabulary,
    train: list[Example],
    valid: list[Example],
    references: list[list[list[str]]],
    rate: float,
    stop: Stop,
) -> tuple[Summarizer, Fitted]:
    phase = PhaseSettings(
        name="nll", loss="nll", optimizer=Optimizer(rate=rate, clip_norm=2.0, warmup_updates=50), stop=stop
    )
    training = Training(batch=32, vocabulary=len(vocabulary), valid_records=len(valid), phases=[phase])
    model = build(settings, len(vocabulary), seed=1)
    fitted = fit(
        model,
        train,
        valid,
        references,
        vocabulary,
        training,
        seed=1,
        clock=lambda: 0.0,
        device=CPU,
        target_tokens=12,
    )
    model.load_state_dict(fitted.weights)
    return model.eval(), fitted


def _accuracy(model: Summarizer, examples: list[Example], size: int) -> tuple[float, float]:
    """Shares of target tokens that greedy decoding writes at their place: known words, and unknown ones."""
    right, total = [0, 0], [0, 0]
    for batch in batches(examples, 50, None):
        found = greedy(model, batch, Search(beam=1, max_tokens=12, block_ngram=0)).tokens[:, 0].tolist()
        for tokens, target in zip(found, batch.tgt.tolist(), strict=True):
            gold = target[: target.index(EOS) + 1]
            for position, token in enumerate(gold):
                right[token >= size] += position < len(tokens) and tokens[position] == token
                total[token >= size] += 1
    return right[0] / total[0], right[1] / max(total[1], 1)


@pytest.fixture(scope="module")
def strings() -> tuple[Vocabulary, list[Record]]:
    rng = random.Random(3)
    words = [f"word{number}" for number in range(30)]
    return Vocabulary(words), [_string(rng, words, str(number)) for number in range(3300)]


@pytest.mark.parametrize("copy", [True, False])
def test_copying_strings_takes_a_copying_model(strings, copy):
    vocabulary, records = strings
    examples = [encode(record, vocabulary, 12, 12) for record in records]
    train, valid, test = examples[:3000], examples[3000:3100], examples[3100:]
    settings = PCOV.model_copy(update={"copy_attention": copy})
    stop = Stop(every_updates=100, every_epochs=0.1, patience=8, most_updates=200)
    references = [record.all_references for record in records[3000:3100]]
    model, _ = _trained(settings, vocabulary, train, valid, references, 0.005, stop)
    known, unknown = _accuracy(model, test, len(vocabulary))
    if copy:
        assert min(known, unknown) > 0.99
    else:
        assert known > 0.9
        assert unknown == 0.0


@pytest.mark.parametrize("settings", [ABS, PCOV, TRANS], ids=["ABS", "PCOV", "TRANS"])
def test_thirty_two_pairs_are_learned_by_heart(settings):
    rng = random.Random(4)
    words = [f"word{number}" for number in range(60)]
    records = [
        Record(
            str(number),
            [" ".join(rng.choice(words) for _ in range(8)) for _ in range(2)],
            [" ".join(rng.choice(words) for _ in range(4)) for _ in range(rng.randint(1, 2))],
        )
        for number in range(32)
    ]
    vocabulary = Vocabulary(words)
    examples = [encode(record, vocabulary, 16, 12) for record in records]
    stop = Stop(every_updates=50, every_epochs=1.0, patience=4, most_updates=200)
    references = [record.all_references for record in records]
    model, fitted = _trained(settings, vocabulary, examples, examples, references, 0.005, stop)
    assert fitted.selected.nll < 0.05
    assert fitted.selected.rouge == 1.0
    assert _accuracy(model, examples, len(vocabulary))[0] == 1.0
