"""Parameter counts of the papers' settings, against those that each paper prints or that its released code has.

See, Liu and Manning 2017 (PyTorch's second biases taken off); Chen and Bansal 2018, released code; Eyal, Baumel and
Elhadad 2019, section 5.1; Čano and Bojar 2020, table 2, in millions. Others follow from the stated widths.
"""

from pathlib import Path

import pytest
import torch

from invented import build
from sumcurve.capabilities.papers import cano_bojar_2020
from sumcurve.models.summarizer import parameter_counts
from sumcurve.study.methods import read_method

METHODS = Path(__file__).parents[2] / "config" / "methods"


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


@pytest.mark.parametrize(
    ("method", "form", "corpus", "words"),
    [
        ("abs", "count-matched", "CNNDM", 49_000),
        ("pcov", "count-matched", "CNNDM", 49_000),
        ("pcov", "count-matched", "OAGS", 98_000),
        ("nats", "count-matched", "CNNDM", 49_000),
        ("globen", "paper", "CNNDM", 49_000),
    ],
)
def test_counts_are_those_of_table_2(method, form, corpus, words):
    rows = (row for row in cano_bojar_2020.trainings() if (row["corpus"], row["method"]) == (corpus, method.upper()))
    printed = {row["parameters"] for row in rows}
    assert printed == {f"{counts(method, words, form)['total'] / 1e6:.0f}M"}


def test_pcov_counts_of_the_paper():
    """21,499,600 at 50,000 words, 1,153 of the pointer, 512 of coverage; PyTorch's three LSTMs have second biases."""
    model = build(read_method(METHODS / "pcov.yaml").forms["paper"].model, 50_000, 0)
    second_biases = 3 * 4 * 256
    assert parameter_counts(model)["total"] == 21_499_600 + 1_153 + second_biases
    model.enable_coverage()
    assert parameter_counts(model)["total"] == 21_499_600 + 1_153 + 512 + second_biases


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
