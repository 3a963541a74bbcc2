"""Settings that trials chose: the same budget for every base, twins that share it, and how noisy the choice is."""

import csv
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest
import yaml

from sumcurve.config import PlanError, read_method, read_settings
from sumcurve.manifest import digest
from sumcurve.plan import Plan
from sumcurve.settings import MethodSearch
from sumcurve.training import trials
from sumcurve.training.trials import (
    COLUMNS,
    KEY,
    Trial,
    TrialsSettings,
    best_setting,
    chosen,
    form_with,
    read_rows,
    run_trials,
    settings_of,
    small,
    tasks,
    with_noise,
    write_settings,
)

CONFIG = Path(__file__).parents[3] / "config"
SETTINGS = read_settings(CONFIG / "trials.yaml", TrialsSettings)
PLAN = Plan.read(CONFIG, SETTINGS.study)
ROWS = read_rows(CONFIG / "trials.csv")
UNTRIED = {"fairseq_lstm"}  # has ABS's rate and dropout, and is no twin of it
METHODS = sorted({path.stem for path in (CONFIG / "methods").glob("*.yaml")} - UNTRIED)
BASES = [method for method in METHODS if method not in SETTINGS.tuned_with]

# TRANS's model and search say what fairseq's do not.
SEARCH = {*MethodSearch.model_fields} - {"exempt"}  # which is an empty list
FAIRSEQ = {"kind", "architecture", "copy_attention", "output", *SEARCH}
# What a twin and its base may differ by, in any form: what it is called after.
DIFFERENCES = {
    "ent": {"entity_attention", "entity_penalty", "name", "loss", "entity_weight"},
    "ent_loss": {"entity_attention", "name", "loss", "entity_weight"},
    "ent_penalty": {"entity_attention", "entity_penalty", "name", "loss", "entity_weight", "entity_alone"},
    "ent_gold": {"entity_penalty", "entity_positions"},
    "reg_self": {"name", "loss", "soft_weight", "temperature"},
    "reg_dual": {"second_output", "name", "loss", "soft_weight", "temperature"},
    "trans_nocopy": {"copy_attention", "label_smoothing"},
    "fairseq_transformer": {*FAIRSEQ, "label_smoothing"},
    "fairseq_pointer": FAIRSEQ,
}


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if pairs is None:
        yield path, value
        return
    for key, inner in pairs:
        yield from leaves(inner, (*path, str(key)))


@pytest.mark.parametrize("twin", DIFFERENCES)
def test_twins_differ_from_their_base_by_what_they_are_called_after(twin: str) -> None:
    base = SETTINGS.tuned_with[twin]
    ours, theirs = (read_method(CONFIG / "methods" / f"{one}.yaml").forms for one in (twin, base))
    assert ours.keys() == theirs.keys()
    for name, form in ours.items():
        own, other = (dict(leaves(one.model_dump(mode="json"))) for one in (form, theirs[name]))
        differing = {path[-1] for path in own.keys() | other.keys() if own.get(path) != other.get(path)}
        assert differing == DIFFERENCES[twin], form


def test_every_twin_is_held_to_its_base() -> None:
    assert DIFFERENCES.keys() == SETTINGS.tuned_with.keys()
    assert {base for base in SETTINGS.tuned_with.values() if base in SETTINGS.tuned_with} == set()


@pytest.mark.parametrize("method", METHODS)
def test_small_settings_are_those_that_all_trials_of_the_present_settings_chose(method: str) -> None:
    base = SETTINGS.tuned_with.get(method, method)
    found = chosen(PLAN, SETTINGS, base, small(CONFIG, base), ROWS)
    assert settings_of(small(CONFIG, method)) == found, f"run `python -m sumcurve trials --write {base}`"


def test_the_tables_noise_is_that_of_its_rows() -> None:
    assert tuple((CONFIG / "trials.csv").read_text().splitlines()[0].split(",")) == COLUMNS
    assert {row["method"] for row in ROWS} <= set(BASES)
    assert [{name: str(value) for name, value in row.items()} for row in with_noise(ROWS)] == ROWS


