"""A folder of a repository is fetched of one on this machine, or taken of an archive that somebody carried."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from installed import needs
from sumcurve.fetch import repository
from sumcurve.fetch.repository import carried, fetch, unpack
from sumcurve.store.errors import CorpusError
from sumcurve.store.trees import tree_id

pytestmark = needs("git")

FILES = {"texts/train.jsonl": b"{}\r\n", "texts/more/test.jsonl": b"{}\n", "texts/.gitattributes": b"* text eol=lf\n"}


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def published(tmp_path: Path) -> tuple[Path, str, str]:
    """A repository, an older commit of it, and the tree of its folder `texts`."""
    folder = tmp_path / "published"
    for name, data in {**FILES, "README": b"large"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    git(tmp_path, "init", "--quiet", "published")
    (folder / ".git/info/attributes").write_text("* -text\n")
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    commit = git(folder, "rev-parse", "HEAD")
    (folder / "texts/train.jsonl").write_bytes(b"later")
    git(folder, "commit", "--quiet", "-am", "second")
    return folder, commit, git(folder, "rev-parse", f"{commit}:texts")


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def archive_of(path: Path, members: dict[str, bytes], kind: str = "w:xz", **header: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, kind) as opened:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in header.items():
                setattr(info, key, value)
            opened.addfile(info, io.BytesIO(data))
    return path


def test_a_folder_at_a_commit_comes_byte_for_byte_and_nothing_else_stays(tmp_path, published) -> None:
    folder, commit, tree = published
    destination = tmp_path / "raw" / f"git-{tree[:12]}"
    fetch(f"file://{folder}", commit, "texts", tree, destination)
    assert files_of(destination) == {name.removeprefix("texts/"): data for name, data in FILES.items()}
    assert tree_id(destination) == tree
    assert [path.name for path in destination.parent.iterdir()] == [destination.name]


def test_another_tree_a_folder_that_is_not_there_and_no_repository_are_named(tmp_path, published) -> None:
    folder, commit, tree = published
    head = git(folder, "rev-parse", "HEAD")
    other, destination = git(folder, "rev-parse", "HEAD:texts"), tmp_path / "raw" / f"git-{tree[:12]}"
    with pytest.raises(CorpusError, match=rf"texts is {other}, but the study pins the tree {tree}: correct"):
        fetch(f"file://{folder}", head, "texts", tree, destination)
    with pytest.raises(CorpusError, match=r"cannot be fetched .*whether commit and folder are the repository's"):
        fetch(f"file://{folder}", commit, "text", tree, destination)
    with pytest.raises(CorpusError, match=rf"(?s)cannot be fetched .*as NAME-{tree[:12]}.tar.xz"):
        fetch(f"file://{tmp_path}/nowhere", commit, "texts", tree, destination)
    assert list(destination.parent.iterdir()) == []


def test_a_repository_with_a_link_is_refused(tmp_path, published) -> None:
    folder = published[0]
    (folder / "texts/link").symlink_to("train.jsonl")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "third")
    commit, tree = git(folder, "rev-parse", "HEAD"), git(folder, "rev-parse", "HEAD:texts")
    with pytest.raises(CorpusError, match=r"link is a link or a device"):
        fetch(f"file://{folder}", commit, "texts", tree, tmp_path / "raw/git-x")


def test_a_machine_without_git_is_told_what_to_bring(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CorpusError, match=r"no git on this machine.*as NAME-1234.tar.xz"):
        fetch("https://example.org/a", "0" * 40, "", "1" * 40, tmp_path / "raw/git-1234")


@pytest.mark.parametrize(("ending", "kind"), [(".tar.xz", "w:xz"), (".tar.gz", "w:gz"), (".tar", "w")])
@pytest.mark.parametrize("prefix", ["", "./", "corpus-1/"])
def test_an_archive_holds_the_tree_at_its_top_or_in_a_folder(tmp_path, published, ending, kind, prefix) -> None:
    tree = published[2]
    members = {prefix + name.removeprefix("texts/"): data for name, data in FILES.items()}
    if prefix == "corpus-1/":
        members["LICENCE"] = b"free"
    archive = archive_of(tmp_path / "raw" / f"texts-{tree[:12]}{ending}", members, kind)
    assert carried([tmp_path, archive.parent], tree) == archive
    destination = archive.parent / f"git-{tree[:12]}"
    unpack(archive, tree, destination)
    assert tree_id(destination) == tree
    assert sorted(path.name for path in archive.parent.iterdir()) == sorted([archive.name, destination.name])


def test_only_an_archive_with_the_trees_digits_in_its_name_is_taken(tmp_path) -> None:
    for name in ("texts.tar.xz", f"{'1' * 12}.zip", f"{'2' * 12}.tar"):
        (tmp_path / name).touch()
    (tmp_path / f"{'1' * 12}.tar").mkdir()
    assert carried([tmp_path], "1" * 40) is None


def test_a_damaged_or_other_archive_is_named_and_leaves_nothing(tmp_path, published) -> None:
    tree = published[2]
    good = {name.removeprefix("texts/"): data for name, data in FILES.items()}
    raw = tmp_path / "raw"
    changed = archive_of(raw / "changed.tar.xz", {**good, "train.jsonl": b"{}\n"})
    cut = archive_of(raw / "cut.tar.xz", good)
    cut.write_bytes(cut.read_bytes()[:-40])
    bent = archive_of(raw / "bent.tar.gz", good, "w:gz")
    bent.write_bytes(bent.read_bytes()[:-8] + b"12345678")
    for archive, message in [
        (changed, rf"changed.tar.xz holds its top \([0-9a-f]{{40}}\).*no folder that is git's tree {tree}"),
        (cut, "is truncated or damaged"),
        (bent, "is truncated or damaged"),
    ]:
        with pytest.raises(CorpusError, match=message):
            unpack(archive, tree, raw / "git-x")
    assert sorted(path.name for path in raw.iterdir()) == ["bent.tar.gz", "changed.tar.xz", "cut.tar.xz"]


@pytest.mark.parametrize(
    ("members", "header", "message"),
    [
        ({"../outside": b"x"}, {}, r"'\.\./outside' would be unpacked outside of its folder"),
        ({"a/../../outside": b"x"}, {}, "would be unpacked outside of its folder"),
        ({"/outside": b"x"}, {}, "would be unpacked outside of its folder"),
        ({"link": b""}, {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, "link is a link or a device"),
        ({"link": b""}, {"type": tarfile.LNKTYPE, "linkname": "train.jsonl"}, "link is a link or a device"),
        ({"a": b"x", "a/b": b"y"}, {}, "a/b lies in a file or is there twice"),
        ({"zeros": bytes(3_000_000)}, {}, "unpacks to .* bytes at least"),
    ],
)
def test_members_that_no_release_has_are_refused(tmp_path, monkeypatch, members, header, message) -> None:
    monkeypatch.setattr("sumcurve.store.members.SLACK", 1_000_000)
    archive = archive_of(tmp_path / "raw" / "texts.tar.xz", members, **header)
    with pytest.raises(CorpusError, match=message):
        unpack(archive, "1" * 40, archive.parent / "git-x")
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_who_calls_from_a_hook_of_git_fetches_into_no_repository_of_his(tmp_path, published, monkeypatch) -> None:
    folder, commit, tree = published
    for name in repository.OTHERS:
        monkeypatch.setenv(name, str(tmp_path / "mine"))
    fetch(f"file://{folder}", commit, "texts", tree, tmp_path / "raw/git-x")
    assert not (tmp_path / "mine").exists()
