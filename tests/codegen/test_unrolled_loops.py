"""Loops that the assembler unrolls: every copy is found, and what each iteration does is in one of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.codegen.cost.loop_copies import Group, copy_label, original
from kernelwright.codegen.cost.ptx_counts import origins
from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.codegen.machine.block_counts import MachineFunction, machine_code
from kernelwright.codegen.machine.unrolled_loops import is_ir_loop
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.ptx_text import read_ptx
from kernelwright.ir import print_module
from kernelwright.pipeline import compile as compile_program

ASSEMBLERS = find_assemblers()
needs_assembler = pytest.mark.skipif(not ASSEMBLERS, reason="neither nvJitLink nor ptxas is installed")
ARCHS = ["sm_75", "sm_80", "sm_90", "sm_120"]

HEAD = """.version 8.7
.target sm_75
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .b64 %rd<16>;
$L__BB0_0: // %entry
	ld.param.b64 %rd1, [k_param_0];
	cvta.to.global.u64 %rd2, %rd1;
	ld.param.b32 %r1, [k_param_1];
	mov.u32 %r9, %tid.x;
	mul.wide.u32 %rd3, %r9, 4;
	add.s64 %rd4, %rd2, %rd3;
	mov.b32 %r2, 0;
	mov.b32 %r3, 0f00000000;
"""
TAIL = """$L__BB0_9: // %exit
	st.global.b32 [%rd4], %r3;
	ret;
}
"""
COUNTED = """	setp.lt.s32 %p1, %r1, 1;
	@%p1 bra $L__BB0_9;
"""
SUM = """$L__BB0_1: // %body
{pragma}	ld.global.b32 %r4, [%rd4];
	fma.rn.f32 %r3, %r4, %r4, %r3;
	add.s64 %rd4, %rd4, 128;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p2, %r2, {end};
	@%p2 bra $L__BB0_1;
"""
BRANCHES = """$L__BB0_1: // %body
	ld.global.b32 %r4, [%rd4];
	setp.gt.f32 %p3, %r4, 0f00000000;
	@%p3 bra $L__BB0_3;
// %bb.2: // %then
	ld.global.b32 %r5, [%rd4+4];
	atom.global.add.u32 %r6, [%rd2], %r5;
	st.global.b32 [%rd4+8], %r6;
$L__BB0_3: // %next
	fma.rn.f32 %r3, %r4, %r4, %r3;
	add.s64 %rd4, %rd4, 128;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p2, %r2, %r1;
	@%p2 bra $L__BB0_1;
"""


def made(loop: str, arch: str, counted: bool = True) -> MachineFunction:
    ptx = HEAD.replace("sm_75", arch) + (COUNTED if counted else "") + loop + TAIL
    return machine_code(ptx, arch).functions["k"]


def accesses(function: MachineFunction, label: str) -> int:
    return sum(p.instruction.kind.startswith(("load_global", "store_global")) for p in function.blocks.get(label, ()))


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
def test_a_counted_loop(arch: str) -> None:
    """Groups of several copies, and some of one for what is left; each copy has one load, and together they have all."""
    function = made(SUM.format(pragma="", end="%r1"), arch)
    (loop,) = function.loops
    assert (loop.function, loop.header, loop.blocks) == ("k", "body", {"body"})
    main = max(loop.groups, key=lambda g: g.copies)
    assert main.copies > 1 and main.repeats
    assert {1} <= {g.copies for g in loop.groups}, "any number of iterations can be done"
    for number, group in enumerate(loop.groups):
        loads = sum(accesses(function, copy_label("body", number, c)) for c in range(group.copies))
        assert loads == (0 if group.before else group.copies)
    everything = [p for placed in function.blocks.values() for p in placed if p.instruction.kind == "load_global"]
    assert len(everything) == sum(g.copies for g in loop.groups)


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
def test_what_belongs_to_a_copy(arch: str) -> None:
    """Loads come first and products later; still the n-th of each is the n-th iteration's."""
    function = made(SUM.format(pragma="", end="%r1"), arch)
    (loop,) = function.loops
    for number, group in enumerate(loop.groups):
        if group.before:
            continue
        issued = [p for c in range(group.copies) for p in function.blocks[copy_label("body", number, c)]]
        addresses = [p.instruction.address for p in issued]
        assert addresses == sorted(addresses), "copies are cut out of the code in its order"
        for kind in ("load_global", "fp32"):
            own = [p.block for p in issued if p.instruction.kind == kind]
            assert own == [copy_label("body", number, c) for c in range(group.copies)]


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
def test_what_is_between_groups_runs_once(arch: str) -> None:
    """Tests of how many iterations are left are no iteration's."""
    function = made(SUM.format(pragma="", end="%r1"), arch)
    assert "body" not in function.blocks
    assert len(function.blocks["entry"]) > 10
    assert {original(label) for label in function.blocks} == {"entry", "body", "exit"}


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("loop", "why"),
    [
        (SUM.format(pragma='\t.pragma "nounroll";\n', end="%r1"), "the program forbids it"),
        (SUM.format(pragma="", end="4").replace("0f00000000", "0f00000000"), "a loop of four becomes straight code"),
    ],
)
def test_loops_without_copies(arch: str, loop: str, why: str) -> None:
    function = made(loop, arch, counted=False)
    assert function.loops == (), why
    assert {original(label) for label in function.blocks} <= {"entry", "body", "exit"}
    loads = sum(p.instruction.kind == "load_global" for placed in function.blocks.values() for p in placed)
    assert loads == (1 if "pragma" in loop else 4)


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
def test_blocks_inside_the_loop_have_copies_too(arch: str) -> None:
    """Of a branch that is guarded or jumped around."""
    function = made(BRANCHES, arch)
    loads = [p for placed in function.blocks.values() for p in placed if p.instruction.kind == "load_global"]
    if not function.loops:  # an assembler may leave such a loop as it is
        assert len(loads) == 2
        return
    (loop,) = function.loops
    assert loop.blocks == {"body", "then", "next"}
    assert len(loads) == 2 * sum(g.copies for g in loop.groups)
    for number, group in enumerate(loop.groups):
        for name, line in (("body", "%r4"), ("then", "%r5")):
            own = {p.block for p in loads if p.ptx and p.ptx.operands.startswith(line)}
            assert {copy_label(name, number, c) for c in range(group.copies)} <= own


