"""Loads made before the check that decides whether they are needed: where the address is shown to be good, and where it only looks so."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from kernelwright.edits import LaunchFacts, Original, apply
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json, guard_of
from kernelwright.guards import AtStart
from kernelwright.launch import Launch
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.prove.obligations.guard_search import atoms
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed, provable_part
from kernelwright.stories.candidate_words import obligation_in_words
from tests.prove.obligations.test_construction import kernel

ARGUMENTS = "ptr noalias %p, ptr noalias %r, ptr noalias %q, i32 %n"
P, R, Q = 1 << 20, 2 << 20, 3 << 20


def facts(n: int, *, words: int = 64, further: int = 64, grid: int = 1, start: int = P) -> LaunchFacts:
    arguments = (*(struct.pack("<Q", each) for each in (P, R, Q)), struct.pack("<i", n))
    regions = (range(start, P + 4 * words), range(R, R + 4 * further), range(Q, Q + 4 * 64), None)
    return LaunchFacts(Launch("k", (grid, 1, 1), (32, 1, 1)), arguments, regions)


LOOKED_UP = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %a = getelementptr inbounds i32, ptr %q, i64 %i
  %c = load i32, ptr %a
  %w = sext i32 %c to i64
  %b = getelementptr inbounds i32, ptr %p, i64 %w
  %x = load i32, ptr %b
  %in = icmp slt i32 %x, %n
  br i1 %in, label %work, label %end
work:
  %d = getelementptr inbounds i32, ptr %r, i64 INDEX
  %y = load i32, ptr %d
  store i32 %y, ptr %a
  br label %end
end:"""


def hoisted(body: str) -> tuple[Original, HoistLoads]:
    original = kernel(body, ARGUMENTS)
    end = [id for id, n in original.nodes.items() if n.instruction.opcode == "br"][1]
    return original, HoistLoads(end)


@pytest.mark.parametrize(
    ("index", "launches", "expected"),
    [
        ("%w", [facts(3), facts(9)], True),
        # One word further than what was read; an array that is shorter; a pointer into the middle of its memory.
        ("%w1", [facts(3), facts(9)], False),
        ("%w", [facts(3, further=63), facts(9)], False),
        ("%w", [facts(3, start=P - 64), facts(9)], False),
    ],
)
def test_what_was_read_at_an_index_shows_that_the_index_is_good(
    index: str, launches: list[LaunchFacts], expected: bool
) -> None:
    original, edit = hoisted(LOOKED_UP.replace("INDEX", index).replace("  %in", "  %w1 = add i64 %w, 1\n  %in"))
    kept = provable_part(original, [edit], launches)
    assert (edit in kept) is expected
    for guard in apply(original, kept).guards:
        assert all(guard.holds(each) for each in launches)
    if expected:
        assert not all(guard.holds(facts(3, further=63)) for guard in apply(original, kept).guards)
        assert not all_hold(owed(original, [edit]))


MATRIX = """  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = and i32 %t, 15
  %in = icmp slt i32 %t, 16
  br i1 %in, label %work, label %end
work:
  %s = add FLAG i32 %n, %i
  %w = sext i32 %s to i64
  %d = getelementptr inbounds i32, ptr %p, i64 %w
  %y = load i32, ptr %d
  %at = zext i32 %t to i64
  %o = getelementptr inbounds i32, ptr %q, i64 %at
  store i32 %y, ptr %o
  br label %end
end:"""


