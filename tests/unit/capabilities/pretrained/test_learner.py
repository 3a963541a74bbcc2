"""Fine-tuning a pretrained model by the project's own loop, on invented texts and small random networks."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

import pretrained
from sumcurve.capabilities.pretrained.learner import PretrainedLearner, pretrained_learner
from sumcurve.capabilities.pretrained.model import chat_template, load
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.capabilities.pretrained.subwords import PretrainedError
from sumcurve.cli.raw import show_model
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.training import PhaseSettings, Training
from sumcurve.store.records import Record, Text
from sumcurve.study.methods import form_of_run
from sumcurve.training.fit import Fitted, ResumeError, State, fit
from sumcurve.training.run import read_state, write_state
from unit.capabilities.pretrained.conftest import settings_of

CPU = torch.device("cpu")
Folders = Callable[[str], Path]
WORDS = ["red", "blue", "green", "gold", "grey", "pink", "teal", "plum"]


@pytest.fixture(autouse=True)
def _as_a_run() -> Any:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def pairs(count: int, seed: int) -> list[tuple[Record, Text]]:
    """Texts whose target is the source's first two words, in lower case in the record."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        source = [rng.choice(WORDS) for _ in range(rng.randint(3, 5))]
        text = Text(f"{seed}-{number}", [" ".join(source)], [" ".join(source[:2])])
        found.append((Record(text.id, text.source, text.target), text))
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    there: dict[str, Path] = {}
    texts = [sentence for _, text in pairs(50, 0) for sentence in text.source]

    def make(kind: str) -> Path:
        if kind not in there:
            there[kind] = pretrained.make_folder(tmp_path_factory.mktemp(kind), kind, texts, width=32, layers=1)
        return there[kind]

    return make


def training_of(updates: int = 12, rate: float = 0.005, every: int = 4, **told: Any) -> Training:
    stop = {"every_updates": every, "every_epochs": 0.1, "patience": 9, "max_updates": updates}
    optimizer = {"name": "adam", "rate": rate, "clip_norm": 1.0}
    phases = [
        PhaseSettings(name=name, loss="nll", optimizer=optimizer, stop=stop) for name in told.pop("names", ["nll"])
    ]
    return Training(**{"batch": 8, "vocabulary": 9, "valid_records": 6, "phases": phases} | told)


def learner_of(folder: Path, settings: TransformersSettings, count: int = 20, valid: int = 6) -> PretrainedLearner:
    told = {"source_tokens": 12, "target_tokens": 6, "seed": 1}
    search = Search(beam=1, max_tokens=6, block_ngram=0)
    model = load(folder, settings, True, 1)
    return pretrained_learner(told, settings, model, pairs(count, 1), pairs(valid, 2), CPU, search, print)


def fitted(learner: PretrainedLearner, training: Training, **told: Any) -> Fitted:
    return fit(learner, training, seed=1, clock=lambda: 0.0, device=CPU, **told)


class Killed(Exception):
    pass


def interrupted(learner: PretrainedLearner, training: Training, place: Path, after: int) -> State:
    """The state on disk when the training was killed at a validation."""
    left = iter(range(1, after))

    def keep(state: State) -> None:
        write_state(place, state)
        if next(left, None) is None:
            raise Killed

    with pytest.raises(Killed):
        fitted(learner, training, keep=keep)
    state = read_state(place, print)
    assert state is not None
    return state


VARIANTS = {
    "bart": {"dropout": 0.2},
    "t5": {"dropout": 0.2},
    "led": {"dropout": 0.2},
    "gpt2": {"dropout": 0.2},
    "bart lora": {"lora": {"rank": 4, "dropout": 0.2}},
    "bart again": {"gradient_checkpointing": True, "dropout": 0.2},
    "pegasus": {"dropout": 0.2},
    "llama": {},
    "llama at random": {"random_weights": True},
    "llama chat": {
        "chat": True,
        "template": "Sum up: {source}",
        "lora": {"rank": 4, "dropout": 0.2},
        "weights": "bf16",
    },
}


