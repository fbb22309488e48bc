"""Planted races and reads of unwritten memory are found with both ends; sound kernels are not accused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.fault import Fault
from kernelwright.device.reference import ReferenceResult, run_reference
from kernelwright.device.reference.race_watch import Watch
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from tests.device.conftest import Launcher, kernel_named, packed
from tests.device.test_reference_kernels import HOTSPOT, NEEDLE, PATHFINDER, REDUCTION

Compile = Callable[[str], Module]

RACES = {
    "missing barrier between warps": ("""
__global__ void k(int* o) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // first
    o[t] = s[63 - t]; // second
}""", "different warps of a block"),
    "missing barrier in a loop": ("""
__global__ void k(int* o) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        int v = s[(t + 32) % 64]; // second
        s[t] = v + 1; // first
        __syncthreads();
    }
    o[t] = s[t];
}""", "different warps of a block"),
    "lanes in step": ("""
__global__ void k(int* o) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t; // first
    if (t < 16) s[t] = s[t] + s[t + 16]; // second, and with itself
    o[t] = t;
}""", "lanes of one warp"),
    "lanes after a shuffle": ("""
__global__ void k(int* o) {
    __shared__ int s[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        s[t] = t; // first
        int v = __shfl_xor_sync(~0u, t, 1);
        o[t] = v + s[t ^ 1]; // second
    }
}""", "lanes of one warp"),
    "blocks on global memory": ("""
__global__ void k(int* o) {
    if (blockIdx.x == 0) o[threadIdx.x] = 5; // first
    else o[100 + threadIdx.x] = o[threadIdx.x] + 1; // second
}""", "threads of different blocks"),
    "plain access beside an atomic": ("""
__global__ void k(int* o) {
    if (threadIdx.x) atomicAdd(o, 1); // second
    else o[0] = 7; // first
}""", ""),
    "write after write": ("""
__global__ void k(int* o) {
    o[0] = threadIdx.x + 1; // first second
}""", ""),
    "bytes of one word": ("""
__global__ void k(int* o) {
    __shared__ char c[8];
    __shared__ int w[64];
    if (threadIdx.x == 0) *(int*)&c[4] = 1; // first
    if (threadIdx.x == 40) o[0] = c[7] + w[0] * 0; // second
    w[threadIdx.x] = 1;
}""", "different warps of a block"),
    "memcpy": ("""
struct Big { int v[32]; };
__global__ void k(int* o) {
    __shared__ Big s[64];
    memset(&s[threadIdx.x], 1, sizeof(Big)); // first
    memcpy(o + 32 * threadIdx.x, &s[(threadIdx.x + 32) % 64], sizeof(Big)); // second
}""", "different warps of a block"),
}  # fmt: skip


def watched(
    launch: Launcher, module: Module, kernel: str, grid: int, block: int, *arguments: object, **options: object
) -> tuple[ReferenceResult, list[Fault]]:
    result = launch(module, kernel, grid, block, *arguments, watch=Watch(), **options)
    assert result.fault is None, result.fault
    return result, [f for f in result.findings if f.kind == "race" and not f.benign]


@pytest.mark.parametrize("schedule", [Schedule.forward(), Schedule.reverse(), Schedule.random(4)], ids=str)
@pytest.mark.parametrize("name", RACES)
def test_planted_races_are_found(compiled: Compile, launch: Launcher, name: str, schedule: Schedule) -> None:
    source, scope = RACES[name]
    grid = 2 if "block" in scope and "different blocks" in scope else 1
    _, races = watched(launch, compiled(source), "k", grid, 64, np.zeros(2048, np.int32), schedule=schedule)
    lines = source.splitlines()
    expected = {n for n, line in enumerate(lines, 1) if "// " in line}
    assert races, name
    for race in races:
        assert race.where is not None and race.other is not None and race.other_thread is not None
        assert {race.where.line, race.other.line} <= expected
        assert scope in race.message
        assert (race.thread, race.block) != (race.other_thread, race.other_block)
    assert {r.where.line for r in races if r.where} | {r.other.line for r in races if r.other} == expected


SOUND = {
    "barrier": """
__global__ void k(int* o) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}""",
    "syncwarp": """
__global__ void k(int* o) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    for (int d = 16; d; d >>= 1) {
        __syncwarp();
        int v = s[t ^ d];
        __syncwarp();
        s[t] += v;
    }
    o[blockIdx.x * 64 + t] = s[t];
}""",
    "atomics": """
__global__ void k(int* o) { atomicAdd(&o[0], 1); atomicMax(&o[1], threadIdx.x); }
""",
    "the last block sums up": """
__global__ void k(int* o) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        o[10 + blockIdx.x] = blockIdx.x * 5;
        __threadfence();
        last = atomicAdd(&o[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) o[20 + threadIdx.x] = o[10 + threadIdx.x] + 1;
}""",
    "a volatile flag": """
__global__ void k(int* o) {
    volatile int* flag = o;
    if (blockIdx.x == 0 && threadIdx.x == 0) { o[5] = 7; __threadfence(); flag[0] = 1; }
    if (blockIdx.x == 1 && threadIdx.x == 0) { while (!flag[0]); __threadfence(); o[6] = o[5]; }
}""",
    "a lock": """
