"""What a study would cost is what the nearest measured trainings cost, scaled, and no less where more is to do."""

import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import programs
from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.models import TransformerSettings
from sumcurve.store import manifest
from sumcurve.study.doors import StudySettings
from sumcurve.study.kinds import KINDS
from sumcurve.study.methods import read_method
from sumcurve.study.needs import LIGHT
from sumcurve.study.plan import Plan
from sumcurve.watch import costs, estimate
from sumcurve.watch import status as standing
from sumcurve.watch.costs import Costs, Measured, Training
from sumcurve.watch.estimate import Gpus, lines, training_of
from workplace import configured

ROOT = Path(__file__).parents[3]
TABLES = ROOT / "results" / "tables"
STUDY = read_study(ROOT / "config" / "studies" / "docstrings.yaml").validated(StudySettings)
SIZES = (500, 1000, 2000, 4000)


def endless(form):
    """The form without an end but patience."""
    phases = [
        phase.model_copy(update={"stop": phase.stop.model_copy(update={"max_updates": 10**9})})
        for phase in form.training.phases
    ]
    return form.model_copy(update={"training": form.training.model_copy(update={"phases": phases})})


def training(method="abs", records=2000, corpus="docstrings", ends=False, **model):
    """One of the small form; by default without an end but patience, and with these keys of its model."""
    form = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms["small"]
    form = form.model_copy(update={"model": form.model.model_copy(update=model)})
    return replace(Training.of(STUDY, method, "docstrings", records, form if ends else endless(form)), corpus=corpus)


def invented(slopes=(("abs", 0.5), ("pcov", 0.5)), of_update=0.1, noise=0.02, corpus="docstrings"):
    """Trainings of two methods whose validations grow by known slopes, with little noise."""
    generator = np.random.default_rng(3)
    runs = []
    for method, slope in slopes:
        for records in SIZES:
            one_size = training(method, records, corpus)
            for seed in (1, 2, 3):
                updates = one_size.apart * records**slope * math.exp(generator.normal(0, noise))
                runs.append(Measured(one_size, updates, of_update * updates, "cpu", f"{method}-{records}-{seed}"))
    return runs


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "docstrings")


@pytest.fixture(scope="module")
def recorded():
    return costs.measured(ROOT / "config", TABLES)


@pytest.fixture
def config(tmp_path):
    return configured(tmp_path) / "config"


@pytest.fixture
def planned(config, tmp_path):
    """Edit a study, and see what it costs by invented trainings: plan, estimate and lines."""

    def of(study, change=lambda content: None, basis=None, **told):
        path = config / "studies" / f"{study}.yaml"
        content = yaml.safe_load(path.read_text())
        change(content)
        path.write_text(yaml.safe_dump(content))
        plan, model = Plan.read(config, study), Costs(basis or invented())
        whole = estimate.estimate(plan, tmp_path / "results", model, **told)
        return plan, whole, lines(plan, whole, model, 2, "a CPU")

    return of


def test_a_size_that_was_measured_costs_what_it_cost():
    low, middle, high = Costs(invented()).seconds(training())
    items = training().form.training.valid_records * costs.VALIDATED
    expected = 0.1 * training().apart * 2000**0.5 + items * 2000**0.5
    assert middle == pytest.approx(expected, rel=0.05)
    assert low < middle < high < 1.1 * middle


def test_beyond_the_measured_sizes_the_growth_goes_on_and_the_interval_is_wider():
    model = Costs(invented((("abs", 0.9), ("pcov", 0.2))))
    low, middle, high = model.updates(training("pcov", 32000))
    assert middle == pytest.approx(training("pcov", 32000).apart * 4000**0.2 * 8**model.growth, rel=0.05)
    near = model.updates(training("pcov", 8000))
    assert high / low > 1.5 * near[2] / near[0]
    assert model.updates(training("abs", 32000, ends=True)).max() == training("abs", ends=True).max_updates


def test_a_control_takes_all_its_updates_and_an_update_may_be_slower_than_those_measured():
    """Speeds of the basis differ by a tenth, and so does what is not known of a training whose updates are."""
    generator = np.random.default_rng(5)
    runs = [replace(run, seconds=run.seconds * math.exp(generator.normal(0, 0.1))) for run in invented()]
    control = replace(training("pcov", ends=True), last_alone=True)
    model = Costs(runs)
    assert np.ptp(model.updates(control)) == 0
    low, middle, high = model.seconds(control) - costs.START
    assert 1.05 < high / middle < 1.4
    assert 1.05 < middle / low < 1.4


