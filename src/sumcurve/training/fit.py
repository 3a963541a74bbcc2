"""Fitting a model in phases, with one stopping rule and exact resume.

`fit` has no paths and no clock of its own. Every phase starts from the best checkpoint of the phase before, which it
validates but cannot select, with a fresh optimiser, a fresh order of the data and fresh dropout, both drawn from the
seed and the phase's number; so a phase depends on nothing of the earlier ones but the checkpoint it starts from.
"""

import hashlib
import importlib
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from sumcurve.machine.devices import allow_tf32
from sumcurve.models.batch import bucketed
from sumcurve.numerics import operations
from sumcurve.settings.training import Training
from sumcurve.training import optimization
from sumcurve.training.history import History, Reason, Row
from sumcurve.training.learner import Learner
from sumcurve.training.optimization import Schedule
from sumcurve.training.parallel import Group
from sumcurve.training.stopping import Rule

State = dict[str, Any]
"""A resume state: plain types and tensors, which `torch.load(weights_only=True)` reads."""
STATE_KEYS = {
    *("identity", "phase", "update", "stale", "hacked", "collapsed", "before", "path", "schedule"),
    *("history", "batches", "random", "model", "best", "optimizer"),
}
"""Keys that every State has."""


class TrainingError(RuntimeError):
    """Training cannot go on; the message names phase, update and value. `history` holds all before."""

    def __init__(self, message: str, history: History) -> None:
        super().__init__(message)
        self.history = history


class ResumeError(ValueError):
    """A resume state that belongs to another training; `keys` are those that differ."""

    def __init__(self, message: str, keys: list[str]) -> None:
        super().__init__(message)
        self.keys = keys


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a training, reported after updates and after every validation."""

    phase: str
    number: int  # of the phase, from 1
    phases: int
    update: int  # in this phase
    stop: int  # the update at which the phase ends if no validation is better from now on
    limit: Reason  # the reason for its end there
    rate: float
    loss: float | None  # of the last update; at a validation, the mean since the one before
    row: Row | None  # the last validation, None before the first
    validated: bool  # whether `row` is new


@dataclass(frozen=True)
class Checkpoint:
    """Start of a phase: the weights (on the CPU) that an earlier one selected, and the cost of their path.

    The weights belong to the model after the switches of the phases up to `phase`.
    """

    weights: dict[str, Tensor]
    phase: str
    update: int  # of that phase
    updates: int
    examples: int
    epochs: float
    seconds: float

    def plain(self) -> State:
        """Checkpoint as a dict, the weights as they are; `Checkpoint(**plain)` is the inverse."""
        return {setting.name: getattr(self, setting.name) for setting in fields(self)}


@dataclass(frozen=True)
class Fitted:
    """A finished training: its History, and the weights (on the CPU) and row of the selected checkpoint.

    The weights belong to the model after the switches of all phases (coverage on, if a phase switches it on).
    `before` is the checkpoint that the last of several phases started from.
    """

    history: History
    weights: dict[str, Tensor]
    selected: Row
    before: Checkpoint | None


def fit(
    learner: Learner,
    settings: Training,
    *,
    seed: int,
    clock: Callable[[], float],
    device: torch.device,
    group: Group = Group(),  # noqa: B008
    identity: Mapping[str, Any] | None = None,
    start: Checkpoint | None = None,
    resume: State | None = None,
    keep: Callable[[State | None], None] = lambda state: None,
    wanted: Callable[[], bool] = lambda: False,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> Fitted:
    """Train `learner.model` in place through all phases of `settings`; the selected weights are returned, not loaded.

    `clock` gives seconds of compute (on a GPU it must synchronise first); it is read at the start of phases
    and around runs of updates, never per update.

    With `start` the phases before the last are taken for done, and the last starts from that checkpoint, with the order
    of the data and the random numbers that it would have had.

    `keep` gets a State after every validation, which owns all its tensors, and after an update between two of them
    when `wanted` returns true, which is called in every update; of several processes, all keep when one wants it, and
    all but the first get None, for they copy nothing. Given back
    as `resume`, with a model newly built from the same seed, training goes on; on one machine and CPU type the
    outcome, measured seconds apart, is bit-identical to that of an uninterrupted run. `identity` holds further values
    that a state must agree on, such as the model's settings. `seed` decides all random numbers; torch's global
    generators are left as they were found.

    The processes of `group` share every batch, and each is given the same arguments. In single precision their
    updates are those of one process except for the order of sums, as far as no random number is drawn (dropout,
    sampling). The first process validates, and its scores decide for all which checkpoint is the best and when a
    phase ends.

    Raises TrainingError for a loss or gradient that is not finite and for processes that hold different weights,
    ResumeError for a state of another training, and ValueError for a `start` of a training of one phase.
    """
    if start is not None and len(settings.phases) == 1:
        raise ValueError("a training of one phase starts from new weights: give no checkpoint to start from")
    for phase in settings.phases:
        if group.size > 1 and learner.needs_full_batch(phase):
            raise ValueError(f"loss {phase.loss!r} is computed over the full batch: train it in one process")
    # Building the first optimiser of a process imports this for seconds, which are not training; nor are those in which
    # compiled loops are loaded, or compiled.
    importlib.import_module("torch._dynamo")
    operations.load()
    own = _identity(learner, settings, seed, device, group) | flat(identity or {}, "")
    if start is not None:
        own["start"] = digest_of(start.weights)
    with _tf32(settings.precision == "tf32"), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        return _Fit(learner, settings, seed, clock, device, group, own, keep, wanted, watch).run(resume, start)


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    """Allow TF32 meanwhile; later work of the process, such as decoding, may not use it."""
    allow_tf32(allowed)
    try:
        yield
    finally:
        allow_tf32(False)


class _Batches:
    """Lists of items, one epoch after another; its position can be saved and restored."""

    def __init__(self, items: Sequence[Any], size: int, length: Callable[[Any], tuple[int, ...]], seed: str) -> None:
        self._items, self._size, self._length = items, size, length
        self._rng = random.Random(seed)
        self._begin()

    def _begin(self) -> None:
        self._before, self._taken = self._rng.getstate(), 0
        self._epoch = bucketed(self._items, self._size, self._rng, self._length)

    def __next__(self) -> list[Any]:
        items = next(self._epoch, None)
        if items is None:
            self._begin()
            items = next(self._epoch)
        self._taken += 1
        return items

    def state(self) -> State:
        """The generator's state before the epoch, and how many of its batches were taken."""
        return {"random": self._before, "taken": self._taken}

    def load(self, state: State) -> None:
        self._rng.setstate(state["random"])
        self._begin()
        for _ in range(state["taken"]):
            next(self)


