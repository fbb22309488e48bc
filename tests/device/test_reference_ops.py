"""Every opcode of the IR against Python integers and NumPy, on edge values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.device.ir_kernels import DTYPES, Array, bfloat, container, evaluate, floats, integers, item, pairs, same

Binary = Callable[[int, int, int], int]


def to_signed(v: int, bits: int) -> int:
    return v - (1 << bits) if v >> (bits - 1) else v


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def as_int(value: Any) -> int:
    """An element of an input array: ``i128`` is two words."""
    return int(value[0]) | int(value[1]) << 64 if np.ndim(value) else int(value)


def wrap(values: list[int], bits: int) -> Array:
    values = [v % (1 << bits) for v in values]
    if bits > 64:
        return np.array([[v % 2**64, v >> 64] for v in values], np.uint64)
    return np.array(values, DTYPES[container(f"i{bits}")])


INTEGER: dict[str, Binary] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "shl": lambda a, b, w: a << b if b < w else 0,
    "lshr": lambda a, b, w: a >> b if b < w else 0,
    "ashr": lambda a, b, w: to_signed(a, w) >> min(b, w - 1),
    "udiv": lambda a, b, w: a // b if b else -1,
    "urem": lambda a, b, w: a % b if b else -1,
    "sdiv": lambda a, b, w: truncated(to_signed(a, w), to_signed(b, w)) if b else -1,
    "srem": lambda a, b, w: (
        to_signed(a, w) - to_signed(b, w) * truncated(to_signed(a, w), to_signed(b, w)) if b else -1
    ),
}


@pytest.mark.parametrize("bits", [1, 8, 16, 24, 32, 48, 64, 128])
@pytest.mark.parametrize("opcode", INTEGER)
def test_integer_arithmetic(opcode: str, bits: int) -> None:
    a, b = pairs(integers(bits))
    found = evaluate(f"  %r = {opcode} i{bits} %a, %b", [f"i{bits}"] * 2, f"i{bits}", a, b)
    expected = [INTEGER[opcode](as_int(x), as_int(y), bits) for x, y in zip(a, b, strict=True)]
    same(found, wrap(expected, bits))


def test_flags_that_promise_no_overflow_are_ignored() -> None:
    a, b = pairs(integers(32))
    for opcode, flags in (("add", "nuw nsw"), ("mul", "nsw"), ("shl", "nuw"), ("lshr", "exact"), ("or", "disjoint")):
        plain, flagged = (evaluate(f"  %r = {opcode} {f} i32 %a, %b", ["i32", "i32"], "i32", a, b) for f in ("", flags))
        same(plain, flagged)


COMPARISONS: dict[str, Binary] = {
    "eq": lambda a, b, w: a == b,
    "ne": lambda a, b, w: a != b,
    "ugt": lambda a, b, w: a > b,
    "uge": lambda a, b, w: a >= b,
    "ult": lambda a, b, w: a < b,
    "ule": lambda a, b, w: a <= b,
    "sgt": lambda a, b, w: to_signed(a, w) > to_signed(b, w),
    "sge": lambda a, b, w: to_signed(a, w) >= to_signed(b, w),
    "slt": lambda a, b, w: to_signed(a, w) < to_signed(b, w),
    "sle": lambda a, b, w: to_signed(a, w) <= to_signed(b, w),
}


@pytest.mark.parametrize("type", ["i1", "i8", "i32", "i64", "i128", "ptr"])
@pytest.mark.parametrize("predicate", COMPARISONS)
def test_integer_comparison(predicate: str, type: str) -> None:
    bits = 64 if type == "ptr" else int(type[1:])
    a, b = pairs(integers(bits))
    found = evaluate(f"  %r = icmp {predicate} {type} %a, %b", [type] * 2, "i1", a, b)
    expected = [COMPARISONS[predicate](as_int(x), as_int(y), bits) for x, y in zip(a, b, strict=True)]
    same(found, np.array(expected, np.uint8))


ORDER: dict[str, Callable[[Array, Array], Any]] = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": lambda a, b: a != b,
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
    "true": lambda a, b: np.ones(len(a), bool),
    "false": lambda a, b: np.zeros(len(a), bool),
}


@pytest.mark.parametrize("type", ["half", "float", "double"])
@pytest.mark.parametrize("predicate", ORDER)
def test_float_comparison(predicate: str, type: str) -> None:
    a, b = pairs(floats(type))
    found = evaluate(f"  %r = fcmp {predicate} {type} %a, %b", [type] * 2, "i1", a, b)
    same(found, ORDER[predicate](a, b).astype(np.uint8))


ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
    "frem": np.fmod,
}


@pytest.mark.parametrize("type", ["half", "float", "double"])
@pytest.mark.parametrize("opcode", ARITHMETIC)
def test_float_arithmetic(opcode: str, type: str) -> None:
    a, b = pairs(floats(type))
    found = evaluate(f"  %r = {opcode} {type} %a, %b", [type] * 2, type, a, b)
    with np.errstate(all="ignore"):
        same(found, ARITHMETIC[opcode](a, b))


def to_bfloat(values: Array) -> Array:
    """float32 to the nearest bfloat, on bits; NaN becomes the canonical one."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


