"""Reads past a buffer that a GPU lets pass: both executors give the same bytes and note the same places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import GAP, Arena
from kernelwright.device.reference import ReferenceResult
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from kernelwright.ir.debug import source_location
from kernelwright.launch import Launch
from tests.examples import few
from tests.simt.harness import Case, Run

Compile = Callable[[str], Module]

SOURCE = """
struct Big { int v[6]; };
template <typename T> __device__ void one(char* to, const char* from, long long at, int step) {
  ((T*)to)[threadIdx.x] = *(const T*)(from + at + (long long)step * (int)threadIdx.x); }
#define KERNEL(name, T) extern "C" __global__ void name(char* to, const char* from, long long at, int step) { \\
  one<T>(to, from, at, step); }
KERNEL(bytes, char) KERNEL(halves, short) KERNEL(ints, int) KERNEL(floats, float) KERNEL(doubles, double)
KERNEL(pairs, float2) KERNEL(fours, int4) KERNEL(structs, Big)
extern "C" __global__ void row(int* to, const int* from, int shift) { to[threadIdx.x] = from[(int)threadIdx.x + shift]; }
extern "C" __global__ void uniform(int* to, const int* from, int at) { to[threadIdx.x] = from[at] + (int)threadIdx.x; }
extern "C" __global__ void stores(int* to, int at) { to[at] = 1; }
extern "C" __global__ void adds(int* to, int at) { atomicAdd(to + at, 1); }
extern "C" __global__ void copies(char* to, const char* from, long long at, long long n) { memcpy(to, from + at, n); }
extern "C" __global__ void back(const char* from, char* to, long long at) { to[0] = from[at]; }
extern "C" __global__ void shared_(int* to, int at) { __shared__ int s[32]; s[threadIdx.x] = 1; to[threadIdx.x] = s[at]; }
"""
WIDTHS = {"bytes": 1, "halves": 2, "ints": 4, "floats": 4, "doubles": 8, "pairs": 8, "fours": 16, "structs": 24}
SIZE = 300
"""No multiple of most widths, so that reads straddle the end."""


@dataclass(frozen=True)
class Seen:
    line: int
    before: bool
    count: int
    farthest: int
    thread: int
    address: int


def seen_by(run: Run) -> list[Seen]:
    result: Any = run.result
    made = []
    for one in result.overreads:
        is_reference = isinstance(result, ReferenceResult)
        thread = one.thread[0] if is_reference else one.thread
        block = one.block[0] if is_reference else one.block
        place = source_location(one.origin)
        line = place.line if place else 0
        made.append(Seen(line, one.before, one.count, one.farthest, block * 1024 + thread, one.address))
    return sorted(made, key=lambda one: (one.line, one.before, one.address))


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    return cuda(SOURCE)


def both(case: Case, arena: Arena, byte: int | None, schedule: Schedule | None = None) -> tuple[Run, Run]:
    return case.reference(arena, schedule, overread=byte), case.fast(arena, schedule=schedule, overread=byte)


def wanted(data: bytes, at: int, size: int, byte: int) -> bytes:
    return bytes(data[i] if 0 <= i < len(data) else byte for i in range(at, at + size))


@settings(max_examples=few(60), deadline=None)
@given(
    st.sampled_from(sorted(WIDTHS)),
    st.integers(-GAP // 24 - 2, GAP // 24 + 2) | st.integers(-40, 40),
    st.integers(-3, 3),
    st.sampled_from([0, 0xCD, 0xFF]),
)
def test_both_executors_give_the_bytes_there_are_and_the_byte_for_all_others(
    module: Module, name: str, index: int, step: int, byte: int
) -> None:
    width, threads = WIDTHS[name], 8
    align = min(width & -width, 16)
    data = np.random.default_rng(5).integers(0, 256, SIZE, dtype=np.uint8)
    at = index * align
    case = Case(module, name, 1, threads, np.zeros(threads * width, np.uint8), data, at, step * width)
    with Arena() as arena:
        want, found = both(case, arena, byte)
    places = [at + step * width * t for t in range(threads)]
    reached = [p for p in places if not -GAP <= p <= SIZE + GAP - width]
    if reached:
        assert want.fault is not None and want.fault.kind == "out-of-bounds"
        assert found.fault is not None and found.fault.kind == "out-of-bounds"
        return
    assert want.fault is None and found.fault is None
    values = b"".join(wanted(data.tobytes(), p, width, byte) for p in places)
    assert want.arrays[0].tobytes() == values
    assert found.arrays[0].tobytes() == values
    assert seen_by(want) == seen_by(found)
    past = [p for p in places if p < 0 or p + width > SIZE]
    if name not in ("structs", "fours"):  # copied as they are, they are read field by field
        assert sum(one.count for one in seen_by(want)) == len(past)
    assert bool(seen_by(found)) == bool(past)


@pytest.mark.parametrize("kernel", ["row", "uniform"])
def test_rows_that_leave_a_buffer_are_cut_where_it_ends(module: Module, arena: Arena, kernel: str) -> None:
    data = np.arange(1, 65, dtype=np.int32)
    for shift in (-70, -64, -5, -1, 0, 1, 5, 63, 64, 70):
        case = Case(module, kernel, 2, 64, np.zeros(64, np.int32), data, shift)
        want = case.reference(arena, overread=0)
        for options in case.variants():
            for watch in (None, Watch(races=True, unwritten=True)):
                found = case.fast(arena, options, overread=0, watch=watch)
                assert np.array_equal(want.arrays[0], found.arrays[0]), shift
                assert seen_by(want) == seen_by(found), shift
        padded = np.concatenate([np.zeros(200, np.int32), data, np.zeros(200, np.int32)])
        at = np.arange(64) + 200 + shift if kernel == "row" else np.full(64, 200 + shift)
        assert np.array_equal(found.arrays[0], padded[at] + (np.arange(64) if kernel == "uniform" else 0)), shift


@pytest.mark.parametrize(
    ("kernel", "at", "passes"),
    [("back", -GAP, True), ("back", -GAP - 1, False), ("bytes", SIZE + GAP - 1, True), ("bytes", SIZE + GAP, False)],
)
def test_both_executors_reach_equally_far(module: Module, arena: Arena, kernel: str, at: int, passes: bool) -> None:
    """As far as no other buffer lies, nor what was freed."""
    data, out = np.full(SIZE, 9, np.uint8), np.full(1, 5, np.uint8)
    given = (data, out, at) if kernel == "back" else (out, data, at, 0)
    for run in both(Case(module, kernel, 1, 1, *given), arena, 3):
        assert (run.fault is None) == passes
        if passes:
            assert run.arrays[1 if kernel == "back" else 0].tolist() == [3]


def test_nothing_depends_on_the_order_of_blocks_and_lanes(module: Module, arena: Arena) -> None:
    case = Case(module, "row", 5, 64, np.zeros(64, np.int32), np.arange(40, dtype=np.int32), -3)
    forward = seen_by(case.fast(arena, overread=0))
    assert [(one.before, one.count, one.farthest, one.thread) for one in forward] == [
        (False, 105, 84, 63), (True, 15, 12, 0)
    ]  # fmt: skip
    for schedule in (Schedule.reverse(), Schedule.random(3)):
        assert seen_by(case.fast(arena, schedule=schedule, overread=0)) == forward
        assert seen_by(case.reference(arena, schedule, overread=0)) == forward
    split = SimtOptions(block=(64, 1, 1), split=True)
    assert seen_by(case.fast(arena, split, Schedule.subwarp(4, 1), overread=0)) == forward


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        ("stores", [np.zeros(8, np.int32), 8]),
        ("stores", [np.zeros(8, np.int32), -1]),
        ("adds", [np.zeros(8, np.int32), 8]),
        ("row", [np.zeros(64, np.int32), np.zeros(8, np.int32), 1 << 20]),
        ("row", [np.zeros(64, np.int32), 0, 0]),
        ("shared_", [np.zeros(64, np.int32), 64]),
        ("ints", [np.zeros(64, np.int32), np.zeros(8, np.int32), 33, 0]),
        ("copies", [np.zeros(8, np.uint8), np.zeros(8, np.uint8), 0, 12]),
    ],
)
def test_everything_else_stays_a_fault(module: Module, arena: Arena, kernel: str, given: list[Any]) -> None:
    strict, let_pass = (
        Case(module, kernel, 1, 1 if kernel in ("stores", "adds", "copies") else 32, *given).reference(
            arena, overread=byte
        )
        for byte in (None, 0)
    )
    found = Case(module, kernel, 1, 1 if kernel in ("stores", "adds", "copies") else 32, *given).fast(arena, overread=0)
    assert strict.fault is not None
    if kernel == "copies":  # what is read past its buffer is written past another
        assert let_pass.fault is not None and let_pass.fault.write and found.fault is not None and found.fault.write
        return
    assert let_pass.fault == strict.fault
    assert found.fault is not None and found.fault.kind in (strict.fault.kind, "out-of-bounds")


@pytest.mark.parametrize(("at", "n"), [(-5, 12), (0, 20), (-3, 30), (20, 7), (0, 8)])
def test_copies_take_the_bytes_there_are(module: Module, arena: Arena, at: int, n: int) -> None:
    data = np.arange(1, 17, dtype=np.uint8)
    want, found = both(Case(module, "copies", 1, 1, np.zeros(32, np.uint8), data, at, n), arena, 7)
    assert want.fault is None and found.fault is None
    assert want.arrays[0].tobytes() == found.arrays[0].tobytes() == wanted(data.tobytes(), at, n, 7) + bytes(32 - n)
    assert bool(seen_by(want)) == bool(seen_by(found)) == (at < 0 or at + n > 16)


def test_freed_memory_and_neighbours_are_not_past_a_buffer(module: Module, arena: Arena) -> None:
    case = Case(module, "row", 1, 1, np.zeros(1, np.int32), np.arange(4, dtype=np.int32), 0)
    case.fast(arena, overread=0)
    first, second = arena.buffers[:2]
    distance = (second.address - first.address) // 4
    shifted = Case(module, "row", 1, 1, np.zeros(1, np.int32), np.arange(5, 9, dtype=np.int32), -distance)
    found = shifted.fast(arena, overread=0)  # the buffer before is another buffer, as on a GPU
    assert found.fault is None and isinstance(found.result, LaunchResult) and not found.result.overreads


def test_a_strict_launch_stops_at_the_first(module: Module, arena: Arena) -> None:
    case = Case(module, "row", 1, 64, np.zeros(64, np.int32), np.zeros(64, np.int32), 1)
    for run in (case.reference(arena), case.fast(arena)):
        assert run.fault is not None and run.fault.kind == "out-of-bounds"


def test_better_code_notes_them_too(module: Module, arena: Arena) -> None:
    case = Case(module, "row", 1, 64, np.zeros(64, np.int32), np.arange(40, dtype=np.int32), -3)
    kernel = case.compiled()
    packed, _, _, _ = case._memory(arena)
    noted = []
    for patience in (10.0, -1.0, 10.0):
        kernel._patience = patience
        done = kernel.launch(arena, Launch(case.kernel, case.grid, case.block, packed), overread=0)
        noted.append([(one.before, one.count, one.farthest) for one in done.overreads])
    assert noted[0] and noted[0] == noted[1] == noted[2]
