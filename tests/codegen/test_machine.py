"""Machine code laid onto blocks: homes of merged, hoisted and guarded code, and what is nobody's."""

from __future__ import annotations

import re

import pytest

from kernelwright.codegen.cost.loop_copies import original
from kernelwright.codegen.cost.ptx_counts import origins
from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.codegen.machine.block_counts import SLOW, _home, _hot, _marked, _Piece, _ptx_flow, machine_code
from kernelwright.codegen.machine.control_flow import Flow
from kernelwright.codegen.machine.sass import BRANCH, EXIT, MEET, Instruction
from kernelwright.codegen.machine.unrolled_loops import kept_rolled
from kernelwright.codegen.ptx import generate
from kernelwright.codegen.ptx_text import PtxFunction, read_ptx
from tests.passes.listing import example

ASSEMBLERS = find_assemblers()
needs_assembler = pytest.mark.skipif(not ASSEMBLERS, reason="neither nvJitLink nor ptxas is installed")


def piece(*opcodes: int, guarded: tuple[int, ...] = (), to: tuple[int, ...] = (), slow: bool = False) -> _Piece:
    made = [Instruction(16 * i, o, "int", "alu", i in guarded, 4, -1, -1, 0) for i, o in enumerate(opcodes)]
    return _Piece(made, list(to), slow)


ADD, LOAD = 0x010, 0x181
# entry 0 → body 1 (a loop) → then 2 or next 3 → body; 3 → end 4
FLOW = Flow([[1], [2, 3], [3], [1, 4], []])


@pytest.mark.parametrize(
    ("blocks", "guarded", "depth", "home", "why"),
    [
        ([1, 1, 1, 1], (), 1, 1, "one block"),
        ([1, 1, 2, 2, 2], (2, 3, 4), 1, 1, "a short branch became guards"),
        ([1, 1, 2, 2, 2, 3], (), 1, 1, "a short branch became selections: the block before comes first on every path"),
        ([1, 1, 1, 0], (), 1, 1, "a constant of the entry is made again in the loop"),
        ([0, 1, 1], (), 0, 0, "code of the loop was moved out of it"),
        ([2, 2, 2, 2, 2, 1], (), 1, 2, "one instruction of the block before sank into it"),
        ([2, 2, 2], (0, 1, 2), 1, 2, "nothing but guarded code"),
    ],
)
def test_homes(blocks: list[int], guarded: tuple[int, ...], depth: int, home: int, why: str) -> None:
    assert _home(FLOW, piece(*[ADD] * len(blocks), guarded=guarded), blocks, depth) == home, why


def test_a_home_where_nothing_comes_first() -> None:
    """Two sides of a branch with one common tail: the one that most of it comes from."""
    flow = Flow([[1, 2], [3], [3], []])
    assert _home(flow, piece(*[ADD] * 5), [1, 2, 2, 1, 2], 0) == 2
    many = Flow([[1, 2, 3, 4, 5], [], [], [], [], []])
    assert _home(many, piece(*[ADD] * 5), [1, 2, 3, 4, 5], 0) == 1


def test_branches_do_not_decide_the_home() -> None:
    assert _home(FLOW, piece(ADD, BRANCH, BRANCH), [2, 1, 1], 1) == 2
    diamond = Flow([[1, 2], [2], []])
    assert _home(diamond, piece(MEET, LOAD, ADD), [1, 2, 2], 0) == 2, "lanes wait there for those of the block before"
    assert _home(diamond, piece(MEET, LOAD, EXIT), [1, 2, 2], 0) == 2


def test_what_only_a_slow_call_leads_to_is_cold() -> None:
    """0 decides: 1 calls the slow path and returns to 2, which joins 3; or straight to 3."""
    pieces = [piece(BRANCH, to=(1, 3)), piece(ADD, to=(2,), slow=True), piece(BRANCH, to=(3,)), piece(EXIT)]
    assert _hot(pieces) == {0, 3}
    # Where there is no way around it, it is paid.
    pieces = [piece(ADD, to=(1,)), piece(ADD, to=(2,), slow=True), piece(EXIT)]
    assert _hot(pieces) == {0, 1, 2}