@pytest.mark.parametrize("opcode", ["fadd", "fsub", "fmul", "fdiv"])
def test_bfloat_arithmetic(opcode: str) -> None:
    a, b = pairs(floats("bfloat"))
    found = evaluate(f"  %r = {opcode} bfloat %a, %b", ["bfloat"] * 2, "bfloat", a, b)
    with np.errstate(all="ignore"):
        # Twice 24 bits of precision are more than twice 8 plus 2: rounding through float32 is harmless.
        same(found, to_bfloat(ARITHMETIC[opcode](bfloat(a), bfloat(b))))


# -- casts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [1, 8, 16, 32, 48, 64])
@pytest.mark.parametrize("source", [1, 8, 16, 24, 32, 64, 128])
def test_integer_casts(source: int, target: int) -> None:
    a = integers(source)
    if source == target:
        return
    for opcode in ("trunc",) if target < source else ("zext", "sext"):
        found = evaluate(f"  %r = {opcode} i{source} %a to i{target}", [f"i{source}"], f"i{target}", a)
        numbers = [as_int(x) for x in a]
        if opcode == "sext":
            numbers = [to_signed(x, source) if source > 1 else -x for x in numbers]
        same(found, wrap(numbers, target))


@pytest.mark.parametrize(("source", "target"), [("double", "float"), ("double", "half"), ("float", "half")])
def test_float_truncation_rounds_once(source: str, target: str) -> None:
    a = np.concatenate([floats(source), _ties(source, target)])
    found = evaluate(f"  %r = fptrunc {source} %a to {target}", [source], target, a)
    with np.errstate(all="ignore"):
        same(found, a.astype(DTYPES[target]))


def _ties(source: str, target: str) -> Array:
    """Values half way between two of the target, and right beside the middle."""
    bits = {"float": 24, "half": 11}[target]
    middle = np.array([(2 * n + 1) * 2.0**-(bits) for n in range(2 ** (bits - 1), 2 ** (bits - 1) + 20)])
    kind = DTYPES[source]
    exact = middle.astype(kind)
    return np.concatenate([exact, np.nextafter(exact, kind(10)), np.nextafter(exact, kind(0))])


def test_bfloat_truncation_and_extension() -> None:
    a = np.concatenate([floats("float"), _ties("float", "half")])
    same(evaluate("  %r = fptrunc float %a to bfloat", ["float"], "bfloat", a), to_bfloat(a))
    b = np.arange(0, 65536, 7, dtype=np.uint16)
    same(evaluate("  %r = fpext bfloat %a to float", ["bfloat"], "float", b), bfloat(b))


@pytest.mark.parametrize(("source", "target"), [("half", "float"), ("half", "double"), ("float", "double")])
def test_float_extension(source: str, target: str) -> None:
    a = floats(source)
    same(evaluate(f"  %r = fpext {source} %a to {target}", [source], target, a), a.astype(DTYPES[target]))


