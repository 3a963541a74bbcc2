"""What `pip install sumcurve` brings: the tools, with the dependencies alone. Locks hold all that is declared."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import sumcurve

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

# Runs a command line where only the modules named in argv[1] can be imported beside Python's own.
ALONE = """
import json, sys

class Refuse:
    allowed = set(json.loads(sys.argv.pop(1))) | sys.stdlib_module_names | {"sumcurve"}

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in self.allowed and not top.startswith(("__editable__", "_sysconfigdata")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
from sumcurve.__main__ import main
main()
"""
TOOLS = {
    "rouge": ("--references", "references.txt", "--candidates", "candidates.txt", "--compare", "others.txt"),
    "power": ("--sd-items", "18", "--sd-seed", "0.8", "--effect", "2.2", "--items", "1000", "--seeds", "3"),
    "efficiency": ("cano-bojar-2020",),
    "check": ("cano-bojar-2020",),
    "compare": ("scores.csv", "--group", "group"),
    "curve": ("curve.csv", "-q"),
    "oracle": ("--input", "articles.jsonl", "--output", "certificates.jsonl"),
}


def closure(declared: list[str]) -> set[str]:
    """Canonical names of distributions: those declared and all that they require here, in turn."""
    found: set[str] = set()
    left = [Requirement(text) for text in declared]
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        if name in found:
            continue
        found.add(name)
        for text in requires(name) or []:
            further = Requirement(text)
            if further.marker is None or any(
                further.marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras)
            ):
                left.append(further)
    return found


@cache
def modules() -> dict[str, set[str]]:
    """By top-level module the canonical names of the distributions that have it."""
    return {module: set(map(canonicalize_name, names)) for module, names in packages_distributions().items()}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "references.txt").write_text("the cat sat\na dog ran far\n")
    (tmp_path / "candidates.txt").write_text("the cat\na dog ran\n")
    (tmp_path / "others.txt").write_text("a hat\nno dog\n")
    rows = "".join(f"{item},{item % 20},{item % 3},{item % 7}\n" for item in range(60))
    (tmp_path / "scores.csv").write_text("item,group,ours,theirs\n" + rows)
    (tmp_path / "curve.csv").write_text("size,score\n100,20\n200,23\n400,25\n800,28\n")
    articles = [
        {"id": "a", "sentences": "The cat sat. A dog ran far. It rained.", "abstract": "A cat sat. It rained."},
        {"id": "b", "sentences": ["One two three.", "Four five."], "abstract": ["Four five six."]},
    ]
    (tmp_path / "articles.jsonl").write_text("".join(json.dumps(article) + "\n" for article in articles))
    return tmp_path


def alone(folder: Path, allowed: set[str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ALONE, json.dumps(sorted(allowed)), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def declared() -> set[str]:
    """Top-level modules of the dependencies without extras, and of what these require."""
    distributions = closure(PROJECT["dependencies"])
    return {module for module, names in modules().items() if names & distributions}


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_runs_with_the_dependencies_alone(tool: str, files: Path, declared: set[str]) -> None:
    done = alone(files, declared, tool, *TOOLS[tool])
    assert done.returncode == 0, done.stderr
    if tool == "oracle":
        done = alone(
            files, declared, "oracle", "verify", "certificates.jsonl", "--input", "articles.jsonl", "--share=1"
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout


def test_what_a_verb_lacks_is_named(files: Path, declared: set[str]) -> None:
    done = alone(files, declared - {"numpy"}, "power", *TOOLS["power"])
    assert done.returncode == 1
    assert "needs the Python package numpy" in done.stderr
    assert "Traceback" not in done.stderr


def imported(path: Path) -> set[str]:
    """Top-level modules that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"sumcurve"}


def test_all_that_the_package_imports_is_declared() -> None:
    declared = {
        canonicalize_name(Requirement(text).name)
        for text in [*PROJECT["dependencies"], *(text for texts in EXTRAS.values() for text in texts)]
    }
    undeclared = {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in (ROOT / "src").rglob("*.py")
        for module in imported(path)
        if not modules().get(module, {module}) & declared
    }
    assert not undeclared, "name these in pyproject.toml, in `dependencies` or an extra"


LOCKS = sorted((ROOT / "envs").rglob("lock-*.txt"))


def pins(lock: Path) -> dict[str, Version]:
    """The version of each distribution, by its canonical name."""
    named = re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), flags=re.M)
    return {canonicalize_name(name): Version(version) for name, version in named}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_lock_names_the_files_of_each_release_by_their_sha256(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text())
    named = re.compile(r"[\w.-]+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n?")
    assert len(entries) == len(pins(lock)) > 0
    assert [entry for entry in entries if not named.fullmatch(entry)] == []


