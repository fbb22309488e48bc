"""Variants that are wrong on some input and that a solver with a careless model of LLVM's values calls right; and look-alikes that are."""

from __future__ import annotations

import pytest

from kernelwright.edits import Original
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.guards import AtStart
from kernelwright.ir import parse_module
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from tests.prove.obligations.test_barriers import BARRIER
from tests.prove.obligations.test_construction import HEAD, kernel

BYTES = (Product(1, (Quantity("bytes", 1),)),)
"""Behind the second argument."""


def number(original: Original, name: str) -> int:
    """Of the instruction with this result."""
    return next(id for id, node in original.nodes.items() if node.result == f"%{name}")


def numbers(original: Original, opcode: str) -> list[int]:
    return [id for id, node in original.nodes.items() if node.instruction.opcode == opcode]


def holds(original: Original, *edits: Edit) -> bool:
    return all_hold(owed(original, edits))


# -- poison: what the original does not use may be poison without the result being it

SATURATED = """  %a = add nsw i32 %n, 1
  %f = sitofp i32 %a to float
  %c = icmp eq i32 %n, MAX
  %s = select i1 %c, float 0.0, float %f
  store float %s, ptr %p"""


def test_a_choice_of_reals_is_no_poison_because_the_other_one_is() -> None:
    """``n == INT_MAX ? 0.0f : float(n + 1)``: the sum may overflow where it is not chosen."""
    original = kernel(SATURATED.replace("MAX", "2147483647"))
    assert not holds(original, ConstantCondition(number(original, "s"), 0, False))


def test_a_choice_of_pointers_is_no_poison_because_the_other_one_is() -> None:
    body = """  %a = add nsw i32 %n, 1
  %w = sext i32 %a to i64
  %g = getelementptr i32, ptr %q, i64 %w
  %c = icmp eq i32 %n, 2147483647
  %s = select i1 %c, ptr %p, ptr %g
  store i32 1, ptr %s"""
    original = kernel(body)
    assert not holds(original, ConstantCondition(number(original, "s"), 0, False))


def test_a_choice_whose_condition_is_known_is_the_chosen_one() -> None:
    body = """  %m = and i32 %n, 7
  %f = sitofp i32 %m to float
  %c = icmp slt i32 %m, 8
  %s = select i1 %c, float %f, float 0.0
  store float %s, ptr %p"""
    original = kernel(body)
    assert holds(original, ConstantCondition(number(original, "s"), 0, True))
    assert holds(original, ReplaceOperand(numbers(original, "store")[0], 0, "float %f"))
    assert not holds(original, ConstantCondition(number(original, "s"), 0, False))


@pytest.mark.parametrize(("flags", "expected"), [("", True), ("nnan ", False), ("ninf ", False)])
@pytest.mark.parametrize("type", ["half", "bfloat", "float", "double", "<2 x half>"])
def test_a_choice_that_promises_a_number_is_poison_for_others(type: str, flags: str, expected: bool) -> None:
    body = f"""  %x = load {type}, ptr %q
  %c = icmp slt i32 %n, 5
  %s = select {flags}i1 %c, {type} %x, {type} %x
  br i1 %c, label %then, label %end
then:
  br label %end
end:
  %m = phi {flags}{type} [ %x, %entry ], [ %x, %then ]
  store {type} %x, ptr %p
  store {type} %x, ptr %p"""
    original = kernel(body)
    one, other = numbers(original, "store")
    assert holds(original, ReplaceOperand(one, 0, f"{type} %s")) is expected
    assert holds(original, ReplaceOperand(other, 0, f"{type} %m")) is expected


PAIR = """  %x = load float, ptr %q
  %d = fadd float %x, 1.0
  %v = insertelement <2 x float> poison, float %x, i32 0
  %w = insertelement <2 x float> %v, float %x, i32 1
  %y = extractelement <2 x float> %w, i32 0
  store <2 x float> %w, ptr %p
  store float %y, ptr %q"""


