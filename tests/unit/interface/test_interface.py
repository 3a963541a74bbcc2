"""The functions of `import sumcurve`: lazy, named like no room, and the same as the verbs."""

import inspect
import json
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sumcurve as sc
from rooms import BUDGETS
from sumcurve.__main__ import parser
from sumcurve.machine.arguments import CommandError, UsageError
from unit.interface.test_compare import scores
from unit.interface.test_curve import trainings

ROOT = Path(__file__).parents[3]
HEAVY = ("numpy", "pandas", "scipy", "numba", "torch", "altair")


def run(*words: object) -> None:
    arguments = parser().parse_args([str(word) for word in words])
    arguments.run(arguments)


def test_the_import_loads_nothing_and_each_function_has_a_page() -> None:
    code = f"import sumcurve, sys; sumcurve.__all__, dir(sumcurve); assert not {{*{HEAVY}}} & {{*sys.modules}}"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not {*sc.__all__} & {*BUDGETS}, "a room of this name would take the function's place once it is imported"
    for name in sc.__all__:
        assert getattr(sc, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'roug'"):
        sc.roug  # noqa: B018


@pytest.mark.parametrize("verb", ["compare", "curve"])
def test_a_verb_writes_what_its_function_returns(verb, tmp_path, capsys) -> None:
    table = scores({"a": 6, "b": 0}) if verb == "compare" else trainings()
    table.to_csv(tmp_path / "in.csv", index=False)
    result = getattr(sc, verb)(tmp_path / "in.csv")
    run(verb, tmp_path / "in.csv", "--json", tmp_path / "out.json")
    assert capsys.readouterr().out == f"{result!r}\n"
    assert json.loads((tmp_path / "out.json").read_text()) == json.loads(json.dumps(result.to_dict()))
    run(verb, tmp_path / "in.csv", "-q")
    assert capsys.readouterr().out == "\n".join(result.sentences) + "\n"
    with pytest.raises(CommandError, match="this file is read, and would be lost"):
        run(verb, tmp_path / "in.csv", "--json", tmp_path / "in.csv")


def test_files_of_systems_are_named_on_the_line(tmp_path, capsys) -> None:
    for name, own in scores({"a": 6, "b": 0}).groupby("system"):
        own[["item", "score"]].to_csv(tmp_path / f"{name}.csv", index=False)
    run("compare", f"new={tmp_path / 'a.csv'}", tmp_path / "b.csv", "-q")
    assert "new is significantly better than b" in capsys.readouterr().out
    with pytest.raises(CommandError, match="two files of one system's name"):
        run("compare", f"b={tmp_path / 'a.csv'}", tmp_path / "b.csv")


def test_rouge_is_that_of_the_verb(tmp_path) -> None:
    ours, theirs, references = (
        ["the cat sat", "a dog ran"] * 6,
        ["a cat", "no dog ran"] * 6,
        ["the cat lay", "a dog"] * 6,
    )
    for name, texts in (("c", ours), ("d", theirs), ("r", references)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    files = {name: tmp_path / f"{name}.txt" for name in "cdr"}
    words = ["--references", files["r"], "--candidates", files["c"], "--compare", files["d"]]
    run("rouge", *words, "--json", tmp_path / "out.json", "--stem")
    out = json.loads((tmp_path / "out.json").read_text())
    found = sc.rouge(pd.Series(ours), references, compare=theirs, stem=True)
    assert found.signature == out["signature"]
    for row in found.to_pandas("differences").to_dict("records"):
        own = out["comparison"][row["metric"]]
        assert (row["difference"], row["p_holm"]) == pytest.approx((100 * own["difference"], own["p_holm"]))
    first = sc.compare(found.items, metric="rouge1_f")
    assert first.to_pandas("pairs").difference[0] == pytest.approx(out["comparison"]["rouge1"]["difference"])
    one_item = sc.rouge("the cat", ["a cat", "the cat"])
    assert one_item.to_pandas().f.tolist() == [100.0] * 3
    assert one_item.to_pandas().f_low.isna().all()
    assert one_item.sentences[0].startswith("WARNING: one item says nothing of the spread")
    assert "no word (first: item 2)" in sc.rouge(["a", ""], ["a", "b"]).sentences[0]
    for wrong in (["a", "b"], ["a"]), (["a", "b"], "a"), (["a"], [""]):
        with pytest.raises(CommandError):
            sc.rouge(*wrong)


def test_oracle_counts_texts_without_a_word() -> None:
    whole = [("one two.", "one two."), ("three.", "three.")]
    assert [sentence for sentence in sc.oracle(whole).sentences if "WARNING" in sentence] == []
    abstracts, sources, mean = sc.oracle([*whole, ("a b.", ""), ("?", "x"), ("a.", "!")]).sentences
    assert abstracts.startswith("WARNING: 2 of 5 articles have an empty abstract (first: article 3)")
    assert sources.startswith("WARNING: 1 of 5 articles have an empty source (first: article 4)")
    assert "of the extracts: 40.00 over 5 articles" in mean


def test_an_effect_of_another_unit_than_the_noise_is_warned_of(capsys) -> None:
    assert not any("WARNING" in sentence for sentence in sc.power(18, effect=1.0).sentences)
    warning = sc.power(0.18, effect=1.0).sentences[0]
    assert warning.startswith("WARNING: a difference of 1 point is 5.56 times the items' SD of 0.18")
    run("power", "--sd-items", 0.18, "--effect", 1.0, "-q")
    assert capsys.readouterr().out == f"{warning}\n3 items\n"


@pytest.mark.parametrize(("scale", "points"), [(0.01, True), (1.0, False)])
def test_compare_says_the_unit_of_its_differences(scale, points) -> None:
    frame = pd.DataFrame({"item": range(4), "a": [30.5, 31.5, 40, 41], "b": [30.2, 33, 39, 38]})
    frame[["a", "b"]] *= scale
    printed = str(sc.compare(frame))
    assert "Unit: that of the scores" in printed
    assert ("100 times as much" in printed) is points


def test_power_efficiency_and_oracle_are_those_of_their_verbs(tmp_path, capsys) -> None:
    run("power", "--sd-items", 18, "--sd-seed", 0.8, "--effect", 2.2, "--items", 1000)
    assert capsys.readouterr().out == "\n".join(sc.power(18, 0.8, 2.2, items=1000).sentences) + "\n"
    run("efficiency", "cano-bojar-2020", "--csv", tmp_path / "e.csv")
    paper = sc.efficiency("cano-bojar-2020").to_pandas()
    written = pd.read_csv(tmp_path / "e.csv", dtype={"interval": str})
    assert paper.epsilon1.tolist() == pytest.approx(written.epsilon1.tolist())
    assert paper.interval.tolist() == written.interval.tolist()
    source, abstract = ["One two.", "Two three four.", "Five."], ["Two three."]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "x", "sentences": source, "abstract": abstract}) + "\n")
    run("oracle", "--input", tmp_path / "a.jsonl", "--output", tmp_path / "o.jsonl")
    row = json.loads((tmp_path / "o.jsonl").read_text())
    (own,) = sc.oracle([{"id": "x", "source": source, "abstract": abstract}]).certificates
    assert {key: own[key] for key in own if key not in ("seconds", "digest")} == {
        key: row[key] for key in row if key not in ("seconds", "digest")
    }
    assert sc.oracle([(source, abstract)]).extracts == (["Two three four."],)
    for wrong in ([], ["text"], [{"source": "a"}]):
        with pytest.raises(CommandError):
            sc.oracle(wrong)
    with pytest.raises(CommandError, match="sd_items"):
        sc.power(-1)
    for wrong in ({"items": 0}, {"items": -5}, {"items": 2.5}, {"seeds": True}, {"systems": "two"}, {"effect": "1"}):
        ((name, value),) = wrong.items()
        with pytest.raises(CommandError, match=f"{name} is {value!r}; give a"):
            sc.power(18, **wrong)


