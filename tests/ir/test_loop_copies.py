"""Turns of a loop copied one after the other: what runs is what ran, and what cannot be copied says why and is left as it is."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import BasicBlock, Dominators, Function, Module, loop_latches, parse_module, print_module, verify
from kernelwright.ir.loop_copies import copy_turns
from kernelwright.passes.llvm import check
from tests.prove.obligations.brute_force import STEPS, Kernel
from tests.prove.obligations.guarded_kernels import GuardedKernel
from tests.simt.harness import Case

HEAD = """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
@tile = internal addrspace(3) global [32 x i32] undef
define ptx_kernel void @k(ptr %p, i32 %n, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = getelementptr i32, ptr %out, i32 %t
"""
ALONE = """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ %t, %entry ], [ %sum, %loop ]
  %sum = add i32 %s, %i
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  %r = mul i32 %sum, %i
  store i32 %r, ptr %o, align 4
  ret void
"""
# The test comes first, two numbers change places in each turn, and threads wait for each other.
EXCHANGED = """
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %a = phi i32 [ %t, %entry ], [ %b, %body ]
  %b = phi i32 [ 100, %entry ], [ %a, %body ]
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %end
body:
  %own = getelementptr [32 x i32], ptr addrspace(3) @tile, i32 0, i32 %t
  store i32 %a, ptr addrspace(3) %own, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  br label %head
end:
  %r = mul i32 %a, 3
  %q = sub i32 %r, %b
  store i32 %q, ptr %o, align 4
  ret void
"""
# Two ways out, to places of their own; a branch within; a value that a phi beyond takes, and one that nothing there takes.
LEFT_TWICE = """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr i32, ptr %p, i32 %i
  %x = load i32, ptr %at, align 4
  %odd = trunc i32 %x to i1
  br i1 %odd, label %then, label %on
then:
  %twice = shl i32 %x, 1
  %far = icmp sgt i32 %twice, 40
  br i1 %far, label %found, label %on
on:
  %y = phi i32 [ %x, %loop ], [ %twice, %then ]
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
found:
  %f = add i32 %twice, %i
  br label %join
end:
  %e = sub i32 %y, %next
  br label %join
join:
  %r = phi i32 [ %f, %found ], [ %e, %end ]
  store i32 %r, ptr %o, align 4
  ret void