@pytest.mark.parametrize("target", ["i1", "i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("source", ["half", "float", "double"])
@pytest.mark.parametrize("opcode", ["fptosi", "fptoui"])
def test_float_to_integer_saturates(opcode: str, source: str, target: str) -> None:
    a = np.concatenate([floats(source), np.array([254.9, 255.5, 32767.5, -32768.9, -0.9, 0.9], DTYPES[source])])
    bits = max(int(target[1:]), 16)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if opcode == "fptosi" else (0, (1 << bits) - 1)
    nan = 1 << (bits - 1) if source == "double" or bits == 64 else 0

    def convert(x: float) -> int:
        if math.isnan(x):
            return nan
        whole: int = (high if x > 0 else low) if math.isinf(x) else math.trunc(x)
        return max(low, min(whole, high))

    found = evaluate(f"  %r = {opcode} {source} %a to {target}", [source], target, a)
    same(found, wrap([convert(float(x)) for x in a], int(target[1:])))


@pytest.mark.parametrize("target", ["half", "float", "double"])
@pytest.mark.parametrize("bits", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("opcode", ["sitofp", "uitofp"])
def test_integer_to_float_rounds_once(opcode: str, bits: int, target: str) -> None:
    a = integers(bits)
    if bits == 64:  # 2^53 and 2^24 neighbourhoods, where a detour through double would round twice
        near = [(1 << 62) + (1 << 38) + d for d in (-1, 0, 1)] + [2**53 + 1, 2**53 + 3, 2**24 + 1, 2**24 + 3]
        a = np.concatenate([a, np.array(near, np.uint64)])
    found = evaluate(f"  %r = {opcode} i{bits} %a to {target}", [f"i{bits}"], target, a)
    numbers = [to_signed(int(x), bits) if opcode == "sitofp" else int(x) for x in a]
    with np.errstate(all="ignore"):
        # NumPy converts 64-bit integers to float32 with one rounding; half goes through the exact double.
        if target == "half":
            expected = np.array([np.float16(float(n)) if abs(n) < 2**53 else np.copysign(np.inf, n) for n in numbers])
            same(found, expected.astype(np.float16))
        else:
            kind = np.int64 if opcode == "sitofp" else np.uint64
            same(found, np.array(numbers, kind).astype(DTYPES[target]))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("i32", "float"), ("float", "i32"), ("i64", "double"), ("double", "i64"), ("i16", "half"), ("half", "i16"),
        ("i16", "bfloat"), ("bfloat", "i16"), ("<2 x float>", "i64"), ("i64", "<2 x float>"), ("<4 x i8>", "i32"),
        ("i32", "<2 x half>"), ("<2 x i32>", "double"), ("<8 x i8>", "<2 x float>"), ("<2 x i64>", "i128"),
    ],
)  # fmt: skip
def test_bitcast_keeps_every_bit(source: str, target: str) -> None:
    kind = item(source)
    raw = np.random.default_rng(1).integers(0, 256, (300, kind.itemsize), dtype=np.uint8)
    raw[:20, -1] |= 0x7F  # signalling and quiet NaNs with payloads
    base, shape = kind.subdtype if kind.subdtype else (kind, ())
    a = raw.reshape(-1).view(base).reshape(300, *shape)
    found = evaluate(f"  %r = bitcast {source} %a to {target}", [source], target, a)
    assert np.array_equal(np.ascontiguousarray(found).reshape(-1).view(np.uint8), raw.reshape(-1))


@pytest.mark.parametrize("type", ["float", "double", "half", "bfloat", "<4 x float>", "<2 x double>"])
def test_copies_keep_the_payload_of_nans(type: str) -> None:
    kind = item(type)
    raw = np.full((300, kind.itemsize), 0xFF, np.uint8)
    raw[:, :1] = np.arange(300, dtype=np.uint8)[:, None]
    raw[:150, -2] = 0x9F  # signalling
    base, shape = kind.subdtype if kind.subdtype else (kind, ())
    a = raw.reshape(-1).view(base).reshape(300, *shape)
    body = f"  %t = trunc i64 %i to i1\n  %s = select i1 %t, {type} %a, {type} %a\n  %r = freeze {type} %s"
    found = evaluate(body, [type], type, a)
    assert np.array_equal(np.ascontiguousarray(found).reshape(-1).view(np.uint8), raw.reshape(-1))


def test_fneg_flips_the_sign_of_everything() -> None:
    a = np.random.default_rng(2).integers(0, 2**32, 300, dtype=np.uint32)
    a[:50] |= 0x7F800001
    found = evaluate("  %r = fneg float %a", ["float"], "float", a.view(np.float32))
    assert np.array_equal(found.view(np.uint32), a ^ np.uint32(0x80000000))


# -- vectors, aggregates, choices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  %r = add <4 x i32> %a, %b", lambda a, b: a + b),
        ("  %r = ashr <4 x i32> %a, splat (i32 3)", lambda a, b: (a.view(np.int32) >> 3).view(np.uint32)),
        ("  %c = icmp slt <4 x i32> %a, %b\n  %r = select <4 x i1> %c, <4 x i32> %a, <4 x i32> %b",
         lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32)).view(np.uint32)),
        ("  %r = shufflevector <4 x i32> %a, <4 x i32> %b, <4 x i32> <i32 7, i32 0, i32 poison, i32 2>",
         lambda a, b: np.stack([b[:, 3], a[:, 0], a[:, 0], a[:, 2]], 1)),
        ("  %e = extractelement <4 x i32> %a, i32 2\n  %r = insertelement <4 x i32> %b, i32 %e, i64 1",
         lambda a, b: np.stack([b[:, 0], a[:, 2], b[:, 2], b[:, 3]], 1)),
        ("  %m = and i64 %i, 3\n  %e = extractelement <4 x i32> %a, i64 %m\n"
         "  %r = insertelement <4 x i32> %b, i32 %e, i64 %m",
         lambda a, b: np.where(np.arange(len(a))[:, None] % 4 == np.arange(4), a, b)),
        ("  %h = trunc <4 x i32> %a to <4 x i16>\n  %s = sext <4 x i16> %h to <4 x i32>\n  %r = xor <4 x i32> %s, %b",
         lambda a, b: a.astype(np.uint16).view(np.int16).astype(np.int32).view(np.uint32) ^ b),
    ],
)  # fmt: skip
def test_vectors(body: str, expected: Callable[[Array, Array], Array]) -> None:
    a, b = np.random.default_rng(3).integers(0, 2**32, (2, 200, 4), dtype=np.uint32)
    found = evaluate(body, ["<4 x i32>"] * 2, "<4 x i32>", a, b)
    want = expected(a, b)
    if "poison" in body:
        found[:, 2] = want[:, 2]
    same(found, want.astype(np.uint32))


