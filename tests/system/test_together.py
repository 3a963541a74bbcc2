"""Two processes that share every batch make the updates of one: every method, every phase that draws no random number.

`torchrun` starts this file as the program of both processes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from invented import CONFIG, METHODS, WORDS, records
from sumcurve.config import read_method
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings import Form, Optimizer
from sumcurve.training.fit import fit
from sumcurve.training.parallel import Group, join
from sumcurve.training.run import learner_of

CPU = torch.device("cpu")
UPDATES = 6


def form_of(method: str, accumulate: int = 1) -> Form:
    """The smallest settings without dropout and sampling, a few updates a phase.

    Adagrad, because Adam divides a gradient that is nothing but rounding by itself, and so makes a whole step of it.
    """
    optimizer = Optimizer(name="adagrad", rate=0.05, accumulator=0.1, clip_norm=2.0)
    form = read_method(CONFIG / f"{method}.yaml").forms["smoke"]
    stop = {"every_updates": UPDATES, "every_epochs": 0.01, "patience": 9, "max_updates": UPDATES}
    phases = [
        phase.model_copy(update={"stop": phase.stop.model_copy(update=stop), "own_words": 0.0, "optimizer": optimizer})
        for phase in form.training.phases
        if phase.loss not in ("mixed", "actor-critic")
    ]
    training = form.training.model_copy(update={"phases": phases, "batch": 9, "accumulate": accumulate})
    return form.model_copy(update={"model": form.model.model_copy(update={"dropout": 0.0}), "training": training})


def trained(method: str, group: Group, accumulate: int = 1) -> dict[str, torch.Tensor]:
    """The weights after the last update of the last phase."""
    torch.set_num_threads(1)
    form = form_of(method, accumulate)
    learner = learner_of(
        {"source_tokens": 24, "target_tokens": 8, "seed": 5},
        form,
        records(30, 1),
        records(6, 2),
        Vocabulary(WORDS),
        CPU,
        lambda part: iter([[(0, 2)]] * 30),
    )
    fit(learner, form.training, seed=5, clock=lambda: 0.0, device=CPU, group=group)
    return {name: value.contiguous().clone() for name, value in learner.model.state_dict().items()}


def different(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> float:
    """The largest difference of any weight."""
    assert ours.keys() == theirs.keys()
    return max(float((value - theirs[name]).abs().max()) for name, value in ours.items())


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of both processes, one file a method and rank."""
    folder = tmp_path_factory.mktemp("together")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", __file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([*command, str(folder)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_make_the_updates_of_one(method: str, together: Path) -> None:
    first, second = (load_file(together / f"{method}-{rank}.safetensors") for rank in range(2))
    assert different(first, second) == 0.0
    assert different(trained(method, Group()), first) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_in_parts_makes_the_same_update(method: str) -> None:
    assert different(trained(method, Group()), trained(method, Group(), accumulate=4)) < 1e-6


def test_every_item_of_a_batch_is_computed_once() -> None:
    items = list(range(11))
    shares = [share for rank in range(3) for share in Group(rank, 3).own(items, 2)]
    assert sorted(item for share in shares for item in share) == items
    assert Group(2, 3).own(items[:2], 1) == []


if __name__ == "__main__":
    group = join(CPU)
    for name in METHODS:
        weights = trained(name, group)
        save_file(weights, Path(sys.argv[1]) / f"{name}-{group.rank}.safetensors")
