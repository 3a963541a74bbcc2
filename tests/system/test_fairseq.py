"""fairseq beside ours: the same logits and loss from the same weights, and a study of its models from text to tables.

Needs fairseq's environment; the tests of what is said without it are in tests/unit/capabilities/fairseq/test_model.py.
"""

import json
import math
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from torch import Tensor

from invented import WORDS, records
from sumcurve.capabilities.fairseq import learner as fairseq
from sumcurve.capabilities.fairseq.decoding import write
from sumcurve.capabilities.fairseq.model import THEIRS, Fairseq, FairseqError, FairseqModel, environment
from sumcurve.capabilities.fairseq.settings import FairseqSettings
from sumcurve.models import transformer
from sumcurve.models.batch import Example, collate, encode
from sumcurve.models.emission import Emission
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.models.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.settings.models import TransformerSettings
from sumcurve.settings.search import Search
from sumcurve.settings.study import Bootstrap
from sumcurve.store import manifest, resume
from sumcurve.study.collect import collect
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from sumcurve.systems.families import build
from sumcurve.tables import scores as scores_table
from sumcurve.tables.results import Results
from sumcurve.training.fit import Fitted
from workplace import build as build_folder
from workplace import configured

ROOT = Path(__file__).parents[2]
RAW = ROOT / "tests" / "data" / "tales.jsonl"
LENGTHS = (24, 8)
SIZES = {"width": 8, "heads": 2, "feedforward": 16, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0}
KNOWN = Vocabulary(WORDS[:20])  # the other words of `records` are unknown


def installed() -> bool:
    try:
        environment()
    except FairseqError:
        return False
    return True


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not installed(), reason="no environment of fairseq: `make fairseq-env` makes it"),
]


def form(architecture: str, smoothing: float = 0.0, **training: object) -> Form:
    """fairseq's smallest settings, of one update unless told."""
    method = "fairseq_lstm" if architecture == "lstm" else "fairseq_transformer"
    told = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms["smoke"]
    sizes = {"width": 8, "hidden": 8} if architecture == "lstm" else SIZES
    [phase] = told.training.phases
    optimizer = phase.optimizer.model_copy(update={"rate": 0.01, "warmup_updates": 0})
    phase = phase.model_copy(update={"label_smoothing": smoothing, "optimizer": optimizer})
    return Form(
        model=FairseqSettings(kind="fairseq", architecture=architecture, **sizes),
        training=told.training.model_copy(update={"phases": [phase], "batch": 4, **training}),
    )


@pytest.fixture(scope="module")
def process() -> Iterator[Fairseq]:
    with Fairseq("native", 1, "cpu") as one:
        yield one


def examples(count: int, seed: int) -> list[Example]:
    return [encode(record, KNOWN, *LENGTHS) for record in records(count, seed)]


def read_by_fairseq(batch_of: list[Example]) -> list[Example]:
    """The examples with fairseq's end mark behind their sources, as it reads them."""
    return [
        Example(one.record, [*one.source, EOS], [*one.source_ext, EOS], one.unknowns, one.input, one.target)
        for one in batch_of
    ]


