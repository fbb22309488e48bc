"""What the lowering knows about lanes, what it refuses, and what its tables say."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.analyses.address_spaces import infer_spaces
from kernelwright.codegen.simt.analyses.uniformity import Shape
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import Geometry, SimtOptions
from kernelwright.codegen.simt.program.control_flow import arrange, note_uses
from kernelwright.codegen.simt.program.flatten import flatten
from kernelwright.codegen.simt.program.program import Program
from kernelwright.codegen.simt.program.warp_gathers import settle
from kernelwright.device.arena import Arena
from kernelwright.errors import CompileError
from kernelwright.ir import Module
from kernelwright.ir.module import BasicBlock
from tests.simt.harness import PRELUDE, Case, ir
from tests.simt.test_kernels import ints, zeros

Compile = Callable[[str], Module]


def analysed(module: Module, options: SimtOptions) -> Program:
    program = flatten(module.kernels[0])
    arrange(program)
    note_uses(program)
    infer_spaces(program)
    settle(program, options)
    return program


def shapes_of(text: str, block: tuple[int, int, int]) -> dict[str, str]:
    """The kind of shape of each operand that an IR kernel stores, by the number of the store."""
    program = analysed(ir(PRELUDE + text), SimtOptions(block=block))
    stores = [op for b in program.blocks for op in b.ops if op.code == "store"]
    found = {}
    for i, op in enumerate(stores):
        shape: Shape = getattr(op.args[1], "shape", ("u",))
        found[str(i)] = shape[0] + (str(shape[1]) if shape[0] == "s" else "")
    return found


NUMBERS = """
define ptx_kernel void @k(ptr %o, i32 %n) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = shl i32 %b, 8
  %i = or i32 %base, %x
  store i32 %n, ptr %o
  store i32 %i, ptr %o
  %twice = mul i32 %i, 2
  store i32 %twice, ptr %o
  %row = mul i32 %y, %n
  store i32 %row, ptr %o
  %at = add i32 %row, %x
  store i32 %at, ptr %o
  %warp = lshr i32 %x, 5
  store i32 %warp, ptr %o
  %lane = and i32 %x, 31
  store i32 %lane, ptr %o
  %bits = xor i32 %x, 5
  store i32 %bits, ptr %o
  %times = mul i32 %x, %n
  store i32 %times, ptr %o
  ret void
}
"""


def test_thread_numbers_run_along_the_lanes_as_the_block_says() -> None:
    # Stores: n, i, 2i, row, row + x, x / 32, x % 32, x ^ 5, x * n
    assert list(shapes_of(NUMBERS, (256, 1, 1)).values()) == ["u", "s1", "s2", "u", "s1", "u", "s1", "v", "v"]
    assert list(shapes_of(NUMBERS, (32, 8, 1)).values()) == ["u", "s1", "s2", "u", "s1", "u", "s1", "v", "v"]
    assert list(shapes_of(NUMBERS, (16, 16, 1)).values()) == ["u", "s1", "s2", "s0", "s1", "s0", "s1", "v", "v"]
    assert list(shapes_of(NUMBERS, (5, 7, 1)).values()) == ["u", "v", "v", "v", "v", "v", "v", "v", "v"]


def test_geometry() -> None:
    def of(*block: int) -> tuple[int, int, bool]:
        g = Geometry.of(block)  # type: ignore[arg-type]
        return g.lanes, g.segments, g.full

    assert of(256, 1, 1) == (32, 1, True) and of(100, 1, 1) == (32, 1, False) and of(64, 3, 2) == (32, 1, True)
    assert of(16, 16, 1) == (32, 2, True) and of(8, 8, 1) == (32, 4, True) and of(16, 3, 1) == (32, 2, False)
    assert of(16, 1, 1) == (16, 1, True) and of(7, 1, 1) == (16, 1, False) and of(8, 2, 1) == (16, 2, True)
    assert of(5, 9, 1) == (32, 0, False)
    assert Geometry.of(None).segments == 0


DIVERGENCE = """
define ptx_kernel void @k(ptr %o, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  store i32 %i, ptr %o
  %i2 = add i32 %i, 1
  %c = icmp slt i32 %i2, BOUND
  br i1 %c, label %loop, label %after
after:
  store i32 %i2, ptr %o
  %d = icmp slt i32 %x, %n
  br i1 %d, label %then, label %join
then:
  store i32 %n, ptr %o
  br label %join
join:
  %p = phi i32 [ 1, %then ], [ 2, %after ]
  %q = phi i32 [ %n, %then ], [ %n, %after ]
  store i32 %p, ptr %o
  store i32 %q, ptr %o
  ret void
}
"""


def test_values_differ_behind_divergent_control_and_nowhere_else() -> None:
    # i in the loop, i after it, n, what two ways bring, what both ways bring alike
    assert list(shapes_of(DIVERGENCE.replace("BOUND", "%n"), (64, 1, 1)).values()) == ["u", "u", "u", "v", "u"]
    program = analysed(ir(PRELUDE + DIVERGENCE.replace("BOUND", "%x")), SimtOptions(block=(64, 1, 1)))
    (loop,) = program.loops
    assert loop.divergent
    # Inside, all lanes that are still there share the number; behind, each has the one it left with.
    assert next(iter(shapes_of(DIVERGENCE.replace("BOUND", "%x"), (64, 1, 1)).values())) == "u"


def test_turning_uniformity_off_changes_no_result(cuda: Compile, arena: Arena) -> None:
    from tests.simt.test_kernels import CONTROL

    rng = np.random.default_rng(0)
    case = Case(cuda(CONTROL), "carried", 1, 64, ints(rng, 64), zeros(64), 30)
    on, off = (case.fast(arena, SimtOptions(block=case.block, uniform=u)).arrays[1] for u in (True, False))
    np.testing.assert_array_equal(on, off)


def test_loops_are_contiguous_and_end_with_their_latch(cuda: Compile) -> None:
    from tests.simt.test_kernels import CONTROL

    for name in ("switches", "nested", "carried"):
        module = cuda(CONTROL)
        program = flatten(module.function(name))
        arrange(program)
        assert program.loops
        for loop in program.loops:
            ids = sorted(b.id for b in loop.blocks)
            assert ids == list(range(ids[0], ids[-1] + 1)) and loop.latch.id == ids[-1] and loop.header.id == ids[0]
        for block in program.blocks:
            for target in block.succs:
                assert target.id > block.id or any(lp.latch is block and lp.header is target for lp in program.loops)


REFUSED = {
    "unknown assembly": ("""
