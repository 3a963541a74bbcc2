"""Invented documents for tests that train, and the methods that they train."""

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.store.records import Record
from sumcurve.study.doors import MODELS
from sumcurve.training.learner import Learner

CONFIG = Path(__file__).parents[1] / "config" / "methods"
# Models from elsewhere, which tests make anew by architecture: tests/pretrained.py
OF_THE_HUB = {path.stem for path in CONFIG.glob("*.yaml") if "  kind: transformers\n" in path.read_text()}
METHODS = sorted({path.stem for path in CONFIG.glob("*.yaml")} - OF_THE_HUB)
WORDS = [f"word{number}" for number in range(30)]


def build(settings: Any, words: int, seed: int) -> Any:
    """A new model of these settings, for a vocabulary of this size."""
    return MODELS[settings.kind].build(settings, words, seed)


def learner_of(
    form: Form,
    train: Sequence[Record],
    valid: Sequence[Record],
    vocabulary: Vocabulary,
    lengths: tuple[int, int],
    seed: int = 1,
    salient: Callable[[str], Iterable[list[tuple[int, int]]]] | None = None,
) -> Learner:
    """The learner of a training on records in memory; `lengths` are those of sources and targets, in tokens."""
    run: Any = SimpleNamespace(
        form=form,
        specification={"seed": seed},
        lengths=lengths,
        records=train,
        valid=valid,
        vocabulary=vocabulary,
        device="cpu",
        search=Search(beam=1, max_tokens=lengths[1], block_ngram=0),
        salient=salient,
    )
    return MODELS[form.model.kind].learner(run)


def records(count: int, seed: int) -> list[Record]:
    """Invented documents of two to four sentences whose target begins some of them."""
    rng = random.Random(seed)
    invented = []
    for number in range(count):
        source = [
            " ".join(rng.choice([*WORDS, f"name{rng.randrange(9)}"]) for _ in range(rng.randint(4, 8)))
            for _ in range(rng.randint(2, 4))
        ]
        target = [" ".join(sentence.split(" ")[:3]) for sentence in source[: rng.randint(1, 2)]]
        invented.append(Record(f"{seed}-{number}", source, target))
    return invented
