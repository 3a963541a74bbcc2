"""Files that say what differs: who stands over whom, what is refused, and which file and line an error names."""

from pathlib import Path

import pytest
import yaml

from invented import OF_THE_HUB
from sumcurve.settings.config import PlanError, read_study
from sumcurve.study.doors import StudySettings
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from workplace import configured

ROOT = Path(__file__).parents[3]
METHODS = sorted(path.stem for path in (ROOT / "config" / "methods").glob("*.yaml"))


@pytest.fixture
def config(tmp_path):
    return configured(tmp_path) / "config"


@pytest.mark.parametrize("method", sorted({*METHODS} - OF_THE_HUB))
def test_every_method_is_complete_in_every_form_that_studies_train(method):
    forms = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms
    assert {"small", "smoke", "paper"} <= forms.keys()
    names = {tuple(phase.name for phase in form.training.phases) for form in forms.values()}
    assert len(names) == 1


@pytest.mark.parametrize("method", sorted(OF_THE_HUB))
def test_of_a_model_of_the_hub_a_fifth_of_the_records_at_most_chooses_the_checkpoint(method):
    forms = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms
    settings = forms["finetune"]
    (phase,) = settings.training.phases
    other = forms["finetune-valid"]
    assert other.training.valid_share == 0.0
    assert other.training == settings.training.model_copy(update={"valid_share": 0.0})
    assert 0 < settings.training.valid_share <= 0.2
    assert phase.optimizer.schedule == "linear"
    assert phase.stop.max_epochs is not None
    assert (settings.model.sha256 is None) == (settings.model.revision is None)


@pytest.mark.parametrize(("form", "words"), [("paper-cnndm", 49_000), ("paper-oags", 98_000)])
def test_a_papers_form_has_its_vocabulary_and_its_budget_of_trans_and_else_what_the_form_paper_has(form, words):
    """Those are the methods of Čano and Bojar's study of the corpus; FASTRL's own paper says its vocabulary."""
    having = set()
    for method in METHODS:
        forms = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms
        if form not in forms:
            continue
        having.add(method)
        told, paper = forms[form], forms["paper"]
        assert told.training.vocabulary == (30_000 if method == "fastrl" else words)
        if method == "trans":
            (phase,) = told.training.phases
            assert phase.stop.max_updates == 200_000
            assert phase.stop.patience * phase.stop.every_updates >= phase.stop.max_updates  # which never ends it
            (other,) = paper.training.phases
            phases = [phase.model_copy(update={"stop": other.stop})]
            told = told.model_copy(update={"training": told.training.model_copy(update={"phases": phases})})
        training = told.training.model_copy(update={"vocabulary": paper.training.vocabulary})
        assert told.model_copy(update={"training": training}) == paper
    study = f"{form.removeprefix('paper-')}-paper"
    assert having == set(Plan.read(ROOT / "config", study).methods)


FORM = """
training: {batch: 8, vocabulary: 10, valid_records: 3}
first:
  optimizer: {rate: 0.1, clip_norm: 2.0}
  stop: {every_updates: 1, every_epochs: 0.5, patience: 1, max_updates: 9}
last:
  optimizer: {rate: 0.2}
  stop: {every_updates: 2, every_epochs: 0.5, patience: 2, max_updates: 9}
"""
METHOD = """
title: New
paper: none
model: {kind: recurrent, feed: nothing, embedding: 4, hidden: 4}
phases:
  one: {loss: nll}
  two: {loss: nll, optimizer: {rate: 0.3}}
  three: {loss: nll}
forms:
  tiny:
    model: {hidden: 5}
    training: {batch: 7}
    phases:
      two: {optimizer: {rate: 0.4}}
      three: {optimizer: {clip_norm: 1.0}, stop: {patience: 3}}
  bare:
"""
OF_ONE_PHASE = METHOD.split("  two:")[0] + "forms: {tiny: {}}\n"


def new(config, method=METHOD, form=FORM):
    (config / "forms" / "tiny.yaml").write_text(form)
    (config / "forms" / "bare.yaml").write_text("extends: tiny\ntraining: {vocabulary: 11}\n")
    path = config / "methods" / "new.yaml"
    path.write_text(method)
    return read_method(path).forms


def test_what_a_method_says_of_a_form_stands_over_what_it_says_of_all_and_that_over_the_form(config):
    found = new(config)
    tiny, bare = found["tiny"], found["bare"]
    assert (tiny.model.hidden, bare.model.hidden, tiny.model.embedding) == (5, 4, 4)
    assert (tiny.training.batch, bare.training.batch) == (7, 8)
    assert (tiny.training.vocabulary, bare.training.vocabulary) == (10, 11)
    assert [phase.name for phase in tiny.training.phases] == ["one", "two", "three"]
    assert [phase.optimizer.rate for phase in tiny.training.phases] == [0.1, 0.4, 0.2]
    assert [phase.optimizer.rate for phase in bare.training.phases] == [0.1, 0.3, 0.2]
    assert [phase.optimizer.clip_norm for phase in tiny.training.phases] == [2.0, 2.0, 1.0]
    assert [phase.stop.patience for phase in tiny.training.phases] == [1, 1, 3]
    assert [phase.stop.patience for phase in bare.training.phases] == [1, 1, 2]


