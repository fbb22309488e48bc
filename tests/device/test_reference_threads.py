"""Barriers, warp operations, atomics and schedules of the reference executor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.errors import Misuse
from kernelwright.ir import Module
from tests.device.conftest import Launcher

Compile = Callable[[str], Module]
SCHEDULES = [Schedule.forward(), Schedule.reverse(), Schedule.random(1), Schedule.subwarp(8, 2)]
every_schedule = pytest.mark.parametrize("schedule", SCHEDULES, ids=str)


# -- barriers ----------------------------------------------------------------------------------------------------------


@every_schedule
def test_barriers_in_loops_order_writes_and_reads(compiled: Compile, launch: Launcher, schedule: Schedule) -> None:
    module = compiled("""
__global__ void rotate(int* out, int rounds) {
    __shared__ int a[96];
    int t = threadIdx.x;
    a[t] = t;
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        int v = a[(t + 1) % 96];
        __syncthreads();
        a[t] = v;
        __syncthreads();
    }
    out[t] = a[t];
}""")
    out = np.zeros(96, np.int32)
    assert launch(module, "rotate", 1, 96, out, 5, schedule=schedule).fault is None
    assert np.array_equal(out, (np.arange(96) + 5) % 96)


@every_schedule
def test_barrier_reductions(compiled: Compile, launch: Launcher, schedule: Schedule) -> None:
    module = compiled("""
__global__ void votes(int* out) {
    int t = threadIdx.x;
    out[t] = __syncthreads_count(t % 3 == 0);
    out[t + 100] = __syncthreads_and(t < 100);
    out[t + 200] = __syncthreads_and(t < 99);
    out[t + 300] = __syncthreads_or(t == 57);
    out[t + 400] = __syncthreads_or(t < 0);
}""")
    out = np.zeros(500, np.int32)
    assert launch(module, "votes", 1, 100, out, schedule=schedule).fault is None
    counts = out.reshape(5, 100)
    assert (counts[0] == 34).all() and (counts[1] != 0).all() and (counts[2] == 0).all()
    assert (counts[3] != 0).all() and (counts[4] == 0).all()


def test_exited_threads_do_not_hold_up_a_barrier(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void early(int* out, int n) {
    if (threadIdx.x >= n) return;
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}""")
    out = np.zeros(64, np.int32)
    result = launch(module, "early", 1, 64, out, 40)
    assert result.fault is None and result.exited_early
    assert np.array_equal(out[:40], np.arange(39, -1, -1))
    assert not launch(module, "early", 1, 64, out, 64).exited_early


def test_divergent_barriers_are_named_with_both_ends(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void bad(int* out) {
    if (threadIdx.x < 20) {
        out[0] = 1;
        __syncthreads();
        out[1] = 2;
    } else {
        out[2] = 3;
        __syncthreads();
        out[3] = 4;
    }
}""")
    fault = launch(module, "bad", 1, 64, np.zeros(4, np.int32)).fault
    assert fault is not None and fault.kind == "barrier" and fault.where is not None and fault.other is not None
    assert {fault.where.line, fault.other.line} == {5, 9}
    assert fault.thread == (0, 0, 0) and fault.other_thread == (20, 0, 0) and fault.block == (0, 0, 0)


def test_a_barrier_that_nobody_joins_is_a_fault(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void lost(int* out) {
    if (threadIdx.x == 0) asm volatile("bar.sync 1, 64;");
    __syncwarp();
    out[threadIdx.x] = 1;
}""")
    fault = launch(module, "lost", 1, 32, np.zeros(32, np.int32)).fault
    assert fault is not None and fault.kind == "barrier"


def test_named_barriers_with_counts(compiled: Compile, launch: Launcher) -> None:
    """A producer warp arrives and goes on; the consumer warp waits for it."""
    module = compiled("""
__global__ void pipe(int* out) {
    __shared__ int s[32];
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[threadIdx.x] = s[threadIdx.x];
    } else {
        s[threadIdx.x - 32] = threadIdx.x * 3;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
}""")
    out = np.zeros(32, np.int32)
    assert launch(module, "pipe", 1, 64, out).fault is None
    assert np.array_equal(out, np.arange(32, 64) * 3)