"""
FOOT = "}\n!0 = distinct !{!0}\n"
LOOPS = {"alone": ALONE, "exchanged": EXCHANGED, "left twice": LEFT_TWICE}


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


def module(body: str) -> Module:
    return parse_module(HEAD + body + FOOT)


def latch_and_header(function: Function) -> tuple[BasicBlock, BasicBlock]:
    ((header, latches),) = loop_latches(Dominators(function)).items()
    return latches[0], header


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("name", LOOPS)
def test_what_runs_is_what_ran(name: str, count: int, arena: Arena) -> None:
    made = module(LOOPS[name])
    copy_turns(*latch_and_header(made.functions["k"]), count)
    verify(made)
    check(print_module(made))
    numbers = np.array([2, 6, 4, 9, 8, 21, 30, 3, 0, 5], np.int32)
    for n in (-1, 1, 2, 3, 4, 5, 9):
        inputs = (numbers, n, np.zeros(32, np.int32))
        want = Case(module(LOOPS[name]), "k", 1, 32, *inputs).reference(arena)
        copied = Case(made, "k", 1, 32, *inputs)
        assert want.fault is None
        copied.same(want, copied.agree(arena), 0.0, f"{name}, {n} turns")


def test_each_turn_is_there_with_its_way_out() -> None:
    made = module(LEFT_TWICE)
    function = made.functions["k"]
    before = len(function.blocks)
    latch, header = latch_and_header(function)
    first, *further = copy_turns(latch, header, 4)
    assert len(further) == 3
    assert header.successors == (first,) and not first.phis
    assert len(function.blocks) == before + 1 + 3 * 4  # the header is cut in two; three more turns of four blocks
    assert sum(block.name == "found" for block in function.blocks) == 1
    assert [len(phi.blocks) for block in function.blocks for phi in block.phis if block.name in ("found", "end")] == [
        4
    ] * 4


@pytest.mark.parametrize("seed", [n for n in range(80) if "br label %loop" in GuardedKernel(n).text])  # a quarter
def test_loops_of_random_kernels(seed: int, arena: Arena) -> None:
    made, mark = GuardedKernel(seed), arena.next_address
    plain, copied, numbers = parse_module(made.text), parse_module(made.text), random.Random(seed)
    function, done = copied.functions["k"], 0
    for header, latches in loop_latches(Dominators(function)).items():
        try:
            copy_turns(latches[0], header, numbers.choice((2, 3, 4)))
            done += 1
        except ValueError:
            verify(copied)
    verify(copied)
    check(print_module(copied))
    for number in range(8 if done else 0):
        left = []
        for each in (plain, copied):
            with made.launch(random.Random(f"{seed} {number}"), arena) as given:
                why = re.sub(r"block \w*: ", "", Kernel(each, arena).run(given.launch))  # a copy has another name
                left.append((why, [bytes(arena.bytes(m.start, m.bytes)) for m in given.memory]))
        # Where one of them takes too many steps the other may come a little farther.
        assert left[0] == left[1] or any(str(STEPS) in why or "steps" in why for why, _ in left)
    arena.rewind(mark)


REFUSED = {
    "closes no loop": ("  br label %loop\nloop:\n  ret void\n", "loop", "loop"),
    "closed at several places": (
        """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %one ], [ %j, %two ]
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %one, label %two
one:
  br label %loop
two:
  %d = icmp slt i32 %j, 9
  br i1 %d, label %loop, label %end
end:
  ret void
""",
        "one",
        "loop",
    ),
    "leaves the loop to where other paths come": (
        """
  %z = icmp eq i32 %n, 0
  br i1 %z, label %end, label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %after
after:
  br label %end
end:
  %r = phi i32 [ 0, %entry ], [ %j, %after ]
  store i32 %r, ptr %o, align 4
  ret void
""",
        "",
        "",
    ),
    "cannot be made twice": (
        """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %a = alloca i32, align 4
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret void
""",
        "loop",
        "loop",
    ),
}


@pytest.mark.parametrize("reason", [reason for reason, (_, latch, _) in REFUSED.items() if latch])
def test_what_is_refused_is_left_as_it_is(reason: str) -> None:
    body, latch, header = REFUSED[reason]
    made = module(body)
    blocks = {block.name: block for block in made.functions["k"].blocks}
    before = print_module(made)
    with pytest.raises(ValueError, match=reason):
        copy_turns(blocks[latch], blocks[header], 2)
    assert print_module(made) == before


def test_a_value_may_leave_through_a_block_of_its_own(arena: Arena) -> None:
    made = module(REFUSED["leaves the loop to where other paths come"][0])
    copy_turns(*latch_and_header(made.functions["k"]), 3)
    verify(made)
    check(print_module(made))
    for n in (0, 1, 2, 3, 7):
        ran = Case(made, "k", 1, 32, np.zeros(1, np.int32), n, np.zeros(32, np.int32)).reference(arena)
        assert set(ran.arrays[1].tolist()) == {n}


def test_a_value_that_meets_others_beyond_the_loop_is_refused() -> None:
    body = """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %latch, label %one
latch:
  %k = mul i32 %j, 3
  %d = icmp slt i32 %k, 99
  br i1 %d, label %loop, label %two
one:
  br label %join
two:
  br label %join
join:
  store i32 %j, ptr %o, align 4
  ret void
"""
    made = module(body)
    before = print_module(made)
    with pytest.raises(ValueError, match="%j leaves the loop to where other paths come"):
        copy_turns(*latch_and_header(made.functions["k"]), 2)
    assert print_module(made) == before
