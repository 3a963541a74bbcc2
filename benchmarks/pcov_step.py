"""A training step of the pointer-generator with coverage against its published formulation, same weights.

Theirs: one step after another does everything (attention, vocabulary, gate), probabilities are scattered
onto the extended vocabulary [B, V + O] at every step, and the gold word's is gathered from them (See et al.
2017, equations 1-13). Ours: `Summarizer.gold`. Both losses are printed; they must agree to 1e-5.

python benchmarks/pcov_step.py [--repetitions 3] [--batch 16 --source 400 --target 100 --words 50000]
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.models.batch import Batch, collate, encode
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.settings.models import RecurrentSettings
from sumcurve.store.records import Record
from sumcurve.study.doors import MODELS
from sumcurve.training.losses import coverage, example_means


def random_batch(vocabulary: Vocabulary, size: int, source: int, target: int) -> Batch:
    rng = random.Random(0)
    examples = []
    for number in range(size):
        words = [
            f"unseen{rng.randrange(60)}" if rng.random() < 0.05 else rng.choice(vocabulary.words[5:])
            for _ in range(source - rng.randrange(source // 5))
        ]
        summary = [rng.choice(words) for _ in range(target - 1 - rng.randrange(target // 3))]
        record = Record(str(number), [" ".join(words)], [" ".join(summary)])
        examples.append(encode(record, vocabulary, source, target))
    return collate(examples)


def ours(model: RecurrentSummarizer, batch: Batch) -> Tensor:
    logp, attention = model.gold(batch, model.encode(batch))
    assert attention is not None
    return (example_means(coverage(attention), batch.tgt) - example_means(logp, batch.tgt)).mean()


def theirs(model: RecurrentSummarizer, batch: Batch) -> Tensor:
    """The published equations, in their order, on the weights of `model`."""
    m = model
    assert m.keys is not None
    assert m.merge is not None
    assert m.gate is not None
    memory = m.encode(batch)
    states, keys = memory.states, memory.cache["keys"]
    h, c = memory.cache["h0"], memory.cache["c0"]
    context = states.new_zeros(len(batch), states.shape[2])
    covered = states.new_zeros(batch.src.shape)
    slots = int(batch.n_ext.max())
    losses, penalties = [], []
    for t in range(batch.inp.shape[1]):
        x = m.merge(torch.cat((m.embedding(batch.inp[:, t]), context), 1))
        gates = functional.linear(x, m.decoder.weight_ih_l0, m.decoder.bias_ih_l0) + functional.linear(
            h, m.decoder.weight_hh_l0, m.decoder.bias_hh_l0
        )
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        query = m.query(torch.cat((h, c), 1)).unsqueeze(1)
        scores = torch.tanh(keys + query + covered.unsqueeze(2) * m.w_coverage) @ m.v
        attention = scores.masked_fill(~memory.mask, -torch.inf).softmax(1)
        context = (attention.unsqueeze(1) @ states).squeeze(1)
        penalties.append(torch.minimum(attention, covered).sum(1))
        covered = covered + attention
        generate = m.gate(torch.cat((context, c, h, x), 1)).sigmoid()
        words = m.output(m.combine(torch.cat((h, context), 1))).softmax(1)
        extended = functional.pad(generate * words, (0, slots))
        final = extended.scatter_add(1, batch.src_ext, (1 - generate) * attention)
        losses.append(-final.gather(1, batch.tgt[:, t : t + 1]).squeeze(1).log())
    real = batch.tgt != PAD
    total = (torch.stack(losses, 1) + torch.stack(penalties, 1)).masked_fill(~real, 0.0)
    return (total.sum(1) / real.sum(1)).mean()


def timed(loss: Callable[[], Tensor], model: RecurrentSummarizer) -> tuple[float, float]:
    """Seconds of one forward and backward pass, and the loss."""
    model.zero_grad(set_to_none=True)
    begin = time.perf_counter()
    value = loss()
    value.backward()
    if next(model.parameters()).device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin, value.item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (
        ("repetitions", 3),
        ("batch", 16),
        ("source", 400),
        ("target", 100),
        ("words", 50_000),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = RecurrentSettings(
        kind="recurrent",
        embedding=128,
        hidden=256,
        feed="merged",
        query="hc",
        copy_attention=True,
        coverage=True,
    )
    vocabulary = Vocabulary(f"word{number}" for number in range(options.words - 5))
    model = MODELS[settings.kind].build(settings, len(vocabulary), seed=1)
    assert isinstance(model, RecurrentSummarizer)
    assert model.w_coverage is not None
    with torch.no_grad():
        model.w_coverage.normal_(generator=torch.Generator().manual_seed(2))
    model = model.to(options.device)
    batch = random_batch(vocabulary, options.batch, options.source, options.target).to(options.device)

    forms = {"step by step, scattered": theirs, "sumcurve": ours}
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    losses: dict[str, float] = {}
    for repetition in range(options.repetitions + 1):
        for name, form in forms.items():
            elapsed, losses[name] = timed(lambda form=form: form(model, batch), model)
            if repetition:  # the first warms up
                seconds[name].append(elapsed)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    lengths = f"source {batch.src.shape[1]}, target {batch.tgt.shape[1]}"
    where = f"{options.device}, {options.threads} thread(s), {options.repetitions} interleaved repetitions"
    print(f"batch {len(batch)}, {lengths}, {len(vocabulary)} words, {where}")
    for name in forms:
        print(f"{name:24} {medians[name]:8.3f} s   loss {losses[name]:.6f}")
    first, second = losses.values()
    if abs(first - second) > 1e-5 * max(1.0, abs(first)):
        raise SystemExit(f"the losses differ by {abs(first - second):.1e}")
    slow, fast = medians.values()
    print(f"ratio {slow / fast:.2f}")


if __name__ == "__main__":
    main()
