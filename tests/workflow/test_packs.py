"""Two checkouts: what one has trained and packed, the other takes up, and goes on from without training it again."""

import pytest

from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow  # a study's tables, twice

SAME = ("seeds", "scores", "comparisons", "answers", "efficiency")  # measured seconds are packed, too


def table(checkout, name):
    return (checkout.path / "results" / "tables" / "smoke" / f"{name}.csv").read_bytes()


@pytest.fixture(scope="module")
def other(brief, checkout_of_tree):
    """Another checkout of the same study, which has taken up one training's pack and made the rest itself."""
    checkout = checkout_of_tree("other")
    checkout.brief_study()
    packs = brief.path / "scratch" / "packs"
    brief.make("pack", f"TO={packs}")
    said = checkout.make("merge", f"FROM={packs}").stdout
    plan = Plan.read(checkout.path / "config", "smoke")
    trained = {folder.key for folder in plan.named("runs")}
    assert trained <= set(said.replace("results/", "").split())
    checkout.make("run")
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
    assert " packed, without weights" in other.make("status").stdout
    assert "were taken up from packs, and are not here whole" in other.make("verify").stdout
    said = other.make("trace", "CELL=seeds:method=pcov,percent=50:rouge1").stdout
    assert "taken up from a pack" in said
    assert "vocabulary.json, weights.safetensors stayed behind" in said
    other.commit("taken up")
    refused = other.make("record", check=False)
    assert refused.returncode
    assert "trainings are not here" in refused.stdout


def test_merging_again_takes_nothing_and_changes_nothing(brief, other):
    said = other.make("merge", f"FROM={brief.path / 'scratch' / 'packs'}").stdout
    assert "0 folders were taken up" in said
    assert other.planned() == (set(), False)