def test_noise_is_pooled_over_the_settings_of_a_stage() -> None:
    worths = {(0.001, 0.1): (10.0, 12.0), (0.003, 0.1): (14.0, 13.0), (0.006, 0.1): (9.0,)}
    rows = [
        dict(zip(KEY, ("a", "first", rate, dropout, seed, "d"), strict=True)) | {"worth": worth, "nll": 1.0}
        for (rate, dropout), values in worths.items()
        for seed, worth in enumerate(values)
    ]
    told = {(row["rate"], row["seed"]): row for row in with_noise(rows)}
    error = (fmean([variance((10, 12)), variance((14, 13))]) / 2) ** 0.5
    for rate, mean, difference in ((0.001, 11.0, 2.0), (0.003, 13.5, 1.0)):
        for seed in (0, 1):
            row = told[rate, seed]
            assert (row["mean"], row["difference"]) == (mean, difference)
            assert row["standard_error"] == pytest.approx(error, abs=1e-3)
    assert (told[0.006, 0]["difference"], told[0.006, 0]["standard_error"]) == ("", "")
    assert best_setting(rows) == (0.003, 0.1)
    tie = [row | {"worth": 1.0, "nll": 3.0 - row["rate"]} for row in rows]
    assert best_setting(tie) == (0.006, 0.1), "ties go to the lower likelihood loss"


@pytest.mark.parametrize("method", BASES)
def test_a_trial_changes_what_it_tunes_alone(method: str) -> None:
    before = small(CONFIG, method)
    several = len(before.training.phases) > 1
    after = form_with(before, Trial(rate=0.0123, dropout=0.456), 0.0456)
    assert settings_of(after) == (0.0123, 0.456, 0.0456 if several else None)
    own, other = (dict(leaves(one.model_dump(mode="json"))) for one in (before, after))
    assert own.keys() == other.keys()
    assert {path[-1] for path in own if own[path] != other[path]} <= {"rate", "dropout"}
    rate, dropout, last = settings_of(before)
    assert form_with(after, Trial(rate=rate, dropout=dropout), last) == before


@pytest.mark.parametrize("method", [*BASES, "ent"])
def test_what_was_chosen_is_written_into_the_small_form_alone(method: str, tmp_path: Path) -> None:
    path = shutil.copytree(CONFIG, tmp_path / "config") / "methods" / f"{method}.yaml"
    before, text = read_method(path), path.read_text()
    several = len(before.forms["small"].training.phases) > 1
    write_settings(path, (0.0123, 0.456, 0.0456 if several else None))
    after = read_method(path)
    expected = form_with(before.forms["small"], Trial(rate=0.0123, dropout=0.456), 0.0456)
    assert after.forms == before.forms | {"small": expected}
    changed = [new for old, new in zip(text.splitlines(), path.read_text().splitlines(), strict=True) if old != new]
    assert len(changed) <= 2 + len(expected.training.phases), "comments and layout stay"


