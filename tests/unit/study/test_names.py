"""Names of folders stand still: those of recorded tables for ever, those of other studies but where a merge says so."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import golden
from sumcurve.settings.config import PlanError
from sumcurve.store.fingerprint import fingerprint
from sumcurve.study.kinds import CORPUS_PARTS, KINDS, RECIPES
from sumcurve.study.plan import Plan, studies
from sumcurve.study.recipes import list_code, read_recipes

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
RECORDED = ("docstrings", "docstrings-all", "docstrings-large", "fairseq", "pretraining", "salience")


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("study", RECORDED)
def test_recorded_names_are_planned_for_ever(study):
    """Where this fails, what is recorded would be made anew, from weights that may no longer exist."""
    assert golden.keys(f"names/{study}.txt") <= planned(study)


@pytest.mark.parametrize("study", RECORDED)
def test_recorded_names_are_those_of_the_tables_that_are_committed(study):
    """As they are in git: what is made here is a user's."""
    folder = f"HEAD:results/tables/{study}"
    listed = git("ls-tree", "--name-only", folder).split()
    (manifest,) = (name for name in listed if name.startswith("manifest-"))
    recorded = set(json.loads(git("show", f"{folder}/{manifest}"))["inputs"])
    assert golden.keys(f"names/{study}.txt") <= recorded


OURS = {Path(path).stem for path in git("ls-files", "config/studies").split()}  # not those that a user has written


@pytest.mark.parametrize("study", sorted({*studies(CONFIG)} & OURS - {*RECORDED}))
def test_planned_names_of_other_studies_stand_still(study):
    assert not golden.differences(f"names/{study}.txt", dict.fromkeys(planned(study), ""))


def planned(study):
    return set(Plan.read(CONFIG, study).folders)


def test_recipes_of_a_row_that_is_none_or_says_nothing_are_named(tmp_path):
    rows = yaml.safe_load((ROOT / "recipes.yaml").read_text())
    assert set(rows) == set(RECIPES)
    path = tmp_path / "recipes.yaml"
    for harmed, message in (
        (rows | {"score/nothing": rows["train"]}, "score/nothing: no row of RECIPES"),
        (rows | {"train": 3}, "train: say `version` and `code`"),
        (rows | {"train": {"version": [3], "code": []}}, r"train: a version is a whole number .* not \[3\]"),
    ):
        path.write_text(yaml.safe_dump(harmed))
        with pytest.raises(PlanError, match=message):
            read_recipes(path, RECIPES)


def test_what_has_no_row_is_named_by_its_code(tmp_path):
    """A scorer of a user's own is one file and one line: an edit of it scores anew, under another name."""
    rows = yaml.safe_load((ROOT / "recipes.yaml").read_text())
    path = tmp_path / "recipes.yaml"
    path.write_text(yaml.safe_dump({name: row for name, row in rows.items() if name != "score/chrf"}))
    here = fingerprint(*RECIPES["score/chrf"])
    assert read_recipes(path, RECIPES)["score/chrf"].of("mine") == here != fingerprint(*RECIPES["score/rouge"])


def test_code_is_listed_beside_the_version_in_force_and_changes_no_name(tmp_path):
    path = Path(shutil.copy(ROOT / "recipes.yaml", tmp_path))
    before = read_recipes(path, RECIPES)
    list_code(path, before, dict.fromkeys(RECIPES, "0123456789abcdef"))
    after = read_recipes(path, RECIPES)
    for name, recipe in before.items():
        assert (after[name].version, after[name].recorded) == (recipe.version, recipe.recorded)
        assert after[name].code == (*recipe.code, "0123456789abcdef")
    list_code(path, after, dict.fromkeys(RECIPES, "0123456789abcdef"))
    assert read_recipes(path, RECIPES) == after


def test_every_part_has_a_row_and_a_kind_with_parts_has_none_of_its_own():
    for name, kind in KINDS.items():
        assert (name in RECIPES) != bool(kind.parts)
        assert all(f"{name}/{part}" in RECIPES for part in kind.parts)
    assert all(f"corpus/{part}" in RECIPES for part in CORPUS_PARTS)
