"""Inline PTX with effects, under predicates and not: both executors, against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Case

Compile = Callable[[str], Module]
T = np.arange(64)


def test_predicates_keep_threads_from_memory(cuda: Compile, arena: Arena) -> None:
    """The usual bounds check: threads whose predicate is false neither read nor write, though their addresses are wild."""
    module = cuda(r"""
extern "C" __global__ void k(int* out, const int* in, int n) {
    int t = threadIdx.x, a = -1, b = -2, c = 7, d = 8;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, %3; @p ld.global.v2.s32 {%0, %1}, [%4]; @!p mov.u32 %0, 5; }"
                 : "+r"(a), "+r"(b) : "r"(t), "r"(n), "l"(in + 2 * (t < n ? t : 1 << 30)));
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; @p st.global.s32 [%2], %3; }"
                 :: "r"(t), "r"(n), "l"(out + (t < n ? t : -100)), "r"(a) : "memory");
    asm volatile("{ .reg .pred p; setp.ge.s32 p, %1, %2; @!p atom.global.add.s32 %0, [%3], %4; @!p red.global.add.s32 [%3], 100; }"
                 : "+r"(c) : "r"(t), "r"(n), "l"(out + (t < n ? t : -100)), "r"(b) : "memory");
    asm volatile("{ .reg .pred p; .reg .s32 x; setp.eq.s32 p, 1, 2; mov.u32 x, %1; @p add.s32 x, x, 1; mov.u32 %0, x; }" : "=r"(d) : "r"(t));
    out[64 + t] = b; out[128 + t] = c; out[192 + t] = d;
}""")
    data = np.arange(200, 280, dtype=np.int32)
    out = Case(module, "k", 1, 64, np.zeros(256, np.int32), data, 40).agree(arena).arrays[0]
    few = T < 40
    a, b = np.where(few, 200 + 2 * T, 5), np.where(few, 201 + 2 * T, -2)
    assert out[:64].tolist() == np.where(few, a + b + 100, 0).tolist()
    assert out[64:128].tolist() == b.tolist()
    assert out[128:192].tolist() == np.where(few, a, 7).tolist()
    assert out[192:].tolist() == T.tolist()


def test_predicates_before_operations_of_a_warp_and_the_end(cuda: Compile, arena: Arena) -> None:
    module = cuda(r"""
extern "C" __global__ void k(int* out) {
    int t = threadIdx.x, v = -1, w = t < 32;
    unsigned mask = -1;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p shfl.sync.down.b32 %0, %1, 1, 31, -1; }" : "+r"(v) : "r"(t), "r"(w));
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 47; @p activemask.b32 %0; }" : "+r"(mask) : "r"(t));
    out[t] = v; out[64 + t] = mask;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 50; @p exit; }" :: "r"(t));
    out[128 + t] = 1;
    __syncthreads();
    out[128 + t] += 1;
}""")
    out = Case(module, "k", 1, 64, np.zeros(192, np.int32)).agree(arena).arrays[0]
    assert out[:64].tolist() == np.where(T < 32, np.minimum(T + 1, 31), -1).tolist()
    assert out[64:128].tolist() == np.where(T > 47, np.int32(-65536), -1).tolist()
    assert out[128:].tolist() == np.where(T > 50, 0, 2).tolist()


def test_a_predicate_before_a_trap(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(int* out, int n) {
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, %1; @p trap; }" :: "r"((int)threadIdx.x), "r"(n));
    out[threadIdx.x] = 1;
}""")
    assert Case(module, "k", 1, 64, np.zeros(64, np.int32), 63).agree(arena).arrays[0].all()
    ran = Case(module, "k", 1, 64, np.zeros(64, np.int32), 62).agree(arena, faults=True)
    assert ran.fault.kind == "trap"


def test_asynchronous_copies(cuda: Compile, arena: Arena) -> None:
    """Of 16 bytes some are read, the rest are zeros; a predicate reads none; policies and prefetches say nothing of values."""
    module = cuda(r"""
__device__ unsigned at(void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void k(int* out, const int* in) {
    __shared__ __align__(16) int tile[6][64][4];
    int t = threadIdx.x;
    for (int i = 0; i < 6; i++) for (int j = 0; j < 4; j++) tile[i][t][j] = -9;
    const int* from = in + 4 * t;
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" :: "r"(at(tile[0][t])), "l"(from), "n"(16));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;" :: "r"(at(tile[1][t])), "l"(from), "n"(16), "r"(t % 5 * 4));
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, 20; @p cp.async.ca.shared.global [%0], [%1], 8; }"
                 :: "r"(at(tile[2][t])), "l"(t < 20 ? from : (const int*)0), "r"(t));
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, 20; cp.async.ca.shared.global [%0+4], [%1+8], 4, p; }"
                 :: "r"(at(tile[3][t])), "l"(from), "r"(t));
    asm volatile("{ .reg .b64 c; createpolicy.fractional.L2::evict_last.b64 c, 1.0;"
                 " cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, c; }" :: "r"(at(tile[4][t])), "l"(from));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::256B [%0], [%1], 16, %2, %3;"
                 :: "r"(at(tile[5][t])), "l"(from), "r"(12), "l"(0x12F0000000000000ull));
    asm volatile("cp.async.commit_group; cp.async.wait_group %0;" :: "n"(0));
    __syncthreads();
    for (int i = 0; i < 6; i++) for (int j = 0; j < 4; j++) out[(i * 64 + t) * 4 + j] = tile[i][t ^ 1][j];
}""")
    data = np.arange(1000, 1256, dtype=np.int32)
    out = Case(module, "k", 1, 64, np.zeros(6 * 256, np.int32), data).agree(arena).arrays[0].reshape(6, 64, 4)[:, T ^ 1]
    rows, j, t = data.reshape(64, 4), np.arange(4)[None], T[:, None]
    assert np.array_equal(out[0], rows)
    assert np.array_equal(out[1], np.where(j < t % 5, rows, 0))
    assert np.array_equal(out[2], np.where((t < 20) & (j < 2), rows, -9))
    assert np.array_equal(out[3], np.where(j == 1, np.where(t < 20, 0, rows[:, 2:3]), -9))
    assert np.array_equal(out[4], rows)
    assert np.array_equal(out[5], np.where(j < 3, rows, 0))


