"""What a study would cost is what the nearest measured trainings cost, scaled, and no less where more is to do."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import programs
from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.models import TransformerSettings
from sumcurve.study.doors import CAPABILITIES, StudySettings
from sumcurve.study.kinds import KINDS
from sumcurve.study.methods import read_method
from sumcurve.study.needs import LIGHT
from sumcurve.study.plan import Plan
from sumcurve.watch import costs, estimate, sizes
from sumcurve.watch.costs import UPPER, Measured, Training
from sumcurve.watch.estimate import Gpus, lines
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
    return Plan.read(ROOT / "config", "docstrings-full")


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
        plan, measured = Plan.read(config, study), invented() if basis is None else basis
        whole = estimate.estimate(plan, tmp_path / "results", measured, **told)
        return plan, whole, lines(plan, whole, measured, 2, "a CPU")

    return of


def test_a_size_that_was_measured_costs_what_it_cost():
    items = training().form.training.valid_records * costs.VALIDATED
    expected = 0.1 * training().apart * 2000**0.5 + items * 2000**0.5
    assert costs.seconds(training(), invented()) == pytest.approx(expected, rel=0.05)


def test_beyond_the_measured_sizes_validations_are_as_many_and_as_far_apart_as_their_rule_says():
    far = training("pcov", 320_000)
    assert costs.updates(far, invented()) == pytest.approx(far.apart * 4000**0.5, rel=0.05)
    assert far.apart > 50 * training("pcov", 4000).apart
    assert costs.updates(training("abs", 320_000, ends=True), invented()) == training("abs", ends=True).max_updates


def test_a_control_takes_all_its_updates():
    control = replace(training("pcov", ends=True), last_alone=True)
    assert costs.updates(control, invented()) == control.form.training.phases[-1].stop.max_updates
    assert costs.update_seconds(control, invented()) == pytest.approx(0.1 * costs.updates(control, invented()))


def test_the_nearest_is_of_the_method_then_of_its_corpus_then_of_its_kind():
    runs = [*invented(), *invented((("trans", 0.5),)), *invented((("abs", 0.5),), corpus="others")]

    def nearest(**said):
        return costs.nearest(training(**said), runs)[0].cell

    assert nearest(records=9000) == ("docstrings", "abs", 4000)
    assert nearest(records=600, corpus="others") == ("others", "abs", 500)
    assert nearest(method="pcov", corpus="others") == ("docstrings", "pcov", 2000)
    assert nearest(method="trans_nocopy", records=900)[1:] == ("trans", 1000)
    assert costs.reach(training(records=9000), runs) == 4000
    assert costs.reach(replace(training(method="pcov"), last_alone=True), runs) is None


def test_multiply_adds_of_a_transformer_are_those_of_its_matrices():
    keys = {"width": 8, "heads": 2, "feedforward": 16, "encoder_layers": 1, "decoder_layers": 1}
    form = training("trans").form
    form = form.model_copy(update={"model": TransformerSettings(kind="transformer", **keys)})
    layer = 4 * 8 * 8 + 2 * 8 * 16
    words = form.training.vocabulary
    assert form.model.multiply_adds(5, 3, words) == 5 * layer + 3 * (layer + 4 * 8 * 8 + words * 8)


def test_what_cannot_be_read_is_left_out_of_the_basis_and_said(config):
    """As where a capability was taken away: a method of its family, and a study with its key; others stay."""
    method, study = config / "methods" / "pcov.yaml", config / "studies" / "aeslc.yaml"
    method.write_text(method.read_text().replace("kind: recurrent", "kind: gone"))
    study.write_text(study.read_text() + "gone: {}\n")
    said = []
    left = costs.measured(config, TABLES, left_out=said.append)
    assert {"study aeslc", "pcov of study docstrings"} <= set(said)
    assert len(said) == len(set(said))
    whole = costs.measured(ROOT / "config", TABLES)
    studies = {path.parent.name for path in TABLES.glob("*/seeds.csv")} - {"aeslc"}
    ours = {run.run for one in studies for run in costs.measured(ROOT / "config", TABLES, one)}
    assert {run.run for run in left} == {run.run for run in whole if run.training.method != "pcov" and run.run in ours}


def test_without_recorded_trainings_none_is_estimated_and_that_is_said(planned):
    _, whole, said = planned("smoke", basis=[], assumed=100)
    assert "train" not in whole.hours
    assert any(re.match(r"NOT ESTIMATED: \d+ of \d+ trainings: .*no recorded study is here", line) for line in said)


@pytest.mark.parametrize(
    "group", [lambda run: run.cell, lambda run: run.cell[0]], ids=["a size of a method", "a corpus"]
)
def test_recorded_trainings_stay_below_upper_bounds_that_were_made_without_them(recorded, group):
    """At least 95 % of them. `benchmarks/plan_estimates.py` leaves out studies, methods and large sizes, too."""
    assert {run.cell[1] for run in recorded} >= {"abs", "pcov", "trans"}
    below = []
    for left_out in {group(run) for run in recorded}:
        basis = [run for run in recorded if group(run) != left_out]
        out = [run for run in recorded if group(run) == left_out]
        below += [run.seconds < UPPER * costs.update_seconds(run.training, basis) for run in out]
    assert np.mean(below) >= 0.95


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
    assert known.total > unknown.total
    assert {records for _, _, records in known.trainings} == {50, 100}
    assert not known.unpriced
    keys = {"percents": None, "sizes": [30, 60]}
    _, sized, _ = planned("smoke", lambda content: content["corpora"]["tales"].update(keys))
    assert {records for _, _, records in sized.trainings} == {30, 60}


def test_a_size_of_more_records_than_a_finished_corpus_has_is_refused(planned, monkeypatch):
    monkeypatch.setattr(sizes, "_parts", lambda results, key: {part: {"records": 40} for part in ("train", "test")})
    keys = {"percents": None, "sizes": [30, 60]}
    with pytest.raises(PlanError, match=r"smoke.yaml:\d+: corpora.tales.sizes: 60 training .* 40 that tales has"):
        planned("smoke", lambda content: content["corpora"]["tales"].update(keys))


def test_jobs_of_a_cluster_are_those_that_snakemake_would_submit(plan, planned):
    """A set that one process makes is one; sets of a reader of questions are no steps of seconds."""
    said = "\n".join(planned("docstrings-full", assumed=6000)[2])
    alone = set(plan.folders) - {key for keys in plan.together.values() for key in keys}
    jobs = [plan.folder(key).kind for key in alone]
    jobs += ["corpus" if by == "scorer" else plan.folder(keys[0]).kind for (_, by, _), keys in plan.together.items()]
    steps = sum(kind in LIGHT for kind in jobs)
    assert any(by == "scorer" for _, by, _ in plan.together)
    assert f"on a cluster {len(jobs) - steps} jobs; {steps} steps of seconds" in said
    assert f"{sum(KINDS[kind].gpu for kind in jobs)} of them ask for a GPU" in said


def test_a_job_may_take_the_upper_bound_of_all_that_it_makes(plan, recorded):
    measured, tmp = recorded, Path("nowhere")
    priced, most = (of(plan, tmp, measured, {"docstrings": 6339}) for of in (estimate.prices, estimate.most_seconds))
    keys = max(plan.together.values(), key=len)
    assert len(keys) > 1
    assert [most[key] for key in keys] == pytest.approx([UPPER * sum(priced[key] for key in keys)] * len(keys))
    apart = next(key for key in priced if not any(key in keys for keys in plan.together.values()))
    assert most[apart] == UPPER * priced[apart]


def test_a_corpus_that_nobody_has_counted_is_bounded_by_its_raw_bytes(tmp_path, monkeypatch):
    """A file, or a folder of shards; none where it is not there yet."""
    plan = Plan.read(configured(tmp_path, "smoke") / "config", "smoke")
    monkeypatch.chdir(tmp_path)
    (corpus, *_) = (one for one in plan.named("corpora", "corpus") if one.key.startswith("corpora/tales"))
    raw = corpus.files[0].at(tmp_path)

    def bound():
        return estimate.most_seconds(plan, tmp_path / "results", invented(), {}).get(corpus.key)

    raw.unlink(missing_ok=True)
    assert bound() is None
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.write_bytes(bytes(10**6))
    of_file = bound()
    assert of_file == UPPER * (estimate.START + estimate.PREPARED * 10**6 / estimate.LEAST_BYTES)
    raw.unlink()
    raw.mkdir()
    for shard in "ab":
        (raw / shard).write_bytes(bytes(10**6))
    assert bound() > of_file + UPPER * estimate.PREPARED * 10**6 / estimate.LEAST_BYTES - 1


def test_a_training_with_two_gpus_holds_both_and_half_as_many_run_at_once(planned):
    plan, whole, _ = planned("smoke", lambda content: content.update(scores={"rouge": {}}), assumed=40)

    def said(*gpus):
        return "\n".join(lines(plan, whole, invented(), 2, "a GPU", Gpus(*gpus)))

    whole.hours["train"], whole.hours["decode"] = 10.0, 4.0
    assert "GPUs of this machine" not in said()
    assert "ask for a GPU; GPU-hours they take: " in said(4)
    assert "GPUs of this machine: 4, for 4 trainings at once; hours on them: 3.5, at most " in said(4)
    assert "ask for a GPU, a training for 2; GPU-hours they take if 2 train no faster than one: 24.0, at most " in said(
        4, 2
    )
    assert "GPUs of this machine: 4, for 2 trainings at once; hours on them: 6.0, at most " in said(4, 2)
    assert "GPUs of this machine: 3, for 1 trainings at once; hours on them: 11.3, at most " in said(3, 2)
    assert "GPUs of this machine: 4, for 8 trainings at once; hours on them: 3.5, at most " in said(4, 1, 2)
    assert "GPUs of this machine: 1, too few for a training" in said(1, 2)


def test_folders_of_a_capability_cost_by_the_items_that_they_read(planned, monkeypatch):
    """A reader by its corpus's training records, proofs by the parts they name, judged contrasts by their runs."""
    plan, whole, _ = planned("docstrings-full", assumed=6000)
    per_item = {name: capability.item_seconds for name, capability in CAPABILITIES.items()}
    items = plan.test_items["docstrings"]
    reader = costs.START + 6000 * per_item["apes"]
    assert 3600 * whole.hours["reader"] == pytest.approx(whole.jobs["reader"] * reader, rel=0.1)
    runs = sum(len(folder.specification["runs"]) for folder in plan.named("outputs", "judge"))
    judged = whole.jobs["judge"] * costs.START + runs * items * per_item["contrasts"]
    assert 3600 * whole.hours["judge"] == pytest.approx(judged, rel=0.1)

    def proven(parts):
        def change(content):
            content["corpora"]["docstrings"]["oracle"] = {"parts": parts}

        return 3600 * planned("docstrings", change, assumed=6000)[1].hours["prove"]

    assert proven(["test", "train"]) - proven(["test"]) == pytest.approx(6000 * per_item["extracts"])


