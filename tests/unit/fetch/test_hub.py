"""Models and corpora of the hub: what is fetched, and that it is what was pinned. A server here is the hub."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hub import REVISION, Hub, serving
from sumcurve.cli import raw as command
from sumcurve.fetch.hub import fetch, fetch_model, sha256_of_model
from sumcurve.settings.config import HUB_LOCK
from sumcurve.store.errors import CorpusError
from sumcurve.study.plan import Folder, Plan, PlanError
from workplace import configured

pytest.importorskip("huggingface_hub")

PLACE = ("owner/name", REVISION)
FILES = {
    "model.safetensors": b"weights",
    "config.json": b'{"model_type": "bart"}',
    "tokenizer.json": b"[]",
    "merges.txt": b"a b",
}
TALES = (Path(__file__).parents[2] / "data" / "tales.jsonl").read_bytes()
SHARDS = {"data/train-0.jsonl": TALES[:9000], "data/train-1.jsonl": TALES[9000:]}


def served(files: Mapping[str, bytes], kind: str) -> Any:
    """A fixture: a hub of these files, which is the one that is asked."""

    @pytest.fixture
    def hub_of_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
        with serving(Hub(dict(files), kind)) as hub:
            monkeypatch.setenv("HF_ENDPOINT", hub.url)
            yield hub

    return hub_of_files


models, corpora = served(FILES, "models"), served(SHARDS | {"README.md": b"text"}, "datasets")


def test_a_fetched_model_is_known_by_its_files(tmp_path, models) -> None:
    models.files |= {"pytorch_model.bin": b"pickle", "modeling.py": b"code", "onnx/model.safetensors": b"other"}
    found = fetch_model("owner/name", REVISION, tmp_path / "model-x")
    lines = "".join(f"{hashlib.sha256(FILES[name]).hexdigest()}  {name}\n" for name in sorted(FILES))
    assert found == hashlib.sha256(lines.encode()).hexdigest() == sha256_of_model(tmp_path / "model-x")
    assert {path.name: path.read_bytes() for path in (tmp_path / "model-x").iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["model-x"]


def test_a_model_without_safetensors_is_refused(tmp_path, models) -> None:
    del models.files["model.safetensors"]
    with pytest.raises(CorpusError, match=r"no \*\.safetensors.*pickles"):
        fetch_model("owner/name", REVISION, tmp_path / "model-x")
    assert list(tmp_path.iterdir()) == []
    assert models.asked == []
    with pytest.raises(CorpusError, match=r"owner/name is no folder.*--revision"):
        sha256_of_model(tmp_path / "owner/name")


def test_a_hub_out_of_reach_and_files_that_are_missing_or_others_are_named(tmp_path, corpora, monkeypatch) -> None:
    with pytest.raises(CorpusError, match=r"(?s)owner/name at 1212.*EntryNotFound.*commit and files"):
        fetch(*PLACE, ["data/none.jsonl"], tmp_path / "x", "dataset")
    corpora.lies = {"data/train-0.jsonl": SHARDS["data/train-0.jsonl"][::-1]}
    with pytest.raises(CorpusError, match=r"data/train-0\.jsonl of owner/name at 1212.*arrived with sha256 \w{64}"):
        fetch(*PLACE, list(SHARDS), tmp_path / "x", "dataset")
    corpora.lies = {}
    fetch(*PLACE, list(SHARDS), tmp_path / "x", "dataset")
    assert {name: (tmp_path / "x" / name).read_bytes() for name in SHARDS} == SHARDS
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(CorpusError, match=r"(?s)owner/name at 1212.*network"):
        fetch(*PLACE, list(SHARDS), tmp_path / "y", "dataset")
    assert not (tmp_path / "y").exists()


def test_an_interrupted_fetch_keeps_the_files_that_have_arrived(tmp_path, corpora) -> None:
    corpora.cut = {"data/train-1.jsonl": 1000}
    with pytest.raises(CorpusError, match="What has arrived is kept"):
        fetch(*PLACE, list(SHARDS), tmp_path / "x", "dataset")
    assert not (tmp_path / "x").exists()
    corpora.broken = False
    corpora.asked.clear()
    fetch(*PLACE, list(SHARDS), tmp_path / "x", "dataset")
    assert corpora.asked == [("GET", "data/train-1.jsonl", None)]
    assert {name: (tmp_path / "x" / name).read_bytes() for name in SHARDS} == SHARDS
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def checkout(path: Path) -> Path:
    configured(path, "smoke")
    (path / "config" / HUB_LOCK).unlink(missing_ok=True)
    return path / "config" / "studies" / "smoke.yaml"


class Checkout:
    """Studies of this project in a folder that is the present one; `smoke` reads files of a hub."""

    def __init__(self, path: Path) -> None:
        self.path, self.study, self.lock = path, checkout(path), path / "config" / HUB_LOCK

    def corpus(self, files: Mapping[str, str | None]) -> Folder:
        """The corpus's folder in the plan, where its study says this of the hub's files."""
        told = yaml.safe_load(self.study.read_text())
        told["corpora"]["tales"]["raw"] = {"hub": "owner/name", "revision": REVISION, "files": dict(files)}
        self.study.write_text(yaml.safe_dump(told, sort_keys=False))
        (found,) = (one for one in Plan.read(Path("config"), "smoke").named("corpora", "corpus") if one.stem == "tales")
        return found


@pytest.fixture
def smoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.chdir(tmp_path)
    return Checkout(tmp_path)


UNKNOWN: dict[str, str | None] = dict.fromkeys(SHARDS)
PINNED: dict[str, str | None] = {name: hashlib.sha256(data).hexdigest() for name, data in SHARDS.items()}


def test_the_step_fetches_what_the_study_reads(smoke, corpora) -> None:
    place = smoke.corpus(PINNED).files[0].at(smoke.path)
    command.fetch(place)
    assert {name: (place / name).read_bytes() for name in SHARDS} == SHARDS
    asked = len(corpora.asked)
    command.fetch(place)  # it is there and verified
    shutil.rmtree(place)
    assert smoke.corpus(PINNED | {"data/train-0.jsonl": "1" * 64}).files[0].at(smoke.path) == place
    with pytest.raises(CorpusError, match=r"train-0\.jsonl of owner/name.*hub states sha256 \w{64}, but .* says 1111"):
        command.fetch(place)
    assert (place.exists(), smoke.lock.exists(), len(corpora.asked)) == (False, False, asked)
    with pytest.raises(PlanError, match=r"no study in .* names hub-00000000"):
        command.fetch(place.with_name("hub-00000000"))


@pytest.mark.long
@pytest.mark.parametrize("by", ["pin", "fetch"])
def test_what_the_hub_states_is_as_if_the_study_had_said_it(smoke, corpora, by) -> None:
    said = smoke.corpus(PINNED)
    unknown = smoke.corpus(UNKNOWN)
    assert unknown.name != said.name
    place = unknown.files[0].at(smoke.path)
    if by == "pin":
        command.pin("smoke")
        assert corpora.asked == []  # no file has come
    else:
        command.fetch(place)
        assert {name: (place / name).read_bytes() for name in SHARDS} == SHARDS
    assert smoke.corpus(UNKNOWN) == said
    assert yaml.safe_load(smoke.lock.read_text()) == {"owner/name": {REVISION: PINNED}}
    before = smoke.lock.read_bytes()
    command.pin("smoke")
    command.fetch(place)
    assert smoke.lock.read_bytes() == before
    shutil.rmtree(place, ignore_errors=True)
    corpora.asked.clear()
    corpora.files |= {"data/train-1.jsonl": b"{}"}
    with pytest.raises(CorpusError, match=r"data/train-1\.jsonl of owner/name.*hub states.*hub\.lock\.yaml says"):
        command.fetch(place)
    assert (corpora.asked, place.exists(), smoke.lock.read_bytes()) == ([], False, before)


def test_a_lock_keeps_what_it_says_of_other_commits_and_what_a_study_says_stands_over_it(smoke, corpora) -> None:
    others = {"owner/name": {"34" * 20: {"a": "5" * 64}}, "x/y": {REVISION: {"b": "6" * 64}}}
    smoke.lock.write_text(yaml.safe_dump(others))
    mixed = smoke.corpus(UNKNOWN | {"data/train-0.jsonl": PINNED["data/train-0.jsonl"]})
    command.pin("smoke")
    others["owner/name"][REVISION] = {"data/train-1.jsonl": str(PINNED["data/train-1.jsonl"])}
    assert yaml.safe_load(smoke.lock.read_text()) == others
    assert smoke.corpus(PINNED).name != mixed.name
    smoke.lock.write_text(yaml.safe_dump({"owner/name": {REVISION: dict.fromkeys(SHARDS, "7" * 64)}}))
    assert smoke.corpus(PINNED).specification["raw"] not in smoke.corpus(UNKNOWN).specification["raw"]
    smoke.lock.write_text(f"owner/name:\n  '{REVISION}':\n    data/train-0.jsonl: none\n")
    with pytest.raises(PlanError, match=rf"{HUB_LOCK}:3: .*data/train-0\.jsonl.*pattern"):
        smoke.corpus(UNKNOWN)


def test_what_the_hub_keeps_without_a_sha256_stays_unknown_and_is_said(smoke, corpora, capsys) -> None:
    corpora.small = {"data/train-0.jsonl"}
    unknown = smoke.corpus(UNKNOWN)
    command.fetch(unknown.files[0].at(smoke.path))
    lines = "".join(f"{PINNED[name]}  {name}\n" for name in sorted(SHARDS))
    assert f"write `sha256: {hashlib.sha256(lines.encode()).hexdigest()}`" in capsys.readouterr().err
    assert smoke.corpus(UNKNOWN).name == unknown.name


@pytest.fixture
def project(tmp_path: Path, models: Hub, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration with a method of the hub, and a hub; returns the folder its model belongs into."""
    study = checkout(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for name, content in FILES.items():
        (tmp_path / "models" / name).write_bytes(content)
    sha256 = sha256_of_model(tmp_path / "models")
    model = {"kind": "transformers", "hub": "owner/name", "revision": REVISION, "sha256": sha256}
    method = {"title": "M", "paper": "P.", "model": model, "phases": {"nll": {"loss": "nll"}}, "forms": {"smoke": {}}}
    (tmp_path / "config" / "methods" / "mine.yaml").write_text(yaml.safe_dump(method))
    study.write_text(study.read_text().replace("methods: [", "methods: [mine, "))
    return tmp_path / "data" / "raw" / f"model-{sha256[:12]}"


def test_the_step_makes_the_folder_that_the_study_reads_and_keeps_another_content_apart(project, models) -> None:
    command.fetch(project)
    assert sorted(path.name for path in project.iterdir()) == sorted(FILES)
    command.fetch(project)  # and then does nothing
    with pytest.raises(PlanError, match=r"no study in .* names model-000000000000"):
        command.fetch(project.with_name("model-000000000000"))
    shutil.rmtree(project)
    models.files["config.json"] = b"{1}"
    with pytest.raises(
        CorpusError, match=r"has sha256 (\w{64}), but study smoke pins \w+: .*`sha256: \1` in config/methods/mine\.yaml"
    ):
        command.fetch(project)
    assert not project.exists()
    assert project.with_name(project.name + ".fetched").is_dir()


def test_what_a_method_says_of_a_model_is_printed(project, capsys) -> None:
    command.show_model("models", None)
    told = capsys.readouterr().out
    assert f"  sha256: {sha256_of_model(Path('models'))}" in told
    assert "  path: models" in told
    command.show_model("owner/name", REVISION.upper())
    assert yaml.safe_load(capsys.readouterr().out)["model"]["revision"] == REVISION  # a text, though it has no letter
    assert project.is_dir()
    with pytest.raises(PlanError, match=r"'\.\./x' is no name of the hub"):
        command.show_model("../x", REVISION)
    with pytest.raises(PlanError, match="40 hex digits"):
        command.show_model("owner/name", "main")
