"""DVC and Snakemake side by side: clones are idle, edits redo what they must, tables match the configuration."""

import csv
import json

import pytest

from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow  # whole studies, again and again

SIGNATURE_OF_STEMS = "stem:porter"


def rows(checkout):
    with (checkout.path / "results" / "tables" / "smoke" / "seeds.csv").open() as stream:
        return list(csv.DictReader(stream))


def assert_table_says_what_the_configuration_asks(checkout):
    plan = Plan.read(checkout.path / "config", "smoke")
    found = rows(checkout)
    assert sorted(row["run"] for row in found) == sorted(row.table_name for row in plan.rows)
    stems = plan.scorers["rouge"].settings.stemmer
    assert all((SIGNATURE_OF_STEMS in row["signature"]) == stems for row in found)


def is_idle(checkout):
    said = checkout.run("dvc", "repro").stdout
    return "Stage 'study' didn't change" in said and "Running stage 'study'" not in said


def test_a_metric_trains_nothing_and_changes_the_table(recorded, tmp_path):
    checkout = recorded.clone(tmp_path / "clone")
    checkout.run("dvc", "pull", "--quiet")
    checkout.scramble_clocks(seed=3)
    assert is_idle(checkout)
    checkout.edit("config/studies/smoke.yaml", "chrf: {}, ", "")
    checkout.run("dvc", "repro")
    assert checkout.trainings() == set()
    assert_table_says_what_the_configuration_asks(checkout)
    assert is_idle(checkout)
    compared = json.loads(checkout.run("dvc", "metrics", "diff", "--json").stdout)
    (changes,) = compared.values()
    assert {name.split(".")[1] for name in changes} == {"chrf"}
    assert all(one["old"] and one.get("new") is None for one in changes.values())
    plots = json.loads(checkout.run("dvc", "plots", "diff", "--json", "HEAD").stdout)["data"]
    ((curves,),) = plots.values()
    assert sorted(curves["revisions"]) == ["HEAD", "workspace"]
