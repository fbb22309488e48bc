"""nvcc's atomic functions with order and scope: values, and words that one warp waits for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Case

Compile = Callable[[str], Module]


def test_sums_extremes_and_exchanges(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(int *i, unsigned *u, float *f, double *d, long long *l) {
    int t = threadIdx.x;
    __nv_atomic_add(i, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_sub(i + 1, t, __NV_ATOMIC_ACQ_REL);
    __nv_atomic_fetch_max(i + 2, t - 40, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_min(u, t + 3, __NV_ATOMIC_RELAXED);
    __nv_atomic_or(u + 1, 1u << (t & 31), __NV_ATOMIC_SEQ_CST);
    __nv_atomic_xor(u + 2, t, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_and(u + 3, ~(unsigned)t, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_add(f, 0.5f, __NV_ATOMIC_RELAXED);
    if (t == 5) {
        __nv_atomic_store_n(f + 1, 7, __NV_ATOMIC_RELEASE);
        float was = __nv_atomic_exchange_n(f + 2, 2.5f, __NV_ATOMIC_RELAXED), now;
        __nv_atomic_load(f + 2, &now, __NV_ATOMIC_ACQUIRE);
        f[3] = was + now;
        d[0] = __nv_atomic_load_n(d + 1, __NV_ATOMIC_RELAXED) * 2;
        double seen = 3, want = 9;
        bool first = __nv_atomic_compare_exchange(d + 1, &seen, &want, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
        bool then = __nv_atomic_compare_exchange_n(d + 1, &seen, want, true, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
        l[0] = first + 2 * then;
        __nv_atomic_store_n(l + 1, -1, __NV_ATOMIC_RELAXED);
    }
}""")
    given = [
        np.zeros(3, np.int32),
        np.array([99, 0, 0, 255], np.uint32),
        np.ones(4, np.float32),
        np.array([0, 4.5]),
        np.zeros(2, np.int64),
    ]
    given[0][2] = -50
    i, u, f, d, wide = Case(module, "k", 1, 64, *given).agree(arena).arrays
    assert i.tolist() == [128, -sum(range(64)), 23]
    assert u.tolist() == [3, 0xFFFFFFFF, 0, 192]
    assert f.tolist() == [33, 7, 2.5, 3.5]
    assert d.tolist() == [9, 9] and wide.tolist() == [2, -1]


def test_a_warp_waits_for_a_word(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(int *out, int *flag) {
    if (threadIdx.x == 32) {
        out[1] = 6;
        __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED);
    }
    if (threadIdx.x == 0) {
        while (!__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE)) ;
        out[0] = out[1] + 1;
    }
}""")
    ran = Case(module, "k", 1, 64, np.zeros(2, np.int32), np.zeros(1, np.int32)).agree(arena)
    assert ran.arrays[0].tolist() == [7, 6]
