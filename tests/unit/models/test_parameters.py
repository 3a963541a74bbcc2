"""Parameter counts of the papers' settings, against those known of each paper or its released code."""

from pathlib import Path

import pytest
import torch

from sumcurve.models.summarizer import parameter_counts
from sumcurve.study.methods import read_method
from sumcurve.systems.families import build

METHODS = Path(__file__).parents[3] / "config" / "methods"


@pytest.fixture(autouse=True)
def _no_values():
    """Parameters have shapes and nothing else: these are hundreds of megabytes."""
    with torch.device("meta"):
        yield


def counts(method, words, form="paper"):
    return parameter_counts(build(read_method(METHODS / f"{method}.yaml").forms[form].model, words, 0))


@pytest.mark.parametrize(
    ("method", "form", "words", "millions"),
    [
        ("abs", "count-matched", 49_000, 15.05),  # Čano and Bojar print 15M
        ("pcov", "count-matched", 49_000, 14.42),  # 14M
        ("nats", "count-matched", 49_000, 14.79),  # 15M
        ("nats", "paper", 49_000, 8.66),
        ("globen", "paper", 49_000, 67.83),  # 68M
        ("trans_nocopy", "paper", 49_000, 79.65),
        ("trans", "paper", 49_000, 79.92),  # 81M at a vocabulary near 50,000
        ("trans", "paper-oags", 98_000, 130.14),  # 129M at a vocabulary near 97,000
        ("trans_nocopy", "paper", 98_000, 129.88),
        ("abs", "count-matched", 98_000, 21.37),  # 22M
        ("pcov", "count-matched", 98_000, 20.74),  # 21M
        ("pgrl", "paper", 49_000, 9.15),
        ("pgrl", "paper", 98_000, 15.47),
        ("ent_base", "paper", 50_004, 36.39),  # OpenNMT-py's, input embeddings shared
        ("abs_nnlm", "paper", 49_000, 37.9),
        ("abs_nnlm", "paper", 98_000, 75.6),
    ],
)
def test_counts_of_the_papers(method, form, words, millions):
    assert counts(method, words, form)["total"] / 1e6 == pytest.approx(
        millions, abs=0.05 if method == "abs_nnlm" else 0.005
    )


def test_fastrl_counts_of_the_released_code():
    """At 30,004 words: abstractor 5,782,017, extractor 6,321,452, actor and critic 7,505,709."""
    found = counts("fastrl", 30_004)
    assert found["total"] == 5_782_017 + 7_505_709
    model = read_method(METHODS / "fastrl.yaml").forms["paper"].model
    assert parameter_counts(build(model.abstractor, 30_004, 0))["total"] == 5_782_017


def test_entity_attention_is_the_equations_263168():
    """U [512, 512], b and v [512] (Eyal et al. 2019, section 5.1)."""
    assert counts("ent", 1000)["total"] - counts("ent_base", 1000)["total"] == 512 * 512 + 2 * 512


def test_the_second_output_is_counted_apart():
    dual, twin = counts("reg_dual", 1000), counts("reg_base", 1000)
    assert dual["training_only"] == 1000 * 500 + 1000
    assert {**dual, "training_only": 0} == twin
