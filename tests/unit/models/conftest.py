"""Random batches and settings for the tests of models."""

import random

import pytest
import torch

from sumcurve.models.batch import collate, encode
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.store.records import Record

WORDS = 40


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary():
    return Vocabulary(f"w{number}" for number in range(WORDS))


@pytest.fixture(scope="session")
def make_examples(vocabulary):
    """Examples of mixed lengths; a third of the source is unknown words, some in the target."""

    def make(count, seed=0, source_tokens=14, target_tokens=9):
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
                encode(Record(str(number), [" ".join(source)], sentences), vocabulary, source_tokens, target_tokens)
            )
        return examples

    return make


@pytest.fixture(scope="session")
def make_batch(make_examples):
    def make(count, seed=0, **lengths):
        return collate(make_examples(count, seed, **lengths))

    return make


@pytest.fixture(scope="session")
def forced_as_stepped():
    """Asserts that teacher forcing equals the steps in values and gradients; gives the gradients' names."""

    def compare(model, batch):
        real = batch.tgt != PAD

        def run(forced):
            model.zero_grad()
            emission, attention = forced(batch, model.encode(batch))
            earlier = attention.cumsum(1) - attention
            gold = emission.gold(batch.tgt, batch.src_ext)
            (gold.sum() + torch.minimum(attention, earlier)[real].sum()).backward()
            gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
            return gold, attention[real], gradients

        *found, gradients = run(model.forced)
        *expected, stepped = run(lambda *given: Summarizer.forced(model, *given))
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
        torch.testing.assert_close(gradients, stepped, rtol=1e-8, atol=1e-9)
        return gradients.keys()

    return compare