class _Fit:
    """The state of one training, and the steps that change it."""

    def __init__(
        self,
        learner: Learner,
        settings: Training,
        seed: int,
        clock: Callable[[], float],
        device: torch.device,
        group: Group,
        identity: dict[str, Any],
        keep: Callable[[State | None], None],
        wanted: Callable[[], bool],
        watch: Callable[[Progress], None],
    ) -> None:
        self.learner, self.model, self.settings, self.seed = learner, learner.model, settings, seed
        self.clock, self.device, self.group, self.identity = clock, device, group, identity
        self.keep, self.wanted, self.watch = keep, wanted, watch
        self.history = History()
        self.weights: dict[str, Tensor] = {}  # of the best checkpoint of the latest phase
        self.before: Checkpoint | None = None  # start of the present phase
        self.updates = self.examples = 0  # on the path
        self.epochs = 0.0  # on the path
        self.seconds = 0.0  # on the path
        self.total_loss = 0.0  # of the updates since the last validation

    def run(self, resume: State | None, start: Checkpoint | None) -> Fitted:
        first = len(self.settings.phases) - 1 if start is not None else 0
        if resume is not None:
            refuse_other(resume["identity"], self.identity)
            first = resume["phase"]
        for index, phase in enumerate(self.settings.phases):
            if index < first:
                self.learner.switch(phase)
                continue
            if resume is not None and index == first:
                self.learner.switch(phase)
                self.learner.load(resume["model"])
                self._prepare(index)
                self._load(resume)
            else:
                self._begin(index, start)
            self._refuse_different_weights()
            while (reason := self.rule.ended(self.update)) is None:
                self._validate(self._train())
            self.history.ended.append((self.phase.name, reason))
        return Fitted(self.history, self.weights, self.history.selected, self.before)

    def _begin(self, index: int, start: Checkpoint | None) -> None:
        """Enter a phase at the best checkpoint of the phase before; if there is one, validate it again."""
        began = self.clock()
        if index:
            self.before = start or self._selected()
            self.learner.load(self.before.weights)
        self.learner.switch(self.settings.phases[index])
        self._prepare(index)
        spent = self.clock() - began
        if self.before is not None:
            self.updates, self.examples = self.before.updates, self.before.examples
            self.epochs, self.seconds = self.before.epochs, self.before.seconds
        self.seconds += spent
        if index:
            self._validate(None)

    def _selected(self) -> Checkpoint:
        row = self.history.selected
        return Checkpoint(self.weights, row.phase, row.update, row.updates, row.examples, row.epoch, row.seconds)

    def _prepare(self, index: int) -> None:
        """Fresh items, optimiser, schedule, order and random numbers of a phase."""
        self.index, self.phase = index, self.settings.phases[index]
        phase = self.phase
        self.model.eval()
        self.items = self.learner.prepare(phase)
        if not self.items:
            raise ValueError(f"phase {phase.name!r} has no training items; check the corpus and its percent")
        self.parameters = self.learner.parameters(phase)
        self.optimizer = optimization.build(phase.optimizer, self.parameters)
        self.batches = _Batches(
            self.items,
            self.settings.batch,
            lambda item: self.learner.length(item, phase),
            f"order {self.seed} {index}",
        )
        rank = f" {self.group.rank}" if self.group.rank else ""
        torch.manual_seed(random.Random(f"dropout {self.seed} {index}{rank}").getrandbits(63))
        self.update = 0
        self.rule = Rule(phase, len(self.items), self.settings.batch)
        self.schedule = Schedule(phase.optimizer, self.rule.budget)

    def _train(self) -> float:
        """Updates up to the next validation; returns their mean loss."""
        last = self.rule.next(self.rule.validated)
        # Reading a loss waits for the device, so a GPU is read only now and then.
        most_unread = 1 if self.device.type == "cpu" else 10
        unread: list[Tensor] = []
        began = self.clock()
        self.model.train()
        while self.update < last:
            self.update += 1
            self.updates += 1
            rate = self.schedule.rate(self.update)
            items = next(self.batches)
            loss, norm, wanted = self._step(items, rate)
            unread += loss, norm
            self.examples += len(items)
            self.epochs += len(items) / len(self.items)
            between = wanted and self.update < last
            if len(unread) == 2 * most_unread or self.update == last or between:
                values = torch.stack(unread).tolist()
                unread.clear()
                self._refuse_infinite(values)
                self.total_loss += sum(values[::2])
                self._tell(rate, values[-2], validated=False)
            if between:
                self.seconds += self.clock() - began
                self._refuse_different_weights()
                self.keep(self._state())
                began = self.clock()
        self.seconds += self.clock() - began
        mean = self.total_loss / (last - self.rule.validated)
        self.total_loss = 0.0
        return mean

    def _step(self, items: list[Any], rate: float) -> tuple[Tensor, Tensor, bool]:
        """Make one update; its loss and the norm of its gradient before clipping, both still on the device, and whether
        any process wants the state."""
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for part in self.group.own(items, self.settings.accumulate):
            batch = self.learner.collate(part, self.phase).to(self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bf16"):
                loss = self.learner.loss(batch, self.phase)
            loss = loss * (len(part) / len(items)) if len(part) < len(items) else loss
            loss.backward()
            total = total + loss.detach()
        total, wanted = self.group.sum_gradients(self.parameters, total, self.wanted())
        norm = nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])
        if self.phase.optimizer.clip_norm is not None:
            nn.utils.clip_grads_with_norm_(self.parameters, self.phase.optimizer.clip_norm, norm)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return total, norm, wanted

    def _refuse_infinite(self, values: list[float]) -> None:
        """Raise for the first of the latest losses and gradient norms (taking turns) that is not finite."""
        for position, value in enumerate(values):
            if not math.isfinite(value):
                update = self.update - len(values) // 2 + position // 2 + 1
                self._refuse(update, ("loss", "gradient norm")[position % 2], value)

    def _refuse(self, update: int, name: str, value: float) -> NoReturn:
        self.history.ended.append((self.phase.name, "not a number"))
        optimizer = self.phase.optimizer
        raise TrainingError(
            f"phase {self.phase.name!r}, update {update}: the {name} is {value}; lower this phase's rate "
            f"({optimizer.rate:g}) or its clip_norm ({optimizer.clip_norm})",
            self.history,
        )

    def _refuse_different_weights(self) -> None:
        """Raise TrainingError where the processes of the group do not hold the same weights at the same update."""
        if self.group.size == 1:
            return
        places = self.group.gather(
            f"phase {self.phase.name!r}, update {self.update}, weights {digest_of(self.learner.weights())[:16]}"
        )
        if different := [rank for rank, place in enumerate(places) if place != places[0]]:
            named = ", ".join(map(str, different))
            listed = "; ".join(f"{rank}: {place}" for rank, place in enumerate(places))
            raise TrainingError(
                f"the processes of torchrun do not hold the same weights: {named} differ{'s' * (len(different) == 1)} "
                f"from 0 ({listed}). Start again with the same resume state, on a disk that all processes share, and "
                "GPUs of one kind; where it happens again, delete the resume state and train in one process, without "
                "torchrun",
                self.history,
            )

    def _validate(self, train_loss: float | None) -> None:
        """Validate, record the validation, and pass the state to `keep`."""
        self._refuse_different_weights()
        # On a GPU sums differ between processes: by their own scores each would choose and stop for itself.
        scores = self.group.of_first(lambda: self.learner.validate(self.phase))
        if not math.isfinite(scores["nll"]):
            self._refuse(self.update, "validation nll", scores["nll"])
        row = Row(
            phase=self.phase.name,
            update=self.update,
            updates=self.updates,
            examples=self.examples,
            epoch=self.epochs,
            rate=self.schedule.rate(self.update) if self.update else 0.0,
            train_loss=train_loss,
            **scores,
            best=False,
            seconds=self.seconds,
        )
        row = self.rule.take(row, self.history)
        if row.best:
            self.weights = _copied(self.learner.weights())
        if self.rule.counted:
            self.schedule.observe(not self.rule.stale)
        self._tell(row.rate, train_loss, validated=True)
        self.keep(self._state())

    def _tell(self, rate: float, loss: float | None, validated: bool) -> None:
        patience = self.rule.end_of_patience(self.history)
        most = self.rule.budget
        self.watch(
            Progress(
                phase=self.phase.name,
                number=self.index + 1,
                phases=len(self.settings.phases),
                update=self.update,
                stop=int(min(patience, most)),
                limit="patience" if patience <= most else "most_updates",
                rate=rate,
                loss=loss,
                row=self.history[-1] if len(self.history) else None,
                validated=validated,
            )
        )

    def _state(self) -> State | None:
        """State of the first process, with the generators of all; None in the others."""
        cuda = torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None
        generators = self.group.gather({"cpu": torch.get_rng_state(), "cuda": cuda})
        if self.group.rank:
            return None
        return {
            "identity": dict(self.identity),
            "phase": self.index,
            "update": self.update,
            "validated": self.rule.validated,
            "total_loss": self.total_loss,
            **self.rule.state(),
            "before": self.before and self.before.plain(),
            "path": {
                "updates": self.updates,
                "examples": self.examples,
                "epochs": self.epochs,
                "seconds": self.seconds,
            },
            "schedule": {"stale": self.schedule.stale, "halvings": self.schedule.halvings},
            "history": self.history.as_dict(),
            "batches": self.batches.state(),
            "random": generators,
            "model": _copied(self.learner.weights()),
            "best": dict(self.weights),  # never written to, only replaced
            "optimizer": _copied(self.optimizer.state_dict()),
        }

    def _load(self, state: State) -> None:
        """Load a state of the present phase, after `_prepare`."""
        self.update = state["update"]
        self.updates, self.examples = state["path"]["updates"], state["path"]["examples"]
        self.epochs, self.seconds = state["path"]["epochs"], state["path"]["seconds"]
        self.schedule = Schedule(self.phase.optimizer, self.rule.budget, **state["schedule"])
        self.history = History.from_dict(state["history"])
        # A state that was written before states between validations were has neither.
        self.rule.load(state, self.history, state.get("validated", self.update))
        self.total_loss = state.get("total_loss", 0.0)
        self.before = Checkpoint(**state["before"]) if state["before"] else None
        self.batches.load(state["batches"])
        self.learner.load(state["model"])  # again: preparations may have set the trained parameters
        self.weights = state["best"]
        self.optimizer.load_state_dict(_copied(state["optimizer"]))  # torch would go on in the caller's tensors
        own = state["random"][self.group.rank]
        torch.set_rng_state(own["cpu"])
        if own["cuda"] is not None:
            torch.cuda.set_rng_state(own["cuda"], self.device)


