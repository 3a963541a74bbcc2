"""Two checkouts: what one has trained and committed, the other restores, and goes on without training it again."""

import shutil

import pytest

from sumcurve.store import manifest
from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow  # a study's tables, twice

SAME = ("seeds", "scores", "comparisons", "answers", "efficiency")  # measured seconds are committed, too


def table(checkout, name):
    return (checkout.path / "results" / "tables" / "smoke" / f"{name}.csv").read_bytes()


@pytest.fixture(scope="module")
def other(brief, checkout_of_tree):
    """Another checkout of the same study, which has restored its trainings and made the rest itself."""
    checkout = checkout_of_tree("other")
    checkout.brief_study()
    brief.verb("commit")
    without_store = shutil.ignore_patterns("store")
    shutil.copytree(brief.path / "studies", checkout.path / "studies", ignore=without_store, dirs_exist_ok=True)
    plan = Plan.read(checkout.path / "config", "smoke")
    assert "0 were here already" in checkout.verb("restore").stdout
    assert {manifest.state(checkout.path / "results" / run.key) for run in plan.named("runs")} == {"committed"}
    checkout.make("study")
    return checkout


def test_nothing_is_trained_or_decoded_again_and_the_tables_are_the_same(brief, other):
    plan = Plan.read(other.path / "config", "smoke")
    assert other.trainings() == set()
    assert not {one for one in other.made() if one.startswith("runs/")}
    decoded = {f"outputs/{folder.stem}" for folder in plan.named("outputs", "decode")}
    assert not other.made() & decoded
    assert {f"corpora/{folder.stem}" for folder in plan.named("corpora")} <= other.made()
    for name in SAME:
        assert table(other, name) == table(brief, name), name


def test_what_stayed_behind_is_said_wherever_somebody_asks(other):
    assert "were restored from committed results, without weights" in other.make("status").stdout
    assert "were restored from committed results, and are not here whole" in other.verb("verify").stdout
    said = other.verb("trace", "seeds:method=pcov,percent=50:rouge1").stdout
    assert "restored from committed results: " in said
    assert "vocabulary.json, weights.safetensors stayed behind" in said
    other.commit("restored")
    refused = other.make("record", check=False)
    assert refused.returncode
    assert "trainings are not here" in refused.stdout


def test_restoring_again_takes_nothing_and_changes_nothing(other):
    assert "0 folders were restored" in other.verb("restore").stdout
    assert other.planned() == (set(), False)