# -- warps -------------------------------------------------------------------------------------------------------------


def test_shuffles_follow_the_manual(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void shuffle(int* out, int delta, int width) {
    int t = threadIdx.x, v = t * 10;
    out[t] = __shfl_up_sync(~0u, v, delta, width);
    out[t + 32] = __shfl_down_sync(~0u, v, delta, width);
    out[t + 64] = __shfl_xor_sync(~0u, v, delta, width);
    out[t + 96] = __shfl_sync(~0u, v, delta + t, width);
}""")
    for delta in (0, 1, 3, 5, 16, 31):
        for width in (4, 8, 32):
            out = np.zeros(128, np.int32)
            assert launch(module, "shuffle", 1, 32, out, delta, width).fault is None
            t = np.arange(32)
            base = t // width * width
            up = np.where(t - delta >= base, t - delta, t)
            down = np.where(t + delta < base + width, t + delta, t)
            xor = np.where((t ^ delta) < base + width, t ^ delta, t)
            index = base + (delta + t) % width
            assert np.array_equal(out.reshape(4, 32), np.stack([up, down, xor, index]) * 10), (delta, width)


def test_shuffles_of_other_types(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void types(double* d, long long* l, float* f) {
    int t = threadIdx.x;
    d[t] = __shfl_xor_sync(~0u, t * 0.1, 1);
    l[t] = __shfl_down_sync(~0u, (long long)t << 40 | 5, 2);
    f[t] = __shfl_sync(~0u, t * 0.5f, 7);
}""")
    d, big, f = np.zeros(32), np.zeros(32, np.int64), np.zeros(32, np.float32)
    assert launch(module, "types", 1, 32, d, big, f).fault is None
    t = np.arange(32)
    assert np.array_equal(d, (t ^ 1) * 0.1) and (f == 3.5).all()
    assert np.array_equal(big, (np.where(t + 2 < 32, t + 2, t).astype(np.int64) << 40) | 5)


@every_schedule
def test_masks_wait_for_their_members_only(compiled: Compile, launch: Launcher, schedule: Schedule) -> None:
    """Two halves of a warp shuffle apart, in code that only they reach, and in different rounds."""
    module = compiled("""
__global__ void halves(int* out) {
    int t = threadIdx.x, v = t;
    unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
    for (int i = 0; i < (t < 16 ? 2 : 5); i++) {
        v += __shfl_xor_sync(mask, v, 1);
        __syncwarp(mask);
    }
    out[t] = v;
}""")
    out = np.zeros(32, np.int32)
    assert launch(module, "halves", 1, 32, out, schedule=schedule).fault is None
    expected = np.arange(32)
    first = expected + (np.arange(32) ^ 1)
    assert np.array_equal(out, np.where(np.arange(32) < 16, first * 2, first * 16))


def test_votes_and_matches(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void votes(unsigned* out) {
    int t = threadIdx.x;
    out[t] = __ballot_sync(~0u, t % 3 == 1);
    out[t + 32] = __all_sync(~0u, t < 32) * 2 + __all_sync(~0u, t < 31);
    out[t + 64] = __any_sync(~0u, t == 31) * 2 + __any_sync(~0u, t > 31);
    out[t + 96] = __match_any_sync(~0u, t / 5);
    int all;
    out[t + 128] = __match_all_sync(~0u, 7, &all) + all;
    out[t + 160] = __match_all_sync(~0u, t, &all) + all;
}""")
    out = np.zeros(192, np.uint32)
    assert launch(module, "votes", 1, 32, out).fault is None
    rows = out.reshape(6, 32)
    assert (rows[0] == sum(1 << t for t in range(32) if t % 3 == 1)).all()
    assert (rows[1] == 2).all() and (rows[2] == 2).all()
    assert rows[3].tolist() == [sum(1 << u for u in range(32) if u // 5 == t // 5) for t in range(32)]
    assert (rows[4] == 0).all() and (rows[5] == 0).all()  # all ones plus one wraps to zero; no match is zero


def test_absent_lanes_give_zero(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void partial(int* out) {
    int t = threadIdx.x;
    if (t >= 24) return;
    out[t] = __shfl_down_sync(~0u, t + 1, 4);
    out[t + 32] = __ballot_sync(~0u, 1);
}""")
    out = np.zeros(64, np.int32)
    assert launch(module, "partial", 1, 28, out).fault is None
    assert out[:24].tolist() == [t + 5 if t + 4 < 24 else 0 for t in range(24)]
    assert (out[32:56] == (1 << 24) - 1).all()


