"""Updates per second of every method at its paper's widths, and what teacher forcing without a plain loop is worth.

"step by step" computes the same loss by the decoder's own `step`, one word after another, everything inside the loop
(the transformer's step has no gradient: its cell is empty). Both sides run in turn, on the same weights and batch; the
losses must agree. RL phases are timed as a whole update. On a GPU the peak of allocated memory is printed too.

python benchmarks/methods.py [METHOD ...] [--device cuda --words 50000 --source 400 --target 100 --csv FILE]
"""

import argparse
import csv
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from pcov_step import random_batch
from torch import Tensor

from sumcurve.models.batch import Batch
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.training import PhaseSettings
from sumcurve.study.methods import read_method
from sumcurve.systems.families import build
from sumcurve.training import losses, optimization

METHODS = Path(__file__).parents[1] / "config" / "methods"


def step_by_step(model: Summarizer, batch: Batch) -> Tensor:
    """The nll of `losses.loss`, in the plain form."""
    emission, _ = Summarizer.forced(model, batch, model.encode(batch))
    return -losses.example_means(emission.gold(batch.tgt, batch.src_ext), batch.tgt).mean()


class Update:
    """One update of a model by a loss, and how long it takes."""

    def __init__(self, model: Summarizer, phase: PhaseSettings, loss: Callable[[], Tensor]) -> None:
        self.model, self.loss = model, loss
        self.optimizer = optimization.build(phase.optimizer, model.parameters())
        self.device = next(model.parameters()).device.type
        self.seconds: list[float] = []

    def __call__(self, counted: bool) -> float:
        """The loss, without moving the weights far enough to matter: the rate is tiny."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        value = self.loss()
        value.backward()
        for group in self.optimizer.param_groups:
            group["lr"] = 1e-12
        self.optimizer.step()
        found = value.item()
        if counted:
            self.seconds.append(time.perf_counter() - began)
        return found


def measured(method: str, options: argparse.Namespace) -> dict[str, object]:
    """A row of the table for one method."""
    form = read_method(METHODS / f"{method}.yaml").forms["paper"]
    settings = form.model.abstractor if form.model.kind == "extract-rewrite" else form.model
    vocabulary = Vocabulary(f"word{number}" for number in range(options.words - 5))
    batch = random_batch(vocabulary, options.batch, options.source, options.target)
    if getattr(settings, "entity_attention", False):
        batch.salient = torch.zeros(batch.src.shape)
    batch = batch.to(options.device)
    model = build(settings.model_copy(update={"dropout": 0.0}), options.words, 1).to(options.device)
    last = form.training.phases[-1]
    first = form.training.phases[0].model_copy(update={"own_words": 0.0})
    if isinstance(model, RecurrentSummarizer) and any(phase.coverage for phase in form.training.phases):
        model.enable_coverage()
    if options.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    plain_nll = PhaseSettings(name="nll", loss="nll", optimizer=first.optimizer, stop=first.stop)
    forms = {"ours": Update(model, first, lambda: losses.loss(model, batch, plain_nll, vocabulary, options.target))}
    if not isinstance(model, TransformerSummarizer) and not options.only_ours:
        forms["step by step"] = Update(model, first, lambda: step_by_step(model, batch))
    if last.loss not in ("nll", "extraction", "actor-critic"):
        forms["last phase"] = Update(model, last, lambda: losses.loss(model, batch, last, vocabulary, options.target))
    for repetition in range(options.repetitions + 1):
        values = {name: form(counted=repetition > 0) for name, form in forms.items()}
        if "step by step" in values and abs(values["ours"] - values["step by step"]) > 1e-4 * abs(values["ours"]):
            raise SystemExit(f"{method}: the losses differ: {values}")
    medians = {name: statistics.median(form.seconds) for name, form in forms.items()}
    return {
        "method": method,
        "updates_per_second": round(1 / medians["ours"], 3),
        "step_by_step_ratio": round(medians["step by step"] / medians["ours"], 2) if "step by step" in medians else "",
        "last_phase": last.loss if "last phase" in medians else "",
        "last_phase_updates_per_second": round(1 / medians["last phase"], 3) if "last phase" in medians else "",
        "peak_mb": round(torch.cuda.max_memory_allocated() / 2**20) if options.device == "cuda" else "",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "methods",
        nargs="*",
        default=sorted(
            path.stem
            for path in METHODS.glob("*.yaml")
            if not path.stem.startswith("fairseq_") and "paper" in read_method(path).forms
        ),
    )
    sizes = {"repetitions": 2, "batch": 16, "source": 100, "target": 50, "words": 5000, "threads": 1}
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--csv", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(
        f"batch {options.batch}, source {options.source}, target {options.target}, {options.words} words, "
        f"{options.device}, {options.repetitions} interleaved repetitions; fastrl: its abstractor"
    )
    rows = []
    for method in options.methods:
        row = measured(method, options)
        rows.append(row)
        print("  ".join(f"{key} {value}" for key, value in row.items() if value != ""), flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
