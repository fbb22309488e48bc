"""One launch on several cores: the same memory, counters and faults as on one, and one order where order matters."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.launching import spread
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.examples import few
from tests.simt.harness import Case, Run

Compile = Callable[[str], Module]
FREE = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) { int i = I; if (i < n) y[i] = a * x[i] + y[i]; }
extern "C" __global__ void product(float *c, const float *a, const float *b, int n) {
  int x = I, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  if (x >= n || y >= n) return;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}
extern "C" __global__ void sums(float *out, const float *in, int n) {
  __shared__ float part[64];
  float sum = 0;
  for (int i = I; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  for (int s = 32; s; s /= 2) { __syncthreads(); if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s]; }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ void strided(int *out, int n) { for (int i = I; i < n; i += gridDim.x * blockDim.x) out[i] = 3 * i; }
extern "C" __global__ void planes(int *out, int n, int depth) { int i = I; if (i < n) for (int k = 0; k < depth; k++) out[k * n + i] += k; }
extern "C" __global__ void rows(float *m, int n) {
  int r = I;
  if (r < n) for (int k = 1; k < n; k++) m[r * n + k] += m[r * n + k - 1];
}
extern "C" __global__ void turned(int *out, const int *in, int w, int h) { int i = I; if (i < w * h) out[i % w * h + i / w] = in[i]; }
extern "C" __global__ void bins(unsigned *count, const int *in, int n) { int i = I; if (i < n) atomicAdd(&count[in[i] & 15], 1u); }
extern "C" __global__ void largest(int *most, const int *in, int n) { int i = I; if (i < n) atomicMax(most, in[i]); }
extern "C" __global__ void marks(char *mark, const int *in, int n) { int i = I; if (i < n) mark[in[i] & 63] = 1; }
struct Shape { int w, h; float scale; };
extern "C" __global__ void shaped(float *out, const float *in, Shape s) {
  int x = I, y = blockIdx.y;
  if (x < s.w && y < s.h) out[y * s.w + x] = in[y * s.w + x] * s.scale;
}
extern "C" __global__ void pairs(float2 *out, const float2 *in, int n) {
  __shared__ float2 mine[64];
  mine[threadIdx.x] = in[I % n];
  __syncthreads();
  if (I < n) out[I] = mine[63 - threadIdx.x];
}
extern "C" __global__ void tiles(float *after, const float *before, int n, int turns) {
  __shared__ float now[64];
  const int inner = 64 - 2 * turns, tx = threadIdx.x, at = (int)blockIdx.x * inner - turns + tx;
  bool known = at >= 0 && at < n;
  if (known) now[tx] = before[at];
  __syncthreads();
  for (int k = 0; k < turns; k++) {
    float next = 0;
    known = at > 0 && at < n - 1 && tx > k && tx < 63 - k;
    if (known) next = now[tx - 1] + now[tx] + now[tx + 1];
    __syncthreads();
    if (known) now[tx] = next;
    __syncthreads();
  }
  if (known) after[at] = now[tx];
}
extern "C" __global__ void bytes(char *out, int n) { int i = I; if (i < n) out[i] = i * 7; }
extern "C" __global__ void parity(int *out, const int *in, int n) {
  int i = I;
  bool odd = false;
  for (int k = 0; k < n; k++) odd ^= in[k] > 0;
  out[2 * i + odd] = i;
}
"""
ORDERED = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void shifted(int *a, int n) { int i = I; if (i + 1 < n) a[i] = a[i + 1] * 3 + a[i]; }
extern "C" __global__ void scattered(int *a, const int *in, int n) { int i = I; if (i < n) a[in[i] & 63] = i; }
extern "C" __global__ void tickets(int *a, int *next, int n) { int i = I; if (i < n) a[i] = atomicAdd(next, 1); }
extern "C" __global__ void floats(float *a, const float *in, int n) { int i = I; if (i < n) atomicAdd(a, in[i] * 1.1f); }
extern "C" __global__ void swapped(int *a, int n) { int i = I; if (i < n) atomicExch(&a[i & 7], i); }
extern "C" __global__ void watched(volatile int *a, int n) { int i = I; if (i < n) a[i] = a[0] + 1; }
extern "C" __global__ void printed(int *a, int n) { int i = I; if (i < n && i % 40 == 0) printf("%d\\n", a[i]++); }
extern "C" __global__ void timed(long long *a, int n) { int i = I; if (i < n) a[i] = clock64(); }
extern "C" __global__ void summed(int *a, const int *in, int n) { int i = I; if (i < n) { a[n] = i; a[i] += a[n]; } }
extern "C" __global__ void both(int *a, int n) { int i = I; if (i < n) { atomicAdd(&a[i & 7], i); if (i % 3 == 0) atomicMax(&a[i & 7], i); } }
extern "C" __global__ void halo(int *out, const int *in, int n) {
  int i = blockIdx.x * (blockDim.x - 2) + threadIdx.x;
  if (i < n) out[i] = in[i] + blockIdx.x;
}
"""


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches are spread however short they are."""
    monkeypatch.setattr(spread, "WORTH", spread.ALWAYS)


