"""What tests/papers share: small models of random weights, a batch with every difficulty, and an LSTM by its equations.

References there read weights by their names and words as words; what they know of the project ends with this file.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from invented import build
from sumcurve.models.batch import Batch, collate, encode
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record
from sumcurve.study.methods import read_method

METHODS = Path(__file__).parents[1] / "config" / "methods"
VOCABULARY = Vocabulary("abcdefgh")
# Lengths differ, unknown words stand in several places, in targets alone, and the same slot is another word elsewhere.
PAIRS = (
    ("a b zebra c zebra b d", ("b zebra", "zebra d nowhere")),
    ("yak", ("yak yak e",)),
    ("a a a c d e f g h xenon zebra a", ("a xenon c",)),
    ("h g f e", ("a",)),
)
Weights = Sequence[Tensor]
Reference = Callable[[Any, list[str], list[str]], Sequence[tuple[Any, ...]]]
"""Of a model, a source's words and the decoder's inputs: at every step p(word) by word, the attention, and more."""


def examples(pairs: Sequence[tuple[str, Sequence[str]]] = PAIRS) -> list[tuple[list[str], list[str], list[str]]]:
    """Of every pair the source's words, the decoder's inputs and the words to predict."""
    rows = []
    for source, sentences in pairs:
        target = [*" <sep> ".join(sentences).split(), "<eos>"]
        rows.append((source.split(), ["<bos>", *target[:-1]], target))
    return rows


def batch_of(pairs: Sequence[tuple[str, Sequence[str]]] = PAIRS) -> Batch:
    records = [Record(str(number), [source], list(target)) for number, (source, target) in enumerate(pairs)]
    return collate([encode(record, VOCABULARY, 99, 99) for record in records])


def row(word: str) -> int:
    """Of a word in embeddings and output layers."""
    return VOCABULARY.words.index(word if word in VOCABULARY.words else "<unk>")


def laid_out(probabilities: Mapping[str, Tensor], source: Sequence[str], width: int) -> Tensor:
    """Probabilities of words as a vector over the extended vocabulary, the source's unknown words by appearance.

    A model that cannot copy has no more than the vocabulary.
    """
    order = [*VOCABULARY.words, *(word for word in dict.fromkeys(source) if word not in VOCABULARY.words)][:width]
    known = [probabilities.get(word, torch.zeros((), dtype=torch.double)) for word in order]
    return torch.cat((torch.stack(known), torch.zeros(width - len(order), dtype=torch.double)))


def settings(method: str, **changes: Any) -> Any:
    """Of the model of a method's form `paper`, with other widths."""
    return read_method(METHODS / f"{method}.yaml").forms["paper"].model.model_copy(update=changes)


def phase(method: str, name: str) -> PhaseSettings:
    phases = read_method(METHODS / f"{method}.yaml").forms["paper"].training.phases
    return next(one for one in phases if one.name == name)


def rough(model: nn.Module, deviation: float = 0.4) -> Any:
    """The model in double precision, far from its initialisation; none of its parameters is zero."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.double().parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.double) * deviation)
    return model.eval()


def model_of(method: str, **changes: Any) -> Any:
    return rough(build(settings(method, **changes), len(VOCABULARY), 1))


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)


def same_gradients(found: Tensor, expected: Tensor, model: nn.Module) -> dict[str, Tensor | None]:
    """Of two losses, in every parameter; none is 0 but where a parameter has no part in either. By name."""
    names = [name for name, _ in model.named_parameters()]
    pairs = [torch.autograd.grad(loss, list(model.parameters()), allow_unused=True) for loss in (found, expected)]
    for name, one, other in zip(names, *pairs, strict=True):
        assert (one is None) == (other is None), name
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=lambda why, name=name: f"{name}: {why}")
            assert one.abs().max() > 1e-9, name
    return dict(zip(names, pairs[0], strict=True))


@torch.no_grad()
def says(model: Any, reference: Reference) -> None:
    """Assert that a model's distributions and attention are those of the reference, at every step of every example.

    By teacher forcing, and step by step as searches have them; what is padding or another example's word has nothing.
    """
    batch = batch_of()
    memory = model.encode(batch)
    expected = [(source, reference(model, source, inputs)) for source, inputs, _ in examples()]
    for emission, attention in (model.forced(batch, memory), Summarizer.forced(model, batch, memory)):
        found = emission.dist(batch.src_ext, batch.n_ext).exp()
        for number, (source, steps) in enumerate(expected):
            for t, (p, a, *_) in enumerate(steps):
                same(found[number, t], laid_out(p, source, found.shape[2]))
                same(attention[number, t, : len(source)], a)
                assert (attention[number, t, len(source) :] == 0).all()


def mean_nll(model: Any, reference: Reference, rows: Sequence[tuple[list[str], list[str], list[str]]]) -> Tensor:
    """-log p of the words, averaged over an example's words and then over examples."""
    means = []
    for source, inputs, target in rows:
        steps = reference(model, source, inputs)
        logp = [(p[word] if word in p else p["<unk>"]).log() for word, (p, *_) in zip(target, steps, strict=True)]
        means.append(-sum(logp) / len(logp))
    return sum(means) / len(means)


# --- what the papers take for granted


def softmax(scores: Sequence[Tensor]) -> Tensor:
    exponentials = torch.stack(list(scores)).exp()
    return exponentials / exponentials.sum()


def weighted(weights: Sequence[Tensor] | Tensor, vectors: Sequence[Tensor]) -> Tensor:
    return sum((weight * vector for weight, vector in zip(weights, vectors, strict=True)), torch.zeros(()).double())


def lstm(weights: Weights, inputs: Sequence[Tensor], h: Tensor, c: Tensor) -> list[tuple[Tensor, Tensor]]:
    """h and c of every step; gates i, f, g, o one under another (Hochreiter and Schmidhuber 1997, Gers et al. 2000)."""
    w, u, b, second = weights
    steps = []
    for x in inputs:
        i, f, g, o = (w @ x + u @ h + b + second).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        steps.append((h, c))
    return steps


def both_ways(layer: Any, inputs: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """States [forward; backward] of every input, and [forward; backward] of the last h and of the last c."""
    there, back = layer.all_weights
    zeros = torch.zeros(2, layer.hidden_size, dtype=torch.double)
    first_h, first_c = (zeros if start is None else start for start in (layer.start_h, layer.start_c))
    forward = lstm(there, inputs, first_h[0], first_c[0])
    backward = lstm(back, inputs[::-1], first_h[1], first_c[1])[::-1]
    states = [torch.cat((one[0], other[0])) for one, other in zip(forward, backward, strict=True)]
    return states, [torch.cat((forward[-1][part], backward[0][part])) for part in (0, 1)]
