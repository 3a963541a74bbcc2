"""What a study would cost is what measured trainings of the same cost, and no less where there is more to do."""

import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import programs
from sumcurve.settings.models import TransformerSettings
from sumcurve.store import manifest
from sumcurve.study.kinds import KINDS
from sumcurve.study.methods import read_method
from sumcurve.study.needs import LIGHT
from sumcurve.study.plan import Plan, PlanError
from sumcurve.watch import estimate as costs
from sumcurve.watch import status as standing
from sumcurve.watch.estimate import Costs, Measured, interval, multiply_adds

ROOT = Path(__file__).parents[3]
SIZES = (500, 1000, 2000, 4000)


def apart(records, method="abs"):
    """Updates between two validations by the rule of the small form, the same for both methods."""
    training = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms["small"].training
    stop = training.phases[0].stop
    return max(stop.every_updates, stop.every_epochs * records / training.batch)


def invented(slopes=(("abs", 0.5), ("pcov", 0.5)), of_update=0.1, noise=0.02):
    """Trainings of two methods whose validations grow by known slopes, with little noise."""
    generator = np.random.default_rng(3)
    return [
        Measured(
            "docstrings",
            method,
            records,
            updates,
            of_update * updates,
            "small",
            (50, 20),
            "cpu",
            f"{method}-{records}-{seed}",
        )
        for method, slope in slopes
        for records in SIZES
        for seed in (1, 2, 3)
        for updates in [apart(records) * records**slope * math.exp(generator.normal(0, noise))]
    ]


def endless(form):
    """The form without an end but patience."""
    phases = [
        phase.model_copy(update={"stop": phase.stop.model_copy(update={"max_updates": 10**9})})
        for phase in form.training.phases
    ]
    return form.model_copy(update={"training": form.training.model_copy(update={"phases": phases})})


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "docstrings")


def test_a_size_that_was_measured_costs_what_it_cost(plan):
    model = Costs(invented(), ROOT / "config")
    form, corpus = plan.methods["abs"], plan.settings.corpora["docstrings"]
    updates = model.updates("abs", endless(form), "docstrings", 2000)
    assert interval(updates)[0] == pytest.approx(apart(2000) * 2000**0.5, rel=0.05)
    assert interval(model.of_update("abs", form, corpus))[0] == pytest.approx(0.1)


def test_beyond_the_measured_sizes_the_growth_goes_on_and_is_known_less(plan):
    model = Costs(invented(), ROOT / "config")
    form = endless(plan.methods["pcov"])
    middle, low, high = interval(model.updates("pcov", form, "docstrings", 32000))
    assert middle == pytest.approx(apart(32000) * 32000**0.5, rel=0.15)
    assert apart(32000) > 4 * apart(2000)  # validations are further apart, and so are ends of trainings
    near = interval(model.updates("pcov", form, "docstrings", 4000))
    assert high / low > 1.5 * near[2] / near[1]


def test_methods_keep_slopes_of_their_own_and_phases_their_most_updates(plan):
    model = Costs(invented((("abs", 0.9), ("pcov", 0.2))), ROOT / "config")
    form = plan.methods["abs"]
    steep, flat = (interval(model.updates(one, endless(form), "docstrings", 8000))[0] for one in ("abs", "pcov"))
    assert steep / flat == pytest.approx(8000**0.7, rel=0.3)
    assert model.updates("abs", form, "docstrings", 8000).max() == sum(
        phase.stop.max_updates for phase in form.training.phases
    )
    unknown = interval(model.updates("mine", endless(form), "docstrings", 8000))
    assert unknown[2] / unknown[1] > 20  # as some method: anything between both


def test_a_wider_model_costs_more_and_no_more_than_its_multiply_adds(plan):
    model = Costs(invented(), ROOT / "config")
    form, corpus = plan.methods["abs"], plan.settings.corpora["docstrings"]
    wide = form.model_copy(update={"model": form.model.model_copy(update={"hidden": 256, "embedding": 256})})
    ratio = multiply_adds(wide.model, 50, 20, 4000) / multiply_adds(form.model, 50, 20, 4000)
    found = model.of_update("abs", wide, corpus) / model.of_update("abs", form, corpus)
    assert 1 < ratio**0.5 <= found.min() + 1e-9
    assert found.max() <= ratio + 1e-9


