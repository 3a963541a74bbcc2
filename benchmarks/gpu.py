"""What a GPU does with every method at its paper's widths, in one command of at most eight minutes.

For every method, phase and precision: updates per second (device synchronised, batches made and copied as in training)
and the peak of allocated memory. For every method and precision: whether losses of some updates are those of this
machine's CPU in single precision, on the same few records without dropout, and whether a training that was killed with
SIGKILL goes on to the bytes of one that was not. Data are generated; weights start at random.

Losses that draw words or sentences are compared without their draws: own words off, the nll of "mixed", choices drawn
once for actor-critic. They agree where the largest relative difference over updates is at most 0.001 in single
precision and 0.03 in bf16. A resumed training whose bytes differ is shown with its largest difference in a weight, and
beside it that of two uninterrupted trainings (atomic additions on a GPU have no order); if those do not differ, the
resumption is wrong.

Time is shared among the methods; what did not fit is listed. The exit status is 1 where something failed or differs.
Needs torch, numpy, scipy, numba, pydantic, pyyaml, safetensors, zstandard and tqdm, no network and no installation:

PYTHONPATH=src python benchmarks/gpu.py [METHOD ...] [--device cuda --seconds 480 --json FILE]
"""

import argparse
import csv
import gc
import json
import math
import multiprocessing
import os
import platform
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from sumcurve.capabilities.extract_rewrite.learner import ExtractRewriteLearner, RewardedBatch, actor_critic, look_up
from sumcurve.machine import devices
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record
from sumcurve.study.doors import MODELS
from sumcurve.study.methods import read_method
from sumcurve.training import optimization
from sumcurve.training.fit import fit
from sumcurve.training.learner import Learner
from sumcurve.training.run import read_state, write_state

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "config" / "methods"
PUBLISHED = ROOT / "src" / "sumcurve" / "curves" / "published" / "cano_bojar_2020_table2.csv"
OF_THE_HUB = {path.stem for path in CONFIG.glob("*.yaml") if "  kind: transformers\n" in path.read_text()}
METHODS = sorted({path.stem for path in CONFIG.glob("*.yaml")} - OF_THE_HUB)
TOLERANCE = {"single": 1e-3, "tf32": 1e-2, "bf16": 3e-2}
CONTEXT_MIB = 500  # of every process that uses a card, beside what torch allocates
ROOM = 0.9  # of a card's memory may be given to runs
CPU = torch.device("cpu")
SEED = 1


@dataclass(frozen=True)
class Sizes:
    """Words of a source, of its sentences and of a target; records; updates that are timed, compared and resumed."""

    form: str
    words: int | None  # of the vocabulary; None: the method's own number
    batch: int | None
    source: int
    sentence: int
    target: int
    timed: int
    timed_seconds: float
    compared: int
    compared_records: int
    resumed_records: int


PAPER = Sizes("paper", None, None, 400, 20, 100, 20, 2.0, 2, 4, 4)
SMALL = Sizes("smoke", 60, 4, 24, 6, 8, 1, 0.0, 2, 3, 4)


@dataclass
class Row:
    """One phase of one method in one precision; empty where there was no time."""

    method: str
    phase: str
    precision: str
    updates_per_second: float | None = None
    batch: int | None = None
    peak_mib: float | None = None
    carried: int | None = (
        None  # runs that have room on the card together; what each then makes a second was not measured
    )


@dataclass
class Check:
    """One method in one precision: `difference` from the CPU's losses; `resumed` from an uninterrupted training's
    weights, and `repeated`, two of them from one another (None where bytes are the same and nobody asked)."""

    method: str
    precision: str
    difference: float | None = None
    resumed: float | None = None
    repeated: float | None = None


@dataclass
class Report:
    """All that was found, as it goes into the JSON file."""

    machine: dict[str, str]
    sizes: dict[str, Any]
    tolerance: dict[str, float]
    rows: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


