"""Intrinsics that compute a value from values, as Python expressions (the templates of ``reference_ops``).

``{F}`` is the format of the result or first operand, ``{fma}`` the fused helper of that format (``{format}`` its last
argument), ``{bits}`` and ``{from_bits}`` its conversions, ``{V}`` the width of the second operand. ``approx`` operations are the double result rounded once; a GPU may differ from it by the
error that PTX allows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from kernelwright.device import numbers as num
from kernelwright.device.values import signed

_TYPE_SUFFIX = re.compile(r"(\.(v\d+)?(i\d+|f\d+|bf16|p\d+))+$")

# -- LLVM --------------------------------------------------------------------------------------------------------------

_LLVM_INTEGER = {
    "smax": "{a} if {a} ^ {S} >= {b} ^ {S} else {b}",
    "smin": "{a} if {a} ^ {S} <= {b} ^ {S} else {b}",
    "umax": "{a} if {a} >= {b} else {b}",
    "umin": "{a} if {a} <= {b} else {b}",
    "abs": "{a} if {a} < {S} else -{a} & {M}",
    "ctpop": "int({a}).bit_count()",
    "ctlz": "{W} - int({a}).bit_length()",
    "cttz": "int({a} & -{a}).bit_length() - 1 if {a} else {W}",
    "bswap": "swap_bytes({a}, {W})",
    "bitreverse": "reverse_bits({a}, {W})",
    "fshl": "({a} << {W} | {b}) << {c} % {W} >> {W} & {M}",
    "fshr": "({a} << {W} | {b}) >> {c} % {W} & {M}",
    "uadd.sat": "min({a} + {b}, {M})",
    "usub.sat": "max({a} - {b}, 0)",
    "sadd.sat": "clamp(signed({a}, {W}) + signed({b}, {W}), {W})",
    "ssub.sat": "clamp(signed({a}, {W}) - signed({b}, {W}), {W})",
    "ushl.sat": "min({a} << {b}, {M}) if {b} < {W} else ({M} if {a} else 0)",
    "sshl.sat": "clamp(signed({a}, {W}) << min({b}, {W}), {W})",
    "scmp": "({a} ^ {S} > {b} ^ {S}) - ({a} ^ {S} < {b} ^ {S}) & {m}",
    "ucmp": "({a} > {b}) - ({a} < {b}) & {m}",
    "uadd.with.overflow": "({a} + {b} & {M}, {a} + {b} > {M})",
    "usub.with.overflow": "({a} - {b} & {M}, {a} < {b})",
    "umul.with.overflow": "({a} * {b} & {M}, {a} * {b} > {M})",
    "sadd.with.overflow": "overflowing(signed({a}, {W}) + signed({b}, {W}), {W})",
    "ssub.with.overflow": "overflowing(signed({a}, {W}) - signed({b}, {W}), {W})",
    "smul.with.overflow": "overflowing(signed({a}, {W}) * signed({b}, {W}), {W})",
    "expect": "{a}",
    "expect.with.probability": "{a}",
    "ssa.copy": "{a}",
    "is.constant": "0",
    "ptrmask": "{a} & {b}",
    "launder.invariant.group": "{a}",
    "strip.invariant.group": "{a}",
    "threadlocal.address": "{a}",
    "fptosi.sat": "to_integer({a}, {w}, True)",
    "fptoui.sat": "to_integer({a}, {w}, False)",
    "lrint": "to_integer({a}, {w}, True, 'rn', {s})",
    "llrint": "to_integer({a}, {w}, True, 'rn', {s})",
    "lround": "to_integer({a}, {w}, True, 'rna', {s})",
    "llround": "to_integer({a}, {w}, True, 'rna', {s})",
    "is.fpclass": "is_class({a}, {F}) & {b} != 0",
    "convert.to.fp16": "half_bits(round_half({a}))",
    "convert.from.fp16": "half_from_bits({a}) * 1.0",
    "objectsize": "{m}",
}

_LLVM_FLOAT = {
    "sqrt": "root({a})",
    "fma": "{fma}({a}, {b}, {c}{format})",
    "fmuladd": "{fma}({a}, {b}, {c}{format})",
    "fabs": "abs({a}) if {a} == {a} else {from_bits}({bits}({a}) & ~{sign})",
    "copysign": "{from_bits}({bits}({a}) & ~{sign} | {bits}({b}) & {sign})",
    "floor": "integral({a}, 'rm')",
    "ceil": "integral({a}, 'rp')",
    "trunc": "integral({a}, 'rz')",
    "rint": "integral({a}, 'rn')",
    "nearbyint": "integral({a}, 'rn')",
    "roundeven": "integral({a}, 'rn')",
    "round": "integral({a}, 'rna')",
    "minnum": "minimum({a}, {b})",
    "maxnum": "maximum({a}, {b})",
    "minimumnum": "minimum({a}, {b})",
    "maximumnum": "maximum({a}, {b})",
    "minimum": "minimum({a}, {b}) if {a} == {a} and {b} == {b} else NAN",
    "maximum": "maximum({a}, {b}) if {a} == {a} and {b} == {b} else NAN",
    "canonicalize": "{a} * 1.0",
    "ldexp": "scale({a}, signed({b}, {V}), {F})",
    "frexp": "fraction_and_exponent({a}, {w1})",
    "modf": "parts({a})",
    "powi": "power({a}, float(signed({b}, {V})))",
    "pow": "power({a}, {b})",
    "atan2": "math.atan2({a}, {b})",
    **{
        name: f"safe(math.{name}, {{a}})"
        for name in (
            *("exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"),
            *("sinh", "cosh", "tanh"),
        )
    },
    "exp10": "power(10.0, {a})",
    "sincos": "(safe(math.sin, {a}), safe(math.cos, {a}))",
}
"""In double, then rounded to the format, except where the last lines of this module say otherwise."""

# -- NVVM: special registers -------------------------------------------------------------------------------------------

_REGISTERS = {
    **{f"{name}.{axis}": f"T.{name}_{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"},
    **{f"{name}.w": value for name, value in (("tid", "0"), ("ctaid", "0"), ("ntid", "1"), ("nctaid", "1"))},
    "laneid": "T.lane",
    "warpid": "T.warp",
    "nwarpid": "(T.ntid_x * T.ntid_y * T.ntid_z + 31) // 32",
    "warpsize": "32",
    "smid": "0",
    "nsmid": "1",
    "gridid": "0",
    "lanemask.eq": "1 << T.lane",
    "lanemask.lt": "(1 << T.lane) - 1",
    "lanemask.le": "(2 << T.lane) - 1",
    "lanemask.gt": "-(2 << T.lane) & 0xFFFFFFFF",
    "lanemask.ge": "-(1 << T.lane) & 0xFFFFFFFF",
    # Time does not pass here, but it must not stand still either: a loop that waits for a clock has to end.
    "clock": "T.block.launch.tick() & 0xFFFFFFFF",
    "clock64": "T.block.launch.tick()",
    "globaltimer": "T.block.launch.tick()",
    "globaltimer.lo": "T.block.launch.tick() & 0xFFFFFFFF",
    "dynamic_smem_size": "T.block.launch.dynamic_bytes",
    "total_smem_size": "T.block.launch.shared_bytes",
    "aggr_smem_size": "T.block.launch.shared_bytes",
    # A grid launched without clusters is one of clusters of one block.
    **{f"cluster.ctaid.{axis}": "0" for axis in "xyzw"},
    **{f"cluster.nctaid.{axis}": "1" for axis in "xyzw"},
    **{f"clusterid.{axis}": f"T.ctaid_{axis}" for axis in "xyz"},
    **{f"nclusterid.{axis}": f"T.nctaid_{axis}" for axis in "xyz"},
    "cluster.ctarank": "0",
    "cluster.nctarank": "1",
}

# -- NVVM: arithmetic --------------------------------------------------------------------------------------------------

_MODES = ("rn", "rz", "rm", "rp")
_SUFFIXES = {"f": "FLOAT_FORMAT", "d": "DOUBLE_FORMAT"}
_HALVES = {"f16": "HALF_FORMAT", "f16x2": "HALF_FORMAT", "bf16": "BFLOAT_FORMAT", "bf16x2": "BFLOAT_FORMAT"}


def _with_flags(function: str, count: int, ftz: bool, sat: bool, format: str, extra: str = "") -> str:
    """``function(a, b, ...)`` with inputs and result flushed, and the result clamped to [0, 1]."""
    operands = [f"flush({{{n}}}, {format})" if ftz else f"{{{n}}}" for n in "abc"[:count]]
    text = f"{function}({', '.join(operands)}{extra})"
    text = f"flush({text}, {format})" if ftz else text
    return f"saturate({text})" if sat else text


def _rounded() -> dict[str, str]:
    """``add.rz.ftz.sat.f`` and its relatives."""
    table: dict[str, str] = {}
    arity = {"add": ("add", 2), "mul": ("multiply", 2), "div": ("divide", 2), "fma": ("fused", 3)}
    arity |= {"sqrt": ("square_root", 1), "rcp": ("reciprocal", 1)}
    for name, (function, count) in arity.items():
        for mode in _MODES:
            for suffix, format in _SUFFIXES.items():
                for ftz in (False, True):
                    for sat in (False, True):
                        key = f"{name}.{mode}{'.ftz' * ftz}{'.sat' * sat}.{suffix}"
                        table[key] = _with_flags(function, count, ftz, sat, format, f", {format}, '{mode}'")
    for suffix, format in _HALVES.items():
        for ftz in (False, True):
            plain = _with_flags("fused", 3, ftz, False, format, f", {format}")
            table[f"fma.rn{'.ftz' * ftz}.{suffix}"] = plain
            table[f"fma.rn{'.ftz' * ftz}.sat.{suffix}"] = f"saturate({plain})"
            table[f"fma.rn{'.ftz' * ftz}.relu.{suffix}"] = f"relu({plain})"
    return table


def _extremes() -> dict[str, str]:
    """``fmin.ftz.nan.xorsign.abs.f16x2`` and its relatives."""
    table: dict[str, str] = {}
    for name, function in (("fmin", "minimum"), ("fmax", "maximum")):
        for suffix, format in {**_SUFFIXES, **_HALVES}.items():
            for ftz in (False, True):
                for nan in (False, True):
                    for xorsign in (False, True):
                        key = f"{name}{'.ftz' * ftz}{'.nan' * nan}{'.xorsign.abs' * xorsign}.{suffix}"
                        helper = f"extreme_xorsign({function}, " if xorsign else f"extreme({function}, "
                        a, b = (f"flush({{{n}}}, {format})" if ftz else f"{{{n}}}" for n in "ab")
                        table[key] = f"{helper}{a}, {b}, {nan})"
    return table


def _conversions() -> dict[str, str]:
    """``f2i.rz.ftz``, ``ull2d.rn``, ``d2f.rp`` and their relatives."""
    table: dict[str, str] = {}
    integers = {"i": (32, True), "ui": (32, False), "ll": (64, True), "ull": (64, False)}
    for mode in _MODES:
        for word, (bits, is_signed) in integers.items():
            for source in "fd":
                nan = 1 << (bits - 1) if source == "d" or bits == 64 else 0
                for ftz in (False, True):
                    value = "flush({a})" if ftz else "{a}"
                    key = f"{source}2{word}.{mode}{'.ftz' * ftz}"
                    table[key] = f"to_integer({value}, {bits}, {is_signed}, '{mode}', {nan})"
                operand = f"signed({{a}}, {bits})" if is_signed else "{a}"
                table[f"{word}2{source}.{mode}"] = f"from_integer({operand}, {_SUFFIXES[source]}, '{mode}')"
        table[f"d2f.{mode}"] = f"round_to({{a}}, FLOAT_FORMAT, '{mode}')"
        table[f"d2f.{mode}.ftz"] = f"flush(round_to({{a}}, FLOAT_FORMAT, '{mode}'))"
    for mode in ("rn", "rz"):
        for name, format in (("f16", "HALF_FORMAT"), ("bf16", "BFLOAT_FORMAT")):
            one = f"round_to({{x}}, {format}, '{mode}')"
            for relu in (False, True):
                shape = f"relu({one})" if relu else one
                a, b = shape.replace("{x}", "{a}"), shape.replace("{x}", "{b}")
                table[f"f2{name}.{mode}{'.relu' * relu}"] = a
                table[f"ff2{name}x2.{mode}{'.relu' * relu}"] = f"({b}, {a})"  # the first operand is the upper half
    return table


def _approximate() -> dict[str, str]:
    functions = {"sin": "math.sin", "cos": "math.cos", "lg2": "math.log2", "ex2": "math.exp2", "sqrt": "math.sqrt"}
    functions |= {"rsqrt": "inverse_root", "rcp": "inverse", "tanh": "math.tanh"}
    table: dict[str, str] = {}
    for name, function in functions.items():
        value = f"round_single(safe({function}, {{x}}))"
        table[f"{name}.approx.f"] = table[f"{name}.approx"] = value.replace("{x}", "{a}")
        flushed = f"flush({value.replace('{x}', 'flush({a})')})"
        table[f"{name}.approx.ftz.f"] = table[f"{name}.approx.ftz"] = flushed
        table[f"{name}.approx.d"] = f"safe({function}, {{a}})"
    # The double forms give the upper 32 bits of the result only (PTX ISA, rcp.approx.ftz.f64).
    table["rcp.approx.ftz.d"] = "upper_half(inverse(flush({a}, DOUBLE_FORMAT)))"
    table["rsqrt.approx.ftz.d"] = "upper_half(inverse_root(flush({a}, DOUBLE_FORMAT)))"
    for name in ("div.approx", "div.full"):
        table[name] = table[f"{name}.f"] = "round_single(quotient({a}, {b}))"
        flushed = "flush(round_single(quotient(flush({a}), flush({b}))))"
        table[f"{name}.ftz"] = table[f"{name}.ftz.f"] = flushed
    table["sqrt.f"] = "round_single(root({a}))"
    return table


def _roundings() -> dict[str, str]:
    table: dict[str, str] = {}
    for name, mode in (("floor", "rm"), ("ceil", "rp"), ("trunc", "rz"), ("round", "rn")):
        table[f"{name}.f"] = table[f"{name}.d"] = f"integral({{a}}, '{mode}')"
        table[f"{name}.ftz.f"] = f"integral(flush({{a}}), '{mode}')"
    return table


_NVVM = {
    **{f"read.ptx.sreg.{name}": text for name, text in _REGISTERS.items()},
    **_rounded(),
    **_extremes(),
    **_conversions(),
    **_approximate(),
    **_roundings(),
    "fabs": "abs({a}) if {a} == {a} else {from_bits}({bits}({a}) & ~{sign})",
    "fabs.ftz": "abs(flush({a}, {F}))",
    "fabs.f": "abs({a})",
    "fabs.d": "abs({a})",
    "fabs.ftz.f": "abs(flush({a}))",
    "neg.bf16": "-{a}",
    "neg.bf16x2": "-{a}",
    "saturate.f": "saturate({a})",
    "saturate.d": "saturate({a})",
    "saturate.ftz.f": "saturate(flush({a}))",
    "f2h.rn": "half_bits(round_half({a}))",
    "f2h.rn.ftz": "half_bits(round_half(flush({a})))",
    "d2i.lo": "double_bits({a}) & 0xFFFFFFFF",
    "d2i.hi": "double_bits({a}) >> 32",
    "lohi.i2d": "double_from_bits({b} << 32 | {a})",
    # Integers.
    "mulhi.i": "signed({a}, 32) * signed({b}, 32) >> 32 & {M}",
    "mulhi.ui": "{a} * {b} >> 32",
    "mulhi.ll": "signed({a}, 64) * signed({b}, 64) >> 64 & {M}",
    "mulhi.ull": "{a} * {b} >> 64",
    "mulhi.s": "signed({a}, 16) * signed({b}, 16) >> 16 & {M}",
    "mulhi.us": "{a} * {b} >> 16",
    "mul24.i": "signed({a} & 0xFFFFFF, 24) * signed({b} & 0xFFFFFF, 24) & {M}",
    "mul24.ui": "({a} & 0xFFFFFF) * ({b} & 0xFFFFFF) & {M}",
    **{f"sad.{s}": f"abs(signed({{a}}, {w}) - signed({{b}}, {w})) + {{c}} & {{M}}"
       for s, w in (("s", 16), ("i", 32), ("ll", 64))},
    **{f"sad.{s}": "abs({a} - {b}) + {c} & {M}" for s in ("us", "ui", "ull")},
    "prmt": "permute({a}, {b}, {c} & 7, {c} >> 4 & 7, {c} >> 8 & 7, {c} >> 12 & 7, {c})",
    "prmt.f4e": "permute_mode('f4e', {a}, {b}, {c})",
    "prmt.b4e": "permute_mode('b4e', {a}, {b}, {c})",
    "prmt.rc8": "permute_mode('rc8', {a}, 0, {b})",
    "prmt.ecl": "permute_mode('ecl', {a}, 0, {b})",
    "prmt.ecr": "permute_mode('ecr', {a}, 0, {b})",
    "prmt.rc16": "permute_mode('rc16', {a}, 0, {b})",
    "fshl.clamp": "({a} << 32 | {b}) << min({c}, 32) >> 32 & {M}",
    "fshr.clamp": "({a} << 32 | {b}) >> min({c}, 32) & {M}",
    "fns": "find_nth_set({a}, {b}, signed({c}, 32))",
    "flo.u": "find_leading({a}, {W}, {b})",
    "flo.s": "find_leading({a} ^ ({M} if {a} & {S} else 0), {W}, {b})",
    "bmsk.clamp": "(1 << min({b}, 32)) - 1 << min({a}, 32) & {M}",
    "bmsk.wrap": "(1 << {b} % 32) - 1 << {a} % 32 & {M}",
    "sext.clamp": "extend({a}, min({b}, 32), True)",
    "sext.wrap": "extend({a}, {b} % 32, True)",
    "zext.clamp": "extend({a}, min({b}, 32), False)",
    "zext.wrap": "extend({a}, {b} % 32, False)",
    **{f"idp4a.{s}.{t}": f"{{c}} + dot({{a}}, {{b}}, 8, {s == 's'}, {t == 's'}) & {{M}}" for s in "su" for t in "su"},
    **{f"idp2a.{s}.{t}": f"{{d}} + dot_pairs({{a}}, {{b}}, {{c}}, {s == 's'}, {t == 's'}) & {{M}}"
       for s in "su" for t in "su"},
    # Addresses.
    "isspacep.shared": "in_shared({a})",
    "isspacep.shared.cluster": "in_shared({a})",
    "isspacep.local": "in_local({a})",
    "isspacep.const": "in_constant(T, {a})",
    "isspacep.global": "in_global(T, {a})",
    **{f"move.{s}": "{a}" for s in ("i16", "i32", "i64", "float", "double", "ptr")},
    "internal.addrspace.wrap": "{a}",
    "is_explicit_cluster": "0",
}  # fmt: skip

TEMPLATES: dict[str, str] = {
    **{f"llvm.{name}": text for name, text in {**_LLVM_INTEGER, **_LLVM_FLOAT}.items()},
    **{f"llvm.nvvm.{name}": text for name, text in _NVVM.items()},
}

_EXACT: tuple[str, ...] = ("fma", "fmuladd", "fabs", "copysign", "ldexp", "frexp", "modf", "floor", "ceil", "trunc", "rint", "nearbyint")
_EXACT += ("roundeven", "round", "minnum", "maxnum", "minimumnum", "maximumnum", "minimum", "maximum", "canonicalize")
ROUNDED = frozenset(f"llvm.{name}" for name in _LLVM_FLOAT if name not in _EXACT)
"""The intrinsics whose template gives a double that still has to be rounded to the format."""

WHOLE = frozenset(name for name in TEMPLATES if name.startswith("llvm.nvvm.ff2"))
"""The intrinsics whose template gives a whole vector, not one element of it."""

IGNORED = frozenset(
    f"llvm.{name}"
    for name in (
        *("lifetime.start", "lifetime.end", "assume", "donothing", "sideeffect", "var.annotation", "prefetch"),
        *("experimental.noalias.scope.decl", "invariant.end", "dbg.value", "dbg.declare", "dbg.label", "dbg.assign"),
        *("nvvm.membar.cta", "nvvm.membar.gl", "nvvm.membar.sys", "nvvm.fence.sc.cluster"),
        *("nvvm.prefetch.global.L1", "nvvm.prefetch.global.L2", "nvvm.prefetch.local.L1", "nvvm.prefetch.local.L2"),
        *("nvvm.prefetch.L1", "nvvm.prefetch.L2", "nvvm.prefetchu.L1", "nvvm.prefetch.global.L2.evict.last"),
        *("nvvm.prefetch.global.L2.evict.normal", "nvvm.applypriority.L2.evict.normal"),
        *("nvvm.applypriority.global.L2.evict.normal", "nvvm.discard.L2", "nvvm.discard.global.L2"),
        *("nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group", "nvvm.cp.async.wait.all", "nvvm.pm.event.mask"),
        *("nvvm.griddepcontrol.wait", "nvvm.griddepcontrol.launch.dependents"),
    )
)
"""What has no effect here: hints, fences (a thread sees every store at once), copies that were done at once."""


def lookup(name: str) -> tuple[str, str] | None:
    """The table's key and template for an intrinsic, its overloaded types stripped if need be."""
    for key in (name, base_name(name)):
        if key in TEMPLATES:
            return key, TEMPLATES[key]
    return None


