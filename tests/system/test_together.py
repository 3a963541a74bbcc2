"""Two processes that share every batch make the updates of one: every method, every phase that draws no random number.

And they decide as one: which checkpoint is the best, when a phase ends, when all of them end. `torchrun` starts this
file as the program of both processes.
"""

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from invented import CONFIG, METHODS, WORDS, learner_of, records
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.settings.training import Optimizer
from sumcurve.study.methods import read_method
from sumcurve.training import parallel
from sumcurve.training.fit import Fitted, State, TrainingError, digest_of, fit
from sumcurve.training.learner import Learner
from sumcurve.training.notice import Notice
from sumcurve.training.parallel import Group, join, leave
from sumcurve.training.run import read_together, write_state

pytestmark = pytest.mark.long

CPU = torch.device("cpu")
UPDATES = 6


def form_of(method: str, accumulate: int = 1, **stop: int) -> Form:
    """The smallest settings without dropout and sampling, a few updates a phase.

    Adagrad, because Adam divides a gradient that is nothing but rounding by itself, and so makes a whole step of it.
    """
    optimizer = Optimizer(name="adagrad", rate=0.05, accumulator=0.1, clip_norm=2.0)
    form = read_method(CONFIG / f"{method}.yaml").forms["smoke"]
    stop = {"every_updates": UPDATES, "every_epochs": 0.01, "patience": 9, "max_updates": UPDATES} | stop
    phases = [
        phase.model_copy(update={"stop": phase.stop.model_copy(update=stop), "own_words": 0.0, "optimizer": optimizer})
        for phase in form.training.phases
        if phase.loss not in ("mixed", "actor-critic")
    ]
    training = form.training.model_copy(update={"phases": phases, "batch": 9, "accumulate": accumulate})
    return form.model_copy(update={"model": form.model.model_copy(update={"dropout": 0.0}), "training": training})


def learner_for(form: Form) -> Learner:
    torch.set_num_threads(1)
    return learner_of(
        form, records(30, 1), records(6, 2), Vocabulary(WORDS), (24, 8), 5, lambda part: iter([[(0, 2)]] * 30)
    )


def trained(method: str, group: Group, accumulate: int = 1) -> dict[str, torch.Tensor]:
    """The weights after the last update of the last phase."""
    form = form_of(method, accumulate)
    learner = learner_for(form)
    fit(learner, form.training, seed=5, clock=lambda: 0.0, device=CPU, group=group)
    return {name: value.contiguous().clone() for name, value in learner.model.state_dict().items()}


LARGE = {"embedding": 1620, "hidden": 1620, "output": "tied"}
LARGE_UPDATES = 2
LARGE_CASES = {"large-alone": 1, "large-together": 1, "large-in-parts": 2}
"""How many parts a process's share of a batch is computed in."""
MOST_TIMES = 9.0
"""The most memory that a process of the large training takes beyond what it had before, in copies of its parameters.

Seven are themselves, gradients, Adagrad's sums, the best checkpoint, weights and sums of the resume state, and this
test's first weights; the rest is what sums over processes, activations and the allocator take. One process takes 7.7.
"""


def large_training(case: str, group: Group, folder: Path) -> None:
    """Two updates of 100 million parameters: writes what changed, and the peak memory of the process."""
    before = peak_bytes()
    form = form_of("abs", LARGE_CASES[case], every_updates=LARGE_UPDATES, max_updates=LARGE_UPDATES)
    learner = learner_for(form.model_copy(update={"model": form.model.model_copy(update=LARGE)}))
    first = {name: value.clone() for name, value in learner.model.state_dict().items()}
    fit(learner, form.training, seed=5, clock=lambda: 0.0, device=CPU, group=group)
    peak = peak_bytes() - before
    last = {name: value.contiguous().clone() for name, value in learner.model.state_dict().items()}
    facts = {
        "parameters": sum(value.numel() for value in learner.model.parameters()),
        "times": peak / sum(value.numel() * value.element_size() for value in learner.model.parameters()),
        "changed": different(first, last),
        "digest": digest_of(last),
    }
    (folder / f"{case}-{group.rank}.json").write_text(json.dumps(facts))
    if not group.rank:
        save_file(last, folder / f"{case}.safetensors")


