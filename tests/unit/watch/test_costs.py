"""Prices of what was not recorded: a pretrained model by its multiply-adds, any method by a card's measurement."""

import json
import re
import struct
import sys
from dataclasses import replace
from math import prod
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers
import yaml
from torch.utils.flop_counter import FlopCounterMode

import pretrained
from sumcurve.__main__ import main
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.settings.config import PlanError
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from sumcurve.watch import costs
from sumcurve.watch.costs import Measured, MeasuredForCard, Training
from sumcurve.watch.estimate import estimate, most_seconds, not_estimated, prices
from workplace import configured

ROOT = Path(__file__).parents[3]
CARD = json.loads((ROOT / "benchmarks" / "gpu.json").read_text())
SMOLLM2 = read_method(ROOT / "config" / "methods" / "smollm2_lora.yaml").forms["finetune"]


def weights(folder, layers=30, width=576, vocabulary=49152):
    """Weights of the shapes of SmolLM2-135M, or of a smaller one: a hole in a file, which takes no disk."""
    narrow, wide = width // 3, width * 8 // 3
    products = {"self_attn.q_proj": (width, width), "self_attn.o_proj": (width, width)}
    products |= {"self_attn.k_proj": (narrow, width), "self_attn.v_proj": (narrow, width)}
    products |= {"mlp.gate_proj": (wide, width), "mlp.up_proj": (wide, width), "mlp.down_proj": (width, wide)}
    shapes = {"model.embed_tokens.weight": (vocabulary, width), "model.norm.weight": (width,)}
    for layer in range(layers):
        shapes |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in products.items()}
    header, end = {}, 0
    for name, shape in shapes.items():
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end := end + 2 * prod(shape)]}
    text = json.dumps(header).encode()
    folder.mkdir(parents=True)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return weights(tmp_path_factory.mktemp("models") / "smollm2")


def training(method, form, source=116, target=40, records=1000):
    study = SimpleNamespace(corpora={"mine": SimpleNamespace(source_tokens=source, target_tokens=target)})
    return Training.of(study, method, "mine", records, form)


def finetuning(folder, batch=8, most=600, **model):
    """In subwords of a word each, so that lengths are known: with the template's four 160 of a record."""
    phases = [
        phase.model_copy(
            update={
                "stop": phase.stop.model_copy(update={"max_updates": most, "max_epochs": None, "every_updates": 10})
            }
        )
        for phase in SMOLLM2.training.phases
    ]
    told = {"path": str(folder), "tokens_a_word": 1.0, "lora": None, **model}
    changed = {
        "model": SMOLLM2.model.model_copy(update=told),
        "training": SMOLLM2.training.model_copy(update={"batch": batch, "phases": phases}),
    }
    return training("smollm2", SMOLLM2.model_copy(update=changed))


def recorded(validations=1000.0):
    """A training of ABS from scratch that took so many validations."""
    one = training("abs", read_method(ROOT / "config" / "methods" / "abs.yaml").forms["small"])
    return Measured(one, validations * one.apart, 100.0, "cpu", "abs-1000")


def on_card(**card):
    return MeasuredForCard(**vars(recorded()) | {"device": "NVIDIA H200"}, card=CARD | card, config=ROOT / "config")


def test_an_update_of_smollm2_takes_what_it_took_within_a_factor_of_two(folder):
    """32 to 38 processor-seconds for 8 x 160 subwords, of 134.5 million parameters."""
    model = finetuning(folder).form.model
    assert model.stored(0) == pytest.approx(134.5e6, rel=0.001)
    assert model.multiply_adds(0, 1, 0) - model.multiply_adds(0, 0, 0) == pytest.approx(134.5e6, rel=0.001)
    assert 35 / 2 < recorded().of_update(finetuning(folder)) < 35 * 2


