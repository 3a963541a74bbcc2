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


def run(root: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_compiled_code_is_kept_by_the_content_of_all_files_with_kernels(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "sumcurve", ignore=shutil.ignore_patterns("__pycache__"))
    found, folder = run(tmp_path)
    assert found == "2"
    assert list(Path(folder).rglob("*.nbi")), "nothing was kept for the next process"
    other = tmp_path / "sumcurve" / "capabilities" / "extracts" / "evaluate.py"
    other.write_text(other.read_text() + "\n# a change in a file that `find` is not in\n")
    assert run(tmp_path)[1] != folder


def test_a_package_that_cannot_be_written_keeps_its_code_with_the_user(tmp_path: Path, monkeypatch) -> None:
    refused = [PACKAGE]

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
    own = compiled.cache_folder()
    assert own.name == in_home.name
    assert own.parent.is_dir()
    assert compiled.cache_folder() != own, "a folder that others can foresee"
