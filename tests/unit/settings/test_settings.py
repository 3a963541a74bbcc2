import json

import pytest
import yaml
from pydantic import ValidationError

from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.settings.corpus import Compose, Prepare
from sumcurve.settings.forms import Form
from sumcurve.settings.training import Optimizer, Training
from sumcurve.store.manifest import digest
from sumcurve.study.doors import MODELS
from sumcurve.study.methods import form_of_run

RECURRENT = {"kind": "recurrent", "embedding": 4, "hidden": 4, "feed": "nothing"}
TRANSFORMER = {
    "kind": "transformer", "width": 4, "heads": 2, "feedforward": 4, "encoder_layers": 1, "decoder_layers": 1
}  # fmt: skip


def _form(model, *phases):
    stop = {"every_updates": 1, "every_epochs": 1.0, "patience": 1, "max_updates": 1}
    given = [{"name": "nll", "loss": "nll", "optimizer": {"rate": 0.1}, "stop": stop} | phase for phase in phases]
    training = {"batch": 1, "vocabulary": 1, "valid_records": 1, "phases": given}
    return Form(model=MODELS[model["kind"]].settings.model_validate(model), training=training)


def test_label_smoothing_is_for_models_that_do_not_copy():
    smooth = {"label_smoothing": 0.1}
    assert _form(RECURRENT, smooth)
    assert _form(TRANSFORMER | {"copy_attention": False}, smooth)
    for model in (RECURRENT | {"copy_attention": True}, TRANSFORMER):
        with pytest.raises(ValidationError, match="label_smoothing is for models without copy_attention"):
            _form(model, smooth)


@pytest.mark.parametrize("phase", [{"coverage": True}, {"loss": "nll+coverage", "coverage": True}])
def test_coverage_is_for_recurrent_models_with_additive_attention(phase):
    assert _form(RECURRENT, phase)
    for model in (TRANSFORMER, RECURRENT | {"attention": "bilinear"}):
        with pytest.raises(ValidationError, match="needs a recurrent model with additive attention"):
            _form(model, phase)


def test_phases_have_names_of_their_own():
    assert _form(RECURRENT, {}, {"name": "more"})
    with pytest.raises(ValidationError, match="two phases share a name"):
        _form(RECURRENT, {}, {})


def test_noam_needs_a_warmup():
    assert Optimizer(rate=0.1, schedule="noam", warmup_updates=1)
    with pytest.raises(ValidationError, match="warmup_updates of at least 1"):
        Optimizer(rate=0.1, schedule="noam")


# --- names of recorded folders are digests of specifications, whose words stay

TRAINING = """
batch: 32
vocabulary: 4000
min_count: 2
valid_records: 500
phases:
- name: nll
  loss: nll
  optimizer: {rate: 0.003, schedule: plateau, clip_norm: 2.0}
  stop: {every_updates: 40, every_epochs: 0.5, patience: 4, max_updates: 20000}
- name: coverage
  loss: nll+coverage
  coverage: true
  optimizer: {rate: 0.0003, warmup_updates: 50, clip_norm: 2.0}
  stop: {every_updates: 50, every_epochs: 0.25, patience: 8, min_updates: 100, max_updates: 400}
"""
# As in the manifest of the folder `runs/docstrings-pcov-006-s1-e46d4de9`.
RECORDED_RUN = json.loads("""
{
 "fraction": "corpora/docstrings-006-b8211968",
 "method": "pcov",
 "model": {
  "attention": "additive", "attention_width": null, "bridge": "relu", "convolutional_gate": false,
  "copy_attention": true, "coverage": false, "decoder": null, "decoder_layers": 1, "dropout": 0.3, "embedding": 96,
  "encoder_layers": 1, "entity_attention": false, "feed": "merged", "gate": ["context", "c", "h", "input"],
  "hidden": 64, "intra_decoder": "none", "kind": "recurrent", "learned_start": false, "output": "tied",
  "output_bias": true, "query": "hc", "readout": "linear", "second_output": false, "temporal": false
 },
 "recipe": 3,
 "seed": 1,
 "source_tokens": 50,
 "sums": "portable",
 "target_tokens": 20,
 "threads": 1,
 "training": {
  "accumulate": 1, "batch": 32, "least_count": 2,
  "phases": [
   {
    "coverage": false, "detach_second": false, "discount": null, "entity_alone": false, "entity_weight": null,
    "label_smoothing": 0.0, "loss": "nll", "name": "nll",
    "optimizer": {
     "accumulator": 0.1, "betas": [0.9, 0.999], "clip_norm": 2.0, "epsilon": 1e-08, "name": "adam", "rate": 0.003,
     "schedule": "plateau", "warmup_updates": 0
    },
    "own_words": 0.0, "reward_weight": null, "soft_weight": null,
    "stop": {"every_epochs": 0.5, "every_updates": 40, "least_updates": 0, "most_updates": 20000, "patience": 4},
    "temperature": null
   },
   {
    "coverage": true, "detach_second": false, "discount": null, "entity_alone": false, "entity_weight": null,
    "label_smoothing": 0.0, "loss": "nll+coverage", "name": "coverage",
    "optimizer": {
     "accumulator": 0.1, "betas": [0.9, 0.999], "clip_norm": 2.0, "epsilon": 1e-08, "name": "adam", "rate": 0.0003,
     "schedule": "constant", "warmup_updates": 50
    },
    "own_words": 0.0, "reward_weight": null, "soft_weight": null,
    "stop": {"every_epochs": 0.25, "every_updates": 50, "least_updates": 100, "most_updates": 400, "patience": 8},
    "temperature": null
   }
  ],
  "precision": "single", "valid_records": 500, "vocabulary": 4000
 },
 "validation": {
  "alpha": 1.0, "beam": 1, "block_ngram": 3, "coverage_penalty": 0.0, "early_stopping": "heuristic",
  "entity_penalty": 0.0, "entity_positions": "model", "exempt": [], "length_penalty": "average", "max_tokens": 20,
  "min_tokens": 6, "unknown": "copy"
 }
}
""")


def test_settings_are_dumped_in_the_words_of_recorded_specifications():
    made = {"training": Training.model_validate(yaml.safe_load(TRAINING)).model_dump(mode="json")}
    assert digest(RECORDED_RUN) == "e46d4de9"
    assert RECORDED_RUN | made == RECORDED_RUN
    assert digest(RECORDED_RUN | made) == "e46d4de9"  # which tells 1 from 1.0, too


def test_a_recorded_specification_is_read_as_what_it_was_made_from():
    form = form_of_run(RECORDED_RUN)
    assert form.training == Training.model_validate(yaml.safe_load(TRAINING))
    assert form.model.model_dump(mode="json") == RECORDED_RUN["model"]


@pytest.mark.parametrize(
    ("settings", "recorded"),
    [
        (Compose(min=2, max=5), {"least": 2, "most": 5}),
        (Prepare(max_target_sentences=2), Prepare().model_dump() | {"most_target_sentences": 2}),
        (Oracle(max_source_sentences=500), Oracle().model_dump() | {"most_source_sentences": 500}),
    ],
)
def test_words_differ_between_files_and_specifications_alone(settings, recorded):
    assert settings.model_dump(mode="json") == recorded
    assert type(settings).of_specification(recorded) == settings
    named = settings.model_dump(mode="json", by_alias=False)
    assert type(settings).model_validate(named) == settings
    assert not [key for key in named if key.startswith(("least", "most"))]
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        type(settings).model_validate(recorded)
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        type(settings).of_specification(named)
