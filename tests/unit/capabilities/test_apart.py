"""The core without a capability: nothing of the rest imports it, and a study that does not ask for it is planned."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sumcurve.capabilities import CAPABILITIES

ROOT = Path(__file__).parents[3]
# What is dear to import is imported once: the process of each capability is a fork, in which nothing of ours is known.
PROGRAM = """
import importlib, os, pkgutil, sys, traceback
from pathlib import Path

import altair, duckdb, numba, pandas, scipy.stats, torch, transformers

folder, *cases = sys.argv[1:]

class Blocked:
    def __init__(self, apart):
        self.apart = apart

    def find_spec(self, name, path=None, target=None):
        if name == self.apart or name.startswith(self.apart + "."):
            raise ImportError(f"{name} is imported")

def rows_without(capability, study):
    apart = "sumcurve.capabilities." + capability
    import sumcurve.capabilities

    sys.meta_path.insert(0, Blocked(apart))
    names = sumcurve.capabilities.CAPABILITIES
    sumcurve.capabilities.CAPABILITIES = tuple(name for name in names if name != capability)
    from argparse import Namespace

    from sumcurve.cli.studies import planned
    from sumcurve.study.plan import Plan

    os.chdir(folder)
    plan = Plan.read(Path("config"), study)
    planned(Namespace(path=Path("results"), study=study, set=None, records=None, card=None, write=False))
    for module in pkgutil.walk_packages(sumcurve.__path__, "sumcurve.") if study != "smoke" else ():
        needs_it = capability in module.name.split(".")  # as people.contrasts
        if not needs_it and not module.name.endswith(".driver"):
            importlib.import_module(module.name)
    return len(plan.rows)

assert not [name for name in sys.modules if name.startswith("sumcurve")]
for case in cases:
    if not os.fork():
        said = Path(folder, case + ".txt")
        try:
            said.write_text(str(rows_without(*case.split("-"))))
        except BaseException:
            said.write_text(traceback.format_exc())
        os._exit(0)
    os.wait()
"""
TALES = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())["corpora"]["tales"]
OF_CORE = ("raw", "split", "percents", "source_tokens", "target_tokens", "search")
CORE = {
    "title": "What the core alone can do",
    "corpora": {"tales": {name: TALES[name] for name in OF_CORE}},
    "methods": ["abs", "pcov", "trans"],
    "form": "smoke",
    "seeds": [1, 2],
    "scores": {"rouge": {}, "chrf": {}, "extractiveness": {}, "frames": {}, "reading": {}, "reading_rouge": {}},
}


pytestmark = pytest.mark.long  # everything is imported once for each capability
# What is missing, and the study.
CASES = [*(f"{name}-{study}" for name in CAPABILITIES for study in ("core", "smoke")), "labels-labelled"]


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> Path:
    """A folder with the configuration, a study that asks for no capability and one that does, and what is said of each.

    That is how many rows are planned, what that costs, too, and all that is left can be imported then; or why not.
    """
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "results").mkdir()
    (folder / "results" / "tables").symlink_to(ROOT / "results" / "tables")
    (folder / "config" / "studies" / "core.yaml").write_text(yaml.safe_dump(CORE))
    labelled = CORE | {"labels": {"methods": ["abs"]}}
    (folder / "config" / "studies" / "labelled.yaml").write_text(yaml.safe_dump(labelled))
    command = [sys.executable, "-c", PROGRAM, str(folder), *CASES]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_study_of_the_core_is_planned_where_a_capability_is_missing(name: str, said: Path) -> None:
    rows = (said / f"{name}-core.txt").read_text()
    assert rows.isdigit(), rows
    assert int(rows) > 10


@pytest.mark.parametrize("name", CAPABILITIES)
def test_the_smoke_test_is_planned_without_a_capability_that_it_does_not_name(name: str, said: Path) -> None:
    rows = (said / f"{name}-smoke.txt").read_text()
    refusal = r"PlanError: .*: (unknown key|names the family|.*which no capability finds)"
    assert rows.isdigit() or re.search(refusal, rows.splitlines()[-1]), rows


def test_a_key_of_a_missing_capability_is_refused_by_name(said: Path) -> None:
    assert "labels: unknown key" in (said / "labels-labelled.txt").read_text()
