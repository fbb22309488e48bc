"""Constants and their bytes in memory: every kind of constant, every constant expression."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from kernelwright.device.arena import GENERIC, SHARED_BASE, Arena
from kernelwright.device.value_layout import Constants, decoder, encoder, float_constant, zero_of
from kernelwright.device.variables import load_variables
from kernelwright.errors import CompileError, IRError
from kernelwright.ir import parse_module, parse_type
from kernelwright.ir.constants import ConstantFloat
from kernelwright.ir.types import FloatType

HEADER = 'target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"\n'


def initial(text: str) -> bytes:
    """The bytes of variable ``@v`` of a module once it is loaded; ``@w`` lies 4096 bytes into memory."""
    module = parse_module(f"{HEADER}@w = internal addrspace(1) global [8 x i32] zeroinitializer\n{text}\n")
    with Arena() as arena:
        variables = load_variables(module, arena)
        v, w = variables.buffers["v"], variables.buffers["w"]
        data = bytes(arena.bytes(v.address, v.size))
    # Addresses differ by where the arena puts things; tests see them relative to @w.
    return data.replace(struct.pack("<Q", w.address), b"@w......")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i32 -2", struct.pack("<i", -2)),
        ("i1 true", b"\1"),
        ("i128 1267650600228229401496703205376", (1 << 100).to_bytes(16, "little")),
        ("float 1.5", struct.pack("<f", 1.5)),
        ("double 0x7FF0000000000000", struct.pack("<d", math.inf)),
        ("half 0xH3E00", struct.pack("<e", 1.5)),
        ("bfloat 0xR3FC0", b"\xc0\x3f"),
        ("float 0x7FF8000020000000", struct.pack("<I", 0x7FC00001)),
        ('[4 x i8] c"a\\00b\\FF"', b"a\0b\xff"),
        ("[3 x i16] [i16 1, i16 2, i16 3]", struct.pack("<3h", 1, 2, 3)),
        ("{ i8, i32, <2 x half> } { i8 1, i32 2, <2 x half> <half 0xH3C00, half 0xH4000> }",
         struct.pack("<b3xi2e", 1, 2, 1.0, 2.0)),
        ("<{ i8, i32 }> <{ i8 1, i32 2 }>", struct.pack("<bi", 1, 2)),
        ("[2 x { i32, ptr }] zeroinitializer", bytes(32)),
        ("i32 undef", bytes(4)),
        ("i32 poison", bytes(4)),
        ("ptr null", bytes(8)),
        ("ptr addrspace(1) @w", b"@w......"),
        ("ptr addrspacecast (ptr addrspace(1) @w to ptr)", b"@w......"),
        ("i64 ptrtoint (ptr addrspace(1) @w to i64)", b"@w......"),
        ("i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr (i32, ptr addrspace(1) @w, i64 7) to i64), "
         "i64 ptrtoint (ptr addrspace(1) @w to i64))", struct.pack("<q", 28)),
        ("ptr addrspace(1) getelementptr ([8 x i32], ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @w, i64 -4), "
         "i64 0, i32 1)", b"@w......"),
        ("ptr addrspace(1) getelementptr ({ i8, [4 x i64] }, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @w, "
         "i64 -24), i64 0, i32 1, i64 2)", b"@w......"),
        ("ptr inttoptr (i64 add (i64 ptrtoint (ptr addrspace(1) @w to i64), i64 0) to ptr)", b"@w......"),
        ("i64 add (i64 xor (i64 ptrtoint (ptr addrspace(1) @w to i64), i64 -1), i64 1)", None),
        ("<4 x i8> splat (i8 7)", b"\7\7\7\7"),
        ("ptr addrspacecast (ptr addrspace(3) @s to ptr)", None),
    ],
)  # fmt: skip
def test_initial_values(text: str, expected: bytes | None) -> None:
    if "@s" in text:
        with pytest.raises(IRError, match="'s' has no address"):
            initial(f"@s = internal addrspace(3) global i32 undef\n@v = internal addrspace(1) global {text}")
        return
    data = initial(f"@v = internal addrspace(1) global {text}")
    if expected is None:  # minus the address: xor with all ones, plus one
        module = parse_module(f"{HEADER}@w = internal addrspace(1) global [8 x i32] zeroinitializer\n")
        with Arena() as arena:
            address = load_variables(module, arena).buffers["w"].address
        assert struct.unpack("<q", data) == (-address,)
    else:
        assert data == expected


def test_addresses_of_shared_variables_and_functions() -> None:
    module = parse_module(
        HEADER
        + """
@s = internal addrspace(3) global [4 x i32] undef
define void @f(ptr %p) {
  store ptr addrspacecast (ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @s, i64 2) to ptr), ptr %p
  store ptr @f, ptr %p
  ret void
}
"""
    )
    first, second = (i.operands[0] for i in module.function("f").entry.instructions[:2])
    constants = Constants({"s": 64, "f": 0x1234}, GENERIC)
    assert constants.value(first) == SHARED_BASE + 64 + 8
    assert constants.value(second) == 0x1234
    with pytest.raises(IRError, match="'s' has no address"):
        Constants({}, GENERIC).value(first)


def test_undefined_variables_are_refused_when_they_are_used() -> None:
    unused = parse_module(f"{HEADER}@v = external addrspace(1) global i32\n")
    used = parse_module(
        f"{HEADER}@v = external addrspace(1) global i32\n@w = addrspace(1) global ptr addrspace(1) @v\n"
    )
    with Arena() as arena:
        assert load_variables(unused, arena).buffers == {}
        with pytest.raises(CompileError, match="'v' is declared but defined nowhere"):
            load_variables(used, arena)
    with Arena() as arena:
        elsewhere = arena.allocate(4, "v")
        assert load_variables(used, arena).buffers["v"] == elsewhere


TYPES = (
    *(
        "i1",
        "i24",
        "i64",
        "i128",
        "half",
        "bfloat",
        "float",
        "double",
        "ptr",
        "<3 x float>",
        "<5 x i1>",
        "<4 x bfloat>",
    ),
    *("[3 x i16]", "{ i8, double, [2 x half] }", "<{ i8, i64 }>"),
)


@pytest.mark.parametrize("text", TYPES)
def test_decoding_inverts_encoding(text: str) -> None:
    type = parse_type(text)
    encode, decode = encoder(type), decoder(type)
    rng = np.random.default_rng(3)
    size = len(encode(zero_of(type)))
    for _ in range(100):
        raw = rng.integers(0, 256, size, dtype=np.uint8).tobytes()
        clean = encode(decode(raw))  # padding and unused bits are gone
        assert encode(decode(clean)) == clean
        if text not in ("i1", "<5 x i1>", "{ i8, double, [2 x half] }"):
            assert clean == raw


def test_formats_that_no_gpu_has_are_refused() -> None:
    with pytest.raises(IRError, match="does not exist on a GPU"):
        decoder(FloatType("x86_fp80"))


def test_float_constants_keep_payloads() -> None:
    for kind, text, bits in (
        ("float", "0x7FF4000000000000", 0x7FA00000),
        ("half", "0xH7D01", 0x7D01),
        ("bfloat", "0xRFF81", 0xFF81),
    ):
        value = float_constant(ConstantFloat(FloatType(kind), text))
        assert encoder(FloatType(kind))(value) == bits.to_bytes(4 if kind == "float" else 2, "little")
    double = float_constant(ConstantFloat(FloatType("double"), "0x7FF8000000000123"))
    assert struct.pack("<d", double) == (0x7FF8000000000123).to_bytes(8, "little")
