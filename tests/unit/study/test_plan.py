"""Names decide: what changes a result changes its folder's name and those behind it, and nothing else does."""

from collections import Counter
from itertools import combinations, product
from pathlib import Path

import pytest
import yaml

from sumcurve.corpora import tokenizers
from sumcurve.settings.config import PlanError
from sumcurve.settings.corpus import Split
from sumcurve.settings.search import Search
from sumcurve.settings.study import REFERENCE_SYSTEMS
from sumcurve.sources import cleaning
from sumcurve.study.plan import Plan, plan_holding
from workplace import configured

ROOT = Path(__file__).parents[3]


@pytest.fixture
def config(tmp_path):
    return configured(tmp_path) / "config"


def edit(path, change):
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content, sort_keys=False))  # phases come in the order of their keys


def edited(config, change=None, **keys):
    """The plan of the smoke study after a change of it, or with these keys."""
    edit(config / "studies" / "smoke.yaml", change or (lambda content: content.update(keys)))
    return smoke(config)


def without_reading(content):
    """Without the score that compares who is there."""
    content["scores"].pop("reading")


def unseen(content):
    content["corpora"]["tales"]["split"]["unseen"] = ["zoo"]


def names(plan, *steps):
    return {key for key, folder in plan.folders.items() if not steps or folder.step in steps}


def smoke(config):
    return Plan.read(config, "smoke")


PRETRAINED = {"kind": "transformers", "sha256": "ab" * 32, "path": "models/mine", "zero_shot": True}


def add_pretrained(config, **told):
    """A pretrained method among those of the smoke study."""
    model = {key: value for key, value in (PRETRAINED | told).items() if value is not None}
    content = {"title": "BART", "paper": "Lewis et al. 2020.", "model": model, "phases": {"nll": {"loss": "nll"}}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump({**content, "forms": {"smoke": None}}))

    def change(study):
        for named in (study, study["corpora"]["tales"]):
            named["methods"].append("mine")

    edit(config / "studies" / "smoke.yaml", change)


def changed(before, after, step):
    """Stems (names without digests) of a step's folders that got another name."""
    return {key.split("/")[1].rsplit("-", 1)[0] for key in names(before, step) - names(after, step)}


def test_every_study_of_this_repository_is_valid():
    studies = sorted(path.stem for path in (ROOT / "config" / "studies").glob("*.yaml"))
    assert {"docstrings", "smoke"} <= set(studies)
    for study in studies:
        plan = Plan.read(ROOT / "config", study)
        assert plan.planned  # of trials that are recorded no folder is left
        assert all(key in plan.folders for folder in plan.folders.values() for key in folder.inputs)


def test_every_method_percent_and_seed_is_scored_once_with_the_common_search(config):
    plan = smoke(config)
    settings = plan.settings
    expected = [
        (corpus, *cell)
        for corpus, of_corpus in settings.corpora.items()
        for cell in product(of_corpus.methods or settings.methods, of_corpus.percents, settings.seeds)
    ]
    expected += [(corpus, system, None, None) for corpus in settings.corpora for system in REFERENCE_SYSTEMS]
    common = [row for row in plan.rows if row.part == "study" and row.search != "paper"]
    assert Counter((row.corpus, row.method, row.percent, row.seed) for row in common) == Counter(expected)
    assert all((row.search is None) == (row.role != "trained") for row in plan.rows)


def test_what_is_held_out_is_decoded_by_the_same_trainings_as_rows_of_its_own(config):
    before, after = smoke(config), edited(config, unseen)
    assert [folder.stem for folder in after.named("runs")] == [folder.stem for folder in before.named("runs")]
    (held_out,) = after.named("corpora", "unseen")
    rows = {corpus: {} for corpus in after.corpora}
    for row in after.rows:
        if row.part == "study" and row.search != "paper":
            rows[row.corpus][row.method, row.percent, row.seed, row.role] = (row.run, set(row.scores))
        if row.corpus == "tales-unseen":
            for key in (row.output, *row.scores.values()):
                assert after.folder(key).specification["corpus"] == held_out.key
    assert rows["tales-unseen"] == rows["tales"]
    assert "zoo" in after.corpora["tales-unseen"].title


