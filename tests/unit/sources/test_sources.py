"""How a study names its sources. That a new one is a file and a line: tests/workflow/test_doors.py."""

import hashlib
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from sumcurve.cli.raw import fetch
from sumcurve.sources.pinned import File
from sumcurve.store.trees import tree_id
from sumcurve.study.plan import Folder, Plan, PlanError
from workplace import configured

ROOT = Path(__file__).parents[3]
SHA256 = "0" * 64
OF_GIT = {"git": "https://example.org/a", "commit": "12" * 20, "tree": "34" * 20, "format": "jsonl"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workplace with the methods of this one and the study that is changed."""
    return configured(tmp_path, "smoke")


def corpus(home: Path, raw: dict[str, Any], split: dict[str, Any] | None = None) -> Folder:
    """That of the smoke study with this content."""
    told = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())
    split = split or {"valid": 12, "test": 20}
    told["corpora"] = {"tales": told["corpora"]["tales"] | {"raw": raw, "split": split, "methods": None}}
    (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(told | {"methods": ["pcov"]}))
    (folder,) = Plan.read(home / "config", "mine").named("corpora", "corpus")
    return folder


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_decides_how_content_is_read_decides_the_name(home) -> None:
    def name(split: dict[str, Any] | None = None, **raw: Any) -> str:
        return corpus(home, {"sha256": SHA256, "path": "a.jsonl", **raw}, split).name

    assert name(format="jsonl", path="elsewhere") == name()
    assert name(path="a.parquet") == name(path="a", format="parquet")
    fields = {"source": "article"}
    assert name(fields=fields) == name(fields={**fields, "id": "id"})
    assert name(min={}) == name()
    assert name(gather=None, only=None, fields={**fields, "target_list": "sentences"}) == name(fields=fields)
    files = {part: f"{part}*.jsonl" for part in ("train", "valid", "test")}
    different = [
        name(),
        name(fields=fields),
        *(name(**raw) for raw in ({"sha256": "1" * 64}, {"path": "a.parquet"}, {"fields": {"id": None}})),
        *(name(min={"grade": grade}) for grade in (3, 4)),
        *(name(gather=by) for by in ("source", "id")),
        *(name(path="a", format="parallel", only=[of]) for of in ("a.*", "b.*")),
        name(fields={**fields, "target_list": "alternatives"}),
        *(name(fields={**fields, "references": of}) for of in ("more", ["more"])),
        name(fields={"chat": "messages"}),
        *(name(split={"ready": of}) for of in ("records", files, files | {"test": "public.jsonl"})),
        name(split={"ready": "records", "test": 20}),
    ]
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    ("raw", "split", "message"),
    [
        ({"path": "data/mine"}, {}, r"raw: .*'data/mine' says no format; add `format:`, one of jsonl, csv, parquet"),
        ({"path": "a.jsonl", "format": "xml"}, {}, r"no format 'xml'; there are jsonl, csv, parquet"),
        ({"harvest": {"packages": {}}, "format": "jsonl"}, {}, "`format`, `fields`, `files` and `min` are for"),
        ({"apt": {"codename": "bookworm"}, "min": {"size": 3}}, {}, r"`files` and `min` are for a `path`"),
        ({"path": "a.jsonl", "hub": "a/b"}, {}, "give one of `harvest`, `apt`, `path`, `hub`, `git`"),
        (
            {"path": "a.jsonl", "apt": {"codename": "bookworm"}},
            {},
            "give one of `harvest`, `apt`, `path`, `hub`, `git`",
        ),
        ({"apt": {"codename": "../x"}}, {}, r"raw\.apt\.codename: String should match"),
        ({"sha256": None, "apt": {"codename": "bookworm"}}, {}, "give the `sha256` of what is made on this machine"),
        ({"hub": "a/b", "files": {"a.jsonl": None}}, {}, "`hub` needs a `revision` and `files`"),
        ({"hub": "a/b", "revision": "main", "files": {"a.jsonl": None}}, {}, r"raw\.revision: String should match"),
        (
            {"hub": "../x", "revision": "0" * 40, "files": {"a.jsonl": None}},
            {},
            r"raw\.hub: '\.\./x' is no name of the hub",
        ),
        ({"path": "a.jsonl", "revision": "0" * 40}, {}, "`revision` is for a `hub`"),
        ({"path": "a", "files": {"../a.jsonl": None}}, {}, r"'\.\./a\.jsonl' names no file below"),
        ({"path": "a", "files": {"a.jsonl": "1" * 64}}, {}, "the sha256 of `files` give [0-9a-f]{64}, not what"),
        ({"path": "a", "files": {"a.jsonl": None, "b.parquet": None}}, {}, "'a' says no format"),
        ({"sha256": None, "harvest": {"packages": {}}}, {}, "give the `sha256` of what is made on this machine"),
        ({"path": "a.jsonl", "fields": {"titel": "t"}}, {}, r"raw\.fields\.titel: unknown key"),
        ({"sha256": None, **OF_GIT, "path": "a"}, {}, "give one of `harvest`, `apt`, `path`, `hub`, `git`"),
        ({"sha256": None, **OF_GIT, "tree": None}, {}, "`git` needs a `commit` and `tree`"),
        ({"sha256": None, **OF_GIT, "commit": "main"}, {}, r"raw\.commit: String should match"),
        ({"sha256": None, **OF_GIT, "git": "ext::sh"}, {}, r"raw\.git: String should match"),
        ({"sha256": None, **OF_GIT, "below": "../a"}, {}, r"below '\.\./a' names no folder in the repository"),
        ({"sha256": None, **OF_GIT, "format": None}, {}, "what `git` holds says no format"),
        (OF_GIT, {}, "`git` takes no `files` and no `sha256`"),
        ({"path": "a.jsonl", "tree": "0" * 40}, {}, "`tree` is for a `git`"),
        ({"path": "a.jsonl"}, {"valid": 3}, r"give the sizes `valid` and `test`, or say by `ready`"),
        ({"path": "a.jsonl"}, {"ready": {"train": "a", "valid": "b"}}, "`drawn` names the part that `ready` lacks"),
        ({"path": "a"}, {"ready": {"train": "../a", "valid": "b", "test": "c"}}, r"'\.\./a' names no file"),
    ],
)
def test_a_source_that_cannot_be_is_an_error_with_its_line(home, raw, split, message) -> None:
    with pytest.raises(PlanError, match=rf"mine\.yaml:\d+: .*{message}"):
        corpus(home, {"sha256": SHA256, **raw}, split)


def test_of_a_repository_its_tree_decides_the_name_and_where_it_lies(home) -> None:
    folder = corpus(home, {"sha256": None, **OF_GIT})
    (file,) = folder.files
    assert folder.specification["raw"] == file.sha256 == OF_GIT["tree"]
    assert (file.path, file.harvested, file.tree) == ("data/raw/git-343434343434", True, True)
    elsewhere = {"git": "https://example.org/b", "commit": "56" * 20, "below": "a/b"}
    assert corpus(home, {"sha256": None, **OF_GIT, **elsewhere}).name == folder.name
    assert corpus(home, {"sha256": None, **OF_GIT, "tree": "56" * 20}).name != folder.name


def test_a_tree_that_is_not_the_pinned_one_says_which_it_is(home) -> None:
    (file,) = corpus(home, {"sha256": None, **OF_GIT}).files
    assert file.observed(home) is None
    assert "git-343434343434 is missing" in file.problem(home, "mine")
    file.at(home).mkdir(parents=True)
    (file.at(home) / "a.jsonl").write_text("a")
    assert file.observed(home) == tree_id(file.at(home))
    assert f"is git's tree {file.observed(home)}, but study mine pins {OF_GIT['tree']}" in file.problem(home, "mine")


def test_what_somebody_carried_is_taken_and_no_network_is_asked(home, monkeypatch, capsys) -> None:
    (home / "mine").mkdir()
    (home / "mine/a.jsonl").write_text("a")
    raw = OF_GIT | {"tree": tree_id(home / "mine")}
    (file,) = corpus(home, {"sha256": None, **raw}).files
    (home / "data/raw").mkdir(parents=True)
    with tarfile.open(home / "data/raw" / f"mine-{raw['tree'][:12]}.tar.gz", "w:gz") as archive:
        archive.add(home / "mine", "mine")
    monkeypatch.chdir(home)
    monkeypatch.setenv("PATH", "")  # no git
    fetch(file.at(home))
    assert file.observed(home) == file.sha256
    fetch(file.at(home))
    assert "is there and verified: nothing to do" in capsys.readouterr().err
    with pytest.raises(PlanError, match="no study in config/studies names git-1"):
        fetch(Path("data/raw/git-1"))


HUB = {"hub": "owner/name", "revision": "12" * 20}


def test_the_sha256_of_files_are_that_of_their_folder(home) -> None:
    (home / "raw" / "b").mkdir(parents=True)
    for name in ("b/1.jsonl", "a.jsonl"):
        (home / "raw" / name).write_text(name)
    files = {name: sha256(home / "raw" / name) for name in ("b/1.jsonl", "a.jsonl")}
    folder = corpus(home, {"path": "raw", "files": files})
    (file,) = folder.files
    assert folder.specification["raw"] == file.sha256 == File("", str(home / "raw"), shards=file.shards).observed(home)
    of_hub = corpus(home, {**HUB, "files": files})
    assert of_hub.name == folder.name  # wherever it comes from
    assert of_hub.files[0].harvested
    other = corpus(home, {**HUB, "revision": "34" * 20, "files": files})
    assert (other.name, other.files[0].path == of_hub.files[0].path) == (of_hub.name, False)


def test_what_differs_from_the_files_of_a_study_is_named(home) -> None:
    (home / "raw").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (home / "raw" / name).write_text(name)
    files = {"a.jsonl": sha256(home / "raw" / "a.jsonl"), "b.jsonl": "1" * 64, "c.jsonl": "2" * 64}
    (file,) = corpus(home, {"path": str(home / "raw"), "files": files}).files
    problem = file.problem(home, "mine")
    assert "b.jsonl has sha256 " in problem
    assert "c.jsonl is missing" in problem
    assert "a.jsonl" not in problem
    (home / "raw" / "d.jsonl").write_text("d")
    assert "d.jsonl is not of it" in file.problem(home, "mine")