def test_random_weights_are_the_seed_s_and_not_the_folder_s(folders: Folders) -> None:
    def weights(seed: int, **told: Any) -> dict[str, torch.Tensor]:
        return load(folders("llama"), settings_of("llama", **told), True, seed).weights()

    pretrained, first, again, second = weights(1), *(weights(seed, random_weights=True) for seed in (1, 1, 2))
    assert {name: value.shape for name, value in first.items()} == {name: of.shape for name, of in pretrained.items()}
    assert all(torch.equal(first[name], again[name]) for name in first)
    drawn = [name for name in first if first[name].std() > 0]  # not the scales of norms, which begin at 1
    assert len(drawn) > len(first) / 2
    assert not any(torch.equal(first[name], other[name]) for name in drawn for other in (second, pretrained))
    with pytest.raises(ValueError, match="leave `lora` and `zero_shot` out"):
        settings_of("llama", random_weights=True, lora={"rank": 2})


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_killed_training_goes_on_to_the_same_bytes(variant: str, folders: Folders, tmp_path: Path) -> None:
    kind = variant.split()[0]
    settings, folder, training = settings_of(kind, **VARIANTS[variant]), folders(kind), training_of(names=["a", "b"])
    whole = fitted(learner_of(folder, settings), training)
    for after in (2, 5):
        state = interrupted(learner_of(folder, settings), training, tmp_path / f"{after}.pt", after)
        again = fitted(learner_of(folder, settings), training, resume=state)
        assert again.history.rows() == whole.history.rows()
        assert again.weights.keys() == whole.weights.keys()
        assert all(torch.equal(again.weights[name], whole.weights[name]) for name in whole.weights)
    assert whole.before is not None
    other = settings.model_copy(update={"template": f"Read: {settings.template}"})
    with pytest.raises(ResumeError, match="training examples"):
        fitted(learner_of(folder, other), training, resume=state)


def test_a_fine_tuning_that_decays_goes_on_to_the_same_bytes_and_rates(folders: Folders, tmp_path: Path) -> None:
    """As `config/forms/finetune.yaml` has it, with fewer updates."""
    form = yaml.safe_load((Path(__file__).parents[4] / "config" / "forms" / "finetune.yaml").read_text())
    first = form["first"]
    optimizer = first["optimizer"] | {"rate": 0.005}
    stop = first["stop"] | {"every_updates": 2, "max_epochs": 4}
    phase = PhaseSettings(name="nll", loss="nll", optimizer=optimizer, stop=stop)
    training = training_of().model_copy(update={"phases": [phase]})
    settings, folder = settings_of("t5", dropout=0.2), folders("t5")
    whole = fitted(learner_of(folder, settings), training)
    state = interrupted(learner_of(folder, settings), training, tmp_path / "state.pt", 2)
    again = fitted(learner_of(folder, settings), training, resume=state)
    assert again.history.rows() == whole.history.rows()
    assert all(torch.equal(again.weights[name], whole.weights[name]) for name in whole.weights)
    assert [row.update for row in whole.history] == [3, 6, 9, 12]  # epochs of 20 records in batches of 8
    rates = [row.rate for row in whole.history]
    assert rates == sorted(rates, reverse=True)


def test_recomputed_activations_change_no_byte_and_a_batch_in_parts_is_the_same_update(folders: Folders) -> None:
    def weights(settings: dict[str, Any], training: dict[str, Any]) -> dict[str, torch.Tensor]:
        return fitted(learner_of(folders("bart"), settings_of("bart", **settings)), training_of(4, **training)).weights

    plain, again = (weights({"dropout": 0.2, "gradient_checkpointing": on}, {}) for on in (False, True))
    assert all(torch.equal(plain[name], again[name]) for name in plain)
    whole, parts = (weights({}, {"accumulate": parts}) for parts in (1, 4))
    for name, weight in whole.items():
        torch.testing.assert_close(parts[name], weight, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["bart", "gpt2"])
def test_lora_trains_its_matrices_alone(kind: str, folders: Folders) -> None:
    told = {"rank": 2, "modules": ("c_attn",)} if kind == "gpt2" else {"rank": 2}
    learner = learner_of(folders(kind), settings_of(kind, lora=told))
    before = {name: one.clone() for name, one in learner.model.network.named_parameters()}
    found = fitted(learner, training_of())
    moved = {name for name, one in learner.model.network.named_parameters() if not torch.equal(one, before[name])}
    assert moved == set(found.weights)
    assert all("lora_" in name for name in found.weights)
    counts = learner.parameter_counts()
    assert sum(one.numel() for one in found.weights.values()) < 0.2 * counts["total"]
    fresh = learner_of(folders(kind), settings_of(kind, lora=told))
    fresh.load(found.weights)
    phase = training_of().phases[0]
    assert fresh.validate(phase)["nll"] == pytest.approx(found.selected.nll, rel=1e-5)
    with pytest.raises(PretrainedError, match="another model"):
        learner_of(folders(kind), settings_of(kind)).load(found.weights)


