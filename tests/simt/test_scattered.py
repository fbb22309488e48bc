"""Accesses at places that only the data know: results like the reference's, and costs counted by a model of one warp."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.examples import few
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]

THREADS = 64
ROOM = 4096
SOURCE = """
#define PLACE(base) (const float *)((const double *)((const char *)(base) + (long long)threadIdx.y * k) + pick[t])
#define T (threadIdx.y * blockDim.x + threadIdx.x)
extern "C" __global__ void global_(const char *a, const int *pick, const int *on, float *o, int k) {
  int t = T; if (on[t]) o[t] = *PLACE(a); }
extern "C" __global__ void shared_(const char *a, const int *pick, const int *on, float *o, int k) {
  __shared__ float s[1024]; int t = T;
  for (int i = t; i < 1024; i += 64) s[i] = ((const float *)a)[i];
  __syncthreads();
  if (on[t]) o[t] = s[(long long)threadIdx.y * (k / 4) + 2 * (long long)pick[t]]; }
extern "C" __global__ void near_(const char *a, const int *pick, const int *on, float *o, int k) {
  __shared__ float s[1024]; int t = T;
  for (int i = t; i < 1024; i += 64) s[i] = ((const float *)a)[i];
  __syncthreads();
  if (on[t]) o[t] = s[(long long)threadIdx.y * (k / 4) + pick[t]]; }
extern "C" __global__ void put_(const char *a, const int *pick, const int *on, float *o, int k) {
  __shared__ float s[1024]; int t = T;
  for (int i = t; i < 1024; i += blockDim.x * blockDim.y) s[i] = ((const float *)a)[i];
  __syncthreads();
  if (on[t]) s[(long long)threadIdx.y * (k / 4) + pick[t]] = -pick[t];
  __syncthreads();
  for (int i = t; i < 1024; i += blockDim.x * blockDim.y) o[i] = s[i]; }
extern "C" __global__ void local_(const char *a, const int *pick, const int *on, float *o, int k) {
  int t = T, seen[13];
  for (int i = 0; i < 13; i++) seen[i] = i * t;
  if (on[t]) o[t] = seen[pick[t] % 13]; }
extern "C" __global__ void atomics(const char *a, const int *pick, const int *on, int *o, int k) {
  int t = T; if (on[t]) { atomicAdd(&o[pick[t]], t); atomicExch(&o[pick[t] + 256], t); atomicMax(&o[pick[t] + 512], 9 - t);
    atomicMin(&o[pick[t] + 768], t - 9); atomicOr(&o[pick[t] + 1024], t); } }
extern "C" __global__ void rounds(const int *a, const int *pick, int *o, int n) {
  const int *b = a + 16;
  #pragma unroll 1
  for (int i = 0; i < n; i++) {
    int p = pick[i * 32 + threadIdx.x];
    if (p != -2) { int x = b[(unsigned long long)(unsigned)p]; if (p < 0) return; o[p] = x; atomicAdd(o + 1000, atomicAdd(&o[p + 256], 1)); atomicExch(&o[p + 768], x); } } }