def test_a_form_that_another_stands_for_is_that_one(config):
    forms = new(config, METHOD.replace("  bare:", "  bare: tiny"))
    assert forms["bare"] == forms["tiny"]
    with pytest.raises(PlanError, match=r"new\.yaml:\d+: forms\.bare: no form 'small' of its own; there are: tiny"):
        new(config, METHOD.replace("  bare:", "  bare: small"))


@pytest.mark.parametrize("method", ["abs", "pcov", "trans"])
def test_of_the_data_axis_s_records_a_fifth_chooses_every_checkpoint_and_all_else_is_of_form_human(method):
    forms = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms
    axis, own = forms["axis"], forms["human"]
    assert axis.training.valid_share == 0.2
    counted = {"valid_share": 0.2, "valid_records": axis.training.valid_records}
    assert axis == own.model_copy(update={"training": own.training.model_copy(update=counted)})


def test_an_only_phase_is_a_first_one(config):
    (phase,) = new(config, OF_ONE_PHASE)["tiny"].training.phases
    assert (phase.optimizer.rate, phase.stop.every_updates) == (0.1, 1)


@pytest.mark.parametrize(
    ("old", "instead", "message"),
    [
        ("batch: 8", "bacth: 8", r"tiny.yaml:2: training.bacth: unknown key"),
        ("clip_norm: 2.0", "clip: 2.0", r"tiny.yaml:4: first.optimizer.clip: unknown key"),
        ("patience: 2", "patiense: 2", r"tiny.yaml:8: last.stop.patiense: unknown key"),
        ("patience: 2", "patience: 0", r"tiny.yaml:8: last.stop.patience: .*greater than or equal to 1"),
        ("last:", "lats:", r"tiny.yaml:6: lats: unknown key"),
        ("optimizer: {rate: 0.2}", "loss: nll", r"tiny.yaml:7: last.loss: unknown key"),
        (
            "max_updates: 9}\nlast",
            "most_updates: 9}\nlast",
            r"tiny.yaml:5: first.stop.most_updates: .*`max_updates` now",
        ),
    ],
)
def test_a_forms_key_that_no_method_could_use_is_refused_whoever_takes_the_form_up(config, old, instead, message):
    """A method of one phase, too, which has no use for `last`."""
    assert old in FORM
    with pytest.raises(PlanError, match=message):
        new(config, OF_ONE_PHASE, FORM.replace(old, instead, 1))


@pytest.mark.parametrize(
    ("old", "instead", "message"),
    [
        ("  bare:", "  nowhere:", r"new.yaml:16: forms.nowhere: .*nowhere.yaml is missing; there are: .*small"),
        ("{loss: nll}", "{loss: nll, name: uno}", r"new.yaml:6: phases.one.name: a phase's name is its key"),
        ("{hidden: 5}", "{hiden: 5}", r"new.yaml:11: forms.tiny.model.hiden: unknown key"),
        ("{patience: 3}", "{patience: x}", r"new.yaml:15: forms.tiny.phases.three.stop.patience: .*'x'"),
        ("embedding: 4, ", "", r"new.yaml:11: forms.tiny.model.*embedding: Field required"),
        ("model:", "modle:", r"new.yaml:4: modle: unknown key"),
        ("one: {loss: nll}", "one: nll", r"new.yaml:6: phases.one: "),
        ("forms:", "settings:", r"new.yaml:9: settings: unknown key; .*`forms` in a method"),
        ("{patience: 3}", "{least_updates: 3}", r"new.yaml:15: forms.tiny.*least_updates: .*`min_updates` now"),
        ("paper: none", r'paper: "a\0b"', r"new.yaml:3: paper: a NUL character stands in 'a\\x00b'.*remove it"),
        (
            "{kind: recurrent, feed: nothing, embedding: 4, hidden: 4}",
            f"{{kind: transformers, sha256: {'0' * 64}, hub: ../../x, revision: {'0' * 40}}}",
            r"new.yaml:4: model.*hub: '\.\./\.\./x' is no name of the hub: give owner/name",
        ),
    ],
)
def test_an_error_of_a_method_names_the_line_that_said_so(config, old, instead, message):
    assert old in METHOD
    with pytest.raises(PlanError, match=message):
        new(config, METHOD.replace(old, instead, 1))


def test_what_neither_form_nor_method_say_is_asked_of_the_method(config):
    with pytest.raises(PlanError, match=r"(?s)first.optimizer.rate: Field required.*new.yaml:10: forms.tiny"):
        new(config, form=FORM.replace("rate: 0.1, ", ""))


# --- studies that extend another


def extend(config, text, name="mine"):
    path = config / "studies" / f"{name}.yaml"
    path.write_text(text)
    return path


