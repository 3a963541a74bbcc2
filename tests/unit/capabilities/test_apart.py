"""The core without a capability: nothing of the rest imports it, and a study that does not ask for it is planned."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sumcurve.capabilities import CAPABILITIES

ROOT = Path(__file__).parents[3]
PROGRAM = """
import importlib, pkgutil, sys
from pathlib import Path

import sumcurve.capabilities

apart = "sumcurve.capabilities." + sys.argv[1]

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name == apart or name.startswith(apart + "."):
            raise ImportError(f"{name} is imported")

sys.meta_path.insert(0, Blocked())
names = sumcurve.capabilities.CAPABILITIES
sumcurve.capabilities.CAPABILITIES = tuple(name for name in names if name != sys.argv[1])

from sumcurve.study.plan import Plan

plan = Plan.read(Path(sys.argv[2]), "core")
print(len(plan.rows))
if len(sys.argv) > 3:
    for module in pkgutil.walk_packages(sumcurve.__path__, "sumcurve."):
        needs_it = module.name.startswith(apart) or module.name.endswith("." + sys.argv[1])  # as contrasts.people
        if not needs_it and not module.name.endswith(".driver"):
            importlib.import_module(module.name)
"""
TALES = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())["corpora"]["tales"]
OF_CORE = ("raw", "split", "percents", "source_tokens", "target_tokens", "search")
CORE = {
    "title": "What the core alone can do",
    "corpora": {"tales": {name: TALES[name] for name in OF_CORE}},
    "methods": ["abs", "pcov", "trans", "fastrl"],
    "form": "smoke",
    "seeds": [1, 2],
    "scores": {"rouge": {}, "chrf": {}, "extractiveness": {}, "frames": {}, "reading": {}, "reading_rouge": {}},
}


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    """The configuration, and a study of it that asks for no capability."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(ROOT / "config", folder / "config")
    shutil.copy(ROOT / "recipes.yaml", folder)
    (folder / "config" / "studies" / "core.yaml").write_text(yaml.safe_dump(CORE))
    return folder / "config"


@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_study_of_the_core_is_planned_where_a_capability_is_missing(name: str, config: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, name, str(config), "all"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


def test_a_key_of_a_missing_capability_is_refused_by_name(config: Path) -> None:
    path = config / "studies" / "core.yaml"
    path.write_text(yaml.safe_dump(CORE | {"labels": {"methods": ["abs"]}}))
    done = subprocess.run([sys.executable, "-c", PROGRAM, "labels", str(config)], capture_output=True, text=True)
    path.write_text(yaml.safe_dump(CORE))
    assert done.returncode
    assert "labels: unknown key" in done.stderr
