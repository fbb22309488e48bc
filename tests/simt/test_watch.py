"""Planted races and reads of unwritten memory are found with both ends; sound kernels are not accused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from kernelwright.ir.debug import source_location
from kernelwright.ir.module import Instruction
from kernelwright.launch import Launch
from tests.simt.harness import Case
from tests.simt.test_kernels import zeros

Compile = Callable[[str], Module]

RACES = {
    "missing barrier": ("block", """
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; // HERE
  o[t] = s[63 - t]; // HERE"""),
    "missing barrier in a loop": ("block", """
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; __syncthreads();
  for (int i = 0; i < n; i++) {
    int v = s[(t + 32) % 64]; // HERE
    s[t] = v + 1; // HERE
    __syncthreads();
  }
  o[t] = s[t];"""),
    "lanes in step": ("warp", """
  __shared__ volatile int s[64]; int t = threadIdx.x;
  s[t] = t; // HERE
  if (t < 16) s[t] = s[t] + s[t + 16]; // HERE
  o[t] = t;"""),
    "a shuffle orders nothing": ("warp", """
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; // HERE
  int v = __shfl_xor_sync(~0u, t, 1);
  o[t] = v + s[t ^ 1]; // HERE"""),
    "blocks": ("grid", """
  if (blockIdx.x == 0) o[threadIdx.x] = 5; // HERE
  else o[100 + threadIdx.x] = o[threadIdx.x] + 1; // HERE"""),
    "plain beside atomic": ("", """
  if (threadIdx.x) atomicAdd(o, 1); // HERE
  else o[0] = 7; // HERE"""),
    "two writers": ("", """
  o[0] = threadIdx.x + 1; // HERE"""),
    "parts of a word": ("block", """
  __shared__ char c[8]; __shared__ int w[64];
  if (threadIdx.x == 0) *(int*)&c[4] = 1; // HERE
  w[threadIdx.x] = 1;
  if (threadIdx.x == 40) o[0] = c[7]; // HERE"""),
    "syncwarp of too few": ("warp", """
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; // HERE
  if ((t & 31) < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);
  o[t] = s[t ^ 16]; // HERE"""),
    "unrelated atomic": ("block", """
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; // HERE
  atomicAdd(&o[100 + t], 1);
  o[t] = s[63 - t]; // HERE"""),
}  # fmt: skip

SOUND = {
    "barrier": "__shared__ int s[64]; s[threadIdx.x] = n; __syncthreads(); o[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];",
    "syncwarp": """
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t;
  for (int d = 16; d; d >>= 1) { __syncwarp(); int v = s[t ^ d]; __syncwarp(); s[t] += v; }
  o[blockIdx.x * 64 + t] = s[t];""",
    "syncwarp lane by lane": """
  __shared__ int s[64]; int t = threadIdx.x;
  if (t & 1) { s[t] = t; __syncwarp(); o[blockIdx.x * 64 + t] = s[t ^ 1]; }
  else { s[t] = 2 * t; __syncwarp(); o[blockIdx.x * 64 + t] = s[t ^ 1] + 1; }""",
    "atomics": "atomicAdd(&o[0], 1); atomicMax(&o[1], threadIdx.x);",
    "the last block sums up": """
  __shared__ bool last;
  if (threadIdx.x == 0) { o[10 + blockIdx.x] = blockIdx.x * 5; __threadfence(); last = atomicAdd(&o[0], 1) == gridDim.x - 1; }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) o[20 + threadIdx.x] = o[10 + threadIdx.x] + 1;""",
    "every thread of the last block": """
  __shared__ bool last;
  o[100 + blockIdx.x * 64 + threadIdx.x] = blockIdx.x * 5; __threadfence(); __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&o[0], 1) == gridDim.x - 1;
  __syncthreads();
  if (last) o[300 + threadIdx.x] = o[100 + threadIdx.x] + o[164 + threadIdx.x];""",
    "a volatile flag": """
  volatile int* flag = o;
  if (blockIdx.x == 0 && threadIdx.x == 0) { o[5] = 7; __threadfence(); flag[0] = 1; }
  if (blockIdx.x == 1 && threadIdx.x == 0) { while (!flag[0]); __threadfence(); o[6] = o[5]; }""",
    "a lock": """
  bool done = false;
  while (!done) if (atomicCAS(&o[0], 0, 1) == 0) { o[1] += 1; __threadfence(); atomicExch(&o[0], 0); done = true; }""",
    "neighbouring bytes": "((char*)o)[blockIdx.x * 64 + threadIdx.x] = 1;",
    "local memory": "int l[4]; for (int i = 0; i < 4; i++) l[i] = i * n; o[blockIdx.x * 64 + threadIdx.x] = l[threadIdx.x & 3];",
}


def source(body: str) -> str:
    return f'extern "C" __global__ void k(int* o, int n) {{\n{body}\n}}'


def line(instruction: Instruction | None) -> int:
    location = source_location(instruction) if instruction is not None else None
    return location.line if location else 0


