"""Settings that trials chose: the same budget for every base, twins that share it, and how noisy the choice is."""

import csv
import shutil
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest
import yaml

from sumcurve.settings.config import PlanError, read_settings
from sumcurve.settings.forms import Trial
from sumcurve.settings.search import MethodSearch
from sumcurve.store.manifest import MANIFEST, digest, hashes, write_sealed
from sumcurve.study import trials
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from sumcurve.study.trials import (
    COLUMNS,
    KEY,
    TrialsSettings,
    best_setting,
    chosen,
    form_of,
    form_with,
    plan_of,
    read_rows,
    run_trials,
    settings_of,
    tasks,
    with_noise,
    write_settings,
)

CONFIG = Path(__file__).parents[3] / "config"
SETTINGS = read_settings(CONFIG / "trials.yaml", TrialsSettings)
PLAN = Plan.read(CONFIG, SETTINGS.study)
ROWS = read_rows(CONFIG / "trials.csv")
LARGE = read_settings(CONFIG / "trials-large.yaml", TrialsSettings)
PLAN_LARGE = Plan.read(CONFIG, LARGE.study)
ROWS_LARGE = read_rows(CONFIG / "trials-large.csv")
METHODS = sorted(path.stem for path in (CONFIG / "methods").glob("*.yaml"))
UNTRIED: set[str] = set()  # whose settings are proposals
UNTRIED_LARGE: set[str] = set()
BASES = [method for method in METHODS if method not in SETTINGS.tuned_with]

# TRANS's model and search say what fairseq's do not.
SEARCH = set(MethodSearch.model_fields) - {"exempt"}  # which is an empty list
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
    assert {"paper", "small", "smoke"} <= ours.keys() <= theirs.keys()  # the large form has no twins
    found = {}
    for name, form in ours.items():
        own, other = (dict(leaves(one.model_dump(mode="json"))) for one in (form, theirs[name]))
        found[name] = {path[-1] for path in own.keys() | other.keys() if own.get(path) != other.get(path)}
        assert found[name] <= DIFFERENCES[twin], form
    assert set().union(*found.values()) == DIFFERENCES[twin]


def test_every_twin_is_held_to_its_base() -> None:
    assert DIFFERENCES.keys() == SETTINGS.tuned_with.keys()
    assert {base for base in SETTINGS.tuned_with.values() if base in SETTINGS.tuned_with} == set()


@pytest.mark.parametrize("method", METHODS)
def test_small_settings_are_those_that_all_trials_of_the_present_settings_chose(method: str) -> None:
    base = SETTINGS.tuned_with.get(method, method)
    found = chosen(plan_of(CONFIG, SETTINGS, base), SETTINGS, base, form_of(CONFIG, base), ROWS)
    if base in UNTRIED:
        assert found is None, f"{base} has its trials: take it out of UNTRIED"
        return
    assert settings_of(form_of(CONFIG, method)) == found, f"run `python -m sumcurve trials --write {base}`"


@pytest.mark.parametrize("method", PLAN_LARGE.settings.methods)
def test_large_settings_are_those_that_all_trials_of_the_present_settings_chose(method: str) -> None:
    form = form_of(CONFIG, method, LARGE.form)
    found = chosen(PLAN_LARGE, LARGE, method, form, ROWS_LARGE)
    if method in UNTRIED_LARGE:
        assert found is None, f"{method} has its trials: take it out of UNTRIED_LARGE"
        return
    told = f"run `python -m sumcurve trials --settings config/trials-large.yaml --write {method}`"
    assert settings_of(form) == found, told


def test_the_large_forms_trials_are_of_the_form_that_its_study_trains() -> None:
    assert PLAN_LARGE.settings.form == LARGE.form
    assert set(PLAN_LARGE.settings.methods) >= UNTRIED_LARGE
    assert LARGE.again is not None
    (corpus,) = LARGE.records
    sizes = PLAN_LARGE.settings.corpora[corpus].sizes
    assert {LARGE.records[corpus], LARGE.again.records} <= set(sizes or [])


@pytest.mark.parametrize(
    ("table", "rows", "methods"), [("trials.csv", ROWS, BASES), ("trials-large.csv", ROWS_LARGE, METHODS)]
)
def test_the_tables_noise_is_that_of_its_rows(table: str, rows: list[dict[str, str]], methods: list[str]) -> None:
    assert tuple((CONFIG / table).read_text().splitlines()[0].split(",")) == COLUMNS
    assert {row["method"] for row in rows} <= set(methods)
    assert [{name: str(value) for name, value in row.items()} for row in with_noise(rows)] == rows


