"""What the last phases are for, on data that can be learned: each moves what its loss names."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from invented import learner_of
from sumcurve.models.batch import batches, encode
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.settings.training import Optimizer, Stop
from sumcurve.store.records import Record
from sumcurve.study.methods import read_method
from sumcurve.training import losses
from sumcurve.training.fit import Checkpoint, Fitted, fit

pytestmark = pytest.mark.long

CPU = torch.device("cpu")
CONFIG = Path(__file__).parents[2] / "config" / "methods"
WORDS = [f"word{number}" for number in range(30)]
NAMES = [f"name{number}" for number in range(10)]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def form(method: str, first: int, last: int, rate: float = 0.003) -> Form:
    """The method's form `smoke`, wider; so many updates before the last phase and in it."""
    settings = read_method(CONFIG / f"{method}.yaml").forms["smoke"]
    model = settings.model
    if model.kind == "recurrent":
        wide = {"embedding": 32, "hidden": 32, "decoder": 64 if model.decoder else None, "dropout": 0.0}
        model = model.model_copy(update=wide | {"attention_width": 32 if model.attention_width else None})
    else:
        inner = model.abstractor.model_copy(update={"embedding": 32, "hidden": 32})
        model = model.model_copy(update={"abstractor": inner, "hidden": 32, "sentences": 2})
    *before, final = settings.training.phases
    budget = {"every_epochs": 0.01, "patience": 99}
    phases = [
        phase.model_copy(
            update={
                "optimizer": Optimizer(rate=0.005, clip_norm=2.0),
                "stop": Stop(**budget, every_updates=first, max_updates=first),
            }
        )
        for phase in before
    ]
    phases.append(
        final.model_copy(
            update={
                "optimizer": Optimizer(rate=rate, clip_norm=2.0, warmup_updates=10),
                "stop": Stop(**budget, every_updates=last, max_updates=last),
            }
        )
    )
    training = settings.training.model_copy(update={"phases": phases, "batch": 32})
    return settings.model_copy(update={"model": model, "training": training})


def trained(
    settings: Form,
    make: Callable[[random.Random, str], Record],
    count: int,
    marks: Callable[[Record], list[tuple[int, int]]] | None = None,
    start: Checkpoint | None = None,
) -> tuple[Fitted, float]:
    """A training on invented records, and the selected weights' mean coverage loss where their attention is seen."""
    rng = random.Random(3)
    train, valid = (
        [make(rng, f"{part}{number}") for number in range(size)] for part, size in (("t", count), ("v", 60))
    )
    spans = None if marks is None else lambda part: map(marks, train if part == "train" else valid)
    vocabulary = Vocabulary(WORDS + NAMES)
    learner = learner_of(settings, train, valid, vocabulary, (60, 16), salient=spans)
    fitted = fit(learner, settings.training, seed=1, clock=lambda: 0.0, device=CPU, start=start)
    if settings.model.kind != "recurrent" or not settings.model.copy_attention:
        return fitted, 0.0
    learner.model.load_state_dict(fitted.weights)
    learner.model.eval()
    (batch,) = batches([encode(record, vocabulary, 60, 16) for record in valid], len(valid))
    with torch.no_grad():
        _, attention = learner.model.forced(batch, learner.model.encode(batch))
    return fitted, losses.example_means(losses.coverage(attention), batch.tgt).mean().item()


def _words(rng: random.Random, of: Sequence[str], least: int, most: int) -> list[str]:
    return [rng.choice(of) for _ in range(rng.randint(least, most))]


def string(rng: random.Random, name: str) -> Record:
    """A dozen words of twelve: whoever copies them half trained loses the place and repeats itself."""
    text = " ".join(_words(rng, WORDS[:12], 8, 14))
    return Record(name, [text], [text])


def headline(rng: random.Random, name: str) -> Record:
    """Its first four words are what is asked for."""
    words = _words(rng, WORDS, 6, 10)
    return Record(name, [" ".join(words)], [" ".join(words[:4])])


def document(rng: random.Random, name: str) -> Record:
    """Sentences; of the two that begin with a name the first words are asked for."""
    sentences = [" ".join(_words(rng, WORDS, 5, 5)) for _ in range(rng.randint(4, 6))]
    told = sorted(rng.sample(range(len(sentences)), 2))
    for place in told:
        sentences[place] = f"{rng.choice(NAMES)} {sentences[place]}"
    return Record(name, sentences, [" ".join(sentences[place].split()[:4]) for place in told])


def people(rng: random.Random, name: str) -> Record:
    """The names of its source are asked for, and they are its salient tokens."""
    words = _words(rng, WORDS + NAMES, 6, 10)
    return Record(name, [" ".join(words)], [" ".join(word for word in words if word in NAMES) or words[0]])


def names_of(record: Record) -> list[tuple[int, int]]:
    return [(place, place + 1) for place, word in enumerate(record.source_tokens) if word in NAMES]


@pytest.mark.parametrize(("method", "updates"), [("pcov", 100), ("nats", 80)])
def test_coverage_makes_repeated_trigrams_fall(method: str, updates: int) -> None:
    settings = form(method, 60, updates)
    control = settings.control()
    assert control is not None
    fitted, covered = trained(settings, string, 1200)
    start, after = fitted.history.of("coverage")
    assert start.repetition > 0.005
    assert after.repetition < start.repetition / 2
    spent, uncovered = trained(control, string, 1200, start=fitted.before)
    assert (spent.selected.updates, spent.selected.phase) == (fitted.selected.updates, "control")
    assert covered < 0.9 * uncovered, "attention repeats itself less than after the same updates without the loss"


@pytest.mark.parametrize(
    ("method", "make", "first", "last"), [("pgrl", headline, 35, 120), ("fastrl", document, 60, 60)]
)
def test_reinforcement_makes_the_greedy_reward_rise(
    method: str, make: Callable[[random.Random, str], Record], first: int, last: int
) -> None:
    settings = form(method, first, last, 0.002)
    fitted, _ = trained(settings, make, 600)
    start, after = fitted.history.of(settings.training.phases[-1].name)
    assert start.reward is not None
    assert after.reward is not None
    assert start.reward < 0.95
    assert 1 - after.reward < (1 - start.reward) / 2
    assert fitted.history.ended[-1][1] == "most_updates"


@pytest.mark.parametrize("method", ["ent", "ent_loss", "ent_penalty"])
def test_the_entity_phase_learns_what_is_salient(method: str) -> None:
    fitted, _ = trained(form(method, 20, 40), people, 400, names_of)
    start, after = fitted.history.of("entity")
    assert start.auc is not None
    assert after.auc is not None
    assert start.auc < 0.75 < after.auc
    assert fitted.selected == after
