"""Edits in words: the kind, the sentence and the line that a person reads, for every edit there is."""

from __future__ import annotations

from typing import Any

import pytest

from kernelwright.edits import Edit, Original
from kernelwright.edits.edit_words import guard_in_words, in_words
from kernelwright.edits.instruction_words import CHANGES
from kernelwright.edits.kinds.arrays.private_cells import PrivateCells
from kernelwright.edits.kinds.bound_argument import BoundArgument
from kernelwright.edits.kinds.change_constant import ChangeConstant
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore
from kernelwright.edits.kinds.fast_math import FastMath
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.loads.cache_policy import CachePolicy
from kernelwright.edits.kinds.loads.collect_loads import CollectLoads
from kernelwright.edits.kinds.loads.collect_turns import CollectTurns
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.loads.hoist_masked_loads import HoistMaskedLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.narrow_barrier import NarrowBarrier
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.recipe import Recipe
from kernelwright.edits.kinds.replace_instruction import ReplaceInstruction
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.edits.kinds.swap import Swap
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.edits.table import KINDS
from kernelwright.guards import Apart, ArgumentIs, BlockIs, BlockIsWarp, GridIs
from kernelwright.ir import parse_module
from kernelwright.launch_relations import Product, Relation, quantity
from tests.edits.conftest import HEAD, kernel

DECLARED = """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.smax.i32(i32, i32)
"""

BODY = """
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = call i32 @llvm.smax.i32(i32 %t, i32 3)
  %a = load float, ptr %p, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = fadd float %a, %x
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %c = fmul float %b, 0x403AAAAAA0000000
  store float %c, ptr %q, align 4
  %next = add i32 %i, 1
  %on = icmp slt i32 %next, %n
  br i1 %on, label %loop, label %out
out:
  %odd = icmp eq i32 %m, 1
  %s = select i1 %odd, i32 %m, i32 %t
  %l = icmp eq i32 %s, 0
  br i1 %l, label %left, label %right
left:
  store i32 %s, ptr %p, align 4
  br label %right
right:
  %old = atomicrmw xchg ptr %q, i32 %n monotonic, align 4
  ret void
"""
THREAD, MAX, LOAD, BARRIER, ADD, ENTER, PHI, MUL, STORE, NEXT, ON, BACK, ODD, CHOICE, LEFT, BRANCH, LAST = range(17)
EXCHANGE = LAST + 2
CLONE = "c0123456789"


@pytest.fixture(scope="module")
def original() -> Original:
    return kernel(BODY, DECLARED)


WORDS: list[tuple[Edit, str, str]] = [
    (Delete(BARRIER), "removed barrier", "the barrier is gone"),
    (DeleteBarrier(BARRIER), "removed barrier", "the barrier is gone"),
    (Delete(STORE), "redundant store", "the store is gone"),
    (Delete(LOAD, "float %x"), "redundant load", "the load %a is gone; %x takes its place"),
    (Delete(ADD, "float 0x3FF8000000000000"), "specialised constant", "the addition %b is gone; 1.5 takes its place"),
    (Delete(MAX, "i32 %t"), "reused value", "the call of smax.i32 %m is gone; %t takes its place"),
    (Delete(MUL), "redundant work", "the multiplication %c is gone"),
    (Delete(ODD, "i1 true"), "condition", "the comparison %odd is gone: it is always true"),
    (Delete(ON, "i1 false"), "skipped iterations", "the comparison %on is gone: it is always false"),
    (ConstantCondition(BRANCH, 0, True), "condition", "the condition of the branch is always true"),
    (
        ConstantCondition(BACK, 0, False),
        "skipped iterations",
        "whether the loop goes on is decided once and for all: false",
    ),
    (ReplaceOperand(BRANCH, 0, "i1 true"), "condition", "the condition of the branch is always true"),
    (
        ReplaceOperand(BACK, 0, "i1 false"),
        "skipped iterations",
        "whether the loop goes on is decided once and for all: false",
    ),
    (ReplaceOperand(NEXT, 0, "i32 %n"), "reused value", "the addition %next takes %n in place of %i"),
    (ReplaceOperand(NEXT, 1, "i32 9"), "specialised constant", "the addition %next takes 9 in place of 1"),
    (
        ChangeConstant(MUL, 1, "float 1.000000e+00"),
        "specialised constant",
        "the constant 26.666666 of the multiplication %c is 1",
    ),
    (ReplaceInstruction(CLONE, ADD, LOAD), "reused value", "the addition %b is a copy of the load %a"),
    (Copy(CLONE, BARRIER, STORE), "repeated work", "the barrier is done once more before the store"),
    (
        Copy(CLONE, LOAD, MUL, (MUL, 0)),
        "reused value",
        "the load %a is done once more before the multiplication %c, and the multiplication %c takes its result in place "
        "of %b",
    ),
    (Move(LOAD, BARRIER), "order", "the load %a stands before the barrier"),
    (
        HoistLoads(BACK),
        "order",
        "the loads of the block that ends with the branch stand before the branch that leads there",
    ),
    (
        HoistMaskedLoads(BACK),
        "order",
        "the loads of the block that ends with the branch stand before the branch that leads there, and read a first element where they "
        "are not needed",
    ),
    (
        CollectLoads(BACK),
        "order",
        "all loads below the block that ends with the branch stand together there, masked where they may not be needed",
    ),
    (
        CollectTurns(BACK, 4),
        "order",
        "the loads of 4 turns of the loop stand together before the first of them",
    ),
    (NarrowBarrier(BARRIER), "order", "the barrier is one of each warp"),
    (Swap(LOAD, ADD), "order", "the load %a and the addition %b change places"),
    (FastMath(ADD, "contract"), "precision", "the addition %b may be computed with contract"),
    (CachePolicy(LOAD, "nc"), "caching", "the load %a reads with the policy nc"),
    (ExchangeToStore(EXCHANGE), "unused value", "the atomic %old is a store: the value it finds is unused"),
    (FixArgument(2, "i32 64"), "specialised input", "n is always 64"),
    (FixArgument(3, "float 0x403AAAAAA0000000"), "specialised input", "x is always 26.666666"),
    (FixBlock((16, 16, 1)), "specialised input", "blocks are always 16 x 16 x 1"),
    (FixGrid((8, 1, 1)), "specialised input", "the grid is always 8 x 1 x 1"),
    (BoundArgument(2, 1, 4095), "promise", "n is from 1 to 4095"),
    (NoAlias(0), "promise", "no other argument reaches the memory behind 'p'"),
    (WarpBarriers(), "specialised input", "blocks have at most 32 threads, so that the warp's own barriers do"),
    (PrivateCells(STORE), "specialised input", "the shared array of the store is a variable of each thread"),
    (Unroll(BACK, 4), "compile recipe", "the loop is unrolled 4 times"),
    (Unroll(BACK, 0), "compile recipe", "the loop is wholly unrolled"),
    (Unroll(BACK, 1), "compile recipe", "the loop is not unrolled"),
    (Recipe(), "compile recipe", "compiled with the usual passes"),
    (
        RequireLaunch(guard_json(Relation((quantity("argument", 2),), ">=", (Product(1),)))),
        "promise",
        "at each launch: argument 2 >= 1",
    ),
    (
        Recipe(2, 2, ("sink",), ("slp",), 32),
        "compile recipe",
        "compiled with level 2; 2 rounds; then sink; without slp; at most 32 registers",
    ),
    (Delete("c9999999999"), "redundant work", "a copied instruction is gone"),
]