@pytest.mark.parametrize("study", ["cnndm", "xsum", "arxiv", "gigaword"])
def test_what_is_published_is_known_before_it_is_here(study, recorded, planned):
    """As docs/reference/corpora.md has it; nothing is left out of the hours, and what is far is said first."""
    (row,) = re.findall(rf"^\| `{study}` \|.*$", (ROOT / "docs" / "reference" / "corpora.md").read_text(), re.M)
    counts = [int(text.replace(",", "")) for text in re.search(r"([\d,]+) / ([\d,]+) / ([\d,]+)", row).groups()]
    plan, whole, said = planned(study, basis=recorded)
    (corpus,) = plan.corpora.values()
    assert [corpus.published[part] for part in ("train", "valid", "test")] == counts
    assert list(whole.sizes.train.values()) == [counts[0]]
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
    assert whole.sizes.train == {"oags": 1_500_000}
    assert whole.sizes.read == {"oags": 35_000_000}
    assert 3600 * whole.hours["corpus"] == pytest.approx(costs.START + 35_000_000 * estimate.PREPARED)
    assert all(
        re.search(rf"temporary disk beside it: [\d,]+ MB for {one} of oags", said) for one in ("files", "scratch/lines")
    )
    _, half, _ = oags(published={"train": 17_500_000})
    assert half.sizes.train == whole.sizes.train
    assert half.disk["corpus"] < whole.disk["corpus"]  # what is not kept stands in dropped.jsonl
    files = "files of oags, until it is prepared"
    assert half.temporary[files] < whole.temporary[files]
    prepare = plan.corpora["oags"].prepare.model_dump(mode="json", exclude_unset=True) | {"near_duplicates": 0.8}
    _, near, _ = oags(published={"train": 35_000_000}, prepare=prepare)
    assert near.temporary[files] - whole.temporary[files] > 35_000_000 * 144
    _, unknown, said = oags(published={})
    assert unknown.sizes.read == {"oags": 1_520_000}
    assert re.search(r"oags: how many records are read .* not known; they are taken to be the 1,520,000", said)


