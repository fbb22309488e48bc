"""Each kind of edit on a few lines, before and after."""

from __future__ import annotations

import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.edits import Edit, Genome, Original, apply, apply_to
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.replace_instruction import ReplaceInstruction
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.swap import Swap
from kernelwright.errors import Misuse
from kernelwright.ir import parse_module
from kernelwright.passes.llvm import check
from tests.edits.conftest import DIAMOND, STRAIGHT, after, body, kernel

C0, C1 = "c0000000000", "c0000000001"
TBAA = '!0 = !{!1, !1, i64 0}\n!1 = !{!"float", !2}\n!2 = !{!"root"}\n'


def straight() -> Original:
    return kernel(STRAIGHT, TBAA)


def test_no_edit_leaves_every_line() -> None:
    assert after(straight()) == [line.strip() for line in STRAIGHT.strip().split("\n")]


def test_delete_puts_the_recorded_value_in_place() -> None:
    assert after(straight(), Delete(1, "float %a")) == [
        "%a = load float, ptr %p, align 4, !tbaa !0",
        "%c = add nsw i32 %n, 1",
        "%d = add nuw nsw i32 %c, %n",
        "store float %a, ptr %q, align 4",
        "ret void",
    ]


def test_delete_follows_a_chain_of_deleted_values() -> None:
    lines = after(straight(), Delete(0, "float 1.000000e+00"), Delete(1, "float %a"))
    assert lines[-2] == "store float 1.000000e+00, ptr %q, align 4"


def test_copy_is_used_and_loses_what_was_promised_of_the_original() -> None:
    lines = after(straight(), Copy(C0, 1, 4, (1, 0), ((C0, 0, "float %x"),)))
    # The user stands before the copy: it cannot have it, and keeps what it had.
    assert lines[1] == "%b = fadd contract float %a, %x"
    assert lines[4] == f"%{C0} = fadd contract float %a, %x"
    lines = after(straight(), Copy(C0, 0, 0, (4, 0)))
    assert lines[0] == f"%{C0} = load float, ptr %p, align 4"
    assert lines[1] == "%a = load float, ptr %p, align 4, !tbaa !0"
    assert lines[-2] == f"store float %{C0}, ptr %q, align 4"


def test_a_copy_in_a_place_without_its_operand_takes_the_recorded_one() -> None:
    lines = after(straight(), Copy(C0, 3, 0, (3, 1), ((C0, 0, "i32 7"),)))
    assert lines[0] == f"%{C0} = add i32 7, %n"
    assert lines[4] == f"%d = add i32 %c, %{C0}"


def test_copy_of_a_store_needs_no_user() -> None:
    assert after(straight(), Copy(C0, 4, 5)).count("store float %b, ptr %q, align 4") == 2


def test_move_down_past_its_user() -> None:
    lines = after(straight(), Move(2, 5))
    assert lines[-2] == "%c = add i32 %n, 1"
    # Nothing was recorded: the nearest values of the type and a constant are n and 1.
    assert lines[2] in ("%d = add i32 %n, %n", "%d = add i32 1, %n")


def test_swap() -> None:
    lines = after(straight(), Swap(0, 4, ((4, 0, "float %x"),)))
    assert lines[0] == "store float %x, ptr %q, align 4"
    assert lines[4] == "%a = load float, ptr %p, align 4"
    assert lines[1] in ("%b = fadd contract float %x, %x", "%b = fadd contract float 1.000000e+00, %x")


def test_replace_instruction() -> None:
    lines = after(straight(), ReplaceInstruction(C0, 3, 2))
    assert lines[3] == f"%{C0} = add i32 %n, 1" and len(lines) == 6
    lines = after(kernel(DIAMOND), ReplaceInstruction(C0, 6, 4, ((C0, 0, "i32 %s"),)))
    assert f"%{C0} = xor i32 %s, %n" in lines and f"%m = phi i32 [ %l2, %left ], [ %{C0}, %right ]" in lines


