"""Keys that are set on the command line: a study of its own, equal to one that is written by hand."""

import re
from pathlib import Path

import pytest
import yaml

from sumcurve.settings.config import PlanError
from sumcurve.study.overrides import derived, overrides, plan_with
from sumcurve.study.plan import Plan
from workplace import configured


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(configured(tmp_path))
    return Path("config")


def test_a_study_with_keys_set_is_the_one_that_is_written_by_hand(config: Path) -> None:
    words = ["'seeds=[3, 5]' corpora.tales.percents=[50]", "bootstrap.resamples=300"]
    name, path = derived(config, "smoke", words)
    assert path == config / "studies" / f"{name}.yaml"
    by_hand = {
        "title": "any",
        "extends": "smoke",
        "seeds": [3, 5],
        "corpora": {"tales": {"percents": [50]}},
        "bootstrap": {"resamples": 300},
    }
    (config / "studies" / "hand.yaml").write_text(yaml.safe_dump(by_hand))
    made, hand, base = (Plan.read(config, study) for study in (name, "hand", "smoke"))
    assert list(made.folders) == list(hand.folders)
    assert made.settings.model_copy(update={"title": ""}) == hand.settings.model_copy(update={"title": ""})
    assert set(made.folders) != set(base.folders)
    assert derived(config, "smoke", [*reversed(words)]) == (name, path)  # whatever their order
    assert derived(config, "smoke", ["seeds=[4]"])[0] != name
    path.write_text(path.read_text() + "rank_by: rouge2\n")
    with pytest.raises(PlanError, match="says something else: run it by its name, or delete it"):
        derived(config, "smoke", words)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("sedes=[1]", "--set sedes: unknown key; did you mean seeds?"),
        ("seeds=[x]", "--set seeds.0: Input should be a valid integer"),
        ("seeds", "--set seeds: write KEY=VALUE"),
        ("seeds=[1", "is not YAML; write KEY=VALUE"),
        ("seeds=[1] seeds=[2]", "seeds is set twice"),
        ("methods=[pcov,fastrl,ent,pcv]", "did you mean pcov?"),
        ("corpora=null corpora.tales=null", "corpora is set beside it"),
        ("extends=demo", "name the other study by STUDY="),
        ("'seeds=[1]", "close the quotes"),
    ],
)
def test_what_no_study_can_have_is_refused_and_leaves_nothing(config: Path, words: str, says: str) -> None:
    before = sorted((config / "studies").iterdir())
    with pytest.raises(PlanError, match=re.escape(says)):
        derived(config, "smoke", [words])
    assert sorted((config / "studies").iterdir()) == before


def test_a_plan_with_keys_set_is_that_of_the_study_and_leaves_no_file(config: Path) -> None:
    before = sorted((config / "studies").iterdir())
    with plan_with(config, "smoke", ["seeds=[4]"]) as plan:
        assert plan.where("seeds").endswith("seeds")
    assert sorted((config / "studies").iterdir()) == before
    with pytest.raises(PlanError, match=r"--set seeds\.0"), plan_with(config, "smoke", ["seeds=[x]"]):
        pass
    assert sorted((config / "studies").iterdir()) == before
    name, path = derived(config, "smoke", ["seeds=[4]"])
    with plan_with(config, "smoke", ["seeds=[4]"]) as again:
        assert again.study == name == plan.study
    assert path.is_file()  # that of a study which somebody made


def test_values_are_yaml() -> None:
    assert overrides(["a.b=[1,x] c=null", "d=1.5"]) == {"a.b": [1, "x"], "c": None, "d": 1.5}