def test_registers_of_the_driver(cuda: Compile, arena: Arena) -> None:
    """Nothing is left for a driver in ``%envreg``; the reserved shared memory is behind the kernel's own and can be used."""
    module = cuda(r"""
__device__ unsigned long long* reserved() {
    unsigned long long p;
    asm("{ .reg .u32 s; .reg .u64 e; mov.u32 s, %%reserved_smem_offset_1; cvt.u64.u32 e, s; cvta.shared.u64 %0, e; }" : "=l"(p));
    return p ? (unsigned long long*)p : 0;
}
extern "C" __global__ void k(int* out) {
    __shared__ int mine[64];
    extern __shared__ int more[];
    int t = threadIdx.x, e, begin, end, cap, first;
    mine[t] = t; more[t] = 2 * t;
    if (t < 32) reserved()[t] = 3 * t;
    asm("mov.u32 %0, %%envreg2;" : "=r"(e));
    asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(begin));
    asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(end));
    asm("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(cap));
    asm("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(first));
    __syncthreads();
    out[t] = e + mine[t ^ 1] + more[t ^ 1] + (int)reserved()[t & 31];
    out[64 + t] = (end - begin == cap) + 2 * (first == begin) + 4 * (begin >= 256);
}""")
    out = Case(module, "k", 1, 64, np.zeros(128, np.int32), shared=256).agree(arena).arrays[0]
    assert out[:64].tolist() == (3 * (T ^ 1) + 3 * (T & 31)).tolist()
    assert set(out[64:].tolist()) == {7}


@pytest.mark.parametrize("ordering", ["relaxed", "acquire"])
def test_loads_that_wait_for_another_warp_end(cuda: Compile, arena: Arena, ordering: str) -> None:
    module = cuda(
        r"""
extern "C" __global__ void k(int* out, int* flag) {
    int seen = 0;
    if (threadIdx.x == 32) { out[32] = 6; asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory"); }
    if (threadIdx.x == 0) {
        while (!seen) asm volatile("ld.ORDER.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        out[0] = out[32] + seen;
    }
}""".replace("ORDER", ordering)
    )
    out = Case(module, "k", 1, 64, np.zeros(64, np.int32), np.zeros(1, np.int32)).agree(arena).arrays[0]
    assert out[0] == 7


def test_lanes_with_the_same_number_and_spaces(cuda: Compile, arena: Arena) -> None:
    module = cuda(r"""
extern "C" __global__ void k(unsigned* out) {
    __shared__ int mine;
    int local[2];
    unsigned t = threadIdx.x, a, b, c, d, e, s;
    asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(a) : "r"(t % 3));
    asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, -1; selp.u32 %1, 1, 0, p; }" : "=r"(b), "=r"(c) : "l"((long long)(t / 32)));
    asm volatile("redux.sync.max.u32 %0, %1, -1;" : "=r"(d) : "r"(t ^ 0x80000000));
    asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(e) : "r"(t - 20));
    local[t & 1] = t;
    asm volatile("{ .reg .pred p, q, r, z; isspacep.shared p, %1; isspacep.global q, %2; isspacep.local r, %3; isspacep.shared z, %2;"
                 " selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @r add.u32 %0, %0, 4; @z add.u32 %0, %0, 8; }"
                 : "=&r"(s) : "l"(&mine), "l"(out), "l"(&local[0]));
    out[t] = a; out[64 + t] = b; out[128 + t] = c; out[192 + t] = d; out[256 + t] = e; out[320 + t] = s + local[0] * 0;
}""")
    out = Case(module, "k", 1, 64, np.zeros(384, np.uint32)).agree(arena).arrays[0].reshape(6, 64)
    lanes = T % 32
    same = [sum(1 << int(k) for k in lanes[:32] if (k + t // 32 * 32) % 3 == t % 3) for t in T]
    assert out[0].tolist() == same
    assert out[1].tolist() == [0xFFFFFFFF] * 64 and out[2].tolist() == [1] * 64
    assert out[3].tolist() == [0x80000000 + 31] * 32 + [0x80000000 + 63] * 32
    assert out[4].view(np.int32).tolist() == [-20] * 32 + [12] * 32
    assert out[5].tolist() == [7] * 64
