"""Random batches for the tests of decoding, and models whose outputs end early about as often as not."""

import random
from collections.abc import Callable

import pytest
import torch

from sumcurve.models.batch import Batch, Example, collate, encode
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import EOS, UNK, Vocabulary
from sumcurve.settings.models import RecurrentSettings, TransformerSettings
from sumcurve.store.records import Record
from sumcurve.systems.families import build

WORDS = 12
WIDTHS = {"kind": "recurrent", "embedding": 8, "hidden": 8}
STACK = {
    "kind": "transformer",
    "width": 8,
    "heads": 2,
    "feedforward": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
}
SETTINGS: dict[str, RecurrentSettings | TransformerSettings] = {
    "abs": RecurrentSettings(**WIDTHS, feed="nothing"),
    "pcov": RecurrentSettings(**WIDTHS, feed="merged", query="hc", copy_attention=True, coverage=True),
    "trans": TransformerSettings(**STACK),
    "trans-plain": TransformerSettings(**STACK, copy_attention=False, output="tied"),
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary(f"w{number}" for number in range(WORDS))


@pytest.fixture(scope="session")
def make_examples(vocabulary: Vocabulary) -> Callable[..., list[Example]]:
    def make(count: int, seed: int = 0, unknown: float = 0.4) -> list[Example]:
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
def make_batch(make_examples: Callable[..., list[Example]]) -> Callable[..., Batch]:
    def make(count: int, seed: int = 0, unknown: float = 0.4) -> Batch:
        return collate(make_examples(count, seed, unknown))

    return make


@pytest.fixture(scope="session")
def make_model(vocabulary: Vocabulary) -> Callable[..., Summarizer]:
    """A model with peaked distributions and a preference for the end and for unknown words."""

    def make(
        name: str,
        seed: int = 0,
        spread: float = 0.8,
        end: float = 3.0,
        unknown: float = 2.0,
        vocabulary_size: int = len(vocabulary),
    ) -> Summarizer:
        model = build(SETTINGS[name], vocabulary_size, seed)
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
def name(request: pytest.FixtureRequest) -> str:
    return request.param