def base_name(name: str) -> str:
    """``llvm.smax.v2i32`` → ``llvm.smax``."""
    return _TYPE_SUFFIX.sub("", name)


# -- helpers that templates call ---------------------------------------------------------------------------------------


def _safe(function: Callable[[float], float], x: float) -> float:
    """A function of ``math`` where it raises: infinite on overflow and at poles, else NaN."""
    try:
        return function(x)
    except OverflowError:
        return num.INF if function is not math.sinh or x > 0 else -num.INF
    except ValueError:
        return -num.INF if x == 0 and function in (math.log, math.log2, math.log10) else num.NAN


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else x if x == 0 else num.NAN


def _inverse(x: float) -> float:
    return num.quotient(1.0, x)


def _inverse_root(x: float) -> float:
    return num.quotient(1.0, _root(x)) if x != 0 else math.copysign(num.INF, x)


def _upper_half(x: float) -> float:
    return num.double_from_bits(num.double_bits(x) >> 32 << 32) if x == x else x


def _reciprocal(x: float, format: num.Format, mode: num.Mode) -> float:
    return num.divide(1.0, x, format, mode)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return -num.INF if x < 0 and y % 2 == 1 else num.INF
    except ValueError:
        if x == 0:  # zero to a negative power
            return math.copysign(num.INF, x) if y % 2 == 1 else num.INF
        return num.NAN


