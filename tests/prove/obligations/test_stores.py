"""Stores that are gone and loads that are another's: what memory holds, decided by the solver and known beforehand."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.edits import Original, apply
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.move import Move
from kernelwright.ir import Module, parse_module
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from tests.prove.obligations.test_construction import HEAD

START = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %a = getelementptr inbounds i32, ptr %p, i64 %i
  %b = getelementptr inbounds i32, ptr %p, i64 OTHER
  %h = getelementptr inbounds i8, ptr %a, i64 2
  %tile.a = getelementptr inbounds [64 x i32], ptr addrspace(3) @tile, i64 0, i64 %i
  %tile.b = getelementptr inbounds [64 x i32], ptr addrspace(3) @tile, i64 0, i64 5
  %o = getelementptr inbounds i32, ptr %q, i64 %i
"""
NEXT = "%i1"
BARRIER = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"


def kernel(body: str, other: str = NEXT) -> Original:
    start = START.replace("  %b =", "  %i1 = add i64 %i, 1\n  %n1 = sext i32 %n to i64\n  %b =").replace("OTHER", other)
    text = (
        f"{HEAD}\n@tile = internal addrspace(3) global [64 x i32] undef\n"
        f"define ptx_kernel void @k(ptr noalias %p, ptr noalias %q, i32 %n) {{\nentry:\n{start}{body}  ret void\n}}\n"
    )
    return Original(parse_module(text), "k")


def numbers_of(original: Original, opcode: str) -> list[int]:
    return [id for id, node in original.nodes.items() if node.instruction.opcode == opcode]


def holds(original: Original, *edits: Edit) -> bool:
    return all_hold(owed(original, edits))


TWO = "  store i32 %n, ptr %a\n{between}  store i32 {value}, ptr {where}\n"


@pytest.mark.parametrize(
    ("between", "where", "other", "expected"),
    [
        ("", "%a", NEXT, True),
        ("  %x = load i32, ptr %b\n  store i32 %x, ptr %o\n", "%a", NEXT, True),
        # Near misses: read before; maybe read; a barrier between; another word; half of it; a word that only may be the same.
        ("  %x = load i32, ptr %a\n  store i32 %x, ptr %o\n", "%a", NEXT, False),
        ("  %x = load i32, ptr %b\n  store i32 %x, ptr %o\n", "%a", "%n1", False),
        (BARRIER, "%a", NEXT, False),
        ("  fence acq_rel\n", "%a", NEXT, False),
        ("  %x = load i8, ptr %h\n  %y = zext i8 %x to i32\n  store i32 %y, ptr %o\n", "%a", NEXT, False),
        ("", "%b", NEXT, False),
        ("", "%h", NEXT, False),
        ("", "%b", "%n1", False),
    ],
)
def test_a_store_that_the_next_one_overwrites(between: str, where: str, other: str, expected: bool) -> None:
    original = kernel(TWO.format(between=between, value="7", where=where), other)
    assert holds(original, Delete(numbers_of(original, "store")[0])) is expected
    assert not holds(original, Delete(numbers_of(original, "store")[-1]))


def test_a_byte_does_not_overwrite_a_word_and_what_overwrites_has_to_stay() -> None:
    original = kernel("  store i32 %n, ptr %a\n  store i8 7, ptr %a\n")
    assert not holds(original, Delete(numbers_of(original, "store")[0]))
    original = kernel("  store i32 %n, ptr %a\n  store i32 7, ptr %a\n")
    first, second = numbers_of(original, "store")
    assert holds(original, Delete(first)) and not holds(original, Delete(first), Delete(second))
    original = kernel(
        "  store i32 %n, ptr %a\n  store i32 7, ptr %a\n  %x = load i32, ptr %a\n  store i32 %x, ptr %o\n"
    )
    first, second, _ = numbers_of(original, "store")
    assert not holds(original, Delete(first), Move(numbers_of(original, "load")[0], second))


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", True),
        ("  %x = load i32, ptr %a\n  store i32 %x, ptr %o\n", True),
        # Near misses: read, also elsewhere in it; its address handed on; an atomic operation that may read it.
        ("  %x = load i32, ptr addrspace(3) %tile.b\n  store i32 %x, ptr %o\n", False),
        ("  %g = addrspacecast ptr addrspace(3) %tile.b to ptr\n  store ptr %g, ptr %o\n", False),
        ("  %g = ptrtoint ptr addrspace(3) %tile.b to i32\n  store i32 %g, ptr %o\n", False),
        ("  %old = atomicrmw add ptr addrspace(3) %tile.b, i32 1 monotonic\n", False),
    ],
)
def test_a_store_to_shared_memory_that_nobody_reads(rest: str, expected: bool) -> None:
    original = kernel(f"  store i32 %n, ptr addrspace(3) %tile.a\n{rest}")
    assert holds(original, Delete(numbers_of(original, "store")[0])) is expected


TWICE = "  {first}\n{between}  %y = load i32, ptr %a\n  store i32 %y, ptr %o\n  store i32 5, ptr %b\n"
LOAD = "%x = load i32, ptr %a"
STORE = "store i32 %n, ptr %a"