PRETRAINED = {"kind": "transformers", "sha256": "ab" * 32, "path": "models/mine", "zero_shot": True}
SPACY = {"path": "models/ner", "sha256": "cd" * 32}


@pytest.mark.parametrize(
    ("study", "tales", "counts"),
    [
        (
            {"methods": ["mine", "pcov"]},
            {},
            r"2 of 5 trainings, 3 of \d+ outputs: .*mine.yaml: models/mine is not here",
        ),
        (
            {"systems": {"theirs": programs.systems()["nearest"]}},
            {},
            r"2 of 5 trainings, 2 of \d+ outputs: capability programs: ",
        ),
        ({}, {"entities": SPACY, "cloze": {}}, r"1 of 2 annotations: .*capability apes"),
        ({}, {"split": {"ready": "records"}}, r"\d+ of \d+ outputs, (\d+) of \1 scores: tales: how many test records"),
    ],
)
def test_what_nothing_measured_tells_is_the_first_line_and_every_sum_says_that_it_is_without(
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

    _, whole, said = planned("smoke", change)
    assert re.match(f"NOT ESTIMATED: {counts}", said[0]), said[0]
    for line in said:
        if bound := re.match(r"(\w+) +\d+ +\d+ +> ([\d.]+) ", line):
            assert float(bound[2]) == pytest.approx(whole.hours[bound[1]], abs=0.005)
    least = "study|core-hours to do|disk to be|remote"
    sums = [line for line in said if re.match(least, line)]
    assert len(sums) >= 4
    assert all("at least" in line or line.endswith(", without what is not estimated") for line in sums)
