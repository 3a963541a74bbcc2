"""A BART made, pretrained and fine-tuned here, through every step of a study, to its tables."""

import json
from pathlib import Path

import pytest
import yaml
from safetensors.torch import load_file

from pretrained import bart_method, fables, pretraining
from sumcurve.capabilities.pretrained.bart import opened
from sumcurve.capabilities.pretrained.settings import BartSettings
from sumcurve.capabilities.pretrained.tables import pretraining as pretraining_table
from sumcurve.settings.study import Bootstrap
from sumcurve.store import manifest
from sumcurve.store.records import read_jsonl
from sumcurve.study.collect import collect
from sumcurve.study.plan import Folder, Plan
from sumcurve.tables.results import Results
from sumcurve.training.fit import digest_of
from workplace import build, configured

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
RAW = ROOT / "tests" / "data" / "tales.jsonl"
METHODS = {"scratch": "nothing", "tuned": "bodies", "paired": "pairs"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    """The plan of a study of three methods and two sizes, and its home, with every folder made."""
    home = tmp_path_factory.mktemp("study")
    config = configured(home) / "config"
    for name, outside in METHODS.items():
        method = bart_method(outside)
        method["phases"]["nll"]["stop"] = {"every_updates": 6, "max_updates": 12}
        (config / "methods" / f"{name}.yaml").write_text(yaml.safe_dump(method))
    method = bart_method("bodies", lora={"rank": 2})
    (config / "methods" / "adapted.yaml").write_text(yaml.safe_dump(method))
    study = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    tales = study["corpora"]["tales"] | {"search": {"beam": 2, "min_tokens": 2, "max_tokens": 8}, "methods": None}
    tales["raw"]["path"] = str(RAW)
    rows = fables(80)
    tale = json.loads(RAW.read_text().splitlines()[7])  # tales have phrases of eight words in common
    rows += [{**tale, "id": f"copy-{number}", "group": f"book-{number}"} for number in range(8)]
    study |= {"corpora": {"tales": tales}, "methods": [*METHODS, "adapted"], "seeds": [1]}
    study |= {"systems": dict.fromkeys(("lsa", "lexrank", "sumbasic")), "scores": {"rouge": {}}}
    study["pretraining"] = pretraining(home / "fables.jsonl", rows, prepare={"duplicates": "keep"})
    (config / "studies" / "tiny.yaml").write_text(yaml.safe_dump(study))
    plan = Plan.read(config, "tiny")
    for key in plan.folders:  # inputs come first
        build(plan, key, home)
    return plan, home


def runs(plan: Plan, method: str) -> list[Folder]:
    return [one for one in plan.named("runs", "train") if one.specification["method"] == method]


def test_a_copy_of_a_tested_text_is_neither_pretrained_nor_trained_on(finished: tuple[Plan, Path]) -> None:
    plan, home = finished
    (outside,) = plan.named("corpora", "outside")
    removed = list(read_jsonl(home / "results" / outside.key / "removed.jsonl"))
    copies = {row["id"] for row in removed if row["id"].startswith("copy-")}
    assert len(copies) == 8
    statistics = json.loads((home / "results" / outside.key / "statistics.json").read_text())
    assert sum(statistics["removed"].values()) == len(removed)
    assert statistics["sentences_removed"] > 0


def test_fine_tuning_starts_from_the_weights_of_the_pretraining_and_the_others_from_the_seed_s(
    finished: tuple[Plan, Path],
) -> None:
    plan, home = finished
    results = home / "results"
    (pretrained,) = plan.named("runs", "pretrain")
    for method in METHODS:
        for folder in runs(plan, method):
            told = folder.specification
            settings = BartSettings.of_specification(told["model"])
            model = opened(settings, results / told["subwords"], told, True)
            new = digest_of(model.weights())
            model.load(load_file(results / pretrained.key / "weights.safetensors"))
            assert digest_of(model.weights()) != new
            wanted = digest_of(model.weights()) if method == "tuned" else new
            started = json.loads((results / folder.key / "training.json").read_text())["initial_weights"]
            assert started == wanted
            model.load(load_file(results / folder.key / "weights.safetensors"))
            assert digest_of(model.weights()) != started


def test_a_run_of_matrices_keeps_the_weights_of_the_pretraining_beside_them_and_is_scored(finished) -> None:
    plan, home = finished
    results = home / "results"
    (pretraining,) = plan.named("runs", "pretrain")
    before = load_file(results / pretraining.key / "weights.safetensors")
    for folder in runs(plan, "adapted"):
        assert pretraining.key in folder.inputs
        after = load_file(results / folder.key / "weights.safetensors")
        names = {name.removeprefix("base_model.model.").replace(".base_layer", ""): name for name in after}
        assert all(after[names[name]].equal(value) for name, value in before.items())
        assert any("lora" in name for name in names)
    scored = {(system.method, system.records) for system in Results(collect(plan, results), Bootstrap()).systems}
    assert len([records for method, records in scored if method == "adapted"]) == 2


def test_methods_differ_by_what_they_learn_of_the_other_packages_and_by_nothing_else(
    finished: tuple[Plan, Path],
) -> None:
    plan, _ = finished
    for scratch, tuned, paired in zip(*(runs(plan, method) for method in METHODS), strict=True):
        told = [dict(one.specification) for one in (scratch, tuned, paired)]
        outside = [one["model"].pop("outside") for one in told]
        assert outside == list(METHODS.values())
        assert [one.pop("method") for one in told] == list(METHODS)
        assert told[1].pop("pretrained") == plan.named("runs", "pretrain")[0].key
        assert told[2].pop("outside") == plan.named("corpora", "outside")[0].key
        assert told[0] == told[1] == told[2]


def test_the_third_curve_learns_the_other_packages_pairs_too_and_counts_its_own_records(
    finished: tuple[Plan, Path],
) -> None:
    plan, home = finished
    results = home / "results"
    (outside,) = plan.named("corpora", "outside")
    pairs = json.loads((results / outside.key / "statistics.json").read_text())["parts"]["train"]["records"]
    for scratch, paired in zip(runs(plan, "scratch"), runs(plan, "paired"), strict=True):
        own, more = (json.loads((results / one.key / "training.json").read_text()) for one in (scratch, paired))
        assert own["records"] == more["records"]
        assert "outside_pairs" not in own
        assert more["outside_pairs"] == pairs
        assert more["examples"] / more["epochs"] == pytest.approx(more["records"] + pairs)


def test_the_pretraining_comes_to_the_same_bytes_again(finished: tuple[Plan, Path], tmp_path: Path) -> None:
    plan, home = finished
    (tmp_path / "results").mkdir()
    for step in ("corpora", "annotations"):
        (tmp_path / "results" / step).symlink_to(home / "results" / step)
    (folder,) = plan.named("runs", "pretrain")
    again = build(plan, folder.key, tmp_path)
    first, second = (manifest.content(manifest.read(one)) for one in (home / "results" / folder.key, again))
    assert first == second


def test_two_studies_share_one_checkpoint_which_is_made_once(tmp_path: Path) -> None:
    config = configured(tmp_path) / "config"
    for name in ("scratch", "tuned"):
        method = bart_method(METHODS[name])
        method["phases"]["nll"]["stop"] = {"every_updates": 6, "max_updates": 6}
        (config / "methods" / f"{name}.yaml").write_text(yaml.safe_dump(method))
    block = pretraining(tmp_path / "fables.jsonl", fables(80), overlapping="counted", title="Invented fables.")
    (config / "pretraining" / "fables.yaml").write_text(yaml.safe_dump(block))
    smoke = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    plans = []
    for key in ("one", "two"):  # two corpora: other validation and test parts of the tales
        tales = smoke["corpora"]["tales"] | {"search": {"beam": 1, "min_tokens": 2, "max_tokens": 8}, "methods": None}
        tales |= {"raw": tales["raw"] | {"path": str(RAW)}, "split": tales["split"] | {"key": key}}
        study = smoke | {"corpora": {"tales": tales}, "methods": ["scratch", "tuned"], "pretraining": "fables"}
        study |= {"systems": dict.fromkeys(("lsa", "lexrank", "sumbasic")), "scores": {"rouge": {}}}
        (config / "studies" / f"{key}.yaml").write_text(yaml.safe_dump(study))
        plans.append(Plan.read(config, key))
    shared = {*plans[0].folders} & {*plans[1].folders}
    (checkpoint,) = (key for key in shared if plans[0].folder(key).kind == "pretrain")
    made: list[str] = []
    for plan in plans:
        for key in plan.folders:
            if key not in made:
                build(plan, key, tmp_path)
                made.append(key)
    assert len(shared) == len([key for key in made if key in shared]) == 4
    weights = load_file(tmp_path / "results" / checkpoint / "weights.safetensors")
    notes = []
    for plan in plans:
        (tuned,) = (run for run in runs(plan, "tuned") if run.specification["fraction"].split("-")[1] == "100")
        model = opened(
            BartSettings.of_specification(tuned.specification["model"]),
            tmp_path / "results" / tuned.specification["subwords"],
            tuned.specification,
            True,
        )
        model.load(weights)
        training = json.loads((tmp_path / "results" / tuned.key / "training.json").read_text())
        assert training["initial_weights"] == digest_of(model.weights())
        table = pretraining_table.table(Results(collect(plan, tmp_path / "results"), Bootstrap(resamples=50)))
        (note,) = (note for note in table.notes if checkpoint in note)
        notes.append(note.split(" Nothing was removed")[0])
    assert notes[0] == notes[1]
    assert "Invented fables" in notes[0]


def test_the_table_has_the_worth_of_the_pretraining_at_every_size(finished: tuple[Plan, Path]) -> None:
    plan, home = finished
    found = Results(collect(plan, home / "results"), Bootstrap(resamples=50))
    rows = pretraining_table.table(found).rows
    sizes = found.sizes("tales")
    assert {(row["method"], row["records"]) for row in rows} == {
        (method, size) for method in ("tuned", "paired", "adapted") for size in sizes
    }
