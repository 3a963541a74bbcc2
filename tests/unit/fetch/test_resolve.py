"""What the hub has under a name: commits of branches, and identities of models whose weights are not fetched."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import pretrained
from hub import REVISION, Hub, serving
from sumcurve.cli import raw
from sumcurve.fetch.hub import sha256_of_model
from sumcurve.fetch.resolve import data_files, method_name, model_of, write_model
from sumcurve.settings.config import PlanError
from sumcurve.store.errors import CorpusError
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan

pytest.importorskip("huggingface_hub")

ROOT = Path(__file__).parents[3]
OTHER = "34" * 20


@pytest.fixture(scope="module", params=["t5", "llama"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrained.make_folder(tmp_path_factory.mktemp("model"), request.param, ["red blue green"])


@pytest.fixture
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    small = {name for name in files if not name.endswith(".safetensors")}
    with serving(Hub(files, "models", "owner/Some-Model.v2", small=small)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "config", tmp_path / "config"))


def test_a_model_s_identity_is_known_without_its_weights(hub: Hub, folder: Path) -> None:
    model = model_of(hub.name)
    assert (model.revision, model.sha256) == (REVISION, sha256_of_model(folder))
    assert not [name for _, name, _ in hub.asked if name.endswith(".safetensors")]
    decoder = model.model_type == "llama"
    assert (model.architecture, model.chat) == (("decoder", True) if decoder else ("encoder-decoder", False))


def test_a_study_s_models_are_pinned_and_until_then_it_is_planned_but_nothing_is_fetched(
    hub: Hub, folder: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(config.parent)
    model = {"kind": "transformers", "hub": hub.name, "revision": None, "sha256": None}
    for method in ("mine", "other"):
        own = model | ({"hub": "owner/another"} if method == "other" else {})
        phases = {"nll": {"loss": "nll", "optimizer": {"rate": 0.1}}}
        file = {"title": "M", "paper": "P.", "model": own, "phases": phases, "forms": {"finetune": None}}
        (config / "methods" / f"{method}.yaml").write_text(yaml.safe_dump(file))
    study = yaml.safe_load((config / "studies" / "xsum.yaml").read_text())
    planned: dict[str, set[str]] = {}
    for method in ("other", "mine"):
        content = yaml.safe_dump(study | {"methods": [method], "form": "finetune"})
        (config / "studies" / "axis.yaml").write_text(content)
        planned[method] = {folder.key for folder in Plan.read(config, "axis").named("runs")}
    with pytest.raises(PlanError, match="sumcurve pin"):
        raw.fetch(Path("data/raw/model-not-pinned"))
    monkeypatch.setattr(raw, "pin_files", lambda *_: None)  # of the corpus
    raw.pin("axis")
    assert read_method(config / "methods" / "mine.yaml").forms["finetune"].model.sha256 == sha256_of_model(folder)
    assert not planned["mine"] & {folder.key for folder in Plan.read(config, "axis").named("runs")}


def test_a_model_that_no_method_names_gets_a_file_that_is_complete(hub: Hub, config: Path) -> None:
    (path,) = write_model(config, hub.name)
    assert path == config / "methods" / "some_model_v2.yaml"
    form = read_method(path).forms["finetune"]
    model = model_of(hub.name)
    assert (form.model.hub, form.model.revision, form.model.sha256) == (hub.name, REVISION, model.sha256)
    assert form.model.template == ("summarize: {source}" if model.model_type == "t5" else form.model.template)
    assert (form.model.chat, form.model.lora is not None) == (model.chat, model.chat)
    hub.files.clear()
    assert write_model(config, hub.name) == [path], "and the hub is not asked again"


def test_what_a_method_leaves_null_is_written_there_and_nothing_else(hub: Hub, config: Path) -> None:
    path = config / "methods" / "t5_small.yaml"
    text = path.read_text().replace("google-t5/t5-small", hub.name)
    path.write_text(text)
    assert write_model(config, hub.name) == [path]
    lines = dict(zip(text.splitlines(), path.read_text().splitlines(), strict=True))
    changed = {old: new for old, new in lines.items() if old != new}
    sha256 = model_of(hub.name).sha256
    assert changed == {"  revision: null": f'  revision: "{REVISION}"', "  sha256: null": f"  sha256: {sha256}"}


def test_a_model_of_another_method_s_name_and_a_hub_out_of_reach_are_named(hub, config, monkeypatch) -> None:
    (config / "methods" / "some_model_v2.yaml").write_text("title: Another\n")
    with pytest.raises(PlanError, match=r"some_model_v2\.yaml is there already"):
        write_model(config, hub.name)
    with pytest.raises(CorpusError, match=r"owner/none at main cannot be fetched"):
        model_of("owner/none")
    del hub.files["model.safetensors"]
    with pytest.raises(CorpusError, match=r"no \*\.safetensors"):
        model_of(hub.name)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(CorpusError, match="look whether this machine has a network"):
        write_model(config, "facebook/bart-base")
    assert yaml.safe_load((config / "methods" / "bart_base.yaml").read_text())["model"]["sha256"] is None


@pytest.mark.parametrize(
    ("name", "method"), [("facebook/bart-base", "bart_base"), ("a/7B_Chat", "model_7b_chat"), ("a/X.Y-z", "x_y_z")]
)
def test_a_method_of_a_model_has_a_name_that_methods_may_have(name: str, method: str) -> None:
    assert method_name(name) == method


TABLES = {f"data/{part}-00000.parquet": b"x" for part in ("train", "validation", "test")}


@pytest.mark.parametrize(
    ("files", "branch", "below", "names"),
    [
        (TABLES | {"README.md": b"", "dataset_infos.json": b""}, "main", None, sorted(TABLES)),
        ({"train.jsonl": b"", "README.md": b""}, "main", None, ["train.jsonl"]),
        ({f"default/{part}/0000.parquet": b"" for part in ("train", "test")}, "refs/convert/parquet", None, 2),
        ({f"{year}/{part}/0.parquet": b"" for part in ("train", "test") for year in "12"}, "main", "2", 2),
    ],
)
def test_files_of_a_data_set_are_those_of_one_format_at_a_commit(files, branch, below, names, monkeypatch) -> None:
    with serving(Hub(files, name="owner/data", revision=OTHER, branch=branch)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        commit, chosen = data_files("owner/data", below)
    assert commit == OTHER
    assert chosen == names or len(chosen) == names


def test_a_data_set_of_two_configurations_and_one_without_tables_are_refused(monkeypatch) -> None:
    years = {f"{year}/{part}/0.parquet": b"" for part in ("train", "test") for year in "12"}
    with serving(Hub(years, name="owner/data"), Hub({"run.py": b""}, name="owner/code")) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        with pytest.raises(PlanError, match="several configurations: say --below FOLDER, one of 1, 2"):
            data_files("owner/data")
        with pytest.raises(PlanError, match="hf://owner/code has no file that is read here"):
            data_files("owner/code")