@pytest.mark.parametrize(("name", "index", "value"), [("v", 1, "float %d"), ("w", 1, "float %d"), ("y", 1, "i32 1")])
def test_a_vector_that_begins_as_poison_has_elements(name: str, index: int, value: str) -> None:
    original = kernel(PAIR)
    assert not holds(original, ReplaceOperand(number(original, name), index, value))


def test_elements_of_vectors_that_are_the_same() -> None:
    body = PAIR.replace("%d = fadd float %x, 1.0", "%c = icmp sle i32 %n, %n\n  %d = select i1 %c, float %x, float 0.0")
    original = kernel(body)
    assert holds(original, ReplaceOperand(number(original, "w"), 1, "float %d"))


def test_constants_that_are_not_looked_into_are_no_poison() -> None:
    body = """  %v = load <2 x i32>, ptr %q
  store <2 x i32> <i32 1, i32 2>, ptr %p"""
    original = kernel(body)
    assert not holds(original, ReplaceOperand(numbers(original, "store")[0], 0, "<2 x i32> %v"))
    assert not holds(original, ReplaceOperand(numbers(original, "store")[0], 0, "<2 x i32> zeroinitializer"))


def test_what_is_frozen_may_be_poison() -> None:
    """A shift by more bits than there are is poison, and its frozen value any number: the two may not change places."""
    body = """  %s = shl i32 1, %n
  %f = freeze i32 %s
  %c = icmp eq i32 %f, 4
  br i1 %c, label %then, label %end
then:
  store i32 %n, ptr %p
  br label %end
end:"""
    original = kernel(body)
    assert not holds(original, ReplaceOperand(number(original, "c"), 0, "i32 %s"))
    masked = kernel(body.replace("%s = shl", "%k = and i32 %n, 31\n  %s = shl").replace("1, %n", "1, 3"))
    assert holds(masked, ReplaceOperand(number(masked, "c"), 0, "i32 %s"))


def test_an_unsigned_number_divided_by_one_is_itself() -> None:
    body = """  %d = udiv i32 %n, 1
  %c = icmp sgt i32 %d, -1
  %z = zext i1 %c to i32
  store i32 %z, ptr %p"""
    original = kernel(body)
    assert not holds(original, ReplaceOperand(number(original, "z"), 0, "i1 true"))


def test_the_greater_of_two_is_poison_because_the_other_one_is() -> None:
    """``max(n, n + 1)`` is ``n + 1`` for LLVM where the sum may not overflow, and for ``n == INT_MAX`` it does."""
    body = """  %a = add nsw i32 %n, 1
  %c = icmp eq i32 %n, 2147483647
  %s = select i1 %c, i32 %n, i32 %a
  %m = call i32 @llvm.smax.i32(i32 %n, i32 %a)
  store i32 %s, ptr %p
  br i1 %c, label %end, label %then
then:
  store i32 %m, ptr %q
  br label %end
end:"""
    text = f"{HEAD}declare i32 @llvm.smax.i32(i32, i32)\ndefine ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {{\nentry:\n{body}\n  ret void\n}}\n"
    original = Original(parse_module(text), "k")
    stores = numbers(original, "store")
    assert not holds(original, ReplaceOperand(stores[0], 0, "i32 %m"))
    assert holds(original, ReplaceOperand(stores[1], 0, "i32 %s"))


def test_what_the_kernel_stored_may_be_poison() -> None:
    """LLVM reads the sum off the store, and takes ``max(n, n + 1)`` for ``n + 1`` again."""
    body = """  %a = add nsw i32 %n, 1
  store i32 %a, ptr %r
  %y = load i32, ptr %r
  %c = icmp eq i32 %n, 2147483647
  %s = select i1 %c, i32 %n, i32 %y
  %m = call i32 @llvm.smax.i32(i32 %n, i32 %y)
  store i32 %s, ptr %p
  br i1 %c, label %end, label %then
then:
  store i32 %m, ptr %q
  br label %end
end:"""
    head = f"{HEAD}declare i32 @llvm.smax.i32(i32, i32)\ndefine ptx_kernel void @k("
    arguments = "ptr noalias %p, ptr noalias %q, ptr noalias %r, i32 %n"
    original = Original(parse_module(f"{head}{arguments}) {{\nentry:\n{body}\n  ret void\n}}\n"), "k")
    _, first, second = numbers(original, "store")
    assert not holds(original, ReplaceOperand(first, 0, "i32 %m"))
    assert holds(original, ReplaceOperand(second, 0, "i32 %s"))