def of_two_corpora(config, methods, **changes):
    """A study of two corpora, tales in two fractions and modules in one, with these methods."""

    def change(content):
        content["methods"] = methods
        content["corpora"]["tales"].pop("methods", None)
        for corpus, keys in changes.items():
            content["corpora"][corpus] |= keys

    return edited(config, change)


def ask(config, method, search):
    """Make the search that a method's paper asks for this one: with these keys, plain in others."""
    if search is not None:
        search = {"beam": 4, "length_penalty": "average", "block_ngram": 3} | search
    edit(config / "methods" / f"{method}.yaml", lambda content: content.update(search=search))


@pytest.mark.parametrize("search", [None, {"beam": 2}, {"beam": 2, "alpha": 1, "unknown": "copy"}])
def test_a_paper_that_asks_for_the_common_search_is_decoded_once(config, search):
    ask(config, "pcov", search)
    plan = of_two_corpora(config, ["pcov"])
    assert plan.settings.corpora["tales"].search.beam == 2
    assert {row.search for row in plan.rows} == {None, "common"}


def test_the_search_of_a_paper_is_decoded_at_the_largest_percent_from_the_same_run(config):
    ask(config, "pcov", {"beam": 9, "coverage_penalty": 0.5})
    plan = of_two_corpora(config, ["pcov", "abs"], tales={"percents": [25, 50, 75]})
    rows = [row for row in plan.rows if row.method == "pcov" and row.part == "study"]
    assert {(row.corpus, row.percent) for row in rows if row.search == "paper"} == {("tales", 75), ("modules", 100)}
    common = {(row.corpus, row.percent): row for row in rows if row.search == "common"}
    for row in rows:
        search = plan.folder(row.output).specification["search"]
        expected = plan.settings.corpora[row.corpus].search.model_dump(mode="json")
        assert search == expected | ({"beam": 9, "coverage_penalty": 0.5} if row.search == "paper" else {})
        assert row.run == common[row.corpus, row.percent].run
        assert ("-paper-" in row.output, "-paper-" in row.scores["rouge"]) == 2 * (row.search == "paper",)


def test_each_output_has_a_name_of_its_own_in_the_table_and_trace_finds_it(config):
    ask(config, "pcov", {"beam": 9})
    plan = smoke(config)
    told = [row.table_name for row in plan.rows]
    assert len(set(told)) == len(told)
    for row in plan.rows:
        found = {key for key in plan.folders if key.split("/")[1] == row.table_name and not key.startswith("scores")}
        own = row.search == "common" and row.part != "before"
        assert found == {row.run if own else row.output}


@pytest.mark.parametrize(
    ("method", "keys", "value", "reason"),
    [
        ("fastrl", ["target"], "titles", "titles have no sentences to extract"),
        ("mine", ["search", "coverage_penalty"], 1.0, "pretrained models show no attention"),
    ],
)
def test_a_method_that_a_corpus_cannot_serve_is_an_error_with_the_key_to_change(config, method, keys, value, reason):
    add_pretrained(config)
    tales = {"target": "summaries", "prepare": {"tokenizer": "words"}, "search": {"beam": 2, "max_tokens": 9}}
    plain = of_two_corpora(config, [method, "abs"], tales=tales)

    def change(study):
        place = study["corpora"]["tales"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    edit(config / "studies" / "smoke.yaml", change)
    path = config / "studies" / "smoke.yaml"
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if text.strip().startswith(f"{keys[-1]}:"))
    place = rf"smoke.yaml:{line}: corpora\.tales\.{'.'.join(keys)}: "
    remedy = r"smoke.yaml .*{methods: \[abs\]}}`"
    with pytest.raises(PlanError, match=f"{place}.*tales cannot serve {method}: .*{reason}.*{remedy}"):
        smoke(config)
    edit(path, lambda study: study["corpora"]["tales"].update(methods=["abs"]))
    served = smoke(config)
    assert any(f"/tales-{method}-" in key for key in plain.folders)
    assert not any(f"/tales-{method}-" in key for key in served.folders)
    assert any(f"/modules-{method}-" in key for key in served.folders)


