"""Accesses to one memory that changed their order: which are shown to be apart, and which only look like it."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.ir import Module, parse_module
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.obligations.solver import Budget
from tests.prove.obligations.test_construction import HEAD, kernel

ARGUMENTS = "ptr %p, ptr %q, i32 %n"


def number(original: Original, opcode: str, which: int = 0) -> int:
    return [id for id, node in original.nodes.items() if node.instruction.opcode == opcode][which]


STORE_AND_LOAD = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  FURTHER
  %a = getelementptr i32, ptr %p, i64 %i
  %b = getelementptr i32, ptr %p, i64 %j
  store i32 %n, ptr %a
  BETWEEN
  %x = load i32, ptr %b
  %o = getelementptr i32, ptr %q, i64 %i
  store i32 %x, ptr %o"""


@pytest.mark.parametrize(
    ("further", "between", "expected"),
    [
        ("%j = add i64 %i, 1", "", True),
        ("%k = and i32 %n, 3\n  %k1 = add i32 %k, 2000\n  %j = zext i32 %k1 to i64", "", True),
        # Near misses: the same word for some number; one that wraps around; a word that is half of each.
        ("%j = zext i32 %n to i64", "", False),
        ("%k = and i32 %n, 3\n  %k1 = add i32 %k, 1000\n  %j = zext i32 %k1 to i64", "", False),
        ("%k = add i32 %n, 1\n  %k1 = sub i32 %k, %n\n  %k2 = mul i32 %k1, 1\n  %k3 = sub i32 %k2, 1\n  "
         "%k4 = add i32 %k3, %t\n  %j = zext i32 %k4 to i64", "", False),
        # A barrier between the two; behind fences and atomic operations the edit itself stays.
        ("%j = add i64 %i, 1", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", False),
    ],
)  # fmt: skip
def test_a_load_before_a_store_to_the_same_array(further: str, between: str, expected: bool) -> None:
    original = kernel(STORE_AND_LOAD.replace("FURTHER", further).replace("BETWEEN", between), ARGUMENTS)
    edit = Move(number(original, "load"), number(original, "store"))
    assert all_hold(owed(original, [edit])) is expected
    assert not all_hold(owed(original, [edit], budget=Budget(0)))


def test_words_that_overlap_by_a_byte_meet() -> None:
    body = STORE_AND_LOAD.replace("%b = getelementptr i32, ptr %p, i64 %j", "%b = getelementptr i8, ptr %a, i64 SHIFT")
    for shift, expected in ((3, False), (4, True), (-3, False), (-4, True)):
        original = kernel(body.replace("FURTHER", "").replace("BETWEEN", "").replace("SHIFT", str(shift)), ARGUMENTS)
        assert all_hold(owed(original, [Move(number(original, "load"), number(original, "store"))])) is expected


LOOP = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  br label %head
head:
  %r = phi i32 [ 0, %entry ], [ %s, %next ]
  %c = icmp slt i32 %r, %n
  br i1 %c, label %work, label %end
work:
  %w = zext i32 WRITTEN to i64
  %at = getelementptr inbounds [64 x i32], ptr addrspace(3) @tile, i64 0, i64 %w
  store i32 %r, ptr addrspace(3) %at
  br label %next
next:
  %e = zext i32 READ to i64
  %from = getelementptr inbounds [64 x i32], ptr addrspace(3) @tile, i64 0, i64 %e
  %x = load i32, ptr addrspace(3) %from
  %o = getelementptr inbounds i32, ptr %q, i64 %i
  store i32 %x, ptr %o
  %s = add nuw nsw i32 %r, 1
  br label %head
end:"""


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [("%low", "%high", True), ("%low", "%low", False), ("%r", "%high", False), ("%low", "%r", False)],
)
def test_a_load_above_what_a_loop_stores(written: str, read: str, expected: bool) -> None:
    """Up two blocks, over the store of the same turn; ``low`` is below 32 and ``high`` is not."""
    start = "  %low = and i32 %n, 31\n  %high = add i32 %low, 32\n  br label %head\n"
    body = LOOP.replace("  br label %head\nhead:", f"{start}head:").replace("WRITTEN", written).replace("READ", read)
    text = (
        f"{HEAD}\n@tile = internal addrspace(3) global [64 x i32] undef\n"
        f"define ptx_kernel void @k({ARGUMENTS}) {{\nentry:\n{body}\n  ret void\n}}\n"
    )
    original = Original(parse_module(text), "k")
    end = next(id for id, n in original.nodes.items() if n.instruction.opcode == "br" and n.block == 3)
    assert all_hold(owed(original, [HoistLoads(end, levels=2)])) is expected


# -- held against runs: one thread, all of whose accesses are to one array

WORDS = 32


def written_kernel(numbers: random.Random) -> str:
    """Stores and loads at sums of two arguments and a constant; what is loaded is stored behind them."""
    lines: list[str] = []
    for access in range(6):
        one = numbers.choice(("%n", "%m", "%n", "0"))
        lines.append(f"  %s{access} = add i32 {one}, {numbers.randrange(4)}")
        lines.append(f"  %i{access} = and i32 %s{access}, {numbers.choice((7, 15, 15))}")
        lines.append(f"  %w{access} = zext i32 %i{access} to i64")
        lines.append(f"  %a{access} = getelementptr i32, ptr %p, i64 %w{access}")
    for access in range(6):
        if access % 2 == numbers.randrange(2):
            lines.append(f"  store i32 {100 + access}, ptr %a{access}")
        else:
            lines.append(f"  %x{access} = load i32, ptr %a{access}")
            lines.append(f"  %o{access} = getelementptr i32, ptr %q, i64 {access}")
            lines.append(f"  store i32 %x{access}, ptr %o{access}")
    body = "\n".join(lines)
    return f"{HEAD}\ndefine ptx_kernel void @k(ptr noalias %p, ptr noalias %q, i32 %n, i32 %m) {{\nentry:\n{body}\n  ret void\n}}\n"


def outputs(module: Module, arena: Arena, n: int, m: int) -> bytes:
    mark = arena.next_address
    p, q = arena.allocate(4 * WORDS, "p"), arena.allocate(4 * WORDS, "q")
    arena.view(p)[:] = list(struct.pack(f"<{WORDS}i", *range(WORDS)))
    arena.view(q)[:] = 0
    packed = struct.pack("<QQii", p.address, q.address, n, m)
    ran = run_reference(module, "k", (1, 1, 1), (1, 1, 1), packed, arena)
    assert not ran.fault
    found = arena.view(p).tobytes() + arena.view(q).tobytes()
    arena.rewind(mark)
    return found


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


def test_what_is_proven_never_differs(arena: Arena) -> None:
    numbers = random.Random(5)
    launches = [(n, m) for n in range(0, 16, 5) for m in range(0, 16, 2)]
    proven = differing = 0
    for _ in range(2):
        original = Original(parse_module(written_kernel(numbers)), "k")
        expected = [outputs(apply(original, ()).module, arena, *each) for each in launches]
        accesses = [id for id, node in original.nodes.items() if node.instruction.opcode in ("load", "store")]
        for _ in range(5):
            second, first = sorted(numbers.sample(accesses, 2), reverse=True)
            edit = Move(second, first)
            variant = apply(original, [edit])
            holds = all_hold(owed(original, [edit]))
            same = [outputs(variant.module, arena, *each) for each in launches] == expected
            assert same or not holds, (edit, original.lines)
            proven, differing = proven + holds, differing + (not same)
    assert proven and differing


# -- a load and a barrier that is kept

BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
TILE = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %far = add i64 %i, 1024
  %beside = add i64 %i, 1
  %near = add i64 %i, 1023
  %mine = getelementptr [4096 x i32], ptr addrspace(3) @tile, i64 0, i64 %i
  %from = getelementptr [4096 x i32], ptr addrspace(3) @tile, i64 0, i64 READ
  %o = getelementptr i32, ptr %q, i64 %i
BODY"""


def with_tile(body: str, read: str) -> Original:
    text = (
        f"{HEAD}\n@tile = internal addrspace(3) global [4096 x i32] undef\n"
        f"define ptx_kernel void @k({ARGUMENTS}) {{\nentry:\n{TILE.replace('READ', read).replace('BODY', body)}\n  ret void\n}}\n"
    )
    return Original(parse_module(text), "k")


STORED_BEFORE = f"""  store i32 %n, ptr addrspace(3) %mine
  {BARRIER}
  %x = load i32, ptr addrspace(3) %from
  store i32 %x, ptr %o"""
STORED_BEHIND = f"""  %x = load i32, ptr addrspace(3) %from
  {BARRIER}
  store i32 %n, ptr addrspace(3) %mine
  store i32 %x, ptr %o"""
TWO_BARRIERS = STORED_BEFORE.replace("  %x =", f"  {BARRIER}\n  %x =")
OF_THE_WARP = STORED_BEFORE.replace(BARRIER, "call void @llvm.nvvm.bar.warp.sync(i32 -1)")


@pytest.mark.parametrize(
    ("body", "read", "expected"),
    [
        (STORED_BEFORE, "%far", True),  # no thread of a block has a number of 1024 or more
        (STORED_BEHIND, "%far", True),
        # Near misses: the word of all threads of a column; the next thread's word; the first word that another thread may have; two barriers; a warp's barrier.
        (STORED_BEFORE, "%i", False),
        (STORED_BEFORE, "%beside", False),
        (STORED_BEFORE, "%near", False),
        (STORED_BEHIND, "%beside", False),
        (TWO_BARRIERS, "%beside", False),
        (TWO_BARRIERS, "%far", False),
        (OF_THE_WARP, "%far", False),
    ],
)
def test_a_load_on_the_other_side_of_a_barrier(body: str, read: str, expected: bool) -> None:
    original = with_tile(body, read)
    load = number(original, "load")
    barriers = [
        id
        for id, node in original.nodes.items()
        if "barrier.cta" in str(node.instruction) or "warp.sync" in str(node.instruction)
    ]
    edit = Move(load, barriers[0]) if body is not STORED_BEHIND else Move(barriers[0], load)
    assert all_hold(owed(original, [edit])) is expected
    assert not all_hold(owed(original, [edit], budget=Budget(0)))


TURNS = f"""  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %s, %loop ]
  {BARRIER}
  %x = load i32, ptr addrspace(3) %from
  store i32 %x, ptr %o
  store i32 %r, ptr addrspace(3) WRITTEN
  %s = add nuw nsw i32 %r, 1
  %c = icmp slt i32 %s, %n
  br i1 %c, label %loop, label %end
end:"""


@pytest.mark.parametrize(("read", "expected"), [("%far", True), ("%beside", False)])
def test_what_the_turn_before_has_stored_is_in_the_interval(read: str, expected: bool) -> None:
    """Above the only barrier of a loop, a load meets what the other threads store below it, one turn earlier."""
    original = with_tile(TURNS.replace("WRITTEN", "%mine"), read)
    barrier = next(id for id, node in original.nodes.items() if "barrier.cta" in str(node.instruction))
    assert all_hold(owed(original, [Move(number(original, "load"), barrier)])) is expected
