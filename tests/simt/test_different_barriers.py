"""Warps of a block that wait for each other at different barriers: a GPU counts who has come, and both executors do where that is let
pass. The results are those of one barrier in the place of all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.launching import spread
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.reference.race_watch import Watch as ReferenceWatch
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from kernelwright.ir.debug import source_location
from kernelwright.ir.module import Instruction
from tests.examples import few
from tests.simt.harness import Case, Run

Array = npt.NDArray[np.int32]
Compile = Callable[[str], Module]
SOURCE = """
#define T (threadIdx.y * 32 + threadIdx.x)
#define HERE(which) asm volatile("bar.sync 0; // " which ::: "memory")
// which: for each round and warp, at which of three barriers the warp waits; last: the round behind which it ends.
extern "C" __global__ void handed_on(const int *which, const int *last, int *o, int rounds) {
  __shared__ int turn[128];
  int w = threadIdx.y, t = T;
  turn[t] = t + 1;
  __syncthreads();
  for (int k = 0; k < rounds && k < last[w]; k++) {
    int next = turn[(t + 32) % 128];
    switch (which[2 * k * 4 + w]) {
      case 0: HERE("first"); break;
      case 1: HERE("second"); break;
      default: o[128] = 1; HERE("third");
    }
    turn[t] = next * 3 + k;
    if (which[(2 * k + 1) * 4 + w]) HERE("fourth");
    else { o[129] = 1; HERE("fifth"); }
  }
  o[t] = turn[t];
}
extern "C" __global__ void two(int *o, int threads) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < threads) {
    __syncthreads();
    o[t] = s[63 - t];
    return;
  }
  o[64] = 1;
  __syncthreads();
  o[t] = 2 * s[63 - t];
}
extern "C" __global__ void rows(int *o, int threads) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t + blockIdx.x;
  if (t < threads) __syncthreads();
  else asm volatile("bar.sync 0; // another" ::: "memory");
  o[blockIdx.x * 64 + t] = s[63 - t];
}
extern "C" __global__ void mixed(int *o, int kind) {
  int w = threadIdx.x / 32;
  if (kind == 0) { if (w) __syncthreads(); else o[0] = __syncthreads_count(1); }
  else if (kind == 1) { if (w) o[1] = __syncthreads_or(1); else o[0] = __syncthreads_and(1); }
  else { if (w) asm volatile("bar.sync 1;" ::: "memory"); else __syncthreads(); }
  o[2] = 3;
}
"""
BLOCK = (32, 4, 1)


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    return cuda(SOURCE)


def expected(last: list[int], rounds: int) -> Array:
    """What ``handed_on`` leaves, by NumPy: threads that have ended have left their word as it was."""
    turn = np.arange(1, 129)
    for k in range(rounds):
        runs = np.repeat(np.array(last) > k, 32)
        turn = np.where(runs, np.roll(turn, -32) * 3 + k, turn)
    return turn.astype(np.int32)


def lines(met: tuple[Instruction | None, ...]) -> list[int]:
    places = [source_location(one) for one in met if one is not None]
    return [place.line for place in places if place is not None]


def both(
    case: Case, arena: Arena, options: SimtOptions | None = None, schedule: Schedule | None = None
) -> tuple[Run, Run]:
    return case.reference(arena, schedule, overread=0), case.fast(arena, options, schedule, overread=0)


@settings(max_examples=few(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_results_are_those_of_one_barrier(module: Module, arena: Arena, data: st.DataObject) -> None:
    rounds = data.draw(st.integers(0, 4))
    which = np.array(data.draw(st.lists(st.integers(0, 2), min_size=8 * rounds, max_size=8 * rounds)), np.int32)
    which = np.where(np.arange(len(which)) // 4 % 2 == 1, which > 0, which).astype(np.int32)
    last = data.draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
    case = Case(
        module,
        "handed_on",
        3,
        BLOCK,
        np.append(which, 0).astype(np.int32),
        np.array(last, np.int32),
        np.zeros(130, np.int32),
        rounds,
    )
    options = data.draw(st.sampled_from(case.variants()))
    schedule = Schedule("random", 3) if data.draw(st.booleans()) else None
    want, found = both(case, arena, options, schedule)
    assert want.fault is None and found.fault is None
    assert np.array_equal(want.arrays[2], found.arrays[2])
    assert np.array_equal(found.arrays[2][:128], expected(last, rounds))
    assert lines(want.reference.met) == lines(found.launch.met)
    rows = which.reshape(-1, 4)
    together = [{int(row[w]) for w in range(4) if last[w] > k // 2} for k, row in enumerate(rows)]
    assert bool(found.launch.met) == any(len(places) > 1 for places in together)


@pytest.mark.parametrize("threads", [0, 1, 31, 32, 33, 63, 64])
def test_lanes_of_a_warp_are_at_one_barrier(module: Module, arena: Arena, threads: int) -> None:
    case = Case(module, "two", 5, 64, np.zeros(65, np.int32), threads)
    t = np.arange(64)
    for options in case.variants():
        want, found = both(case, arena, options)
        if threads % 32:
            assert want.fault and found.fault and want.fault.kind == found.fault.kind == "barrier"
            continue
        assert want.fault is None and found.fault is None
        assert np.array_equal(found.arrays[0][:64], np.where(t < threads, 63 - t, 2 * (63 - t)))
        assert np.array_equal(want.arrays[0], found.arrays[0])
        assert bool(found.launch.met) == (threads == 32) and found.launch.blocks_done == 5
        if threads == 32:
            texts = [SOURCE.splitlines()[line - 1].strip() for line in lines(found.launch.met)]
            assert texts == ["__syncthreads();"] * 2 and len(set(lines(found.launch.met))) == 2


def test_it_is_a_fault_where_nothing_is_let_pass_and_where_it_is_checked(module: Module, arena: Arena) -> None:
    case = Case(module, "two", 2, 64, np.zeros(65, np.int32), 32)
    for watch in (None, Watch(races=True, unwritten=True)):
        for byte in (None, 0) if watch else (None,):
            assert case.fast(arena, overread=byte, watch=watch).fault.kind == "barrier"
    assert case.reference(arena).fault.kind == "barrier"
    assert case.reference(arena, overread=0, watch=ReferenceWatch()).fault.kind == "barrier"


@pytest.mark.parametrize("kind", range(3))
def test_barriers_of_different_kinds_stay_a_fault(module: Module, arena: Arena, kind: int) -> None:
    want, found = both(Case(module, "mixed", 1, 64, np.zeros(4, np.int32), kind), arena)
    assert want.fault.kind == found.fault.kind == "barrier"


def test_several_cores_note_what_one_does(module: Module, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "WORTH", spread.ALWAYS)
    for threads in (0, 32):
        case = Case(module, "rows", 64, 64, np.zeros(64 * 64, np.int32), threads)
        one, two, again = (case.fast(arena, overread=0, cores=cores) for cores in (1, 2, 2))
        assert case.compiled().spread == (
            0 if threads else 2
        )  # it begins again in order, and is not tried a second time
        assert np.array_equal(one.arrays[0], two.arrays[0]) and np.array_equal(one.arrays[0], again.arrays[0])
        assert one.launch.met == two.launch.met == again.launch.met and bool(one.launch.met) == (threads == 32)
        assert one.launch.raw_counts == two.launch.raw_counts
    assert not case.fast(arena).launch.met  # it ends, and what the last launch noted is gone