@pytest.mark.parametrize(
    ("name", "slow"),
    [
        ("__cuda_sm3x_div_rn_noftz_f32_slowpath", True),
        ("__cuda_sm20_dsqrt_rn_f64_mediumpath_v1", True),
        ("__cuda_sm20_div_rn_f64_full", True),
        ("__cuda_sm70_shflsync_down", True),
        ("__cuda_sm20_div_u64", False),
        ("__cuda_sm20_rem_s64", False),
    ],
)
def test_subroutines_that_few_enter(name: str, slow: bool) -> None:
    assert bool(SLOW.search(name)) is slow


def kept(function: PtxFunction, labels: dict[str, str] | None = None) -> set[int]:
    return kept_rolled(function, _ptx_flow(function), labels or origins(function))


def test_every_ptx_instruction_gets_a_line_of_its_own() -> None:
    ptx = generate(example("figure4"), "sm_80").ptx
    functions = read_ptx(ptx)
    marked, markers = _marked(ptx, functions, {f.name: kept(f) for f in functions})
    assert len(markers) == sum(1 for f in functions for _ in f.instructions())
    lines = marked.splitlines()
    for at, line in enumerate(lines):
        found = re.match(r"\t\.loc 1 (\d+) 0$", line)
        if found:
            following = next(each for each in lines[at + 1 :] if "pragma" not in each)
            assert markers[int(found[1])].ptx.opcode in following
    assert "pragma" not in marked
    inside = {f.name: kept(f, dict.fromkeys((b.label for b in f.blocks), "entry")) for f in functions}
    assert "pragma" in _marked(ptx, functions, inside)[0], "iterations inside an IR block are not counted"


def test_no_line_number_inside_a_statement() -> None:
    """Inline assembly may spread one statement over lines."""
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
    ptx = head + "$L__BB0_0:\n\tadd.s32\n\t%r1, %r2,\n\t%r3;\n\tret;\n}\n"
    functions = read_ptx(ptx)
    marked, _ = _marked(ptx, functions, {f.name: kept(f) for f in functions})
    assert "add.s32\n\t%r1, %r2,\n\t%r3;\n\t.loc" in marked


@needs_assembler
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", ["figure4", "figure6", "figure7", "general", "spaces"])
def test_blocks_are_charged_where_code_is_issued(arch: str, name: str) -> None:
    """Memory instructions are never doubled, and no machine instruction is charged to a block that does not exist."""
    ptx = generate(example(name), arch).ptx
    functions = {f.name: f for f in read_ptx(ptx)}
    for function in machine_code(ptx, arch).functions.values():
        labels = set(origins(functions[function.name]).values())
        assert {original(label) for label in function.blocks} <= labels
        assert function.size == sum(len(b) for b in function.blocks.values()) > 0
        for placed in function.blocks.values():
            addresses = [p.instruction.address for p in placed]
            assert addresses == sorted(addresses)
            assert all(original(p.block) in labels for p in placed)


@needs_assembler
def test_a_64_bit_division_is_charged_with_its_subroutine() -> None:
    """Its subroutine is entered every time, unlike a slow path."""
    ptx = """.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0)
{
	.reg .b64 %rd<8>;
$L__BB0_0: // %entry
	ld.param.b64 %rd1, [k_param_0];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.b64 %rd3, [%rd2];
	ld.global.b64 %rd4, [%rd2+8];
	div.u64 %rd5, %rd3, %rd4;
	st.global.b64 [%rd2], %rd5;
	ret;
}
"""
    for assembler in ASSEMBLERS:
        (function,) = machine_code(ptx, "sm_80", assembler=assembler).functions.values()
        assert set(function.blocks) == {"entry"}
        kinds = [p.instruction.kind for p in function.blocks["entry"]]
        assert len(kinds) > 60 and kinds.count("load_global") == 2 and not function.cold