# -- threads

LANES = f"""  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %c = icmp eq i32 %lane, 0
  br i1 %c, label %write, label %wait
write:
  store i32 %n, ptr addrspace(3) @tile
  br label %wait
wait:
{BARRIER}  br i1 %c, label %end, label %read
read:
  %x = load i32, ptr addrspace(3) @tile
  %i = zext i32 %lane to i64
  %o = getelementptr i32, ptr %q, i64 %i
  store i32 %x, ptr %o
  br label %end
end:"""


def test_two_threads_have_lanes_of_their_own() -> None:
    declared = "declare i32 @llvm.nvvm.read.ptx.sreg.laneid()\n@tile = internal addrspace(3) global i32 undef\n"
    text = f"{HEAD}{declared}define ptx_kernel void @k(ptr %p, ptr noalias %q, i32 %n) {{\nentry:\n{LANES}\n  ret void\n}}\n"
    original = Original(parse_module(text), "k")
    assert not holds(original, DeleteBarrier(numbers(original, "call")[1]))


def test_a_division_stays_behind_what_may_see_to_its_divisor() -> None:
    text = f"""{HEAD}declare void @stop_at_zero(i32)
define ptx_kernel void @k(ptr %p, i32 %n, i32 %m) {{
  call void @stop_at_zero(i32 %n)
  %d = sdiv i32 %m, DIVISOR
  store i32 %d, ptr %p
  ret void
}}
"""
    for divisor, expected in (("%n", False), ("3", True)):
        original = Original(parse_module(text.replace("DIVISOR", divisor)), "k")
        assert holds(original, Move(number(original, "d"), numbers(original, "call")[0])) is expected


# -- places

BRANCHES = """  %x = load i32, ptr %q
  %five = icmp eq i32 %x, 5
  br i1 %five, label %then, label %else
then:
  %s = add i32 %x, %n
  store i32 %s, ptr %p
  br label %end
else:
  %r = add i32 %x, %n
  store i32 %r, ptr %p
  br label %end
end:"""


def test_what_is_the_same_in_one_branch_only_may_not_leave_it() -> None:
    """``then``: the operand is 5 there. Made before the branch, the sum is another one, and ``else`` may not take it."""
    original = kernel(BRANCHES)
    here = ReplaceOperand(number(original, "s"), 0, "i32 5")
    above = Move(number(original, "s"), numbers(original, "br")[0])
    reused = ReplaceOperand(numbers(original, "store")[1], 0, "i32 %s")
    assert holds(original, here)
    assert holds(original, above, reused)
    assert not holds(original, here, above, reused)


QUADS = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %a = getelementptr inbounds i32, ptr %q, i64 %i
  %first = load <2 x i32>, ptr %a, align 4
  %word = ptrtoint ptr %a to i64
  %low = and i64 %word, 7
  %aligned = icmp eq i64 %low, 0
  br i1 %aligned, label %pair, label %end
pair:
  %v = load <2 x i32>, ptr %a, align ALIGN
  %e = extractelement <2 x i32> %v, i32 1
  %o = getelementptr inbounds i32, ptr %p, i64 %i
  store i32 %e, ptr %o
  br label %end
end:"""


@pytest.mark.parametrize(("align", "expected"), [("8", False), ("4", True)])
def test_an_address_that_is_there_may_still_be_misaligned(align: str, expected: bool) -> None:
    """Both words are read before, so the memory is there; a load that wants a multiple of eight faults at an odd word."""
    original = kernel(QUADS.replace("ALIGN", align), "ptr noalias %p, ptr noalias %q, i32 %n")
    hoist = HoistLoads(numbers(original, "br")[1])
    assert holds(original, hoist) is expected


CHECKED = """  %word = ptrtoint ptr %q to i64
  %low = and i64 %word, 15
  %aligned = icmp eq i64 %low, 0
  %told = icmp ne i32 %n, 0
  br i1 CHECK, label %wide, label %end
