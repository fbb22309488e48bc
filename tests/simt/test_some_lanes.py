"""Stores of some lanes of a warp, and words of short local arrays that lanes choose: nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.examples import few
from tests.simt.harness import Array, Case
from tests.simt.test_scattered import SHAPES, THREADS, masks, picks, warps

Compile = Callable[[str], Module]

SOURCE = """
#define T (threadIdx.y * blockDim.x + threadIdx.x)
extern "C" __global__ void short_(const int *pick, const int *on, int *o, int k) {
  int t = T, seen[8];
  for (int i = 0; i < 8; i++) seen[i] = i * t;
  if (on[t]) seen[pick[t] & 7] = k;
  if (on[63 - t]) seen[pick[t] >> 2 & 7] = k + t;
  o[t] = seen[pick[t] >> 1 & 7], o[t + 64] = seen[pick[63 - t] & 7]; }
extern "C" __global__ void any_(const int *pick, const int *on, float *o, int k) {
  int t = T; float other[2], seen[4];
  other[on[t] & 1] = k, other[on[t + 64] & 1] = t;
  for (int i = 0; i < 4; i++) seen[i] = i * t;
  if (on[t]) seen[pick[t]] = k;
  o[t] = seen[(unsigned long long)(unsigned)pick[t + 64]] + other[on[t] & 1]; }
extern "C" __global__ void rows(const int *pick, const int *on, int *o, int k) {
  __shared__ int s[72]; __shared__ double d[72]; int t = T;
  for (int i = t; i < 72; i += 64) s[i] = -i, d[i] = -i;
  __syncthreads();
  if (on[t] && t + k < 72) s[t + k] = t, d[t + k] = 2 * t;
  __syncthreads();
  for (int i = t; i < 72; i += 64) o[i] = s[i] + 1000 * (int)d[i];
  if (on[t]) o[t + 80] = t;
  if (on[t] > k % 2) o[3 * t + 160] = t, ((short *)o)[5 * t + 800] = t, ((long long *)o)[2 * t + 400] = t; }
extern "C" __global__ void steps(const int *pick, const int *on, float *o, int k) {
  __shared__ float s[100]; __shared__ double d[100]; int t = T;
  for (int i = t; i < 100; i += 64) s[i] = i + 1, d[i] = i + 2;
  __syncthreads();
  float x = -1;
  if (on[t]) x = s[k + 3 * t] + (float)d[99 - k - 3 * t];
  o[t] = x, o[t + 64] = s[t] + s[63 - t]; }
extern "C" __global__ void far(const int *pick, const int *on, float *o, int k) {
  __shared__ float s[100]; int t = T;
  for (int i = t; i < 100; i += 64) s[i] = i + 1;
  __syncthreads();
  if (on[t]) o[t] = s[k + (t << 18)]; }
"""


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    """The kernels above, compiled."""
    return cuda(SOURCE)


@settings(max_examples=few(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SHAPES), picks(), masks())
def test_words_of_short_arrays(
    module: Module, arena: Arena, shape: tuple[int, int, int], pick: Array, on: Array
) -> None:
    one = Case(module, "short_", 1, shape, pick, on, np.zeros(128, np.int32), 77)
    one.agree(arena)
    for options in (SimtOptions(block=shape), SimtOptions(block=shape, inline=True)):
        launch = one.fast(arena, options).launch
        chosen = [a for a in launch.kernel.accesses if a.space == 2 and str(a.form.get("coefficient")) == "4"]
        threads, every = shape[0] * shape[1], np.ones(THREADS, np.int32)
        # Of rows of 5 threads nothing is known that would tell these accesses from others.
        assert len(chosen) == (4 if 32 % shape[0] == 0 or shape[0] % 32 == 0 else 0)
        words = ((pick & 7, on), (pick >> 2 & 7, on[::-1]), (pick >> 1 & 7, every), (pick[::-1] & 7, every))
        for access, (word, who) in zip(chosen, words, strict=False):
            want = sum(len(set(zip(word[w], w % 32 // 8, strict=True))) for w in warps(who, threads))
            assert launch.sectors[access.index] == want, (access.kind, options)


@settings(max_examples=few(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((64, 1, 1), np.ones(THREADS, np.int32), THREADS + 5, -1)
@given(st.sampled_from(SHAPES), masks(), st.integers(0, 2 * THREADS - 1), st.sampled_from([-9, -1, 3, 4, 1 << 30]))
def test_words_outside(
    module: Module, arena: Arena, shape: tuple[int, int, int], on: Array, thread: int, word: int
) -> None:
    pick = np.arange(2 * THREADS, dtype=np.int32) % 4
    pick[thread] = word
    both = np.concatenate([on, on[::-1]])
    want = Case(module, "any_", 1, shape, pick, both, np.zeros(THREADS, np.float32), 77).agree(arena, faults=True)
    # Before an array lies another one; an index without a sign does not lead there.
    inside = word == 3 or (word == -1 and thread < THREADS)
    runs = thread % THREADS < shape[0] * shape[1] and bool(thread >= THREADS or on[thread])
    assert (want.fault is None) == (inside or not runs)


@st.composite
def runs(draw: st.DrawFn) -> Array:
    """Of each 8 or 16 threads those from one on to another."""
    size = draw(st.sampled_from([8, 16]))
    ends = np.array([sorted(draw(st.tuples(*[st.integers(0, size)] * 2))) for _ in range(THREADS // size)])
    place = np.arange(THREADS)
    return ((ends[place // size, 0] <= place % size) & (place % size < ends[place // size, 1])).astype(np.int32)


@settings(max_examples=few(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([*SHAPES, (16, 1, 1), (32, 1, 1)]), st.one_of(masks(), runs()), st.integers(0, 40))
def test_rows_under_a_mask(module: Module, arena: Arena, shape: tuple[int, int, int], on: Array, k: int) -> None:
    Case(module, "rows", 1, shape, np.zeros(1, np.int32), on, np.zeros(1200, np.int32), k).agree(arena)


@settings(max_examples=few(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((64, 1, 1), np.arange(THREADS) < 20, -31, True)
@example((64, 1, 1), np.arange(THREADS) > 60, -90, False)
@given(
    st.sampled_from([*SHAPES, (16, 1, 1), (32, 1, 1)]),
    st.one_of(masks(), runs()),
    st.integers(-100, 100),
    st.booleans(),
)
def test_steps_in_shared_memory(
    module: Module, arena: Arena, shape: tuple[int, int, int], on: Array, k: int, inside: bool
) -> None:
    place = k + 3 * np.arange(THREADS)
    on = (on & (place >= 0) & (place < 100)).astype(np.int32) if inside else on.astype(np.int32)
    one = Case(module, "steps", 1, shape, np.zeros(1, np.int32), on, np.zeros(2 * THREADS, np.float32), k)
    # The two arrays lie beside each other: outside of one may be inside the other.
    want = one.agree(arena, faults=not inside)
    assert want.fault is None or want.fault.kind == "out-of-bounds"


def test_steps_far_apart(module: Module, arena: Arena) -> None:
    """Where inactive lanes would be is no memory at all."""
    on = (np.arange(THREADS) == 0).astype(np.int32)
    Case(module, "far", 1, THREADS, np.zeros(1, np.int32), on, np.zeros(THREADS, np.float32), 99).agree(arena)