def launches(case: Case, options: SimtOptions) -> int:
    """How many were spread."""
    return case.compiled(options).spread


def alike(
    case: Case, arena: Arena, cores: tuple[int, ...] = (2, 3), options: SimtOptions | None = None, **more: Any
) -> Run:
    """The run on one core, of which those on more differ in nothing."""
    options = options or SimtOptions(block=case.block)
    want = case.fast(arena, options, **more)
    for n in cores:
        got = case.fast(arena, options, cores=n, **more)
        for a, b in zip(want.arrays, got.arrays, strict=True):
            assert a.tobytes() == b.tobytes()
        same(want, got)
    return want


def same(want: Run, got: Run) -> None:
    a, b = want.launch, got.launch
    assert a.fault == b.fault
    assert (a.printed, a.blocks_done, a.budget_left) == (b.printed, b.blocks_done, b.budget_left)
    assert a.raw_counts == b.raw_counts
    noted = [
        name for name in a.sites.dtype.names or () if name not in ("access", "reserved")
    ]  # where this process keeps its table
    assert a.sites[noted].tolist() == b.sites[noted].tolist()
    assert a.overreads == b.overreads


def numbers(n: int, seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-1000, 1000, n).astype(np.int32)


def reals(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(2).random(n, np.float32)


FREE_CASES = [
    ("saxpy", 40, 64, (reals(2500), reals(2500), 1.5, 2500)),
    ("product", (3, 11, 1), (16, 4, 1), (np.zeros(43 * 43, np.float32), reals(43 * 43), reals(43 * 43), 43)),
    ("sums", 9, 64, (np.zeros(9, np.float32), reals(5000), 5000)),
    ("strided", 7, 64, (np.zeros(3000, np.int32), 3000)),
    ("planes", 12, 32, (numbers(370 * 5), 370, 5)),
    ("rows", 5, 32, (reals(130 * 130), 130)),
    ("turned", 12, 32, (np.zeros(19 * 20, np.int32), numbers(19 * 20), 19, 20)),
    ("bins", 12, 64, (np.zeros(16, np.uint32), numbers(700), 700)),
    ("largest", 12, 64, (np.zeros(1, np.int32), numbers(700), 700)),
    ("marks", 12, 64, (np.zeros(64, np.int8), numbers(700), 700)),
    ("shaped", (3, 13, 1), 32, (np.zeros(80 * 13, np.float32), reals(80 * 13), struct.pack("<iif", 80, 13, 1.5))),
    ("pairs", 12, 64, (np.zeros(1400, np.float32), reals(1400), 700)),
    ("tiles", 13, 64, (np.zeros(700, np.float32), reals(700), 700, 3)),
    ("bytes", 12, 50, (np.zeros(600, np.int8), 599)),
    ("parity", 12, 32, (np.zeros(800, np.int32), numbers(9), 9)),
]


@pytest.mark.parametrize(("name", "grid", "block", "arguments"), FREE_CASES, ids=[c[0] for c in FREE_CASES])
def test_blocks_that_do_not_meet_are_spread(
    arena: Arena, cuda: Compile, name: str, grid: Any, block: Any, arguments: tuple[Any, ...]
) -> None:
    case = Case(cuda(FREE), name, grid, block, *arguments)
    for options in case.variants()[:2]:
        alike(case, arena, options=options)
        assert launches(case, options) == 2


ORDERED_CASES = [
    ("shifted", (numbers(700), 700)),
    ("scattered", (np.zeros(64, np.int32), numbers(700), 700)),
    ("tickets", (np.zeros(700, np.int32), np.zeros(1, np.int32), 700)),
    ("floats", (np.zeros(1, np.float32), reals(700), 700)),
    ("swapped", (np.zeros(8, np.int32), 700)),
    ("watched", (numbers(700), 700)),
    ("printed", (numbers(700), 700)),
    ("timed", (np.zeros(700, np.int64), 700)),
    ("summed", (numbers(701), numbers(700), 700)),
    ("both", (numbers(8), 700)),
    ("halo", (np.zeros(800, np.int32), numbers(800), 660)),
]


@pytest.mark.parametrize(("name", "arguments"), ORDERED_CASES, ids=[c[0] for c in ORDERED_CASES])
def test_blocks_that_may_meet_keep_their_order(
    arena: Arena, cuda: Compile, name: str, arguments: tuple[Any, ...]
) -> None:
    case = Case(cuda("#include <stdio.h>\n" + ORDERED), name, 11, 64, *arguments)
    options = SimtOptions(block=case.block)
    alike(case, arena, options=options)
    assert launches(case, options) == 0


STRAY = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void reads(int *out, const int *in, const long long *at, int n) { int i = I; if (i < n) out[i] = in[at[i]] + i; }
extern "C" __global__ void writes(int *out, int *other, const long long *at, int n) {
  int i = I;
  if (i < n) for (long long k = i; k <= at[i]; k += n) out[k] = other[i] + i;
}
"""


def test_a_read_that_strays_into_what_others_write(arena: Arena, cuda: Compile) -> None:
    """Through ``in`` it reads ``out``, which an earlier block has written or has not: only in order it is known which."""
    n = 640
    case = Case(cuda(STRAY), "reads", 10, 64, np.zeros(n, np.int32), numbers(n), np.zeros(n, np.int64), n)
    _, buffers, _, _ = case._memory(arena)
    apart = (buffers[0][0].address - buffers[1][0].address) // 4
    at = np.arange(n, dtype=np.int64)
    at[300:] = apart + (np.arange(300, n) * 7) % n
    case = Case(case.module, "reads", 10, 64, np.zeros(n, np.int32), numbers(n), at, n)
    run = alike(case, arena)
    assert run.launch.fault is None and launches(case, SimtOptions(block=case.block)) == 0
    assert case.compiled(SimtOptions(block=case.block))._spreading.is_off
    within = Case(case.module, "reads", 10, 64, np.zeros(n, np.int32), numbers(n), at % 300, n)
    alike(within, arena)
    assert launches(within, SimtOptions(block=case.block)) == 2


def test_reads_past_a_buffer_are_told_as_on_one_core(arena: Arena, cuda: Compile) -> None:
    at = np.arange(640, dtype=np.int64)
    at[500:] += 200
    case = Case(cuda(STRAY), "reads", 10, 64, np.zeros(640, np.int32), numbers(640), at, 640)
    run = alike(case, arena, overread=0)
    assert len(run.launch.overreads) == 1 and run.launch.fault is None


FAULTS = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void traps(int *a, int n, int first) { int i = I; if (i < n) { a[i] = i; if (i >= first && i % 50 == 0) __trap(); } }
extern "C" __global__ void leaves(int *a, int n, int first) { int i = I; if (i < n) a[i >= first ? i + 100000 : i] = i; }
extern "C" __global__ void ends(int *a, int n, int first) { int i = I; if (i < n) { a[i] += i; while (i >= first && a[i] != -1) { a[i] = (a[i] * 5 + i) & n; asm volatile("" ::: "memory"); } } }
extern "C" __global__ void waits(int *a, int n, int first) {
  int i = I;
  if (i < first || threadIdx.x < 40) { a[i] = i; __syncthreads(); a[i] += 5; } else { a[i] *= 3; __syncthreads(); a[i]++; }
}
extern "C" __global__ void skewed(char *a, int n, int first) { int i = I; if (i < n) *(int *)(a + 4 * i + (i >= first)) = i; }
"""


@pytest.mark.parametrize("first", [0, 70, 300, 639])
@pytest.mark.parametrize("name", ["traps", "leaves", "ends", "waits", "skewed"])
def test_the_first_fault_in_the_order_of_blocks(arena: Arena, cuda: Compile, name: str, first: int) -> None:
    case = Case(cuda(FAULTS), name, 10, 64, numbers(640), 640, first, budget=20000)
    run = alike(case, arena)
    assert run.launch.fault is not None or (name, first) == ("traps", 639)


def test_a_budget_that_all_blocks_use_up_together(arena: Arena, cuda: Compile) -> None:
    """No block is endless; but each round of a loop counts."""
    arguments = (numbers(370 * 50), 370, 50)
    spent = Case(cuda(FREE), "planes", 12, 32, *arguments, budget=10_000)
    left = alike(spent, arena).launch.budget_left
    assert left > 0
    for budget in (10_000 - left, 10_000 - left - 1, 40):
        run = alike(Case(spent.module, "planes", 12, 32, *arguments, budget=budget), arena)
        assert (run.launch.fault is None) == (budget == 10_000 - left)


def test_a_launch_that_is_stopped(arena: Arena, cuda: Compile) -> None:
    case = Case(cuda(FAULTS), "ends", 10, 64, numbers(640), 640, 130, budget=1 << 50)
    kernel = case.compiled()
    begin = time.monotonic()

    def stop() -> None:
        while kernel.stop():
            time.sleep(0.05)

    timer = threading.Timer(0.3, stop)
    timer.start()
    run = case.fast(arena, cores=2)
    timer.join()
    assert run.launch.fault is not None and run.launch.fault.kind == "endless" and time.monotonic() - begin < 5


INDEX = """
extern "C" __global__ void k(int *out, const int *in, int bx, int by, int tx, int ty, int more, int n, int turns, int below) {
  int i = bx * blockIdx.x + by * blockIdx.y + tx * threadIdx.x + ty * threadIdx.y;
  for (int k = 0; k < turns; k++) {
    int at = i + k * more;
    if (at < below) out[at] = out[at] * 3 + in[(at + k) % n] + blockIdx.x + 5 * blockIdx.y;
  }
}
"""


@settings(max_examples=few(60), deadline=None)
@given(
    st.tuples(*[st.sampled_from([0, 1, 2, 4, 5, 8, 20, 32, 33, 64, 128, 160])] * 5),
    st.tuples(st.integers(1, 5), st.integers(1, 4)),
    st.integers(0, 3),
    st.integers(1, 4000),
)
def test_random_places(
    arena: Arena, cuda: Compile, factors: tuple[int, ...], grid: tuple[int, int], turns: int, below: int
) -> None:
    """Where threads of two blocks come to one place by brute force, the launch must not have been spread."""
    size = 4000
    case = Case(
        cuda(INDEX), "k", (*grid, 1), (8, 4, 1), numbers(size), numbers(size, 3), *factors, size, turns, below
    )  # fmt: skip
    alike(case, arena, (2,))
    if not launches(case, SimtOptions(block=case.block)):
        return
    owners: dict[int, set[tuple[int, int]]] = {}
    bx, by, tx, ty, more = factors
    for block in np.ndindex(grid):
        for x, y, k in np.ndindex(8, 4, max(turns, 1)):
            at = bx * block[0] + by * block[1] + tx * x + ty * y + k * more
            if at < below and turns:
                owners.setdefault(at, set()).add((block[0], block[1]))
    assert all(len(each) == 1 for each in owners.values())


HALO = """
extern "C" __global__ void k(int *out, const int *in, int stride, int lead, int low, int high, int turns, int n) {
  int tx = threadIdx.x, at = (int)blockIdx.x * stride - lead + tx;
  bool known = at >= 0 && at < n;
  for (int k = 0; k < turns; k++) {
    known = at >= 0 && at < n && tx > k + low && tx < high - k;
    __syncthreads();
  }
  if (known) out[at] = in[at] + blockIdx.x;
}
"""


@settings(max_examples=few(60), deadline=None)
@given(
    st.integers(1, 34),
    st.integers(0, 5),
    st.integers(-1, 6),
    st.integers(24, 33),
    st.integers(0, 4),
    st.integers(1, 200),
)
def test_random_halos(
    arena: Arena, cuda: Compile, stride: int, lead: int, low: int, high: int, turns: int, n: int
) -> None:
    """Tiles that overlap, of which some threads store: known from the last turn of a loop."""
    case = Case(cuda(HALO), "k", 6, 32, numbers(200), numbers(200, 3), stride, lead, low, high, turns, n)
    alike(case, arena, (2,))
    owners: dict[int, set[int]] = {}
    for block, tx in np.ndindex(6, 32):
        at, k = block * stride - lead + tx, turns - 1
        if 0 <= at < n and (not turns or k + low < tx < high - k):
            owners.setdefault(at, set()).add(block)
    if launches(case, SimtOptions(block=case.block)):
        assert all(len(each) == 1 for each in owners.values())
    elif turns and all(len(each) == 1 for each in owners.values()):
        assert min(high - turns + 1, 32) - max(low + turns, 0) > stride or n < stride * 5, "it could have been spread"