def fairseq_positions(positions: Tensor, width: int) -> Tensor:
    """fairseq's sinusoids: positions count from 2, and the slowest rate is 1 / 10000 itself."""
    rates = torch.exp(torch.arange(width // 2) * (-math.log(10000) / (width // 2 - 1)))
    angles = (positions + 2).unsqueeze(-1) * rates
    return torch.cat((angles.sin(), angles.cos()), -1)


def ours(heads: int) -> TransformerSummarizer:
    """TRANS-nocopy far from its initialisation, with what fairseq has not set to nothing.

    Its output layer has no bias, and a target begins with the end mark's embedding.
    """
    settings = TransformerSettings(kind="transformer", copy_attention=False, output="tied", **SIZES | {"heads": heads})
    model = build(settings, len(KNOWN), 1)
    assert isinstance(model, TransformerSummarizer)
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        model.output.bias.zero_()
        model.embedding.weight[BOS] = model.embedding.weight[EOS]
        model.embedding.weight[PAD] = 0
    return model.eval()


def as_fairseq(model: TransformerSummarizer, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """fairseq's weights with all those of ours that it has."""
    order = torch.tensor([next(i for i in range(len(KNOWN)) if THEIRS.get(i, i) == j) for j in range(len(KNOWN))])
    own = model.state_dict()
    found = {}
    inner = {"attention": "self_attn", "cross": "encoder_attn"}
    linear = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "out": "out_proj"}
    norms = {
        "encoder": {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"},
        "decoder": {"norm1": "self_attn_layer_norm", "norm2": "encoder_attn_layer_norm", "norm3": "final_layer_norm"},
    }
    for name, tensor in own.items():
        parts = name.split(".")
        match parts:
            case ["encoder" | "decoder" as side, layer, "attention" | "cross" as block, projection, kind]:
                found[f"{side}.layers.{layer}.{inner[block]}.{linear[projection]}.{kind}"] = tensor
            case ["encoder" | "decoder" as side, layer, "feedforward", "up" | "down" as which, kind]:
                found[f"{side}.layers.{layer}.{'fc1' if which == 'up' else 'fc2'}.{kind}"] = tensor
            case ["encoder" | "decoder" as side, layer, norm, kind]:
                found[f"{side}.layers.{layer}.{norms[side][norm]}.{kind}"] = tensor
            case ["encoder_norm" | "decoder_norm" as norm, kind]:
                found[f"{norm.removesuffix('_norm')}.layer_norm.{kind}"] = tensor
    for name in ("encoder.embed_tokens", "decoder.embed_tokens", "decoder.output_projection"):
        found[f"{name}.weight"] = own["embedding.weight"][order]
    assert found.keys() <= theirs.keys()
    assert all(found[name].shape == theirs[name].shape for name in found)
    return {name: found.get(name, tensor).contiguous() for name, tensor in theirs.items()}


def built(process: Fairseq, told: Form, folder: Path, weights: Path | None = None) -> FairseqModel:
    assert isinstance(told.model, FairseqSettings)
    return FairseqModel(process, told.model, told.training, KNOWN, LENGTHS, 3, folder, weights)


def all_words(model: FairseqModel, example: Example, words: int) -> Tensor:
    """fairseq's log-probabilities [T, words] of every word after every beginning of the target."""
    pairs = [(example, [*example.target[:t], word]) for t in range(len(example.target)) for word in range(words)]
    return torch.tensor([line[-1] for line in model.score(pairs)]).view(len(example.target), words)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_transformer_has_the_logits_and_the_loss_of_ours(process, tmp_path, monkeypatch, smoothing) -> None:
    """Weights are ours; positions are fairseq's, whose sinusoids have other constants."""
    monkeypatch.setattr(transformer, "sinusoids", fairseq_positions)
    model, told = ours(heads=2), form("transformer", smoothing)
    built(process, told, tmp_path)
    process.ask("weights", path=str(tmp_path / "new.safetensors"))
    save_file(as_fairseq(model, load_file(tmp_path / "new.safetensors")), tmp_path / "ours.safetensors")
    theirs = built(process, told, tmp_path, tmp_path / "ours.safetensors")
    read = examples(4, 1)
    batch = collate(read_by_fairseq(read))
    with torch.no_grad():
        logp = model.forced(batch, model.encode(batch))[0].logits.log_softmax(2)
        smoothed, _ = model.gold(batch, model.encode(batch), smoothing)
    for place, example in enumerate(read[:2]):
        found = all_words(theirs, example, len(KNOWN))
        torch.testing.assert_close(found, logp[place, : len(example.target)], atol=1e-4, rtol=0)
    pairs = [(theirs.source(one), theirs.target(one.target)) for one in read]
    process.ask("prepare", pairs=pairs)
    loss = process.ask("update", to=1)["loss"]
    assert loss == pytest.approx(float(-smoothed.sum() / (batch.tgt != PAD).sum()), abs=1e-4)


def test_the_pointer_generator_mixes_as_ours_does(process, tmp_path, monkeypatch) -> None:
    """Of TRANS it differs in where attention comes from and in what its gate sees: these are taken as it has them."""
    monkeypatch.setattr(transformer, "sinusoids", fairseq_positions)
    model, told = ours(heads=1), form("transformer_pointer_generator")
    told = told.model_copy(update={"model": told.model.model_copy(update={"heads": 1})})
    built(process, told, tmp_path)
    process.ask("weights", path=str(tmp_path / "new.safetensors"))
    weights = as_fairseq(model, load_file(tmp_path / "new.safetensors"))
    save_file(weights, tmp_path / "ours.safetensors")
    theirs = built(process, told, tmp_path, tmp_path / "ours.safetensors")
    read = [one for one in examples(8, 1) if one.unknowns][:2]
    batch = collate(read_by_fairseq(read))
    with torch.no_grad():
        memory = model.encode(batch)
        readout = model.readout(batch, memory)
        inputs = model.embedding(batch.inp) * SIZES["width"] ** 0.5
        gate = torch.cat((inputs, readout.states), 2) @ weights["decoder.project_p_gens.weight"].T
        gate = (gate + weights["decoder.project_p_gens.bias"]).squeeze(2)
        emission = Emission(model.logits(readout.states, memory), readout.attention.log(), gate)
        logp = emission.dist(batch.src_ext, batch.n_ext)
    for place, example in enumerate(read):
        words = len(KNOWN) + len(example.unknowns)
        found = all_words(theirs, example, words)
        expected = logp[place, : len(example.target), :words].clamp(min=math.log(1e-10))
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def _known(ids: list[int]) -> list[int]:
    return [one if one < len(KNOWN) else UNK for one in ids]


def test_pairs_are_those_that_fairseq_preprocess_writes(tmp_path) -> None:
    """Of targets that are not cut, which all end with fairseq's mark."""
    read = [one for one in examples(9, 4) if one.target[-1] == EOS]
    theirs = [[[THEIRS.get(i, i) for i in ids] for ids in (one.source, _known(one.target[:-1]))] for one in read]
    for side, language in enumerate(("source", "target")):
        lines = [" ".join("<unk>" if i == 3 else str(i) for i in pair[side]) for pair in theirs]
        (tmp_path / f"train.{language}").write_text("".join(f"{line}\n" for line in lines))
    script = f"""
import sys
sys.path.append({str(ROOT / "src")!r})
from pathlib import Path
from sumcurve.capabilities.fairseq.driver import write_dictionary, write_pairs
from fairseq import options
from fairseq.data import Dictionary
from fairseq_cli import preprocess
here = Path({str(tmp_path)!r})
(here / "ours").mkdir()
write_dictionary(here / "ours", {len(KNOWN)})
words = Dictionary.load(str(here / "ours" / "dict.source.txt"))
pairs = {[[[*source, 2], [*target, 2]] for source, target in theirs]!r}
write_pairs(here / "ours", "train", pairs, words)
preprocess.main(options.get_preprocessing_parser().parse_args(["--source-lang", "source", "--target-lang", "target",
    "--trainpref", str(here / "train"), "--destdir", str(here / "theirs"), "--joined-dictionary",
    "--srcdict", str(here / "ours" / "dict.source.txt"), "--workers", "1"]))
"""
    subprocess.run([environment(), "-I", "-c", script], check=True)
    for name in (
        "dict.source.txt",
        *(f"train.source-target.{one}" for one in ("source.bin", "target.bin", "target.idx")),
    ):
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()


@pytest.mark.parametrize("architecture", ["transformer", "transformer_pointer_generator", "lstm"])
def test_what_is_written_keeps_the_corpus_s_limits(process, tmp_path, architecture) -> None:
    model, read = built(process, form(architecture), tmp_path), examples(6, 5)
    for search in (
        Search(beam=1, min_tokens=3, max_tokens=5, block_ngram=0),
        Search(beam=3, min_tokens=2, max_tokens=7),
    ):
        written = write(model, read, search)
        for summary, example in zip(written, read, strict=True):
            words = [word for sentence in summary for word in sentence]
            assert len(words) <= search.max_tokens
            assert "<unk>" not in words
            assert set(words) <= {*KNOWN.words, *example.unknowns}
        assert write(model, read[2:3], search) == written[2:3], "a summary does not depend on the others"


class Killed(Exception):
    pass


def fitted(folder: Path, state: Path, architecture: str, kill_at: int = 0) -> Fitted:
    """A short training; with `kill_at` fairseq's process is killed behind the validation of that update."""
    told = form(architecture)
    [phase] = told.training.phases
    stop = phase.stop.model_copy(update={"every_updates": 3, "every_epochs": 0.1, "patience": 9, "max_updates": 9})
    training = told.training.model_copy(update={"phases": [phase.model_copy(update={"stop": stop})]})
    told = told.model_copy(update={"model": told.model.model_copy(update={"dropout": 0.2}), "training": training})
    folder.mkdir(exist_ok=True)
    valid = examples(5, 7)
    with Fairseq("native", 1, "cpu") as process:
        model = built(process, told, folder)

        def watch(progress) -> None:
            if progress.update == kill_at:
                process._process.send_signal(signal.SIGKILL)
                raise Killed

        references = [one.record.all_references for one in valid]
        search = Search(beam=1, max_tokens=8, block_ngram=0)
        return fairseq.train(
            model, training, examples(17, 6), valid, references, search, state, {"seed": 3}, lambda line: None, watch
        )


def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path) -> None:
    whole = fitted(tmp_path / "work", tmp_path / "whole", "transformer")
    with pytest.raises(Killed):
        fitted(tmp_path / "work", tmp_path / "state", "transformer", kill_at=6)
    resumed = fitted(tmp_path / "work", tmp_path / "state", "transformer")
    assert resumed.history.rows() == whole.history.rows()
    assert resumed.weights.keys() == whole.weights.keys()
    assert all(torch.equal(resumed.weights[name], tensor) for name, tensor in whole.weights.items())


# --- a study


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    """The plan of a study of both Transformers on one corpus, and its results."""
    home = tmp_path_factory.mktemp("study")
    config = configured(home) / "config"
    study = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    tales = study["corpora"]["tales"] | {"percents": [100], "methods": None}
    tales["raw"]["path"] = str(RAW)
    study |= {
        "corpora": {"tales": tales},
        "methods": ["fairseq_transformer", "fairseq_pointer"],
        "systems": dict.fromkeys(("lsa", "lexrank", "sumbasic")),
        "scores": {"rouge": {}, "reading": {}, "reading_rouge": {}},
    }
    (config / "studies" / "tiny.yaml").write_text(yaml.safe_dump(study))
    plan = Plan.read(config, "tiny")
    for folder in plan.folders.values():  # inputs come first
        build_folder(plan, folder.key, home)
        assert resume.state(home, folder.name).with_suffix("").is_dir() == (folder.kind == "train")
        resume.forget(home, folder.name)
    return plan, home / "results"


def test_a_run_of_fairseq_holds_what_ours_hold(finished) -> None:
    plan, results = finished
    runs = [folder for folder in plan.folders.values() if folder.kind == "train"]
    assert len(runs) == 2
    for folder in runs:
        run = results / folder.key
        wanted = {"weights.safetensors", "vocabulary.json", "history.csv", "timings.csv", "training.json"}
        assert wanted <= {path.name for path in run.iterdir()}
        told = json.loads((run / "training.json").read_text())
        weights = load_file(run / "weights.safetensors")
        shared = weights["encoder.embed_tokens.weight"].numel()
        assert told["parameters"]["vocabulary"] == shared == told["vocabulary"] * 16
        assert told["ended"][0]["reason"] in ("patience", "most_updates")
        assert manifest.read(run)["facts"]["fairseq"].startswith("fairseq-fixed 0.12.3.1, torch 2.")
    assert not list((results.parent / "scratch" / "resume").iterdir()), "the resume states are gone"


def test_tables_have_the_twins_with_their_probabilities(finished) -> None:
    plan, results = finished
    found = Results(collect(plan, results), Bootstrap(resamples=50))
    rows = {row["method"]: row for row in scores_table.table(found).rows if row["role"] == "trained"}
    assert rows.keys() == {"fairseq_transformer", "fairseq_pointer"}
    for row in rows.values():
        assert row["rouge1"].number > 0
        assert "gap" in row