def test_replace_operand_drops_flags_of_that_line_only() -> None:
    lines = after(straight(), ReplaceOperand(3, 0, "i32 %n"))
    assert lines[2:4] == ["%c = add nsw i32 %n, 1", "%d = add i32 %n, %n"]


def test_a_condition_made_constant() -> None:
    assert "br i1 true, label %left, label %right" in after(kernel(DIAMOND), ReplaceOperand(2, 0, "i1 true"))


def test_a_value_that_does_not_reach_a_phi_is_repaired() -> None:
    lines = after(kernel(DIAMOND), Move(3, 8, ()))  # %l goes to the join: %l2 in left can no longer have it
    assert "%l = mul i32 %s, 3" in lines
    assert next(line for line in lines if line.startswith("%l2")) in (
        "%l2 = xor i32 %s, %n",
        "%l2 = xor i32 %n, %n",
        "%l2 = xor i32 1, %n",
    )


def test_before_a_phi_means_after_the_phis() -> None:
    lines = after(kernel(DIAMOND), Move(0, 8))
    at = next(n for n, line in enumerate(lines) if "phi" in line)
    assert lines[at + 1] == "%s = add i32 %n, 1"


def test_a_deleted_place_can_still_be_addressed() -> None:
    lines = after(straight(), Delete(2, "i32 %n"), Copy(C0, 4, 2, None, ((C0, 0, "float %x"),)))
    assert lines[2] == "store float %b, ptr %q, align 4"
    assert lines[3] == "%d = add i32 %n, %n"


def test_edits_of_copies() -> None:
    first = Copy(C0, 2, 4, (3, 1))
    lines = after(straight(), first, ReplaceOperand(C0, 1, "i32 0"), Copy(C1, C0, 4, None), Delete(C0, f"i32 %{C1}"))
    assert lines[4] == f"%{C1} = add i32 %n, 0"
    # What is done to the copy of a copy leaves the copy alone.
    lines = after(straight(), Copy(C0, 2, 5), Copy(C1, C0, 5), ReplaceOperand(C1, 0, "i32 5"))
    assert lines[5:7] == [f"%{C0} = add i32 %n, 1", f"%{C1} = add i32 5, 1"]


def test_a_phi_keeps_one_value_per_block() -> None:
    text = """
entry:
  switch i32 %n, label %a [
    i32 1, label %b
    i32 2, label %b
  ]
a:
  br label %b
b:
  %m = phi i32 [ 7, %entry ], [ 7, %entry ], [ 8, %a ]
  store i32 %m, ptr %p, align 4
  ret void
"""
    lines = after(kernel(text), ReplaceOperand(2, 1, "i32 %n"))
    assert "%m = phi i32 [ %n, %entry ], [ %n, %entry ], [ 8, %a ]" in lines


def test_a_switch_keeps_its_cases() -> None:
    text = """
entry:
  %m = add i32 %n, 1
  switch i32 %n, label %a [
    i32 1, label %b
    i32 2, label %b
  ]
a:
  br label %b
b:
  ret void
"""
    lines = after(kernel(text), ReplaceOperand(1, 0, "i32 %m"))
    assert lines[1:4] == ["switch i32 %m, label %a [", "i32 1, label %b", "i32 2, label %b"]