def test_a_key_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    path = shutil.copytree(CONFIG, tmp_path / "config") / "methods" / "abs.yaml"
    path.write_text(path.read_text().replace("dropout: 0.1, ", "").replace("dropout: 0.3, ", ""))
    with pytest.raises(PlanError, match=r"abs.yaml:\d+: forms.small.model.dropout is not there"):
        write_settings(path, (0.1, 0.2, None))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workplace whose trials are tiny: `smoke` as the form `small`, on the invented corpus of that study."""
    from sumcurve.corpora.content import Content
    from sumcurve.corpora.prepare import prepare
    from sumcurve.corpora.sources import SOURCES

    shutil.copytree(CONFIG, tmp_path / "config")
    shutil.copy(CONFIG.parent / "recipes.yaml", tmp_path)
    for path in (tmp_path / "config" / "methods").glob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        small = content["forms"]["small"] = content["forms"]["smoke"]
        small["model"]["dropout"] = 0.0
        small["phases"] = {name: {"optimizer": {"rate": 0.001}} for name in content["phases"]}
        path.write_text(yaml.safe_dump(content, sort_keys=False))
    shutil.copy(CONFIG / "forms" / "smoke.yaml", tmp_path / "config" / "forms" / "small.yaml")
    (tmp_path / "config" / "trials.csv").unlink()
    told = {"study": "smoke", "corpora": {"tales": 50}, "seeds": [1, 2], "last": [0.001, 0.01]}
    told |= {
        "first": [{"rate": 0.004, "dropout": 0.1}, {"rate": 0.008, "dropout": 0.1}],
        "tuned_with": {"nats": "pcov"},
    }
    (tmp_path / "config" / "trials.yaml").write_text(yaml.safe_dump(told))
    plan = Plan.read(tmp_path / "config", "smoke")
    (corpus,) = (one for one in plan.named("corpora", "corpus") if one.key.startswith("corpora/tales"))
    place = tmp_path / "results" / corpus.key
    place.mkdir(parents=True)
    tales = Content(CONFIG.parent / "tests" / "data" / "tales.jsonl", SOURCES["jsonl"])
    prepare(tales, plan.settings.corpora["tales"], place)
    return tmp_path


def test_trials_of_two_stages_go_on_where_they_were_left(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The last phase starts from what the first stage chose, of its own seed; what is there is not trained again."""

    class Here:
        """Processes that are this one, so that what is trained can be counted."""

        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __enter__(self) -> "Here":
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def submit(self, call: Any, *given: Any) -> Any:
            ran.append(given[-1])
            return type("Done", (), {"result": lambda self: call(*given)})()

    ran: list[trials.Task] = []
    monkeypatch.setattr(trials, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(trials, "as_completed", iter)
    config, table = home / "config", home / "config" / "trials.csv"
    run_trials(config, home, 1, ["pcov"])
    rows = read_rows(table)
    assert len(rows) == len(ran) == 8
    assert {(row["stage"], row["phase"]) for row in rows} == {("first", "nll"), ("last", "coverage")}
    assert {row["method"] for row in rows} == {"pcov"}
    rate, _ = best_setting([row for row in rows if row["stage"] == "first"])
    starts = {
        row["seed"]: int(row["updates"]) for row in rows if row["stage"] == "first" and float(row["rate"]) == rate
    }
    for row in rows:
        if row["stage"] == "last":
            least = small(config, "pcov").training.phases[-1].stop.min_updates
            assert int(row["updates"]) >= starts[row["seed"]] + least
    assert "put rate" in capsys.readouterr().out

    lost = rows.pop()
    assert lost["stage"] == "last"
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    shutil.rmtree(home / "scratch" / "trials")  # its checkpoint is made again
    ran.clear()
    run_trials(config, home, 1, ["pcov"], write=True)
    assert [task.key for task in ran] == [tuple(lost[name] for name in KEY)]
    again = {tuple(row[name] for name in KEY): row for row in read_rows(table)}
    for name in COLUMNS:
        if name != "seconds":
            assert again[ran[0].key][name] == lost[name]
    settings = read_settings(config / "trials.yaml", TrialsSettings)
    found = chosen(Plan.read(config, "smoke"), settings, "pcov", small(config, "pcov"), read_rows(table))
    assert found is not None
    assert settings_of(small(config, "pcov")) == settings_of(small(config, "nats")) == found

    ran.clear()
    run_trials(config, home, 1, ["nats"])
    assert ran == []
    assert "small has what the trials chose" in capsys.readouterr().out


def test_a_changed_setting_makes_rows_stale() -> None:
    form = small(CONFIG, "pcov")
    old = {task.digest for task in tasks(PLAN, SETTINGS, "pcov", form, "first")}
    wider = form.model_copy(update={"model": form.model.model_copy(update={"embedding": 7})})
    assert old.isdisjoint(task.digest for task in tasks(PLAN, SETTINGS, "pcov", wider, "first"))
    best = Trial(rate=0.003, dropout=0.1)
    last = {task.digest for task in tasks(PLAN, SETTINGS, "pcov", form, "last", best)}
    other = {task.digest for task in tasks(PLAN, SETTINGS, "pcov", form, "last", Trial(rate=0.001, dropout=0.1))}
    assert last.isdisjoint(other), "the last phase's trials are of what the first stage chose"
    assert len(digest({})) == len(next(iter(last)))
    assert len(last) == len(SETTINGS.last)
    assert [task.seed for task in tasks(PLAN, SETTINGS, "abs", small(CONFIG, "abs"), "first")] == [
        seed for _, seed in product(SETTINGS.first, SETTINGS.seeds)
    ]
