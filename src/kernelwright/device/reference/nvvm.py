"""NVVM's intrinsics as Python expressions: special registers, arithmetic in every rounding mode, conversions, bits.

``approx`` operations are the double result rounded once; a GPU may differ from it by the error that PTX allows.
"""

from __future__ import annotations

from kernelwright.codegen.memory_layout import RESERVED_BYTES

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
    # What a driver leaves for its own use: nothing here, but for cooperative launches.
    **{f"envreg{n}": "0" for n in range(32)},
    "envreg2": "int(T.block.launch.is_cooperative)",
    "reserved_smem_offset_begin": "RESERVED",
    "reserved_smem_offset_0": "RESERVED",
    "reserved_smem_offset_1": f"RESERVED + {RESERVED_BYTES // 2}",
    "reserved_smem_offset_end": f"RESERVED + {RESERVED_BYTES}",
    "reserved_smem_offset_cap": f"{RESERVED_BYTES}",
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


NVVM = {
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