@pytest.mark.parametrize(
    ("methods", "runs", "papers"),
    [
        (["abs", "pcov"], set(), set()),
        (["abs", "ent_loss"], {"ent_loss"}, set()),
        (["abs", "ent_gold"], set(), {"ent_gold"}),
        (["ent_gold", "ent"], {"ent"}, {"ent_gold"}),
    ],
)
def test_entities_are_annotated_where_a_method_or_a_search_needs_them(config, methods, runs, papers):
    plan = of_two_corpora(config, methods)
    entities = plan.named("annotations", "entities")
    assert len(entities) == (len(plan.settings.corpora) if runs | papers else 0)
    keys = {folder.specification["corpus"]: folder.key for folder in entities}
    for row in plan.rows:
        if row.run is None:
            continue
        run, output = plan.folder(row.run), plan.folder(row.output)
        for folder, needed in ((run, row.method in runs), (output, row.method in papers and row.search == "paper")):
            corpus = output.specification["corpus"]
            assert folder.specification.get("entities") == (keys[corpus] if needed else None)
            assert (keys.get(corpus) in folder.inputs) == needed


def parts(plan, corpus, method, part):
    return [row for row in plan.rows if (row.corpus, row.method, row.part) == (corpus, method, part)]


def test_a_last_phase_is_told_from_before_it_and_from_its_control_at_the_largest_percent(config):
    plan = of_two_corpora(config, ["pcov", "abs", "ent_base"], tales={"percents": [25, 50, 75]})
    assert not any(row.part != "study" for row in plan.rows if row.method in ("abs", *REFERENCE_SYSTEMS))
    for corpus, percent in (("tales", 75), ("modules", 100)):
        (before,), (control,) = (parts(plan, corpus, "pcov", part) for part in ("before", "control"))
        (after,) = (
            row for row in parts(plan, corpus, "pcov", "study") if (row.percent, row.search) == (percent, "common")
        )
        assert {(row.percent, row.seed, row.search) for row in (before, control)} == {(percent, 1, "common")}
        told = [plan.folder(row.output).specification for row in (after, before, control)]
        assert told[1] == told[0] | {"checkpoint": "before"}
        assert told[2] == told[0] | {"run": control.run}
        run, spent = plan.folder(after.run).specification, plan.folder(control.run).specification
        assert set(spent) - set(run) == {"parent"}
        assert spent["parent"] == after.run
        assert after.run in plan.folder(control.run).inputs
        assert {key for key in run if run[key] != spent[key]} == {"training"}
        *first, last = run["training"]["phases"]
        *same, own = spent["training"]["phases"]
        assert first == same
        assert {key for key in last if last[key] != own[key]} == {"name", "loss", "coverage", "stop"}
        assert {key for key in last["stop"] if last["stop"][key] != own["stop"][key]} == {"patience"}
        assert (own["loss"], own["optimizer"]) == (first[-1]["loss"], last["optimizer"])
        # The last phase of ent_base has the loss of the phase before: it is its own control.
        assert len(parts(plan, corpus, "ent_base", "before")) == 1
        assert parts(plan, corpus, "ent_base", "control") == []


def test_seeds_of_phases_are_trained_at_the_largest_percent_for_methods_of_several_phases_alone(config):
    edited(config, without_reading)
    before = of_two_corpora(config, ["pcov", "abs"])
    after = edited(config, phases={"seeds": [1, 2, 3]})
    assert names(before) < names(after)
    added = [row for row in after.rows if row not in before.rows]
    expected = product(("tales", "modules"), ["pcov"], [100], (2, 3), ("after", "before", "control"), ["common"])
    assert {(row.corpus, row.method, row.percent, row.seed, row.part, row.search) for row in added} == {*expected}
    study = edited(config, seeds=[1, 2, 3])
    assert not any(row.part == "after" for row in study.rows)
    assert {key for key in names(after) if "pcov" in key} <= names(study)


