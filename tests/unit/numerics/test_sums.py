"""Sums are pinned whatever a user's environment says, and the same CPU gives the bytes it gave before."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

HOME = Path(__file__).parents[3]
BENCHMARK = HOME / "benchmarks" / "same_bytes.py"
# Set wide: other kernels everywhere, low precision, more threads.
HOSTILE = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "AVX512",
    "MKL_ENABLE_INSTRUCTIONS": "AVX512_E4",
    "MKL_NUM_THREADS": "2",
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_AMX",
    "ONEDNN_DEFAULT_FPMATH_MODE": "BF16",
    "OPENBLAS_CORETYPE": "SkylakeX",
    "OPENBLAS_NUM_THREADS": "2",
    "OMP_NUM_THREADS": "2",
    "OMP_THREAD_LIMIT": "2",
    "NPY_DISABLE_CPU_FEATURES": "FMA3",
    "NUMBA_CPU_NAME": "skylake-avx512",
    "NUMBA_CPU_FEATURES": "+avx512f",
    "PYTHONHASHSEED": "7",
}
PRODUCTS = """
from sumcurve.numerics import sums
sums.apply("portable")
import torch
torch.manual_seed(0)
a, b, c = torch.randn(30, 40), torch.randn(40, 20), torch.randn(30, 20)
A, B = torch.randn(5, 30, 40), torch.randn(5, 40, 20)
def close(found, wanted): torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)
exact = (a.double().unsqueeze(2) * b.double()).sum(1)
batched = (A.double().unsqueeze(3) * B.double().unsqueeze(1)).sum(2)
close(a @ b, exact)
close(a.t().contiguous().t() @ b, exact)
close(A @ B, batched)
close(torch.addmm(c, a, b, beta=0.5, alpha=3), 0.5 * c.double() + 3 * exact)
close(torch.addmm(c[0], a, b), c[0].double() + exact)
close(torch.addmm(torch.full_like(c, torch.nan), a, b, beta=0), exact)
out = torch.empty(30, 20); assert torch.addmm(c, a, b, out=out) is out; close(out, c.double() + exact)
own = c.clone(); own.addmm_(a, b, alpha=2); close(own, c.double() + 2 * exact)
turned = torch.empty(20, 30).t(); torch.mm(a, b, out=turned); close(turned, exact)
assert (torch.zeros(0, 40) @ b).shape == (0, 20) and not (torch.zeros(3, 0) @ torch.zeros(0, 2)).any()
wide, tall = a.double().requires_grad_(), b.double().requires_grad_()
torch.autograd.gradcheck(lambda a, b: torch.addmm(c[:3, :4].double(), a[:3, :5], b[:5, :4]), (wide, tall))
wide, tall = A.double()[:2, :3, :5].requires_grad_(), B.double()[:2, :5, :4].requires_grad_()
torch.autograd.gradcheck(torch.matmul, (wide, tall))
try:
    a.bfloat16() @ b.bfloat16()
except sums.SumsError as error:
    assert "precision: single" in str(error)
else:
    raise AssertionError("bf16 was taken")
"""


def python(
    *arguments: str, command: Sequence[str] = (sys.executable,), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own with the given variables more; paths are those of this process."""
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **variables}
    return subprocess.run([*command, *arguments], env=found, capture_output=True, text=True, timeout=1800)


def same_bytes(*arguments: str, command: Sequence[str] = (sys.executable,), **variables: str) -> dict[str, Any]:
    done = python(str(BENCHMARK), *arguments, command=command, **variables)
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def recorded(row: dict[str, str]) -> dict[str, str] | None:
    """The table's row of this CPU, setting and versions; where there is none, a warning with the line to add."""
    lines = BENCHMARK.with_suffix(".csv").read_text().splitlines()
    names = lines[0].split(",")
    for line in lines[1:]:
        there = dict(zip(names, line.split(","), strict=True))
        if all(there[name] == row[name] for name in names[:6]):
            return there
    warnings.warn(f"benchmarks/same_bytes.csv does not list this CPU; add: {','.join(row.values())}", stacklevel=2)
    return None


@pytest.mark.parametrize("chosen", [pytest.param("portable", marks=pytest.mark.long), "compiled"])
def test_bytes_are_the_recorded_ones_under_a_hostile_environment(chosen: str) -> None:
    try:
        found = same_bytes("--sums", chosen, **HOSTILE)
    except AssertionError as error:
        if "needs an x86-64 CPU" in str(error):
            pytest.skip("this machine has no portable sums")
        raise
    settings = {"torch": "AVX2", "mkl": "COMPATIBLE", "onednn": False, "openblas": "Haswell", "products": "numpy"}
    assert found["settings"] == settings | ({"kernels": "haswell"} if chosen == "compiled" else {})
    there = recorded(found["row"])
    if there is None:  # an unlisted CPU: at least a second process says the same
        assert same_bytes("--sums", chosen)["row"] == found["row"]
    else:
        assert there == found["row"], "a changed training? then `python benchmarks/same_bytes.py --add` on every CPU"


@pytest.mark.long
def test_native_sums_do_not_listen_to_the_environment_either() -> None:
    assert same_bytes("--sums", "native", **HOSTILE) == same_bytes("--sums", "native")


def test_portable_products_are_products() -> None:
    done = python("-c", PRODUCTS)
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_sums_are_refused_where_a_library_was_loaded_before(library: str) -> None:
    code = f"import {library}; from sumcurve.numerics import sums; sums.apply('portable')"
    done = python("-c", code, MKL_CBWR="AVX2")
    assert f"SumsError: sums 'portable': {library}" in done.stderr
    assert "MKL_CBWR=AVX2" in done.stderr


def test_compiled_sums_are_portable_ones_with_kernels_for_one_cpu() -> None:
    code = """
from sumcurve.numerics import sums
assert not sums.compiled()
settings = sums.apply("compiled")
assert sums.compiled() and settings.pop("kernels") == "haswell"
assert settings == sums.read_back()
sums.apply("compiled")
try:
    sums.apply("portable")
except sums.SumsError as error:
    assert "in a process of its own" in str(error)
else:
    raise AssertionError("compiled sums became portable ones")
"""
    done = python("-c", code, **HOSTILE)
    assert not done.returncode, done.stderr


def test_tunables_of_the_c_library_are_refused() -> None:
    done = python(
        "-c", "from sumcurve.numerics import sums; sums.apply('native')", GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2_Usable"
    )
    assert "GLIBC_TUNABLES is set" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["portable", "compiled"])
@pytest.mark.parametrize("cpu", ["Haswell", "EPYC-Milan"])
def test_emulated_cpus_of_both_makers_give_the_same_bytes(cpu: str, chosen: str) -> None:
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("qemu-x86_64 is absent (Debian: qemu-user)")
    emulated = same_bytes("--sums", chosen, "--emulated", cpu, command=(emulator, "-cpu", cpu, sys.executable))["row"]
    here = same_bytes("--sums", chosen)["row"]
    assert {name: emulated[name] for name in ("pcov", "trans")} == {name: here[name] for name in ("pcov", "trans")}
