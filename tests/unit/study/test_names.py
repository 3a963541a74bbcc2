"""Names of folders, which say what is made anew: tests/data/golden/names has every name that a study plans.

A recorded study's names stand still: what it recorded is planned by the same names. Others change with what they name.
"""

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

import golden
from sumcurve.study.plan import Plan, studies

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


OURS = {Path(path).stem for path in git("ls-files", "config/studies").split()}  # not those that a user has written
RECORDED = [
    path.stem
    for path in map(Path, git("ls-tree", "--name-only", "HEAD", "results/tables/").split())
    if path.suffix == ".json"
]


@cache
def planned(study):
    return Plan.read(CONFIG, study)


@pytest.mark.parametrize("study", RECORDED)
def test_names_of_recorded_folders_stand_still(study):
    """As they are in git: what is made here is a user's."""
    folder = f"HEAD:results/tables/{study}"
    (manifest,) = (name for name in git("ls-tree", "--name-only", folder).split() if name.startswith("manifest-"))
    assert {*json.loads(git("show", f"{folder}/{manifest}"))["inputs"]} <= {*planned(study).folders}


@pytest.mark.parametrize("study", sorted({*studies(CONFIG)} & OURS))
def test_planned_names_stand_still(study):
    assert not golden.differences(f"names/{study}.txt", dict.fromkeys(planned(study).folders, ""))
