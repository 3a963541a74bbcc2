"""Ids of trees are those that git itself gives."""

import subprocess
from pathlib import Path

import pytest

from installed import needs
from sumcurve.store.errors import CorpusError
from sumcurve.store.trees import tree_id, tree_ids

pytestmark = needs("git")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def write(folder: Path) -> Path:
    """Names whose order is not that of git, bytes that are no text, a program, and a folder without a file."""
    files = {
        "b.txt": b"one\r\ntwo",
        "b/a": b"",
        "b-c": b"\x00\xff",
        "B/\u00e9/deep": b"x" * 70_000,
        "b0": b"one\r\ntwo",
    }
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "b-c").chmod(0o755)
    (folder / "empty/below").mkdir(parents=True)
    return folder


def test_ids_are_those_of_git(tmp_path) -> None:
    folder = write(tmp_path / "folder")
    ids = {path.relative_to(folder).as_posix(): digest for path, digest in tree_ids(folder).items()}
    git(folder, "init", "--quiet", "--bare", "../repository")
    at = ["--git-dir=../repository", "--work-tree=.", "-c", "core.quotePath=false"]
    git(folder, *at, "add", "--all")
    top = git(folder, *at, "write-tree")
    assert ids.pop(".") == top == tree_id(folder)
    trees = git(folder, *at, "ls-tree", "-rtd", top).splitlines()
    assert ids == {line.split("\t")[1]: line.split()[2] for line in trees}


def test_snakemakes_stamp_in_the_folder_is_no_part_of_it(tmp_path) -> None:
    folder = write(tmp_path)
    before = tree_id(folder)
    (folder / ".snakemake_timestamp").touch()
    assert tree_id(folder) == before
    (folder / "b/.snakemake_timestamp").touch()  # nobody's stamp there
    assert tree_id(folder) != before


def test_a_folder_without_a_file_is_gits_empty_tree(tmp_path) -> None:
    (tmp_path / "below").mkdir()
    assert tree_ids(tmp_path) == {tmp_path: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}


def test_a_changed_byte_a_mode_and_a_name_are_other_trees_and_a_link_is_refused(tmp_path) -> None:
    ids = []
    for number in range(4):
        folder = write(tmp_path / str(number))
        if number == 1:
            (folder / "b.txt").write_bytes(b"one\ntwo")
        elif number == 2:
            (folder / "b-c").chmod(0o644)
        elif number == 3:
            (folder / "b0").rename(folder / "b1")
        ids.append(tree_id(folder))
    assert len(set(ids)) == 4
    (tmp_path / "0/link").symlink_to("b.txt")
    with pytest.raises(CorpusError, match=r"0/link is a link or a device, which no corpus needs: put the file itself"):
        tree_id(tmp_path / "0")