SPINNING = """
extern "C" __global__ void adds(const float *x, float *y, int n) {
  __shared__ float sums[32];
  sums[threadIdx.x] = 0;
  for (int i = 0; i < n; i++) atomicAdd(&sums[threadIdx.x], x[0]);
  y[threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void around(const float *x, float *y, int n) {
  float sum = x[threadIdx.x];
  for (int i = 0; i < n; i++) {
    if (sum < 0) {
#pragma unroll 1
      for (int k = 0; k < (int)sum; k++) sum = sum * sum - 1;
    }
    sum += 1;
  }
  y[threadIdx.x] = sum;
}"""


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("kernel", ["adds", "around"])
def test_loops_around_others_are_not_unrolled(kernel: str, arch: str, tmp_path: Path) -> None:
    """Of the assembler's own too: an addition of floats to shared memory is a load and a loop that compares and swaps. Every block
    has the instructions of one iteration."""
    (tmp_path / "k.cu").write_text(SPINNING)
    unit = compile_program(str(tmp_path / "k.cu"), arch=arch).units[0]
    function = machine_code(emit_ptx(print_module(unit.module), arch), arch).functions[kernel]
    assert not [each for each in function.loops if any(group.copies > 1 for group in each.groups)]
    placed = [p for each in function.blocks.values() for p in each]
    if kernel == "adds":
        atomics = {p.block for p in placed if p.instruction.kind == "atomic"}
        assert atomics and all(label == original(label) for label in atomics)


@needs_assembler
def test_loops_inside_one_ir_block_stay_rolled() -> None:
    """Their iterations are not counted, so that the block is charged one of them: as the assembler is told."""
    ptx = HEAD + COUNTED + SUM.format(pragma="", end="%r1") + TAIL
    module = machine_code(ptx, "sm_80", {"k": ["entry", "exit"]})
    assert module.rolled and not module.functions["k"].loops
    assert sum(p.instruction.kind == "load_global" for p in module.functions["k"].blocks["entry"]) == 1
    assert not machine_code(HEAD + COUNTED + SUM.format(pragma="", end="%r1") + TAIL, "sm_80").rolled
    assert not machine_code(HEAD + SUM.format(pragma='\t.pragma "nounroll";\n', end="%r1") + TAIL, "sm_80").rolled, (
        "what the program asks for itself is what will run"
    )


WORDS = """$L__BB0_1: // %body
	xor.b32 %r3, %r3, %r2;
	shl.b32 %r4, %r3, 5;
	add.s32 %r3, %r4, %r9;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p2, %r2, %r1;
	@%p2 bra $L__BB0_1;
"""
AROUND = """$L__BB0_1: // %outer
	add.s64 %rd5, %rd4, 0;
	mov.b32 %r5, 0;
$L__BB0_2: // %inner
	.pragma "nounroll";
	ld.global.b32 %r4, [%rd5];
	fma.rn.f32 %r3, %r4, %r4, %r3;
	add.s64 %rd5, %rd5, 128;
	add.s32 %r5, %r5, 1;
	setp.lt.s32 %p3, %r5, %r1;
	@%p3 bra $L__BB0_2;
// %bb.3: // %latch
	add.s64 %rd4, %rd4, 4;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p2, %r2, %r1;
	@%p2 bra $L__BB0_1;
"""


@needs_assembler
@pytest.mark.parametrize("arch", ARCHS)
def test_loops_without_anchors(arch: str) -> None:
    """Additions and tests have their neighbours' lines, so that they tell nothing: such a loop is kept rolled, one around others taken as
    it is."""
    function = made(WORDS, arch)
    assert function.loops == () and "body" in function.blocks
    assert sum(p.instruction.kind == "int" for p in function.blocks["body"]) <= 6, "one iteration's"
    for pragma, rolled in (("", True), ('\t.pragma "nounroll";\n', False)):
        asked = WORDS.replace("// %body\n", f"// %body\n{pragma}")
        module = machine_code(HEAD.replace("sm_75", arch) + COUNTED + asked + TAIL, arch)
        assert module.rolled is rolled, "what the program asks for is what will run"
    function = made(AROUND, arch)
    assert function.loops == ()
    assert {"outer", "inner", "latch"} & set(function.blocks) >= {"inner"}


def test_ir_loops() -> None:
    """Blocks that code generation made are of the IR block that they belong to; a loop of such a block is inside it."""
    (function,) = read_ptx(HEAD + COUNTED + SUM.format(pragma="", end="%r1") + TAIL)
    (header,) = (n for n, block in enumerate(function.blocks) if block.ir_name == "body")
    assert is_ir_loop(function, origins(function), header)
    assert not is_ir_loop(function, origins(function, ["entry", "exit"]), header)


def test_names() -> None:
    assert original(copy_label("for.body", 2, 13)) == "for.body"
    assert original("for.body") == "for.body" and original("a (slow)") == "a (slow)"
    assert re.fullmatch(r"\S+ \(copy 0\.1\)", copy_label("x", 0, 1))
    assert not Group(4, True).before
