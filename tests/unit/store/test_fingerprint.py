"""A fingerprint changes with what code does, and with nothing else."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sumcurve.store import fingerprint
from sumcurve.study.kinds import KINDS, RECIPES
from sumcurve.study.recipes import read_recipes

ROOT = Path(__file__).parents[3]

CODE = '''
"""A module."""
from math import sqrt


def norm(x: float, y: float = 1.0) -> float:
    """The length of (x, y)."""
    return f"{sqrt(x * x + y * y):.2f} {x!r}"  # rounded
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# rounded", "# cut, not rounded"),
        ('"""The length of (x, y)."""', '"""Its length."""'),
        ('"""The length of (x, y)."""\n', "\n"),
        ("x * x + y * y", "(x * x) + (y * y)"),
        ("\n\n\ndef", "\ndef"),
    ],
)
def test_comments_docstrings_and_layout_change_nothing(old, new):
    assert old in CODE
    assert fingerprint.fingerprint_source(CODE.replace(old, new)) == fingerprint.fingerprint_source(CODE)


@pytest.mark.parametrize(
    ("old", "new"), [("1.0", "2.0"), ("* y", "- y"), ("sqrt", "exp"), (".2f", ".3f"), ("x:", "z:")]
)
def test_what_code_does_changes_it(old, new):
    assert old in CODE
    assert fingerprint.fingerprint_source(CODE.replace(old, new)) != fingerprint.fingerprint_source(CODE)


def test_a_module_that_moves_or_imports_from_elsewhere_is_the_same_code(package):
    folder, anew = package
    before = anew()
    (folder / "moved").mkdir()
    (folder / "moved" / "__init__.py").write_text("")
    (folder / "moved" / "other.py").write_text((folder / "other.py").read_text())
    (folder / "norm.py").write_text((folder / "norm.py").read_text().replace("sumcurve.other", "sumcurve.moved.other"))
    assert anew() == before
    (folder / "norm.py").write_text((folder / "norm.py").read_text().replace("from math", "from cmath"))
    assert anew() != before


def test_modules_are_found_through_imports_of_imports():
    assert "sumcurve.models.emission" in fingerprint.modules("sumcurve.training.run")
    assert "sumcurve.store.records" in fingerprint.modules("sumcurve.corpora.prepare")
    assert "sumcurve.settings" not in fingerprint.modules("sumcurve.training.run")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Code of two modules, and a function that prints it as a new process would."""
    monkeypatch.setattr(fingerprint, "SOURCE", tmp_path)
    monkeypatch.setattr(fingerprint.sys, "dont_write_bytecode", False)
    (tmp_path / "norm.py").write_text(f"from sumcurve.other import y\n{CODE}")
    (tmp_path / "other.py").write_text("y = 1\n")
    caches = (fingerprint.fingerprint, fingerprint._parsed, fingerprint._kept)

    def anew():
        for cached in caches:
            cached.cache_clear()
        return fingerprint.fingerprint("sumcurve.norm")

    yield tmp_path, anew
    for cached in caches:
        cached.cache_clear()


def test_what_is_kept_is_what_parsing_gives(package, monkeypatch):
    folder, anew = package
    first = anew()
    with monkeypatch.context() as without:
        without.setattr(fingerprint.ast, "parse", lambda text: pytest.fail("a file was parsed again"))
        assert anew() == first
    (kept,) = (folder / "__pycache__").iterdir()
    for damaged in (b"", b"[1", b"\xff"):
        kept.write_bytes(damaged)
        assert anew() == first


def test_what_is_kept_never_stands_for_other_content(package):
    """Sizes and times of files say nothing."""
    folder, anew = package
    seen = {anew()}
    for text in ("y = 2\n", "y = 3\n"):
        time = (folder / "other.py").stat()
        (folder / "other.py").write_text(text)
        os.utime(folder / "other.py", ns=(time.st_atime_ns, time.st_mtime_ns))
        seen.add(anew())
    assert len(seen) == 3
    (folder / "other.py").write_text("y = 1\n")
    assert anew() in seen


def test_where_nothing_can_be_kept_it_is_parsed_again(package):
    folder, anew = package
    (folder / "__pycache__").write_text("a file, where a folder is to be")
    assert anew() == anew()


def test_kinds_do_not_depend_on_each_other_by_accident():
    """A changed table must not retrain, a changed scorer must not decode again, a new kind changes no other."""
    nobodys = {kind: ["tables", "study"] for kind in KINDS} | {"tables": ["study.kinds", "study.folders"]}
    apart = {
        "corpus": ["rouge", "models"],
        "fraction": ["rouge", "models"],
        "train": ["curves"],
        "decode": ["curves"],  # a family of models is one class, which learns and decodes
        "baseline": ["models", "training", "curves"],
        "system": ["models", "training", "curves"],
        "score": ["training", "curves"],
        "tables": ["training", "models.recurrent", "decoding.search"],
    }
    entries = {kind: row.modules for kind, row in KINDS.items()} | {"tables": RECIPES["tables"]}
    for kind, modules in entries.items():
        behind = fingerprint.modules(*modules)
        for other in [*nobodys[kind], *apart.get(kind, [])]:
            assert not any(f"{name}.".startswith(f"sumcurve.{other}.") for name in behind), (kind, other)
        for door in ("scores", "systems") if kind != "tables" else ():  # they grow by every scorer and system
            assert f"sumcurve.{door}" not in behind, (kind, door)


@pytest.mark.parametrize(
    "module", ["corpora.folders", "study.doors", "settings.study", "capabilities.labels.capability"]
)
def test_a_module_that_leads_to_the_code_of_every_kind_stands_for_none(module):
    with pytest.raises(ValueError, match=rf"sumcurve\.{module} stands for no code"):
        fingerprint.fingerprint(f"sumcurve.{module}")


def test_the_code_here_is_known_to_write_the_versions_in_force():
    """When this fails: run the tests of golden bytes (test_steps, tables/test_study). Where they pass,
    `python -m sumcurve recipes --write` lists the code; where not, raise the version, and write golden bytes anew.
    """
    recipes = read_recipes(ROOT / "recipes.yaml", RECIPES)
    unknown = [name for name, modules in RECIPES.items() if fingerprint.fingerprint(*modules) not in recipes[name].code]
    assert not unknown


@pytest.mark.parametrize("python", ["python3.12", "python3.13"])
def test_other_pythons_agree(python):
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no {python} here")
    file = Path(fingerprint.__file__)
    entries = KINDS["train"].modules
    program = (
        f"import sys; sys.path.insert(0, {str(file.parents[1])!r})\n"
        f"from sumcurve.store.fingerprint import fingerprint\nprint(fingerprint(*{entries!r}))"
    )
    answer = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [fingerprint.fingerprint(*entries)]