def generated(count: int, sizes: Sizes, words: Sequence[str], seed: int) -> list[Record]:
    """Records of sentences whose summaries begin some of them; every twentieth word is in no vocabulary."""
    rng = random.Random(seed)

    def word() -> str:
        return f"unseen{rng.randrange(60)}" if rng.random() < 0.05 else rng.choice(words)

    records = []
    for number in range(count):
        length = sizes.source - rng.randrange(sizes.source // 5)
        drawn = [word() for _ in range(length)]
        source = [" ".join(drawn[start : start + sizes.sentence]) for start in range(0, length, sizes.sentence)]
        told = max(1, sizes.target // sizes.sentence)
        chosen = sorted(rng.sample(range(len(source)), min(told, len(source))))
        target = [" ".join(source[index].split(" ")[: sizes.sentence - 2]) for index in chosen]
        records.append(Record(f"{seed}-{number}", source, target))
    return records


@contextmanager
def placed(device: torch.device) -> Iterator[None]:
    """Deterministic on a CPU as trainings are; the device's memory is given back afterwards."""
    torch.use_deterministic_algorithms(device.type == "cpu")
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()


def precisions(device: torch.device) -> tuple[str, ...]:
    """Those that mean something there: to a CPU TF32 is single precision."""
    return tuple(name for name in TOLERANCE if name != "tf32" or device.type == "cuda")


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def form_of(method: str, sizes: Sizes) -> Form:
    return read_method(CONFIG / f"{method}.yaml").forms[sizes.form]


def without_dropout(form: Form) -> Form:
    return form.model_copy(update={"model": form.model.with_dropout(0.0)})


def learner_for(form: Form, sizes: Sizes, count: int, device: torch.device) -> Learner:
    """A new learner over `count` generated records, the first of which it validates on, too."""
    vocabulary = Vocabulary(f"word{number}" for number in range((sizes.words or form.training.vocabulary) - 5))
    records = generated(count, sizes, vocabulary.words[5:], SEED)
    salient = [[(0, 2)] for _ in records]
    run: Any = SimpleNamespace(
        form=form,
        specification={"seed": SEED},
        lengths=(sizes.source, sizes.target),
        records=records,
        valid=records[:2],
        vocabulary=vocabulary,
        device=device,
        search=Search(beam=1, max_tokens=sizes.target, block_ngram=0),
        salient=lambda part: iter(salient),
    )
    return MODELS[form.model.kind].learner(run)


class Updates:
    """A phase's updates, as `fit` makes them, without its validations."""

    def __init__(self, learner: Learner, phase: PhaseSettings, precision: str, device: torch.device) -> None:
        self.learner, self.phase, self.precision, self.device = learner, phase, precision, device
        self.parameters = learner.parameters(phase)
        self.optimizer = optimization.build(phase.optimizer, self.parameters)
        self.schedule = optimization.Schedule(phase.optimizer, phase.stop.max_updates)
        self.done = 0
        learner.model.train()

    def __call__(self, items: Sequence[Any], loss_of: Callable[[Any, PhaseSettings], Tensor]) -> Tensor:
        """One update; its loss, still on the device."""
        self.done += 1
        devices.allow_tf32(self.precision == "tf32")
        self.optimizer.zero_grad(set_to_none=True)
        batch = self.learner.collate(items, self.phase).to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            loss = loss_of(batch, self.phase)
        loss.backward()
        if self.phase.optimizer.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.phase.optimizer.clip_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.rate(self.done)
        self.optimizer.step()
        return loss.detach()


def speed(method: str, precision: str, sizes: Sizes, device: torch.device, most_seconds: float) -> Iterator[Row]:
    """Every phase's updates per second, after one that is not counted, and its peak of memory."""
    form = form_of(method, sizes)
    batch = sizes.batch or form.training.batch
    with placed(device):
        learner = learner_for(form, sizes, 2 * batch, device)
        for phase in form.training.phases:
            learner.switch(phase)
            learner.model.eval()
            items = list(learner.prepare(phase))
            updates = Updates(learner, phase, precision, device)
            if device.type == "cuda":
                torch.cuda.reset_peak_memory_stats(device)

            def update(number: int, items: list[Any] = items, updates: Updates = updates) -> None:
                start = number * batch % max(1, len(items) - batch + 1)
                updates(items[start : start + batch], learner.loss)

            update(0)
            wait(device)
            began, done = time.perf_counter(), 0
            while done < sizes.timed and (not done or time.perf_counter() - began < most_seconds):
                done += 1
                update(done)
                wait(device)
            seconds = time.perf_counter() - began
            peak = torch.cuda.max_memory_allocated(device) / 2**20 if device.type == "cuda" else None
            whole = torch.cuda.get_device_properties(device).total_memory / 2**20 if peak else 0.0
            carried = max(1, int(ROOM * whole / (peak + CONTEXT_MIB))) if peak else None
            yield Row(method, phase.name, precision, done / seconds, min(batch, len(items)), peak, carried)
            updates.optimizer.zero_grad(set_to_none=True)


def losses_of(learners: Sequence[Learner], phase: PhaseSettings) -> list[Callable[[Any, PhaseSettings], Tensor]]:
    """The phase's loss for each learner, the same without a random number; for actor-critic with the choices that the
    first learner draws at the beginning."""
    if phase.loss != "actor-critic":
        return [learner.loss for learner in learners]
    choices: dict[int, Tensor] = {}

    def fixed(learner: ExtractRewriteLearner) -> Callable[[Any, PhaseSettings], Tensor]:
        def loss(batch: RewardedBatch, phase: PhaseSettings) -> Tensor:
            slots = learner.model.extractor.encode(batch.documents)
            with torch.autocast(learner.device.type, enabled=False):
                if 0 not in choices:
                    choices[0] = learner.model.sample(learner.model.with_stop(slots)).cpu()
                drawn = choices[0].to(learner.device)
                assert phase.discount is not None
                policy, value = actor_critic(learner.model, slots, drawn, look_up(batch, drawn), phase.discount)
                return policy + value

        return loss

    return [fixed(learner) for learner in learners if isinstance(learner, ExtractRewriteLearner)]


def differences(method: str, sizes: Sizes, device: torch.device) -> dict[str, float]:
    """By precision, the largest relative difference from the CPU's losses in single precision, over all phases."""
    form = without_dropout(form_of(method, sizes))
    sizes = replace(sizes, source=min(sizes.source, 200), target=min(sizes.target, 50))  # for the CPU's sake
    worst = dict.fromkeys(precisions(device), 0.0)
    with placed(device):
        torch.manual_seed(SEED)
        places = [(CPU, "single"), *((device, precision) for precision in worst)]
        learners = [learner_for(form, sizes, sizes.compared_records, place) for place, _ in places]
        for phase in form.training.phases:
            drawless = {"own_words": 0.0} | ({"reward_weight": 0.0} if phase.loss == "mixed" else {})
            compared = phase.model_copy(update=drawless)
            for learner in learners:
                learner.switch(compared)
                learner.model.eval()
            # Preparing may set weights and reads others: all go on from the CPU's, with the CPU's items.
            items = list(learners[0].prepare(compared))[: sizes.compared_records]
            for learner in learners[1:]:
                learner.model.load_state_dict(learners[0].model.state_dict())
            updates = [
                Updates(learner, compared, precision, place)
                for learner, (place, precision) in zip(learners, places, strict=True)
            ]
            losses = losses_of(learners, compared)
            for _ in range(sizes.compared):
                cpu, *others = [update(items, loss).item() for update, loss in zip(updates, losses, strict=True)]
                for precision, other in zip(worst, others, strict=True):
                    gap = abs(other - cpu) / max(abs(cpu), 1e-3)
                    worst[precision] = max(worst[precision], gap) if math.isfinite(gap) else math.inf
    return worst


def trained(
    method: str, precision: str, sizes: Sizes, device: torch.device, state: Path | None, die: bool
) -> dict[str, Tensor]:
    """Weights after a few updates of every phase, with dropout and draws.

    With `die` the process kills itself when the last phase has made half its updates and its state is kept.
    """
    form = form_of(method, sizes)
    stop = {"every_updates": 1, "every_epochs": 1e-6, "patience": 100, "max_updates": 2}
    phases = [phase.model_copy(update={"stop": phase.stop.model_copy(update=stop)}) for phase in form.training.phases]
    training = form.training.model_copy(
        update={"phases": phases, "precision": precision, "batch": sizes.resumed_records // 2, "accumulate": 1}
    )

    def keep(kept: dict[str, Any]) -> None:
        if state is not None:
            write_state(state, kept)
            if die and kept["phase"] == len(phases) - 1 and kept["update"] == 1:
                os.kill(os.getpid(), signal.SIGKILL)

    with placed(device):
        learner = learner_for(form, sizes, sizes.resumed_records, device)
        resume = read_state(state, print) if state is not None else None
        fitted = fit(learner, training, seed=SEED, clock=lambda: 0.0, device=device, resume=resume, keep=keep)
    return fitted.weights


def until_killed(method: str, precision: str, sizes: Sizes, device: str, threads: int, state: Path) -> None:
    """What a process of its own does."""
    torch.set_num_threads(threads)
    if device == "cuda":
        devices.allow_tf32(precision == "tf32")
    trained(method, precision, sizes, torch.device(device), state, die=True)


def farthest(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    """The largest difference of two sets of weights; 0 for the same bytes."""
    if all(torch.equal(one[name], other[name]) for name in one):
        return 0.0
    return max((one[name].double() - other[name].double()).abs().max().item() for name in one)


def resumed(method: str, precision: str, sizes: Sizes, device: torch.device) -> tuple[float, float | None]:
    """How far a killed and resumed training ends from an uninterrupted one; if at all, how far two of those do."""
    sizes = replace(sizes, source=min(sizes.source, 100), target=min(sizes.target, 30))
    spawning = multiprocessing.get_context("forkserver")
    spawning.set_forkserver_preload(["torch._dynamo", "sumcurve.training.run"])
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.pt"
        given = (method, precision, sizes, device.type, torch.get_num_threads(), state)
        child = spawning.Process(target=until_killed, args=given)
        child.start()
        child.join(60)
        if child.exitcode != -signal.SIGKILL:
            child.kill()
            raise RuntimeError(f"the training to be killed ended with {child.exitcode}")
        after = trained(method, precision, sizes, device, state, die=False)
    whole = trained(method, precision, sizes, device, None, die=False)
    gap = farthest(after, whole)
    return gap, farthest(trained(method, precision, sizes, device, None, die=False), whole) if gap else None


class Budget:
    """Which tasks there is time for: a method has its share, and nothing begins that would not end in time, by the
    longest of its kind so far."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.until = self.end  # of the present method
        self.longest: dict[str, float] = {}

    def share(self, among: int) -> None:
        """Give the next of `among` methods its part of what is left."""
        now = time.monotonic()
        self.until = now + (self.end - now) / among

    def allows(self, kind: str) -> bool:
        now = time.monotonic()
        return now < self.until and now + self.longest.get(kind, 0.0) < self.end

    def spent(self, kind: str, began: float) -> None:
        self.longest[kind] = max(self.longest.get(kind, 0.0), time.monotonic() - began)


def measure(method: str, sizes: Sizes, device: torch.device, budget: Budget, report: Report) -> None:
    """All of one method, the most telling first; what there is no time for is left out, what fails is told."""
    checks = {precision: Check(method, precision) for precision in precisions(device)}
    report.checks += checks.values()

    def timed(precision: str) -> None:
        for row in speed(method, precision, sizes, device, sizes.timed_seconds):
            report.rows.append(row)

    def compared() -> None:
        for precision, found in differences(method, sizes, device).items():
            checks[precision].difference = found
        for precision, check in checks.items():
            if check.difference is None or not check.difference <= TOLERANCE[precision]:
                raise ValueError(f"{precision} differs by {check.difference:.2g}, above {TOLERANCE[precision]:g}")

    def killed(precision: str) -> None:
        check = checks[precision]
        check.resumed, check.repeated = resumed(method, precision, sizes, device)
        if check.resumed and not check.repeated:
            raise ValueError(f"weights differ by {check.resumed:.2g} where uninterrupted trainings do not differ")

    tasks: list[tuple[str, str, Callable[[], None]]] = [
        *(("speed and memory", precision, partial(timed, precision)) for precision in checks),
        ("losses against the CPU's", "all precisions", compared),
        *(("resume", precision, partial(killed, precision)) for precision in checks),
    ]
    for kind, precision, task in tasks:
        what = f"{method}, {precision}: {kind}"
        if not budget.allows(kind):
            report.left_out.append(what)
            continue
        began = time.monotonic()
        try:
            task()
        except Exception as error:  # one method's failure must not cost the others' figures
            reason = (str(error).splitlines() or [""])[0]
            report.failed.append(f"{what}: {type(error).__name__}: {reason}")
        budget.spent(kind, began)


def table(report: Report) -> str:
    """Markdown: one line per method, phase and precision; checks stand at a method's last phase."""

    def cell(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    def resume(check: Check) -> str:
        if check.resumed is None:
            return ""
        if not check.resumed:
            return "same bytes"
        return f"{check.resumed:.1e} (two runs: {check.repeated:.1e})"

    lines = [
        "| method | phase | precision | batch | updates/s | peak MiB | runs a card | loss against CPU | resumed |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for check in report.checks:
        own = [row for row in report.rows if (row.method, row.precision) == (check.method, check.precision)]
        for row in own or [Row(check.method, "", check.precision)]:
            last = not own or row is own[-1]
            cells = [
                row.method,
                row.phase,
                row.precision,
                cell(row.batch, "d"),
                cell(row.updates_per_second, ".3g"),
                cell(row.peak_mib, ".0f"),
                cell(row.carried, "d"),
                cell(check.difference, ".1e") if last else "",
                resume(check) if last else "",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    for title, texts in (("Left out for want of time", report.left_out), ("Failed", report.failed)):
        if texts:
            lines += ["", f"{title}:", "", *(f"- {text}" for text in texts)]
    return "\n".join(lines)


def table2(report: Report, epochs: float) -> str:
    """Markdown: hours that the trainings of Čano and Bojar 2020, Table 2, would take by the updates per second found.

    Of each method the fastest precision, alone on the card, `epochs` of its first phase and one of each later one: how
    many a training needs is not known before it ends. Lengths are those of CNN/DailyMail; OAGS's are shorter.
    """
    lines = [
        f"| corpus | method | records | precision | hours: {epochs:g} epochs, 1 of later phases | hours as published |",
        "| --- | --- | ---: | --- | ---: | ---: |",
    ]
    found, published, many = 0.0, 0.0, 0
    with PUBLISHED.open() as stream:
        for one in csv.DictReader(stream):
            hours = {}
            for precision in {row.precision for row in report.rows}:
                rows = [row for row in report.rows if (row.method, row.precision) == (one["method"].lower(), precision)]
                if rows and all(row.updates_per_second and row.batch for row in rows):
                    times = [epochs, *[1.0] * (len(rows) - 1)]
                    hours[precision] = sum(
                        many * int(one["records"]) / row.batch / row.updates_per_second / 3600
                        for many, row in zip(times, rows, strict=True)
                    )
            if hours:
                best, told = min(hours, key=hours.__getitem__), float(one["train_seconds"]) / 3600
                found, published, many = found + hours[best], published + told, many + 1
                cells = [one["corpus"], one["method"], f"{int(one['records']):,}", best]
                lines.append(f"| {' | '.join(cells)} | {hours[best]:.1f} | {told:.1f} |")
    return "\n".join([*lines, f"| all {many} | | | | {found:.1f} | {published:.1f} |"])


def run(options: argparse.Namespace) -> Report:
    """The report of all methods, within `options.seconds`."""
    began, budget = time.monotonic(), Budget(options.seconds)
    device = torch.device(options.device)
    sizes = SMALL if options.small else PAPER
    machine = {"device": platform.processor() or platform.machine(), "torch": str(torch.__version__)}
    if device.type == "cuda":
        machine["device"] = torch.cuda.get_device_name(device)
    machine |= {"python": platform.python_version(), "CPU threads": str(torch.get_num_threads())}
    report = Report(machine, asdict(sizes), TOLERANCE)
    for number, method in enumerate(options.methods):
        budget.share(len(options.methods) - number)
        measure(method, sizes, device, budget, report)
        print(f"{method}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    report.seconds = round(time.monotonic() - began, 1)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=f"of {', '.join(METHODS)}; all by default")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--seconds", type=float, default=480.0, help="shared among the methods")
    parser.add_argument("--small", action="store_true", help="the smallest settings, one or two updates each")
    parser.add_argument("--threads", type=int, help="of the CPU; torch's own number by default")
    parser.add_argument("--epochs", type=float, default=10.0, help="of first phases, for the estimate of Table 2")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    if unknown := sorted(set(options.methods) - set(METHODS)):
        parser.error(f"no such method: {', '.join(unknown)}; there are {', '.join(METHODS)}")
    options.methods = options.methods or METHODS
    if options.threads:
        torch.set_num_threads(options.threads)
    environment = dict(os.environ) | ({"SUMCURVE_DEVICE": "cpu"} if options.device == "cpu" else {})

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    try:
        with devices.device(environment, Path("/tmp"), say) as lease:
            if lease.device != options.device:
                raise SystemExit("no GPU is to be had here: the NVIDIA driver shows none, or the environment hides it")
            report = run(options)
    except devices.DeviceError as error:
        raise SystemExit(str(error)) from error
    print(", ".join(f"{key} {value}" for key, value in report.machine.items()), f"{report.seconds:.0f} s", sep="; ")
    print(f"\n{table(report)}")
    if options.device == "cuda":
        print(f"\nČano and Bojar 2020, Table 2, on this card:\n\n{table2(report, options.epochs)}")
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=1) + "\n")
    raise SystemExit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