@pytest.mark.parametrize(
    ("edit", "kind", "sentence"), WORDS, ids=[f"{type(w[0]).__name__}-{n}" for n, w in enumerate(WORDS)]
)
def test_an_edit_reads(original: Original, edit: Any, kind: str, sentence: str) -> None:
    words = in_words(original, edit)
    assert (words.kind, words.sentence) == (kind, sentence)
    assert words.kind in CHANGES


def test_every_edit_and_every_kind_is_in_the_table(original: Original) -> None:
    assert {type(edit) for edit, _, _ in WORDS} == {kind.type for kind in KINDS}
    assert {kind for _, kind, _ in WORDS} == set(CHANGES)


LOCATED = f"""{HEAD}
define ptx_kernel void @k(ptr %p) !dbg !3 {{
  %a = load i32, ptr %p, align 4, !dbg !4
  store i32 %a, ptr %p, align 4, !dbg !4
  ret void
}}
!llvm.dbg.cu = !{{!0}}
!llvm.module.flags = !{{!2}}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "app.cu", directory: "/home/me")
!2 = !{{i32 2, !"Debug Info Version", i32 3}}
!3 = distinct !DISubprogram(name: "k", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DILocation(line: 19, column: 2, scope: !3)
!5 = !DISubroutineType(types: !6)
!6 = !{{null}}
"""


def test_the_line_of_source_is_told() -> None:
    words = in_words(Original(parse_module(LOCATED), "k"), Delete(1))
    assert words.sentence == "the store at app.cu:19 is gone"
    assert words.place == "app.cu:19"
    assert words.location is not None and words.location.line == 19


def test_without_a_line_there_is_no_place(original: Original) -> None:
    assert in_words(original, Delete(STORE)).place == ""


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        (ArgumentIs(2, "i32 64", b"\x40\0\0\0"), "n == 64"),
        (ArgumentIs(3, "float 0x403AAAAAA0000000", b""), "x == 26.666666"),
        (ArgumentIs(3, "float 3.840000e+03", b""), "x == 3840"),
        (ArgumentIs(3, "float 0x47EFFFFFE0000000", b""), "x == 3.4028235e+38"),
        (ArgumentIs(3, "float -0.000000e+00", b""), "x == -0"),
        (ArgumentIs(3, "double 1.000000e-01", b""), "x == 0.1"),
        (ArgumentIs(9, "i32 1", b""), "argument 9 == 1"),
        (BlockIs((32, 4, 1)), "block == 32 x 4 x 1"),
        (BlockIsWarp(), "block has at most 32 threads"),
        (GridIs((7, 1, 1)), "grid == 7 x 1 x 1"),
        (Apart(0), "no other argument reaches the memory behind 'p'"),
    ],
)
def test_a_guard_reads(original: Original, guard: Any, said: str) -> None:
    assert guard_in_words(original, guard) == said


def test_an_argument_without_a_name_has_its_number() -> None:
    unnamed = kernel("ret void", parameters="ptr %0, i32 %1")
    assert in_words(unnamed, FixArgument(1, "i32 5")).sentence == "argument 1 is always 5"