def test_matrices_beside_weights_of_half_the_bytes_learn_what_they_learn_beside_single_ones(tmp_path: Path) -> None:
    """The matrices are single in both; the likelihoods are within what bf16's eight bits of mantissa leave."""
    texts = [sentence for _, text in pairs(50, 0) for sentence in text.source]
    folder = pretrained.make_folder(tmp_path, "llama", texts, width=32, layers=1, spread=0.3)  # frozen logits differ
    lora, training = (
        {"rank": 8, "modules": ("q_proj", "v_proj", "o_proj", "up_proj", "down_proj")},
        training_of(60, 0.003),
    )
    single, half = (
        fitted(learner_of(folder, settings_of("llama", lora=lora, weights=weights)), training)
        for weights in ("single", "bf16")
    )
    assert {weight.dtype for weight in half.weights.values()} == {torch.float32}
    learned = single.history[0].nll - single.history[-1].nll
    assert learned > 1.0
    for row, other in zip(half.history, single.history, strict=True):
        assert row.nll == pytest.approx(other.nll, abs=0.1 * learned)
    own = learner_of(folder, settings_of("llama", lora=lora, weights="bf16")).model.network
    kept = {parameter.dtype for name, parameter in own.named_parameters() if "lora_" not in name}
    assert kept == {torch.bfloat16}


def test_a_chat_model_reads_its_template_around_a_users_message(folders: Folders) -> None:
    """As transformers makes it of the message itself; what is written begins where the assistant's answer does."""
    settings = settings_of("llama", chat=True, template="Sum up: {source}")
    model = load(folders("llama"), settings, True, 1)
    tokenizer = model.subwords.tokenizer
    ids, _ = model.subwords.source(["red blue."], 9)
    messages = [{"role": "user", "content": "Sum up: red blue."}]
    assert ids == tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    assert (ids[0], ids.count(tokenizer.bos_token_id)) == (tokenizer.bos_token_id, 2)
    assert model.subwords.end == tokenizer.eos_token_id


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (None, "has no chat template"),
        ("{{ strftime_now('%d') }}{{ messages[0]['content'] }}", "the day's date"),
        ("{{ messages[0]['content'] | length }}", "makes '17' of the message"),
    ],
)
def test_a_chat_template_that_gives_no_prompt_is_refused(template: str | None, message: str) -> None:
    tokenizer = pretrained.make_tokenizer(["red blue"], "llama")
    tokenizer.chat_template = template
    with pytest.raises(PretrainedError, match=message):
        chat_template(tokenizer, "Sum up: {source}!")


@pytest.mark.parametrize("kind", list(pretrained.ARCHITECTURES))
def test_the_loss_is_the_mean_over_examples_of_the_network_s_own(kind: str, folders: Folders) -> None:
    """By one plain call of the network for each example, with its labels."""
    learner = learner_of(folders(kind), settings_of(kind))
    model, phase = learner.model, training_of().phases[0]
    expected = []
    for example in learner.train[:5]:
        if model.prefix:
            labels = torch.tensor([[*model.prefix[1:], *example.target]])
            told: dict[str, Any] = {"input_ids": torch.tensor([example.source])}
            inputs = torch.tensor([[*model.prefix, *example.target[:-1]]])
            if kind == "led":
                told["global_attention_mask"] = torch.zeros_like(told["input_ids"]).index_fill(1, torch.tensor(0), 1)
            labels[:, : len(model.prefix) - 1] = -100
            loss = model.network(**told, decoder_input_ids=inputs, labels=labels).loss
        else:
            ids = torch.tensor([[*example.source, *example.target]])
            labels = ids.clone()
            labels[:, : len(example.source)] = -100
            loss = model.network(input_ids=ids, labels=labels).loss
        expected.append(float(loss))
    batch = learner.collate(learner.train[:5], phase)
    assert float(learner.loss(batch, phase)) == pytest.approx(sum(expected) / 5, rel=1e-4)