def findings(case: Case, arena: Arena, options: SimtOptions, schedule: Schedule | None = None) -> tuple[Found, ...]:
    run = case.fast(arena, options, schedule, watch=Watch(races=True, unwritten=True))
    assert run.fault is None and not run.launch.incomplete
    return run.launch.found


@pytest.mark.parametrize("name", RACES)
def test_planted_races_are_found(cuda: Compile, arena: Arena, name: str) -> None:
    scope, body = RACES[name]
    text = source(body)
    expected = {n for n, content in enumerate(text.splitlines(), 1) if "HERE" in content}
    case = Case(cuda(text), "k", 2 if scope == "grid" else 1, 64, zeros(512), 3)
    plain, split = SimtOptions(block=case.block), SimtOptions(block=case.block, split=True)
    for options, schedule in (
        (plain, None), (plain, Schedule.reverse()), (SimtOptions(block=None), Schedule.random(4)),
        (split, Schedule.subwarp(4, 7)),
    ):  # fmt: skip
        races = [f for f in findings(case, arena, options, schedule) if f.kind == "race" and not f.benign]
        assert races
        assert {line(f.origin) for f in races} | {line(f.other) for f in races} == expected
        for race in races:
            assert not scope or race.scope == scope
            assert (race.block, race.thread) != (race.other_block, race.other_thread)
            assert set(race.verbs) != {"read"} and race.count >= 1


@pytest.mark.parametrize("name", SOUND)
def test_sound_kernels_are_not_accused(cuda: Compile, arena: Arena, name: str) -> None:
    case = Case(cuda(source(SOUND[name])), "k", 2, 64, zeros(512), 3)
    for options in (SimtOptions(block=case.block), SimtOptions(block=case.block, split=True)):
        assert findings(case, arena, options) == ()


def test_races_that_change_nothing_are_benign(cuda: Compile, arena: Arena) -> None:
    case = Case(cuda(source("o[0] = 1; if (threadIdx.x == 45) o[1] = o[0];")), "k", 1, 64, zeros(8), 0)
    found = findings(case, arena, SimtOptions(block=case.block))
    assert found and all(f.benign for f in found)


def test_a_race_is_found_however_much_memory_was_touched_in_between(cuda: Compile, arena: Arena) -> None:
    """What is known of memory lies in a table that grows when a launch has touched a megabyte, and again at two."""
    module = cuda(source("o[1024 * (blockIdx.x * 64 + threadIdx.x)] = n; if (blockIdx.x == 11) o[1024 * 5] = n + 1;"))
    case = Case(module, "k", 12, 64, zeros(12 * 64 * 1024), 5)
    found = findings(case, arena, SimtOptions(block=case.block))
    assert [(one.other_block, one.other_thread, one.block) for one in found if one.scope == "grid"] == [(0, 5, 11)]


def test_unwritten_shared_and_local_memory(cuda: Compile, arena: Arena) -> None:
    module = cuda(
        source("""
  __shared__ int s[64]; int l[8];
  if (threadIdx.x < 60) s[threadIdx.x] = 1;
  for (int i = 0; i < n; i++) l[i] = i;
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
  o[threadIdx.x] += l[threadIdx.x % 8];""")
    )
    found = findings(Case(module, "k", 1, 64, zeros(64), 5), arena, SimtOptions(block=(64, 1, 1)))
    assert {(f.kind, line(f.origin)) for f in found} == {("uninitialised", 7), ("uninitialised", 8)}
    assert findings(Case(module, "k", 1, 60, zeros(64), 8), arena, SimtOptions(block=(60, 1, 1))) == ()


def test_unwritten_global_memory_is_followed_from_launch_to_launch(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void fill(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
extern "C" __global__ void copy(int* a, int n) { if (threadIdx.x < n) a[64 + threadIdx.x] = a[threadIdx.x]; }
""")
    arena.reset()
    buffer = arena.allocate(512, "a")
    written = {buffer.address: np.zeros(512, np.uint8)}

    def run(kernel: str, n: int) -> tuple[Found, ...]:
        case = Case(module, kernel, 1, 64, buffer.address, n)
        watch = Watch(unwritten=True, written=written)
        launch = Launch(kernel, (1, 1, 1), (64, 1, 1), case.pack([buffer.address, n]))
        result = case.compiled().launch(arena, launch, watch=watch)
        return result.found

    assert run("fill", 40) == () and run("copy", 40) == ()
    (finding,) = run("copy", 41)
    assert finding.kind == "uninitialised" and finding.address == buffer.address + 160 and finding.thread == 40
    assert written[buffer.address].sum() == 4 * 81


def test_a_checker_without_memory_says_that_it_saw_only_a_part(cuda: Compile, arena: Arena) -> None:
    case = Case(cuda(source("o[threadIdx.x] = n;")), "k", 1, 64, zeros(64), 1)
    watch = Watch(races=True, memory_limit=1 << 10)
    assert case.fast(arena, SimtOptions(block=case.block), watch=watch).launch.incomplete
