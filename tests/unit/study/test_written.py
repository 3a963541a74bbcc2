"""A written plan is the plan, for those that read it: jobs."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.settings.config import PlanError
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan, studies
from sumcurve.study.written import WrittenPlan, holding, read

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plan():
    return WrittenPlan.of(Plan.read(ROOT / "config", "smoke"))


@pytest.mark.parametrize("study", studies(ROOT / "config"))
def test_what_is_read_is_what_was_written(study, tmp_path):
    written = WrittenPlan.of(Plan.read(ROOT / "config", study))
    path = written.write(tmp_path)
    again = read(path)
    assert again == written
    assert again.path(tmp_path) == path


def test_one_plan_has_one_file_and_another_has_another(plan, tmp_path):
    path = plan.write(tmp_path)
    before = path.stat().st_mtime_ns
    assert plan.write(tmp_path) == path
    assert path.stat().st_mtime_ns == before
    assert replace(plan, together=()).write(tmp_path) != path
    assert len([*(tmp_path / "scratch").iterdir()]) == 2


def test_a_folder_is_found_in_the_plan_that_has_it(plan, tmp_path):
    key = next(iter(plan.folders))
    with pytest.raises(PlanError, match=r"no plan in .*scratch has .*plan HOME/results --study STUDY --write"):
        holding(tmp_path, key)
    plan.write(tmp_path)
    replace(plan, study="other", folders={}).write(tmp_path)
    (tmp_path / "scratch" / "plan-cut-0123abcd.json").write_text("{")
    assert holding(tmp_path, key) == plan
    with pytest.raises(PlanError, match=r"no plan in .* has corpora/none[\s\S]*plan-cut-0123abcd.json is no plan"):
        holding(tmp_path, "corpora/none")


def test_a_name_that_does_not_follow_from_its_specification_is_refused(plan, tmp_path):
    path = plan.write(tmp_path)
    described = json.loads(path.read_text())
    described["folders"][0]["specification"]["recipe"] = 99
    path.write_text(json.dumps(described))
    with pytest.raises(PlanError, match="does not follow from the specification"):
        read(path)
    path.write_text(json.dumps(described)[:-9])
    with pytest.raises(PlanError, match=re.escape(f"{path} is no plan")):
        read(path)


def test_a_folder_of_a_kind_that_the_code_has_no_more_is_refused(plan, monkeypatch):
    folder = next(folder for folder in plan.folders.values() if folder.kind == "contrasts")
    monkeypatch.delitem(KINDS, "contrasts")
    with pytest.raises(PlanError, match=f"asks for no folder {folder.key}: settings or versions have changed"):
        plan.folder(folder.key)


def test_a_folder_that_was_planned_with_another_version_of_its_code_is_refused(plan, monkeypatch):
    folder = next(folder for folder in plan.folders.values() if folder.kind == "train")
    monkeypatch.setitem(KINDS, "train", replace(KINDS["train"], version=99))
    with pytest.raises(PlanError, match=rf"{folder.key} was planned with version \d+ .*has version 99 now"):
        plan.folder(folder.key)
