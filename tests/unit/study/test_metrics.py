"""What two commits are compared by: numbers of the table of scores, by names that dvc.yaml and its template know."""

import json
import re
from pathlib import Path

import pytest
import yaml

from sumcurve.settings.config import PlanError
from sumcurve.study.metrics import write
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[3]
TABLE = """corpus,method,percent,records,rouge1,rouge1_low,rouge1_high,rouge2,length
tales,lead,,,12.5000,12.0000,13.0000,1.5000,7.0000
tales,pcov,100,128,30.0000,29.0000,31.0000,3.0000,8.0000
tales,pcov,50,64,20.0000,19.0000,21.0000,2.0000,9.0000
modules,pcov,100,900,40.0000,39.0000,41.0000,,5.0000
"""


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "smoke")


def test_a_trained_method_has_its_largest_size_and_only_what_ranks_is_compared(plan, tmp_path):
    (tmp_path / "smoke").mkdir()
    (tmp_path / "smoke" / "scores.csv").write_text(TABLE)
    path = write(plan, tmp_path)
    found = json.loads(path.read_text())
    assert found["tales"]["rouge1"] == {"lead": 12.5, "pcov": 30.0}
    assert found["modules"] == {"rouge1": {"pcov": 40.0}}  # without what has no number
    assert "length" not in found["tales"]
    before = path.read_bytes()
    lines = TABLE.splitlines(keepends=True)
    (tmp_path / "smoke" / "scores.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    assert write(plan, tmp_path).read_bytes() == before


def test_a_study_without_tables_is_named(plan, tmp_path):
    with pytest.raises(PlanError, match=r"scores\.csv is not here"):
        write(plan, tmp_path)


def test_dvc_compares_files_and_columns_that_tables_have():
    told = yaml.safe_load((ROOT / "dvc.yaml").read_text())
    assert told["metrics"] == ["results/tables/${study}.json"]
    (plot,) = (settings for one in told["plots"] for settings in one.values())
    ((path, column),) = plot["y"].items()
    (table,) = (ROOT / "results" / "tables").glob("docstrings/scores.csv")
    assert path == "results/tables/${study}/scores.csv"
    columns = set(table.read_text().splitlines()[0].split(","))
    assert {column, f"{column}_low", f"{column}_high", plot["x"]} <= columns
    template = (ROOT / ".dvc" / "plots" / f"{plot['template']}.json").read_text()
    assert set(re.findall(r"datum\.(\w+)", template)) <= columns
