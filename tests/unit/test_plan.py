"""Names decide: what changes a result changes its folder's name and those behind it, and nothing else does."""

import shutil
from pathlib import Path

import pytest
import yaml

from sumcurve.plan import TRIVIAL_SYSTEMS, Plan, PlanError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def config(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    return tmp_path / "config"


def edit(path, change):
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))


def names(plan, *steps):
    return {key for key, folder in plan.folders.items() if not steps or folder.step in steps}


def smoke(config):
    return Plan.read(config, "smoke")


def changed(before, after, step):
    """Stems (names without digests) of a step's folders that got another name."""
    return {key.split("/")[1].rsplit("-", 1)[0] for key in names(before, step) - names(after, step)}


def test_every_study_of_this_repository_is_valid():
    studies = sorted(path.stem for path in (ROOT / "config" / "studies").glob("*.yaml"))
    assert {"docstrings", "smoke"} <= set(studies)
    for study in studies:
        plan = Plan.read(ROOT / "config", study)
        assert plan.folders


def test_every_input_is_a_folder_of_the_plan(config):
    plan = smoke(config)
    for folder in plan.folders.values():
        for key in folder.inputs:
            assert key in plan.folders


def test_every_method_percent_and_seed_is_scored_once(config):
    plan = smoke(config)
    settings = plan.settings
    expected = {
        (corpus, method, percent, seed)
        for corpus, of_corpus in settings.corpora.items()
        for method in settings.methods
        for percent in of_corpus.percents
        for seed in settings.seeds
    } | {(corpus, system, None, None) for corpus in settings.corpora for system in TRIVIAL_SYSTEMS}
    rows = [(row.corpus, row.method, row.percent, row.seed) for row in plan.rows]
    assert len(rows) == len(expected)
    assert set(rows) == expected


def test_a_learning_rate_retrains_its_method_only(config):
    before = smoke(config)

    def faster(content):
        content["settings"][before.settings.settings]["training"]["phases"][0]["optimizer"]["rate"] *= 2

    edit(config / "methods" / "pcov.yaml", faster)
    after = smoke(config)
    for step in ("runs", "outputs", "scores"):
        stems = changed(before, after, step)
        assert stems
        assert all("-pcov-" in stem for stem in stems)
    assert changed(before, after, "corpora") == set()
    assert before.tables != after.tables


def test_a_metric_changes_scores_and_tables_only(config):
    before = smoke(config)
    edit(config / "studies" / "smoke.yaml", lambda content: content.update(rouge={"stemmer": True}))
    after = smoke(config)
    assert names(before, "scores").isdisjoint(names(after, "scores"))
    others = ("corpora", "annotations", "runs", "outputs")
    assert names(before, *others) == names(after, *others)
    assert before.tables != after.tables


def test_the_search_changes_outputs_but_no_run(config):
    before = smoke(config)
    corpus = next(iter(before.settings.corpora))
    edit(config / "studies" / "smoke.yaml", lambda content: content["corpora"][corpus]["search"].update(beam=7))
    after = smoke(config)
    assert names(before, "runs") == names(after, "runs")
    assert changed(before, after, "outputs") == {
        stem for stem in changed(before, after, "scores") if not stem.endswith(TRIVIAL_SYSTEMS)
    }


def test_one_more_fraction_changes_no_name(config):
    before = smoke(config)
    corpus = next(iter(before.settings.corpora))
    percents = before.settings.corpora[corpus].percents
    more = sorted({*percents, 77})
    edit(config / "studies" / "smoke.yaml", lambda content: content["corpora"][corpus].update(percents=more))
    after = smoke(config)
    assert names(before) < names(after)


@pytest.mark.parametrize("step", ["corpora", "runs", "outputs"])
def test_a_raised_recipe_renames_its_step_and_all_behind_it(config, step):
    before = smoke(config)
    edit(config.parent / "recipes.yaml", lambda content: content[step].update({99: []}))
    after = smoke(config)
    behind = {"corpora": ("runs", "outputs", "scores"), "runs": ("outputs",), "outputs": ("scores",)}[step]
    assert names(before, step).isdisjoint(names(after, step))
    for later in behind:
        assert changed(before, after, later)


def test_seeds_and_threads_are_part_of_a_runs_name(config):
    before = smoke(config)
    edit(config / "studies" / "smoke.yaml", lambda content: content.update(threads=before.settings.threads + 1))
    assert names(before, "runs").isdisjoint(names(smoke(config), "runs"))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("studies/smoke.yaml", "title:", "tittle:", r"smoke.yaml:\d+: tittle: unknown key"),
        (
            "methods/abs.yaml",
            "feed: nothing",
            "feeed: nothing",
            r"abs.yaml:\d+: settings.*feeed: unknown key",
        ),
        ("methods/abs.yaml", "rate: 0.001", "rate: fast", r"abs.yaml:\d+: .*rate: .*'fast'"),
        ("methods/abs.yaml", "kind: recurrent", "kind: recursive", r"abs.yaml:\d+: .*recursive"),
        ("studies/smoke.yaml", "percents: [", "percents: [0, ", r"smoke.yaml:\d+: corpora.*percents.*0"),
        ("studies/smoke.yaml", "percents: [", "percents: [101, ", r"smoke.yaml:\d+: corpora.*percents.*101"),
        (
            "studies/smoke.yaml",
            "percents: [",
            "percents: [100, ",
            r"smoke.yaml:\d+: corpora.*percents must rise",
        ),
        ("studies/smoke.yaml", "seeds: [1]", "seeds: []", r"smoke.yaml:\d+: seeds"),
        ("studies/smoke.yaml", "methods: [", "methods: [ghost, ", r"ghost.yaml is missing; there are: abs"),
        (
            "studies/smoke.yaml",
            "seeds: [1]",
            "seeds: [1]\nseeds: [2]",
            r"smoke.yaml:\d+: the key 'seeds' stands twice",
        ),
        ("studies/smoke.yaml", "seeds: [1]", "seeds: [1", "is not YAML"),
        ("config.yaml", "study: ", "studdy: ", "must hold one key, `study`"),
    ],
)
def test_a_wrong_configuration_names_file_line_key_and_value(config, file, old, new, message):
    text = (config / file).read_text()
    assert old in text
    (config / file).write_text(text.replace(old, new, 1))
    with pytest.raises(PlanError, match=message):
        smoke(config)


def test_an_unknown_study_names_the_known_ones(config):
    with pytest.raises(PlanError, match=r"nowhere.yaml is missing; there are: .*docstrings.*smoke"):
        Plan.read(config, "nowhere")


def test_a_folder_is_found_in_any_study_and_refused_where_none_asks_for_it(config):
    for study in ("smoke", "docstrings"):
        for key, folder in Plan.read(config, study).folders.items():
            assert Plan.holding(config, key).folder(key) == folder
            break
    with pytest.raises(PlanError, match=r"no study .* asks for runs/tales-pcov-100-s1-00000000"):
        Plan.holding(config, "runs/tales-pcov-100-s1-00000000")