PAIR = [("One. Two.", "Two.")]
REQUIRED = {
    "across": {"studies": ["none"]},
    "compare": {"scores": "none.csv"},
    "curve": {"results": "none.csv"},
    "efficiency": {"results": "none.csv"},
    "load": {"study": "none"},
    "oracle": {"articles": PAIR},
    "power": {"sd_items": 18},
    "rouge": {"candidates": ["a"], "references": ["b"]},
}


@pytest.mark.parametrize("name", sc.__all__)
def test_a_value_of_another_type_is_refused_at_every_parameter(name) -> None:
    function = getattr(sc, name)
    for parameter in inspect.signature(function).parameters:
        with pytest.raises(UsageError, match=rf"^{parameter} is <object object at .*>; give .*$"):
            function(**{**REQUIRED[name], parameter: object()})
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sc.rouge(["a"], ["b"], metrics="rouge1"), "metrics is 'rouge1'; give a list of strings"),
        (lambda: sc.rouge(["a", ["x", 5]], ["b", "c"]), "candidates[1][1] is 5; give a string"),
        (
            lambda: sc.rouge(pd.Series(["a", None]), ["b"]),
            "candidates[1] is nan; give a string, a path or a list of strings",
        ),
        (lambda: sc.rouge(["a"], ["b"], mode="unicod"), "mode is 'unicod'; give one of"),
        (lambda: sc.curve("none.csv", reach=0.5), "reach is 0.5; give a list of numbers"),
        (lambda: sc.curve("none.csv", reach=[0.5, "x"]), "reach[1] is 'x'; give a number"),
        (lambda: sc.curve("none.csv", best=True), "best is True; give a number, or leave it out"),
        (lambda: sc.compare({"a": 5, "b": [1]}), "scores['a'] is 5; give"),
        (lambda: sc.oracle(PAIR, seconds="3"), "seconds is '3'; give a number"),
        (lambda: sc.oracle([(1, "a")]), "article 1: source is a int; give a string or a list of strings"),
        (lambda: sc.oracle([5]), "article 1 is 5; give a pair"),
        (lambda: sc.oracle([("a b.", "")]), "articles: none of its 1 articles has a word in its abstract"),
        (lambda: sc.oracle([("?!", "a"), ([], "b")]), "articles: none of its 2 articles has a word in its source"),
        (lambda: sc.oracle([("今天", "今天")]), "articles: none of its 1 articles has a word in its abstract"),
        (lambda: sc.compare([]), "scores is []: it holds no score; give"),
        (lambda: sc.compare({}), "scores is {}: it holds no score; give"),
        (lambda: sc.across(["a", "b"], at=0), "at is 0; give a list of whole numbers"),
        (lambda: sc.across("a"), "studies is 'a'; give a list of strings or paths"),
    ],
)
def test_a_wrong_type_is_named_with_its_place_and_the_remedy(call, message) -> None:
    with pytest.raises(CommandError) as raised:
        call()
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


