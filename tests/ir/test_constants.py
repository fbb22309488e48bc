"""Constants: interning, wrapping, and the spelling of floating point numbers (LLVM is the oracle)."""

from __future__ import annotations

import math
import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.ir import (
    ConstantExpr,
    ConstantFloat,
    ConstantInt,
    ConstantString,
    Poison,
    parse_module,
    print_module,
    types,
    zero,
)
from kernelwright.ir.types import ArrayType, FloatType, IntType, PointerType, VectorType
from tests.examples import few
from tests.ir.llvm import parsed, read


def test_plain_constants_are_interned() -> None:
    assert ConstantInt(types.i32, 5) is ConstantInt(types.i32, 5)
    assert ConstantInt(types.i32, 5) is not ConstantInt(types.i64, 5)
    assert ConstantFloat.of(types.f32, 1.0) is ConstantFloat(types.f32, "1.000000e+00")
    assert Poison(types.i8) is Poison(types.i8)
    module = parse_module("define i32 @f() {\n  ret i32 5\n}")
    assert module.function("f").entry.instructions[0].operands[0] is ConstantInt(types.i32, 5)


@given(st.sampled_from([1, 2, 7, 8, 32, 64, 128]), st.integers(-(2**130), 2**130))
def test_integers_wrap_to_their_width(bits: int, value: int) -> None:
    made = ConstantInt(IntType(bits), value)
    assert made.unsigned == value % 2**bits
    assert made.value % 2**bits == made.unsigned
    if bits > 1:
        assert -(2 ** (bits - 1)) <= made.value < 2 ** (bits - 1)


@settings(max_examples=few(25), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["half", "bfloat", "float", "double"]), st.floats()), min_size=20, max_size=40)
)
def test_floats_are_spelled_as_llvm_spells_them(numbers: list[tuple[str, float]]) -> None:
    made = [ConstantFloat.of(FloatType(kind), value) for kind, value in numbers if not math.isnan(value)]
    text = "\n".join(f"@g{i} = constant {c.type} {c.text}" for i, c in enumerate(made))
    again = re.findall(r"@g\d+ = constant \w+ (\S+)", str(parsed(text)))
    assert all(same_number(theirs, ours) for theirs, ours in zip(again, made, strict=True)), (again, made)


def test_a_double_that_llvm_writes_with_fewer_digits_is_read() -> None:
    (line,) = re.findall(r"constant double (\S+)", str(parsed("@g = constant double 1.0e-280")))
    assert line == "0x5CD0B15A491EB84" and ConstantFloat(types.f64, line).value == 1e-280


def same_number(spelling: str, constant: ConstantFloat) -> bool:
    """LLVM falls back to hexadecimal for a few numbers (0.99) that six digits do give, because it cuts digits in binary."""
    if spelling == constant.text:
        return True
    is_double = re.fullmatch(r"0x[0-9A-F]{1,16}", spelling)  # LLVM leaves out the zeros in front, as of 1e-280
    return bool(is_double) and struct.unpack(">d", bytes.fromhex(spelling[2:].zfill(16)))[0] == constant.value


@given(st.floats(allow_nan=False))
def test_the_value_of_a_float_is_what_went_in(value: float) -> None:
    assert ConstantFloat.of(types.f64, value).value == value
    single = ConstantFloat.of(types.f32, value).value
    try:
        assert single == struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        assert math.isinf(single)


@given(st.integers(0, 2**16 - 1))
def test_half_precision_values(pattern: int) -> None:
    value = ConstantFloat(types.f16, f"0xH{pattern:04X}").value
    expected = struct.unpack("e", struct.pack("H", pattern))[0]
    assert value == expected or (math.isnan(value) and math.isnan(expected))


def test_nan_has_a_spelling() -> None:
    for kind in ("half", "bfloat", "float", "double"):
        made = ConstantFloat.of(FloatType(kind), math.nan)
        parsed(f"@g = constant {kind} {made.text}")
        assert math.isnan(made.value)


def test_strings_know_their_bytes() -> None:
    made = ConstantString(ArrayType(4, types.i8), 'c"a\\0A\\22\\00"')
    assert made.bytes == b'a\n"\x00'


def test_zero_of_every_kind() -> None:
    kinds = [
        types.i1,
        types.i32,
        types.f16,
        types.f64,
        PointerType(3),
        VectorType(4, types.f32),
        ArrayType(2, types.i8),
    ]
    lines = [f"@g{i} = constant {t} {zero(t).reference({})}" for i, t in enumerate(kinds)]  # type: ignore[arg-type]
    again = str(parsed("\n".join(lines)))
    assert all(line in again for line in lines)
    with pytest.raises(ValueError, match="has no zero"):
        zero(types.void)


def test_a_pass_can_follow_a_global_through_its_casts() -> None:
    module = parse_module(read("stencil.o3"))
    tile = next(g for g in module.globals.values() if g.address_space == 3)
    casts = [u for u in tile.users if isinstance(u, ConstantExpr) and u.opcode == "addrspacecast"]
    assert casts and all(c.operands == (tile,) and c.type is types.ptr for c in casts)
    users = [i for c in casts for i in c.users]
    assert users
    # When the last instruction forgets the expression, the expression is no user of the global any more.
    for cast in casts:
        cast.replace_all_uses_with(Poison(types.ptr))
    assert not [u for u in tile.users if u in casts]


def test_replacing_a_global_reaches_into_expressions_and_initializers() -> None:
    module = parse_module(
        "@a = global i32 1\n@b = global i32 2\n"
        "@table = global [2 x ptr] [ptr @a, ptr getelementptr (i8, ptr @a, i64 4)]\n"
        "define i32 @f() {\n  %x = load i32, ptr getelementptr (i8, ptr @a, i64 8)\n  ret i32 %x\n}"
    )
    module.globals["a"].replace_all_uses_with(module.globals["b"])
    text = print_module(module)
    assert "[ptr @b, ptr getelementptr (i8, ptr @b, i64 4)]" in text
    assert "load i32, ptr getelementptr (i8, ptr @b, i64 8)" in text
    assert not module.globals["a"].is_used
