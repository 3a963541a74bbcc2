"""A training killed at any moment goes on to the same bits: every method, every phase, with `kill -9`."""

import os
import random
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from invented import CONFIG, METHODS, WORDS, learner_of, records
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.study.methods import read_method
from sumcurve.training.fit import Fitted, fit
from sumcurve.training.run import read_state, write_state

pytestmark = pytest.mark.long

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@cache
def _form(method: str) -> Form:
    """The smallest settings, with dropout, and short phases."""
    form = read_method(CONFIG / f"{method}.yaml").forms["smoke"]
    stop = {"every_updates": 3, "every_epochs": 0.1, "patience": 2, "min_updates": 2, "max_updates": 7}
    phases = [phase.model_copy(update={"stop": phase.stop.model_copy(update=stop)}) for phase in form.training.phases]
    return form.model_copy(
        update={
            "model": form.model.model_copy(update={"dropout": 0.2}),
            "training": form.training.model_copy(update={"phases": phases, "batch": 8}),
        }
    )


def _train(method: str, state: Path, watch: Callable[[Any], None] = lambda progress: None) -> Fitted:
    form = _form(method)
    learner = learner_of(
        form, records(30, 1), records(6, 2), Vocabulary(WORDS), (24, 8), 5, lambda part: iter([[(0, 2)]] * 30)
    )
    return fit(
        learner,
        form.training,
        seed=5,
        clock=lambda: 0.0,
        device=CPU,
        resume=read_state(state, print),
        keep=lambda kept: write_state(state, kept),
        watch=watch,
    )


def _killed(method: str, state: Path, moment: int, writing: bool) -> None:
    """Train in a child that gets SIGKILL at the `moment`-th step, or while it writes the state after it."""
    child = os.fork()
    if not child:
        steps = 0
        replace = os.replace

        def die(*paths: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        def watch(progress: object) -> None:
            nonlocal steps
            steps += 1
            if steps >= moment:
                if writing:
                    os.replace = die
                else:
                    die()

        os.replace = replace
        try:
            _train(method, state, watch)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the training ended before it was killed"
    assert os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_training_ends_in_the_same_bits(method: str, tmp_path: Path) -> None:
    phases: list[str] = []
    whole = _train(method, tmp_path / "whole.pt", lambda progress: phases.append(progress.phase))
    rng = random.Random(method)
    moments = [
        (rng.choice([number for number, name in enumerate(phases, start=1) if name == phase.name]), False)
        for phase in _form(method).training.phases
    ]
    moments.append((rng.randint(1, len(phases) - 1), True))
    for number, (moment, writing) in enumerate(moments):
        state = tmp_path / f"{number}.pt"
        _killed(method, state, moment, writing)
        resumed = _train(method, state)
        assert resumed.history.rows() == whole.history.rows(), (moment, writing)
        assert resumed.history.ended == whole.history.ended
        assert resumed.weights.keys() == whole.weights.keys()
        assert all(torch.equal(value, whole.weights[name]) for name, value in resumed.weights.items()), (
            moment,
            writing,
        )
        if whole.before is not None:
            assert resumed.before is not None
            assert resumed.before.weights.keys() == whole.before.weights.keys()
            assert all(torch.equal(value, whole.before.weights[name]) for name, value in resumed.before.weights.items())