wide:
  %v = load TYPE, ptr %q, align ALIGN
  %e = extractelement <4 x i32> VECTOR, i32 1
  store i32 %e, ptr %p
  br label %end
end:"""


@pytest.mark.parametrize("check", ["%aligned", "%told"])
def test_a_wide_load_stays_behind_the_check_of_its_alignment(check: str) -> None:
    """Nothing else that the kernel does says that the memory is so well aligned: its own check does not take it for granted, be it
    made here or by the host."""
    body = CHECKED.replace("CHECK", check).replace("TYPE", "<4 x i32>").replace("ALIGN", "16").replace("VECTOR", "%v")
    original = kernel(body, "ptr noalias %p, ptr noalias %q, i32 %n")
    hoist = HoistLoads(numbers(original, "br")[1])
    room = RequireLaunch(guard_json(Relation(BYTES, ">=", (Product(16),))))
    assert not holds(original, room, hoist)
    assert holds(original, room, RequireLaunch(guard_json(AtStart(1))), hoist)


def test_a_number_stays_behind_the_check_of_its_alignment() -> None:
    body = """  %word = ptrtoint ptr %q to i64
  %low = and i64 %word, 7
  %aligned = icmp eq i64 %low, 0
  br i1 CHECK, label %then, label %end
then:
  %v = load i64, ptr %q, align 8
  store i64 %v, ptr %p
  br label %end
end:"""
    room = RequireLaunch(guard_json(Relation(BYTES, ">=", (Product(8),))))
    for check, expected in (("%aligned", False), ("%small", True)):
        text = body.replace("CHECK", check)
        if expected:  # nothing asks for its address
            text = "  %small = icmp slt i32 %n, 9\n" + text[text.index("  br") :]
        original = kernel(text, "ptr noalias %p, ptr noalias %q, i32 %n")
        assert holds(original, room, HoistLoads(numbers(original, "br")[1])) is expected, check


@pytest.mark.parametrize(("flag", "expected"), [("inbounds", False), ("", True)])
def test_an_index_made_of_an_address_that_leaves_its_memory(flag: str, expected: bool) -> None:
    """``g`` is in bounds where it is needed. Elsewhere it is poison, and so is the index that is made of it."""
    body = f"""  %w = sext i32 %n to i64
  %g = getelementptr {flag} i32, ptr %q, i64 %w
  %word = ptrtoint ptr %g to i64
  %low = and i64 %word, 3
  %in = icmp ult i32 %n, 8
  br i1 %in, label %then, label %end
then:
  %d = getelementptr inbounds i32, ptr %r, i64 %low
  %y = load i32, ptr %d
  store i32 %y, ptr %p
  br label %end
end:"""
    original = kernel(body, "ptr noalias %p, ptr noalias %r, ptr noalias %q, i32 %n")
    room = RequireLaunch(guard_json(Relation(BYTES, ">=", (Product(16),))))
    assert holds(original, room, HoistLoads(numbers(original, "br")[1])) is expected


# -- what LLVM makes of it


@pytest.mark.parametrize(
    ("flags", "expected"), [("", True), ("contract ", True), ("fast ", False), ("reassoc ", False)]
)
def test_sums_that_may_be_made_in_another_order_are_so_in_changed_code(flags: str, expected: bool) -> None:
    body = f"""  %x = load float, ptr %q
  %y = fadd {flags}float %x, 1.0
  %z = fadd {flags}float %y, 2.0
  %c = icmp sle i32 %n, %n
  %s = select i1 %c, float %z, float %y
  store float %s, ptr %p"""
    original = kernel(body)
    assert holds(original, ConstantCondition(number(original, "s"), 0, True)) is expected