def test_reductions_of_a_warp(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void redux(int* out, const int* in) {
    int t = threadIdx.x, v = in[t];
    unsigned u = v;
    int* o = out + t * 8;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_min_sync(~0u, v);
    o[2] = __reduce_max_sync(~0u, v);
    o[3] = __reduce_min_sync(~0u, u);
    o[4] = __reduce_max_sync(~0u, u);
    o[5] = __reduce_and_sync(~0u, u);
    o[6] = __reduce_or_sync(~0u, u);
    o[7] = __reduce_xor_sync(~0u, u);
}""")
    values = np.random.default_rng(1).integers(-(2**31), 2**31, 32, dtype=np.int64).astype(np.int32)
    out = np.zeros((32, 8), np.int32)
    assert launch(module, "redux", 1, 32, out, values).fault is None
    u = values.view(np.uint32)
    expected = [
        np.add.reduce(values, dtype=np.int32),
        values.min(), values.max(), u.min().view(np.int32), u.max().view(np.int32),
        np.bitwise_and.reduce(values), np.bitwise_or.reduce(values), np.bitwise_xor.reduce(values),
    ]  # fmt: skip
    assert (out == np.array(expected, np.int32)).all()


def test_a_lane_outside_its_own_mask_is_a_fault(compiled: Compile, launch: Launcher) -> None:
    module = compiled("__global__ void bad(int* o) { o[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 0); }")
    fault = launch(module, "bad", 1, 32, np.zeros(32, np.int32)).fault
    assert fault is not None and fault.kind == "barrier" and "lane 16" in fault.message and fault.where
    assert fault.where.line == 1


def test_a_mask_that_waits_for_ever_is_a_fault(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void bad(int* o, int n) {
    __shared__ int s;
    if (threadIdx.x < n) o[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
    else { __syncthreads(); s = 1; }
    o[threadIdx.x] += s;
}""")
    fault = launch(module, "bad", 1, 32, np.zeros(32, np.int32), 4).fault
    assert fault is not None and fault.kind == "barrier" and fault.other is not None


def test_active_mask_sees_those_who_are_there(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void active(unsigned* out) {
    int t = threadIdx.x;
    if (t % 4 == 1) out[t] = __activemask();
    else out[t] = 0;
    out[t + 32] = __activemask();
}""")
    out = np.zeros(64, np.uint32)
    assert launch(module, "active", 1, 32, out).fault is None
    assert (out[1:32:4] == 0x22222222).all() and (out[32:] == 0xFFFFFFFF).all()


# -- atomics -----------------------------------------------------------------------------------------------------------


@every_schedule
def test_atomics_count_everybody_once(compiled: Compile, launch: Launcher, schedule: Schedule) -> None:
    module = compiled("""
__global__ void count(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&i[0], s);
    atomicSub(&i[1], t);
    atomicMax(&i[2], t * 7 % 101 - 50);
    atomicMin(&i[3], t * 7 % 101 - 50);
    atomicMax(&u[0], (unsigned)(t * 7 % 101 - 50));
    atomicAnd(&u[1], ~(1u << t % 32));
    atomicOr(&u[2], 1u << t % 20);
    atomicXor(&u[3], t);
    atomicInc(&u[4], 9);
    atomicDec(&u[5], 9);
    atomicAdd(&l[0], 1ull << 33);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    i[4 + t] = atomicExch(&u[6], t);
}""")
    n = 3 * 50
    i, u = np.zeros(4 + n, np.int32), np.array([0, 2**32 - 1, 0, 0, 0, 0, 12345], np.uint32)
    big, f, d = np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(1)
    assert launch(module, "count", 3, 50, i, u, big, f, d, schedule=schedule).fault is None
    t = np.arange(n)
    assert i[:4].tolist() == [n, -t.sum(), (t * 7 % 101 - 50).max(), (t * 7 % 101 - 50).min()]
    assert u[:6].tolist() == [2**32 - 1, 0, 2**20 - 1, np.bitwise_xor.reduce(t), n % 10, (-n) % 10]
    assert big[0] == n << 33 and f[0] == n / 2 and d[0] == n / 4
    assert sorted([*i[4:].tolist(), int(u[6])]) == sorted([*range(n), 12345])


@every_schedule
def test_compare_and_swap(compiled: Compile, launch: Launcher, schedule: Schedule) -> None:
    module = compiled("""