def test_twins_start_from_one_checkpoint_and_those_that_differ_by_their_search_alone_share_a_run(config):
    plan = of_two_corpora(config, ["ent_penalty", "ent", "ent_loss", "pcov"])
    runs = {row.method: plan.folder(row.run) for row in plan.rows if row.percent == 50 and row.part == "study"}
    assert runs["ent"] == runs["ent_loss"] != runs["ent_penalty"]
    base, twin = runs["ent_loss"], runs["ent_penalty"]
    assert twin.specification["begins"] == base.key
    assert base.key in twin.inputs
    *before, last = (run.specification["training"]["phases"] for run in (base, twin))
    assert before[0][:-1] == last[:-1]
    assert before[0][-1] != last[-1]
    controls = {row.method: row.run for row in plan.rows if row.corpus == "tales" and row.part == "control"}
    assert controls["ent"] == controls["ent_loss"] != controls["ent_penalty"]
    assert not any("begins" in plan.folder(key).specification for key in controls.values())
    # The base is trained for its twin where the study does not ask for it, and is not scored there.
    alone = of_two_corpora(config, ["ent_penalty"])
    assert {base.key, twin.key} <= names(alone, "runs")
    assert {row.method for row in alone.rows} - set(REFERENCE_SYSTEMS) == {"ent_penalty"}


@pytest.mark.parametrize("told", [{"prepare": {"tokenizer": "ptb"}}, {"prepare": {"clean": ["wayback", "markup"]}}])
def test_a_corpus_of_a_tokenizer_or_step_that_has_changed_has_another_name_and_no_other_has(config, told, monkeypatch):
    edit(config / "studies" / "smoke.yaml", lambda content: content["corpora"]["tales"].update(told))
    now = {folder.stem: folder.name for folder in smoke(config).named("corpora", "corpus")}

    monkeypatch.setattr(cleaning, "VERSIONS", {})
    monkeypatch.setattr(tokenizers, "VERSIONS", {})
    before = {folder.stem: folder.name for folder in smoke(config).named("corpora", "corpus")}
    assert {name for name in now if now[name] != before[name]} == {"tales"}


def test_searches_that_decode_alike_share_a_signature_and_no_others():
    """Every key counts, but for what does nothing: alpha without a norm, positions without a penalty."""
    choices = {
        "beam": [1, 4, 11],
        "min_tokens": [1, 6],
        "max_tokens": [20, 200],
        "length_penalty": ["average", "gnmt", "none"],
        "alpha": [1.0, 1.5, 0.9],
        "block_ngram": [0, 3],
        "early_stopping": ["first", "heuristic", "never"],
        "unknown": ["copy", "ban", "keep"],
        "coverage_penalty": [0.0, 5.0],
        "entity_penalty": [0.0, 0.5],
        "entity_positions": ["model", "gold"],
    }
    of_behaviour: dict[tuple, str] = {}
    for values in product(*choices.values()):
        keys = dict(zip(choices, values, strict=True))
        signature = Search.model_construct(**keys).signature()
        behaviour = keys | {
            "alpha": None if keys["length_penalty"] == "none" else keys["alpha"],
            "entity_positions": keys["entity_positions"] if keys["entity_penalty"] else None,
        }
        assert of_behaviour.setdefault(tuple(behaviour.items()), signature) == signature
        assert "|" not in signature
        assert " " not in signature
    assert len(set(of_behaviour.values())) == len(of_behaviour)


def test_each_score_is_made_by_one_process_with_all_others_of_its_method_and_size(config):
    plan = smoke(config)
    sets = {name: keys for name, keys in plan.together.items() if name[1] != "run"}
    together = [key for keys in sets.values() for key in keys]
    assert len(together) == len(set(together))
    assert set(together) == {one.key for one in plan.named("scores")}
    told = {(row.corpus, row.method, row.size): set() for row in plan.rows}
    for row in plan.rows:
        told[row.corpus, row.method, row.size] |= set(row.scores.values())
    assert len(sets) <= len(told)
    for (_, by, _), keys in sets.items():
        assert by == "method"
        assert any(set(keys) <= keys_of_size for keys_of_size in told.values())


def test_all_that_is_decoded_of_a_run_is_made_by_one_process(config):
    """With every search, from both checkpoints, of the test part and of what is held out; for every twin."""
    plan = edited(config, unseen)
    of_runs = {}
    for row in plan.rows:
        if row.run is not None:
            of_runs.setdefault(row.run, set()).add(row.output)
    sets = {name: keys for (_, by, name), keys in plan.together.items() if by == "run"}
    assert {run: set(keys) for run, keys in sets.items()} == of_runs
    assert sum(map(len, sets.values())) == len(plan.named("outputs", "decode"))
    assert {len({plan.folder(key).specification["corpus"] for key in keys}) for keys in sets.values()} == {1, 2}