def test_the_nearest_is_of_the_method_then_of_its_corpus_then_of_its_kind():
    runs = [*invented(), *invented((("trans", 0.5),)), *invented((("abs", 0.5),), corpus="others")]
    model = Costs(runs)

    def nearest(**said):
        return model.nearest(training(**said))[0].cell

    assert nearest(records=9000) == ("docstrings", "abs", 4000)
    assert nearest(records=600, corpus="others") == ("others", "abs", 500)
    assert nearest(method="pcov", corpus="others") == ("docstrings", "pcov", 2000)
    assert nearest(method="trans_nocopy", records=900)[1:] == ("trans", 1000)
    assert model.reach(training(records=9000)) == 4000
    assert model.reach(replace(training(method="pcov"), last_alone=True)) is None


def test_an_interval_is_of_residuals_of_its_own_relation_and_distance():
    """Methods whose levels differ tell of other methods less than of themselves."""
    runs = [replace(run, updates=run.updates * 9, seconds=run.seconds * 9) for run in invented((("pcov", 0.5),))]
    model = Costs([*invented((("abs", 0.5),)), *runs])
    own, other = (model.updates(training(method)) for method in ("abs", "trans"))
    assert own[2] / own[0] < 1.2
    assert other[2] / other[0] > 9


def test_multiply_adds_of_a_transformer_are_those_of_its_matrices():
    keys = {"width": 8, "heads": 2, "feedforward": 16, "encoder_layers": 1, "decoder_layers": 1}
    form = training("trans").form
    form = form.model_copy(update={"model": TransformerSettings(kind="transformer", **keys)})
    layer = 4 * 8 * 8 + 2 * 8 * 16
    words = form.training.vocabulary
    assert costs.multiply_adds(form, 5, 3, STUDY) == 5 * layer + 3 * (layer + 4 * 8 * 8 + words * 8)


def test_native_sums_take_the_measured_share_of_an_update_wherever_they_stand():
    """In what is planned, and in the basis: a native study foretold by native ones costs what those cost."""
    seconds = {}
    for basis in ("portable", "native"):
        model = Costs([replace(run, training=replace(run.training, sums=basis)) for run in invented()])
        for sums in ("portable", "native"):
            seconds[basis, sums] = model.of_update(replace(training(), sums=sums))
    assert seconds["native", "native"] == pytest.approx(seconds["portable", "portable"])
    assert seconds["portable", "portable"] / seconds["portable", "native"] == pytest.approx(costs.PORTABLE)
    assert seconds["native", "portable"] / seconds["native", "native"] == pytest.approx(costs.PORTABLE)


@pytest.mark.parametrize("basis", [[], invented()[:3]])
def test_a_basis_without_sizes_is_refused(basis):
    with pytest.raises(PlanError, match="what trainings cost is not known"):
        Costs(basis)


@pytest.mark.long
def test_recorded_trainings_are_held_by_intervals_that_were_made_without_them(recorded):
    """A size of a method is left out in turn; `benchmarks/plan_estimates.py` has studies and methods."""
    assert {run.cell[1] for run in recorded} >= {"abs", "pcov", "trans"}
    held = []
    for cell in sorted({run.cell for run in recorded})[::5]:
        model = Costs([run for run in recorded if run.cell != cell])
        out = [run for run in recorded if run.cell == cell]
        low, _, high = model.updates(out[0].training) * model.of_update(out[0].training)
        held += [low <= run.updates * run.of_update <= high for run in out]
    assert np.mean(held) > 0.8


def test_finished_folders_cost_nothing_and_unknown_records_are_said_first(planned):
    def change(content):
        content["corpora"] = {"tales": content["corpora"]["tales"] | {"methods": None}}
        content |= {"methods": ["pcov"], "systems": dict.fromkeys(("lead", "random"))}

    plan, unknown, said = planned("smoke", change)
    assert said[0].startswith(
        "NOT ESTIMATED: 3 of 3 trainings, 1 of 3 folders of corpora: tales: how many training records"
    )
    assert sum(unknown.jobs.values()) == len(plan.folders)
    _, known, _ = planned("smoke", assumed=100)
    assert known.total[1] > unknown.total[1]
    assert {records for _, _, records in known.trainings} == {50, 100}
    assert not known.unpriced
    sizes = {"percents": None, "sizes": [30, 60]}
    _, sized, _ = planned("smoke", lambda content: content["corpora"]["tales"].update(sizes))
    assert {records for _, _, records in sized.trainings} == {30, 60}


