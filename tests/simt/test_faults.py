"""Launches that go wrong stop with the kind, the thread and the instruction; nothing else in the process suffers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.codegen.joined_accesses import joined_alignment
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, Arena
from kernelwright.errors import DeviceError
from kernelwright.ir import Module, print_module
from kernelwright.ir.debug import source_location
from kernelwright.launch import Launch
from tests.simt.harness import PRELUDE, Case, ir
from tests.simt.test_kernels import ints, zeros

Compile = Callable[[str], Module]

FAULTS = """
#include <assert.h>
__constant__ float table[16];
extern "C" __global__ void row(int* o, int n) { o[threadIdx.x + n] = 1; }
extern "C" __global__ void beyond(int* o, int n) { o[1 + (unsigned long long)(unsigned)o[threadIdx.x]] = n; }
extern "C" __global__ void wraps(int* o, int n) {
  #pragma unroll 1
  for (int r = 0; r < n; r++) o[(long long)(threadIdx.x - 3u * r) - ((1ll << 32) - 3) * r] = 1; }
extern "C" __global__ void strided(int* o, int n) { o[threadIdx.x * n] = 1; }
extern "C" __global__ void shared_(int* o, int n) {
  __shared__ int s[32];
  s[(threadIdx.x + n) & 1023] = 1; __syncthreads(); o[threadIdx.x] = s[threadIdx.x & 31]; }
extern "C" __global__ void local_(int* o, int n) {
  int s[4] = {1, 2, 3, 4};
  s[(threadIdx.x + n) % 7] += 5;
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = s[i]; }
extern "C" __global__ void misaligned(char* o, int n) { *(int*)(o + threadIdx.x * 4 + n) = 7; }
extern "C" __global__ void null(int* o, int n) { int* p = n ? o : (int*)64; p[threadIdx.x] = 1; }
extern "C" __global__ void endless(volatile int* o, int n) { while (o[threadIdx.x] != n) {} }
extern "C" __global__ void constant(float* o, int n) {
  float* p = const_cast<float*>(table);
  asm volatile("st.global.f32 [%0], %1;" :: "l"(p + threadIdx.x + n), "f"(o[0]) : "memory"); }
extern "C" __global__ void asserts(const int* in, int n) { assert(in[threadIdx.x] < n); }
extern "C" __global__ void traps(const int* in, int n) { if (in[threadIdx.x] > n) __trap(); }
extern "C" __global__ void half_barrier(int* o, int n) { if (threadIdx.x < n) __syncthreads(); else o[threadIdx.x] = 1; }
extern "C" __global__ void two_barriers(int* o, int n) {
  int t = threadIdx.x;
  if ((t & 1) == n) { __syncthreads(); } else { o[t] = 1; __syncthreads(); }
  o[t] += 1; }
extern "C" __global__ void atomic(int* o, int n) { atomicAdd(&o[threadIdx.x * n], 1); }
extern "C" __global__ void bulk(int* o, int n) { memset(o + 8 * threadIdx.x, 1, n * 4); }
struct Pair { int a, b, c; };
struct alignas(8) Wide { int a, b, c, d; };
extern "C" __global__ void struct_(char* o, int n) { ((Wide*)o)[threadIdx.x] = *(const Wide*)(o + n); }
extern "C" __global__ void struct_to(char* o, int n) { *(Wide*)(o + n + 16 * threadIdx.x) = *(const Wide*)o; }
extern "C" __global__ void three(char* o, int n) { *(Pair*)(o + 12 * threadIdx.x) = *(const Pair*)(o + n); }
extern "C" __global__ void struct_local(char* o, int n) {
  Wide w[2] = {};
  w[n & 1] = *(const Wide*)(o + n);
  o[threadIdx.x] = w[threadIdx.x & 1].c; }
extern "C" __global__ void parts(char* o, int n) {
  float4 v = *(const float4*)(o + n); ((float*)o)[threadIdx.x] = v.x - v.y * v.z + v.w; }
extern "C" __global__ void one_part(char* o, int n) { ((float*)o)[threadIdx.x] = ((const float4*)(o + n))->x; }
extern "C" __global__ void pairs(char* o, int n) {
  float4 v = *(const float4*)(o + n); ((float*)o)[threadIdx.x] = v.x - v.y; }
extern "C" __global__ void to_parts(char* o, int n) {
  float4* p = (float4*)(o + n); p->x = threadIdx.x; p->y = 1; p->z = threadIdx.x + 2.0f; p->w = 3; }
