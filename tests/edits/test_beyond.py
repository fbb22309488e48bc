"""The edits beyond the paper's, one by one, before and after; what LLVM makes of them in PTX."""

from __future__ import annotations

import random

import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.edits import Edit, Original, apply, draw
from kernelwright.edits.kinds.change_constant import ChangeConstant, changes
from kernelwright.edits.kinds.constant_condition import ConstantCondition, conditions
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier, barriers
from kernelwright.edits.kinds.fast_math import FastMath, fast_math
from kernelwright.edits.kinds.loads.cache_policy import CachePolicy, cache_policies
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.line_templates import FAST_FLAGS, POLICIES
from kernelwright.edits.plain_constants import bits_of, neighbours, text_of
from kernelwright.ir import parse_module, types
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import DIAMOND, LOOP, STRAIGHT, after, body, kernel, loop_kernel, refusal

C0, C1 = "c0000000000", "c0000000001"
TBAA = '!0 = !{!1, !1, i64 0}\n!1 = !{!"float", !2}\n!2 = !{!"root"}\n'

BARRIERS = """
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %n, ptr %p, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @llvm.nvvm.membar.cta()
  %c = call i32 @llvm.nvvm.barrier0.popc(i32 %n)
  call void asm sideeffect "bar.sync 1, 64;", "~{memory}"()
  call void asm sideeffect "membar.gl;", "~{memory}"()
  call void @llvm.nvvm.barrier.cluster.wait()
  call void @llvm.nvvm.barrier0()
  ret void
"""
DECLARED = """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.membar.cta()
declare i32 @llvm.nvvm.barrier0.popc(i32)
declare void @llvm.nvvm.barrier.cluster.wait()
declare void @llvm.nvvm.barrier0()
"""


def straight() -> Original:
    return kernel(STRAIGHT, TBAA)


def ptx(original: Original, *edits: Edit) -> str:
    return emit_ptx(optimise_with(apply(original, edits).text, None, "sm_80"), "sm_80")


# -- conditions


def test_a_condition_made_constant() -> None:
    assert "br i1 true, label %left, label %right" in after(kernel(DIAMOND), ConstantCondition(2, 0, True))
    assert "br i1 false, label %left, label %right" in after(kernel(DIAMOND), ConstantCondition(2, 0, False))
    assert "is no condition" in refusal(kernel(DIAMOND), ConstantCondition(3, 0, True))
    assert "true already" in refusal(kernel(DIAMOND), ConstantCondition(2, 0, True), ConstantCondition(2, 0, True))
    assert list(conditions(kernel(DIAMOND))) == [ConstantCondition(2, 0, True), ConstantCondition(2, 0, False)]


def test_a_condition_is_drawn_only_while_it_is_open() -> None:
    original, rng = kernel(DIAMOND), random.Random(0)
    only = {"constant-condition": 1.0}
    assert {draw(original, rng, operators=only) for _ in range(30)} == set(conditions(original))
    assert draw(apply(original, (ConstantCondition(2, 0, True),)).draft, rng, operators=only) is None


# -- barriers


def test_what_is_a_barrier() -> None:
    original = kernel(BARRIERS, DECLARED)
    assert list(barriers(original)) == [DeleteBarrier(n) for n in (0, 2, 5, 7, 8)]
    lines = after(original, *barriers(original))
    assert [line.split("(")[0] for line in lines] == [
        "store i32 %n, ptr %p, align 4",
        "call void @llvm.nvvm.membar.cta",
        "%c = call i32 @llvm.nvvm.barrier0.popc",
        'call void asm sideeffect "membar.gl;", "~{memory}"',
        "ret void",
    ]
    assert "is no barrier" in refusal(original, DeleteBarrier(1))
    assert "is gone" in refusal(original, Delete(0), DeleteBarrier(0))