def test_native_sums_take_the_measured_share_of_an_update_wherever_they_stand(tmp_path):
    """In what is asked for, and in the basis: a native study foretold by native ones costs what those cost."""
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    path = config / "studies" / "docstrings.yaml"
    path.write_text("sums: native\n" + path.read_text())
    of_trainings = {}
    for basis in ("portable", "native"):
        model = Costs([replace(one, sums=basis) for one in invented()], config)
        for study, sums in ((ROOT / "config", "portable"), (config, "native")):
            plan = Plan.read(study, "docstrings")
            found = costs.estimate(plan, tmp_path / "results", model, told=6000)
            of_trainings[basis, sums] = np.median(found.trainings["docstrings", "abs", 6000][1])
    assert of_trainings["native", "native"] == pytest.approx(of_trainings["portable", "portable"])
    assert 1.3 < of_trainings["portable", "portable"] / of_trainings["portable", "native"] < costs.PORTABLE
    assert 1.3 < of_trainings["native", "portable"] / of_trainings["native", "native"] < costs.PORTABLE


def test_multiply_adds_of_a_transformer_are_those_of_its_matrices():
    model = TransformerSettings(
        kind="transformer", width=8, heads=2, feedforward=16, encoder_layers=1, decoder_layers=1
    )
    layer = 4 * 8 * 8 + 2 * 8 * 16
    assert multiply_adds(model, 5, 3, 100) == 5 * layer + 3 * (layer + 4 * 8 * 8 + 100 * 8)


def test_a_basis_without_sizes_is_refused():
    for basis in ([], invented()[:1]):
        with pytest.raises(PlanError, match=r"what trainings cost is not known"):
            Costs(basis, ROOT / "config")


def test_finished_folders_cost_nothing_and_unknown_records_are_said(tmp_path):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    model = Costs(invented(), config)
    path = config / "studies" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    content["corpora"] = {"tales": content["corpora"]["tales"] | {"methods": None}}
    content |= {"methods": ["pcov"], "systems": dict.fromkeys(("lead", "random"))}
    path.write_text(yaml.safe_dump(content))
    plan = Plan.read(config, "smoke")
    found = costs.estimate(plan, tmp_path / "results", model)
    lines = costs.lines(plan, found, model, 2, "a CPU")
    assert lines[0] == (
        "NOT ESTIMATED: 3 of 3 trainings, 1 of 3 corpora: tales: how many training records it has is not known before "
        "it is prepared; say `--records N`"
    )
    assert any(re.fullmatch(r"core-hours to do: at least \d+\.\d", line) for line in lines)
    assert sum(found.jobs.values()) == len(plan.folders)
    told = costs.estimate(plan, tmp_path / "results", model, told=100)
    assert interval(told.total)[0] > interval(found.total)[0]
    assert {key[2] for key in told.trainings} == {50, 100}
    assert not told.unpriced
    content["corpora"]["tales"] |= {"percents": None, "sizes": [30, 60]}
    path.write_text(yaml.safe_dump(content))
    sized = costs.estimate(Plan.read(config, "smoke"), tmp_path / "results", model)
    assert {key[2] for key in sized.trainings} == {30, 60}


def test_jobs_of_a_cluster_are_those_that_snakemake_would_submit(plan, tmp_path):
    """A set that one process makes is one; sets of a reader of questions are no steps of seconds."""
    model = Costs(invented(), ROOT / "config")
    said = "\n".join(costs.lines(plan, costs.estimate(plan, tmp_path, model, told=6000), model, 2, "CPUs"))
    alone = set(plan.folders) - {key for keys in plan.together.values() for key in keys}
    jobs = [plan.folder(key).kind for key in alone]
    jobs += ["corpus" if by == "scorer" else plan.folder(keys[0]).kind for (_, by, _), keys in plan.together.items()]
    steps = sum(kind in LIGHT for kind in jobs)
    on_gpus = sum(KINDS[kind].gpu for kind in jobs)
    assert any(by == "scorer" for _, by, _ in plan.together)
    assert f"on a cluster {len(jobs) - steps} jobs; {steps} steps of seconds" in said
    assert f"{on_gpus} of them ask for a GPU" in said