extern "C" __global__ void fills(char* o, int n) { __builtin_memset((int*)(o + n), 0, 200); }
extern "C" __global__ void async_(char* o, int n) {
  __shared__ alignas(16) char s[64];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(o + n));
  asm volatile("cp.async.wait_all;");
  o[threadIdx.x] = s[threadIdx.x & 7]; }
extern "C" __global__ void far(int* o, long long n) { o[threadIdx.x * n] = 1; }
"""

CASES = [
    ("row", 64, 64, 0, None), ("row", 64, 40, 0, "out-of-bounds"), ("row", 64, 65, 1, None), ("row", 64, 64, 1, "out-of-bounds"),
    ("strided", 64, 192, 3, None), ("strided", 64, 189, 3, "out-of-bounds"), ("strided", 64, 63, 1, "out-of-bounds"),
    ("strided", 64, 64, -1, "out-of-bounds"), ("strided", 64, 64, 1 << 30, "out-of-bounds"),
    ("shared_", 32, 64, 0, None), ("shared_", 32, 64, 3, "out-of-bounds"),
    ("local_", 4, 16, 0, None), ("local_", 32, 128, 3, "out-of-bounds"),
    ("misaligned", 32, 64, 4, None), ("misaligned", 32, 64, 2, "misaligned"), ("null", 32, 64, 4, None),
    ("null", 32, 64, 0, "out-of-bounds"), ("endless", 32, 64, 1, "endless"), ("constant", 16, 64, 0, "out-of-bounds"),
    ("asserts", 64, 64, 5000, None), ("asserts", 64, 64, 900, "assert"), ("traps", 64, 64, 2000, None),
    ("traps", 64, 64, 900, "trap"), ("half_barrier", 64, 64, 32, None), ("half_barrier", 64, 64, 17, None),
    ("two_barriers", 64, 64, 1, "barrier"), ("two_barriers", 64, 64, 7, None), ("atomic", 64, 128, 2, None),
    ("atomic", 64, 100, 2, "out-of-bounds"), ("bulk", 32, 256, 8, None), ("bulk", 32, 256, 9, "out-of-bounds"),
    ("struct_", 8, 64, 8, None), ("struct_", 8, 64, 4, "misaligned"), ("struct_", 8, 64, 244, "misaligned"),
    ("struct_to", 8, 64, 8, None), ("struct_to", 8, 64, 4, "misaligned"), ("struct_to", 8, 32, 8, "out-of-bounds"),
    ("three", 8, 64, 4, None), ("three", 8, 64, 2, "misaligned"), ("struct_local", 32, 64, 16, None),
    ("struct_local", 32, 64, 4, "misaligned"), ("fills", 4, 64, 4, None), ("fills", 4, 64, 2, "misaligned"),
    # A float4 is taken apart, and its parts are joined again where they are all read.
    ("parts", 8, 64, 16, None), ("parts", 8, 64, 8, "misaligned"), ("parts", 8, 64, 4, "misaligned"),
    ("pairs", 8, 64, 8, None), ("pairs", 8, 64, 4, "misaligned"), ("one_part", 8, 64, 4, None),
    ("one_part", 8, 64, 2, "misaligned"), ("to_parts", 1, 64, 16, None), ("to_parts", 1, 64, 8, "misaligned"),
    ("async_", 8, 64, 8, None), ("async_", 8, 64, 4, "misaligned"), ("async_", 8, 64, 256, "out-of-bounds"),
    ("far", 32, 64, 1, None), ("far", 32, 64, 1 << 32, "out-of-bounds"), ("far", 32, 64, -(1 << 61), "out-of-bounds"),
]  # fmt: skip


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    return cuda(FAULTS)


@pytest.mark.parametrize("name", sorted({c[0] for c in CASES}))
def test_both_executors_stop_for_the_same_reason(module: Module, arena: Arena, name: str) -> None:
    rng = np.random.default_rng(3)
    for kernel, threads, size, n, kind in CASES:
        if kernel != name:
            continue
        data = ints(rng, size) if name in ("asserts", "traps") else zeros(size)
        type = np.float32 if name == "constant" else np.int32
        want = Case(module, kernel, 1, threads, data.astype(type), n, budget=2000).agree(arena, faults=True)
        assert (want.fault.kind if want.fault else None) == kind, (name, n)


def test_what_counts_as_joined_is_joined_in_the_ptx(module: Module) -> None:
    """LLVM's own code generation as the oracle."""
    text = emit_ptx(print_module(module), "sm_80")
    bodies = {body.split("(")[0].strip(): body for body in text.split(".visible .entry ")[1:]}
    widths = {
        n: re.findall(r"(ld|st)\.global\.(v[24])?", bodies[n]) for n in ("parts", "pairs", "one_part", "to_parts")
    }
    assert ("ld", "v4") in widths["parts"] and ("st", "v4") in widths["to_parts"]
    assert ("ld", "v2") in widths["pairs"] and ("ld", "") in widths["one_part"]
    for name, wide in (("parts", 16), ("pairs", 8), ("one_part", 0), ("to_parts", 16)):
        found = [
            joined_alignment(i, i.type if i.opcode == "load" else i.operands[0].type)
            for i in module.functions[name].instructions()
            if i.opcode == ("store" if name == "to_parts" else "load")
        ]
        assert max(found) == wide, name


