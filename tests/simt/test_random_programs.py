"""Random kernels and random changes of real ones: both executors agree on every one that depends on no order."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.reference import Watch, run_reference
from kernelwright.errors import KernelwrightError
from kernelwright.ir import ConstantInt, Module, parse_module, print_module
from kernelwright.ir.module import Instruction
from kernelwright.ir.opcodes import INTEGER_BINARY
from tests.examples import few
from tests.simt.harness import PRELUDE, Case, Run, ir
from tests.simt.test_kernels import ATOMICS, BARRIERS, CONTROL, MEMORY, ints, zeros
from tests.simt.test_warp import APART, TOGETHER

Compile = Callable[[str], Module]

OPERATIONS = ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "sdiv", "urem", "srem"]
PREDICATES = ["eq", "ne", "slt", "sgt", "ult", "ugt", "sle", "sge", "ule", "uge"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A kernel of straight lines, branches and counted loops over i32 values, as LLVM-IR."""
    lines: list[str] = []
    counter = [0]
    room = [draw(st.integers(4, 30))]

    def fresh() -> str:
        counter[0] += 1
        return f"%v{counter[0]}"

    def pick(values: list[str]) -> str:
        if draw(st.integers(0, 3)) == 0:
            return str(draw(st.sampled_from([0, 1, 2, 3, 5, 7, 31, 32, 33, -1, 255, 1 << 30])))
        return draw(st.sampled_from(values))

    def straight(values: list[str]) -> None:
        kind = draw(st.integers(0, 9))
        name = fresh()
        if kind <= 5:
            lines.append(f"  {name} = {draw(st.sampled_from(OPERATIONS))} i32 {pick(values)}, {pick(values)}")
        elif kind == 6:
            bit = fresh()
            lines.append(f"  {bit} = icmp {draw(st.sampled_from(PREDICATES))} i32 {pick(values)}, {pick(values)}")
            lines.append(f"  {name} = select i1 {bit}, i32 {pick(values)}, i32 {pick(values)}")
        elif kind == 7:
            index, wide, place = fresh(), fresh(), fresh()
            lines.append(f"  {index} = and i32 {pick(values)}, 63")
            lines.append(f"  {wide} = {draw(st.sampled_from(['zext', 'sext']))} i32 {index} to i64")
            lines.append(f"  {place} = getelementptr i32, ptr %in, i64 {wide}")
            lines.append(f"  {name} = load i32, ptr {place}")
        elif kind == 8:
            index, wide, place = fresh(), fresh(), fresh()
            lines.append(f"  {index} = and i32 {pick(values)}, 7")
            lines.append(f"  {wide} = zext i32 {index} to i64")
            lines.append(f"  {place} = getelementptr i32, ptr %mine, i64 {wide}")
            lines.append(f"  store i32 {pick(values)}, ptr {place}")
            lines.append(f"  {name} = load i32, ptr {place}")
        else:
            lines.append(
                f"  {name} = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {pick(values)}, i32 {pick(values)}, i32 31)"
            )
        values.append(name)

    def body(values: list[str], depth: int, here: str) -> str:
        """Writes statements into the open block ``here``; returns the block that is open at the end."""
        for _ in range(draw(st.integers(1, 5))):
            if room[0] <= 0:
                break
            room[0] -= 1
            kind = draw(st.integers(0, 7)) if depth < 3 else 0
            if kind < 5:
                straight(values)
            elif kind < 7:
                here = branch(values, depth, here)
            else:
                here = loop(values, depth, here)
        return here

    def branch(values: list[str], depth: int, here: str) -> str:
        bit = fresh()
        n = counter[0]
        lines.append(f"  {bit} = icmp {draw(st.sampled_from(PREDICATES))} i32 {pick(values)}, {pick(values)}")
        lines.append(f"  br i1 {bit}, label %yes{n}, label %no{n}")
        ends = []
        for way in ("yes", "no"):
            lines.append(f"{way}{n}:")
            inner = list(values)
            end = body(inner, depth + 1, f"{way}{n}")
            ends.append((pick(inner), end))
            lines.append(f"  br label %join{n}")
        lines.append(f"join{n}:")
        name = fresh()
        lines.append(f"  {name} = phi i32 " + ", ".join(f"[ {v}, %{b} ]" for v, b in ends))
        values.append(name)
        return f"join{n}"

    def loop(values: list[str], depth: int, here: str) -> str:
        limit, i, more, carried = fresh(), fresh(), fresh(), fresh()
        n = counter[0]
        lines.append(f"  {limit} = and i32 {pick(values)}, {draw(st.sampled_from([3, 7]))}")
        first = pick(values)
        lines.append(f"  br label %loop{n}")
        lines.append(f"loop{n}:")
        at = len(lines)
        lines.append("")
        lines.append("")
        inner = [*values, i, carried]
        end = body(inner, depth + 1, f"loop{n}")
        following, bit = fresh(), fresh()
        lines.append(f"  {following} = add i32 {i}, 1")
        lines.append(f"  {bit} = icmp slt i32 {i}, {limit}")
        last = pick(inner)
        if draw(st.booleans()):
            leave, both = fresh(), fresh()
            lines.append(f"  {leave} = icmp ne i32 {pick(inner)}, {draw(st.integers(0, 20))}")
            lines.append(f"  {both} = and i1 {bit}, {leave}")
            bit = both
        lines.append(f"  br i1 {bit}, label %loop{n}, label %exit{n}")
        lines[at] = f"  {i} = phi i32 [ 0, %{here} ], [ {following}, %{end} ]"
        lines[at + 1] = f"  {carried} = phi i32 [ {first}, %{here} ], [ {last}, %{end} ]"
        lines.append(f"exit{n}:")
        carry = [i, carried, *(v for v in (last,) if v.startswith("%"))]
        if draw(st.booleans()):
            # As compilers write it: what leaves a loop goes through a phi.
            for k, value in enumerate(carry):
                carry[k] = fresh()
                lines.append(f"  {carry[k]} = phi i32 [ {value}, %{end} ]")
        values += carry
        del more
        return f"exit{n}"

    values = ["%t", "%n", "%b"]
    body(values, 0, "entry")
    result = draw(st.sampled_from(values))
    return PRELUDE + "\n".join([
        "define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {",
        "entry:",
        "  %mine = alloca [8 x i32]",
        "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        *(f"  %m{i} = getelementptr i32, ptr %mine, i64 {i}\n  store i32 {i}, ptr %m{i}" for i in range(8)),
        *lines,
        "  %w = zext i32 %t to i64",
        "  %p = getelementptr i32, ptr %out, i64 %w",
        f"  store i32 {result}, ptr %p",
        "  ret void",
        "}",
    ])  # fmt: skip