def test_the_recorded_studies_are_a_basis():
    basis = costs.measured(ROOT / "config", ROOT / "results" / "tables")
    assert {one.method for one in basis} >= {"abs", "pcov", "trans"}
    assert all(one.updates > 0 and one.seconds > 0 for one in basis)
    assert set(costs.recorded_sizes(ROOT / "results" / "tables").values()) >= {6339}


def test_readers_of_questions_cost_by_their_width_and_no_more_than_their_most_updates(tmp_path):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    path = config / "studies" / "docstrings.yaml"
    content = yaml.safe_load(path.read_text())
    hours = {}
    for hidden, most in ((64, 2000), (256, 2000), (64, 450)):
        reader = content["scores"]["apes"]["reader"]
        reader |= {"hidden": hidden, "stop": {**reader["stop"], "max_updates": most}}
        path.write_text(yaml.safe_dump(content))
        plan = Plan.read(config, "docstrings")
        found = costs.estimate(plan, tmp_path / "results", Costs(invented(), config), told=6000)
        assert found.jobs["reader"] == 3
        hours[hidden, most] = found.hours["reader"]
    assert np.median(hours[256, 2000]) > 4 * np.median(hours[64, 2000])
    assert np.ptp(hours[64, 450]) == 0  # patience ends no training before
    assert hours[64, 450].max() <= hours[64, 2000].min()


def test_what_is_made_of_a_training_alone_is_priced_by_its_corpus(tmp_path):
    plan = Plan.read(ROOT / "config", "docstrings-all")
    assert plan.named("outputs", "labels")
    found = costs.estimate(plan, tmp_path / "results", Costs(invented(), ROOT / "config"), told=6000)
    assert "labels" in found.hours
    assert not any("labels" in kinds for kinds in found.unpriced.values())


def test_the_default_study_is_foretold_by_its_small_sizes():
    """What `benchmarks/plan_estimates.py` prints, of recorded trainings alone."""
    basis = costs.measured(ROOT / "config", ROOT / "results" / "tables")
    small = Costs([one for one in basis if one.records <= 1600], ROOT / "config")
    plan = Plan.read(ROOT / "config", "docstrings")
    names = {row.table_name for row in plan.rows if row.part == "study"}
    own = costs.measured(ROOT / "config", ROOT / "results" / "tables", "docstrings")
    larger = [one for one in own if one.run in names and one.records > 1600]
    assert larger
    told = sum(
        small.updates(one.method, form, one.corpus, one.records)
        * small.of_update(one.method, form, plan.settings.corpora[one.corpus])
        for one in larger
        for form in [plan.methods[one.method]]
    )
    _, low, high = interval(told)
    assert low <= sum(one.seconds for one in larger) <= high


def test_what_is_published_is_known_before_it_is_here(tmp_path):
    """As many records as docs/corpora.md says; and nothing is left out of the hours."""
    model = Costs(costs.measured(ROOT / "config", ROOT / "results" / "tables"), ROOT / "config")
    table = (ROOT / "docs" / "corpora.md").read_text()
    for study in ("cnndm", "xsum", "arxiv", "gigaword"):
        (row,) = re.findall(rf"^\| `{study}` \|.*$", table, re.M)
        counts = [int(one.replace(",", "")) for one in re.search(r"([\d,]+) / ([\d,]+) / ([\d,]+)", row).groups()]
        plan = Plan.read(ROOT / "config", study)
        (corpus,) = plan.corpora.values()
        assert [corpus.published[part] for part in ("train", "valid", "test")] == counts
        found = costs.estimate(plan, tmp_path, model)
        assert list(found.records.values()) == [counts[0]]
        assert max(size for _, _, size in found.trainings) == counts[0]
        assert sum(many for many, _ in found.trainings.values()) == found.jobs["train"], "controls are trainings, too"
        said = "\n".join(costs.lines(plan, found, model, 2, "a CPU"))
        assert "NOT ESTIMATED" not in said
        assert "GPU-hours" in said
        measured = [(one.records, one.method) for one in model.basis]
        largest = {method: records for records, method in sorted(measured)}
        beyond = {method for _, method, size in found.trainings if size > largest.get(method, math.inf)}
        first = said.split("\n")[0]
        assert beyond
        assert first.startswith("EXTRAPOLATED: ")
        for method in beyond:
            assert f" {method} {counts[0]:,} (up to {largest[method]:,})" in first


