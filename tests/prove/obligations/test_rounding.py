"""Variants that compute the same numbers and round them otherwise: products fused with another sum, or with none, by what LLVM makes of it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.edits import Original, apply
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.swap import Swap
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.ir import parse_module
from kernelwright.passes.recipe import optimise_with
from tests.prove.obligations.test_construction import kernel
from tests.prove.obligations.test_false_proofs import holds, number, numbers

ARGUMENTS = "ptr noalias %p, ptr noalias %q, i32 %n, float %a, float %b"
TENTH, FIFTH = "float 0x3FB99999A0000000", "float 0x3FC99999A0000000"


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


def outputs(arena: Arena, original: Original, *edits: Edit) -> bytes:
    """What a variant makes of 1.3, 1.1, 0.01, n = 7, a = 0.1 and b = 0.2, compiled as a search would."""
    module = parse_module(optimise_with(apply(original, edits).text, None, "sm_90"))
    p, q = arena.allocate(16, "p"), arena.allocate(16, "q")
    arena.view(p)[:] = list(struct.pack("<4f", 1.3, 1.1, 0.01, 0.0))
    arena.view(q)[:] = 0
    given = struct.pack("<QQiff", p.address, q.address, 7, 0.1, 0.2)
    assert not run_reference(module, "k", (1, 1, 1), (1, 1, 1), given, arena).fault
    return arena.view(q).tobytes()


LATER = """  %x = load float, ptr %p
  %u = fmul contract float %x, %a
  %c = icmp sgt i32 %n, 5
  br i1 %c, label %end, label %then
then:
  store float 0.0, ptr %p
  br label %end
end:
  %s = fadd {flag}float %u, %b
  store float %s, ptr %q"""


def test_a_product_that_comes_to_stand_beside_its_sum(arena: Arena) -> None:
    """The branch is known, one block is made of three, and the product is fused."""
    original = kernel(LATER.format(flag="contract "), ARGUMENTS)
    seven = FixArgument(2, "i32 7")
    assert outputs(arena, original, seven) != outputs(arena, original)
    assert not holds(original, seven)
    assert holds(kernel(LATER.format(flag=""), ARGUMENTS), seven)
    assert holds(original, FixArgument(3, TENTH))


CROSS = """  %y = getelementptr float, ptr %p, i64 1
  %one = load float, ptr %p
  %two = load float, ptr %y
  %u = fmul contract float %one, %a
  %v = fmul contract float %two, %b
  %s = fadd contract float %u, %v
  store float %s, ptr %q"""


def test_of_two_products_the_other_one_may_be_fused(arena: Arena) -> None:
    """LLVM orders a sum's operands by where the loads stand that they are made of."""
    original = kernel(CROSS, ARGUMENTS)
    swapped = Swap(number(original, "one"), number(original, "two"))
    assert outputs(arena, original, swapped) != outputs(arena, original)
    assert not holds(original, swapped)


def test_a_product_of_known_numbers_is_rounded_before_its_sum(arena: Arena) -> None:
    body = """  %at = getelementptr float, ptr %p, i64 2
  %x = load float, ptr %at
  %u = fmul contract float %a, %b
  %s = fsub contract float %u, %x
  store float %s, ptr %q"""
    original = kernel(body, ARGUMENTS)
    both = FixArgument(3, TENTH), FixArgument(4, FIFTH)
    assert outputs(arena, original, *both) != outputs(arena, original)
    assert not holds(original, *both)
    assert holds(original, both[0])


def test_a_sum_that_nothing_is_left_of_is_needed_or_not() -> None:
    """All known, it is a constant, and was rounded twice; on the way that is not taken it is not needed."""
    body = """  %u = fmul contract float %a, %b
  %s = fadd contract float %u, 1.0
  store float %s, ptr %q"""
    known = kernel(body, ARGUMENTS)
    assert not holds(known, FixArgument(3, TENTH), FixArgument(4, FIFTH))
    branch = f"""  %m = and i32 %n, 7
  %c = icmp sgt i32 %m, 7
  br i1 %c, label %then, label %end
then:
{body}
  br label %end
end:"""
    skipped = kernel(branch, ARGUMENTS)
    assert holds(skipped, ConstantCondition(numbers(skipped, "br")[0], 0, False))


TWICE = """  %x = load float, ptr %p
  %u = fmul contract float %x, %a
  %s = fadd contract float %u, %b
  %k = and i32 %n, 7
  %c = icmp slt i32 %k, 8
  %y = select i1 %c, float %x, float 0.0
  %v = fmul contract float %y, %a
  %t = fadd contract float %v, %b
  store float %s, ptr %q
  %r = getelementptr float, ptr %q, i64 1
  store float %v, ptr %r"""


def test_sums_of_the_same_numbers_are_not_the_same_sum() -> None:
    """One of the products is used once more, and so is rounded on its own."""
    original = kernel(TWICE, ARGUMENTS)
    assert not holds(original, ReplaceOperand(numbers(original, "store")[0], 0, "float %t"))


LOOP = """  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %s = phi float [ 0.0, %entry ], [ %u, %loop ]
  {old}
  %w = zext i32 %i to i64
  %g = getelementptr float, ptr %p, i64 %w
  %x = load float, ptr %g
  %y = fmul contract float %x, %a
  %u = fadd contract float %s, {sum}
  %j = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %end
end:
  store float %u, ptr %q"""


OLD = "%old = phi float [ 0.0, %entry ], [ %y, %loop ]"


@pytest.mark.parametrize(("summand", "old", "expected"), [("%y", "", True), ("%old", OLD, False)])
def test_every_turn_of_an_unrolled_loop_is_asked(summand: str, old: str, expected: bool) -> None:
    """With the product of the turn before, which comes to stand beside its sum, it is fused from the second turn on."""
    loop = kernel(LOOP.format(sum=summand, old=old), ARGUMENTS)
    assert holds(loop, Unroll(next(iter(loop.latches)), 4)) is expected


def test_copies_count_as_what_they_were_copied_from() -> None:
    original = kernel(CROSS, ARGUMENTS)
    assert holds(original, Copy("c0123456789", number(original, "s"), numbers(original, "store")[0]))


@pytest.mark.parametrize("flag", ["nsz", "afn", "arcp", "reassoc", "fast"])
def test_operations_that_llvm_may_compute_in_several_ways(flag: str) -> None:
    """``x + 0.0`` with ``nsz`` is ``x`` where the zero is known, also for ``x == -0.0``."""
    body = f"""  %x = load float, ptr %p
  %s = fadd {flag} float %x, %a
  store float %s, ptr %q"""
    assert not holds(kernel(body, ARGUMENTS), FixArgument(3, "float 0.000000e+00"))


def test_functions_that_llvm_computes_on_the_host() -> None:
    """The GPU's own is an approximation, and a known operand never gets there."""
    module = parse_module(
        "declare float @llvm.exp2.f32(float)\n"
        "define ptx_kernel void @k(ptr %q, float %a) {\n  %s = call float @llvm.exp2.f32(float %a)\n"
        "  store float %s, ptr %q\n  ret void\n}\n"
    )
    assert not holds(Original(module, "k"), FixArgument(1, TENTH))
