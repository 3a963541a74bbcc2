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


@pytest.fixture
def environment(plan: Plan) -> dict[str, str]:
    """That of a job that was planned."""
    told: dict[str, str] = {}
    planned.announce(plan, told)
    return told


def other_code(monkeypatch, module: str):
    """Another fingerprint of all that this module is of."""
    true = planned.fingerprint
    monkeypatch.setattr(planned, "fingerprint", lambda *code: "0" * 16 if module in code else true(*code))


def test_unchanged_code_is_let_through_and_so_is_a_job_that_nobody_planned(plan, environment) -> None:
    assert set(environment) == {planned.VARIABLE}
    assert len(environment[planned.VARIABLE]) < 4000  # schedulers hand it on
    for one in plan.folders.values():
        planned.require(one, {})
        planned.require(one, environment)
    assert not list(planned.changes(plan, environment))


def test_changed_code_is_refused_naming_both_and_other_kinds_go_on(plan, environment, monkeypatch) -> None:
    train, decode = plan.named("runs", "train")[0], plan.named("outputs", "decode")[0]
    before = planned.fingerprint(*train.code)
    other_code(monkeypatch, "sumcurve.training.run")
    with pytest.raises(PlanError, match=rf"runs/.*fingerprint {'0' * 16}, and had {before} when this job was planned"):
        planned.require(train, environment)
    planned.require(decode, environment)
    assert list(planned.changes(plan, environment)) == [
        f"code of train: fingerprint {'0' * 16}, and {before} when this job was planned"
    ]


def test_scorers_are_told_apart(plan, environment, monkeypatch) -> None:
    """One scorer's code may change while another's jobs wait."""
    other_code(monkeypatch, "sumcurve.scores.chrf")
    refused = set()
    for one in plan.named("scores"):
        try:
            planned.require(one, environment)
        except PlanError:
            refused.add(one.specification["scorer"])
    assert refused == {"chrf"}
