"""A study resolved holds what decides it, and says of each value the line that said it."""

import re
from pathlib import Path

import pytest
import yaml

from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan
from sumcurve.study.resolved import resolved

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("study", ["demo", "smoke"])
def test_what_is_printed_is_what_the_plan_has(study):
    plan = Plan.read(ROOT / "config", study)
    found = yaml.safe_load(resolved(ROOT / "config", study))
    assert found["study"] == plan.settings.model_dump(mode="json", by_alias=False)
    assert found["methods"] == {
        name: form.model_dump(mode="json", by_alias=False) for name, form in plan.methods.items()
    }
    assert found["versions"].keys() == {*KINDS, "tables"}


def test_a_value_stands_in_the_line_that_is_named():
    text = resolved(ROOT / "config", "demo")
    named = re.findall(r"^ +(?:- )?([a-z_]+): (\S.*)  # (.*):(\d+)$", text, re.MULTILINE)
    assert {Path(path).parent.name for _, _, path, _ in named} == {"studies", "methods", "forms"}
    for key, value, path, line in named:
        said = Path(path).read_text().splitlines()[int(line) - 1]
        assert key in said or (key == "name" and value in said), (key, path, line)
