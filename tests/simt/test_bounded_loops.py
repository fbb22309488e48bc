"""A loop that a bound and something in memory end: it keeps its bound at each level (``docs/decisions/0017``)."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from tests.simt.harness import Case, cuda

LOOP = """extern "C" __global__ void k(int *q, const int *a, int n) {
    q += threadIdx.x * 16;
    n += threadIdx.x;
    for (int i = 0; i < (n & 15); i++) {
        q[i]++;
        if (i >= a[i]) break;
    }
}
"""
SUMS = """extern "C" __global__ void k(long long *q, const int *a, int n) {
    for (long i = 0; i < (long)(a[threadIdx.x] & 15); i++) {
        if (a[threadIdx.x] <= 9) q[threadIdx.x] += n;
        if (i >= (long)((unsigned long)i - (unsigned long)(long)a[threadIdx.x] + (unsigned long)(long)a[n & 15])) break;
    }
}
"""


@pytest.mark.parametrize("level", range(4))
def test_what_memory_holds_may_never_end_it(tmp_path_factory: pytest.TempPathFactory, level: int) -> None:
    module = cuda(LOOP, str(tmp_path_factory.getbasetemp()), level)
    for first_end in (3, 99):
        a = np.where(np.arange(16) < first_end, 100, 0).astype(np.int32)
        want = np.zeros((8, 16), np.int32)
        for t in range(8):
            last = min((5 + t) & 15, first_end + 1)
            want[t, :last] = 1
        with Arena() as arena:
            ran = Case(module, "k", 1, 8, np.zeros(128, np.int32), a, 5, budget=10_000).fast(arena)
        assert ran.fault is None
        np.testing.assert_array_equal(ran.arrays[0].reshape(8, 16), want)


@pytest.mark.parametrize("level", range(4))
def test_a_sum_with_the_counter_may_never_end_it(tmp_path_factory: pytest.TempPathFactory, level: int) -> None:
    module = cuda(SUMS, str(tmp_path_factory.getbasetemp()), level)
    a = np.arange(-3, 13, dtype=np.int32)
    for n in (0, 7, 15):
        turns = [own & 15 if a[n] > own else min(own & 15, 1) for own in a]
        want = [n * count if own <= 9 else 0 for own, count in zip(a, turns, strict=True)]
        with Arena() as arena:
            ran = Case(module, "k", 1, 16, np.zeros(16, np.int64), a, n, budget=10_000).fast(arena)
        assert ran.fault is None
        assert ran.arrays[0].tolist() == want