def test_a_size_of_more_records_than_a_finished_corpus_has_is_refused(planned, monkeypatch):
    monkeypatch.setattr(estimate, "_parts", lambda results, key: {part: {"records": 40} for part in ("train", "test")})
    sizes = {"percents": None, "sizes": [30, 60]}
    with pytest.raises(PlanError, match=r"smoke.yaml:\d+: corpora.tales.sizes: 60 training .* 40 that tales has"):
        planned("smoke", lambda content: content["corpora"]["tales"].update(sizes))


def test_jobs_of_a_cluster_are_those_that_snakemake_would_submit(plan, planned):
    """A set that one process makes is one; sets of a reader of questions are no steps of seconds."""
    said = "\n".join(planned("docstrings", assumed=6000)[2])
    alone = set(plan.folders) - {key for keys in plan.together.values() for key in keys}
    jobs = [plan.folder(key).kind for key in alone]
    jobs += ["corpus" if by == "scorer" else plan.folder(keys[0]).kind for (_, by, _), keys in plan.together.items()]
    steps = sum(kind in LIGHT for kind in jobs)
    assert any(by == "scorer" for _, by, _ in plan.together)
    assert f"on a cluster {len(jobs) - steps} jobs; {steps} steps of seconds" in said
    assert f"{sum(KINDS[kind].gpu for kind in jobs)} of them ask for a GPU" in said


def test_a_training_with_two_gpus_holds_both_and_half_as_many_run_at_once(planned):
    plan, whole, _ = planned("smoke", lambda content: content.update(scores={"rouge": {}}), assumed=40)

    def said(*gpus):
        return "\n".join(lines(plan, whole, Costs(invented()), 2, "a GPU", Gpus(*gpus)))

    whole.hours["train"], whole.hours["decode"] = np.full(3, 10.0), np.full(3, 4.0)
    assert "GPUs of this machine" not in said()
    assert "ask for a GPU; GPU-hours they take: " in said(4)
    assert "GPUs of this machine: 4, for 4 trainings at once; hours on them: 3.5 (" in said(4)
    assert "ask for a GPU, a training for 2; GPU-hours they take if 2 train no faster than one: 24.0 (" in said(4, 2)
    assert "GPUs of this machine: 4, for 2 trainings at once; hours on them: 6.0 (" in said(4, 2)
    assert "GPUs of this machine: 3, for 1 trainings at once; hours on them: 11.3 (" in said(3, 2)
    assert "GPUs of this machine: 4, for 8 trainings at once; hours on them: 3.5 (" in said(4, 1, 2)
    assert "GPUs of this machine: 1, too few for a training" in said(1, 2)


def test_readers_of_questions_cost_by_their_width_and_no_more_than_their_most_updates(planned):
    hours = {}
    for hidden, updates in ((64, 2000), (256, 2000), (64, 450)):

        def change(content, hidden=hidden, updates=updates):
            reader = content["scores"]["apes"]["reader"]
            reader |= {"hidden": hidden, "stop": {**reader["stop"], "max_updates": updates}}

        _, whole, _ = planned("docstrings", change, assumed=6000)
        assert whole.jobs["reader"] == 3
        hours[hidden, updates] = whole.hours["reader"]
    assert hours[256, 2000][1] > 4 * hours[64, 2000][1]
    assert np.ptp(hours[64, 450]) < np.ptp(hours[64, 2000])  # patience ends no training before
    assert hours[64, 450][1] <= hours[64, 2000].min()


@pytest.mark.parametrize("study", ["cnndm", "xsum", "arxiv", "gigaword"])
def test_what_is_published_is_known_before_it_is_here(study, recorded, planned):
    """As docs/reference/corpora.md has it; nothing is left out of the hours, and what is far is said first."""
    (row,) = re.findall(rf"^\| `{study}` \|.*$", (ROOT / "docs" / "reference" / "corpora.md").read_text(), re.M)
    counts = [int(text.replace(",", "")) for text in re.search(r"([\d,]+) / ([\d,]+) / ([\d,]+)", row).groups()]
    plan, whole, said = planned(study, basis=recorded)
    (corpus,) = plan.corpora.values()
    assert [corpus.published[part] for part in ("train", "valid", "test")] == counts
    assert list(whole.records.values()) == [counts[0]]
    assert max(records for _, _, records in whole.trainings) == counts[0]
    assert sum(many for many, _ in whole.trainings.values()) == whole.jobs["train"], "controls are trainings, too"
    assert "NOT ESTIMATED" not in "\n".join(said)
    largest = {method: records for records, method in sorted((run.cell[2], run.cell[1]) for run in recorded)}
    beyond = {method for _, method, records in whole.trainings if records > largest.get(method, math.inf)}
    assert said[0].startswith("EXTRAPOLATED: ")
    assert beyond
    assert all(f" {method} {counts[0]:,} (up to {largest[method]:,})" in said[0] for method in beyond)