@pytest.mark.parametrize(
    ("genome", "says"),
    [
        ((Delete(99),), "there is no instruction 99"),
        ((Delete(C0),), "there is no instruction c0000000000"),
        ((Delete(5),), "'ret', which stays"),
        ((Delete(1, "float %a"), Delete(1, "float %x")), "instruction 1 is gone"),
        ((Delete(1, "float %a"), Move(1, 4)), "is gone"),
        ((Delete(1, "float %a"), ReplaceOperand(1, 0, "float %x")), "is gone"),
        ((Delete(1, "float %a"), Copy(C0, 1, 4)), "is gone"),
        ((Delete(1, "float %a"), Swap(0, 1)), "is gone"),
        ((Move(1, 1),), "before itself"),
        ((Swap(1, 1),), "with itself"),
        ((Move(1, C0),), "there is no instruction"),
        ((Copy(C0, 2, 3), Copy(C0, 2, 3)), "the name of another copy"),
        ((Copy("x", 2, 3),), "no proper name"),
        ((Copy(C0, 2, 3, (4, 0)),), "is no i32"),
        ((Copy(C0, 2, 3, (4, 7)),), "must stay"),
        ((ReplaceInstruction(C0, 1, 2),), "makes i32, 1 does not"),
        ((ReplaceInstruction(C0, 1, 1),), "by itself"),
        ((ReplaceOperand(3, 0, "float %a"),), "no value for operand 0"),
        ((ReplaceOperand(3, 0, "i32 hello"),), "no value for operand 0"),
        ((ReplaceOperand(3, 0, "i32 99999999999"),), "no value for operand 0"),
        ((ReplaceOperand(1, 0, "float 0.1"),), "no value for operand 0"),
        ((ReplaceOperand(3, 9, "i32 0"),), "must stay"),
    ],
)
def test_an_edit_that_cannot_apply_is_inert_and_says_why(genome: Genome, says: str) -> None:
    applied = apply(straight(), genome)
    assert [i.index for i in applied.inert] == [len(genome) - 1]
    assert applied.inert[0].edit is genome[-1] and says in applied.inert[0].reason
    assert applied.text == apply(straight(), genome[:-1]).text


def test_a_value_that_never_came_to_be_leaves_the_operand_as_it_was() -> None:
    assert after(straight(), ReplaceOperand(3, 0, f"i32 %{C0}"))[3] == "%d = add i32 %c, %n"


def test_what_must_stay_is_offered_by_nobody() -> None:
    original = kernel(
        """
  %slot = alloca [4 x i32], align 4, addrspace(5)
  %g = getelementptr { i32, [4 x float] }, ptr %p, i32 %n, i32 1, i32 %n
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %z = call i32 @llvm.ctlz.i32(i32 %n, i1 false)
  %c = icmp eq i32 %z, 0
  call void @llvm.assume(i1 %c)
  store i32 %z, ptr %g, align 4
  ret void
""",
        "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\ndeclare i32 @llvm.ctlz.i32(i32, i1 immarg)\n"
        "declare void @llvm.assume(i1)\n",
    )
    nodes = original.nodes
    assert 0 not in original.free and nodes[0].editable == ()
    assert nodes[1].editable == (0, 1, 3)  # not the field of the struct
    assert nodes[2].editable == () and 2 in original.free
    assert nodes[3].editable == (0,)
    assert 5 not in nodes and "assume" not in "".join(body(apply(original, ()).text))


def test_a_parameter_is_no_longer_read_only_once_a_store_was_touched() -> None:
    text = "%a = load i32, ptr %p, align 4\nstore i32 %a, ptr %q, align 4\nret void"
    original = kernel(text, parameters="ptr noalias readonly captures(none) %p, ptr writeonly %q, i32 %n")
    touched = apply(original, (ReplaceOperand(1, 1, "ptr %p"),)).text
    assert "@k(ptr noalias %p, ptr %q, i32 %n)" in touched
    assert "@k(ptr noalias readonly captures(none) %p, ptr writeonly %q, i32 %n)" in apply(original, ()).text


ATTRIBUTES = 'attributes #0 = { nounwind memory(argmem: readwrite) "a"="memory(none)  x" }\n'
OTHER_USER = "declare void @other() #0\n"
GIVEN = "ptr readonly captures(none) %p, ptr writeonly captures(none) %q, i32 %n"


