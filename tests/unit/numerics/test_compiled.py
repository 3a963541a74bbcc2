import os
import shutil
import subprocess
import sys
from pathlib import Path

import sumcurve
from sumcurve.numerics import compiled

PACKAGE = Path(sumcurve.__file__).parent
CALL = """
import sumcurve.numerics.compiled as compiled
from sumcurve.capabilities.extracts.article import find
import numpy as np
print(find(np.array([3, 5, 9]), 9), compiled.cache_folder())
"""


def run(root: Path, home: Path) -> tuple[list[str], str]:
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={"PYTHONPATH": str(root), "PATH": "", "HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split(), done.stderr


def clone(place: Path) -> Path:
    shutil.copytree(PACKAGE, place / "sumcurve", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def test_compiled_code_is_kept_by_the_content_of_all_files_with_kernels(tmp_path: Path) -> None:
    one = clone(tmp_path / "one")
    (found, folder), said = run(one, tmp_path)
    assert found == "2"
    assert "compiling" in said
    assert list(Path(folder).rglob("*.nbi")), "nothing was kept for the next process"
    other = one / "sumcurve" / "capabilities" / "extracts" / "evaluate.py"
    other.write_text(other.read_text() + "\n# a change in a file that `find` is not in\n")
    (_, another), said = run(one, tmp_path)
    assert another != folder
    assert "compiling" in said


def test_clones_of_the_same_code_share_what_is_compiled(tmp_path: Path) -> None:
    (one, _), (two, said) = (run(clone(tmp_path / name), tmp_path) for name in ("one", "two"))
    assert one == two
    assert "compiling" not in said


def test_code_is_kept_with_the_user_or_beside_the_package_where_either_can_be_written(tmp_path, monkeypatch) -> None:
    refused: list[Path] = []

    def access(path: Path, mode: int) -> bool:
        return not any(Path(path).is_relative_to(folder) for folder in refused)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    in_home = compiled.cache_folder()
    assert in_home.parent == tmp_path / "home" / ".cache" / "sumcurve"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert compiled.cache_folder() == tmp_path / "cache" / "sumcurve" / in_home.name
    refused.append(tmp_path)
    assert compiled.cache_folder() == PACKAGE / "__pycache__" / in_home.name
    refused.append(PACKAGE)
    own = compiled.cache_folder()
    assert own.name == in_home.name
    assert own.parent.is_dir()
    assert compiled.cache_folder() != own, "a folder that others can foresee"