def test_an_index_that_wraps_in_32_bits_is_no_index(module: Module, arena: Arena) -> None:
    data = np.where(np.arange(64) < 32, 0, -1).astype(np.int32)
    fault = Case(module, "beyond", 1, 64, data, 1).agree(arena, faults=True).fault
    assert fault is not None and fault.kind == "out-of-bounds" and fault.thread == (32, 0, 0)


APART = (
    PRELUDE
    + """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr %o, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, %n
  br i1 %low, label %one, label %two
one:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
two:
  store i32 5, ptr %o
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
}
"""
)


def test_lanes_whose_index_wraps_are_not_neighbours(module: Module, arena: Arena) -> None:
    for options in (SimtOptions(block=(64, 1, 1)), SimtOptions(block=None)):
        fault = Case(module, "wraps", 1, 64, zeros(64), 2).fast(arena, options).fault
        assert fault is not None and fault.kind == "out-of-bounds" and fault.thread == 3


def test_warps_at_different_barriers_wait_for_ever(arena: Arena) -> None:
    for n, kind in ((32, "barrier"), (64, None), (0, None), (10, "barrier")):
        want = Case(ir(APART), "k", 1, 64, zeros(4), n).agree(arena, faults=True)
        assert (want.fault.kind if want.fault else None) == kind


def test_a_fault_names_thread_address_and_instruction(module: Module, arena: Arena) -> None:
    case = Case(module, "strided", 2, 64, zeros(189), 3)
    fault = case.fast(arena).fault
    assert fault.kind == "out-of-bounds" and fault.write and fault.size == 4
    assert (fault.block, fault.thread) == (0, 63)
    assert fault.address == arena.buffers[0].end
    assert fault.access is not None and fault.access.origin.opcode == "store"
    location = source_location(fault.access.origin)
    assert location is not None and "strided" in FAULTS.splitlines()[location.line - 1]

    fault = Case(module, "shared_", 1, 32, zeros(64), 3).fast(arena).fault
    assert fault.address == SHARED_BASE + 32 * 4 and fault.thread == 29
    fault = Case(module, "local_", 1, 32, zeros(128), 3).fast(arena).fault
    assert fault.address == LOCAL_BASE + 16 and fault.thread == 1
    fault = Case(module, "asserts", 1, 64, np.arange(64, dtype=np.int32), 40).fast(arena).fault
    assert fault.thread == 40 and fault.note is not None
    assert "asserts" in fault.note[0] and "assertion `in[threadIdx.x] < n` failed" in fault.note[0]
    fault = Case(module, "two_barriers", 1, 64, zeros(64), 1).fast(arena).fault
    places = [source_location(i) for i in (fault.note[1], fault.other) if i is not None]
    lines = {place.line for place in places if place is not None}
    assert len(lines) >= 1 and all("__syncthreads" in FAULTS.splitlines()[line - 1] for line in lines)


def test_neighbouring_buffers_are_not_touched(module: Module, arena: Arena) -> None:
    arena.reset()
    first = arena.allocate(64 * 4, "first", fill=0)
    second = arena.allocate(64 * 4, "second", fill=0)
    case = Case(module, "strided", 1, 64, zeros(1), 1)
    step = (second.address - first.address) // 4
    kernel = case.compiled()
    launch = Launch("strided", (1, 1, 1), (64, 1, 1), case.pack([first.address, 1]))
    result = kernel.launch(arena, launch, symbols={"table": first.address})
    assert result.fault is None
    # A pointer that goes from one buffer into another names what it lands on: that is not out of bounds.
    packed = case.pack([first.address, step])
    result = kernel.launch(arena, replace(launch, parameters=packed))
    assert result.fault is not None and result.fault.thread == 2
    assert arena.view(second, np.int32)[0] == 1 and arena.view(second, np.int32)[1:].sum() == 0


