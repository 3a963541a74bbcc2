"""The command line as people meet it: groups, examples, suggestions, several systems."""

import argparse
import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import sumcurve
from sumcurve.__main__ import main, parser
from sumcurve.files.layout import Layout
from sumcurve.machine.arguments import GROUPS, INTERNALS, TOOLS, Verbs
from sumcurve.machine.spelling import there_are
from sumcurve.settings.config import PlanError, read
from sumcurve.study.doors import SCORERS, StudySettings


def verbs() -> Verbs:
    (action,) = (action for action in parser()._actions if isinstance(action, Verbs))
    return action


def test_help_names_every_verb_that_is_no_internal_once_in_a_group() -> None:
    lines = parser().format_help().splitlines()
    heads = [line.removesuffix(":") for line in lines if line.removesuffix(":") in GROUPS]
    assert heads == [group for group in GROUPS if group != INTERNALS]
    listed = [line.split()[0] for line in lines if line.startswith("  ") and not line.strip().startswith("-")]
    assert sorted([*listed, *verbs().groups[INTERNALS]]) == sorted(verbs().choices)


def test_the_verbs_alone_load_no_numpy() -> None:
    """A training sets the variables of its matrix products before numpy is loaded, or refuses."""
    code = "import sys; from sumcurve.__main__ import parser; parser(); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_a_verb_the_help_is_printed(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["sumcurve"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert capsys.readouterr().out == parser().format_help()