def test_noise_is_pooled_over_the_settings_of_a_stage() -> None:
    worths = {(0.001, 0.1): (10.0, 12.0), (0.003, 0.1): (14.0, 13.0), (0.006, 0.1): (9.0,)}
    rows = [
        dict(zip(KEY, ("a", "first", rate, dropout, "", seed, "d"), strict=True)) | {"worth": worth, "nll": 1.0}
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
    before = form_of(CONFIG, method)
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
    write_settings(path, "small", (0.0123, 0.456, 0.0456 if several else None))
    after = read_method(path)
    expected = form_with(before.forms["small"], Trial(rate=0.0123, dropout=0.456), 0.0456)
    assert after.forms == before.forms | {"small": expected}
    changed = [new for old, new in zip(text.splitlines(), path.read_text().splitlines(), strict=True) if old != new]
    assert len(changed) <= 2 + len(expected.training.phases), "comments and layout stay"


def test_a_key_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    path = shutil.copytree(CONFIG, tmp_path / "config") / "methods" / "abs.yaml"
    path.write_text(path.read_text().replace("dropout: 0.1, ", "").replace("dropout: 0.3, ", ""))
    with pytest.raises(PlanError, match=r"abs.yaml:\d+: forms.small.model.dropout is not there"):
        write_settings(path, "small", (0.1, 0.2, None))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workplace whose trials are tiny: `smoke` as the form `small`, on the invented corpus of that study."""
    from sumcurve.corpora.prepare import prepare
    from sumcurve.sources import SOURCES
    from sumcurve.sources.content import Content

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
    files = {name: {"sha256": sha256, "bytes": (place / name).stat().st_size} for name, sha256 in hashes(place).items()}
    told = {"specification": corpus.specification, "files": files, "facts": {}, "inputs": {}}
    write_sealed(place / MANIFEST, told)
    return tmp_path


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tasks that trials train, in processes that are this one."""
    found: list[Any] = []

    class Here:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __enter__(self) -> "Here":
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def submit(self, call: Any, *given: Any) -> Any:
            found.append(given[-1])
            return type("Done", (), {"result": lambda self: call(*given)})()

    monkeypatch.setattr(trials, "worker_pool", Here)
    monkeypatch.setattr(trials, "as_completed", iter)
    return found


def test_trials_of_two_stages_go_on_where_they_were_left(home: Path, ran: list[Any], capsys: Any) -> None:
    """The last phase starts from what the first stage chose, of its own seed; what is there is not trained again."""
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
            least = form_of(config, "pcov").training.phases[-1].stop.min_updates
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
    found = chosen(Plan.read(config, "smoke"), settings, "pcov", form_of(config, "pcov"), read_rows(table))
    assert found is not None
    assert settings_of(form_of(config, "pcov")) == settings_of(form_of(config, "nats")) == found

    ran.clear()
    run_trials(config, home, 1, ["nats"])
    assert ran == []
    assert "small has what the trials chose" in capsys.readouterr().out


@pytest.fixture
def larger(home: Path) -> Path:
    """Trials of another form, `large`, in a file of their own: on numbers of records, the best two on more."""
    config = home / "config"
    shutil.copy(config / "forms" / "smoke.yaml", config / "forms" / "large.yaml")
    for path in (config / "methods").glob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        content["forms"]["large"] = deepcopy(content["forms"]["small"])  # YAML would have them share what is written
        path.write_text(yaml.safe_dump(content, sort_keys=False))
    told = {"study": "smoke", "form": "large", "records": {"tales": 30}, "seeds": [1], "last": [0.001, 0.01]}
    told |= {
        "first": [{"rate": rate, "dropout": 0.1} for rate in (0.004, 0.008, 0.012)],
        "again": {"records": 60, "best": 2},
    }
    path = config / "trials-large.yaml"
    path.write_text(yaml.safe_dump(told))
    path.with_suffix(".csv").unlink()
    return path


def test_the_best_two_are_compared_on_more_records_and_the_last_phase_starts_from_fewer(
    larger: Path, home: Path, ran: list[Any], capsys: Any
) -> None:
    config = home / "config"
    small = form_of(config, "pcov")
    run_trials(config, home, 1, ["pcov"], write=True, path=larger)
    rows = read_rows(larger.with_suffix(".csv"))
    assert not (config / "trials.csv").exists()
    assert [row["stage"] for row in rows] == ["first"] * 3 + ["again"] * 2 + ["last"] * 2
    first, again, last = ([row for row in rows if row["stage"] == stage] for stage in ("first", "again", "last"))
    assert [{row["records"] for row in stage} for stage in (first, again, last)] == [{"30"}, {"60"}, {"30"}]
    assert {row["standard_error"] for row in rows} == {""}
    order = sorted(first, key=lambda row: (-float(row["worth"]), float(row["nll"])))
    assert {row["rate"] for row in again} == {row["rate"] for row in order[:2]}
    best = min(again, key=lambda row: (-float(row["worth"]), float(row["nll"])))
    (start,) = (row for row in first if row["rate"] == best["rate"])
    form = form_of(config, "pcov", "large")
    assert [task.form.before() for task in ran[-2:]] == [
        next(task.form for task in ran if (task.stage, str(task.rate)) == ("first", best["rate"]))
    ] * 2
    for row in last:
        assert int(row["updates"]) >= int(start["updates"]) + form.training.phases[-1].stop.min_updates
    assert settings_of(form) == (float(best["rate"]), 0.1, best_setting(last)[0])
    assert form_of(config, "pcov") == small
    assert "large now has rate" in capsys.readouterr().out

    ran.clear()
    run_trials(config, home, 1, ["pcov"], path=larger)
    assert ran == []
    settings = read_settings(larger, TrialsSettings)
    plan = Plan.read(config, "smoke")
    assert chosen(plan, settings, "pcov", form, [*first, *last]) is None, "without `again` nothing is chosen"
    # What `again` prefers is chosen, whatever the first stage preferred.
    for preferred in again:
        told = [*first, *(row | {"worth": "99" if row is preferred else "1"} for row in again)]
        found = trials.best_before_last(plan, settings, "pcov", form, told)
        assert found == Trial(rate=float(preferred["rate"]), dropout=0.1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"records": {}}, "no corpus"),
        ({"corpora": {"tales": 50}, "seeds": [1, 2]}, "tales has a percent in `corpora` and a number in `records`"),
        ({"corpora": {"modules": 50}}, r"seeds: \[1\]: trials at percents have two seeds"),
        ({"percents": {"abs": 100}}, "`percents` of methods say nothing"),
        ({"again": {"records": 30, "best": 2}}, "again.records: 30: say more"),
        ({"records": {"tails": 30}}, "tails is no corpus of study smoke; name some of tales"),
        ({"form": "huge"}, r"pcov.yaml: forms: no huge"),
        ({"again": {"records": 6000, "best": 2}}, r"stage again asks for 6,000; ask for fewer"),
    ],
)
def test_trials_on_numbers_of_records_say_what_is_wrong(
    larger: Path, home: Path, ran: list[Any], wrong: dict[str, Any], said: str
) -> None:
    larger.write_text(yaml.safe_dump(yaml.safe_load(larger.read_text()) | wrong))
    with pytest.raises(PlanError, match=said):
        run_trials(home / "config", home, 1, ["pcov"], path=larger)


