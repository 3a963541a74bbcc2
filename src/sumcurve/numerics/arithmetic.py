"""Arithmetic for compiled loops of floating-point numbers that gives the same bits on every CPU with AVX2 and FMA.

Exponentials, their inverse and their like are polynomials in sums, products, quotients and fused multiply-adds, each of
which IEEE 754 rounds in one way; the C library and compilers have their own for every CPU. They have no branch, so that
LLVM computes eight numbers at once, and all are of single precision. Matrix products are those of the OpenBLAS inside
numpy's wheel, called without Python in between. Sums of many terms go into LANES partial sums: a compiler that may not
reorder a sum makes no vectors of it.
"""

from pathlib import Path
from typing import Any

import llvmlite.binding
import llvmlite.ir
import numpy as np
from numba import extending, types
from numba.core.cpu import CPUTargetOptions
from numba.core.options import TargetOptions
from numpy.typing import NDArray

from sumcurve.numerics import compiled
from sumcurve.numerics.sums import LANES as LANES

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

# `njit(noalias=True)`: the arrays that a function is given do not overlap. numba can tell LLVM so; its decorator has
# no name for it; without it most loops over more than a few arrays are not made of vectors.
CPUTargetOptions.noalias = TargetOptions.Mapping("noalias")
njit: Any = compiled.njit
intrinsic: Any = extending.intrinsic

_f = np.float32
ZERO, ONE, TWO, HALF = _f(0), _f(1), _f(2), _f(0.5)
_LOWEST, _HIGHEST = _f(-87), _f(88)  # beyond them exp is no normal number
_LOG2E, _TO_INTEGER = _f(1.4426950408889634), _f(12582912.0)  # 1.5 * 2^23: numbers added to it are rounded
_LN2_HIGH, _LN2_LOW, _LN2 = _f(-0.693145751953125), _f(-1.42860682030941723212e-6), _f(0.6931471805599453)
# e^r for |r| <= ln 2 / 2 as 1 + r + r^2 P(r) (Moshier's Cephes library, expf)
_E0, _E1, _E2 = _f(1.9875691500e-4), _f(1.3981999507e-3), _f(8.3334519073e-3)
_E3, _E4, _E5 = _f(4.1665795894e-2), _f(1.6666665459e-1), _f(5.0000001201e-1)
# tanh x = x P(x^2) / Q(x^2) for |x| < _SATURATED (the library Eigen, ptanh_float)
_SATURATED = _f(7.90531110763549805)
_P0, _P1, _P2, _P3 = (
    _f(4.89352455891786e-03),
    _f(6.37261928875436e-04),
    _f(1.48572235717979e-05),
    _f(5.12229709037114e-08),
)
_P4, _P5, _P6 = _f(-8.60467152213735e-11), _f(2.00018790482477e-13), _f(-2.76076847742355e-16)
_Q0, _Q1, _Q2, _Q3 = (
    _f(4.89352518554385e-03),
    _f(2.26843463243900e-03),
    _f(1.18534705686654e-04),
    _f(1.19825839466702e-06),
)
# 2 artanh s = 2 s (1 + s^2 / 3 + s^4 / 5 + ...)
_A3, _A5, _A7, _A9 = _f(2 / 3), _f(2 / 5), _f(2 / 7), _f(2 / 9)