def nested(name: str, command: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    below = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    return [(name, command), *((f"{name} {verb}", inner) for each in below for verb, inner in each.choices.items())]


@pytest.mark.parametrize("verb", verbs().choices)
def test_an_example_in_every_help_is_understood(verb: str) -> None:
    for name, command in nested(verb, verbs().choices[verb]):
        lines = [line for line in command.format_help().splitlines() if line.startswith("example: ")]
        assert lines, f"sumcurve {name} --help has no example"
        for line in lines:
            words = shlex.split(line.removeprefix("example: ").partition(" < ")[0])
            assert words[0] == "sumcurve"
            assert callable(parser().parse_args(words[1:]).run)


@pytest.mark.parametrize("verb", [*verbs().groups[TOOLS], "across"])
def test_every_tool_is_quiet_and_writes_json(verb: str) -> None:
    first, *actions = nested(verb, verbs().choices[verb])
    for _, command in actions or [first]:
        options = {option for action in command._actions for option in action.option_strings}
        assert {"-q", "--json"} <= options


@pytest.mark.parametrize("verb", ["rouge", "compare", "curve", "power", "efficiency", "across"])
def test_a_tool_s_options_are_its_function_s_parameters(verb: str) -> None:
    """Each has the function's default; texts, tables and studies stand in files, which a shell names."""
    command = verbs().complete(verb)
    options = {action.dest: action for action in command._actions if action.option_strings}
    parameters = inspect.signature(getattr(sumcurve, verb)).parameters.values()
    optional = [one for one in parameters if one.default is not one.empty and one.name not in ("layout", "compare")]
    assert optional
    for parameter in optional:
        action = options[parameter.name]
        assert action.help
        assert action.default == (None if isinstance(action, argparse._AppendAction) else parameter.default)
    assert set(inspect.signature(Layout).parameters) <= {*options} or verb == "across"


def test_a_value_that_an_option_cannot_have_ends_with_status_2(monkeypatch, capsys) -> None:
    """Where the shell cannot read it, and where the function refuses it."""
    for words in (["--items", "many"], ["--items", "0"]):
        monkeypatch.setattr(sys, "argv", ["sumcurve", "power", "--sd-items", "18", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert re.search(r"'many' is no whole number|items is 0; give a whole number", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("given", "known", "meant"),
    [
        ("rogue", ["rouge", "power"], "rouge"),
        ("bartbase", ["bart_base", "pcov", "trans"], "bart_base"),
        ("sedes", ["seeds", "sizes"], "seeds"),
        ("zzz", ["seeds", "sizes"], None),
    ],
)
def test_the_nearest_name_is_proposed(given: str, known: list[str], meant: str | None) -> None:
    start = f"did you mean {meant}? " if meant else ""
    assert there_are(given, known) == f"{start}there are: {', '.join(known)}"


def test_verbs_studies_scorers_and_keys_are_proposed(monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["sumcurve", "efficency"])
    with pytest.raises(SystemExit):
        main()
    assert "did you mean efficiency?" in capsys.readouterr().err
    (tmp_path / "docstrings.yaml").write_text("sedes: [1]\nbootstrap: {resample: 200}\n")
    with pytest.raises(PlanError, match=r"docstring\.yaml is missing; did you mean docstrings\?"):
        read(tmp_path / "docstring.yaml")
    with pytest.raises(PlanError) as error:
        read(tmp_path / "docstrings.yaml").validated(StudySettings)
    assert "1: sedes: unknown key; did you mean seeds?" in str(error.value)
    assert "2: bootstrap.resample: unknown key; did you mean resamples?" in str(error.value)
    assert "did you mean rouge?" in there_are("rogue", SCORERS)


@pytest.mark.parametrize(
    ("words", "option", "values"),
    [
        (["rouge", "--references", "a", "b", "--candidates", "c"], "--references", "ab"),
        (["compare", "scores.csv", "--metric", "x", "y", "z"], "--metric", "xy"),
        (["curve", "runs.csv", "--reach", "30", "40"], "--reach", ("30", "40")),
    ],
)
def test_a_second_value_of_an_option_is_told_how_both_are_written(monkeypatch, capsys, words, option, values) -> None:
    monkeypatch.setattr(sys, "argv", ["sumcurve", *words])
    with pytest.raises(SystemExit):
        main()
    first, second = values
    assert f"say {option} again: {option} {first} {option} {second}\n" in capsys.readouterr().err


def test_several_systems_are_tested_against_the_first_as_one_family(tmp_path, monkeypatch, capsys) -> None:
    """Differences are those of two at a time; the corrected p is at least theirs, and quiet prints no notes."""
    monkeypatch.chdir(tmp_path)
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "some", "dogs", "run", "over", "hills"]
    texts = {"R": [" ".join(words[start:] + words[:start]) for start in range(len(words))] * 3}
    texts["A"] = [text[:30] for text in texts["R"]]
    texts["B"] = [text[:20] for text in texts["R"]]
    texts["C"] = [text[10:40] for text in texts["R"]]
    for name, lines in texts.items():
        Path(name).write_text("\n".join(lines) + "\n")

    def rouge(*arguments: str) -> dict:
        monkeypatch.setattr(sys, "argv", ["sumcurve", "rouge", "--references", "R", "--json", "J", *arguments])
        main()
        return json.loads(Path("J").read_text())

    alone = [rouge("--candidates", "A", "--compare", other)["comparison"] for other in "BC"]
    capsys.readouterr()
    together = rouge("-q", "--candidates", "A", "B", "C")["comparisons"]
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "note:" not in printed.out
    assert [comparison.pop("file") for comparison in together] == ["B", "C"]
    for pair, both in zip(alone, together, strict=True):
        for metric, test in pair.items():
            assert both[metric]["difference"] == test["difference"]
            assert both[metric]["p_holm"] >= test["p_holm"]


@pytest.mark.parametrize(
    ("verb", "missing"),
    [
        (["efficiency", "X"], "no column of sizes is clear .*sumcurve efficiency X --size SIZE --scores rouge1"),
        (
            ["correlate", "--manual", "X", "--scores", "X"],
            "no column of items among method, doc, rouge1: call it 'item', or name it",
        ),
    ],
)
def test_missing_columns_are_named_with_those_that_there_are(
    tmp_path, monkeypatch, verb: list[str], missing: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("X").write_text("method,doc,rouge1\na,1,2\n")
    monkeypatch.setattr(sys, "argv", ["sumcurve", *verb])
    with pytest.raises(SystemExit, match=missing):
        main()