def _copied(value: Any) -> Any:
    """The same nest of dicts and lists with copies of its tensors on the CPU."""
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def flat(value: Any, key: str) -> dict[str, Any]:
    """Nested settings as one dict from dotted keys to plain values."""
    if isinstance(value, Mapping):
        pairs = [(str(name), item) for name, item in value.items()]
    elif isinstance(value, list | tuple):
        pairs = [(str(number), item) for number, item in enumerate(value)]
    else:
        return {key: value}
    return {inner: leaf for name, item in pairs for inner, leaf in flat(item, f"{key}.{name}".lstrip(".")).items()}


def _identity(learner: Learner, settings: Training, seed: int, device: torch.device, group: Group) -> dict[str, Any]:
    """All that decides the outcome, as plain values under dotted keys."""
    return flat({"training": settings.model_dump(mode="json")}, "") | {
        "seed": seed,
        "device": device.type,
        "processes": group.size,
        "threads": torch.get_num_threads(),
        "torch": str(torch.__version__),
        "initial weights": digest_of(learner.weights()),
        **learner.identity(),
    }


def digest_of(weights: Mapping[str, Tensor]) -> str:
    """The sha256 of weights, in their order, with names, shapes and types."""
    whole = hashlib.sha256()
    for name, tensor in weights.items():
        whole.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        whole.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return whole.hexdigest()


def refuse_other(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise ResumeError where two identities of a training differ."""
    keys = sorted(key for key in {*stored, *wanted} if stored.get(key) != wanted.get(key))
    if keys:
        listed = "; ".join(f"{key}: {stored.get(key)!r} there, {wanted.get(key)!r} here" for key in keys)
        raise ResumeError(f"the resume state belongs to another training ({listed})", keys)
