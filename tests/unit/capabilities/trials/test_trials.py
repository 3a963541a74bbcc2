"""Settings that trials chose: the same budget for every base, twins that share it, and how noisy the choice is."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest
import yaml

from invented import OF_THE_HUB
from sumcurve.capabilities.trials.command import choose
from sumcurve.capabilities.trials.grid import Trials, form_with, settings_of
from sumcurve.capabilities.trials.table import COLUMNS, KEY, read_rows, with_noise
from sumcurve.settings.config import PlanError
from sumcurve.settings.forms import Form
from sumcurve.study.methods import form_of_run, read_method
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan

ROOT = Path(__file__).parents[4]
CONFIG = ROOT / "config"
SMALL = Trials(Plan.read(CONFIG, "trials"))
METHODS = sorted({path.stem for path in (CONFIG / "methods").glob("*.yaml")} - OF_THE_HUB)
TWINS = SMALL.grid.tuned_with
BASES = [method for method in METHODS if method not in TWINS]

# What a twin and its base may differ by, in any form: what it is called after.
DIFFERENCES = {
    "ent": {"entity_attention", "entity_penalty", "name", "loss", "entity_weight"},
    "ent_loss": {"entity_attention", "name", "loss", "entity_weight"},
    "ent_penalty": {"entity_attention", "entity_penalty", "name", "loss", "entity_weight", "entity_alone"},
    "ent_gold": {"entity_penalty", "entity_positions"},
    "reg_self": {"name", "loss", "soft_weight", "temperature"},
    "reg_dual": {"second_output", "name", "loss", "soft_weight", "temperature"},
    "trans_nocopy": {"copy_attention", "label_smoothing"},
}


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if pairs is None:
        yield path, value
        return
    for key, inner in pairs:
        yield from leaves(inner, (*path, str(key)))


@pytest.mark.parametrize("twin", {**DIFFERENCES, **TWINS})
def test_twins_differ_from_their_base_by_what_they_are_called_after(twin: str) -> None:
    ours, theirs = (read_method(CONFIG / "methods" / f"{name}.yaml").forms for name in (twin, TWINS[twin]))
    assert {"paper", "small", "smoke"} <= ours.keys() <= theirs.keys()
    different = {name: changed(form, theirs[name]) for name, form in ours.items()}
    assert all(keys <= DIFFERENCES[twin] for keys in different.values()), different
    assert set().union(*different.values()) == DIFFERENCES[twin]


def changed(form: Form, other: Form) -> set[str]:
    """The last keys of the values by which two forms differ."""
    ours, theirs = (dict(leaves(block.model_dump(mode="json"))) for block in (form, other))
    return {path[-1] for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)}


@pytest.mark.parametrize("method", METHODS)
def test_settings_are_those_that_all_trials_of_the_present_settings_chose(method: str) -> None:
    choice = SMALL.chosen(TWINS.get(method, method))
    present = settings_of(read_method(CONFIG / "methods" / f"{method}.yaml").forms["small"])
    assert present == choice, f"`python -m sumcurve trials {method}` says what goes into its file"


def test_a_recorded_study_asks_for_nothing_and_the_tables_noise_is_that_of_its_rows() -> None:
    assert not list(SMALL.missing())
    plan = Plan.read(CONFIG, "trials")
    assert (plan.folders, plan.rows, plan.together) == ({}, [], {})
    path = CONFIG / "trials.csv"
    rows = read_rows(path)
    assert tuple(path.read_text().splitlines()[0].split(",")) == COLUMNS
    assert {row["method"] for row in rows} <= set(BASES)
    assert [{name: str(value) for name, value in row.items()} for row in with_noise(rows)] == rows


def test_noise_is_pooled_over_the_settings_of_a_stage() -> None:
    worths = {(0.001, 0.1): (10.0, 12.0), (0.003, 0.1): (14.0, 13.0), (0.006, 0.1): (9.0,)}
    rows = [
        dict(zip(KEY, ("a", "first", rate, dropout, "", seed, "d"), strict=True)) | {"worth": worth}
        for (rate, dropout), values in worths.items()
        for seed, worth in enumerate(values)
    ]
    noise = {(row["rate"], row["seed"]): row for row in with_noise(rows)}
    error = (fmean([variance((10, 12)), variance((14, 13))]) / 2) ** 0.5
    for rate, mean, difference in ((0.001, 11.0, 2.0), (0.003, 13.5, 1.0)):
        for seed in (0, 1):
            row = noise[rate, seed]
            assert (row["mean"], row["difference"]) == (mean, difference)
            assert row["standard_error"] == pytest.approx(error, abs=1e-3)
    assert (noise[0.006, 0]["difference"], noise[0.006, 0]["standard_error"]) == ("", "")


@pytest.mark.parametrize("method", [*BASES, "ent"])
def test_a_choice_changes_what_it_tunes_alone_in_a_form(method: str) -> None:
    form = read_method(CONFIG / "methods" / f"{method}.yaml").forms["small"]
    present, other = settings_of(form), {"rate": 0.0123, "dropout": 0.456, "last": 0.0456}
    choice = {name: value for name, value in other.items() if name in present}
    after = form_with(form, choice)
    assert settings_of(after) == choice
    assert changed(form, after) == {"rate", "dropout"}
    assert form_with(after, present) == form


# --- a study of the smallest corpus


BEGINS = "import json, os, sys; n = int(open(os.environ['SUMCURVE_MODEL'] + '/n').read())"
PRINTS = "[print(' '.join(' '.join(json.loads(line)['source']).split()[:n])) for line in sys.stdin]"
PROGRAM = {
    "kind": "command",
    "train": 'echo "$WORDS" > "$SUMCURVE_MODEL/n"',
    "summarize": f'python -c "{BEGINS}; {PRINTS}"',
    "settings": {"WORDS": 2},
    "trials": [{"WORDS": 2}, {"WORDS": 12}],
}
PAIRS = [{"rate": 0.004, "dropout": 0.1}, {"rate": 0.008, "dropout": 0.1}, {"rate": 0.012, "dropout": 0.1}]
STUDY: dict[str, Any] = {
    "title": "Trials",
    "extends": "smoke",
    "form": "mine",
    "sums": "native",
    "methods": ["pcov"],
    "seeds": [1, 2],
    "systems": {"theirs": PROGRAM},
    "labels": None,
    "corpora": {"tales": {"methods": None, "trainings": {}}},
}
GRID: dict[str, Any] = {
    "sizes": {"tales": 50},
    "first": PAIRS[:2],
    "last": [0.001, 0.01],
    "tuned_with": {"nats": "pcov"},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workplace with a study `mine` of trials, whose form of this name is trained in few updates."""
    shutil.copytree(CONFIG, tmp_path / "config")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for name in ("pcov", "nats", "ent"):
        path = tmp_path / "config" / "methods" / f"{name}.yaml"
        content = yaml.safe_load(path.read_text())
        phases = {phase: {"optimizer": {"rate": 0.001}} for phase in content["phases"]}
        smoke = content["forms"]["smoke"] or {}
        content["forms"]["mine"] = {**smoke, "model": {**smoke.get("model", {}), "dropout": 0.0}, "phases": phases}
        path.write_text(yaml.safe_dump(content, sort_keys=False))
    form = yaml.safe_load((CONFIG / "forms" / "smoke.yaml").read_text())
    form["first"]["stop"] |= {"max_updates": 20}
    (tmp_path / "config" / "forms" / "mine.yaml").write_text(yaml.safe_dump(form))
    write(tmp_path)
    return tmp_path