def relation(index: int, comparison: str, value: int, factor: int = 1) -> RequireLaunch:
    source = "bytes" if index == 0 else "argument"
    right = (Product(value), *((Product(factor, (Quantity("argument", 3),)),) if index == 0 else ()))
    return RequireLaunch(guard_json(Relation((Product(1, (Quantity(source, index),)),), comparison, right)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("n_at_least", "bytes_beyond", "expected"), [(0, 64, True), (-1, 64, False), (0, 63, False), (0, 60, False)]
)
def test_an_address_is_good_between_both_ends_of_its_memory(n_at_least: int, bytes_beyond: int, expected: bool) -> None:
    original, edit = hoisted(MATRIX.replace("FLAG", "nsw"))
    guards = [relation(3, ">=", n_at_least), relation(3, "<=", 1 << 20), relation(0, ">=", bytes_beyond, 4)]
    assert all_hold(owed(original, [*guards, edit])) is expected


def test_an_address_that_may_be_poison_is_not_good() -> None:
    """A sum of -16 and 16 that may not wrap around as an unsigned number is poison, though 0 would be a good index."""
    body = MATRIX.replace("%i = and i32 %t, 15", "%h = and i32 %t, 15\n  %i = add i32 %h, 16")
    for flag, least, expected in (
        ("", -16, True),
        ("nuw", -16, False),
        ("nuw", 0, True),
        ("nsw", -16, True),
        ("", -17, False),
    ):
        original, edit = hoisted(body.replace("FLAG", flag))
        held = all_hold(
            owed(original, [relation(3, ">=", least), relation(3, "<=", 99), relation(0, ">=", 1 << 40, 0), edit])
        )
        assert held is expected, (flag, least)


def test_the_beginning_of_memory_is_a_guard_that_can_be_written_down() -> None:
    guard = AtStart(0)
    assert guard_of(guard_json(guard)) == guard
    assert guard.holds(facts(1)) and not guard.holds(facts(1, start=P - 4))
    assert not guard.holds(replace(facts(1), regions=(None, None, None, None))) and not AtStart(9).holds(facts(1))

    class View:
        base = object()

    class Whole:
        base = None

    names = {"_at_start": lambda array: getattr(array, "base", array) is None}
    assert eval(guard.as_python(), names | {"arguments": [Whole()]})
    assert not eval(guard.as_python(), names | {"arguments": [View()]})
    assert not eval(guard.as_python(), names | {"arguments": [3]})


def test_a_view_does_not_know_how_far_its_memory_reaches() -> None:
    class Array:
        def __init__(self, nbytes: int, base: object = None) -> None:
            self.nbytes, self.base = nbytes, base

    reaches = Relation((Product(1, (Quantity("bytes", 1),)),), ">=", (Product(1, (Quantity("bytes", 0),)),))

    def holds(*arrays: Array) -> bool:
        names = {
            "_at_start": lambda array: array.base is None,
            "_bytes_behind": lambda array: array.nbytes,
            "arguments": arrays,
        }
        return bool(eval(reaches.as_python(), names))

    assert (
        holds(Array(64), Array(64)) and holds(Array(64), Array(64, base=Array(99))) and not holds(Array(65), Array(64))
    )
    assert not holds(Array(64, base=Array(99)), Array(64))  # the kernel may reach the 99


def test_lines_through_all_launches_become_atoms() -> None:
    original, _ = hoisted(MATRIX.replace("FLAG", "nsw"))
    line = Relation(
        (Product(1, (Quantity("argument", 3),)),), "==", (Product(-16, (Quantity("grid", 0),)), Product(112))
    )
    assert str(line) == "argument 3 == -16 * grid.x + 112"
    launches = [facts(112 - 16 * grid, grid=grid) for grid in (1, 2, 5)]
    assert line in atoms(original.function, launches, (4,))
    assert line not in atoms(original.function, [*launches, facts(33, grid=5)], (4,))
    assert line not in atoms(original.function, launches[:2], (4,))  # any two points are on a line


def test_what_a_load_made_early_owes_is_said_in_words() -> None:
    """Which bytes, of what, for whom; why it does not hold, beside the numbers that show it; and which check would do."""
    original, edit = hoisted(LOOKED_UP.replace("INDEX", "%w"))
    for launches, why in ([], "outside of that memory"), ([facts(3)], "with a check at each launch it does: "):
        (said,) = (one for one in owed(original, [edit], launches) if not one.holds)
        assert said.claim.startswith("the 4 bytes that the load %y reads lie in the memory behind 'r' for every thread")
        assert said.method == "refuted" and why in said.reason
        words = obligation_in_words(said, original)
        assert "argument" not in words and "bytes behind r" in words, words