def peak_bytes() -> int:
    """The most memory that this process had at any time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def different(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> float:
    """The largest difference of any weight."""
    assert ours.keys() == theirs.keys()
    return max(float((value - theirs[name]).abs().max()) for name, value in ours.items())


@cache
def alone(method: str) -> dict[str, torch.Tensor]:
    """The weights that one process makes of whole batches."""
    return trained(method, Group())


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What both processes made, once started: weights by method and rank, what they tell by disturbance and rank."""
    folder = tmp_path_factory.mktemp("together")
    start(*TORCHRUN, __file__, str(folder), *METHODS, *DISTURBED)
    return folder


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def start(*words: str) -> None:
    """Run Python with these words, and fail as it does."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_large_model_makes_the_same_updates_and_takes_the_memory_of_one_process(tmp_path: Path) -> None:
    """Of 100 million random parameters no weight differs by more than a millionth of the largest change of any."""
    start(__file__, str(tmp_path), "large-alone")
    for case in ("large-together", "large-in-parts"):
        start(*TORCHRUN, __file__, str(tmp_path), case)
    whole = load_file(tmp_path / "large-alone.safetensors")
    for case in LARGE_CASES:
        told = (
            both(case, tmp_path) if case != "large-alone" else [json.loads((tmp_path / f"{case}-0.json").read_text())]
        )
        assert told[0]["parameters"] == pytest.approx(100e6, rel=0.01)
        assert len({one["digest"] for one in told}) == 1
        apart = different(whole, load_file(tmp_path / f"{case}.safetensors")) / told[0]["changed"]
        times = [one["times"] for one in told]
        print(
            f"{case}: {apart:.1e} of the largest change; at most {', '.join(f'{value:.2f}' for value in times)} copies"
        )
        assert apart < 1e-6
        assert max(times) < MOST_TIMES


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_make_the_updates_of_one(method: str, together: Path) -> None:
    first, second = (load_file(together / f"{method}-{rank}.safetensors") for rank in range(2))
    assert different(first, second) == 0.0
    assert different(alone(method), first) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_in_parts_makes_the_same_update(method: str) -> None:
    assert different(alone(method), trained(method, Group(), accumulate=4)) < 1e-6


def test_every_item_of_a_batch_is_computed_once() -> None:
    items = list(range(11))
    shares = [share for rank in range(3) for share in Group(rank, 3).own(items, 2)]
    assert sorted(item for share in shares for item in share) == items
    assert Group(2, 3).own(items[:2], 1) == []


def test_gradients_are_summed_in_buckets_that_hold_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "MOST_SUMMED", 5)
    sizes = [
        [part.numel() for part in bucket] for bucket in parallel._buckets([torch.zeros(n) for n in (1, 3, 2, 9, 5, 1)])
    ]
    assert sizes == [[1, 3], [2], [9], [5], [1]]
    assert list(parallel._buckets([])) == []


def both(case: str, folder: Path) -> list[dict[str, Any]]:
    return [json.loads((folder / f"{case}-{rank}.json").read_text()) for rank in range(2)]


def test_scores_that_differ_between_processes_are_judged_once(together: Path) -> None:
    """The first process's validations get better by 1 % each, the second's worse: by itself the second would run out of
    patience, and begin the last phase from other weights while the first waits for it."""
    first, second = both("perturbed", together)
    assert first["outcome"] == "finished"
    ended = [[phase, reason.partition(" with ")[0]] for phase, reason in first["ended"]]
    assert ended == [["nll", "most_updates"], ["coverage", "most_updates"]]
    assert first == second


def test_processes_with_different_weights_are_refused(together: Path) -> None:
    for told in both("diverging", together):
        assert "1 differs from 0 (0: phase 'nll', update 4, weights " in told["outcome"]
        assert "delete the resume state and train in one process" in told["outcome"]


def test_a_process_that_is_to_end_ends_all_of_them_once_the_state_is_written(together: Path) -> None:
    """Between two validations; what goes on from the state makes the weights of who was never ended."""
    for told in both("ended", together):
        assert told["outcome"] == f"exit {128 + signal.SIGTERM}"
    state = torch.load(together / "ended.pt", weights_only=True)
    assert (state["validated"], state["update"]) == (2, 3)
    again, whole = both("again", together), both("whole", together)
    assert again == whole
    assert again[0] == again[1]
    assert again[0]["outcome"] == "finished"


# --- what torchrun starts


DISTURBED = ("whole", "diverging", "perturbed", "ended", "again")


def perturbed(learner: Learner, rank: int) -> None:
    """Replaces validation by scores that get better in the first process and worse in the others."""
    validate, times = learner.validate, iter(range(99))

    def scores(phase: Any) -> dict[str, float]:
        rouge = 0.5 * (1 + 0.01 * next(times) * (-1 if rank else 1))
        return validate(phase) | dict.fromkeys(("rouge1", "rouge2", "rougeLsum"), rouge)

    learner.validate = scores  # type: ignore[method-assign]


def at_third_update(learner: Learner, happens: Callable[[], object]) -> None:
    loss, times = learner.loss, iter(range(99))

    def disturbed(batch: Any, phase: Any) -> torch.Tensor:
        if next(times) == 2:
            happens()
        return loss(batch, phase)

    learner.loss = disturbed  # type: ignore[method-assign]


def disturbed_training(case: str, group: Group, folder: Path) -> Fitted:
    """A training of two phases, of up to six validations each."""
    form = form_of("pcov", every_updates=2, max_updates=12, patience=2)
    learner = learner_for(form)
    if case == "perturbed":
        perturbed(learner, group.rank)
    elif case == "diverging" and group.rank:
        at_third_update(learner, lambda: next(learner.model.parameters()).data.view(-1)[0].add_(1e-4))
    elif case == "ended" and group.rank:
        at_third_update(learner, lambda: os.kill(os.getpid(), signal.SIGTERM))
    resume = read_together(folder / "ended.pt", print, group) if case == "again" else None
    with Notice(print, group) as notice:

        def keep(kept: State | None) -> None:
            assert (kept is None) == (group.rank > 0)
            if kept is not None:
                write_state(folder / f"{case}.pt", kept)
            notice.state_written()

        return fit(
            learner,
            form.training,
            seed=5,
            clock=lambda: 0.0,
            device=CPU,
            group=group,
            keep=keep,
            wanted=notice.wanted,
            resume=resume,
        )


def tell_of(case: str, group: Group, folder: Path) -> None:
    """Write what came of the training in this process. One that hangs shows where, and fails."""
    faulthandler.dump_traceback_later(100, exit=True)
    told: dict[str, Any] = {"outcome": "finished"}
    try:
        fitted = disturbed_training(case, group, folder)
        told |= {
            "weights": digest_of(fitted.weights),
            "history": fitted.history.rows(),
            "ended": fitted.history.ended,
        }
    except TrainingError as error:
        told["outcome"] = str(error)
    except SystemExit as end:
        told["outcome"] = f"exit {end.code}"
    (folder / f"{case}-{group.rank}.json").write_text(json.dumps(told))
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    group, folder = join(CPU), Path(sys.argv[1])
    for name in sys.argv[2:]:
        if name in LARGE_CASES:
            large_training(name, group, folder)
        elif name in DISTURBED:
            tell_of(name, group, folder)
        else:
            save_file(trained(name, group), folder / f"{name}-{group.rank}.safetensors")
    leave(failed=False)
    leave(failed=True)  # what is left is not left again
    assert not torch.distributed.is_initialized()