HUGE = 10**400  # of which no float is finite
LONGEST = 10**5000  # which Python does not write


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sc.power(HUGE), "sd_items is 1000"),
        (lambda: sc.power(18, effect=-LONGEST), "effect is a number of more than"),
        (lambda: sc.power(18, level=Fraction(HUGE)), "level is Fraction(1000"),
        (lambda: sc.power(np.longdouble("1e400")), "sd_items is np.longdouble"),
        (lambda: sc.curve(trainings(), reach=[HUGE]), "reach[0] is 1000"),
        (lambda: sc.curve(trainings(), best=HUGE), "best is 1000"),
        (lambda: sc.oracle(PAIR, seconds=HUGE), "seconds is 1000"),
        (lambda: sc.oracle(PAIR, nodes=-LONGEST), "nodes is a number of more than"),
        (lambda: sc.power(18, items=HUGE), "--items 1000"),
        (lambda: sc.power(18, systems=LONGEST), "--systems a number of more than"),
        (lambda: sc.rouge(["a"], ["b"], resamples=10**12), "resamples: "),
        (lambda: sc.rouge(["a"], ["b"], seed=LONGEST), "seed: "),
    ],
)
def test_a_number_beyond_all_bounds_is_refused_in_short(call, message) -> None:
    with pytest.raises(CommandError) as raised:
        call()
    assert str(raised.value).startswith(message)
    assert len(str(raised.value)) < 250