@pytest.mark.parametrize("lock", [lock for lock in LOCKS if lock.parent.name == "envs"], ids=lambda path: path.stem)
def test_a_lock_holds_what_is_declared(lock: Path) -> None:
    pinned = pins(lock) | pins(ROOT / "envs" / "torch.txt")
    for text in [*PROJECT["dependencies"], *(text for texts in EXTRAS.values() for text in texts)]:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{name} is not locked: envs/lock.sh"
        assert requirement.specifier.contains(pinned[name]), f"{text}, but {pinned[name]} is locked: envs/lock.sh"


NO_INDEX = ("error sending request", "dns error", "tcp connect error", "Failed to fetch", "Could not connect")


def built(source: Path) -> Path:
    """The wheel of a source tree, with the setuptools that are here."""
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheel, "--wheel-dir", source / "dist", source], check=True)
    (found,) = (source / "dist").glob("*.whl")
    return found


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_runs_the_tools(files: Path, tmp_path: Path) -> None:
    """Installed as `pip install sumcurve` would, versions as locked, where nobody can write to the package."""
    source, environment = tmp_path / "source", tmp_path / "environment"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    wheel = built(source)
    there = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "sumcurve").rglob("*") if path.is_file()
    }
    missing = {name for name in there if "__pycache__" not in name} - set(zipfile.ZipFile(wheel).namelist())
    assert not missing, "name these in [tool.setuptools.package-data] of pyproject.toml"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    lock = ROOT / "envs" / f"lock-{sys.version_info.major}.{sys.version_info.minor}.txt"
    uv = [sys.executable, "-m", "uv", "pip"]
    done = subprocess.run(
        [*uv, "install", "--python", environment, "--constraints", lock, wheel],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(words in done.stderr for words in NO_INDEX):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [*uv, "list", "--python", environment, "--format", "json"], capture_output=True, text=True, check=True
    )
    installed = {canonicalize_name(package["name"]) for package in json.loads(listed.stdout)}
    assert installed == closure(PROJECT["dependencies"]) | {"sumcurve"}
    (package,) = environment.glob("lib/python*/site-packages/sumcurve")
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    variables = {"HOME": str(tmp_path / "home"), "PATH": ""}
    for tool, words in {**TOOLS, "oracle verify": ("certificates.jsonl", "--input", "articles.jsonl")}.items():
        command = [environment / "bin" / "sumcurve", *tool.split(), *words]
        done = subprocess.run(command, cwd=files, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert list((tmp_path / "home" / ".cache" / "sumcurve").rglob("*.nbi"))
    for folder in folders:
        folder.chmod(0o755)


def version_of(tree: Path) -> str:
    """The version of a tree, which its citation and the newest entry of its changelog agree on, and on its date."""
    citation = yaml.safe_load((tree / "CITATION.cff").read_text())
    newest = re.search(r"^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$", (tree / "CHANGELOG.md").read_text(), flags=re.M)
    said = re.search(r'^VERSION = "(.+)"$', (tree / "src/sumcurve/machine/version.py").read_text(), flags=re.M)
    assert newest
    assert said
    assert citation["version"] == said[1] == newest[1]
    assert str(citation.get("date-released")) == str(newest[2]), "CITATION.cff and CHANGELOG.md say one date, or none"
    return str(citation["version"])


def test_the_version_is_one() -> None:
    assert version_of(ROOT) == sumcurve.__version__


@pytest.mark.slow
def test_the_wheel_builds_from_a_tag_in_a_clone_and_has_its_version(tmp_path: Path) -> None:
    git = ["git", "-c", "advice.detachedHead=false"]
    subprocess.run([*git, "clone", "--quiet", ROOT, tmp_path / "clone"], check=True)
    tag = f"v{version_of(tmp_path / 'clone')}"
    subprocess.run([*git, "tag", "--force", tag], cwd=tmp_path / "clone", check=True)
    subprocess.run([*git, "clone", "--quiet", "--branch", tag, tmp_path / "clone", tmp_path / "tagged"], check=True)
    wheel = built(tmp_path / "tagged")
    (about,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    told = re.search(r"^Version: (.+)$", zipfile.ZipFile(wheel).read(about).decode(), flags=re.M)
    assert told
    assert tag == f"v{told[1]}" == f"v{version_of(tmp_path / 'tagged')}"
    assert wheel.name == f"sumcurve-{told[1]}-py3-none-any.whl"