@pytest.mark.parametrize("kind", pretrained.ARCHITECTURES)
def test_the_block_that_is_printed_of_a_model_can_be_pasted(kind, folders, capsys) -> None:
    show_model(str(folders(kind)), None)
    told = yaml.safe_load(capsys.readouterr().out)["model"]
    assert told["path"] == str(folders(kind))
    settings = TransformersSettings.model_validate(told)
    assert settings.architecture == pretrained.ARCHITECTURES[kind]
    learner = learner_of(folders(kind), settings, 4)
    assert len(learner.train) == 4


def harmed(folder: Path, **config: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def without_a_layer(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file({name: one for name, one in weights.items() if "fc1" not in name}, folder / "model.safetensors")


def with_code(folder: Path) -> None:
    harmed(folder, model_type="mine", auto_map={"AutoConfig": "mine.Config", "AutoModelForSeq2SeqLM": "mine.M"})
    (folder / "mine.py").write_text("raise SystemExit('run')")


@pytest.mark.parametrize(
    ("kind", "harm", "message"),
    [
        ("bart", without_weights, r"no \*\.safetensors.*save_pretrained"),
        ("bart", without_a_layer, "lack"),
        ("bart", with_code, "cannot read"),  # and never runs it
        ("gpt2", lambda folder: None, "architecture"),
    ],
)
def test_a_folder_that_is_none_of_the_model_is_refused(kind, harm, message, folders, tmp_path) -> None:
    shutil.copytree(folders(kind), tmp_path / "model")
    harm(tmp_path / "model")
    with pytest.raises(PretrainedError, match=message):
        load(tmp_path / "model", settings_of("bart"), True, 1)


def test_a_model_that_writes_no_text_is_no_method_s(folders: Folders, tmp_path: Path, capsys) -> None:
    harmed(shutil.copytree(folders("bart"), tmp_path / "model"), model_type="vit")
    show_model(str(tmp_path / "model"), None)
    assert yaml.safe_load(capsys.readouterr().out).keys() == {"bertscore"}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["bart", "t5", "gpt2", "bart lora"])
def test_a_small_model_learns_to_copy(variant: str, folders: Folders) -> None:
    """Two words of the source, which it can only know by reading it."""
    kind = variant.split()[0]
    lora = {"rank": 16, "alpha": 32.0, "modules": ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2")}
    settings = settings_of(kind, lora=lora if "lora" in variant else None)
    training = training_of(900, batch=32, valid_records=40, rate=0.003, every=75)
    found = fitted(learner_of(folders(kind), settings, count=400, valid=40), training)
    assert found.selected.rouge1 > (0.5 if "lora" in variant else 0.9), found.history.rows()


def test_where_a_model_lies_is_no_part_of_a_form_which_has_no_attention_and_no_words_of_its_own() -> None:
    model = settings_of("bart", hub="owner/name", revision="a" * 40)
    told = {"model": model.decides(), "training": training_of().model_dump(mode="json")}
    assert form_of_run(told).model == settings_of("bart")
    assert settings_of("bart", hub="owner/name", revision="A" * 40) == model
    told["training"]["phases"][0]["own_words"] = 0.5
    with pytest.raises(ValueError, match="own_words"):
        form_of_run(told)
    searching = {"beam": 2, "length_penalty": "none", "block_ngram": 0, "coverage_penalty": 1.0}
    with pytest.raises(ValueError, match="no attention"):
        Form(model=model, training=training_of(), search=searching)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"hub": "owner/name"}, "go together"),
        ({"hub": "../../x", "revision": "a" * 40}, "is no name of the hub: give owner/name"),
        ({"hub": "../x", "revision": "a" * 40}, "is no name of the hub"),
        ({"hub": "owner/name", "revision": "main"}, "branch"),
        ({"hub": "owner/name", "revision": "a" * 7}, "all 40 hex digits"),
        ({"hub": "pypi:name==1", "revision": "a" * 40}, "sha256 of a wheel: give all 64 hex digits"),
        ({"hub": "pypi:name>=1", "revision": "a" * 64}, "is no package: give pypi:NAME==VERSION"),
        ({"path": "here", "hub": "owner/name", "revision": "a" * 40}, "either"),
        ({"template": "Summarize."}, "once"),
        ({"architecture": "decoder"}, "goes on with what it reads"),
    ],
)
def test_settings_that_cannot_be_are_named(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        settings_of("bart", **wrong)