def test_launches_that_cannot_begin_say_why(module: Module, arena: Arena) -> None:
    kernel = Case(module, "strided", 1, 64, zeros(64), 1).compiled()
    for grid, block, packed, word in (
        ((1, 1, 1), (32, 1, 1), b"\0" * 12, "blocks of (64, 1, 1)"),
        ((0, 1, 1), (64, 1, 1), b"\0" * 12, "grid (0, 1, 1)"),
        ((1, 1, 1), (64, 1, 1), b"\0" * 8, "12 bytes of arguments, 8"),
    ):
        with pytest.raises(DeviceError) as error:
            kernel.launch(arena, Launch("strided", grid, block, packed))
        assert word in str(error.value)
    anything = Case(module, "strided", 1, 64, zeros(64), 1).compiled(SimtOptions(block=None))
    with pytest.raises(DeviceError):
        anything.launch(arena, Launch("strided", (1, 1, 1), (2000, 1, 1), b"\0" * 12))
    with pytest.raises(DeviceError) as error:
        constant = Launch("constant", (1, 1, 1), (16, 1, 1), b"\0" * 12)
        Case(module, "constant", 1, 16, zeros(64), 0).compiled().launch(arena, constant)
    assert "table" in str(error.value)


def test_a_launch_that_runs_can_be_stopped(module: Module, arena: Arena) -> None:
    import threading
    import time

    case = Case(module, "endless", 1, 32, zeros(64), 1)
    kernel = case.compiled()
    packed, _, addresses, _ = case._memory(arena)
    results = []
    runner = threading.Thread(
        target=lambda: results.append(
            kernel.launch(arena, Launch("endless", (1, 1, 1), (32, 1, 1), packed), symbols=addresses)
        )
    )
    runner.start()
    end = time.monotonic() + 20
    while runner.is_alive() and time.monotonic() < end:
        kernel.stop()
        time.sleep(0.002)
    runner.join(1)
    assert results and results[0].fault is not None and results[0].fault.kind == "endless"


WRAPPING = """
@tile = internal addrspace(3) global [64 x i32] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr %out, i64 %begin) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %here = getelementptr i32, ptr addrspace(3) @tile, i32 %x
  store i32 %x, ptr addrspace(3) %here, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %not = xor i32 %x, -1
  %index = zext i32 %not to i64
  %end = getelementptr i32, ptr addrspace(3) @tile, i64 %begin
  %from = getelementptr i32, ptr addrspace(3) %end, i64 %index
  %found = load i32, ptr addrspace(3) %from, align 4
  %before = atomicrmw add ptr addrspace(3) %from, i32 %x monotonic, align 4
  %sum = add i32 %found, %before
  store i32 %sum, ptr addrspace(3) %from, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %last = load i32, ptr addrspace(3) %here, align 4
  %to = getelementptr i32, ptr %out, i32 %x
  store i32 %last, ptr %to, align 4
  ret void
}
"""


@pytest.mark.parametrize("is_generic", [False, True])
def test_addresses_of_shared_memory_have_32_bits(arena: Arena, is_generic: bool) -> None:
    """``tile[begin + ~x]`` with an unsigned x: PTX cuts the address to the width of the state space."""
    text = WRAPPING
    if is_generic:  # as clang writes it; the PTX says `shared` where LLVM sees it
        text = text.replace(
            "  %from = getelementptr i32, ptr addrspace(3) %end",
            "  %any = addrspacecast ptr addrspace(3) %end to ptr\n  %from = getelementptr i32, ptr %any",
        )
        text = text.replace("ptr addrspace(3) %from", "ptr %from")
    want = Case(ir(text), "k", 1, 32, zeros(32), 32).agree(arena)
    assert want.arrays[0].tolist() == [2 * x for x in range(32)]
    fault = (
        Case(ir(text), "k", 1, 32, zeros(32), 20).agree(arena, faults=True).fault
    )  # where begin is too small for the last
    assert fault is not None and fault.kind == "out-of-bounds"
