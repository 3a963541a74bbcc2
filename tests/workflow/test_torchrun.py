"""`torchrun` through the command that makes every folder: two processes, gloo, one training."""

import json
import shutil
import sys

import pytest
from safetensors.torch import load_file

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