def test_fine_tuning_costs_by_its_updates_its_batch_its_model_and_what_is_trained(folder, tmp_path):
    def hours(folder=folder, **told):
        return costs.update_seconds(finetuning(folder, **told), [recorded()])

    full, lora = hours(), hours(lora=SMOLLM2.model.lora)
    assert hours(most=1200) == pytest.approx(2 * full)
    assert hours(batch=16) == pytest.approx(2 * full)
    assert full / 2 < lora < full
    assert full < hours(gradient_checkpointing=True) < 2 * full
    assert hours(weights(tmp_path / "wide", width=1152)) > 2 * full
    assert hours(weights(tmp_path / "half", layers=15)) < full
    few = costs.update_seconds(finetuning(folder), [recorded(validations=2.0)])
    assert few < full / 2, "as many validations as the nearest measured training took, before the cap"
    whole = costs.seconds(finetuning(folder), [recorded()])
    assert whole > full + costs.START, "validations are decoded, too"
    assert finetuning(folder).form.model.stored(0) > 50 * finetuning(folder, lora=SMOLLM2.model.lora).form.model.stored(
        0
    )


def test_a_recorded_fine_tuning_tells_the_time_of_another(folder):
    slow = Measured(finetuning(folder), 600.0, 600 * 90.0, "cpu", "smollm2-1000")
    assert costs.update_seconds(finetuning(folder), [slow, recorded()]) == pytest.approx(600 * 90.0)


@pytest.mark.parametrize("kind", ["bart", "t5", "pegasus", "gpt2", "llama"])
def test_multiply_adds_are_those_that_torch_counts(kind, tmp_path):
    """Without attention's own products, which are few for short texts; a tied output layer counts."""
    place = pretrained.make_folder(tmp_path / kind, kind, ["a ship crossed a desert"])
    decoder = pretrained.ARCHITECTURES[kind] == "decoder"
    opened = (transformers.AutoModelForCausalLM if decoder else transformers.AutoModelForSeq2SeqLM).from_pretrained(
        place
    )
    ids = torch.ones(1, 4, dtype=torch.long)
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        opened(ids) if decoder else opened(input_ids=ids, decoder_input_ids=ids)
    given = {"kind": "transformers", "sha256": "0" * 64, "path": str(place), "tokens_a_word": 1.0}
    model = TransformersSettings(**given, architecture=pretrained.ARCHITECTURES[kind], template="{source}\nSummary:")
    template = 1  # word
    source, target = (4 - template, 0) if decoder else (4 - template, 4)
    assert model.multiply_adds(source, target, 0) == pytest.approx(counted.get_total_flops() / 2, rel=0.1)


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(PlanError, match=r"holds no \*\.safetensors"):
        finetuning(tmp_path)