def _relu(x: float) -> float:
    return x if x > 0 or x != x else 0.0


def _scale(x: float, exponent: int, format: num.Format) -> float:
    if x - x != 0.0 or x == 0.0:
        return x * 1.0
    n, d = x.as_integer_ratio()
    exponent = min(max(exponent, -5000), 5000)
    rounded = num.round_ratio(n << max(exponent, 0), d << max(-exponent, 0), format, "rn")
    return math.copysign(rounded, x)


def _fraction_and_exponent(x: float, width: int) -> tuple[float, int]:
    if x - x != 0.0:
        return x * 1.0, 0
    fraction, exponent = math.frexp(x)
    return fraction, exponent & ((1 << width) - 1)


def _parts(x: float) -> tuple[float, float]:
    if x != x or x - x != 0.0:
        return (num.NAN, num.NAN) if x != x else (math.copysign(0.0, x), x)
    fraction, whole = math.modf(x)
    return fraction, whole


def _extreme(function: Callable[[float, float], float], a: float, b: float, nan: bool) -> float:
    return num.NAN if nan and (a != a or b != b) else function(a, b)


def _extreme_xorsign(function: Callable[[float, float], float], a: float, b: float, nan: bool) -> float:
    """The extreme of the magnitudes, with the product of the signs."""
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    return math.copysign(_extreme(function, abs(a), abs(b), nan), sign)