def test_float_vectors_round_each_element() -> None:
    a, b = (np.resize(v, (200, 2)) for v in pairs(floats("float")))
    with np.errstate(all="ignore"):
        same(evaluate("  %r = fmul <2 x float> %a, %b", ["<2 x float>"] * 2, "<2 x float>", a, b), a * b)
        h = a.astype(np.float16)
        same(evaluate("  %r = fadd <2 x half> %a, %a", ["<2 x half>"], "<2 x half>", h), h + h)


def test_aggregates() -> None:
    a = np.arange(100, dtype=np.uint32)
    body = """
  %s0 = insertvalue { i32, { float, i64 }, [2 x i32] } poison, i32 %a, 0
  %f = uitofp i32 %a to float
  %s1 = insertvalue { i32, { float, i64 }, [2 x i32] } %s0, float %f, 1, 0
  %s2 = insertvalue { i32, { float, i64 }, [2 x i32] } %s1, i32 7, 2, 1
  %x = extractvalue { i32, { float, i64 }, [2 x i32] } %s2, 0
  %inner = extractvalue { i32, { float, i64 }, [2 x i32] } %s2, 1
  %y = extractvalue { float, i64 } %inner, 0
  %yi = fptosi float %y to i32
  %z = extractvalue { i32, { float, i64 }, [2 x i32] } %s2, 2, 1
  %t = add i32 %x, %yi
  %r = add i32 %t, %z"""
    same(evaluate(body, ["i32"], "i32", a), 2 * a + np.uint32(7))


def test_select_freeze_and_undefined_values() -> None:
    a = integers(32)
    same(evaluate("  %f = freeze i32 undef\n  %r = add i32 %a, %f", ["i32"], "i32", a), a)
    same(evaluate("  %r = select i1 poison, i32 0, i32 %a", ["i32"], "i32", a), a)


# -- addresses ---------------------------------------------------------------------------------------------------------