@pytest.mark.parametrize(
    ("place", "path", "remedy"),
    [
        ({"path": "models/mine"}, "models/mine", "correct `path`"),
        ({"hub": "owner/name", "revision": "12" * 20}, f"data/raw/model-{'ab' * 6}", "fetched first, with network"),
        ({"hub": "owner/name", "sha256": None}, "", "asks the hub"),
    ],
)
def test_a_pretrained_model_that_is_not_here_is_said(config, tmp_path, monkeypatch, place, path, remedy):
    monkeypatch.chdir(tmp_path)
    model = {"kind": "transformers", "sha256": "ab" * 32, **place}
    method = {"title": "Mine", "paper": "None.", "model": model, "phases": {"nll": {"loss": "nll"}}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump({**method, "forms": {"smoke": None}}))
    study = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    study["methods"] = ["mine"]
    for corpus in study["corpora"].values():
        corpus.pop("methods", None)
    (config / "studies" / "smoke.yaml").write_text(yaml.safe_dump(study))
    plan = Plan.read(config, "smoke")
    (said,) = [line for line in estimate.missing_files(plan, tmp_path / "results") if "mine.yaml" in line]
    trained = [folder for folder in plan.folders.values() if folder.files and folder.files[0].pinned]
    if "sha256" in place:
        assert f"commit and sha256 of its model, which {len(trained)} folders need; " in said
        return
    assert said.startswith(f"MISSING: {config / 'methods' / 'mine.yaml'}: ")
    assert f"{path} is not here, and {len(trained)} folders need it; " in said
    assert remedy in said
    (tmp_path / path).mkdir(parents=True)
    assert not [line for line in estimate.missing_files(plan, tmp_path / "results") if "mine.yaml" in line]


def test_a_preparation_costs_by_what_is_read_and_its_temporary_disk_is_said(planned):
    """OAGS keeps a few of what it reads. What is read and not known is said to be assumed."""

    def oags(**changes):
        plan, whole, said = planned("oags", lambda content: content["corpora"]["oags"].update(changes))
        return plan, whole, "\n".join(said)

    plan, whole, said = oags()
    assert whole.records == {"oags": 1_500_000}
    assert whole.read == {"oags": 35_000_000}
    assert 3600 * whole.hours["corpus"][1] == pytest.approx(costs.START + 35_000_000 * estimate.PREPARED)
    assert all(
        re.search(rf"temporary disk beside it: [\d,]+ MB for scratch/{one} of oags", said)
        for one in ("shards", "token-ids")
    )
    _, half, _ = oags(published={"train": 17_500_000})
    assert half.records == whole.records
    assert half.disk["corpus"] < whole.disk["corpus"]  # what is not kept stands in dropped.jsonl
    shards, spool = "scratch/shards of oags, until it is prepared", "the spool of oags, until it is prepared"
    assert half.temporary[shards] < whole.temporary[shards]
    _, alone, _ = oags(published={"train": 35_000_000}, shards=None)
    assert shards not in alone.temporary
    assert alone.temporary[spool] < whole.temporary[shards]
    prepare = plan.corpora["oags"].prepare.model_dump(mode="json", exclude_unset=True) | {"near_duplicates": 0.8}
    _, near, _ = oags(shards=512, prepare=prepare)
    assert near.temporary[shards] - whole.temporary[shards] > 35_000_000 * 144
    _, unknown, said = oags(published={})
    assert unknown.read == {"oags": 1_520_000}
    assert re.search(r"oags: how many records are read .* not known; they are taken to be the 1,520,000", said)


PRETRAINED = {"kind": "transformers", "sha256": "ab" * 32, "path": "models/mine", "zero_shot": True}
SPACY = {"kind": "spacy", "path": "models/ner", "sha256": "cd" * 32}