def test_a_preparation_costs_by_what_is_read_and_its_temporary_disk_is_said(tmp_path):
    """OAGS keeps a few of what it reads. What is read and not known is said to be assumed."""
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    model, path = Costs(invented(), config), config / "studies" / "oags.yaml"
    content = yaml.safe_load(path.read_text())

    def planned(**changes):
        content["corpora"]["oags"] |= changes
        path.write_text(yaml.safe_dump(content))
        plan = Plan.read(config, "oags")
        found = costs.estimate(plan, tmp_path / "results", model)
        return found, "\n".join(costs.lines(plan, found, model, 2, "a CPU"))

    whole, said = planned()
    assert whole.records == {"oags": 1_500_000}
    assert whole.read == {"oags": 35_000_000}
    seconds = 3600 * np.median(whole.hours["corpus"])
    assert seconds == pytest.approx(costs.START + 35_000_000 * costs.PREPARED)
    assert re.search(r"of oags: 1,500,000, of 35,000,000 records that are read", said)
    assert re.search(r"temporary disk beside it: [\d,]+ MB for scratch/shards of oags", said)
    assert re.search(r"temporary disk beside it: [\d,]+ MB for scratch/token-ids of oags", said)
    half, _ = planned(published={"train": 17_500_000})
    assert half.records == whole.records
    assert half.disk["corpus"] < whole.disk["corpus"]  # what is not kept stands in dropped.jsonl
    shards, spool = "scratch/shards of oags, until it is prepared", "the spool of oags, until it is prepared"
    assert half.temporary[shards] < whole.temporary[shards]
    alone, _ = planned(published={"train": 35_000_000}, shards=None)
    assert shards not in alone.temporary
    assert alone.temporary[spool] < whole.temporary[shards]
    near, _ = planned(shards=512, prepare=content["corpora"]["oags"]["prepare"] | {"near_duplicates": 0.8})
    assert near.temporary[shards] - whole.temporary[shards] > 35_000_000 * 144
    unknown, said = planned(published={})
    assert unknown.read == {"oags": 1_520_000}
    assert re.search(r"oags: how many records are read .* not known; they are taken to be the 1,520,000", said)
    assert "not known" not in planned(published={"train": 35_000_000})[1]


PRETRAINED = {"kind": "transformers", "sha256": "ab" * 32, "path": "models/mine", "zero_shot": True}
SPACY = {"kind": "spacy", "path": "models/ner", "sha256": "cd" * 32}


