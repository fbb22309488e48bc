"""What the solver proves, held against runs: random small kernels, random edits, random launches. It knows nothing of the prover.

An edit whose obligations all hold must not change one output, whatever the launch; the slow executor says what the outputs are.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.edits import Edit, Original, apply, draw
from kernelwright.edits.kinds.loads.collect_loads import collections
from kernelwright.ir import Module, parse_module
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.obligations.solver import Budget
from tests.prove.obligations.test_construction import HEAD

WORDS = 64
LAUNCHES = 8
SOLVER_UNITS = 8_000_000
STEPS = 50_000
OPERATIONS = ("add", "sub", "add", "sub", "and", "or", "xor", "mul", "shl", "lshr", "ashr", "sdiv", "urem")
"""None that could be poison: where the original is undefined, nothing is promised."""
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "ult", "uge")


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


class Writer:
    """Writes a kernel: straight code, a loop whose trips an argument decides, a branch in it."""

    def __init__(self, seed: int) -> None:
        self.flags = bool(seed % 2)
        """Whether the counter may not wrap around; then launches must be small."""
        self.random = random.Random(seed)
        self.count = 0
        self.lines: list[str] = []

    def value(self, values: list[str]) -> str:
        if self.random.random() < 0.25:
            return str(self.random.choice((0, 1, 2, 3, 4, 7, 8, 15, -1, 31)))
        return self.random.choice(values)

    def line(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def straight(self, values: list[str], length: int) -> list[str]:
        found = list(values)
        for _ in range(length):
            operation = self.random.choice(OPERATIONS)
            second = self.value(found)
            if operation.split()[0] in ("shl", "lshr", "ashr"):
                second = str(self.random.randrange(1, 5))
            if operation in ("sdiv", "urem"):
                second = str(self.random.choice((2, 3, 8)))
            kind = self.random.random()
            if kind < 0.2:
                c = self.line(f"icmp {self.random.choice(PREDICATES)} i32 {self.random.choice(found)}, {second}")
                found.append(self.line(f"select i1 {c}, i32 {self.value(found)}, i32 {self.value(found)}"))
            elif kind < 0.3:
                index = self.line(f"and i32 {self.random.choice(found)}, {WORDS - 1}")
                wide = self.line(f"zext i32 {index} to i64")
                address = self.line(f"getelementptr i32, ptr %p, i64 {wide}")
                found.append(self.line(f"load i32, ptr {address}"))
            else:
                found.append(self.line(f"{operation} i32 {self.random.choice(found)}, {second}"))
        return found

    def kernel(self) -> str:
        start = ["%n", "%m", "%t", "%d"]
        before = self.straight(start, 4)
        self.lines.append("  br label %loop\nloop:")
        first, step = self.value(["%n", "%m"]), self.random.choice((1, 1, 2, 3))
        acc = self.value(before)
        self.lines.append(f"  %i = phi i32 [ {first if self.random.random() < 0.3 else 0}, %entry ], [ %j, %next ]")
        self.lines.append(f"  %s = phi i32 [ {acc}, %entry ], [ %u, %next ]")
        self.lines.append("  %r = phi i32 [ 0, %entry ], [ %k, %next ]")
        inside = self.straight([*before, "%i", "%s"], 3)
        compared = self.line(
            f"icmp {self.random.choice(PREDICATES)} i32 {self.random.choice(inside)}, {self.value(inside)}"
        )
        self.lines.append(f"  br i1 {compared}, label %then, label %next\nthen:")
        then = self.straight(inside, 2)
        self.lines.append("  br label %next\nnext:")
        self.lines.append(f"  %u = phi i32 [ {self.value(inside)}, %loop ], [ {self.value(then)}, %then ]")
        flag = " nsw" if self.flags else ""
        self.lines.append(f"  %j = add{flag} i32 %i, {step}\n  %k = add nuw nsw i32 %r, 1")
        # The second condition bounds the trips, whatever the first says.
        self.lines.append(
            f"  %more = icmp slt i32 %j, {self.random.choice(('%n', '%m', '6'))}\n  %few = icmp ult i32 %k, 9"
        )
        self.lines.append("  %on = and i1 %more, %few\n  br i1 %on, label %loop, label %end\nend:")
        found = self.straight([*before, "%i", "%u", "%j"], 2)
        out = self.line(f"xor i32 {found[-1]}, {found[-2]}")
        body = "\n".join(self.lines)
        return (
            f"{HEAD}\ndefine ptx_kernel void @k(ptr %p, ptr %q, i32 %n, i32 %m) {{\nentry:\n"
            "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"
            f"{body}\n  %at = zext i32 %t to i64\n  %slot = getelementptr i32, ptr %q, i64 %at\n"
            f"  store i32 {out}, ptr %slot\n  ret void\n}}\n"
        )


def outputs(module: Module, arena: Arena, block: int, n: int, m: int) -> bytes | None:
    mark = arena.next_address
    p, q = arena.allocate(4 * WORDS, "p"), arena.allocate(4 * 32, "q")
    numbers = random.Random(n * 31 + m)
    arena.view(p)[:] = list(struct.pack(f"<{WORDS}i", *(numbers.randrange(-40, 40) for _ in range(WORDS))))
    arena.view(q)[:] = 0
    ran = run_reference(
        module, "k", (1, 1, 1), (block, 1, 1), struct.pack("<QQii", p.address, q.address, n, m), arena, budget=STEPS
    )
    found = arena.view(q).tobytes()
    arena.rewind(mark)
    return None if ran.fault else found


def edits_of(original: Original, seed: int) -> list[tuple[Edit, ...]]:
    numbers = random.Random(seed)
    kinds = {
        "constant-condition": 4.0,
        "replace-operand": 4.0,
        "delete": 3.0,
        "replace-instruction": 2.0,
        "move": 1.0,
        "copy": 2.0,
        "hoist-masked-loads": 2.0,
    }
    found: list[tuple[Edit, ...]] = [(edit,) for edit in collections(original)]
    for _ in range(8):
        made = draw(original, numbers, operators=kinds)
        if made is not None:
            found.append((made,))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_is_proven_never_differs(seed: int, arena: Arena) -> None:
    numbers = random.Random(seed)
    proven = differing = 0
    for number in range(2):
        original = Original(parse_module(Writer(100 * seed + number).kernel()), "k")
        launches = [
            (numbers.choice((1, 3, 8)), numbers.randrange(-4, 12), numbers.randrange(-9, 40)) for _ in range(LAUNCHES)
        ]
        if not number % 2:
            launches += [(2, -(2**31), 2**31 - 1), (2, 2**31 - 1, 5)]
        plain = apply(original, ()).module
        expected = [outputs(plain, arena, *each) for each in launches]
        for edits in edits_of(original, seed * 7 + number):
            variant = apply(original, edits)
            holds = all_hold(owed(original, edits, budget=Budget(SOLVER_UNITS)))
            same = [outputs(variant.module, arena, *each) for each in launches] == expected
            proven += holds
            differing += not same
            assert same or not holds, (edits, Writer(100 * seed + number).kernel())
    assert proven or differing  # one of them alone may be none of so few