def test_a_study_of_a_pretrained_model_is_priced_where_its_folder_is(tmp_path, monkeypatch):
    """Its trainings, their decoding, and its summaries before any training; without the folder none of them."""
    config = configured(tmp_path) / "config"
    monkeypatch.chdir(tmp_path)
    model = {"kind": "transformers", "sha256": "ab" * 32, "path": "models/mine", "zero_shot": True}
    model |= {"architecture": "decoder", "template": "{source}\nSummary:"}
    method = {"title": "Mine", "paper": "None.", "phases": {"nll": {"loss": "nll"}}, "forms": {"smoke": None}}
    path = config / "studies" / "smoke.yaml"
    study = yaml.safe_load(path.read_text()) | {"methods": ["mine"], "scores": {"rouge": {}}}
    study["corpora"] = {"tales": study["corpora"]["tales"] | {"methods": None, "contrasts": None}}
    path.write_text(yaml.safe_dump(study))

    def priced(**place):
        whole = {key: value for key, value in (model | place).items() if value is not None}
        (config / "methods" / "mine.yaml").write_text(yaml.safe_dump(method | {"model": whole}))
        plan = Plan.read(config, "smoke")
        whole = estimate(plan, tmp_path / "results", [recorded()], 100)
        given = plan, tmp_path / "results", [recorded()], dict.fromkeys(plan.prepared, 100)
        unchecked = {key for key in plan.folders if plan.folder(key).kind in ("train", "decode", "untrained")}
        assert unchecked <= prices(*given).keys() or whole.unpriced
        assert unchecked.isdisjoint(most_seconds(*given)), "no time limit by what nobody has compared with trainings"
        return whole

    of_hub = {"path": None, "hub": "owner/name", "revision": "12" * 20}
    (said,) = not_estimated(priced(**of_hub))
    fetch = f"`sumcurve fetch {tmp_path / 'data' / 'raw' / ('model-' + 'ab' * 6)}` fetches it"
    assert re.match(r"NOT ESTIMATED: (\d+) of \1 trainings, (\d+) of \d+ outputs: .*mine.yaml: ", said)
    assert fetch in said
    assert any("models/mine is not here" in line for line in not_estimated(priced()))
    weights(tmp_path / "data" / "raw" / ("model-" + "ab" * 6), 2, 96, 1000)
    weights(tmp_path / "models" / "mine", 2, 192, 1000)
    small, large = priced(**of_hub), priced()
    assert not small.unpriced
    for kind in ("train", "decode", "untrained"):
        assert small.hours[kind] < large.hours[kind], kind
    assert small.disk["train"] < large.disk["train"]
    assert any(note.startswith("mine: no training of it is measured; ") for note in large.notes)


def test_a_card_prices_a_method_by_its_slowest_phase_and_scales_down_by_half_at_most():
    form = read_method(ROOT / "config" / "methods" / "pcov.yaml").forms["paper"]
    paper = training("pcov", form, CARD["sizes"]["source"], CARD["sizes"]["target"])
    rows = [row for row in CARD["rows"] if (row["method"], row["precision"]) == ("pcov", "single")]
    slowest = 1 / min(row["updates_per_second"] for row in rows)
    assert len(rows) == 2
    assert on_card().of_update(paper) == pytest.approx(slowest)
    assert on_card().of_update(replace(paper, adds=2 * paper.adds)) == pytest.approx(2 * slowest)
    assert on_card().of_update(replace(paper, adds=paper.adds / 1000)) == pytest.approx(slowest / 2)
    base = read_method(ROOT / "config" / "methods" / "ent_base.yaml").forms["paper"]
    whole = training("ent_base", base, CARD["sizes"]["source"], CARD["sizes"]["target"])  # its last phase is the faster
    assert on_card().of_update(replace(whole, last_alone=True)) < 0.995 * on_card().of_update(whole)
    bf16 = form.model_copy(update={"training": form.training.model_copy(update={"precision": "bf16"})})
    assert on_card().of_update(replace(paper, form=bf16)) != on_card().of_update(paper)
    assert "precision bf16, batch 16, " in on_card().note(replace(paper, form=bf16))


def test_what_was_not_measured_on_a_card_has_no_price_there(folder):
    with pytest.raises(PlanError, match="smollm2 was not measured on one NVIDIA H200 in precision single"):
        costs.seconds(finetuning(folder), [on_card()])


def test_a_plan_for_a_card_says_which_and_an_unknown_one_names_those_that_are_there(tmp_path, monkeypatch, capsys):
    (tmp_path / "results").mkdir()  # of a machine where the study is not made, else nothing is left to price
    for name in ("benchmarks", "config", "results/tables"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)

    def said(*words):
        monkeypatch.setattr(sys, "argv", ["sumcurve", "plan", "--study", "docstrings", *words])
        main()
        return capsys.readouterr().out

    with_card = said("--card", "NVIDIA H200")
    assert "their time by one measurement of NVIDIA H200" in with_card
    assert "note: abs: by one measurement on one NVIDIA H200: precision single, batch 16, " in with_card
    assert "NVIDIA H200" not in said()
    with pytest.raises(SystemExit):
        said("--card", "H2000")
    assert "--card 'H2000' was not measured, but NVIDIA H200; " in capsys.readouterr().err
