"""The names of the runtime's row functions: what vector code cannot say in a few instructions.

``row_NAME(result, a, b, c, n)`` in ``runtime/``; generated code finds them by their position here.
"""

from __future__ import annotations

_DIVISIONS = tuple(f"{op}{bits}" for op in ("udiv", "sdiv", "urem", "srem") for bits in (32, 64, 128))
_INTEGERS = ("mulhi_ll", "mulhi_ull", "prmt", "fns", "permute32")
BITS = tuple(f"{name}{bits}" for name in ("ctlz", "cttz", "ctpop", "bitreverse", "fshl", "fshr") for bits in (32, 64))
"""What a vector unit without AVX-512 is slow to be taught: code that must be ready soon calls these."""
_WIDE = ("mul64", "low64", "high64")
"""Of 64-bit numbers: their product, and their halves."""
CONVERSIONS = (
    *(f"{source}_to_{target}" for source in ("float", "double") for target in ("s32", "u32", "s64", "u64")),
    *(f"{source}_to_{target}" for source in ("s64", "u64") for target in ("float", "double")),
)
"""Of lanes; towards zero and saturating, a NaN is 0, where the target is an integer."""
_WARP = (
    *(f"match_{kind}{bits}" for kind in ("any", "all") for bits in (32, 64)),
    *(f"redux_{name}" for name in ("add", "and", "or", "xor", "umin", "umax", "min", "max")),
    *(f"redux_{name}{how}" for name in ("fmin", "fmax") for how in ("", "_nan", "_abs", "_abs_nan")),
)
_APPROXIMATE = (
    "ex2_approx", "lg2_approx", "sin_approx", "cos_approx", "tanh_approx", "rsqrt_approx", "rsqrt_approx_d",
)  # fmt: skip
LIBRARY = (
    "exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
)  # fmt: skip
_LIBRARY = tuple(f"{name}_{s}" for name in (*LIBRARY, "pow", "atan2", "ldexp", "frexp", "frexp_exponent") for s in "fd")
_NARROW = (
    "frem_float", "frem_double", "frem_half", "frem_bfloat", "half_from_double", "bfloat_from_double", "fma_half",
    "fma_bfloat", "bfloat_from_u64", "bfloat_from_s64", "half_from_u64", "half_from_s64",
)  # fmt: skip
_ROUNDED = tuple(
    f"{name}_{mode}"
    for name in (
        *(f"{op}_{s}" for op in ("add", "mul", "div", "fma", "sqrt", "rcp") for s in "fd"),
        *("d2f", "i2f", "ui2f", "ll2f", "ll2d", "ull2f", "ull2d"),
    )
    for mode in ("rz", "rm", "rp")
)

ROWS: tuple[str, ...] = (
    *_DIVISIONS, *_INTEGERS, *BITS, *_WIDE, *CONVERSIONS, *_WARP, *_APPROXIMATE, *_LIBRARY, *_NARROW, *_ROUNDED,
)  # fmt: skip
