"""Random batches for the tests of decoding, and models whose outputs end early about as often as not."""

import random

import pytest
import torch

from invented import build
from sumcurve.models.batch import collate, encode
from sumcurve.models.vocabulary import EOS, UNK, Vocabulary
from sumcurve.settings.models import RecurrentSettings, TransformerSettings
from sumcurve.store.records import Record

WORDS = 12
WIDTHS = {"kind": "recurrent", "embedding": 8, "hidden": 8}
STACK = {"kind": "transformer", "width": 8, "heads": 2, "feedforward": 16, "encoder_layers": 2, "decoder_layers": 2}
SETTINGS = {
    "abs": RecurrentSettings(**WIDTHS, feed="nothing"),
    "pcov": RecurrentSettings(**WIDTHS, feed="merged", query="hc", copy_attention=True, coverage=True),
    "trans": TransformerSettings(**STACK),
    "trans-plain": TransformerSettings(**STACK, copy_attention=False, output="tied"),
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary():
    return Vocabulary(f"w{number}" for number in range(WORDS))


@pytest.fixture(scope="session")
def make_examples(vocabulary):
    def make(count, seed=0, unknown=0.4):
        rng, spans = random.Random(seed), random.Random(seed)
        examples = []
        for number in range(count):
            source = [
                f"x{rng.randrange(6)}" if rng.random() < unknown else f"w{rng.randrange(WORDS)}"
                for _ in range(rng.randint(2, 11))
            ]
            target = [rng.choice([rng.choice(source), f"w{rng.randrange(WORDS)}"]) for _ in range(rng.randint(1, 7))]
            record = Record(str(number), [" ".join(source)], [" ".join(target)])
            starts = [start for start in range(len(source)) if spans.random() < 0.3]
            examples.append(encode(record, vocabulary, 11, 7, [(start, start + 1) for start in starts]))
        return examples

    return make


@pytest.fixture(scope="session")
def make_batch(make_examples):
    def make(count, seed=0, unknown=0.4):
        return collate(make_examples(count, seed, unknown))

    return make


@pytest.fixture(scope="session")
def make_model(vocabulary):
    """A model with peaked distributions and a preference for the end and for unknown words."""

    def make(name, seed=0, spread=0.8, end=3.0, unknown=2.0, vocabulary_size=None):
        model = build(SETTINGS[name], vocabulary_size or len(vocabulary), seed)
        torch.manual_seed(seed)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 2:
                    parameter.add_(torch.randn_like(parameter) * spread)
            model.output.bias[EOS] += end
            model.output.bias[UNK] += unknown
        return model.eval()

    return make


@pytest.fixture(params=list(SETTINGS))
def name(request):
    return request.param