@intrinsic
def fma(_: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float32(types.float32, types.float32, types.float32), code


@intrinsic
def _scaled(_: Any, number: Any, power: Any) -> Any:
    """`number` times 2 to the integer that was added to _TO_INTEGER to give `power`."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        i32 = llvmlite.ir.IntType(32)
        bits, shift = (builder.bitcast(argument, i32) for argument in arguments)
        bits = builder.add(bits, builder.shl(shift, llvmlite.ir.Constant(i32, 23)))
        return builder.bitcast(bits, llvmlite.ir.FloatType())

    return types.float32(types.float32, types.float32), code


@intrinsic
def _bits(_: Any, number: Any) -> Any:
    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], llvmlite.ir.IntType(32))

    return types.int32(types.float32), code


@intrinsic
def _of_bits(_: Any, bits: Any) -> Any:
    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], llvmlite.ir.FloatType())

    return types.float32(types.int32), code


@njit(cache=True, error_model="numpy")
def exp(x: np.float32) -> np.float32:
    """e^x, for x below -87 and above 88 that of these; NaN stays NaN."""
    x = _LOWEST if x < _LOWEST else x
    x = _HIGHEST if x > _HIGHEST else x
    power = fma(x, _LOG2E, _TO_INTEGER)
    whole = power - _TO_INTEGER
    r = fma(whole, _LN2_LOW, fma(whole, _LN2_HIGH, x))
    p = fma(fma(fma(fma(fma(_E0, r, _E1), r, _E2), r, _E3), r, _E4), r, _E5)
    return _scaled(fma(p, r * r, r) + ONE, power)


@njit(cache=True, error_model="numpy")
def sigmoid(x: np.float32) -> np.float32:
    return ONE / (ONE + exp(-x))


@njit(cache=True, error_model="numpy")
def tanh(x: np.float32) -> np.float32:
    x = -_SATURATED if x < -_SATURATED else x
    x = _SATURATED if x > _SATURATED else x
    s = x * x
    p = fma(fma(fma(fma(fma(fma(_P6, s, _P5), s, _P4), s, _P3), s, _P2), s, _P1), s, _P0)
    q = fma(fma(fma(_Q3, s, _Q2), s, _Q1), s, _Q0)
    return x * p / q


@njit(cache=True, error_model="numpy")
def log(x: np.float32) -> np.float32:
    """Logarithm of a positive normal number; NaN stays NaN."""
    bits = _bits(x)
    power = (bits - 0x3F3504F3) >> 23  # bits of sqrt(1/2): the mantissa lies between it and its double
    mantissa = _of_bits(np.int32(bits - (power << 23)))
    s = (mantissa - ONE) / (mantissa + ONE)
    square = s * s
    series = fma(fma(fma(fma(_A9, square, _A7), square, _A5), square, _A3), square, TWO)
    return fma(_f(power), _LN2, s * series) + (x - x)


@njit(cache=True)
def total(lanes: Vector) -> np.float32:
    """The sum of LANES numbers."""
    a = (lanes[0] + lanes[8]) + (lanes[4] + lanes[12])
    b = (lanes[1] + lanes[9]) + (lanes[5] + lanes[13])
    c = (lanes[2] + lanes[10]) + (lanes[6] + lanes[14])
    d = (lanes[3] + lanes[11]) + (lanes[7] + lanes[15])
    return (a + c) + (b + d)


for _library in (Path(np.__file__).parents[1] / "numpy.libs").glob("libscipy_openblas64_*"):
    llvmlite.binding.load_library_permanently(str(_library))
_pointer = types.CPointer(types.float32)
_sgemm: Any = types.ExternalFunction(
    "scipy_cblas_sgemm64_",
    types.void(
        *(types.int32, types.int32, types.int32, types.int64, types.int64, types.int64),
        *(types.float32, _pointer, types.int64, _pointer, types.int64, types.float32, _pointer, types.int64),
    ),
)
_sgemv: Any = types.ExternalFunction(
    "scipy_cblas_sgemv64_",
    types.void(
        *(types.int32, types.int32, types.int64, types.int64, types.float32, _pointer, types.int64),
        *(_pointer, types.int64, types.float32, _pointer, types.int64),
    ),
)
_ROWS, _PLAIN, _TURNED = np.int32(101), np.int32(111), np.int32(112)  # cblas.h


@njit(cache=True)
def _apart(matrix: Matrix) -> int:
    """Distance, in numbers, between the beginnings of two rows; torch gives the stride of a single row any value."""
    return max(matrix.strides[0] // 4, matrix.shape[1])


@njit(cache=True)
def product(a: Matrix, b: Matrix, out: Matrix, kept: np.float32) -> None:
    """out = a b + kept * out; rows are contiguous each, and those of `a` may be longer than `b` has rows."""
    m, (k, n) = len(a), b.shape
    of_a, of_b, of_out = _apart(a), _apart(b), _apart(out)
    _sgemm(_ROWS, _PLAIN, _PLAIN, m, n, k, ONE, a.ctypes, of_a, b.ctypes, of_b, kept, out.ctypes, of_out)


@njit(cache=True)
def product_with_turned(a: Matrix, b: Matrix, out: Matrix, kept: np.float32) -> None:
    """out = a b^T + kept * out; rows are contiguous each, and those of `out` may be longer than `b` has rows."""
    m, (n, k) = len(a), b.shape
    of_a, of_b, of_out = _apart(a), _apart(b), _apart(out)
    _sgemm(_ROWS, _PLAIN, _TURNED, m, n, k, ONE, a.ctypes, of_a, b.ctypes, of_b, kept, out.ctypes, of_out)


@njit(cache=True)
def product_of_turned(a: Matrix, b: Matrix, out: Matrix, kept: np.float32) -> None:
    """out = a^T b + kept * out; rows are contiguous each, and those of `a` may be longer than `out` has rows."""
    (m, n), k = out.shape, len(a)
    of_a, of_b, of_out = _apart(a), _apart(b), _apart(out)
    _sgemm(_ROWS, _TURNED, _PLAIN, m, n, k, ONE, a.ctypes, of_a, b.ctypes, of_b, kept, out.ctypes, of_out)


@njit(cache=True)
def product_with_vector(a: Matrix, x: Vector, out: Vector) -> None:
    """out = a x; all contiguous."""
    m, n = a.shape
    _sgemv(_ROWS, _PLAIN, m, n, ONE, a.ctypes, n, x.ctypes, np.int64(1), ZERO, out.ctypes, np.int64(1))
