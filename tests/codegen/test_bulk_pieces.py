"""Fills and copies written out in pieces: the same bytes at the same addresses, by a reading of the text that LLVM has no part in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.codegen.bulk_pieces import LARGEST, LOOPS_FROM, in_pieces
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.passes.llvm import check

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'


def fill(size: int, align: int = 16, byte: int = 0, volatile: str = "false") -> str:
    return (
        f"{HEAD}define ptx_kernel void @k(ptr %out) {{\n"
        f"  %v = alloca [{size} x i8], align {align}\n"
        f"  call void @llvm.memset.p0.i64(ptr noundef nonnull align {align} dereferenceable({size}) %v, i8 {byte}, i64 {size}, "
        f"i1 {volatile})\n  store ptr %v, ptr %out, align 8\n  ret void\n}}\n"
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
    )


def copy(size: int, to_align: int, from_align: int, kind: str = "memcpy") -> str:
    return (
        f"{HEAD}define ptx_kernel void @k(ptr %to, ptr addrspace(1) %from) {{\n"
        f"  tail call void @llvm.{kind}.p0.p1.i64(ptr align {to_align} %to, ptr addrspace(1) align {from_align} %from, "
        f"i64 {size}, i1 false)\n  ret void\n}}\n"
        f"declare void @llvm.{kind}.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n"
    )


def written(text: str) -> dict[int, int]:
    """The bytes that the stores of the text put at distances from ``%v``. A store at no multiple of its size is an error."""
    places = {"%v": 0}
    memory: dict[int, int] = {}
    for line in text.splitlines():
        moved = re.search(r"(%bulk\.\d+) = getelementptr inbounds i8, ptr (\S+), i64 (\d+)", line)
        if moved:
            places[moved[1]] = places[moved[2]] + int(moved[3])
        stored = re.search(r"store (?:<(\d) x )?i(\d+)>?(?: splat \(i64)? (-?\d+)\)?, ptr (\S+), align (\d+)", line)
        if stored:
            data = int(stored[3]).to_bytes(int(stored[2]) // 8, "little") * int(stored[1] or 1)
            at = places[stored[4]]
            assert at % len(data) == 0 and int(stored[5]) == len(data)
            assert not memory.keys() & range(at, at + len(data))
            memory |= {at + i: byte for i, byte in enumerate(data)}
    return memory


@given(st.integers(1, LARGEST), st.sampled_from([1, 2, 4, 8, 16, 32]), st.integers(-128, 255))
def test_a_fill_writes_each_byte_once(size: int, align: int, byte: int) -> None:
    text = in_pieces(fill(size, align, byte))
    if "call" in text:
        assert align < 4 and size < LOOPS_FROM
        return
    assert written(text) == dict.fromkeys(range(size), byte & 0xFF)


def test_llvm_takes_the_pieces_and_makes_wide_stores() -> None:
    for size, align, byte in ((512, 16, 0), (130, 8, -1), (15, 4, 7), (200, 1, 255)):
        check(in_pieces(fill(size, align, byte)))
    ptx = emit_ptx(fill(512), "sm_80")
    assert ptx.count("st.local.v2.b64") == 32 and "st.local.b8" not in ptx


@pytest.mark.parametrize(("to_align", "from_align"), [(16, 16), (8, 4)])
def test_a_large_copy_is_no_loop_over_bytes(to_align: int, from_align: int) -> None:
    text = in_pieces(copy(300, to_align, from_align))
    check(text)
    sizes = [int(size) for size in re.findall(r"i64 (\d+), i1 false\)", text)]
    assert sizes == [64, 64, 64, 64, 44]
    ptx = emit_ptx(copy(300, to_align, from_align), "sm_80")
    assert "bra" not in ptx and "ld.global.b8" not in ptx
    assert "bra" in emit_ptx(copy(LARGEST + 1, to_align, from_align), "sm_80")


def test_what_may_overlap_is_volatile_or_is_large_stays() -> None:
    for text in (copy(300, 8, 8, "memmove"), fill(512, volatile="true"), fill(LARGEST + 1), copy(LOOPS_FROM - 1, 8, 8)):
        assert in_pieces(text) == text


def test_a_piece_keeps_its_line_and_no_other_note() -> None:
    text = fill(256).replace("i1 false)\n", "i1 false), !dbg !7, !tbaa !9\n", 1)
    stores = [line for line in in_pieces(text).splitlines() if "splat" in line]
    assert len(stores) == 16 and all(line.endswith("align 16, !dbg !7") for line in stores)
