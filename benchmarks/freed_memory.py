"""Processor time of an update where the process keeps the memory that it frees, against glibc's own ways.

Both sides have a process each, which take turns on the same batch: 32 sources of up to 50 words, targets of up to 20, a
vocabulary of 4,000, the form `small`, portable sums. Losses must be equal. Page faults stand beside the seconds.

    python benchmarks/freed_memory.py [METHOD ...] [--turns 10 --updates 10]
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from sumcurve.machine import memory, sums

METHODS = Path(__file__).parents[1] / "config" / "methods"


def work(method: str, keeps: bool) -> None:
    """Print seconds and page faults of an update, and the last loss, for each number of updates that is read."""
    if keeps:
        memory.keep_freed()
    sums.apply("portable")
    import torch
    from pcov_step import random_batch

    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.study.methods import read_method
    from sumcurve.systems.families import build
    from sumcurve.training import losses, optimization

    torch.set_num_threads(1)
    form = read_method(METHODS / f"{method}.yaml").forms["small"]
    phase, vocabulary = form.training.phases[0], Vocabulary(f"word{number}" for number in range(3995))
    model, batch = build(form.model, len(vocabulary), seed=1), random_batch(vocabulary, 32, 50, 20)
    optimizer = optimization.build(phase.optimizer, model.parameters())
    torch.manual_seed(1)
    for line in sys.stdin:
        updates = int(line)
        began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(updates):
            optimizer.zero_grad(set_to_none=True)
            loss = losses.loss(model, batch, phase, vocabulary, 20)
            loss.backward()
            optimizer.step()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        print((time.process_time() - began) / updates, faults / updates, loss.item(), flush=True)


def asked(process: subprocess.Popen[str], updates: int) -> tuple[float, float, float]:
    assert process.stdin is not None
    assert process.stdout is not None
    print(updates, file=process.stdin, flush=True)
    seconds, faults, loss = map(float, process.stdout.readline().split())
    return seconds, faults, loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=["abs", "pcov", "trans"])
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--updates", type=int, default=10)
    parser.add_argument("--work", choices=("kept", "given-back"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.methods[0], options.work == "kept")
        return
    for method in options.methods:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        sides = {
            side: subprocess.Popen([sys.executable, __file__, method, "--work", side], **pipes)
            for side in ("given-back", "kept")
        }
        turns: dict[str, list[tuple[float, float, float]]] = {side: [] for side in sides}
        for turn in range(options.turns + 1):
            for side, process in sides.items():
                measured = asked(process, options.updates)
                if turn:  # the first warms up
                    turns[side].append(measured)
        losses = {turn[-1][2] for turn in turns.values()}
        if len(losses) > 1:
            raise SystemExit(f"{method}: the losses differ: {losses}")
        ratio = statistics.median(k[0] / g[0] for g, k in zip(turns["given-back"], turns["kept"], strict=True))
        for side, rows in turns.items():
            seconds, faults = (statistics.median(row[place] for row in rows) for place in (0, 1))
            print(f"{method:6} {side:10} {1000 * seconds:7.1f} ms of a core, {faults:7,.0f} page faults an update")
        print(f"{method:6} kept takes {ratio:.2f} of the time, same loss")
        for process in sides.values():
            process.communicate()


if __name__ == "__main__":
    main()