def test_a_changed_setting_makes_rows_stale() -> None:
    form = form_of(CONFIG, "pcov")
    old = {task.digest for task in tasks(PLAN, SETTINGS, "pcov", form, "first")}
    wider = form.model_copy(update={"model": form.model.model_copy(update={"embedding": 7})})
    assert old.isdisjoint(task.digest for task in tasks(PLAN, SETTINGS, "pcov", wider, "first"))
    best = Trial(rate=0.003, dropout=0.1)
    last = {task.digest for task in tasks(PLAN, SETTINGS, "pcov", form, "last", [best])}
    other = {task.digest for task in tasks(PLAN, SETTINGS, "pcov", form, "last", [Trial(rate=0.001, dropout=0.1)])}
    assert last.isdisjoint(other), "the last phase's trials are of what the first stage chose"
    assert len(digest({})) == len(next(iter(last)))
    assert len(last) == len(SETTINGS.last)
    assert [task.seed for task in tasks(PLAN, SETTINGS, "abs", form_of(CONFIG, "abs"), "first")] == [
        seed for _, seed in product(SETTINGS.first, SETTINGS.seeds)
    ]


BEGINS = "import json, os, sys; n = int(open(os.environ['SUMCURVE_MODEL'] + '/n').read())"
PRINTS = "[print(' '.join(' '.join(json.loads(line)['source']).split()[:n])) for line in sys.stdin]"
PROGRAM = {
    "kind": "command",
    "train": 'echo "$WORDS" > "$SUMCURVE_MODEL/n"',
    "summarize": f'python -c "{BEGINS}; {PRINTS}"',
    "settings": {"WORDS": 2},
    "trials": [{"WORDS": 2}, {"WORDS": 12}],
}