extern "C" __global__ void k(int* o) { asm volatile("wgmma.fence.sync.aligned;"); o[0] = 1; }""", "wgmma.fence", ""),
    "undefined functions": ("""
extern "C" __device__ int elsewhere(int);
extern "C" __global__ void k(int* o) { o[0] = elsewhere(1); }""", "elsewhere", "no body"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_run_is_refused_by_name(cuda: Compile, name: str) -> None:
    text, *words = REFUSED[name]
    with pytest.raises(CompileError) as error:
        lower(cuda(text), "k")
    assert all(word in str(error.value) for word in words), str(error.value)
    assert error.value.hint


def test_an_unknown_kernel_is_told_with_the_known_ones(cuda: Compile) -> None:
    with pytest.raises(CompileError) as error:
        lower(cuda('extern "C" __global__ void known(int* o) {}'), "unknown")
    assert "'unknown'" in str(error.value) and "known" in (error.value.hint or "")


def test_tables_lead_back_to_the_ir(cuda: Compile) -> None:
    module = cuda("""
__device__ __noinline__ float inner(const float* p, int i) { return p[i] * 2; }
extern "C" __global__ void k(const float* a, float* o) {
  __shared__ float s[64];
  s[threadIdx.x] = inner(a, threadIdx.x);
  __syncthreads();
  o[threadIdx.x] = s[63 - threadIdx.x];
}""")
    kernel = lower(module, "k", SimtOptions(block=(64, 1, 1)))
    assert [a.kind for a in kernel.accesses] == ["load", "store", "load", "store"]
    assert [a.space for a in kernel.accesses] == [0, 1, 1, 0]
    assert [a.function for a in kernel.accesses] == ["_Z5innerPKfi", "k", "k", "k"]
    assert all(a.origin.opcode == a.kind for a in kernel.accesses)
    covered: dict[BasicBlock, list[tuple[int, int, int]]] = {}
    for block in kernel.blocks:
        if block.origin is not None:
            covered.setdefault(block.origin, []).append((block.part, block.start, block.end))
    for origin, parts in covered.items():
        parts.sort()
        assert parts[0][1] == 0 and parts[-1][2] == len(origin.instructions)
        assert all(a[2] == b[1] for a, b in itertools.pairwise(parts))
    assert kernel.static_shared == 256 and len(kernel.points) == 1


def test_the_text_is_the_same_every_time(cuda: Compile) -> None:
    from tests.simt.test_kernels import CONTROL

    texts = {lower(cuda(CONTROL), "nested", SimtOptions(block=(16, 4, 1))).text for _ in range(3)}
    assert len(texts) == 1
