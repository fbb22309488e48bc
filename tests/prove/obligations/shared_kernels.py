"""Random kernels whose threads hand values on in shared memory, a barrier after each step, mostly.

    shared_kernel(seed)        # LLVM-IR of kernel ``k(ptr p, ptr q, i32 n)``: data, a result for each thread, a number

A step is for some of the threads: by their numbers, by ``n``, by their warp. It writes a cell, reads one, or adds one to another.
"""

from __future__ import annotations

import random

from tests.prove.obligations.test_barriers import BARRIER
from tests.prove.obligations.test_construction import HEAD

CELLS = 1024
POWERS = (1, 2, 4, 8, 16, 32, 64)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.lines: list[str] = []

    def line(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def cell(self, index: str) -> str:
        array = self.random.choice(("@tile", "@tile", "@other"))
        return self.line(f"getelementptr [{CELLS} x i32], ptr addrspace(3) {array}, i32 0, i32 {index}")

    def index(self, own: float) -> str:
        if self.random.random() < own:
            return "%t"
        power = self.random.choice(POWERS)
        return self.random.choice(
            (
                lambda: self.line(f"add i32 %t, {power}"),
                lambda: self.line(f"add i32 %t, {power}"),
                lambda: self.line(f"xor i32 %t, {power}"),
                lambda: self.line("lshr i32 %t, 1"),
                lambda: self.line("and i32 %t, 31"),
                lambda: self.line("or i32 %t, 31"),
                lambda: str(self.random.choice((0, 1, 31, 32, 40))),
                lambda: "%data",
                lambda: self.line("sub i32 127, %t"),
            )
        )()

    def condition(self, number: str = "") -> str:
        """Which threads a step is for; ``number``: of a loop that comes down."""
        if number and self.random.random() < 0.8:
            return self.line(f"icmp ult i32 %t, {number}")
        power = self.random.choice(POWERS)
        return self.random.choice(
            (
                lambda: self.line(f"icmp ult i32 %t, {power}"),
                lambda: self.line(f"icmp ult i32 %t, {power}"),
                lambda: self.line(f"icmp slt i32 %t, {power}"),
                lambda: self.line(f"icmp uge i32 %t, {power}"),
                lambda: self.line(f"icmp eq i32 %t, {self.random.choice((0, 31, 32))}"),
                lambda: self.line("icmp slt i32 %t, %n"),
                lambda: self.line(f"icmp eq i32 %warp, {self.random.randrange(2)}"),
                lambda: self.line(f"icmp eq i32 {self.line(f'and i32 %t, {power}')}, 0"),
            )
        )()

    def step(self, known: str, number: str = "") -> str:
        """What the thread knows behind it."""
        kind = self.random.choice(("write", "read", "add", "add"))
        asked = self.condition(number) if kind == "add" or self.random.random() < 0.5 else "true"
        self.count += 1
        do, join, at = f"do{self.count}", f"join{self.count}", self.here
        self.lines.append(f"  br i1 {asked}, label %{do}, label %{join}\n{do}:")
        found = known
        if kind == "write":
            self.lines.append(f"  store i32 {known}, ptr addrspace(3) {self.cell(self.index(0.7))}, align 4")
        elif kind == "read":
            read = self.line(f"load i32, ptr addrspace(3) {self.cell(self.index(0.3))}, align 4")
            found = self.line(f"xor i32 {read}, {known}")
        else:
            further = self.line(f"add i32 %t, {number}") if number else self.index(0.1)
            to = self.cell("%t")
            one = self.line(f"load i32, ptr addrspace(3) {to}, align 4")
            other = self.line(f"load i32, ptr addrspace(3) {self.cell(further)}, align 4")
            self.lines.append(f"  store i32 {self.line(f'add i32 {one}, {other}')}, ptr addrspace(3) {to}, align 4")
        self.lines.append(f"  br label %{join}\n{join}:")
        self.here = join
        after = self.line(f"phi i32 [ {found}, %{do} ], [ {known}, %{at} ]")
        if self.random.random() < 0.94:
            self.lines.append(BARRIER.rstrip())
        return after

    here = "entry"

    def loop(self, known: str) -> str:
        """A tree: as many threads as a number that is halved each turn."""
        before, first = self.here, self.random.choice((8, 16, 32, 64))
        self.lines.append("  br label %loop\nloop:")
        self.here, at = "loop", len(self.lines)
        last = self.step("%s", "%width")
        half = self.line("lshr i32 %width, 1")
        more = self.line(f"icmp ne i32 {half}, 0")
        self.lines.append(f"  br i1 {more}, label %loop, label %end\nend:")
        self.lines.insert(at, f"  %s = phi i32 [ {known}, %{before} ], [ {last}, %{self.here} ]")
        self.lines.insert(at, f"  %width = phi i32 [ {first}, %{before} ], [ {half}, %{self.here} ]")
        self.here = "end"
        return last


def shared_kernel(seed: int) -> str:
    """The text."""
    writer = _Writer(seed)
    known = writer.line("mul i32 %t, 7")
    for array in ("@tile", "@other"):
        for more in (0, 128):
            index = writer.line(f"add i32 %t, {more}")
            cell = writer.line(f"getelementptr [{CELLS} x i32], ptr addrspace(3) {array}, i32 0, i32 {index}")
            writer.lines.append(f"  store i32 {known}, ptr addrspace(3) {cell}, align 4")
    writer.lines.append(BARRIER.rstrip())
    steps, loop = writer.random.randrange(2, 5), writer.random.choice((None, None, 0, 1, 2))
    for number in range(steps):
        known = writer.loop(known) if number == loop else writer.step(known)
    last = writer.line(f"load i32, ptr addrspace(3) {writer.cell(writer.index(0.6))}, align 4")
    result = writer.line(f"xor i32 {last}, {known}")
    body = "\n".join(writer.lines)
    return (
        f"{HEAD}\n@tile = internal addrspace(3) global [{CELLS} x i32] undef\n@other = internal addrspace(3) global [{CELLS} x i32] undef\n"
        "define ptx_kernel void @k(ptr noalias %p, ptr noalias %q, i32 %n) {\nentry:\n"
        "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %warp = lshr i32 %t, 5\n"
        "  %from = getelementptr i32, ptr %p, i32 %t\n  %data = load i32, ptr %from, align 4\n"
        f"  %own = getelementptr i32, ptr %q, i32 %t\n{body}\n  store i32 {result}, ptr %own, align 4\n  ret void\n}}\n"
    )