@pytest.mark.parametrize(
    ("study", "tales", "counts"),
    [
        ({"methods": ["mine"]}, {}, r"2 of 2 trainings, 3 of 5 outputs: .*pretrained models from elsewhere"),
        ({"methods": ["mine", "pcov"]}, {}, r"2 of 5 trainings, 3 of \d+ outputs: .*pretrained models from elsewhere"),
        ({"systems": {"theirs": programs.systems()["nearest"]}}, {}, r"2 of 5 trainings, 2 of \d+ outputs: .*programs"),
        ({}, {"cloze": {"recogniser": SPACY}}, r"1 of 2 annotations: .*recognisers of entities"),
        ({}, {"split": {"ready": "records"}}, r"\d+ of \d+ outputs, (\d+) of \1 scores: tales: how many test records"),
    ],
)
def test_what_nothing_measured_tells_is_the_first_line_and_makes_every_sum_a_least(tmp_path, study, tales, counts):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    method = {
        "title": "B",
        "paper": "P.",
        "model": PRETRAINED,
        "phases": {"nll": {"loss": "nll"}},
        "forms": {"smoke": None},
    }
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump(method))
    content = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    own = {"methods": None, "contrasts": None, "published": {"train": 100}}
    content["corpora"] = {"tales": content["corpora"]["tales"] | own | tales}
    none = dict.fromkeys(("best-sentence", "sumbasic", "lexrank", "lsa"))
    content |= {"methods": ["pcov"], "scores": {"rouge": {}}} | study
    content["systems"] = content.get("systems", {}) | none
    (config / "studies" / "mine.yaml").write_text(yaml.safe_dump(content))
    plan, model = Plan.read(config, "mine"), Costs(invented(), config)
    found = costs.estimate(plan, tmp_path / "results", model)
    lines = costs.lines(plan, found, model, 2, "a CPU")
    assert re.match(f"NOT ESTIMATED: {counts}", lines[0]), lines[0]
    sums = [
        line
        for line in lines
        if re.match("core-hours to do|hours on|disk to be|remote" + "|GPU-hours of" * ("trainings" in counts), line)
    ]
    for line in lines:
        if bound := re.match(r"(\w+) +\d+ +\d+ +> ([\d.]+) ", line):
            assert float(bound[2]) == pytest.approx(interval(found.hours[bound[1]])[1], abs=0.005)
            assert "core-hours: the median; behind >: of what is estimated, the lower end" in "\n".join(lines)
    assert len(sums) >= 4
    for line in sums:
        assert "at least" in line
        assert not re.search(r"interval|\d to \d+\.?\d*,", line), line
    results = tmp_path / "results"
    left = standing.time_left(plan, results, standing.standing(plan, results, {}), model, {})
    assert left.startswith(lines[0])
    assert "core-hours left to do: at least" in left


def test_a_recorded_corpus_costs_by_what_was_read_of_it(tmp_path):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    shutil.copytree(ROOT / "results" / "tables", tmp_path / "results" / "tables")
    plan, tables = Plan.read(config, "docstrings"), tmp_path / "results" / "tables"
    if not (keys := costs.recorded_sizes(tables).keys() & plan.folders.keys()):
        pytest.skip("the corpora of this code are others than the recorded ones")
    found = costs.estimate(plan, tables.parent, Costs(invented(), config), recorded=costs.recorded_sizes(tables))
    assert found.read["docstrings"] == 30147, keys


def test_a_bart_that_was_made_here_costs_what_its_measured_trainings_cost():
    basis = costs.measured(ROOT / "config", ROOT / "results" / "tables")
    model, plan = Costs(basis, ROOT / "config"), Plan.read(ROOT / "config", "pretraining")
    made = plan.settings.pretraining.model
    form, corpus = plan.methods["bart"], plan.settings.corpora["docstrings"]
    own = [one.seconds / one.updates for one in basis if one.method == "bart"]
    assert min(own) <= np.median(model.of_update("bart", form, corpus, made)) <= max(own)
    wide = made.model_copy(update={"width": 2 * made.width})
    assert (model.of_update("bart", form, corpus, wide) > model.of_update("bart", form, corpus, made)).all()


def test_what_is_left_follows_what_trainings_took_here(tmp_path, monkeypatch):
    """Trainings that took ten times as long make the rest count ten times; too few of them change nothing."""
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    plan, results, known = Plan.read(config, "smoke"), tmp_path / "results", Costs(invented(), config)
    records = dict.fromkeys(costs.records_of(plan, results, None, {}), 100)
    monkeypatch.setattr(costs, "records_of", lambda *_: records)
    trained = plan.named("runs", "train")

    def hours(many, times):
        """What is said to be left when so many trainings are finished, after so many times their estimate."""
        took = {one.name: times * np.median(costs.of_training(plan, one, records, known)) for one in trained[:many]}
        monkeypatch.setattr(manifest, "state", lambda path: "finished" if path.name in took else "missing")
        monkeypatch.setattr(standing, "timing", lambda run: SimpleNamespace(total_seconds=took[run.name]))
        assert standing.pace(plan, results, known, records) == (many, pytest.approx(times))
        said = standing.time_left(plan, results, standing.standing(plan, results, {}), known, {})
        return float(re.match(r"core-hours left to do: ([\d.]+) \(", said)[1])

    assert hours(standing.ENOUGH - 1, 1000) == hours(standing.ENOUGH - 1, 100)
    assert hours(4, 1000) == pytest.approx(10 * hours(4, 100), rel=0.02)
