"""Models of the hub: what is fetched, and that it is what was pinned. The hub is a folder here."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from sumcurve import __main__ as command
from sumcurve.corpora.errors import CorpusError
from sumcurve.fetch import fetch, sha256_of_model
from sumcurve.plan import PlanError

REVISION = "12" * 20
FILES = {"model.safetensors": "weights", "config.json": "{}", "tokenizer.json": "[]", "merges.txt": "a b"}


def hub(files: dict[str, str], asked: list[dict[str, Any]]) -> Any:
    """A stand-in for `snapshot_download`."""

    def download(name: str, **told: Any) -> None:
        asked.append({"name": name, **told})
        for file, content in files.items():
            if any(Path(file).match(pattern) for pattern in told["allow_patterns"]):
                (told["local_dir"] / file).write_text(content)
        (told["local_dir"] / ".cache").mkdir()
        (told["local_dir"] / ".cache" / "x.json").write_text("{}")

    return download


def test_a_fetched_model_is_known_by_its_files(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    files = {**FILES, "pytorch_model.bin": "pickle", "modeling.py": "code", "README.md": "text"}
    found = fetch("owner/name", REVISION, tmp_path / "model-x", hub(files, asked))
    lines = "".join(f"{hashlib.sha256(FILES[name].encode()).hexdigest()}  {name}\n" for name in sorted(FILES))
    assert found == hashlib.sha256(lines.encode()).hexdigest() == sha256_of_model(tmp_path / "model-x")
    assert sorted(path.name for path in (tmp_path / "model-x").iterdir()) == sorted(FILES)
    assert asked[0]["revision"] == REVISION
    assert [path.name for path in tmp_path.iterdir()] == ["model-x"]


def test_a_model_without_safetensors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"^owner/name at 1212.* holds no \*\.safetensors.*pickles"):
        fetch("owner/name", REVISION, tmp_path / "model-x", hub({"config.json": "{}"}, []))
    assert not list(tmp_path.iterdir())


def test_a_name_of_the_hub_without_a_commit_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"owner/name is no folder.*--revision"):
        sha256_of_model(tmp_path / "owner/name")


def test_a_hub_out_of_reach_is_named(tmp_path: Path) -> None:
    def download(name: str, **told: Any) -> None:
        raise ConnectionError("no route")

    with pytest.raises(CorpusError, match=r"owner/name at 1212.*no route.*network"):
        fetch("owner/name", REVISION, tmp_path / "model-x", download)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration with a method of the hub, and a hub; returns the folder its model belongs into."""
    import yaml

    root = Path(__file__).parents[2]
    shutil.copytree(root / "config", tmp_path / "config")
    shutil.copy(root / "recipes.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub(FILES, []))
    for name, content in FILES.items():
        (tmp_path / "models").mkdir(exist_ok=True)
        (tmp_path / "models" / name).write_text(content)
    sha256 = sha256_of_model(tmp_path / "models")
    model = {"kind": "transformers", "hub": "owner/name", "revision": REVISION, "sha256": sha256}
    method = {
        "title": "M",
        "paper": "P.",
        "model": model,
        "phases": {"nll": {"loss": "nll"}},
        "forms": {"smoke": {}},
    }
    (tmp_path / "config" / "methods" / "mine.yaml").write_text(yaml.safe_dump(method))
    study = tmp_path / "config" / "studies" / "smoke.yaml"
    study.write_text(study.read_text().replace("methods: [", "methods: [mine, "))
    return tmp_path / "data" / "raw" / f"model-{sha256[:12]}"


def test_the_step_makes_the_folder_that_the_study_reads(project: Path) -> None:
    command.fetch_model(project)
    assert sorted(path.name for path in project.iterdir()) == sorted(FILES)
    command.fetch_model(project)  # and then does nothing
    with pytest.raises(PlanError, match="names a model of the hub"):
        command.fetch_model(project.with_name("model-000000000000"))


def test_another_content_than_the_pinned_is_kept_apart(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub({**FILES, "config.json": "{1}"}, []))
    with pytest.raises(CorpusError, match=r"has sha256 \w{64}, but config/methods/mine\.yaml pins"):
        command.fetch_model(project)
    assert not project.exists()
    assert project.with_name(project.name + ".fetched").is_dir()


def test_what_a_method_says_of_a_model_is_printed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.show_model("models", None)
    told = capsys.readouterr().out
    assert f"  sha256: {sha256_of_model(Path('models'))}" in told
    assert "  path: models" in told
    command.show_model("owner/name", REVISION)
    assert f"  revision: {REVISION}" in capsys.readouterr().out
    assert project.is_dir()
    with pytest.raises(PlanError, match="40 hex digits"):
        command.show_model("owner/name", "main")
