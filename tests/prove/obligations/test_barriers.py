"""Barriers that are gone: what two threads of a block may meet in, decided by the solver and known beforehand."""

from __future__ import annotations

import pytest

from kernelwright.edits import Original
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier, barriers
from kernelwright.edits.kinds.fix_launch import FixBlock
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.ir import parse_module
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.obligations.solver import Budget
from tests.prove.obligations.test_construction import HEAD

BARRIER = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
START = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %i = zext i32 %t to i64
  %own = getelementptr [1024 x i32], ptr addrspace(3) @tile, i64 0, i64 %i
  %u = add i32 %t, 1
  %j = zext i32 %u to i64
  %next = getelementptr [1024 x i32], ptr addrspace(3) @tile, i64 0, i64 %j
  %out = getelementptr i32, ptr %q, i64 %i
"""
ONE_ROW = FixBlock((64, 1, 1))


def shared(body: str) -> Original:
    text = (
        f"{HEAD}\n@tile = internal addrspace(3) global [1024 x i32] undef\n@other = internal addrspace(3) global [1024 x i32] undef\n"
        f"define ptx_kernel void @k(ptr noalias %p, ptr noalias %q, i32 %n) {{\nentry:\n{START}{body}  ret void\n}}\n"
    )
    return Original(parse_module(text), "k")


OWN = f"  store i32 %t, ptr addrspace(3) %own\n{BARRIER}  %x = load i32, ptr addrspace(3) %own\n  store i32 %x, ptr %out\n"
NEIGHBOUR = OWN.replace("load i32, ptr addrspace(3) %own", "load i32, ptr addrspace(3) %next")
WRITTEN_LATER = f"  %x = load i32, ptr addrspace(3) %own\n{BARRIER}  store i32 %x, ptr addrspace(3) %next\n  store i32 %x, ptr %out\n"
TWICE = f"  store i32 %t, ptr addrspace(3) %own\n{BARRIER}{BARRIER}  %x = load i32, ptr addrspace(3) %next\n  store i32 %x, ptr %out\n"
SHUT = f"  store i32 %t, ptr addrspace(3) %own\n{BARRIER}  fence acq_rel\n  %x = load i32, ptr addrspace(3) %own\n  store i32 %x, ptr %out\n"
LOOP = f"""  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %l, %loop ]
  store i32 %k, ptr addrspace(3) %own
{BARRIER}  %x = load i32, ptr addrspace(3) READ
  store i32 %x, ptr %out
  %l = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %l, %n
  br i1 %more, label %loop, label %end
end:
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [(OWN, True), (NEIGHBOUR, False), (WRITTEN_LATER, False), (SHUT, False), (LOOP.replace("READ", "%own"), True),
     (LOOP.replace("READ", "%next"), False)],
)  # fmt: skip
def test_one_barrier(body: str, expected: bool) -> None:
    original = shared(body)
    (edit,) = barriers(original)
    assert all_hold(owed(original, [ONE_ROW, edit])) is expected


def test_blocks_of_several_rows_have_threads_of_the_same_number() -> None:
    original = shared(OWN)
    (edit,) = barriers(original)
    assert not all_hold(owed(original, [edit]))


def test_of_two_barriers_in_a_row_one_may_go_and_not_both() -> None:
    original = shared(TWICE)
    first, second = barriers(original)
    assert all_hold(owed(original, [ONE_ROW, first])) and all_hold(owed(original, [ONE_ROW, second]))
    assert not all_hold(owed(original, [ONE_ROW, first, second]))


def test_a_barrier_that_is_needed_may_be_one_of_its_warp() -> None:
    original = shared(NEIGHBOUR)
    assert all_hold(owed(original, [WarpBarriers()]))
    assert not all_hold(owed(original, [WarpBarriers(), DeleteBarrier(next(iter(barriers(original))).subject)]))


def test_a_barrier_of_the_warp_separates_nothing_of_other_warps() -> None:
    warp = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"
    original = shared(TWICE.replace(BARRIER + BARRIER, warp + BARRIER + warp))
    block = next(each for each in barriers(original) if "cta" in original.lines[each.subject])
    assert not all_hold(owed(original, [ONE_ROW, block]))


MOVED = f"""  %other.own = getelementptr [1024 x i32], ptr addrspace(3) @other, i64 0, i64 %i
  %other.next = getelementptr [1024 x i32], ptr addrspace(3) @other, i64 0, i64 %j
  store i32 %t, ptr addrspace(3) %own
  store i32 %n, ptr addrspace(3) WRITTEN
{BARRIER}  %x = load i32, ptr addrspace(3) READ
  %y = load i32, ptr addrspace(3) %other.own
  %z = add i32 %x, %y
  store i32 %z, ptr %out
"""


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [
        ("%other.own", "%own", True),
        # Near misses: a neighbour reads what is stored, or writes what is loaded early; the load passes its own store.
        ("%other.own", "%next", False),
        ("%other.next", "%own", False),
    ],
)
def test_a_barrier_may_go_while_a_load_is_moved_besides(written: str, read: str, expected: bool) -> None:
    original = shared(MOVED.replace("WRITTEN", written).replace("READ", read))
    (gone,) = barriers(original)
    loads = [id for id, node in original.nodes.items() if node.instruction.opcode == "load"]
    stores = [id for id, node in original.nodes.items() if node.instruction.opcode == "store"]
    assert all_hold(owed(original, [ONE_ROW, gone, Move(loads[0], stores[1])])) is expected
    assert not all_hold(owed(original, [ONE_ROW, gone, Move(loads[1], stores[1])]))
    # Over the barrier that stays: what nobody else writes in its interval may be read early.
    assert all_hold(owed(original, [ONE_ROW, Move(loads[0], stores[1])])) is (read == "%own")


def test_without_time_no_barrier_goes() -> None:
    original = shared(OWN)
    (edit,) = barriers(original)
    assert not all_hold(owed(original, [ONE_ROW, edit], budget=Budget(0)))
