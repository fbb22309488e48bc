"""Launches that find memory as an earlier one found it: everything is as if they had run, whatever comes between."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.watching import Caches, Watch
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.checking.touched_bytes import READ, STORED, Touched
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.load_module import load
from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu import repeated_launches
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.device.virtual_gpu.repeated_launches import RepeatedLaunches
from kernelwright.ir import Module, parse_module, print_module
from kernelwright.launch import Launch

SOURCE = """
#include <cstdio>
__device__ int calls;
extern "C" __global__ void twice(const int *a, int *b, int n) { int i = threadIdx.x; if (i < n) b[i] = 2 * a[i]; }
extern "C" __global__ void more(const int *a, int *b, int n) { int i = threadIdx.x; if (i < n) b[i] += a[i]; }
extern "C" __global__ void count(const int *a, int *b, int n) { if (threadIdx.x == 0) b[0] = ++calls; }
extern "C" __global__ void say(const int *a, int *b, int n) { if (threadIdx.x == 0) printf("%d\\n", a[0]); }
extern "C" __global__ void past(const int *a, int *b, int n) { b[n + threadIdx.x] = 1; }
extern "C" __global__ void race(const int *a, int *b, int n) { b[0] = threadIdx.x; }
"""
N = 64
KERNELS = ("twice", "more", "count", "say")


@pytest.fixture(scope="module")
def text(compiled: Callable[[str], Module]) -> str:
    return print_module(compiled(SOURCE))


@pytest.fixture(autouse=True)
def everything_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_launches, "LEAST_S", 0.0)
    monkeypatch.setattr(repeated_launches, "BYTES_PER_S", 1e15)


class Machine:
    """A virtual GPU with two arrays of 64 numbers."""

    def __init__(self, text: str, repeated: RepeatedLaunches | None) -> None:
        self.arena, self.gpu = Arena(), VirtualGpu(repeated=repeated)
        self.loaded: Loaded = load(parse_module(text), self.arena)
        self.arrays: list[Buffer] = [self.arena.allocate(4 * N, name, fill=0) for name in "ab"]

    def write(self, which: int, values: np.ndarray[tuple[int], np.dtype[np.int32]]) -> None:
        self.arena.view(self.arrays[which], np.int32)[:] = values

    def launch(self, kernel: str, swap: bool = False, *, watch: Watch | None = None, **more: object) -> Launched:
        a, b = (each.address for each in (reversed(self.arrays) if swap else self.arrays))
        asked = Launch(kernel, (1, 1, 1), (N, 1, 1), struct.pack("<QQi", a, b, N))
        return self.gpu.run(Execution(self.loaded, asked, **more), self.arena, watch=watch)  # type: ignore[arg-type]

    def memory(self) -> list[bytes]:
        return [content for _, content in self.arena.snapshot().contents]


@pytest.fixture
def machine(text: str) -> Iterator[Machine]:
    made = Machine(text, RepeatedLaunches())
    yield made
    made.arena.close()


def given(machine: Machine) -> int:
    assert machine.gpu.repeated is not None
    return machine.gpu.repeated.given


def test_the_third_of_equal_launches_does_not_run(machine: Machine) -> None:
    machine.write(0, np.arange(N, dtype=np.int32))
    launched = [machine.launch("twice") for _ in range(5)]
    assert given(machine) == 3
    assert {each.result.counts.tobytes() for each in launched} == {launched[0].result.counts.tobytes()}
    assert machine.arena.view(machine.arrays[1], np.int32).tolist() == [2 * i for i in range(N)]


def test_what_it_changed_is_written_again(machine: Machine) -> None:
    machine.write(0, np.full(N, 7, np.int32))
    for turn in range(4):
        machine.write(1, np.full(N, 1, np.int32))
        machine.launch("more")
        assert machine.arena.view(machine.arrays[1], np.int32).tolist() == [8] * N, turn
    assert given(machine) == 2


def test_a_kernel_that_goes_on_from_its_results_always_runs_and_is_given_up(machine: Machine) -> None:
    machine.write(0, np.ones(N, np.int32))
    for _ in range(10):
        machine.launch("more")
    assert given(machine) == 0 and machine.arena.view(machine.arrays[1], np.int32).tolist() == [10] * N
    machine.write(0, np.zeros(N, np.int32))
    for _ in range(3):  # nothing changes now, but it is not looked at any more
        machine.launch("more")
    assert given(machine) == 0


def test_variables_of_the_module_are_memory_too(machine: Machine) -> None:
    for turn in range(1, 6):
        machine.launch("count")
        assert machine.arena.view(machine.arrays[1], np.int32)[0] == turn
    assert given(machine) == 0


def test_what_it_printed_is_printed_again(machine: Machine) -> None:
    machine.write(0, np.full(N, 5, np.int32))
    assert [machine.launch("say").text for _ in range(4)] == ["5\n"] * 4 and given(machine) == 2


def test_a_fault_comes_each_time(machine: Machine) -> None:
    assert all(machine.launch("past").fault is not None for _ in range(4)) and given(machine) == 0


def test_other_orders_and_other_buffers_run(machine: Machine) -> None:
    for _ in range(3):
        machine.launch("twice", schedule=Schedule.reverse())
    assert given(machine) == 0
    for _ in range(3):
        machine.launch("twice")
        machine.arena.allocate(4, "another")
    assert given(machine) == 0


def test_where_the_host_may_write_only_what_changes_nothing_is_kept(machine: Machine) -> None:
    machine.arena.host_writes = True
    machine.write(0, np.full(N, 7, np.int32))
    for _ in range(3):
        machine.write(1, np.full(N, 1, np.int32))
        machine.launch("more")
    assert given(machine) == 0
    for _ in range(4):
        machine.launch("twice")
    assert given(machine) == 2 and machine.arena.view(machine.arrays[1], np.int32).tolist() == [14] * N


def test_findings_are_found_each_time_while_the_same_is_written(machine: Machine) -> None:
    touched = Touched()

    def watched(kernel: str) -> list[tuple[str, int]]:
        flags = touched.follow(machine.arena.buffers)
        found = machine.launch(kernel, watch=Watch(races=True, unwritten=True, written=flags))
        return [(each.kind, each.count) for each in found.result.found]

    first = watched("race")
    assert (
        first and first[0][0] == "race" and [watched("race") for _ in range(3)] == [first] * 3 and given(machine) == 2
    )
    a, b = machine.arrays
    touched.follow(machine.arena.buffers)
    assert watched("twice") == watched("twice") == watched("twice") == []
    seen = given(machine)
    fresh = machine.arena.allocate(4 * N, "fresh", fill=0)
    touched.allocated(fresh.address, fresh.size, False)
    assert watched("twice") == watched("twice") == watched("twice") == []
    touched.copy(machine.arena, a.address, fresh.address, 4 * N)  # what nobody wrote is in `a` now, and is as it was
    assert [kind for kind, _ in watched("twice")] == ["uninitialised"] and given(machine) == seen + 2
    assert b.size == 4 * N


def test_what_it_touched_is_noted_again(machine: Machine) -> None:
    touched, noted = Touched(), []
    for _ in range(4):
        flags = touched.follow(machine.arena.buffers)
        machine.launch("twice", watch=Watch(unwritten=True, touched=True, written=flags))
        noted.append(
            [
                (each.buffer.name, each.marks.tolist())
                for f in (READ, STORED)
                for each in touched.take(machine.arena.buffers, f)
            ]
        )
        touched.clear()
    assert given(machine) == 2 and noted == noted[:1] * 4 and [name for name, _ in noted[0]] == ["a", "b"]


def test_a_watch_of_caches_runs(machine: Machine) -> None:
    for _ in range(4):
        machine.launch("twice", watch=Watch(caches=Caches()))
    assert given(machine) == 0


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_leave_the_same_memory(text: str, seed: int) -> None:
    """Beside a GPU that runs every launch: memory, counters and text after each step."""
    one, other = Machine(text, RepeatedLaunches()), Machine(text, None)
    rng = random.Random(seed)
    loops = [(rng.choice(KERNELS), rng.random() < 0.3) for _ in range(3)]
    try:
        for _ in range(60):
            if rng.random() < 0.2:
                which, values = rng.randrange(2), np.full(N, rng.randrange(2), np.int32)
                one.write(which, values)
                other.write(which, values)
                continue
            kernel, swap = rng.choice(loops)
            got, wanted = one.launch(kernel, swap), other.launch(kernel, swap)
            assert np.array_equal(got.result.counts, wanted.result.counts)
            for name in ("sectors", "wavefronts"):
                assert np.array_equal(getattr(got.result, name), getattr(wanted.result, name))
            assert got.text == wanted.text
            assert one.memory() == other.memory()
    finally:
        one.arena.close()
        other.arena.close()