def test_a_pretrained_method_adds_folders_and_renames_none(config):
    before = edited(config, without_reading)
    add_pretrained(config)
    after = smoke(config)
    assert names(before) < names(after)
    mine = [folder for folder in after.folders.values() if "-mine-" in folder.name and folder.step != "scores"]
    assert {folder.kind for folder in mine} == {"train", "decode", "untrained"}
    for folder in mine:
        (file,) = folder.files
        assert (file.sha256, file.path) == (PRETRAINED["sha256"], PRETRAINED["path"])
    rows = [row for row in after.rows if row.method == "mine-zero-shot"]
    assert [(row.percent, row.seed, row.run, row.role) for row in rows] == [(None, None, None, "outside")] * 2
    assert "mine-zero-shot" in after.system_titles
    assert {row.percent for row in after.rows if row.method == "mine"} == {50, 100}


def test_a_model_of_the_hub_lies_below_the_studys_home(config):
    add_pretrained(config, path=None, hub="owner/name", revision="12" * 20)
    folder = next(folder for folder in smoke(config).folders.values() if folder.kind == "untrained")
    assert folder.files[0].at(Path("home")) == Path("home/data/raw/model-abababababab")
    assert not next(iter(folder.files)).observed(Path("home"))


def test_a_study_that_is_half_written_hinders_no_other(config):
    (config / "studies" / "aaa.yaml").write_text("title: [half")
    (config / "config.yaml").write_text("study: docstrings\n")
    key = next(iter(smoke(config).folders))
    assert plan_holding(config, key).study == "smoke"
    with pytest.raises(PlanError, match=r"asks for corpora/none(.|\n)*not read: .*aaa.yaml:1: this is not YAML"):
        plan_holding(config, "corpora/none")


@pytest.mark.parametrize(
    ("distribution", "stems"),
    [("spacy", {"tales-entities", "modules-entities"}), ("numpy", {"modules-oracle"}), ("scipy", {"modules-oracle"})],
)
def test_another_version_of_a_library_renames_what_it_decides(config, monkeypatch, distribution, stems):
    from sumcurve.store import provenance

    before, installed = smoke(config), provenance.version
    monkeypatch.setattr(provenance, "version", lambda name: "99.1" if name == distribution else installed(name))
    assert changed(before, smoke(config), "annotations") == stems


def test_a_raw_file_is_read_where_it_lies_though_another_study_calls_it_otherwise(config):
    """Two studies of one content, pinned by its hash, at two paths: the first to be found has none of its own."""
    text = (config / "studies" / "smoke.yaml").read_text()
    (config / "studies" / "aaa.yaml").write_text(text.replace("tests/data/tales.jsonl", "elsewhere/tales.jsonl"))
    (config / "config.yaml").write_text("study: aaa\n")
    plan = Plan.read(config, "aaa")
    key = next(folder.key for folder in plan.folders.values() if folder.stem == "tales")
    (file,) = plan_holding(config, key).folder(key).files
    assert file.at(Path()).is_file()
    (config / "studies" / "smoke.yaml").unlink()
    assert plan_holding(config, key).study == "aaa"  # whose error then names the path that it says


def test_studies_share_trainings_where_sizes_and_seeds_coincide(config):
    twin = {"title": "Twin", "extends": "smoke", "corpora": {"modules": {"percents": [50, 100]}}, "seeds": [1, 2]}
    (config / "studies" / "twin.yaml").write_text(yaml.safe_dump(twin))
    one, two = smoke(config), Plan.read(config, "twin")
    ours = [row for row in two.rows if row.part == "study" and row.search != "paper" and row.method == "pcov"]
    shared = [row for row in ours if row.seed == 1 and (row.corpus, row.percent) != ("modules", 50)]
    assert {(row.corpus, row.percent) for row in shared} == {("tales", 50), ("tales", 100), ("modules", 100)}
    assert {key for row in shared for key in (row.run, row.output)} <= names(one)
    assert not {row.run for row in ours if row not in shared} & names(one)


