"""Runs a few lines of IR over arrays: one thread per element, operands ``%a %b %c`` in, ``%r`` out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.device.arena import Arena
from kernelwright.device.reference import ReferenceResult, run_reference
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module, parse_module

Array = npt.NDArray[Any]

DTYPES: dict[str, Any] = {
    "i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64,
    "half": np.float16, "float": np.float32, "double": np.float64, "bfloat": np.uint16, "ptr": np.uint64,
}  # fmt: skip

HEADER = """target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""


def container(type: str) -> str:
    """The type in memory of a value: odd integers travel in the next one that NumPy has, ``i128`` as it is."""
    if re.fullmatch(r"i\d+", type):
        bits = int(type[1:])
        return next((f"i{n}" for n in (8, 16, 32, 64) if n >= bits), "i128")
    return type


def item(type: str) -> Any:
    """The NumPy type of one element: vectors are rows of it, ``i128`` two ``uint64``."""
    vector = re.fullmatch(r"<(\d+) x (\w+)>", type)
    if vector:
        return np.dtype((DTYPES[vector[2]], (int(vector[1]),)))
    return np.dtype((np.uint64, (2,))) if type == "i128" else np.dtype(DTYPES[container(type)])


def declare(body: str) -> str:
    """A declaration for each intrinsic that the body calls with plain arguments."""
    found = {}
    for match in re.finditer(r"call (?:[\w.]+ )*?(\{[^}]*\}|<[^>]*>|\w+) @([\w.]+)\(([^)]*)\)", body):
        types = [re.match(r"(<[^>]*>|ptr addrspace\(\d\)|\w+)", a.strip())[1] for a in match[3].split(",") if a.strip()]  # type: ignore[index]
        found[match[2]] = f"declare {match[1]} @{match[2]}({', '.join(types)})"
    return "\n".join(found.values())


def kernel(body: str, types: list[str], result: str, extra: str = "", attributes: str = "") -> Module:
    """The module with kernel ``k`` that applies ``body`` element by element."""
    names = "abcd"[: len(types)]
    lines = []
    for name, type in zip(names, types, strict=True):
        box = container(type)
        lines.append(f"  %g{name} = getelementptr {box}, ptr %p{name}, i64 %i")
        target = f"%{name}" if box == type else f"%box{name}"
        lines.append(f"  {target} = load {box}, ptr %g{name}")
        if box != type:
            lines.append(f"  %{name} = trunc {box} {target} to {type}")
    out = container(result)
    store = f"  store {out} %r, ptr %gr"
    if out != result:
        store = f"  %boxr = zext {result} %r to {out}\n  store {out} %boxr, ptr %gr"
    parameters = ", ".join(f"ptr %p{n}" for n in [*names, "r"])
    registers = "\n".join(
        f"declare i32 @llvm.nvvm.read.ptx.sreg.{r}.x()" for r in ("tid", "ctaid") if f"sreg.{r}.x()" not in body + extra
    )
    return parse_module(f"""{HEADER}
{extra}
define ptx_kernel void @k({parameters}) {attributes} {{
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 128
  %index = add i32 %first, %tid
  %i = zext i32 %index to i64
{chr(10).join(lines)}
  %gr = getelementptr {out}, ptr %pr, i64 %i
{body}
{store}
  ret void
}}
{registers}
{declare(body)}
""")


def run(module: Module, result: str, *inputs: Array, schedule: Schedule = Schedule()) -> tuple[Array, ReferenceResult]:  # noqa: B008
    """Runs ``kernel``'s module over the inputs; they are padded to whole blocks of 128 threads with their last row."""
    count = len(inputs[0])
    padded = -(-count // 128) * 128
    with Arena() as arena:
        addresses = []
        for n, values in enumerate(inputs):
            array = np.concatenate([values, np.repeat(values[-1:], padded - count, axis=0)])
            buffer = arena.allocate(array.nbytes, f"input {n}")
            arena.view(buffer)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            addresses.append(buffer.address)
        kind = item(result)
        out = arena.allocate(padded * kind.itemsize, "result")
        packed = np.array([*addresses, out.address], np.uint64).tobytes()
        outcome = run_reference(module, "k", (padded // 128, 1, 1), (128, 1, 1), packed, arena, schedule=schedule)
        assert outcome.fault is None, outcome.fault
        base = kind.subdtype[0] if kind.subdtype else kind
        shape = kind.subdtype[1] if kind.subdtype else ()
        return arena.view(out, base).reshape(padded, *shape)[:count].copy(), outcome


def evaluate(body: str, types: list[str], result: str, *inputs: Array, extra: str = "", attributes: str = "") -> Array:
    """The values of ``%r``."""
    return run(kernel(body, types, result, extra, attributes), result, *inputs)[0]


# -- edge values -------------------------------------------------------------------------------------------------------


def integers(bits: int, count: int = 200) -> Array:
    """Unsigned patterns of ``bits`` bits: every edge value, then random ones of every magnitude."""
    rng = np.random.default_rng(20)
    top = 1 << bits
    edges = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1]
    random = [int(rng.integers(0, 2**62)) >> int(rng.integers(0, 62)) for _ in range(count)]
    random += [top - 1 - r for r in random[:50]]
    values = [v % top for v in edges + random]
    if bits > 64:
        return np.array([[v % 2**64, v >> 64] for v in values], np.uint64)
    return np.array(values, DTYPES[container(f"i{bits}")])


def pairs(values: Array, other: Array | None = None) -> tuple[Array, Array]:
    """Every edge value with every other, then the values with themselves in another order."""
    other = values if other is None else other
    edges_a, edges_b = values[:16], other[:16]
    a = np.concatenate([np.repeat(edges_a, len(edges_b), axis=0), values])
    shuffled = np.resize(np.roll(other, 7, axis=0), (len(values), *other.shape[1:]))
    b = np.concatenate([np.tile(edges_b, (len(edges_a), *[1] * (other.ndim - 1))), shuffled])
    return a, b


_FLOAT_EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1.5, float("inf"), float("-inf"), float("nan"), 1e-45, -1e-40, 1.1754944e-38,
    3.4028235e38, -3.4028235e38, 65504.0, 6e-8, 6.1e-5, 2147483648.0, -2147483648.0, 4294967296.0, 9.3e18, 1e300, 5e-324,
]  # fmt: skip


def floats(type: str, count: int = 200) -> Array:
    """Edge values and random ones of every magnitude, in the format."""
    rng = np.random.default_rng(21)
    wide = np.array([*_FLOAT_EDGES, *rng.normal(size=count) * 10.0 ** rng.uniform(-9, 9, count)])
    with np.errstate(all="ignore"):
        if type == "bfloat":
            return (wide.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        values: Array = wide.astype(DTYPES[type])
    return values


def bfloat(values: Array) -> Array:
    """``bfloat`` patterns as float32."""
    wide: Array = (values.astype(np.uint32) << 16).view(np.float32)
    return wide


def same(found: Array, expected: Array) -> None:
    """Equal bits, where any NaN equals any other."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape, (found.dtype, expected.dtype)
    if found.dtype.kind == "f":
        bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[found.dtype.itemsize]
        nan = np.isnan(found) & np.isnan(expected)
        wrong = (found.view(bits) != expected.view(bits)) & ~nan
    else:
        wrong = found != expected
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise AssertionError(
            f"{wrong.sum()} of {wrong.size} differ, first at {at}: {found[at]!r}, not {expected[at]!r}"
        )