@settings(max_examples=few(40), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(text=programs(), n=st.integers(-3, 100), threads=st.sampled_from([32, 16, 40]))
def test_random_programs_agree(arena: Arena, text: str, n: int, threads: int) -> None:
    data = np.random.default_rng(3).integers(-40, 40, 64).astype(np.int32)
    case = Case(ir(text), "k", 1, threads, data, zeros(threads), n, budget=20000)
    options = [SimtOptions(block=case.block), SimtOptions(block=case.block, split=True)]
    case.agree(arena, options=options, faults=True)


def mutate(module: Module, kernel: str, rng: random.Random) -> None:
    """One to three random changes: an operation, a predicate, a constant, an operand, a branch, a store or a barrier gone."""
    function = module.function(kernel)
    for _ in range(rng.randint(1, 3)):
        for _ in range(40):
            i = rng.choice(list(function.instructions()))
            if i.parent is not None and changed(i, rng):
                break


def changed(i: Instruction, rng: random.Random) -> bool:
    chance = rng.random()
    if i.opcode in INTEGER_BINARY and chance < 0.5:
        i.opcode, i.flags = rng.choice(INTEGER_BINARY), ()
    elif i.opcode == "icmp":
        i.predicate, i.flags = rng.choice(PREDICATES), ()
    elif i.opcode == "br" and len(i.successors) == 2:
        i.successors = i.successors[::-1]
    elif (i.opcode == "store" and chance < 0.4) or (
        i.opcode == "call"
        and "barrier" in getattr(i.callee, "name", "")
        and i.type is not i.operands[0].type
        and chance < 0.5
    ):
        i.erase()
    elif i.opcode in INTEGER_BINARY or i.opcode in ("select", "fadd", "fmul"):
        at = rng.randrange(len(i.operands))
        type = i.operands[at].type
        block = i.parent.instructions if i.parent else []
        earlier = [x for x in block[: block.index(i)] if x.type is type]
        if str(type) in ("i32", "i64") and chance < 0.5:
            i.set_operand(at, ConstantInt(type, rng.choice([0, 1, -1, 3, 31, 32, 64, 1 << 20])))
        elif earlier:
            i.set_operand(at, rng.choice(earlier))
    else:
        return False
    return True


def subjects() -> list[tuple[str, str, Callable[[Module], Case]]]:
    r = np.random.default_rng(7)
    return [
        (CONTROL, "nested", lambda m: Case(m, "nested", 1, (16, 4, 1), ints(r, 64), zeros(64), 7)),
        (CONTROL, "carried", lambda m: Case(m, "carried", 1, 40, ints(r, 64), zeros(64), 20)),
        (BARRIERS, "in_a_loop", lambda m: Case(m, "in_a_loop", 1, 64, ints(r, 64), zeros(64), 5)),
        (BARRIERS, "early", lambda m: Case(m, "early", 1, 64, zeros(64), 50)),
        (MEMORY, "local_array", lambda m: Case(m, "local_array", 1, 48, ints(r, 96), zeros(96))),
        (
            MEMORY,
            "steps",
            lambda m: Case(m, "steps", 1, 32, ints(r, 400), zeros(200), ints(r, 200).astype(np.int8), 20),
        ),
        (APART, "tiles", lambda m: Case(m, "tiles", 1, 64, ints(r, 64), zeros(64))),
        (TOGETHER, "votes", lambda m: Case(m, "votes", 1, 64, ints(r, 64), zeros(64))),
        (ATOMICS, "maximum", lambda m: Case(m, "maximum", 1, 32, zeros(1), r.random(32).astype(np.float32))),
    ]


def depends_on_order(case: Case, arena: Arena) -> bool:
    """Whether the reference finds a race, or reads what nobody has written."""
    packed, _, _, variables = case._memory(arena)
    result = run_reference(
        case.module, case.kernel, case.grid, case.block, packed, arena, variables=variables, shared_bytes=case.shared,
        watch=Watch(), budget=case.budget,
    )  # fmt: skip
    return any(not f.benign for f in result.findings)


def first_faults_differ(want: Run, got: Run) -> bool:
    """Threads that run ahead meet another fault first, or use up the budget first."""
    return want.fault is not None and got.fault is not None


def check_mutant(text: str, kernel: str, make: Callable[[Module], Case], seed: int, arena: Arena) -> str:
    module = parse_module(text)
    mutate(module, kernel, random.Random(seed))
    try:
        case = make(parse_module(print_module(module)))
    except KernelwrightError:
        return "not valid"
    case.budget = 5000
    want = case.reference(arena)
    for options in (SimtOptions(block=case.block), SimtOptions(block=None)):
        got = case.fast(arena, options)
        try:
            case.same(want, got, 1e-3, f"{kernel} mutant {seed} {options}")
        except AssertionError:
            if first_faults_differ(want, got) or depends_on_order(case, arena):
                return "depends on order"
            if {f.kind if f else None for f in (want.fault, got.fault)} == {None, "endless"}:
                return "near the budget"
            raise
        again = case.fast(arena, options)
        for field in ("executions", "lanes", "sectors", "wavefronts", "serial"):
            np.testing.assert_array_equal(getattr(again.launch, field), getattr(got.launch, field))
    return want.fault.kind if want.fault else "agreed"


@pytest.mark.parametrize("which", range(9))
def test_mutants_agree(cuda: Compile, arena: Arena, which: int) -> None:
    source, kernel, make = subjects()[which]
    text = print_module(cuda(source))
    verdicts = [check_mutant(text, kernel, make, 100 * which + i, arena) for i in range(5)]
    assert "agreed" in verdicts or len(set(verdicts)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("which", range(9))
def test_many_mutants_agree(cuda: Compile, arena: Arena, which: int) -> None:
    source, kernel, make = subjects()[which]
    text = print_module(cuda(source))
    for i in range(200):
        check_mutant(text, kernel, make, 10_000 + 1000 * which + i, arena)
