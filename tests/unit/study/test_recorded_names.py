"""Names of recorded studies in git: the plan's, in DVC's locks, in stages that differ in two values alone."""

import hashlib
import subprocess
from pathlib import Path

import pytest
import yaml

from sumcurve.study import names
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[3]
DEFAULT = yaml.safe_load((ROOT / "dvc.yaml").read_text())["vars"][0]["study"]
TABLES = subprocess.run(
    ["git", "ls-files", "results/tables/*/manifest-????????.json"], cwd=ROOT, capture_output=True, text=True
).stdout.split()
RECORDED = sorted({Path(path).parent.name for path in TABLES})


def stages(study: str) -> Path:
    """DVC's file of a study."""
    return ROOT / "dvc.yaml" if study == DEFAULT else ROOT / "studies" / study / "dvc.yaml"


@pytest.mark.parametrize("study", RECORDED)
def test_names_of_a_recorded_study_are_the_plan_s_and_so_are_those_in_its_lock(study: str) -> None:
    remedy = f"run `dvc repro {stages(study).relative_to(ROOT)}:names`, and commit what it writes"
    assert names.are_current(Plan.read(ROOT / "config", study), ROOT), remedy
    lock = yaml.safe_load(stages(study).with_suffix(".lock").read_text())["stages"]
    (written,) = lock["names"]["outs"]
    assert written["md5"] == hashlib.md5(names.place(study, ROOT).read_bytes(), usedforsecurity=False).hexdigest(), (
        remedy
    )


def test_stages_of_recorded_studies_differ_in_two_values() -> None:
    assert DEFAULT in RECORDED
    assert {path.parent.name for path in (ROOT / "studies").glob("*/dvc.yaml")} == set(RECORDED) - {DEFAULT}
    top = (ROOT / "dvc.yaml").read_text()
    for study in set(RECORDED) - {DEFAULT}:
        values = f"  - study: {DEFAULT}\n    home: .\n", f"  - study: {study}\n    home: ../..\n"
        assert stages(study).read_text() == top.replace(*values), study


def test_names_are_written_by_step_and_only_where_they_changed(tmp_path: Path) -> None:
    plan = Plan.read(ROOT / "config", "smoke")
    path = names.write(plan, tmp_path)
    lines = path.read_text().splitlines()
    assert sorted(lines[:-1]) == sorted(plan.folders)
    steps = [STEPS.index(line.split("/")[0]) for line in lines]
    assert steps == sorted(steps)
    assert lines[-1] == f"tables/smoke/manifest-{plan.tables}.json"
    before = path.stat()
    names.write(plan, tmp_path)
    assert path.stat() == before
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert not names.are_current(plan, tmp_path)
    names.write(plan, tmp_path)
    assert path.read_text().splitlines() == lines
