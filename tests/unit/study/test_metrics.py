"""What two commits are compared by: numbers of the table of scores, by names that dvc.yaml and its template know."""

import json
import re
from pathlib import Path

import pytest
import yaml

from sumcurve.settings.config import PlanError
from sumcurve.study.metrics import metrics, write
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[3]
TABLE = """corpus,method,percent,records,seeds,rouge1,rouge1_low,rouge1_high,rouge2,length
tales,lead,,,,12.5000,12.0000,13.0000,1.5000,7.0000
tales,pcov,100,128,3,30.0000,29.0000,31.0000,3.0000,8.0000
tales,pcov,50,64,3,20.0000,19.0000,21.0000,2.0000,9.0000
modules,pcov,100,900,3,40.0000,39.0000,41.0000,,5.0000
"""


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "smoke")


def test_trained_methods_have_their_largest_size_by_the_metric_that_ranks_the_study_s_first_corpus(plan, tmp_path):
    (tmp_path / "smoke").mkdir()
    (tmp_path / "smoke" / "scores.csv").write_text(TABLE)
    path = write(plan, tmp_path)
    assert json.loads(path.read_text()) == {"rouge1": {"pcov": 30.0}}
    before = path.read_bytes()
    lines = TABLE.splitlines(keepends=True)
    (tmp_path / "smoke" / "scores.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    assert write(plan, tmp_path).read_bytes() == before


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("failed: human", "failed: human", {"rouge1 (not ranked)": {"pcov": 30.0}}),
        ("failed: human", "", {"rouge2": {"pcov": 3.0}}),
        ("", "failed: human", {"rouge1": {"pcov": 30.0}}),
    ],
)
def test_a_metric_that_is_not_validated_ranks_in_no_comparison_of_commits(plan, tmp_path, first, second, expected):
    """The tables are of two metrics, whose validations are these; table answers has those that rank."""
    folder = tmp_path / "smoke"
    folder.mkdir()
    (folder / "scores.csv").write_text(TABLE)
    whys = {"rouge1": first and f"not validated on this corpus: {first}", "rouge2": second and f"not tested: {second}"}
    long = [f"tales,{name},{name.upper()},{why}\n" for name, why in whys.items() for _ in range(3)]
    (folder / "scores_long.csv").write_text("".join(["corpus,metric,title,why\n", *long]))
    ranked = [f"tales,{name.upper()}\n" for name, why in whys.items() if not why]
    (folder / "answers.csv").write_text("".join(["corpus,metric\n", *ranked]))
    assert metrics(plan, tmp_path) == expected


def test_a_study_without_tables_is_named(plan, tmp_path):
    with pytest.raises(PlanError, match=r"scores\.csv is not here"):
        write(plan, tmp_path)


def test_dvc_compares_files_and_columns_that_tables_have():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())
    assert stages["metrics"] == ["${home}/results/tables/${study}.json"]
    (plot,) = (settings for one in stages["plots"] for settings in one.values())
    ((path, column),) = plot["y"].items()
    (table,) = (ROOT / "results" / "tables").glob("docstrings/scores.csv")
    assert path == "${home}/results/tables/${study}/scores.csv"
    columns = set(table.read_text().splitlines()[0].split(","))
    assert {column, f"{column}_low", f"{column}_high", plot["x"]} <= columns
    template = (ROOT / ".dvc" / "plots" / f"{plot['template']}.json").read_text()
    assert set(re.findall(r"datum\.(\w+)", template)) <= columns


def test_metrics_of_recorded_studies_are_those_of_their_tables():
    tables = ROOT / "results" / "tables"
    for path in sorted(tables.glob("*.json")):
        written = json.loads(path.read_text())
        assert metrics(Plan.read(ROOT / "config", path.stem), tables) == written, (
            f"sumcurve metrics --study {path.stem}"
        )