def reading_kernel() -> Original:
    """Copies from ``p`` to ``q``; the kernel and a function share a group of attributes that speaks of memory."""
    text = f"""{ATTRIBUTES}{OTHER_USER}
define ptx_kernel void @k({GIVEN}) local_unnamed_addr #0 {{
  %i = add nsw i32 %n, 1
  %from = getelementptr i32, ptr %p, i32 %i
  %to = getelementptr i32, ptr %q, i32 %i
  %a = load i32, ptr %from, align 4
  store i32 %a, ptr %to, align 4
  ret void
}}
"""
    return Original(parse_module(text), "k")


@pytest.mark.parametrize(
    "genome",
    [
        (ReplaceOperand(2, 0, "ptr %p"),),  # the store itself stays as it was
        (ReplaceOperand(4, 1, "ptr %from"),),
        (Delete(2, "ptr %from"),),
        (ReplaceInstruction(C0, 2, 1),),
        (Move(3, 5),),
    ],
)
def test_what_was_known_of_memory_goes_once_a_pointer_was_touched(genome: Genome) -> None:
    applied = apply(reading_kernel(), genome)
    assert applied.inert == ()
    check(applied.text)
    assert '@k(ptr %p, ptr %q, i32 %n) local_unnamed_addr nounwind "a"="memory(none)  x" {' in applied.text
    assert ATTRIBUTES in applied.text and OTHER_USER in applied.text


def test_what_was_known_of_memory_stays_where_no_pointer_is_touched() -> None:
    original = reading_kernel()
    for genome in ((), (ReplaceOperand(0, 1, "i32 0"),)):
        assert f"@k({GIVEN}) local_unnamed_addr #0 {{" in apply(original, genome).text
    # Without the sum, the pointers get another index.
    assert GIVEN not in apply(original, (Delete(0, "i32 %n"),)).text


def test_a_store_into_what_was_read_only_is_compiled() -> None:
    """With the attributes, LLVM takes the load behind it through the read-only cache, which does not see the store."""
    text = """
  %from = getelementptr i32, ptr %p, i32 %n
  %to = getelementptr i32, ptr %q, i32 %n
  store i32 7, ptr %to, align 4
  %a = load i32, ptr %from, align 4
  store i32 %a, ptr %q, align 4
  ret void
"""
    original = kernel(text, parameters="ptr noalias readonly %p, ptr noalias %q, i32 %n")
    assert "ld.global.nc" in ptx_of(original)
    changed = ptx_of(original, ReplaceOperand(1, 0, "ptr %p"))
    assert "ld.global.nc" not in changed and changed.count("st.global") == 2


def ptx_of(original: Original, *edits: Edit) -> str:
    return emit_ptx(apply(original, edits).text, "sm_80")


def test_the_module_that_was_given_stays_as_it_was() -> None:
    module = parse_module(
        "define ptx_kernel void @k(ptr %0, i32 %1) {\n  %3 = add nsw i32 %1, %1\n  store i32 %3, ptr %0\n  ret void\n}\n"
    )
    before = str(module)
    applied = apply_to(module, "k", (Delete(0, "i32 %a1"),))
    assert str(module) == before
    assert body(applied.text)[0].startswith("store i32 %a1, ptr %a0")


def test_no_such_kernel() -> None:
    with pytest.raises(Misuse, match="'nothing'"):
        apply_to(parse_module("declare void @f()\n"), "nothing", ())


def test_source_lines_are_carried_along(kernels: tuple[Original, ...]) -> None:
    """A copy is written where its source was; a moved instruction where it was."""
    for original in kernels[:6]:
        first, last = original.free[0], original.free[-1]
        applied = apply(original, (Copy(C0, first, last), Move(first, last)))
        where = original.location(first)
        assert where is not None and where.line > 0
        node = original.lines[first].split("!dbg ")[1].split(",")[0]
        assert applied.draft.line(C0).endswith(f"!dbg {node}")
        assert applied.draft.line(first).endswith(f"!dbg {node}")
        check(applied.text)
