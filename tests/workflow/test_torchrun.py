"""Several processes through the command that makes every folder: gloo, one training."""

import json
import shutil
import sys

import pytest
from safetensors.torch import load_file

from cards import driver, name
from sumcurve.store import manifest
from sumcurve.store.records import read_csv
from sumcurve.study.plan import Plan


@pytest.mark.slow
def test_two_processes_of_torchrun_make_one_folder_of_a_study(brief, tmp_path):
    """The first locks and writes it, by the updates that one process makes but for the order of sums; the second takes
    part."""
    plan = Plan.read(brief.path / "config", "smoke")
    folder = next(one for one in plan.named("runs", "train") if one.specification["method"] == "abs")
    for key in folder.inputs:
        shutil.copytree(brief.path / "results" / key, tmp_path / "results" / key)
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    path = tmp_path / "results" / folder.key
    said = brief.run(*torchrun, "-m", "sumcurve", "make", str(path))
    assert said.stdout.count(f"{path} is finished") == 1
    assert said.stdout.count("2 processes; training in several processes (torchrun) is experimental") == 1
    sealed = manifest.verify(path, folder.specification)
    assert sealed is not None
    assert sealed["facts"]["processes"] == 2
    alone = brief.path / "results" / folder.key
    ours, theirs = (read_csv(one / "history.csv")[0] for one in (path, alone))
    assert (ours["phase"], ours["update"]) == (theirs["phase"], theirs["update"])
    assert float(ours["nll"]) == pytest.approx(float(theirs["nll"]), abs=1e-3)
    assert load_file(path / "weights.safetensors").keys() == load_file(alone / "weights.safetensors").keys()
    assert json.loads((path / "training.json").read_text())["updates"] > 0
    scorer = next(one for one in plan.named("scores", "score"))
    refused = brief.run(*torchrun, "-m", "sumcurve", "make", str(tmp_path / "results" / scorer.key), check=False)
    assert refused.returncode != 0
    assert "torchrun is for folders of kind" in refused.stdout


# The CPU stands for the card that a process was lent: all else is as on a box with two of them.
STAND_IN = """
from contextlib import contextmanager
from dataclasses import replace
from sumcurve.machine import devices
lent = devices.device
@contextmanager
def device(environment, locks, say=print):
    with lent(environment, locks, say) as lease:
        assert (lease.device, lease.exclusive) == ("cuda", True)
        say(f"on {environment['CUDA_VISIBLE_DEVICES']}")
        yield replace(lease, device="cpu")
devices._require_cuda = lambda lent: None
devices.device = device
"""


@pytest.mark.slow
def test_a_training_of_two_cards_is_one_command(brief, tmp_path):
    """It leases both, starts a process for each, and makes the folder that one process makes."""
    plan = Plan.read(brief.path / "config", "smoke")
    folder = next(one for one in plan.named("runs", "train") if one.specification["method"] == "abs")
    for key in folder.inputs:
        shutil.copytree(brief.path / "results" / key, tmp_path / "results" / key)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(STAND_IN)
    told = driver(tmp_path) | {"CARDS": "1,2", "SUMCURVE_GPUS_PER_RUN": "2"}
    told["PYTHONPATH"] = f"{tmp_path / 'site'}:{brief.path / 'src'}"
    environment = ("env", "-u", "SUMCURVE_DEVICE", *(f"{key}={value}" for key, value in told.items()))
    path, log = tmp_path / "results" / folder.key, tmp_path / "log"
    command = (*environment, sys.executable, "-m", "sumcurve", "make", "--study", "smoke", str(path), "--log", str(log))
    brief.run(*command)
    lines = log.read_text().splitlines()
    assert {line for line in lines if line.startswith("on ")} == {f"on {name(1)}", f"on {name(2)}"}
    assert lines.count(f"{path} is finished") == 1
    sealed = manifest.verify(path, folder.specification)
    assert sealed is not None
    assert (sealed["facts"]["processes"], sealed["facts"]["exclusive"]) == (2, True)
    ours, theirs = (read_csv(one / "history.csv")[0] for one in (path, brief.path / "results" / folder.key))
    assert float(ours["nll"]) == pytest.approx(float(theirs["nll"]), abs=1e-3)
    brief.run(*command)
    assert log.read_text() == f"{path} is finished and verified: nothing to do\n"
    shutil.rmtree(path)
    short = brief.run(*environment, "CARDS=1", *command[len(environment) :], check=False)
    assert short.returncode != 0
    assert f"SUMCURVE_GPUS_PER_RUN is 2 and this process may use GPUs {name(1)}: set it to 1" in log.read_text()
    (path.parents[1] / folder.inputs[0] / "manifest.json").unlink()
    failed = brief.run(*command, check=False)
    assert failed.returncode != 0
    assert "is not finished; make it first" in log.read_text()
