"""Random structured programs over variables in memory, made into phis by LLVM: both executors agree on every one.

Breaks, continues, switches and loops that lanes leave at different times, with values that only some of them carry along.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import Module, parse_module
from kernelwright.passes.llvm import binding
from tests.simt.harness import PRELUDE, Case, Triple

OPERATIONS = ("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "udiv", "srem")
PREDICATES = ("eq", "ne", "slt", "sgt", "ult", "uge")
VARIABLES = 5
PASSES = (
    (),
    ("loop_rotate",),
    ("simplify_cfg",),
    ("loop_simplify", "lcssa"),
    ("new_gvn", "simplify_cfg"),
    ("instruction_combine", "loop_rotate", "new_gvn"),
    ("jump_threading", "simplify_cfg", "sinking"),
    ("loop_unroll", "simplify_cfg", "lcssa"),
)


class Program:
    """One program; ``room`` is how many statements it may still take."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.room = self.random.randint(6, 28)
        self.talks = self.random.random() < 0.25
        """Whether lanes ask each other, and so have to wait for each other."""
        self.exits: list[tuple[str, str]] = []
        """Where ``continue`` and ``break`` go, innermost loop last."""

    def name(self) -> str:
        self.names += 1
        return f"%t{self.names}"

    def let(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def variable(self) -> str:
        return f"%v{self.random.randrange(VARIABLES)}"

    def value(self) -> str:
        kind = self.random.random()
        if kind < 0.2:
            return str(self.random.choice([0, 1, 2, 3, 5, 7, 31, 32, -1, 100]))
        if kind < 0.35:
            return self.random.choice(["%tid", "%n", "%block"])
        return self.let(f"load i32, ptr {self.variable()}")

    def store(self, value: str) -> None:
        self.lines.append(f"  store i32 {value}, ptr {self.variable()}")

    def condition(self) -> str:
        return self.let(f"icmp {self.random.choice(PREDICATES)} i32 {self.value()}, {self.value()}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def jump(self, to: str) -> None:
        self.lines.append(f"  br label %{to}")

    def body(self, depth: int) -> bool:
        """A few statements; whether control goes on behind them."""
        for _ in range(self.random.randint(1, 5)):
            if self.room <= 0:
                break
            self.room -= 1
            kind = self.random.choice(KINDS if depth < 4 else KINDS[:1])
            if not kind(self, depth):
                return False
        return True

    def assign(self, depth: int) -> bool:
        kind = self.random.random()
        if kind < 0.75:
            self.store(self.let(f"{self.random.choice(OPERATIONS)} i32 {self.value()}, {self.value()}"))
        elif kind < 0.85:
            wide = self.let(f"zext i32 {self.let(f'and i32 {self.value()}, 63')} to i64")
            place = self.let(f"getelementptr i32, ptr %in, i64 {wide}")
            self.store(self.let(f"load i32, ptr {place}"))
        elif kind < 0.93:
            mine = self.let(f"zext i32 {self.let(f'and i32 {self.value()}, 3')} to i64")
            place = self.let(f"getelementptr i32, ptr %mine, i64 {mine}")
            self.lines.append(f"  store i32 {self.value()}, ptr {place}")
            self.store(self.let(f"load i32, ptr {place}"))
        elif self.talks and kind < 0.97:
            lane = self.value()
            self.store(
                self.let(f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {self.value()}, i32 {lane}, i32 31)")
            )
        elif self.talks:
            self.store(self.let(f"call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 {self.condition()})"))
        else:
            self.lines.append(f"  store i32 {self.value()}, ptr {self.variable()}")
        return True

    def branch(self, depth: int) -> bool:
        n = self.names = self.names + 1
        both = self.random.random() < 0.6
        self.lines.append(f"  br i1 {self.condition()}, label %yes{n}, label %{'no' if both else 'join'}{n}")
        self.label(f"yes{n}")
        on = self.body(depth + 1)
        if on:
            self.jump(f"join{n}")
        if both:
            self.label(f"no{n}")
            if self.body(depth + 1):
                self.jump(f"join{n}")
                on = True
        if on or not both:
            self.label(f"join{n}")
        return on or not both

    def switch(self, depth: int) -> bool:
        n = self.names = self.names + 1
        cases = self.random.sample(range(8), self.random.randint(1, 4))
        low = self.let(f"and i32 {self.value()}, 7")
        table = " ".join(f"i32 {c}, label %case{n}.{c}" for c in cases)
        self.lines.append(f"  switch i32 {low}, label %join{n} [ {table} ]")
        for i, c in enumerate(cases):
            self.label(f"case{n}.{c}")
            if self.body(depth + 1):
                falls = i + 1 < len(cases) and self.random.random() < 0.3
                self.jump(f"case{n}.{cases[i + 1]}" if falls else f"join{n}")
        self.label(f"join{n}")
        return True

    def loop(self, depth: int) -> bool:
        n = self.names = self.names + 1
        self.lines.append(f"  store i32 0, ptr %count{depth}")
        limit = self.let(f"and i32 {self.value()}, {self.random.choice([3, 7])}")
        self.jump(f"head{n}")
        self.label(f"head{n}")
        done = self.let(f"load i32, ptr %count{depth}")
        more = self.let(f"icmp sle i32 {done}, {limit}")
        if self.random.random() < 0.4:
            more = self.let(f"and i1 {more}, {self.condition()}")
        self.lines.append(f"  store i32 {self.let(f'add i32 {done}, 1')}, ptr %count{depth}")
        self.lines.append(f"  br i1 {more}, label %body{n}, label %exit{n}")
        self.label(f"body{n}")
        self.exits.append((f"head{n}", f"exit{n}"))
        if self.body(depth + 1):
            self.jump(f"head{n}")
        self.exits.pop()
        self.label(f"exit{n}")
        return True

    def leave(self, depth: int) -> bool:
        """``break`` or ``continue`` of any loop around, or ``return``."""
        if not self.exits:
            return True
        if self.random.random() < 0.1:
            self.jump("end")
            return False
        where = self.random.choice(self.random.choice(self.exits))
        self.jump(where)
        return False

    def text(self) -> str:
        open_at_end = self.body(0)
        if open_at_end:
            self.jump("end")
        counts = [f"%count{d}" for d in range(5)]
        variables = [f"%v{i}" for i in range(VARIABLES)]
        start = [*(f"  {c} = alloca i32\n  store i32 0, ptr {c}" for c in counts)]
        first = ["%tid", "%n", "1", "0", "%block"]
        start += [f"  {v} = alloca i32\n  store i32 {x}, ptr {v}" for v, x in zip(variables, first, strict=True)]
        sums = ["  %sum0 = load i32, ptr %v0"]
        for i in range(1, VARIABLES):
            sums += [f"  %last{i} = load i32, ptr %v{i}", f"  %scaled{i} = mul i32 %sum{i - 1}, 31"]
            sums += [f"  %sum{i} = add i32 %scaled{i}, %last{i}"]
        return "\n".join([
            'target triple = "nvptx64-nvidia-cuda"',
            PRELUDE,
            "define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {",
            "entry:",
            "  %mine = alloca [4 x i32]",
            *(f"  %m{i} = getelementptr i32, ptr %mine, i64 {i}\n  store i32 {i}, ptr %m{i}" for i in range(4)),
            "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            *start,
            *self.lines,
            "end:",
            *sums,
            "  %w = zext i32 %tid to i64",
            "  %p = getelementptr i32, ptr %out, i64 %w",
            f"  store i32 %sum{VARIABLES - 1}, ptr %p",
            "  ret void",
            "}",
        ])  # fmt: skip


KINDS: list[Callable[[Program, int], bool]] = [
    Program.assign, Program.assign, Program.assign, Program.branch, Program.branch, Program.loop, Program.leave,
    Program.switch,
]  # fmt: skip


def made(seed: int) -> Module:
    """The program of a seed with its variables as phis, and some other passes run."""
    llvm = binding()
    module = llvm.parse_assembly(Program(seed).text())
    manager = llvm.create_new_module_pass_manager()
    manager.add_sroa_pass()
    for name in PASSES[seed % len(PASSES)]:
        getattr(manager, f"add_{name}_pass")()
    target = llvm.Target.from_default_triple().create_target_machine(opt=1)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(1))
    manager.run(module, builder)
    return parse_module(str(module))


def check(seed: int, arena: Arena) -> None:
    shapes: list[Triple | int] = [32, 16, 40, (8, 4, 1), (16, 4, 1)]
    threads = random.Random(seed).choice(shapes)
    data = np.random.default_rng(seed).integers(-9, 40, 64).astype(np.int32)
    case = Case(made(seed), "k", 1, threads, data, np.zeros(64, np.int32), seed % 7, budget=4000)
    want = case.reference(arena)
    for options in case.variants():
        got = case.fast(arena, options)
        try:
            case.same(want, got, 0.0, str(options))
            if options.counters and not want.fault:
                assert case.lanes(got.launch) == want.reference.block_counts["k"]
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {options}: {error}") from error


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_control_flow_agrees(arena: Arena, first: int) -> None:
    for seed in range(first, first + 10):
        check(seed, arena)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_much_random_control_flow_agrees(arena: Arena, first: int) -> None:
    for seed in range(first, first + 100):
        check(seed, arena)