"""
SHAPES = [(64, 1, 1), (16, 4, 1), (8, 8, 1), (5, 12, 1)]


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    """The kernels above, compiled."""
    return cuda(SOURCE)


@st.composite
def picks(draw: st.DrawFn) -> Array:
    """A number below 200 for each thread: any, few different ones, or one beside the other."""
    kind = draw(st.integers(0, 3))
    seed = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    if kind == 3:
        return (np.arange(THREADS) % draw(st.sampled_from([16, 32, 64])) + draw(st.integers(0, 99))).astype(np.int32)
    return seed.integers(0, (200, 16, 3)[kind], THREADS).astype(np.int32)


@st.composite
def masks(draw: st.DrawFn) -> Array:
    """Which threads take part."""
    likely = draw(st.sampled_from([0.05, 0.2, 0.5, 0.9, 1.0]))
    return (np.random.default_rng(draw(st.integers(0, 1 << 20))).random(THREADS) < likely).astype(np.int32)


def warps(on: Array, threads: int) -> Iterator[Array]:
    """The threads of each warp that take part, where some do."""
    for first in range(0, threads, 32):
        active = np.flatnonzero(on[first : min(first + 32, threads)]) + first
        if len(active):
            yield active


def turns(words: Array) -> int:
    """Turns that shared memory takes for so many words: of different ones in a bank, one after the other."""
    return max(np.unique(np.unique(words) % 32, return_counts=True)[1])


@settings(max_examples=few(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SHAPES), picks(), masks(), st.sampled_from([0, 4, 8, 12, 64, 68, 128]))
@example((16, 4, 1), np.arange(THREADS, dtype=np.int32) % 16, np.ones(THREADS, np.int32), 128)
def test_loads(module: Module, arena: Arena, shape: tuple[int, int, int], pick: Array, on: Array, k: int) -> None:
    threads = shape[0] * shape[1]
    y = np.arange(THREADS) // shape[0]
    for kernel in ("global_", "shared_", "near_", "local_"):
        data = np.arange(ROOM // 4).astype(np.float32)
        one = Case(module, kernel, 1, shape, data, pick, on, np.zeros(THREADS, np.float32), k)
        one.agree(arena, options=[SimtOptions(block=shape), SimtOptions(block=shape, inline=True)])
        for options in (SimtOptions(block=shape), SimtOptions(block=shape, inline=True), SimtOptions(block=None)):
            launch = one.fast(arena, options).launch
            start = arena.buffers[0].address
            place = k * y + (4 if kernel == "near_" else 8) * pick
            if kernel == "global_":
                asked = [a.index for a in launch.kernel.accesses if a.kind == "load" and a.space == 0][-1]
                found, want = (
                    launch.sectors[asked],
                    sum(len(set((start + place[w]) // 32)) for w in warps(on, threads)),
                )
            elif kernel in ("shared_", "near_"):
                asked = [a.index for a in launch.kernel.accesses if a.kind == "load" and a.space == 1][-1]
                found, want = launch.wavefronts[asked], sum(turns(place[w] // 4) for w in warps(on, threads))
            else:
                asked = [a.index for a in launch.kernel.accesses if a.kind == "load" and a.space == 2][-1]
                sectors = [
                    {(p, lane) for p, lane in zip(pick[w] % 13, w % 32 // 8, strict=True)} for w in warps(on, threads)
                ]
                found, want = launch.sectors[asked], sum(map(len, sectors))
            assert found == want, (kernel, options)


@settings(max_examples=few(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SHAPES), picks(), masks())
def test_atomics(module: Module, arena: Arena, shape: tuple[int, int, int], pick: Array, on: Array) -> None:
    nothing = np.zeros(1, np.int32)
    start = np.arange(1280, dtype=np.int32) % 7 - 3
    one = Case(module, "atomics", 1, shape, nothing, pick, on, start, 0)
    one.agree(arena, options=[SimtOptions(block=shape), SimtOptions(block=shape, inline=True)])
    launch = one.fast(arena, SimtOptions(block=shape)).launch
    taken = list(warps(on, shape[0] * shape[1]))
    place = arena.buffers[3].address + 4 * pick.astype(np.int64)
    for which, access in enumerate(a for a in launch.kernel.accesses if a.kind == "atomic"):
        sectors = sum(len(set((place[w] + 1024 * which) // 32)) for w in taken)
        again = sum(max(np.unique(pick[w], return_counts=True)[1]) - 1 for w in taken)
        assert (launch.sectors[access.index], launch.serial[access.index]) == (sectors, again), which


@st.composite
def lanes_of_rounds(draw: st.DrawFn) -> Array:
    """For each round of a warp and each lane of up to ten a place, in few different sectors; -2 for the others."""
    seed = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    pick = np.full((draw(st.integers(2, 8)), 32), -2, np.int32)
    for row in pick:
        lanes = seed.permutation(32)[: draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 7, 8, 8, 9]))]
        row[lanes] = 8 * seed.integers(0, draw(st.sampled_from([2, 10])), len(lanes)) + seed.integers(
            0, draw(st.sampled_from([1, 8])), len(lanes)
        )
    return pick


@settings(max_examples=few(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lanes_of_rounds(), st.integers(0, 31))
def test_few_lanes(module: Module, arena: Arena, pick: Array, stray: int) -> None:
    data, start = np.arange(200, dtype=np.int32) * 3, np.zeros(1024, np.int32)
    one = Case(module, "rounds", 1, 32, data, pick, start, len(pick))
    options = [SimtOptions(block=(32, 1, 1)), SimtOptions(block=(32, 1, 1), inline=True)]
    one.agree(arena, options=options)
    for option in options:
        launch = one.fast(arena, option).launch
        base, out = arena.buffers[0].address + 64, arena.buffers[2].address
        accesses = launch.kernel.accesses
        load, store = accesses[1], next(a for a in accesses if a.kind == "store")
        places = [row[row >= 0].astype(np.int64) for row in pick]
        for access, at in ((load, base), (store, out)):
            assert launch.sectors[access.index] == sum(len(set((at + 4 * p) // 32)) for p in places), option
        one_place = [np.zeros(len(p), np.int64) + 1000 for p in places]
        asked = ([p + 256 for p in places], one_place, [p + 768 for p in places])
        for words, access in zip(asked, (a for a in accesses if a.kind == "atomic"), strict=True):
            assert launch.sectors[access.index] == sum(len(set((out + 4 * w) // 32)) for w in words), option
            again = sum(max(np.unique(w, return_counts=True)[1]) - 1 for w in words)
            assert launch.serial[access.index] == again, option
    # The index has no sign: -1 is no place before the first.
    pick[-1, stray] = -1
    assert Case(module, "rounds", 1, 32, data, pick, start, len(pick)).agree(arena, options=options, faults=True).fault


@settings(max_examples=few(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((64, 1, 1), np.arange(THREADS, dtype=np.int32), np.ones(THREADS, np.int32), 0, 965)
@example((64, 1, 1), np.arange(THREADS, dtype=np.int32), np.ones(THREADS, np.int32), 0, -3)
@example((16, 4, 1), np.tile([0, *range(14, 0, -1), 15], 4).astype(np.int32), np.ones(THREADS, np.int32), 64, 0)
@given(
    st.sampled_from([*SHAPES, (32, 1, 1), (16, 1, 1)]),
    picks(),
    masks(),
    st.sampled_from([0, 64, 128, 256, 800]),
    st.integers(-3, 1000),
)
def test_stores_to_shared_memory(
    module: Module, arena: Arena, shape: tuple[int, int, int], pick: Array, on: Array, k: int, first: int
) -> None:
    """Only the words of active lanes change; no two have one place."""
    threads, data = shape[0] * shape[1], np.arange(1024).astype(np.float32)
    pick = (pick - pick.min() + first).astype(np.int32)
    place = k // 4 * (np.arange(THREADS) // shape[0]) + pick
    on = on & np.isin(np.arange(THREADS), np.unique(place, return_index=True)[1]) & (np.arange(THREADS) < threads)
    outside = np.any((on == 1) & ((place < 0) | (place >= 1024)))
    one = Case(module, "put_", 1, shape, data, pick, on.astype(np.int32), np.zeros(1024, np.float32), k)
    options = [SimtOptions(block=shape), SimtOptions(block=shape, inline=True)]
    assert (one.agree(arena, options=options, faults=True).fault is not None) == outside
    for option in options if not outside else ():
        launch = one.fast(arena, option).launch
        asked = [a.index for a in launch.kernel.accesses if a.kind == "store" and a.space == 1][-1]
        assert launch.wavefronts[asked] == sum(turns(place[w]) for w in warps(on, threads)), option