def say_of_systems(home: Path, **told: Any) -> None:
    path = home / "config" / "studies" / "smoke.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"systems": {"theirs": PROGRAM | told}}))


def test_a_program_has_the_trials_of_its_file_in_the_same_table(home: Path, ran: list[Any], capsys: Any) -> None:
    """It says the first words of a source, two or twelve: its worth is their ROUGE on the validation records."""
    from sumcurve.corpora.store import Corpus
    from sumcurve.corpora.tokens import tokenize
    from sumcurve.rouge.scorer import score_items
    from sumcurve.settings.study import Rouge

    say_of_systems(home)
    config, table = home / "config", home / "config" / "trials.csv"
    run_trials(config, home, 1, ["theirs"])
    rows = read_rows(table)
    assert [(row["settings"], row["seed"]) for row in rows] == list(product(["WORDS=12", "WORDS=2"], "12"))
    (prepared,) = (home / "results" / "corpora").iterdir()
    valid = Corpus(prepared).part("valid")
    references = [record.all_references for record in valid]
    texts = [" ".join(text.source).split() for text in valid.text]
    for words in (2, 12):
        summaries = [[" ".join(tokenize(" ".join(text[:words]), lower=True))] for text in texts]
        items = score_items(summaries, references, Rouge())
        found = [fmean(item[name] for item in items) for name in ("rouge1", "rouge2", "rougeLsum")]
        for row in rows:
            if row["settings"] == f"WORDS={words}":
                assert float(row["worth"]) == pytest.approx(100 * (found[0] * found[1] * found[2]) ** (1 / 3), abs=1e-3)
                assert (row["rate"], row["nll"], row["stage"]) == ("", "", "first")
    worth = {row["settings"]: float(row["worth"]) for row in rows}
    best = max(worth, key=worth.__getitem__)
    assert worth["WORDS=2"] != worth["WORDS=12"]
    ran.clear()
    say_of_systems(home, settings={"WORDS": 2 if best == "WORDS=12" else 12})
    capsys.readouterr()
    run_trials(config, home, 1, ["theirs"], write=True)
    assert ran == []
    assert f"systems.theirs now has {best}" in capsys.readouterr().out
    run_trials(config, home, 1, ["theirs"])
    assert f"systems.theirs has what the trials chose: {best}" in capsys.readouterr().out
    assert read_rows(table) == rows


def test_a_method_and_a_program_get_no_more_trials_than_every_method(home: Path) -> None:
    settings = read_settings(home / "config" / "trials.yaml", TrialsSettings)
    path = home / "config" / "methods" / "pcov.yaml"
    own = [{"rate": rate, "dropout": 0.2} for rate in (0.00001, 0.00003, 0.0001)]

    def say(count: int) -> None:
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"trials": own[:count]}, sort_keys=False))

    say(2)
    plan = Plan.read(home / "config", "smoke")
    found = tasks(plan, settings, "pcov", form_of(home / "config", "pcov"), "first")
    assert [(task.rate, task.seed) for task in found] == list(product([0.00001, 0.00003], settings.seeds))
    say(3)
    with pytest.raises(PlanError, match=r"pcov.yaml:\d+: trials: 3 trials, but every method gets 2"):
        tasks(plan, settings, "pcov", form_of(home / "config", "pcov"), "first")
    say_of_systems(home, trials=[{"WORDS": words} for words in range(3)])
    with pytest.raises(PlanError, match=r"systems.theirs: 3 trials, but every method gets 2"):
        run_trials(home / "config", home, 1, ["theirs"])
    say_of_systems(home, trials=[])
    with pytest.raises(PlanError, match=r"theirs is no method of .* and no program with `trials`"):
        run_trials(home / "config", home, 1, ["theirs"])


@pytest.mark.parametrize(
    ("path", "jobs", "said"),
    [
        ("trials.csv", 1, "ends in .yaml"),
        ("", 1, "ends in .yaml"),
        ("nosuch.yaml", 1, "no file of trials"),
        ("trials.yaml", 0, "--jobs 0"),
    ],
)
def test_what_is_no_file_of_trials_is_named(tmp_path: Path, path: str, jobs: int, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        run_trials(CONFIG, tmp_path, jobs, path=CONFIG / path)
