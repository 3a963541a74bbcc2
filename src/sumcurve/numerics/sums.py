"""Last bits of a training's floating-point sums: the settings that decide them, and how a study pins these.

Libraries choose their kernels by the CPU and by variables of the environment. `native` takes the CPU's own
kernels under torch's own settings, whatever a user's environment states. `portable` takes the same kernels on every
x86-64 CPU that has AVX2 and FMA, whoever made it: torch's own at the AVX2 level, MKL's compatible branch, nothing of
oneDNN, and matrix products by the OpenBLAS inside numpy at its Haswell kernels, since MKL's compatible branch is
several times slower and its others differ between makers. `compiled` is `portable` with the recurrent models' loops and
the loss over the vocabulary in kernels of this package, which are compiled for AVX2 and FMA whatever the CPU: faster,
with other last bits, and of single precision on CPUs alone. All may differ between versions of torch, numpy and numba.

Imports nothing heavy: the variables must be set before torch and numpy are loaded.
"""

import ctypes
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

Sums = Literal["portable", "compiled", "native"]

LANES = 16  # partial sums of a long one in compiled kernels; widths that are summed over are multiples of it

PINNED = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
}
COMPILED = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}  # target CPU of kernels
# All variables of each library's family: those that it reads now, and those of later versions.
DECIDING = (
    "ATEN_",
    "MKL_",
    "ONEDNN_",
    "DNNL_",
    "OPENBLAS_",
    "GOTO_",
    "OMP_",
    "KMP_",
    "GOMP_",
    "NPY_",
    "TORCH_ALLOW_",
    "NUMBA_CPU_",
)
AT_START = "GLIBC_TUNABLES"  # read before any line of Python: it chooses the kernels of exp, log and pow
BRANCHES = {1: "OFF", 2: "AUTO", 3: "COMPATIBLE"}  # of mkl.h: MKL_CBWR_*

_applied: set[str] = set()  # arguments of this process's call of `apply`
_overridden: list[Any] = []  # torch.library.Library objects, which undo their work when they are collected


class SumsError(RuntimeError):
    """Sums that are impossible on this machine; the message names the obstacle and the remedy."""


def environment(sums: Sums) -> dict[str, str]:
    """The variables that `sums` sets; every other variable of the libraries that sum is removed."""
    if sums not in get_args(Sums):
        raise SumsError(f"sums: {sums!r} is none of {', '.join(get_args(Sums))}")
    return {"native": {}, "portable": dict(PINNED), "compiled": PINNED | COMPILED}[sums]