def test_a_copied_barrier_can_be_deleted() -> None:
    original, rng = kernel(BARRIERS, DECLARED), random.Random(0)
    genome: tuple[Edit, ...] = (Copy(C0, 0, 4), *barriers(original))
    draft = apply(original, genome).draft
    assert draw(draft, rng, operators={"delete-barrier": 1.0}) == DeleteBarrier(C0)
    assert len(after(original, *genome, DeleteBarrier(C0))) == 5


def test_every_barrier_of_the_suite_is_listed(kernels: tuple[Original, ...]) -> None:
    found = sum(len(list(barriers(k))) for k in kernels)
    assert found == sum(
        k.text({}).split("@" + k.kernel + "(")[1].split("\n}")[0].count("barrier.cta.sync") for k in kernels
    )
    assert found > 50


# -- constants


def test_a_constant_changed() -> None:
    assert after(straight(), ChangeConstant(2, 1, "i32 2"))[2] == "%c = add i32 %n, 2"
    assert "must stay" in refusal(straight(), ChangeConstant(5, 0, "i32 2"))
    assert "is no constant for" in refusal(straight(), ChangeConstant(2, 1, "i32 %n"))
    assert "is no constant for" in refusal(straight(), ChangeConstant(2, 1, "i64 2"))
    listed = list(changes(straight()))
    assert [e.value for e in listed] == ["i32 0", "i32 -1", "i32 2"]
    lines = after(loop_kernel(), ChangeConstant(8, 0, "i32 1"))
    assert "%k = phi i32 [ 1, %entry ], [ %k2, %loop ]" in lines


def test_neighbours_of_constants() -> None:
    assert neighbours(types.i32, "48") == ["0", "1", "-1", "49", "47", "96", "24", "-48", "64", "32"]
    assert neighbours(types.i8, "127") == ["0", "1", "-1", "-128", "126", "-2", "63", "-127", "64"]
    assert neighbours(types.i1, "true") == [] and neighbours(types.i32, "poison") == []
    half = neighbours(types.f32, "1.000000e+00")
    assert half == ["0.000000e+00", "-1.000000e+00", "2.000000e+00", "5.000000e-01"]
    assert neighbours(types.f32, "0x7FF8000000000000") == []  # not a number


@pytest.mark.parametrize(
    ("type", "text", "bits"),
    [
        (types.i32, "-2", b"\xfe\xff\xff\xff"),
        (types.i8, "7", b"\x07"),
        (types.i1, "true", b"\x01"),
        (types.f32, "-0.000000e+00", b"\0\0\0\x80"),
        (types.f64, "0x3FD5555555555555", b"\x55" * 6 + b"\xd5\x3f"),
    ],
)
def test_constants_and_their_bytes(type: types.Type, text: str, bits: bytes) -> None:
    assert bits_of(type, text) == bits and text_of(type, bits) == text


@pytest.mark.parametrize(
    ("type", "text"),
    [(types.i32, "4294967296"), (types.i32, "007"), (types.i32, "x"), (types.f32, "0.1"), (types.f32, "0xZZ"), (types.ptr, "null"), (types.i1, "1")],
)  # fmt: skip
def test_what_is_no_constant(type: types.Type, text: str) -> None:
    assert bits_of(type, text) is None


# -- cache policies


def test_a_load_through_the_read_only_cache() -> None:
    assert (
        after(straight(), CachePolicy(0, "nc"))[0] == "%a = load float, ptr %p, align 4, !tbaa !0, !invariant.load !{}"
    )
    assert "ld.global.nc.b32" in ptx(straight(), CachePolicy(0, "nc"))
    assert "ld.global.nc" not in ptx(straight())


@pytest.mark.parametrize("policy", ["cg", "cs", "lu"])
def test_other_cache_policies_are_assembly(policy: str) -> None:
    lines = after(straight(), CachePolicy(0, policy))
    assert lines[0] == f'%a = call float asm sideeffect "ld.{policy}.f32 $0, [$1];", "=f,l,~{{memory}}"(ptr %p)'
    assert f"ld.{policy}.f32" in ptx(straight(), CachePolicy(0, policy))