def test_any_real_number_is_a_float() -> None:
    half = [function(Fraction(1, 2)) for function in (sc.power, lambda level: sc.power(18, level=level))]
    assert half[0].answers == sc.power(0.5).answers
    assert half[1].answers == sc.power(18, level=0.5).answers
    reached = [sc.curve(trainings(), reach=targets) for targets in ([Fraction(81, 2)], np.array([40.5]))]
    assert reached[0].to_dict() == reached[1].to_dict()


def test_numbers_and_columns_of_numpy_and_pandas_are_plain_ones() -> None:
    ours = sc.power(np.float64(18), np.float32(0.5), items=np.int64(100), paired=np.True_)
    assert ours.answers == sc.power(18, 0.5, items=100, paired=True).answers
    texts = ["a b", "b c"]
    frame = pd.DataFrame({"text": texts})
    by_column = sc.rouge(frame.text, np.array(texts), metrics=np.array(["rouge1"]))
    assert by_column.to_pandas().equals(sc.rouge(texts, texts, metrics=["rouge1"]).to_pandas())


def test_missing_and_unknown_arguments_are_errors_of_any_call() -> None:
    with pytest.raises(TypeError, match=r"rouge\(\) missing 1 required .* 'references'"):
        sc.rouge(["a"])
    with pytest.raises(CommandError, match="give either sd_items or per_item"):
        sc.power()
    with pytest.raises(TypeError, match=r"power\(\) got an unexpected keyword argument 'itmes'"):
        sc.power(18, itmes=3)


def test_options_of_oracle_are_those_of_its_verb(tmp_path) -> None:
    source, abstract = [f"w{n} w{n + 1} w{n + 3}." for n in range(12)], ["w1 w3 w5 w7 w9."]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "1", "source": source, "abstract": abstract}) + "\n")
    for options in ({"nodes": 0}, {"algorithm": "vns", "seed": 7}):
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        run("oracle", "--input", tmp_path / "a.jsonl", "--output", tmp_path / "o.jsonl", *words)
        row = json.loads((tmp_path / "o.jsonl").read_text())
        (own,) = sc.oracle([(source, abstract)], **options).certificates
        assert {**own, "seconds": 0, "digest": ""} == {**row, "seconds": 0, "digest": ""}
        assert (row["budget"].get("nodes"), row["seed"]) == (options.get("nodes"), options.get("seed"))
    for wrong in ({"seed": 7}, {"algorithm": "vns", "nodes": 3}, {"algorithm": "greedy", "seed": 7}):
        with pytest.raises(CommandError, match=r"it changes nothing of --algorithm (exact|vns|greedy); leave it out"):
            sc.oracle(PAIR, **wrong)
    with pytest.raises(CommandError, match="nodes is -1; give a whole number of at least 0"):
        sc.oracle(PAIR, nodes=-1)


def test_whole_numbers_of_numpy_are_whole_numbers():
    pair = [("One ran. Two sat. Three hid.", "Two sat.")]
    for options in ({"algorithm": "vns", "seed": 2}, {"nodes": 9}):
        given = {name: np.int64(value) if isinstance(value, int) else value for name, value in options.items()}
        assert sc.oracle(pair, **given).to_dict() == sc.oracle(pair, **options).to_dict()
    texts = ["the cat sat", "a dog ran", "one more"], ["the cat sat down", "a dog", "one less"]
    again = sc.rouge(*texts, seed=np.int64(3), resamples=np.int64(200))
    assert again.to_dict() == sc.rouge(*texts, seed=3, resamples=200).to_dict()


def test_a_column_that_stands_twice_is_refused():
    """pandas keeps one of them, the last."""
    rows = [["a", str(item), item, -item] for item in range(5)] + [["b", str(item), item + 1, 9] for item in range(5)]
    frame = pd.DataFrame(rows, columns=["system", "item", "score", "score"])
    with pytest.raises(CommandError, match="column score stands twice: give every column its own name"):
        sc.compare(frame)
