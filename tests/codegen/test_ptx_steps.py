"""PTX as steps: who writes what, who waits for it, and how many registers are alive at once."""

from __future__ import annotations

import pytest

from kernelwright.codegen.cost.ptx_steps import EXTRA_REGISTERS, LEAST_REGISTERS, TURNS, operands, pressure, steps_of
from kernelwright.codegen.ptx_text import PtxFunction, PtxInstruction, read_ptx
from kernelwright.target import PIPES
from tests.codegen.counting import PTX_CLASSES


def function(*lines: str) -> PtxFunction:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 k_param_0)\n{\n"
    (found,) = read_ptx(text + "\n".join(lines) + "\n}\n")
    return found


@pytest.mark.parametrize(
    ("line", "written", "read"),
    [
        ("add.s32 %r1, %r2, %r3;", ["%r1"], ["%r2", "%r3"]),
        ("@%p1 add.s32 %r1, %r2, 5;", ["%r1"], ["%r2", "%p1"]),
        ("ld.global.b32 %r1, [%rd2+4];", ["%r1"], ["%rd2"]),
        ("ld.shared.v2.b32 {%r1, %r2}, [%r3];", ["%r1", "%r2"], ["%r3"]),
        ("st.global.b32 [%rd2], %r1;", [], ["%rd2", "%r1"]),
        ("setp.lt.s32 %p1|%p2, %r1, %r2;", ["%p1", "%p2"], ["%r1", "%r2"]),
        ("@%p1 bra $L__BB0_1;", [], ["%p1"]),
        ("bar.sync 0;", [], []),
        ("atom.global.add.u32 %r1, [%rd1], %r2;", ["%r1"], ["%rd1", "%r2"]),
        ("red.global.add.u32 [%rd1], %r2;", [], ["%rd1", "%r2"]),
        ("mov.u32 %r1, %tid.x;", ["%r1"], []),
        ("call.uni (retval0), helper, (param0);", [], []),
    ],
)
def test_operands(line: str, written: list[str], read: list[str]) -> None:
    (block, *_) = function("\t" + line, "\tret;").blocks
    assert operands(block.instructions[0]) == (written, read)


def test_every_class_has_its_turns() -> None:
    assert set(TURNS) == PTX_CLASSES
    assert {pipe for turns in TURNS.values() for pipe, _ in turns} <= {"", *PIPES}


def test_a_consumer_waits_for_its_producer() -> None:
    made = function("\tld.global.b32 %r1, [%rd1];", "\tadd.s32 %r2, %r1, 1;", "\tret;")
    slots: dict[str, int] = {}
    load, add, _ = steps_of(made.blocks[0], "k", "entry", slots)
    assert load.sets in add.waits and load.kind == "load_global" and add.kind == "int"
    assert add.block == "entry" and not add.barrier


def test_the_same_name_in_two_functions_is_two_registers() -> None:
    block = function("\tadd.s32 %r1, %r2, 1;", "\tret;").blocks[0]
    slots: dict[str, int] = {}
    one, other = next(steps_of(block, "k", "entry", slots)), next(steps_of(block, "h", "entry", slots))
    assert one.sets != other.sets


@pytest.mark.parametrize(
    ("opcode", "barrier"),
    [
        ("bar.sync", True),
        ("barrier.sync", True),
        ("barrier.cta.sync.aligned", True),
        ("barrier.cta.red.popc.aligned.u32", True),
        ("bar.red.or.pred", True),
        ("barrier.cta.arrive.aligned", False),
        ("bar.warp.sync", False),
        ("membar.gl", False),
    ],
)
def test_what_all_warps_meet_at(opcode: str, barrier: bool) -> None:
    block = function(f"\t{opcode} 0;", "\tret;").blocks[0]
    assert next(steps_of(block, "k", "entry", {})).barrier is barrier


def test_registers_alive_at_once() -> None:
    """Before the sixth word is loaded: five words, and four addresses of two words each."""
    loads = [f"\tld.global.b64 %rd{i}, [%rd0];" for i in range(1, 5)]
    words = [f"\tld.global.b32 %r{i}, [%rd{1 + i % 4}];" for i in range(8)]
    sums = [f"\tadd.s32 %r0, %r0, %r{i};" for i in range(1, 8)]
    found = pressure(function(*loads, *words, *sums, "\tst.global.b32 [%rd1], %r0;", "\tret;"))
    assert found == 5 + 4 * 2 + EXTRA_REGISTERS
    assert pressure(function("\tret;")) == LEAST_REGISTERS


def test_what_a_loop_needs_stays_alive_around_it() -> None:
    """%r9 is read after the loop only: it is alive in all of it."""
    body = ["$L__BB0_1:", *[f"\tadd.s32 %r{i}, %r{i}, %r{i + 1};" for i in range(12)], "\t@%p1 bra $L__BB0_1;"]
    end = ["// %bb.2:", *[f"\tst.global.b32 [%rd1], %r{i};" for i in range(20, 40)], "\tret;"]
    start = [f"\tmov.u32 %r{i}, {i};" for i in range(40)]
    found = pressure(function(*start, "\tbra.uni $L__BB0_1;", *body, *end))
    assert found >= 13 + 20 + 2 + EXTRA_REGISTERS


def test_guarded_writes_do_not_end_a_life() -> None:
    """Lanes whose guard is false keep what they had."""
    guarded = PtxInstruction(1, "@%p1", "mov.u32", "%r1, 0", ())
    assert operands(guarded) == (["%r1"], ["%p1"])

    def after_others(guard: str) -> int:
        """Twenty words come and go; then twenty more are written, perhaps, and stored."""
        lines = [f"\tld.global.b32 %r{i}, [%rd1];" for i in range(20)] + [
            f"\tst.global.b32 [%rd1], %r{i};" for i in range(20)
        ]
        lines += [f"\t{guard}mov.u32 %r{i}, 0;" for i in range(20, 40)]
        lines += [f"\tst.global.b32 [%rd1], %r{i};" for i in range(20, 40)]
        return pressure(function(*lines, "\tret;"))

    assert after_others("") == 20 + 2 + EXTRA_REGISTERS
    assert after_others("@%p1 ") == 40 + 2 + EXTRA_REGISTERS
