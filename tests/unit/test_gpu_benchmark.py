"""The GPU benchmark, with a CPU for its GPU: every method runs, what differs is found, time is kept."""

import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import torch

from invented import METHODS
from sumcurve.study.methods import read_method
from sumcurve.training import fit

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "benchmarks" / "gpu.py"
LIGHT = {"numpy", "scipy", "numba", "llvmlite", "pydantic", "pyyaml", "safetensors", "zstandard", "tqdm", "setuptools"}
CPU = torch.device("cpu")

BLOCK = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.split(".")[0] in {names!r} else find(name, path, target)

PathFinder.find_spec = staticmethod(find_spec)
"""


@pytest.fixture(scope="module")
def gpu() -> ModuleType:
    """The program, as a module."""
    told = importlib.util.spec_from_file_location("gpu_benchmark", PROGRAM)
    assert told is not None
    assert told.loader is not None
    module = importlib.util.module_from_spec(told)
    sys.modules[told.name] = module  # dataclasses look their module up
    told.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def phases(method: str) -> list[str]:
    form = read_method(ROOT / "config" / "methods" / f"{method}.yaml").forms["smoke"]
    return [phase.name for phase in form.training.phases]


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_measured_in_all_its_phases(gpu: ModuleType, method: str) -> None:
    """In single precision a CPU's losses are its own to the last bit; in bf16 they are near, and others.

    Of bf16 the speed is measured of one method of each kind; what it computes, of all.
    """
    for precision in gpu.precisions(CPU) if method in ("pcov", "trans") else ["single"]:
        rows = list(gpu.speed(method, precision, gpu.SMALL, CPU, 0.0))
        assert [row.phase for row in rows] == phases(method)
        assert all(row.updates_per_second > 0 and row.precision == precision for row in rows)
    found = gpu.differences(method, gpu.SMALL, CPU)
    assert found["single"] == 0.0
    assert 0.0 < found["bf16"] <= gpu.TOLERANCE["bf16"]


def heavy() -> set[str]:
    """Modules of all that the environment brings and the program is to do without."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for lines in declared["optional-dependencies"].values() for line in lines]
    lines = [*(ROOT / "envs" / "requirements.in").read_text().splitlines(), *declared["dependencies"], *extras]
    by_torch = importlib.metadata.requires("torch") or []
    asked, brought = ({re.split(r"[^\w.-]", line)[0].lower() for line in part} for part in (lines, by_torch))
    asked -= LIGHT | brought | {"torch", ""}
    return {
        module
        for module, packages in importlib.metadata.packages_distributions().items()
        if {package.lower() for package in packages} & asked
    }


@pytest.mark.long
def test_the_command_needs_light_packages_only_and_writes_table_and_json(tmp_path: Path) -> None:
    """Of the method with most phases all is measured, a killed training among it, in processes without the others."""
    names = heavy()
    assert {"pandas", "altair", "snakemake", "transformers", "spacy", "nltk", "tensorboard"} <= names
    assert not {"numpy", "torch", "yaml", "numba"} & names
    (tmp_path / "sitecustomize.py").write_text(BLOCK.format(names=names))
    given = ["--device", "cpu", "--small", "--threads", "1"]
    done = subprocess.run(
        [sys.executable, PROGRAM, "fastrl", *given, "--json", tmp_path / "figures.json"],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}", "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["failed"] == figures["left_out"] == []
    assert [(check["method"], check["precision"]) for check in figures["checks"]] == [
        ("fastrl", precision) for precision in ("single", "bf16")
    ]
    assert {check["resumed"] for check in figures["checks"]} == {0.0}
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line[:1] == "|"]
    assert len({len(row) for row in rows}) == 1
    told = [(row[0], row[1], row[2]) for row in rows[2:]]
    assert told == [(row["method"], row["phase"], row["precision"]) for row in figures["rows"]]
    assert [name for _, name, _ in told] == 2 * phases("fastrl")
    assert sum(row[-1] == "same bytes" for row in rows) == 2


def test_a_device_that_computes_something_else_is_found(gpu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a percent beyond the tolerance, in one precision."""
    true = gpu.losses_of

    def off(learners, phase):  # type: ignore[no-untyped-def]
        cpu, single, half = true(learners, phase)
        return [cpu, lambda *given: single(*given) * 1.002, half]

    monkeypatch.setattr(gpu, "losses_of", off)
    monkeypatch.setattr(gpu, "resumed", lambda *given: (0.5, None))
    report = gpu.Report({}, {}, gpu.TOLERANCE)
    gpu.measure("abs", gpu.SMALL, CPU, gpu.Budget(100.0), report)
    assert len(report.failed) == 3
    assert "abs, all precisions: losses against the CPU's: ValueError: single differs by 0.002" in report.failed[0]
    assert all("weights differ by 0.5 where uninterrupted trainings do not" in text for text in report.failed[1:])


def test_tf32_is_on_for_trainings_that_ask_for_it_and_off_again_after_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch's switches say; a CPU computes the same either way."""
    seen = []
    form = read_method(ROOT / "config" / "methods" / "abs.yaml").forms["smoke"]

    def observed(*_: object) -> None:
        seen.append((torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32))

    class Fitting:
        def __init__(self, *_: object) -> None:
            observed()

        def run(self, *_: object) -> None:
            observed()

    monkeypatch.setattr(fit, "_Fit", Fitting)
    monkeypatch.setattr(fit, "_identity", lambda *_: {})
    for precision in ("tf32", "single", "bf16"):
        training = form.training.model_copy(update={"precision": precision})
        fit.fit(None, training, seed=1, clock=lambda: 0.0, device=CPU)
        observed()
    on, off = (True, True), (False, False)
    assert seen == [on, on, off, *[off] * 6]