def write(home: Path, grid: dict[str, Any] | None = None, **keys: Any) -> None:
    content = {**STUDY, **keys, "grid": GRID if grid is None else {**GRID, **grid}}
    (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(content))


def planned(home: Path) -> Plan:
    return Plan.read(home / "config", "mine")


def train(home: Path, capsys: Any) -> str:
    """Make what the study asks for, as Snakemake has it made, and take it up; what is printed then."""
    paths = [f"results/{key}/manifest.json" for key in planned(home).folders]
    WrittenPlan.of(planned(home)).write(home)
    command = [sys.executable, "-m", "sumcurve", "make", *paths]
    # A corpus and what is trained on it, in a process whose variables would change sums.
    here = {**os.environ, "OMP_NUM_THREADS": "1"}
    made = subprocess.run(command, cwd=home, env=here, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    choose(home / "config", home, "mine", [])
    return str(capsys.readouterr().out)


@pytest.mark.long
def test_two_stages_of_a_method_and_a_program_are_runs_that_become_rows_and_a_choice(home: Path, capsys: Any) -> None:
    """The program says the first words of a source, two or twelve."""
    from sumcurve.corpora.store import Corpus
    from sumcurve.corpora.tokens import tokenize
    from sumcurve.rouge_engine.scorer import score_items
    from sumcurve.settings.study import Rouge
    from sumcurve.training.history import METRICS

    table = home / "config" / "mine.csv"
    plan = planned(home)
    assert {folder.kind for folder in plan.folders.values()} == {
        *("corpus", "fraction", "train", "train_program", "decode_program")
    }
    outputs = plan.named("outputs")
    assert {(one.kind, one.specification["part"]) for one in outputs} == {("decode_program", "valid")}
    assert {one.specification["sums"] for one in plan.named("runs", "train")} == {"native"}
    assert "pcov: trials to go: 4 of stage last" in train(home, capsys)
    rows = read_rows(table)
    stages = {(row["method"], row["stage"], row["phase"]) for row in rows}
    assert stages == {("pcov", "first", "nll"), ("theirs", "first", "")}
    valid = Corpus(home / "results" / planned(home).planned["tales"].prepared).part("valid")
    texts, references = list(valid.text), [record.all_references for record in valid]
    for row in rows:
        assert row["records"] == "64"
        if row["settings"]:
            words = int(row["settings"].removeprefix("WORDS="))
            starts = [" ".join(" ".join(text.source).split()[:words]) for text in texts]
            items = score_items([[" ".join(tokenize(start, lower=True))] for start in starts], references, Rouge())
            shares = [fmean(item[name] for item in items) for name in METRICS]
            assert float(row["worth"]) == pytest.approx(100 * (shares[0] * shares[1] * shares[2]) ** (1 / 3), abs=1e-3)
            assert (row["rate"], row["nll"]) == ("", "")

    best = Trials(planned(home), rows).ranked(Trials(planned(home), rows).stages("pcov")[0])[0]
    runs = planned(home).named("runs")
    assert len(runs) == 4
    assert len({one.specification.get("begins") for one in runs}) == 3, "the phases before are trained once a seed"
    assert "put dropout=0.1; last=" in train(home, capsys)
    first = {row["seed"]: row for row in rows if row["rate"] == str(best["rate"])}
    last = [row for row in read_rows(table) if row["stage"] == "last"]
    for row in last:
        assert row["phase"] == "coverage"
        least = Trials(planned(home)).form("pcov").training.phases[-1].stop.min_updates
        assert int(row["updates"]) >= int(first[row["seed"]]["updates"]) + least
    assert not planned(home).folders

    whole = table.read_text()
    lines = whole.splitlines(keepends=True)
    lost = next(line for line in lines if ",last," in line)
    table.write_text("".join(line for line in lines if line != lost))
    choose(home / "config", home, "mine", ["nats"])  # its folder is there
    assert table.read_text() == whole
    capsys.readouterr()
    choose(home / "config", home, "mine", ["theirs"])
    assert "put WORDS=12 into systems.theirs, in place of WORDS=2" in capsys.readouterr().out
    write(home, systems={"theirs": PROGRAM | {"settings": {"WORDS": 12}}})
    choose(home / "config", home, "mine", ["theirs"])
    assert "systems.theirs has what the trials chose: WORDS=12" in capsys.readouterr().out


def rows_of(trials: Trials, stage: int, **worths: float) -> list[dict[str, str]]:
    """Rows of a stage of pcov: by rate the given worths, 1 for others."""
    given = {name.removeprefix("at_"): worth for name, worth in worths.items()}
    rows = []
    for training in trials.stages("pcov")[stage]:
        worth = given.get(str(training.row["rate"]).replace(".", "_"), 1.0)
        rows.append({name: str(training.row[name]) for name in KEY} | {"worth": str(worth), "nll": "2"})
    return rows


def test_the_last_phase_is_behind_the_best_pair_and_ties_go_to_the_lower_loss(home: Path) -> None:
    plan = planned(home)
    first = rows_of(Trials(plan), 0)  # all worths are equal
    for row in first:
        row["nll"] = "1" if row["rate"] == "0.008" else "2"
    trials = Trials(plan, first)
    last = trials.stages("pcov")[1]
    for training in last:
        form = form_of_run(training.folders[0].specification)
        assert settings_of(form) == {"rate": 0.008, "dropout": 0.1, "last": training.row["rate"]}
    assert trials.chosen("pcov") is None
    whole = Trials(plan, [*first, *rows_of(trials, 1, at_0_01=5.0)])
    assert whole.chosen("pcov") == {"rate": 0.008, "dropout": 0.1, "last": 0.01}


def test_a_changed_setting_makes_rows_stale(home: Path) -> None:
    rows = rows_of(Trials(planned(home)), 0)
    assert len(Trials(planned(home), rows).stages("pcov")) == 2
    path = home / "config" / "methods" / "pcov.yaml"
    content = yaml.safe_load(path.read_text())
    content["forms"]["mine"]["model"]["embedding"] = 7
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    missing = [(one.row["rate"], one.row["seed"]) for one in Trials(planned(home), rows).missing(["pcov"])]
    assert missing == list(product([0.004, 0.008], [1, 2]))


OWN = [{"rate": rate, "dropout": 0.2} for rate in (0.00001, 0.00003, 0.0001)]


def say_of_pcov(home: Path, own: list[dict[str, float]]) -> None:
    path = home / "config" / "methods" / "pcov.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"trials": own}, sort_keys=False))


RECORDS = {"tales": {"sizes": [20], "percents": None, "methods": None, "trainings": {}}}


@pytest.mark.parametrize(
    ("grid", "keys", "message"),
    [
        ({"sizes": {}}, {}, r"mine.yaml:\d+: grid.sizes"),
        ({"sizes": {"tails": 30}}, {}, r"mine.yaml:\d+: grid.sizes.tails: no corpus 'tails' of the study; .* tales"),
        ({"sizes": {"tales": 101}}, {}, r"mine.yaml:\d+: grid: 101: sizes are percents"),
        ({"method_sizes": {"pcov": 640}}, {}, r"mine.yaml:\d+: grid: 640: sizes are percents"),
        ({}, {"seeds": [1]}, r"mine.yaml:\d+: seeds: \[1\]: trials at percents have two seeds or more"),
        ({"tuned_with": {"nats": "pcov", "ent": "nats"}}, {}, r"mine.yaml:\d+: grid: tuned_with: nats is a base"),
        ({"tuned_with": {"nats": "none"}}, {"methods": ["nats"]}, "has no method none in form mine; .* another base"),
        ({"studies": {"abs": "mine"}}, {}, r"mine.yaml:\d+: grid.studies.abs: study mine has a grid itself"),
        ({"studies": {"abs": "smoke"}}, {}, "study smoke has no method abs in form mine; name a study in `studies`"),
        ({}, {"corpora": {"tales": {"methods": []}}}, "study mine trains pcov on none of tales; name another corpus"),
        ({"first": PAIRS[:1]}, {}, r"systems.theirs: 2 trials, but every method gets 1"),
        ({"first": PAIRS[:1]}, {"pcov": OWN[:2]}, r"pcov.yaml:\d+: trials: 2 trials, but every method gets 1"),
        ({"first": PAIRS}, {"pcov": []}, r"pcov.yaml:\d+: trials: 0 trials, but every method gets 3"),
    ],
)
def test_what_is_wrong_with_a_grid_is_named(home: Path, grid: dict, keys: dict, message: str) -> None:
    if "pcov" in keys:
        say_of_pcov(home, keys["pcov"])
    write(home, grid, **{name: told for name, told in keys.items() if name != "pcov"})
    with pytest.raises(PlanError, match=message):
        planned(home)


def test_a_method_may_say_its_own_trials(home: Path) -> None:
    say_of_pcov(home, OWN[:2])
    assert [training.row["rate"] for training in Trials(planned(home)).stages("pcov")[0]] == [1e-5, 1e-5, 3e-5, 3e-5]


@pytest.mark.parametrize(
    ("study", "name", "message"),
    [
        ("smoke", "pcov", "study smoke has no trials: write a `grid`"),
        ("mine", "trans", "trans is no method of study mine and no program with `trials`; there are: pcov, theirs"),
        ("none", "pcov", r"none.yaml is missing"),
    ],
)
def test_what_is_not_tried_is_refused(home: Path, study: str, name: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        choose(home / "config", home, study, [name])
