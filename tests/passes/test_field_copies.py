"""Structures copied field by field: every byte of a field moves, padding does not, and nothing is stored before all is loaded."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelwright as kw
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.passes.field_copies import LARGEST, fields_copied
from kernelwright.passes.llvm import check
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import Program

KINDS = {"float": 4, "double": 8, "int": 4, "short": 2, "char": 1, "p1 float": 8}

Fields = list[tuple[int, int, str]]
"""Offset, bytes, type."""


def copied(
    fields: Fields, size: int, to_align: int, from_align: int, *, volatile: str = "false", tags: bool = True
) -> str:
    """A kernel that copies one structure."""
    types = sorted({kind for _, _, kind in fields})
    number = {kind: 10 + 2 * i for i, kind in enumerate(types)}
    nodes = [
        f'!{number[k]} = !{{!{number[k] + 1}, !{number[k] + 1}, i64 0}}\n!{number[k] + 1} = !{{!"{k}", !2, i64 0}}'
        for k in types
    ]
    listed = ", ".join(f"i64 {at}, i64 {n}, !{number[kind]}" for at, n, kind in fields)
    note = ", !tbaa.struct !1" if tags else ""
    return (
        'target triple = "nvptx64-nvidia-cuda"\n'
        "define ptx_kernel void @k(ptr %to, ptr addrspace(1) %from) {\n"
        f"  tail call void @llvm.memcpy.p0.p1.i64(ptr align {to_align} %to, ptr addrspace(1) align {from_align} %from, "
        f"i64 {size}, i1 {volatile}){note}\n  ret void\n}}\n"
        "declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n"
        f'!1 = !{{{listed}}}\n!2 = !{{!"omnipotent char", !3, i64 0}}\n!3 = !{{!"Simple C++ TBAA"}}\n'
        + "\n".join(nodes)
        + "\n"
    )


def moved(text: str) -> dict[int, int]:
    """Which byte of the source each byte of the target gets. An access at no multiple of its size, or a load behind a store, fails."""
    places = {"%to": ("to", 0), "%from": ("from", 0)}
    values: dict[str, int] = {}
    target: dict[int, int] = {}
    for line in text.splitlines():
        if found := re.search(
            r"(%copied\.\d+) = getelementptr inbounds i8, ptr(?: addrspace\(1\))? (\S+), i64 (\d+)", line
        ):
            base, at = places[found[2]]
            places[found[1]] = (base, at + int(found[3]))
        elif found := re.search(r"(%copied\.\d+) = load (\S+), ptr addrspace\(1\) (\S+), align (\d+)", line):
            base, at = places[found[3]]
            assert base == "from" and not target and at % int(found[4]) == 0
            values[found[1]] = at
        elif found := re.search(r"store (\S+) (%copied\.\d+), ptr (\S+), align (\d+)", line):
            base, at = places[found[3]]
            size = 8 if found[1] == "ptr" else int(found[1][1:]) // 8
            assert base == "to" and at % int(found[4]) == 0 and at % size == 0
            assert not target.keys() & range(at, at + size)
            target |= {at + i: values[found[2]] + i for i in range(size)}
    return target


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Fields, int, int]:
    """Fields as C lays them out, their structure's size and its alignment."""
    fields, at, align = [], 0, 1
    for kind in draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8)):
        size = KINDS[kind]
        length = size * draw(st.integers(1, 3))
        at = -(-at // size) * size
        fields.append((at, length, kind))
        at, align = at + length, max(align, size)
    return fields, -(-at // align) * align, align


@given(layouts(), st.integers(0, 2))
def test_every_byte_of_a_field_moves_and_no_other(layout: tuple[Fields, int, int], more: int) -> None:
    fields, size, align = layout
    text = copied(fields, size, min(align << more, 16), align)
    made = fields_copied(text)
    if size > LARGEST:
        assert made == text
        return
    check(made)
    assert moved(made) == {i: i for at, n, _ in fields for i in range(at, at + n)}


FLOAT4: Fields = [(4 * i, 4, "float") for i in range(4)]


def test_a_float4_is_one_load_and_one_store() -> None:
    ptx = emit_ptx(fields_copied(copied(FLOAT4, 16, 16, 16)), "sm_80")
    assert (
        len(re.findall(r"\bld\.global\.v[24]\.b\d+", ptx)) == 1 and len(re.findall(r"\bst\.\S*v[24]\.b\d+", ptx)) == 1
    )


def test_a_pointer_stays_one() -> None:
    made = fields_copied(copied([(0, 8, "p1 float"), (8, 8, "double")], 16, 8, 8))
    assert re.findall(r"= load (\S+),", made) == ["ptr", "i64"]


@pytest.mark.parametrize(
    "text",
    [
        copied(FLOAT4, 16, 16, 16, volatile="true"),
        copied(FLOAT4, 16, 16, 16, tags=False),
        copied([(0, 16, "omnipotent char")], 16, 16, 16),
        copied([(0, LARGEST + 4, "float")], LARGEST + 4, 4, 4),
        copied(FLOAT4, 16, 16, 16).replace("!1 = ", "!7 = "),
        copied(FLOAT4, 16, 16, 16).replace(".memcpy.", ".memmove."),
    ],
    ids=["volatile", "no fields", "bytes", "large", "unknown fields", "memmove"],
)
def test_what_is_not_known_stays(text: str) -> None:
    assert fields_copied(text) == text


def test_names_and_notes() -> None:
    text = copied(FLOAT4[:2], 8, 8, 4).replace(", !tbaa.struct", ", !dbg !5, !noalias !6, !tbaa.struct")
    first = fields_copied(text)
    assert first.count(", !dbg !5, !noalias !6\n") == 4 and "tbaa.struct" not in first
    again = fields_copied(first.replace("  ret void", text.splitlines()[2] + "\n  ret void"))
    names = re.findall(r"^  (%copied\.\d+) =", again, re.MULTILINE)
    assert len(names) == len(set(names)) == 2 * len(re.findall(r"^  (%copied\.\d+) =", first, re.MULTILINE))


SOURCE = """
struct Row { char tag; double value; float weight; };
extern "C" __global__ void copy4(float4 *to, const float4 *from) { to[threadIdx.x] = from[threadIdx.x]; }
extern "C" __global__ void copy_row(Row *to, const Row *from) { to[threadIdx.x] = from[31 - threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = tmp_path_factory.mktemp("copies") / "copies.cu"
    path.write_text(SOURCE)
    return kw.compile(path, arch="sm_90")


def test_it_can_be_left_out(program: Program) -> None:
    made = program.units[0].optimised
    assert "@llvm.memcpy" not in made.replace("declare void @llvm.memcpy", "")
    for options in (PassOptions.of(3, ["copies"]), PassOptions.of(3, ["field-copies"]), PassOptions(0)):
        assert optimise(program.units[0].linked, options, arch="sm_90").count("call void @llvm.memcpy") == 2


def test_values_are_those_of_the_fields(program: Program) -> None:
    rng = np.random.default_rng(3)
    row = np.dtype([("tag", "i1"), ("value", "f8"), ("weight", "f4")], align=True)
    rows, there = np.zeros(32, row), np.zeros(32, row)
    rows["tag"], rows["value"], rows["weight"] = rng.integers(-9, 9, 32), rng.random(32), rng.random(32)
    fours, copies = rng.random((32, 4), np.float32), np.zeros((32, 4), np.float32)
    with kw.Device("h100") as device:
        device.launch(program.kernel("copy_row"), 1, 32, (there, rows))
        done = device.launch(program.kernel("copy4"), 1, 32, (copies, fours))
    assert (there == rows[::-1]).all() and (copies == fours).all()
    assert done.fault is None