def test_the_recorded_studies_leave_no_training_record_out_and_test_where_nobody_looked():
    for study in ("docstrings-full", "docstrings", "demo"):
        for corpus in Plan.read(ROOT / "config", study).settings.corpora.values():
            assert corpus.split.train is None
            assert corpus.split.key == "third"
            assert corpus.percents[-1] == 100 or study != "docstrings-full"


PROGRAM = {"kind": "command", "summarize": "python summarize.py"}


def with_system(config, **told):
    return edited(config, systems={"theirs": told})


def test_a_program_that_trains_has_a_row_of_every_percent_and_seed(config):
    once = with_system(config, **PROGRAM)
    (row,) = (row for row in once.rows if row.method == "theirs" and row.corpus == "tales")
    assert (row.role, row.percent, row.run) == ("outside", None, None)
    plan = with_system(config, **PROGRAM, train="python train.py", title="Their program")
    rows = [row for row in plan.rows if row.method == "theirs"]
    settings = plan.settings
    cells = [(name, percent) for name, corpus in settings.corpora.items() for percent in corpus.percents]
    assert {(row.corpus, row.percent, row.seed) for row in rows} == {(*cell, 1) for cell in cells}
    for row in rows:
        run, output = plan.folder(row.run), plan.folder(row.output)
        assert (run.kind, output.kind, row.search, row.role) == ("train_program", "decode_program", "own", "trained")
        assert run.specification["fraction"] == row.fraction
        assert "reading" not in output.specification
        assert "reading" not in row.scores
        assert "rouge" in row.scores
    assert plan.titles["theirs"] == "Their program"
    assert "theirs" not in plan.system_titles
    others = names(once) - {key for key in names(once) if "theirs" in key}
    assert others <= names(plan)


def test_log_probabilities_of_a_program_are_asked_about_the_words_that_all_know(config):
    plan = with_system(config, **PROGRAM, train="true", logp="cat")
    for row in plan.rows:
        if row.method == "theirs":
            asked = plan.folder(row.scores["reading"]).specification["inputs"]
            methods = next(one for one in plan.rows if one.method == "pcov" and one.corpus == row.corpus)
            assert asked == plan.folder(methods.scores["reading"]).specification["inputs"]
            assert any([10**9, 1] in told for told in asked.values())


