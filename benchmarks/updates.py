"""One update of a method's small form by each setting of sums: processor milliseconds, side by side, and the loss.

Each setting has a process of its own, since sums are pinned before torch is loaded; they take turns, a round each, so
that what else the machine does meets all of them. A part is its forward and backward pass by itself, from what the part
before it gave: `encoder`, `decoder` (up to the readouts), `output` (vocabulary, copying, losses), `optimizer` (norm,
clipping, step). `update` is all of it in one, and `ratio` its share of the first setting's. Every figure is the least
of its rounds. Losses are of the same weights and batch, without dropout; they must agree to 1e-5.

python benchmarks/updates.py [METHOD ...] [--sums portable compiled native] [--rounds 8 --updates 5] [--last]
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast, get_args

from sumcurve.machine import memory
from sumcurve.numerics import sums

METHODS = Path(__file__).parents[1] / "config" / "methods"
SOURCE, TARGET, WORDS = 50, 20, 4000
SETTINGS = get_args(sums.Sums)
PARTS = ("encoder", "decoder", "output", "optimizer", "update")


def measured(name: str, last: bool, updates: int) -> Iterator[dict[str, float]]:
    """The loss and, by part, the least processor milliseconds of so many updates; one round for every `next`."""
    import torch

    from sumcurve.models.batch import collate, encode
    from sumcurve.models.summarizer import Memory, ReadoutSummarizer
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.store.records import Record
    from sumcurve.study.doors import MODELS
    from sumcurve.study.methods import read_method
    from sumcurve.training import losses, optimization

    torch.set_num_threads(1)
    form = read_method(METHODS / f"{name}.yaml").forms["small"]
    phase = form.training.phases[-1 if last else 0]
    rng = random.Random(0)
    vocabulary = Vocabulary(f"w{number}" for number in range(WORDS - 5))
    examples = []
    for number in range(form.training.batch):
        words = [f"w{rng.randrange(WORDS + 100)}" for _ in range(SOURCE)]
        target = [rng.choice(words) for _ in range(TARGET - 1)]
        record = Record(str(number), [" ".join(words)], [" ".join(target)])
        examples.append(encode(record, vocabulary, SOURCE, TARGET))
    batch = collate(examples)
    model = MODELS[form.model.kind].build(form.model, len(vocabulary), seed=1)
    assert isinstance(model, ReadoutSummarizer)
    if phase.coverage:
        model.enable_coverage()
    optimizer = optimization.build(phase.optimizer, model.parameters())
    for group in optimizer.param_groups:
        group["lr"] = 0.0

    def loss() -> Any:
        return losses.loss(model, batch, phase, vocabulary, TARGET)

    def step() -> None:
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
        torch.nn.utils.clip_grads_with_norm_(model.parameters(), phase.optimizer.clip_norm or 1e9, norm)
        optimizer.step()

    def update() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        step()

    def of_encoder() -> None:
        memory = model.encode(batch)
        sum(part.sum() for part in (memory.states, *memory.cache.values()) if part.requires_grad).backward()

    def leaf(tensor: Any) -> Any:
        return tensor if tensor is None else tensor.detach().requires_grad_(tensor.is_floating_point())

    model.eval()
    value = loss().item()
    model.train()
    given = model.encode(batch)
    memory = Memory(
        leaf(given.states), given.mask, {k: leaf(v) for k, v in given.cache.items()}, leaf(given.output_rows)
    )
    made = model.readout(batch, memory, attention=True)
    readout = type(made)(*(leaf(part) for part in (made.states, made.copy_logp, made.gate, made.attention)))
    whole = model.encode, model.readout

    def of_decoder() -> None:
        found = model.readout(batch, memory, attention=phase.loss == "nll+coverage")
        parts = [found.states, found.copy_logp, found.gate]
        sum(part.sum() for part in parts if part is not None).backward()

    def of_output() -> None:
        model.encode, model.readout = lambda batch: memory, lambda batch, memory, attention: readout
        loss().backward()
        model.encode, model.readout = whole

    of: dict[str, Callable[[], None]] = dict(zip(PARTS, (of_encoder, of_decoder, of_output, step, update), strict=True))
    while True:
        least = dict.fromkeys(PARTS, float("inf"))
        for _ in range(updates):
            for part, call in of.items():
                began = time.process_time_ns()
                call()
                least[part] = min(least[part], (time.process_time_ns() - began) / 1e6)
        yield {"loss": value, **least}


def child(name: str, last: bool, updates: int, chosen: str) -> None:
    """A round for every line that comes."""
    memory.keep_freed()
    sums.apply(cast("sums.Sums", chosen))
    rounds = measured(name, last, updates)
    for _ in sys.stdin:
        print(json.dumps(next(rounds)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=["abs", "pcov", "trans"])
    parser.add_argument("--sums", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--updates", type=int, default=5, help="of a round")
    parser.add_argument("--last", action="store_true", help="the last phase in place of the first")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.methods[0], options.last, options.updates, options.sums[0])
        return
    for name in options.methods:
        command = [sys.executable, __file__, name, "--child", "--updates", str(options.updates)]
        command += ["--last"] * options.last
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        children = {chosen: subprocess.Popen([*command, "--sums", chosen], **pipes) for chosen in options.sums}
        least: dict[str, dict[str, float]] = {}
        for _ in range(options.rounds):
            for chosen, process in children.items():
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write("\n")
                process.stdin.flush()
                found = json.loads(process.stdout.readline())
                least[chosen] = {key: min(value, least.get(chosen, found)[key]) for key, value in found.items()}
        for process in children.values():
            process.communicate()
        print(f"{name:12}" + "".join(f"{part:>10}" for part in ("loss", *PARTS, "ratio")))
        for chosen, values in least.items():
            ratio = values["update"] / least[options.sums[0]]["update"]
            of_parts = "".join(f"{values[part]:10.1f}" for part in PARTS)
            print(f"  {chosen:10}{values['loss']:10.5f}{of_parts}{ratio:10.2f}")
        if len({round(values["loss"], 4) for values in least.values()}) > 1:
            first, *others = (values["loss"] for values in least.values())
            if any(abs(other - first) > 1e-5 * abs(first) for other in others):
                raise SystemExit(f"{name}: losses differ")


if __name__ == "__main__":
    main()