def _is_class(x: float, format: num.Format) -> int:
    """The one bit of LLVM's ``is.fpclass`` mask that describes ``x``."""
    if x != x:
        quiet = x.bits >> (format.precision - 2) & 1 if type(x) is num.Payload else 1
        return 2 if quiet else 1
    negative = math.copysign(1.0, x) < 0
    size = abs(x)
    kind = 3 if size == 0 else 2 if size < format.smallest_normal else 1 if size < num.INF else 0
    return 1 << (2 + kind) if negative else 1 << (9 - kind)


def _swap_bytes(x: int, width: int) -> int:
    return int.from_bytes(int(x).to_bytes(width // 8, "little"), "big")


def _reverse_bits(x: int, width: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


def _clamp(x: int, width: int) -> int:
    half = 1 << (width - 1)
    return min(max(x, -half), half - 1) & ((1 << width) - 1)


def _overflowing(x: int, width: int) -> tuple[int, bool]:
    half = 1 << (width - 1)
    return x & ((1 << width) - 1), not -half <= x < half


def _permute(a: int, b: int, i0: int, i1: int, i2: int, i3: int, selector: int) -> int:
    """``prmt``: four bytes picked from eight; bit 3 of a selector repeats the sign bit of the byte picked."""
    source = b << 32 | a
    result = 0
    for n, index in enumerate((i0, i1, i2, i3)):
        byte = source >> (8 * index) & 0xFF
        if selector >> (4 * n + 3) & 1:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * n)
    return result


# Which bytes each mode of prmt picks, by the two low bits of the selector (PTX ISA, prmt, table of modes).
_MODE_BYTES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def _permute_mode(mode: str, a: int, b: int, selector: int) -> int:
    return _permute(a, b, *_MODE_BYTES[mode][selector & 3], 0)


def _find_nth_set(mask: int, base: int, offset: int) -> int:
    """PTX ``fns``: the position of the n-th set bit from ``base``, upwards or downwards; all ones when there is none."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
    step, count = (1, offset) if offset > 0 else (-1, -offset)
    position = base
    while 0 <= position < 32:
        if mask >> position & 1:
            count -= 1
            if count == 0:
                return position
        position += step
    return 0xFFFFFFFF


def _find_leading(x: int, width: int, as_shift: int) -> int:
    """PTX ``bfind``: the position of the highest set bit, or the shift that brings it to the top; all ones for zero."""
    if x == 0:
        return 0xFFFFFFFF
    position = int(x).bit_length() - 1
    return width - 1 - position if as_shift else position


def _extend(x: int, width: int, is_signed: bool) -> int:
    """The low ``width`` bits, extended to 32."""
    if width == 0:
        return 0
    low = x & ((1 << width) - 1)
    return signed(low, width) & 0xFFFFFFFF if is_signed else low


def _lanes(x: int, width: int, count: int, is_signed: bool) -> list[int]:
    mask = (1 << width) - 1
    values = [x >> (width * n) & mask for n in range(count)]
    return [signed(v, width) for v in values] if is_signed else values


def _dot(a: int, b: int, width: int, a_signed: bool, b_signed: bool) -> int:
    pairs = zip(_lanes(a, width, 4, a_signed), _lanes(b, width, 4, b_signed), strict=True)
    return sum(x * y for x, y in pairs)


def _dot_pairs(a: int, b: int, high: int, a_signed: bool, b_signed: bool) -> int:
    """``dp2a``: two 16-bit values of ``a`` with the lower or upper two bytes of ``b``."""
    bytes_of_b = _lanes(b, 8, 4, b_signed)[2 if high else 0 :][:2]
    return sum(x * y for x, y in zip(_lanes(a, 16, 2, a_signed), bytes_of_b, strict=True))


HELPERS: dict[str, Any] = {
    "math": math,
    "signed": signed,
    "safe": _safe,
    "root": _root,
    "inverse": _inverse,
    "inverse_root": _inverse_root,
    "upper_half": _upper_half,
    "reciprocal": _reciprocal,
    "power": _power,
    "relu": _relu,
    "scale": _scale,
    "fraction_and_exponent": _fraction_and_exponent,
    "parts": _parts,
    "extreme": _extreme,
    "extreme_xorsign": _extreme_xorsign,
    "is_class": _is_class,
    "swap_bytes": _swap_bytes,
    "reverse_bits": _reverse_bits,
    "clamp": _clamp,
    "overflowing": _overflowing,
    "permute": _permute,
    "permute_mode": _permute_mode,
    "find_nth_set": _find_nth_set,
    "find_leading": _find_leading,
    "extend": _extend,
    "dot": _dot,
    "dot_pairs": _dot_pairs,
    "integral": num.integral,
    "minimum": num.minimum,
    "maximum": num.maximum,
    "saturate": num.saturate,
    "round_to": num.round_to,
    "add": num.add,
    "multiply": num.multiply,
    "divide": num.divide,
    "square_root": num.square_root,
}