def test_what_a_program_is_decides_its_names(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("one")
    told = PROGRAM | {"train": "python train.py"}
    plans = [
        with_system(config, **told | change) for change in ({}, {"train_timeout": 7}, {"train": "python  train.py"})
    ]
    (tmp_path / "train.py").write_text("other")
    plans.append(with_system(config, **told))
    found = [names(plan, "runs") for plan in plans]
    for one, other in combinations(found, 2):
        assert not any("theirs" in key for key in one & other)
    summarizes = with_system(config, **told | {"summarize": "python other.py"})
    assert names(summarizes, "runs") == found[-1]
    assert names(summarizes, "outputs") != names(plans[-1], "outputs")


def test_files_of_a_curve_have_rows_at_their_sizes_even_if_nothing_is_trained_there(config, tmp_path):
    for percent in (5, 100):
        (tmp_path / f"theirs-{percent}.jsonl").write_text(f"{percent}")
    paths = {percent: str(tmp_path / f"theirs-{percent}.jsonl") for percent in (5, 100)}
    plan = with_system(config, kind="file", path=paths, corpora=["tales"])
    rows = [row for row in plan.rows if row.method == "theirs"]
    cells = [(row.percent, row.seed, row.run, row.search) for row in rows]
    assert cells == [(5, 1, None, "own"), (100, 1, None, "own")]
    assert [plan.folder(str(row.fraction)).specification["percent"] for row in rows] == [5, 100]
    (tmp_path / "theirs-5.jsonl").unlink()
    with pytest.raises(PlanError, match=r"systems.theirs: .*theirs-5.jsonl cannot be read"):
        with_system(config, kind="file", path=paths, corpora=["tales"])


def sized(config, **told):
    """The smoke study with numbers of records in place of percents on tales, and two seeds."""

    def change(content):
        content["corpora"]["tales"].update({"percents": None, "sizes": [30, 60]} | told)
        content["seeds"] = [1, 2]

    return edited(config, change)


def test_sizes_in_records_are_rows_and_folders_of_their_own_and_rename_no_other(config):
    before, after = smoke(config), sized(config)
    of_tales = [row for row in after.rows if row.corpus == "tales" and row.part == "study" and row.size is not None]
    assert {(row.percent, row.records) for row in of_tales} == {(None, 30), (None, 60)}
    assert {row.records for row in of_tales if row.search == "paper"} == {60}
    fraction = after.folder(next(row.run for row in of_tales)).specification["fraction"]
    assert after.folder(fraction).specification.keys() & {"percent", "records"} == {"records"}
    assert all(f"-n{row.records}-s{row.seed}-" in row.run for row in of_tales if row.run)
    modules = {key for key in names(before, "runs") if key.startswith("runs/modules")}
    assert modules <= names(after, "runs")


def test_a_method_may_have_fewer_sizes_and_seeds(config):
    plan = sized(config, trainings={"pcov": {"sizes": [60]}, "ent": {"seeds": [2]}})
    cells = {
        (row.method, row.records, row.seed)
        for row in plan.rows
        if row.corpus == "tales" and row.part == "study" and row.search == "common"
    }
    assert cells == {("pcov", 60, 1), ("pcov", 60, 2), ("ent", 30, 2), ("ent", 60, 2)}
    plan = sized(config, trainings={"pcov": None, "abs": None})  # of a study that is extended without abs
    assert {row.records for row in plan.rows if (row.corpus, row.method) == ("tales", "pcov")} == {30, 60}


def test_sizes_of_all_that_is_published_are_planned(config):
    split = {"ready": "records", "valid": 5, "test": 8}
    assert sized(config, split=split, published={"train": 60, "valid": 5, "test": 8}).rows
    assert sized(config, split={"valid": 5, "test": 8}, published={"train": 73}).rows


def test_a_corpus_of_debian_is_of_lists_that_apt_fetches():
    plan = Plan.read(ROOT / "config", "debian")
    (file,) = plan.named("corpora", "corpus")[0].files
    assert file.harvested
    assert file.path == f"data/raw/lists-{file.sha256[:12]}"
    assert [raw.apt.codename for raw in plan.raws] == ["bookworm"]


def test_the_papers_studies_ask_what_the_papers_asked():
    apes = Plan.read(ROOT / "config", "apes-cnndm")
    (questions,) = apes.named("annotations", "questions")
    assert (questions.specification["hyphenated"], questions.specification["salient"]) == ("parts", "words")
    learned = {one.specification.get("entities") for one in apes.named("runs", "train")}
    assert learned == {None, questions.key}
    scored = {row.method for row in apes.rows if "apes" in row.scores}
    assert scored >= {"source", "gold", "shuffled-gold", "lead", "ent"}
    for study, golds in (("contrasts-cnndm", 11_490), ("contrasts-gigaword", 10_000)):
        plan = Plan.read(ROOT / "config", study)
        (corpus,) = plan.corpora.values()
        assert (corpus.split.test or corpus.published["test"]) == golds
        assert corpus.contrasts.golds is None  # all
        assert {row.method for row in plan.rows if {"dodged", "escaped"} <= row.scores.keys()} == {*plan.methods}
    (oracle,) = Plan.read(ROOT / "config", "arxiv").named("annotations", "prove")
    assert oracle.specification["oracle"]["parts"] == ["train", "valid", "test"]


@pytest.mark.parametrize("roles", [{"valid": "test"}, {"valid": "test", "test": "test"}])
def test_parts_are_exchanged_or_stay(roles):
    with pytest.raises(ValueError, match="`roles` exchanges parts that records say"):
        Split(ready="records", roles=roles)
    assert "roles" not in Split(ready="records").model_dump()


def test_a_study_learns_where_the_answers_of_questions_stand():
    plan = Plan.read(ROOT / "config", "papers")
    (asked,) = plan.named("annotations", "questions")
    learning = (run for run in plan.named("runs") if run.specification.get("entities") == asked.key)
    assert "ent_loss" in {run.specification["method"] for run in learning}
    assert not plan.named("annotations", "entities")
