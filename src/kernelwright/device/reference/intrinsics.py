"""Intrinsics that compute a value from values, as Python expressions (the templates of ``ops``).

``{F}`` is the format of the result or first operand, ``{fma}`` the fused helper of that format (``{format}`` its last
argument), ``{bits}`` and ``{from_bits}`` its conversions, ``{V}`` the width of the second operand.
"""

from __future__ import annotations

import re

from kernelwright.device.reference.nvvm import NVVM

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
    "objectsize": "0 if {b} else {m}",
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

TEMPLATES: dict[str, str] = {
    **{f"llvm.{name}": text for name, text in {**_LLVM_INTEGER, **_LLVM_FLOAT}.items()},
    **{f"llvm.nvvm.{name}": text for name, text in NVVM.items()},
}

_EXACT = frozenset(
    (
        *(
            "fma",
            "fmuladd",
            "fabs",
            "copysign",
            "ldexp",
            "frexp",
            "modf",
            "floor",
            "ceil",
            "trunc",
            "rint",
            "nearbyint",
        ),
        *("roundeven", "round", "minnum", "maxnum", "minimumnum", "maximumnum", "minimum", "maximum", "canonicalize"),
    )
)
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
