"""A fingerprint changes with what code does, and with nothing else."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sumcurve import fingerprint
from sumcurve.plan import accepted, read_recipes
from sumcurve.steps import KINDS, TABLES_MODULES

ROOT = Path(__file__).parents[2]

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


def test_modules_are_found_through_imports_of_imports():
    assert "sumcurve.models.emission" in fingerprint.modules("sumcurve.training.run")
    assert "sumcurve.records" in fingerprint.modules("sumcurve.corpora.prepare")
    assert "sumcurve.settings" not in fingerprint.modules("sumcurve.training.run")


def test_kinds_do_not_depend_on_each_other_by_accident():
    """A changed table must not retrain, a changed scorer must not decode again, a new kind changes no other."""
    nobodys = {kind: ["tables", "plan", "steps", "builders"] for kind in KINDS} | {"tables": ["steps", "builders"]}
    apart = {
        "corpus": ["annotations", "models"],
        "fraction": ["annotations", "models"],
        "train": ["curves"],
        "decode": ["training.fit", "curves"],
        "baseline": ["models", "training", "curves"],
        "system": ["models", "training", "curves"],
        "score": ["training", "curves"],
        "tables": ["training", "models.recurrent", "decoding.search"],
    }
    entries = {kind: row.modules for kind, row in KINDS.items()} | {"tables": TABLES_MODULES}
    for kind, modules in entries.items():
        behind = fingerprint.modules(*modules)
        for other in [*nobodys[kind], *apart.get(kind, [])]:
            assert not any(f"{name}.".startswith(f"sumcurve.{other}.") for name in behind), (kind, other)
        for door in ("scores", "systems") if kind != "tables" else ():  # they grow by every scorer and system
            assert f"sumcurve.{door}" not in behind, (kind, door)


def test_a_module_without_a_file_is_an_error_that_names_it():
    with pytest.raises(FileNotFoundError, match=r"sumcurve\.no_such has no file"):
        fingerprint.fingerprint("sumcurve.corpora.prepare", "sumcurve.no_such")


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.recipe])
def test_code_in_force_is_accepted_under_its_recipe(kind):
    """When this fails: do results of this kind change? Then raise its number in recipes.yaml, else add the print."""
    path = ROOT / "recipes.yaml"
    assert kind in read_recipes(path)
    assert fingerprint.fingerprint(*KINDS[kind].modules) in accepted(path, kind)


@pytest.mark.parametrize("python", ["python3.12", "python3.13"])
def test_other_pythons_agree(python):
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no {python} here")
    file = Path(fingerprint.__file__)
    entries = KINDS["train"].modules
    program = (
        f"import sys; sys.path.insert(0, {str(file.parents[1])!r})\n"
        f"from sumcurve.fingerprint import fingerprint\nprint(fingerprint(*{entries!r}))"
    )
    answer = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [fingerprint.fingerprint(*entries)]