@pytest.mark.parametrize(
    ("first", "value", "between", "other", "expected"),
    [
        (LOAD, "i32 %x", "", NEXT, True),
        (STORE, "i32 %n", "", NEXT, True),
        (LOAD, "i32 %x", "  store i32 1, ptr %b\n", NEXT, True),
        (STORE, "i32 %n", "  store i32 1, ptr %b\n", NEXT, True),
        # Near misses: a store that may be to it, or is to half of it; a barrier; an atomic operation; the word beside it.
        (LOAD, "i32 %x", "  store i32 1, ptr %b\n", "%n1", False),
        (LOAD, "i32 %x", "  store i8 1, ptr %h\n", NEXT, False),
        (STORE, "i32 %n", "  store i8 1, ptr %h\n", NEXT, False),
        (LOAD, "i32 %x", BARRIER, NEXT, False),
        (LOAD, "i32 %x", "  fence acq_rel\n", NEXT, False),
        (LOAD, "i32 %x", "  %old = atomicrmw add ptr %a, i32 1 monotonic\n", NEXT, False),
        ("%x = load i32, ptr %b", "i32 %x", "", NEXT, False),
        ("store i32 %n, ptr %b", "i32 %n", "", NEXT, False),
        ("store i8 3, ptr %a", "i32 3", "", NEXT, False),
        ("%s = add nsw i32 %n, %t\n  %u = add i32 %n, %t\n  store i32 %u, ptr %a", "i32 %u", "", NEXT, True),
        ("%s = add nsw i32 %n, %t\n  %u = add i32 %n, %t\n  store i32 %u, ptr %a", "i32 %s", "", NEXT, False),
    ],
)
def test_a_load_of_what_was_loaded_or_stored_before(
    first: str, value: str, between: str, other: str, expected: bool
) -> None:
    original = kernel(TWICE.format(first=first, between=between), other)
    assert holds(original, Delete(numbers_of(original, "load")[-1], value)) is expected


LOOP = """  %x = load i32, ptr %a
  br label %head
head:
  %k = phi i32 [ 0, %entry ], [ %l, %head ]
  %y = load i32, ptr %a
  store i32 %k, ptr WHERE
  store i32 %y, ptr %o
  %l = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %l, %n
  br i1 %more, label %head, label %end
end:
"""


def test_a_turn_of_a_loop_does_not_find_what_was_there_before_it() -> None:
    for where in ("%a", "%b"):
        original = kernel(LOOP.replace("WHERE", where))
        assert not holds(original, Delete(numbers_of(original, "load")[-1], "i32 %x"))


# -- held against runs of one thread

WORDS = 16


def written_kernel(numbers: random.Random) -> str:
    lines = []
    for access in range(6):
        lines.append(f"  %s{access} = add i32 {numbers.choice(('%n', '%m', '%n', '0'))}, {numbers.randrange(3)}")
        lines.append(f"  %i{access} = and i32 %s{access}, {numbers.choice((3, 7))}")
        lines.append(f"  %w{access} = zext i32 %i{access} to i64")
        lines.append(f"  %a{access} = getelementptr i32, ptr %p, i64 %w{access}")
    for access in range(6):
        if numbers.random() < 0.5:
            lines.append(f"  store i32 {numbers.choice(('%n', '%m', '9'))}, ptr %a{numbers.randrange(6)}")
        lines.append(f"  %x{access} = load i32, ptr %a{numbers.randrange(6)}")
    for access in range(6):
        lines.append(f"  %o{access} = getelementptr i32, ptr %q, i64 {access}")
        lines.append(f"  store i32 %x{access}, ptr %o{access}")
    body = "\n".join(lines)
    return f"{HEAD}\ndefine ptx_kernel void @k(ptr noalias %p, ptr noalias %q, i32 %n, i32 %m) {{\nentry:\n{body}\n  ret void\n}}\n"


def outputs(module: Module, arena: Arena, n: int, m: int) -> bytes:
    mark = arena.next_address
    p, q = arena.allocate(4 * WORDS, "p"), arena.allocate(4 * WORDS, "q")
    arena.view(p)[:] = list(struct.pack(f"<{WORDS}i", *range(100, 100 + WORDS)))
    arena.view(q)[:] = 0
    ran = run_reference(module, "k", (1, 1, 1), (1, 1, 1), struct.pack("<QQii", p.address, q.address, n, m), arena)
    assert not ran.fault
    found = arena.view(p).tobytes() + arena.view(q).tobytes()
    arena.rewind(mark)
    return found


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


def test_what_is_proven_never_differs(arena: Arena) -> None:
    numbers = random.Random(3)
    launches = [(n, m) for n in range(0, 8, 3) for m in range(8)]
    proven = differing = 0
    original = Original(parse_module(written_kernel(numbers)), "k")
    expected = [outputs(apply(original, ()).module, arena, *each) for each in launches]
    loads, stores = (numbers_of(original, opcode) for opcode in ("load", "store"))
    edits = [Delete(store) for store in stores[: len(stores) - 6]]
    edits += [Delete(b, f"i32 {original.nodes[a].result}") for a in loads for b in loads if a < b][::3]
    edits += [Delete(b, f"i32 {value}") for b in loads[::2] for value in ("%n", "%m")]
    for edit in edits:
        variant = apply(original, [edit])
        held = all_hold(owed(original, [edit]))
        same = [outputs(variant.module, arena, *each) for each in launches] == expected
        assert same or not held, (edit, original.lines)
        proven, differing = proven + held, differing + (not same)
    assert proven and differing
