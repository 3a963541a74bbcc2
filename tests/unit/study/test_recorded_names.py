"""Names of recorded studies in git: those of the record, in DVC's locks, in stages that differ in two values alone."""

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
def test_a_study_stands_by_the_names_that_it_was_recorded_with(study: str) -> None:
    """Code and settings may move on: then its page says first that its tables are of an older version."""
    recorded = hashlib.md5(names.place(study, ROOT).read_bytes(), usedforsecurity=False).hexdigest()
    lock = yaml.safe_load(stages(study).with_suffix(".lock").read_text())["stages"]
    (written,) = lock["names"]["outs"]
    read = {one["path"]: one["md5"] for one in lock.get("study", {}).get("deps", ())}
    assert {written["md5"], *read.values()} == {recorded}, "`make record` writes names and lock together"
    if not names.are_current(Plan.read(ROOT / "config", study), ROOT):
        page = (ROOT / "docs" / "studies" / f"{study}.md").read_text()
        assert page.split("\n\n")[1].startswith("Tables of an older version of the code")


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
