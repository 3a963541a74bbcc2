"""A job is made by the code that its run was planned with, or by none."""

from pathlib import Path

import pytest

from sumcurve.settings.config import PlanError
from sumcurve.study import planned
from sumcurve.study.plan import Plan

CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture
def plan() -> Plan:
    return Plan.read(CONFIG, "smoke")


def folder(plan: Plan, kind: str):
    return next(folder for folder in plan.folders.values() if folder.kind == kind)


def test_unchanged_code_is_let_through_and_so_is_a_job_that_nobody_planned(plan: Plan) -> None:
    environment: dict[str, str] = {}
    for one in plan.folders.values():
        planned.require(one, environment)
    planned.announce(plan, environment)
    assert set(environment) == {planned.VARIABLE}
    assert len(environment[planned.VARIABLE]) < 4000  # schedulers hand it on
    for one in plan.folders.values():
        planned.require(one, environment)
    assert not list(planned.changes(plan, environment))


def test_changed_code_is_refused_naming_both_and_other_kinds_go_on(plan: Plan, monkeypatch) -> None:
    environment: dict[str, str] = {}
    planned.announce(plan, environment)
    before = planned.fingerprint(*folder(plan, "train").code)
    true = planned.fingerprint

    def changed(*modules: str) -> str:
        return "0" * 16 if "sumcurve.training.run" in modules else true(*modules)

    monkeypatch.setattr(planned, "fingerprint", changed)
    with pytest.raises(PlanError, match=rf"runs/.*fingerprint {'0' * 16}, and had {before} when this job was planned"):
        planned.require(folder(plan, "train"), environment)
    planned.require(folder(plan, "decode"), environment)
    assert list(planned.changes(plan, environment)) == [
        f"code of train: fingerprint {'0' * 16}, and {before} when this job was planned"
    ]


def test_scorers_are_told_apart(plan: Plan, monkeypatch) -> None:
    """One scorer's code may change while another's jobs wait."""
    environment: dict[str, str] = {}
    planned.announce(plan, environment)
    true = planned.fingerprint
    monkeypatch.setattr(
        planned, "fingerprint", lambda *modules: "0" * 16 if "sumcurve.scores.chrf" in modules else true(*modules)
    )
    refused = set()
    for one in plan.named("scores"):
        try:
            planned.require(one, environment)
        except PlanError:
            refused.add(one.specification["scorer"])
    assert refused == {"chrf"}