def test_an_extended_study_asks_for_the_same_folders_whoever_says_so(config):
    extend(config, "extends: smoke\ntitle: Another title\n")
    mine, smoke = Plan.read(config, "mine"), Plan.read(config, "smoke")
    assert mine.folders == smoke.folders
    assert mine.settings.title == "Another title"


def test_mappings_are_merged_and_lists_replaced(config):
    said = {"corpora": {"tales": {"search": {"beam": 3}, "percents": [25]}, "modules": None}, "methods": ["trans"]}
    path = extend(config, yaml.safe_dump({"extends": "smoke", **said}))
    found = read_study(path).validated(StudySettings)
    base = read_study(config / "studies" / "smoke.yaml").validated(StudySettings)
    assert list(found.corpora) == ["tales"]
    tales, before = found.corpora["tales"], base.corpora["tales"]
    assert tales.search == before.search.model_copy(update={"beam": 3})
    assert (tales.percents, found.methods) == ([25], ["trans"])
    assert tales.model_copy(update={"search": before.search, "percents": before.percents}) == before
    assert found.bootstrap == base.bootstrap


EXTENDED = "extends: smoke\ncorpora:\n  "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: nowhere", r"mine.yaml:1: extends: .*nowhere.yaml is missing; there are: .*smoke"),
        ("title: x\nextends: mine", r"mine.yaml:2: extends: mine -> mine extends itself"),
        ("extends: [smoke]", r"mine.yaml:1: extends: must name a file"),
        ("extends: smoke\ncorpora: {talse: null}", r"mine.yaml:2: corpora.talse: .* none to leave out; .*: tales"),
        ("extends: smoke\nscores: {meteor: null}", r"mine.yaml:2: scores.meteor: .* none to leave out"),
        (f"{EXTENDED}tales: {{percent: 3}}", r"mine.yaml:3: corpora.tales.percent: unknown key"),
        ("extends: smoke\nsettings: small", r"mine.yaml:2: settings: unknown key; .*`form` in a study"),
        (f"{EXTENDED}tales: {{compose: {{least: 3}}}}", r"compose.least: unknown key; .*`min` now"),
        (f"{EXTENDED}modules: {{compose: {{min: 7, max: 6}}}}", r"yaml:3: .*min 7 is above max 6"),
        (f"{EXTENDED}tales:\n    search: {{alpha: -1.0}}", r"yaml:4: .*search.alpha: .*-1.0"),
        (f"{EXTENDED}tales: {{search: {{block_ngram: 0, exempt: [a]}}}}", r"exempt \['a'\] changes noth"),
        (f"{EXTENDED}tales: {{search: {{length_penalty: none, alpha: 2.0}}}}", "alpha 2.0 changes nothing where"),
        (f"{EXTENDED}tales: {{raw: {{form: jsonl}}}}", r"raw.form: unknown key; .*`format` in `raw`"),
        ("extends: ../../x", r"mine\.yaml:1: extends: must name a file of .*studies without its ending"),
        (f"extends: {'x' * 300}", r"mine\.yaml:1: extends: must name a file"),
        ("[" * 5000, r"mine\.yaml: its content stands too deep"),
        ("&a [*a]", r"mine\.yaml: its content stands too deep"),
        ("title: x\n? [a, b]\n: 1", r"mine\.yaml:2: a list or a mapping stands where a key belongs"),
        ("title: x\n<<: {? [a, b] : 1}", r"mine\.yaml:2: a list or a mapping stands where a key belongs"),
        ("title: 2026-99-99", r"mine\.yaml:1: '2026-99-99' cannot be read .*quotes"),
        ("title: x\nthreads: 017", r"mine\.yaml:2: '017' is 15 to YAML; write that"),
        ("title: x\nthreads: 1:30", r"mine\.yaml:2: '1:30' is 90 to YAML; write that"),
        (f"{EXTENDED}tales: {{percents: []}}", r"mine\.yaml:3: corpora\.tales\.percents: name one at least"),
    ],
    ids=lambda value: value[:40],
)
def test_a_wrong_study_names_file_and_line(config, text, message):
    extend(config, text)
    with pytest.raises(PlanError, match=message):
        Plan.read(config, "mine")


def test_an_error_in_what_is_extended_is_named_there(config):
    path = config / "studies" / "smoke.yaml"
    path.write_text(path.read_text().replace("seeds: [1]", "seeds: [one]"))
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "seeds" in text)
    extend(config, "extends: smoke\n")
    with pytest.raises(PlanError, match=rf"smoke.yaml:{line}: seeds.0: .*'one'"):
        Plan.read(config, "mine")


@pytest.mark.parametrize("method", METHODS)
def test_a_method_says_what_it_is_in_a_clause(method):
    about = read_method(ROOT / "config" / "methods" / f"{method}.yaml").about
    assert 2 <= len(about.split()) <= 11
    assert not about.endswith(".")


def test_what_methods_are_decides_tables():
    plan = Plan.read(ROOT / "config", "docstrings")
    assert plan.decides_tables()["about"] == plan.about
    assert plan.about["pcov"] == "pointer-generator with coverage"
