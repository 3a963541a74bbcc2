"""A fingerprint changes with what code does, and with nothing else."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sumcurve import fingerprint
from sumcurve.plan import accepted, read_recipes

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
    assert "sumcurve.models.emission" in fingerprint.modules("runs")
    assert "sumcurve.records" in fingerprint.modules("corpora")
    assert "sumcurve.settings" not in fingerprint.modules("runs")


def test_steps_do_not_depend_on_each_other_by_accident():
    """A changed table must not retrain, a changed scorer must not decode again."""
    assert not any(name.startswith("sumcurve.tables") for name in fingerprint.modules("scores"))
    assert not any(name.startswith(("sumcurve.tables", "sumcurve.curves")) for name in fingerprint.modules("runs"))
    assert not any(name.startswith("sumcurve.models") for name in fingerprint.modules("corpora"))
    for step in set(fingerprint.ENTRY_MODULES) - {"tables"}:  # the list of scorers grows by every metric
        assert "sumcurve.scores" not in fingerprint.modules(step)


@pytest.mark.parametrize("step", ["corpora", "entities", "runs", "outputs"])
def test_code_in_force_is_accepted_under_its_recipe(step):
    """When this fails: do results of this step change? Then raise its number in recipes.yaml, else add the print."""
    path = ROOT / "recipes.yaml"
    assert step in read_recipes(path)
    assert fingerprint.fingerprint(step) in accepted(path, step)


@pytest.mark.parametrize("python", ["python3.12", "python3.13"])
def test_other_pythons_agree(python):
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no {python} here")
    file = Path(fingerprint.__file__)
    program = (
        f"import sys; sys.path.insert(0, {str(file.parents[1])!r})\n"
        f"from sumcurve.fingerprint import fingerprint\nprint(fingerprint('runs'), fingerprint('corpora'))"
    )
    answer = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [fingerprint.fingerprint("runs"), fingerprint.fingerprint("corpora")]