def test_getelementptr_steps_through_types_and_signs() -> None:
    n = 64
    index = np.arange(-n // 2, n // 2, dtype=np.int32)
    body = """
  %m = getelementptr {{ i8, [3 x {{ i16, i64 }}] }}, ptr null, i32 %a, i32 1, i8 %b8, i32 1
  %r = ptrtoint ptr %m to i64""".replace("{{", "{").replace("}}", "}")
    found = evaluate("  %b8 = trunc i32 %a to i8\n" + body, ["i32"], "i64", index.view(np.uint32))
    # { i8, pad, [3 x { i16, pad, i64 }] } is 8 + 3 * 16 = 56 bytes; the inner index is a signed byte.
    expected = index.astype(np.int64) * 56 + 8 + index * 16 + 8
    same(found, expected.view(np.uint64))


def test_address_spaces() -> None:
    a = np.arange(64, dtype=np.uint64)
    body = """
  %s = inttoptr i64 %a to ptr addrspace(3)
  %g = addrspacecast ptr addrspace(3) %s to ptr
  %back = addrspacecast ptr %g to ptr addrspace(3)
  %x = ptrtoint ptr %g to i64
  %y = ptrtoint ptr addrspace(3) %back to i64
  %r = sub i64 %x, %y"""
    same(evaluate(body, ["i64"], "i64", a), np.full(64, 0x0100_0000_0000, np.uint64))
    body = body.replace("addrspace(3)", "addrspace(5)")
    same(evaluate(body, ["i64"], "i64", a), np.full(64, 0x0200_0000_0000, np.uint64))
    body = body.replace("addrspace(5)", "addrspace(1)")
    same(evaluate(body, ["i64"], "i64", a), np.zeros(64, np.uint64))


# -- control -----------------------------------------------------------------------------------------------------------


def test_phis_are_assigned_all_at_once() -> None:
    """Fibonacci by swapping: %x and %y read each other's old value."""
    body = """
  br label %loop
loop:
  %x = phi i32 [ 0, %entry ], [ %y, %loop ]
  %y = phi i32 [ 1, %entry ], [ %sum, %loop ]
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %sum = add i32 %x, %y
  %k1 = add i32 %k, 1
  %more = icmp ule i32 %k1, %a
  br i1 %more, label %loop, label %done
done:
  %r = phi i32 [ %x, %loop ]"""
    fibonacci = [0, 1]
    while len(fibonacci) < 40:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    same(evaluate(body, ["i32"], "i32", np.arange(40, dtype=np.uint32)), np.array(fibonacci, np.uint32))


def test_switch_goes_to_every_case() -> None:
    body = """
  switch i8 %a, label %other [ i8 0, label %zero
    i8 -1, label %minus
    i8 5, label %zero
    i8 7, label %other ]
zero:
  br label %end
minus:
  br label %end
other:
  br label %end
end:
  %r = phi i32 [ 10, %zero ], [ 20, %minus ], [ 30, %other ]"""
    a = np.arange(256, dtype=np.uint8)
    expected = np.where((a == 0) | (a == 5), 10, np.where(a == 255, 20, 30)).astype(np.uint32)
    same(evaluate(body, ["i8"], "i32", a), expected)


def test_nested_loops_with_breaks() -> None:
    """Counts pairs i <= a, j < i until i * j exceeds 50: an inner loop, a break to the outer one, and an early end."""
    body = """
  br label %outer
outer:
  %io = phi i32 [ 0, %entry ], [ %io1, %next ]
  %n = phi i32 [ 0, %entry ], [ %n2, %next ]
  %done = icmp ugt i32 %io, %a
  br i1 %done, label %end, label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %body ]
  %n1 = phi i32 [ %n, %outer ], [ %n1p, %body ]
  %in = icmp ult i32 %j, %io
  br i1 %in, label %check, label %next
check:
  %p = mul i32 %io, %j
  %big = icmp ugt i32 %p, 50
  br i1 %big, label %next, label %body
body:
  %n1p = add i32 %n1, 1
  %j1 = add i32 %j, 1
  br label %inner
next:
  %n2 = phi i32 [ %n1, %inner ], [ %n1, %check ]
  %io1 = add i32 %io, 1
  br label %outer
end:
  %r = phi i32 [ %n, %outer ]"""
    a = np.arange(30, dtype=np.uint32)
    expected = [sum(1 for i in range(int(x) + 1) for j in range(i) if i * j <= 50) for x in a]
    same(evaluate(body, ["i32"], "i32", a), np.array(expected, np.uint32))