def test_a_policy_needs_a_load_that_can_have_it() -> None:
    text = "%a = load volatile i32, ptr %p\n%b = load <2 x i32>, ptr %q\n%c = load i32, ptr addrspace(3) @s\nret void"
    original = kernel(text, "@s = internal addrspace(3) global i32 undef")
    assert [(e.subject, e.policy) for e in cache_policies(original)] == [(1, "nc")]
    assert "no load that can be nc" in refusal(original, CachePolicy(0, "nc"))
    assert "no load that can be cg" in refusal(original, CachePolicy(1, "cg"))
    assert "no cache policy 'wt'" in refusal(original, CachePolicy(1, "wt"))
    assert "is nc already" in refusal(original, CachePolicy(1, "nc"), CachePolicy(1, "nc"))
    shown = kernel("%g = addrspacecast ptr %p to ptr addrspace(1)\n%a = load i32, ptr addrspace(1) %g\nret void")
    assert [e.policy for e in cache_policies(shown)] == list(POLICIES)
    assert "ld.global.L1::no_allocate.u32" in ptx(shown, CachePolicy(1, "no_allocate"))


def test_a_copy_has_the_policy_and_the_flags_of_what_it_copies() -> None:
    lines = after(straight(), CachePolicy(0, "nc"), FastMath(1, "afn"), Copy(C0, 0, 4, (4, 0)), Copy(C1, 1, 4))
    assert lines[4:6] == [
        f"%{C0} = load float, ptr %p, align 4, !invariant.load !{{}}",
        f"%{C1} = fadd contract afn float %a, %x",
    ]


def test_the_last_policy_is_in_effect() -> None:
    assert "ld.cs.f32" in after(straight(), CachePolicy(0, "cg"), CachePolicy(0, "cs"))[0]


# -- fast-math flags


def test_flags_of_an_operation() -> None:
    assert after(straight(), FastMath(1, "afn"))[1] == "%b = fadd contract afn nnan float %a, %x"
    assert after(straight(), FastMath(1, "fast"))[1] == "%b = fadd fast float %a, %x"
    # What is promised by an edit stays where what was promised of the original place does not.
    assert "%b = fadd contract ninf float %a, %x" in after(straight(), FastMath(1, "ninf"), Move(1, 3))
    assert "no floating point operation" in refusal(straight(), FastMath(2, "afn"))
    assert "has afn already" in refusal(straight(), FastMath(1, "afn"), FastMath(1, "afn"))
    assert "has afn already" in refusal(straight(), FastMath(1, "fast"), FastMath(1, "afn"))
    assert "no fast-math flag" in refusal(straight(), FastMath(1, "quick"))


def test_a_division_becomes_an_approximation() -> None:
    assert "div.rn.f32" in ptx(loop_kernel())
    assert "div.approx.f32" in ptx(loop_kernel(), FastMath(12, "afn"))


def test_what_flags_are_listed() -> None:
    listed = list(fast_math(straight()))
    assert {e.subject for e in listed} == {1}
    assert {e.flag for e in listed} == set(FAST_FLAGS) - {"nnan", "contract"}


def test_every_listed_edit_of_a_kernel_is_accepted() -> None:
    original = loop_kernel()
    edits: list[Edit] = [*cache_policies(original), *fast_math(original), *changes(original), *conditions(original)]
    for edit in edits:
        assert len(after(original, edit)) == LOOP.count("\n  ")


def test_parsing_what_was_printed_gives_the_same_edits_again() -> None:
    """Inline metadata and assembly round-trip through our own IR."""
    applied = apply(straight(), (CachePolicy(0, "nc"), FastMath(1, "fast")))
    assert body(str(parse_module(applied.text))) == body(applied.text)