__global__ void k(int* o) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&o[0], 0, 1) == 0) { o[1] += 1; __threadfence(); atomicExch(&o[0], 0); done = true; }
    }
}""",
    "neighbouring bytes": """
__global__ void k(int* o) { ((char*)o)[blockIdx.x * 64 + threadIdx.x] = 1; }
""",
    "counted barriers": """
__global__ void k(int* o) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) { asm volatile("bar.sync 1, 64;" ::: "memory"); o[blockIdx.x * 32 + t] = s[t]; }
    else { s[t - 32] = t; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
}""",
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_kernels_are_not_accused(compiled: Compile, launch: Launcher, name: str) -> None:
    result, _ = watched(launch, compiled(SOUND[name]), "k", 2, 64, np.zeros(2048, np.int32))
    assert result.findings == ()


def test_whole_programs_are_clean(compiled: Compile, launch: Launcher) -> None:
    values = np.arange(500, dtype=np.int32)
    result, _ = watched(
        launch, compiled(REDUCTION), "reduce", 2, 64, values, np.zeros(1, np.int32), 500, shared_bytes=256
    )
    assert result.findings == ()
    f = np.ones((30, 30), np.float32)
    result = launch(
        compiled(HOTSPOT), "hotspot", (3, 3), (16, 16), f, f, f.copy(), 30, 0.5, 0.5, 0.5, 0.5, watch=Watch()
    )
    assert result.findings == ()
    m = np.zeros((17, 17), np.int32)
    assert launch(compiled(NEEDLE), "needle", 1, 16, m, m.copy(), 17, 10, 0, watch=Watch()).findings == ()
    wall, row = np.ones((4, 150), np.int32), np.ones(150, np.int32)
    result = launch(compiled(PATHFINDER), "pathfinder", 3, 64, 4, wall, row, row.copy(), 150, watch=Watch())
    assert result.findings == ()


def test_writes_of_one_value_are_benign(compiled: Compile, launch: Launcher) -> None:
    module = compiled("__global__ void k(int* o) { o[0] = 1; if (threadIdx.x == 99) o[1] = o[0]; }")
    result, races = watched(launch, module, "k", 1, 64, np.zeros(2, np.int32))
    assert not races and [f.benign for f in result.findings] and all(f.benign for f in result.findings)


def test_unwritten_shared_and_local_memory(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void k(int* o, int n) {
    __shared__ int s[64];
    int l[8];
    if (threadIdx.x < 60) s[threadIdx.x] = 1;
    for (int i = 0; i < n; i++) l[i] = i;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x]; // shared
    o[threadIdx.x] += l[threadIdx.x % 8]; // local
}""")
    result, _ = watched(launch, module, "k", 1, 64, np.zeros(64, np.int32), 5)
    found = {(f.kind, f.where.line if f.where else 0, f.buffer) for f in result.findings}
    assert found == {("uninitialised", 8, "shared memory"), ("uninitialised", 9, "local memory")}
    result, _ = watched(launch, module, "k", 1, 60, np.zeros(64, np.int32), 8)
    assert result.findings == ()


def test_structs_by_value_count_as_written(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
struct Config { int v[4]; };
__device__ __noinline__ int pick(Config c, int i) { c.v[i & 3] += 1; return c.v[i & 3]; }
__global__ void k(int* o, Config c) { o[threadIdx.x] = pick(c, threadIdx.x); }
""")
    out = np.zeros(8, np.int32)
    result, _ = watched(launch, module, "k", 1, 8, out, np.arange(4, dtype=np.int32).tobytes())
    assert result.findings == () and out.tolist() == [1, 2, 3, 4] * 2


def test_unwritten_global_memory_is_followed_from_launch_to_launch(compiled: Compile, arena: Arena) -> None:
    module = compiled("""
__global__ void fill(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
__global__ void copy(int* b, const int* a, int n) { if (threadIdx.x < n) b[threadIdx.x] = a[threadIdx.x]; }
""")
    a, b = arena.allocate(256, "a"), arena.allocate(256, "b")
    watch = Watch({a.address: np.zeros(256, np.uint8), b.address: np.zeros(256, np.uint8)})

    def run(kernel: str, *arguments: object) -> tuple[Fault, ...]:
        name = kernel_named(module, kernel)
        result = run_reference(
            module, name, (1, 1, 1), (64, 1, 1), packed(*arguments), arena, watch=Watch(watch.written)
        )
        return result.findings

    pa, pb = np.uint64(a.address), np.uint64(b.address)
    assert run("fill", pa, 40) == ()
    assert run("copy", pb, pa, 40) == ()
    (finding,) = run("copy", pb, pa, 41)
    assert finding.kind == "uninitialised" and finding.buffer == "a" and finding.address == a.address + 160
    assert finding.thread == (40, 0, 0) and finding.where is not None and finding.where.line == 3
    assert watch.written[b.address].sum() == 4 * 41