@pytest.mark.parametrize(
    ("study", "tales", "counts"),
    [
        ({"methods": ["mine", "pcov"]}, {}, r"2 of 5 trainings, 3 of \d+ outputs: .*pretrained models from elsewhere"),
        ({"systems": {"theirs": programs.systems()["nearest"]}}, {}, r"2 of 5 trainings, 2 of \d+ outputs: .*programs"),
        ({}, {"cloze": {"recogniser": SPACY}}, r"1 of 2 annotations: .*recognisers of entities"),
        ({}, {"split": {"ready": "records"}}, r"\d+ of \d+ outputs, (\d+) of \1 scores: tales: how many test records"),
    ],
)
def test_what_nothing_measured_tells_is_the_first_line_and_makes_every_sum_a_least(
    config, tmp_path, planned, study, tales, counts
):
    method = {"title": "B", "paper": "P.", "model": PRETRAINED, "phases": {"nll": {"loss": "nll"}}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump(method | {"forms": {"smoke": None}}))

    def change(content):
        own = {"methods": None, "contrasts": None, "published": {"train": 100}}
        content["corpora"] = {"tales": content["corpora"]["tales"] | own | tales}
        content |= {"methods": ["pcov"], "scores": {"rouge": {}}} | study
        none = dict.fromkeys(("best-sentence", "sumbasic", "lexrank", "lsa"))
        content["systems"] = content.get("systems", {}) | none

    plan, whole, said = planned("smoke", change)
    assert re.match(f"NOT ESTIMATED: {counts}", said[0]), said[0]
    for line in said:
        if bound := re.match(r"(\w+) +\d+ +\d+ +> ([\d.]+) ", line):
            assert float(bound[2]) == pytest.approx(whole.hours[bound[1]][0], abs=0.005)
    least = "core-hours to do|hours on|disk to be|remote"
    sums = [line for line in said if re.match(least, line)]
    assert len(sums) >= 4
    assert all("at least" in line and "interval" not in line for line in sums)
    results = tmp_path / "results"
    left = standing.time_left(plan, results, standing.standing(plan, results, {}), Costs(invented()), {})
    assert left.startswith(said[0])
    assert "core-hours left to do: at least" in left


def test_a_bart_that_was_made_here_costs_what_its_measured_trainings_cost(recorded):
    model, study = Costs(recorded), Plan.read(ROOT / "config", "pretraining")
    settings, form = study.settings, study.methods["bart"]
    own = [run.of_update for run in recorded if run.cell[:2] == ("docstrings", "bart")]
    normal = Training.of(settings, "bart", "docstrings", 6339, form)
    assert min(own) <= model.of_update(normal) <= max(own)
    made = settings.pretraining.model
    wider = settings.pretraining.model_copy(update={"model": made.model_copy(update={"width": 2 * made.width})})
    wide = Training.of(settings.model_copy(update={"pretraining": wider}), "bart", "docstrings", 6339, form)
    assert model.of_update(wide) > model.of_update(normal)
    whole = estimate.estimate(study, Path("nowhere"), model)
    assert whole.hours["pretrain"][1] > whole.jobs["pretrain"] * costs.START / 3600


def test_what_is_left_follows_what_trainings_took_here(config, tmp_path, monkeypatch):
    """Trainings that took ten times as long make the rest count ten times; too few of them change nothing."""
    plan, results, known = Plan.read(config, "smoke"), tmp_path / "results", Costs(invented())
    records = dict.fromkeys(estimate.records_of(plan, results, None, {}), 100)
    monkeypatch.setattr(estimate, "records_of", lambda *_: records)
    trained = plan.named("runs", "train")

    def hours(many, times):
        """What is said to be left when so many trainings are finished, after so many times their estimate."""
        took = {run.name: times * known.seconds(training_of(plan, run, records))[1] for run in trained[:many]}
        monkeypatch.setattr(manifest, "state", lambda path: "finished" if path.name in took else "missing")
        monkeypatch.setattr(standing, "timing", lambda run: SimpleNamespace(total_seconds=took[run.name]))
        assert standing.pace(plan, results, known, records) == (many, pytest.approx(times))
        left = standing.time_left(plan, results, standing.standing(plan, results, {}), known, {})
        return float(re.match(r"core-hours left to do: ([\d.]+) \(", left)[1])

    assert hours(standing.ENOUGH - 1, 1000) == hours(standing.ENOUGH - 1, 100)
    assert hours(4, 1000) == pytest.approx(10 * hours(4, 100), rel=0.02)