def deciding(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables that can change sums."""
    return {name: value for name, value in variables.items() if name.startswith(DECIDING)}


def set_variables(sums: Sums) -> None:
    """Give this process the variables of `sums`. Raises SumsError where torch or numpy was loaded under others."""
    wanted = environment(sums)
    if AT_START in os.environ:
        raise SumsError(f"{AT_START} is set and chooses the C library's arithmetic: unset it and run again")
    if deciding(os.environ) != wanted:
        if loaded := [name for name in ("torch", "numpy") if name in sys.modules]:
            differing = sorted(set(deciding(os.environ).items()) ^ set(wanted.items()))
            raise SumsError(
                f"sums {sums!r}: {' and '.join(loaded)} was loaded before under other variables "
                f"({', '.join(f'{name}={value}' for name, value in differing)}); pin sums in a process of its own"
            )
        for name in deciding(os.environ):
            del os.environ[name]
        os.environ.update(wanted)


def apply(sums: Sums) -> dict[str, Any]:
    """Pin this process's sums before torch and numpy are loaded, and return the libraries' own statements.

    A second call with the same `sums` changes nothing. Raises SumsError where torch or numpy was loaded under other
    variables, and where the CPU lacks a requirement of `sums`.
    """
    set_variables(sums)

    import torch

    if sums != "native" and not _overridden:
        _take_numpy_products()
    torch.backends.mkldnn.set_flags(sums == "native")
    numerics = read_back()
    if sums == "compiled":
        numerics["kernels"] = _compiled_for()
    expected: dict[str, Any] = {
        "torch": "AVX2",
        "mkl": "COMPATIBLE",
        "onednn": False,
        "openblas": "Haswell",
        "products": "numpy",
    }
    if sums == "compiled":
        expected["kernels"] = COMPILED["NUMBA_CPU_NAME"]
    if sums != "native" and numerics != expected:
        wrong = [
            f"{name} is {numerics[name]}, not {value}" for name, value in expected.items() if numerics[name] != value
        ]
        raise SumsError(
            f"sums {sums!r} needs an x86-64 CPU with AVX2 and FMA, torch with MKL and numpy's wheel from PyPI: "
            f"{'; '.join(wrong)}. State `sums: native` in the study instead"
        )
    _applied.clear()
    _applied.add(sums)
    return numerics


def compiled() -> bool:
    """Tell whether this process computes with the package's own kernels where it has some."""
    return "compiled" in _applied


def compiled_for(tensor: Any) -> bool:
    """Tell whether it does so with this tensor of torch: in single precision on a CPU."""
    return compiled() and tensor.device.type == "cpu" and tensor.is_floating_point() and tensor.itemsize == 4


def read_back() -> dict[str, Any]:
    """Settings read back from the loaded libraries: torch's level, MKL's branch, oneDNN, OpenBLAS kernels, products."""
    import torch

    return {
        "torch": torch.backends.cpu.get_cpu_capability(),
        "mkl": _mkl_branch(Path(torch.__file__).parent / "lib"),
        "onednn": bool(torch._C._get_mkldnn_enabled()),
        "openblas": _openblas_kernels(),
        "products": "numpy" if _overridden else "torch",
    }


def _mkl_branch(folder: Path) -> str | None:
    """MKL's branch of conditional numerical reproducibility, of the MKL inside torch; None where there is none."""
    try:
        get_branch = ctypes.CDLL(str(folder / "libtorch_cpu.so")).mkl_serv_cbwr_get
    except (OSError, AttributeError):
        return None
    branch = get_branch(-1)  # MKL_CBWR_ALL
    return BRANCHES.get(branch, str(branch))


def _compiled_for() -> str | None:
    """The CPU that numba compiles for: a file .numba_config.yaml can override the environment."""
    import numba

    return str(numba.config.CPU_NAME)  # type: ignore[attr-defined]


def _openblas_kernels() -> str | None:
    """The core whose kernels the OpenBLAS inside numpy's wheel runs; None where numpy has another library."""
    import numpy as np

    for library in (Path(np.__file__).parents[1] / "numpy.libs").glob("libscipy_openblas64_*"):
        name = ctypes.CDLL(str(library)).scipy_openblas_get_corename64_
        name.restype = ctypes.c_char_p
        return str(name().decode())
    return None


def _take_numpy_products() -> None:
    """Give torch's matrix products on the CPU to numpy: `mm`, `addmm` and `bmm`, which carry all others of size."""
    import numpy as np
    import torch
    from torch import Tensor

    def array(tensor: Tensor) -> Any:
        if tensor.dtype is torch.bfloat16:
            raise SumsError(
                "sums 'portable' and 'compiled' have no products in bf16: set `precision: single`, or state "
                "`sums: native` in the study"
            )
        return tensor.detach().numpy()

    def product(a: Tensor, b: Tensor) -> Tensor:
        return torch.from_numpy(np.matmul(array(a), array(b)))

    def product_out(a: Tensor, b: Tensor, *, out: Tensor) -> Tensor:
        np.matmul(array(a), array(b), out=array(out))
        return out

    def summed(total: Tensor, c: Tensor, beta: float, alpha: float) -> Tensor:
        if alpha != 1:
            total.mul_(alpha)
        return total.add_(c, alpha=beta) if beta else total

    def added(c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return summed(product(a, b), c, beta, alpha)

    def added_out(c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, out: Tensor) -> Tensor:
        if out.data_ptr() == c.data_ptr():
            return out.copy_(added(c, a, b, beta=beta, alpha=alpha))
        return summed(product_out(a, b, out=out), c, beta, alpha)

    kernels = {
        "mm": product,
        "mm.out": product_out,
        "bmm": product,
        "bmm.out": product_out,
        "addmm": added,
        "addmm.out": added_out,
    }
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings(action="ignore"):  # torch warns that kernels are replaced, which is the purpose
        for name, kernel in kernels.items():
            library.impl(name, kernel, "CPU", allow_override=True)
    _overridden.append(library)
