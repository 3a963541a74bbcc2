"""Random batches and settings for the tests of models."""

import random
from collections.abc import Callable

import pytest
import torch

from sumcurve.models.batch import Batch, Example, collate, encode
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.store.records import Record

WORDS = 40


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary(f"w{number}" for number in range(WORDS))


@pytest.fixture(scope="session")
def make_examples(vocabulary: Vocabulary) -> Callable[..., list[Example]]:
    """Examples of mixed lengths; a third of the source is unknown words, some in the target."""

    def make(count: int, seed: int = 0, source_tokens: int = 14, target_tokens: int = 9) -> list[Example]:
        rng = random.Random(seed)
        examples = []
        for number in range(count):
            source = [
                f"x{rng.randrange(4)}" if rng.random() < 0.3 else f"w{rng.randrange(WORDS)}"
                for _ in range(rng.randint(2, source_tokens))
            ]
            target = [
                rng.choice([rng.choice(source), f"w{rng.randrange(WORDS)}", "nowhere"])
                for _ in range(rng.randint(1, target_tokens))
            ]
            cut = rng.randint(0, len(target) - 1)
            sentences = [" ".join(part) for part in (target[:cut], target[cut:]) if part]
            examples.append(
                encode(
                    Record(str(number), [" ".join(source)], sentences),
                    vocabulary,
                    source_tokens,
                    target_tokens,
                )
            )
        return examples

    return make


@pytest.fixture(scope="session")
def make_batch(make_examples: Callable[..., list[Example]]) -> Callable[..., Batch]:
    def make(count: int, seed: int = 0, **lengths: int) -> Batch:
        return collate(make_examples(count, seed, **lengths))

    return make
