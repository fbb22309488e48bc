"""16-bit floating point, comparisons, conversions and predicates in inline PTX: both executors against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelwright.codegen.inline_asm.ptx_instructions import FAMILIES
from kernelwright.codegen.machine.assemble import assemble, find_assemblers
from kernelwright.codegen.ptx import generate
from kernelwright.device.arena import Arena
from tests.simt.harness import Array, Case, ir

Oracle = Callable[..., Array]
COUNT = 256
_LETTERS = {"r": "i32", "h": "i16", "f": "float", "l": "i64", "d": "double"}
_NUMPY: dict[str, Any] = {"r": np.uint32, "h": np.uint16, "f": np.float32, "l": np.uint64, "d": np.float64}


def half(a: Array) -> Array:
    return a.view(np.float16).astype(np.float64)


def bf(a: Array) -> Array:
    return (a.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def to_half(x: Array) -> Array:
    return x.astype(np.float16).view(np.uint16)


def to_bf(x: Array) -> Array:
    """Rounded to nearest even once: a ``float64`` has more than twice the digits."""
    with np.errstate(over="ignore"):
        near = x.astype(np.float32)
    cut = (near.view(np.uint32) & 0xFFFF0000).view(np.float32)
    low, high = cut.astype(np.float64), (cut.view(np.uint32) + 0x10000).view(np.float32).astype(np.float64)
    middle = (low + high) / 2
    odd = cut.view(np.uint32) >> 16 & 1 == 1
    up = (np.abs(x) > np.abs(middle)) | ((x == middle) & odd)
    out = np.where(up, high, low)
    return (out.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def on_halves(f: Oracle) -> Oracle:
    return lambda *v: to_half(f(*map(half, v)))


def on_bf(f: Oracle) -> Oracle:
    return lambda *v: to_bf(f(*map(bf, v)))


def masks(test: Oracle, read: Oracle = half, yes: int = 0xFFFF) -> Oracle:
    return lambda *v: np.where(test(*map(read, v)), yes, 0).astype(np.uint16)


def halves_of(f: Oracle) -> Oracle:
    """On both halves of 32-bit words."""
    return lambda *v: f(*(x.view(np.uint16) for x in v)).view(np.uint32)


def relu(x: Array) -> Array:
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def clip(x: Array) -> Array:
    return np.where(np.isnan(x), 0, np.clip(x, 0, 1))


NARROW: list[tuple[str, str, Oracle]] = []
"""Constraints, PTX and what NumPy says of the operands."""
for word, function in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "min": np.fmin, "max": np.fmax}.items():
    NARROW += [
        ("=r,r,r", f"{word}.f16x2 $0, $1, $2;", halves_of(on_halves(function))),
        ("=h,h,h", f"{word}.f16 $0, $1, $2;", on_halves(function)),
        ("=r,r,r", f"{word}.bf16x2 $0, $1, $2;", halves_of(on_bf(function))),
        ("=h,h,h", f"{word}.bf16 $0, $1, $2;", on_bf(function)),
    ]
NARROW += [
    ("=r,r,r,r", "fma.rn.f16x2 $0, $1, $2, $3;", halves_of(on_halves(lambda a, b, c: a * b + c))),
    ("=r,r,r,r", "fma.rn.relu.f16x2 $0, $1, $2, $3;", halves_of(on_halves(lambda a, b, c: relu(a * b + c)))),
    ("=r,r,r,r", "fma.rn.sat.f16x2 $0, $1, $2, $3;", halves_of(on_halves(lambda a, b, c: clip(a * b + c)))),
    ("=r,r,r", "add.sat.f16x2 $0, $1, $2;", halves_of(on_halves(lambda a, b: clip(a + b)))),
    ("=r,r,r", "max.NaN.f16x2 $0, $1, $2;", halves_of(on_halves(np.maximum))),
    ("=h,h", "neg.f16 $0, $1;", lambda a: a ^ np.uint16(0x8000)),
    ("=r,r", "neg.f16x2 $0, $1;", lambda a: a ^ np.uint32(0x80008000)),
    ("=r,r", "abs.bf16x2 $0, $1;", lambda a: a & np.uint32(0x7FFF7FFF)),
    ("=r,r,r", "set.lt.u32.f16x2 $0, $1, $2;", halves_of(masks(np.less))),
    ("=r,r,r", "set.ge.f16x2.f16x2 $0, $1, $2;", halves_of(masks(np.greater_equal, yes=0x3C00))),
    ("=r,r,r", "set.neu.bf16x2.bf16x2 $0, $1, $2;", halves_of(masks(np.not_equal, bf, 0x3F80))),
    ("=r,r,r", "set.nan.f16x2.f16x2 $0, $1, $2;", halves_of(masks(lambda a, b: np.isnan(a) | np.isnan(b), yes=0x3C00))),
    ("=r,r,r", "{.reg .pred p, q; setp.gt.f16x2 p|q, $1, $2; selp.u32 $0, 1, 2, p; @q add.u32 $0, $0, 8;}",
     lambda a, b: np.where(half(a)[::2] > half(b)[::2], 1, 2) + 8 * (half(a)[1::2] > half(b)[1::2])),
    ("=r,f,f", "cvt.rn.f16x2.f32 $0, $1, $2;", lambda a, b: to_half(b).astype(np.uint32) | to_half(a).astype(np.uint32) << 16),
    ("=r,f,f", "cvt.rn.bf16x2.f32 $0, $1, $2;",
     lambda a, b: to_bf(b.astype(np.float64)).astype(np.uint32) | to_bf(a.astype(np.float64)).astype(np.uint32) << 16),
    ("=h,f", "{ .reg .f16 t; cvt.rn.f16.f32 t, $1; mov.b16 $0, t; }", to_half),
    ("=h,d", "cvt.rn.f16.f64 $0, $1;", to_half),
    ("=h,f", "cvt.rz.f16.f32 $0, $1;", lambda a: directed(a, "rz")),
    ("=h,f", "cvt.rm.f16.f32 $0, $1;", lambda a: directed(a, "rm")),
    ("=h,f", "cvt.rp.f16.f32 $0, $1;", lambda a: directed(a, "rp")),
    ("=f,h", "cvt.f32.f16 $0, $1;", lambda a: half(a).astype(np.float32)),
    ("=f,h", "cvt.f32.bf16 $0, $1;", lambda a: bf(a).astype(np.float32)),
    ("=h,h", "cvt.rni.f16.f16 $0, $1;", on_halves(np.rint)),
    ("=h,h", "cvt.rmi.bf16.bf16 $0, $1;", on_bf(np.floor)),
    ("=h,r", "cvt.rn.f16.s32 $0, $1;", lambda a: to_half(a.view(np.int32).astype(np.float64))),
    ("=h,l", "cvt.rn.f16.u64 $0, $1;", lambda a: to_half(a.astype(np.float64))),
    ("=h,r", "cvt.rn.bf16.u32 $0, $1;", lambda a: to_bf(a.astype(np.float64))),
    ("=h,h", "cvt.rzi.s16.f16 $0, $1;", lambda a: clamped(np.trunc(half(a)), np.int16).view(np.uint16)),
    ("=r,h", "cvt.rni.u32.f16 $0, $1;", lambda a: clamped(np.rint(half(a)), np.uint32)),
    ("=r,f", "cvt.rzi.u8.f32 $0, $1;", lambda a: clamped(np.trunc(a), np.uint8).astype(np.uint32)),
    ("=r,r", "cvt.sat.u8.s32 $0, $1;", lambda a: np.clip(a.view(np.int32), 0, 255).astype(np.uint32)),
    ("=r,r", "cvt.sat.s8.u32 $0, $1;", lambda a: np.minimum(a, 127)),
    ("=r,r", "cvt.s8.s32 $0, $1;", lambda a: a.astype(np.int8).astype(np.int32).view(np.uint32)),
    ("=h,h,h,h", "{.reg .f16x2 x, y; mov.b32 x, {$1, $2}; fma.rn.f16x2 y, x, x, x; mov.b32 {$0, _}, y; add.f16 $0, $0, $3;}",
     lambda a, b, c: on_halves(np.add)(on_halves(lambda x: x * x + x)(a), c)),
    ("=f,f", "cvt.sat.f32.f32 $0, $1;", lambda a: clip(a).astype(np.float32)),
    ("=r,r,r", "shl.b32 $0, $1, $2;", lambda a, b: np.where(b < 32, a << (b & 31), 0)),
    ("=r,r,r", "shr.s32 $0, $1, $2;", lambda a, b: (a.view(np.int32) >> np.minimum(b, 31).view(np.int32)).view(np.uint32)),
    ("=r,f,f", "set.le.u32.f32 $0, $1, $2;", lambda a, b: np.where(a <= b, 0xFFFFFFFF, 0)),
    ("=r,f,f", "{.reg .pred p; setp.equ.and.f32 p, $1, $2, 1; selp.u32 $0, 5, 6, p;}",
     lambda a, b: np.where((a == b) | np.isnan(a) | np.isnan(b), 5, 6)),
    ("=r,f,f", "{.reg .pred p; setp.ne.f32 p, $1, $2; selp.u32 $0, 5, 6, p;}",
     lambda a, b: np.where((a < b) | (a > b), 5, 6)),
    ("=h,h", "{.reg .f16 t; ex2.approx.f16 t, $1; mov.b16 $0, t;}", lambda a: to_half(np.exp2(half(a)).astype(np.float32))),
    ("=r,r", "tanh.approx.f16x2 $0, $1;", halves_of(lambda a: to_half(np.tanh(half(a)).astype(np.float32)))),
]  # fmt: skip
"""``ex2`` and ``tanh`` are the single-precision result rounded; PTX allows a GPU to differ in the last digits."""


def directed(a: Array, mode: str) -> Array:
    """A ``float16`` in the direction of zero, below or above."""
    near = a.astype(np.float16)
    x, y = a.astype(np.float64), near.astype(np.float64)
    toward = {"rz": np.zeros_like(near), "rm": np.full_like(near, -np.inf), "rp": np.full_like(near, np.inf)}[mode]
    beyond = {"rz": np.abs(y) > np.abs(x), "rm": y > x, "rp": y < x}[mode]
    return np.where(beyond, np.nextafter(near, toward), near).view(np.uint16)


def clamped(x: Array, type: npt.DTypeLike) -> Array:
    """A NaN is 0."""
    about = np.iinfo(type)  # type: ignore[type-var]
    return np.clip(np.nan_to_num(x, nan=0, posinf=about.max, neginf=about.min), about.min, about.max).astype(type)


def inputs(constraint: str, n: int, seed: int) -> Array:
    """Bit patterns of all kinds of numbers; words hold pairs of 16-bit ones."""
    r = np.random.default_rng([seed, n])
    special = np.array(
        [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 1, 0x8001, 0x3FF, 0x400, 0x7BFF, 0x3F80, 0x4300]
    )
    some = np.where(r.random(2 * COUNT) < 0.2, r.choice(special, 2 * COUNT), r.integers(0x3000, 0x5000, 2 * COUNT))
    some = (some ^ r.choice([0, 0x8000], 2 * COUNT)).astype(np.uint16)
    if constraint == "h":
        return some[:COUNT]
    if constraint in "fd":
        scale = 10.0 ** r.integers(-9, 7, COUNT)
        return np.where(r.random(COUNT) < 0.1, r.choice([0, np.nan, np.inf, -np.inf, 65519.99, 65520, 3.5], COUNT),
                        r.normal(size=COUNT) * scale).astype(_NUMPY[constraint])  # fmt: skip
    if constraint == "l":
        return r.integers(0, 2**64, COUNT, np.uint64) >> r.integers(0, 64, COUNT, np.uint64)
    return some.view(np.uint32)


def small(ptx: str, n: int, values: Array) -> Array:
    """Shift amounts, mostly below the width; and integers that a 16-bit number can hold."""
    if ptx.startswith("sh") and n == 1:
        return (values % 40).astype(np.uint32)
    if ".s32 $0" in ptx or ".u32 $0" in ptx:
        return values >> (np.arange(COUNT) % 32).astype(np.uint32) if ptx.startswith("cvt") else values
    return values


def kernel(entries: list[tuple[str, str, Oracle]]) -> str:
    """One kernel that does each entry on its own arrays."""
    parameters, lines = [], ["  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "  %i = zext i32 %t to i64"]
    for k, (constraints, ptx, _) in enumerate(entries):
        types = [_LETTERS[c.lstrip("=")] for c in constraints.split(",")]
        parameters += [f"ptr %p{k}x{n}" for n in range(len(types))]
        given = []
        for n, type in enumerate(types):
            lines.append(f"  %g{k}x{n} = getelementptr {type}, ptr %p{k}x{n}, i64 %i")
            if n:
                lines.append(f"  %v{k}x{n} = load {type}, ptr %g{k}x{n}")
                given.append(f"{type} %v{k}x{n}")
        lines.append(f'  %r{k} = call {types[0]} asm "{ptx}", "{constraints}"({", ".join(given)})')
        lines.append(f"  store {types[0]} %r{k}, ptr %g{k}x0")
    return f"""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k({", ".join(parameters)}) {{
{chr(10).join(lines)}
  ret void
}}
"""


@pytest.mark.parametrize("seed", range(2))
def test_16_bit_numbers_and_conversions(arena: Arena, seed: int) -> None:
    arguments: list[Array] = []
    for constraints, ptx, _ in NARROW:
        letters = [c.lstrip("=") for c in constraints.split(",")]
        result = np.zeros(COUNT, _NUMPY[letters[0]])
        # Executors may differ in the bits of a NaN, so what can be one is compared as numbers.
        arguments.append(
            result.view(np.float16) if letters[0] in "rh" and "f16" in ptx and "bf16" not in ptx else result
        )
        arguments += [small(ptx, n, inputs(c, n, seed)) for n, c in enumerate(letters[1:])]
    ran = Case(ir(kernel(NARROW)), "k", 1, COUNT, *arguments).agree(arena)
    at = 0
    for constraints, ptx, oracle in NARROW:
        count = constraints.count(",")
        with np.errstate(all="ignore"):
            want = np.asarray(oracle(*arguments[at + 1 : at + 1 + count]))
        same(ran.arrays[at].view(_NUMPY[constraints[1]]), want, ptx)
        at += count + 1


def same(found: Array, want: Array, ptx: str) -> None:
    """Equal bits; a NaN is as good as another."""
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(found, want, err_msg=ptx)
        return
    want = want.astype(found.dtype)
    equal = found == want
    if "16" in ptx:
        read = bf if "bf16" in ptx else half
        a, b = (read(np.ascontiguousarray(v)).reshape(COUNT, -1) for v in (found, want))
        equal = equal | (
            ((a == b) & (found.view(np.uint16) == want.view(np.uint16)).reshape(a.shape)) | (np.isnan(a) & np.isnan(b))
        ).all(1)
    assert equal.all(), (
        f"{ptx}: {[(hex(int(x)), hex(int(y))) for x, y in zip(found[~equal], want[~equal], strict=True)][:5]}"
    )


def test_the_table_of_instructions_is_met() -> None:
    """Every word here is one that inline PTX knows."""
    for _, ptx, _ in NARROW:
        words = [w for w in ptx.replace("{", " ").replace(";", " ; ").split() if "." in w and not w.startswith(".")]
        assert {w.split(".")[0] for w in words} <= set(FAMILIES)


@pytest.mark.skipif(not find_assemblers(), reason="neither nvJitLink nor ptxas is installed")
def test_assemblers_take_every_entry(arena: Arena) -> None:
    """What is tested here is PTX indeed: each instruction is in the machine code of a GPU."""
    text = f"""
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
{kernel(NARROW)}"""
    assert assemble(generate(text, "sm_90").ptx, "sm_90")