__global__ void product(unsigned long long* p, unsigned short* h) {
    unsigned long long old = *p, seen;
    do { seen = old; old = atomicCAS(p, seen, seen * 3); } while (old != seen);
    atomicCAS(h, (unsigned short)threadIdx.x, (unsigned short)(threadIdx.x + 1));
}""")
    p, h = np.ones(1, np.uint64), np.zeros(1, np.uint16)
    assert launch(module, "product", 1, 40, p, h, schedule=schedule).fault is None
    assert p[0] == 3**40 % 2**64
    if schedule.kind == "forward":
        assert h[0] == 40


def test_threads_that_spin_let_others_run(compiled: Compile, launch: Launcher) -> None:
    """Thread 0 waits for a flag that the last thread sets; block 0 for one that block 1 sets."""
    module = compiled("""
__global__ void wait(volatile int* flag) {
    if (threadIdx.x == 0 && blockIdx.x == 0) { while (!flag[0]); while (!flag[1]); flag[2] = 1; }
    if (threadIdx.x == 63 && blockIdx.x == 0) flag[0] = 1;
    if (blockIdx.x == 1) flag[1] = 1;
}""")
    flags = np.zeros(3, np.int32)
    assert launch(module, "wait", 2, 64, flags).fault is None
    assert flags.tolist() == [1, 1, 1]


def test_an_endless_loop_ends_with_a_fault(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void forever(volatile int* flag) {
    while (flag[0] == 0) flag[1] = flag[1] + 1;
}""")
    fault = launch(module, "forever", 1, 2, np.zeros(2, np.int32), budget=100_000).fault
    assert fault is not None and fault.kind == "endless" and fault.where is not None and fault.where.line == 3


# -- schedules ---------------------------------------------------------------------------------------------------------


def test_schedules_show_themselves_in_racy_kernels(compiled: Compile, launch: Launcher) -> None:
    module = compiled("__global__ void last(int* o) { o[0] = blockIdx.x * blockDim.x + threadIdx.x; }")
    seen = {}
    for schedule in SCHEDULES:
        out = np.zeros(1, np.int32)
        launch(module, "last", 2, 64, out, schedule=schedule)
        seen[str(schedule)] = int(out[0])
        again = np.zeros(1, np.int32)
        launch(module, "last", 2, 64, again, schedule=schedule)
        assert again[0] == out[0]
    assert seen["forward"] == 127 and seen["reverse"] == 0
    assert len(set(seen.values())) > 2


def test_orders_are_permutations_and_groups_partitions() -> None:
    for schedule in SCHEDULES:
        assert sorted(schedule.blocks(10)) == list(range(10))
        assert sorted(schedule.warps(3, 8)) == list(range(8))
        assert sorted(schedule.lanes(0, 0)) == list(range(32))
        groups = schedule.lane_groups(1, 2)
        assert sum(groups) == 2**32 - 1 and all(not a & b for a in groups for b in groups if a is not b)
        assert len(groups) == schedule.groups
    assert Schedule.random(1).blocks(50) != Schedule.random(2).blocks(50)
    assert str(Schedule.subwarp(4, 9)) == "subwarp(4, 9)"


@pytest.mark.parametrize("bad", [("sideways", 0, 1), ("subwarp", 0, 1), ("subwarp", 0, 3), ("forward", 0, 4)])
def test_impossible_schedules_are_refused(bad: tuple[str, int, int]) -> None:
    with pytest.raises(Misuse):
        Schedule(*bad)  # type: ignore[arg-type]
