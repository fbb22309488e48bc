"""Counters against a model that knows nothing of code paths: addresses in, sectors and wavefronts out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.launching.watching import Caches, Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from kernelwright.launch import Launch
from tests.simt.harness import Array, Case, Run
from tests.simt.test_kernels import ints, zeros

Compile = Callable[[str], Module]

PATTERNS = """
struct S3 { float x, y, z; };
#define I (threadIdx.x + threadIdx.y * blockDim.x)
#define G(name, type, index, guard) extern "C" __global__ void name(const type* a, float* o, int k, int n) { \\
  int t = I; if (guard) o[t] = (float)a[index]; }
#define SH(name, type, index, guard) extern "C" __global__ void name(const type* a, float* o, int k, int n) { \\
  __shared__ type s[4096]; int t = I; s[t] = t; __syncthreads(); if (guard) o[t] = (float)s[index]; }
G(g_row, float, t + k, true) G(g_guarded, float, t + k, t < n) G(g_odd, float, t + k, t % 3 != 1)
G(g_reverse, float, 200 - t, t < n) G(g_two, float, 2 * t + k, true) G(g_nine, float, 9 * t + k, t < n)
G(g_mixed, float, (t * 37 + k) % 311, true) G(g_one, float, k, t < n) G(g_byte, char, t + k, true)
G(g_double, double, t + k, t >= n) G(g_tile, float, threadIdx.y * k + threadIdx.x, true)
G(g_tile_guarded, float, threadIdx.y * k + threadIdx.x, threadIdx.x < 13 && threadIdx.y < n)
G(g_line, float, threadIdx.y * k, threadIdx.y < n)
G(g_byte_odd, char, t + k, t % 3 != 1) G(g_double_odd, double, t + k, t % 7 > n) G(g_odd_row, float, t + k, (t * t + n) % 9 < 2)
SH(s_row, float, t + k, t < n) SH(s_two, float, 2 * t, true) SH(s_seventeen, float, 17 * (t % 64) + k, t < n)
SH(s_sixteen, float, 16 * (t % 64) + k, t < n) SH(s_back, float, 128 - t, t < n) SH(s_mixed, float, (t * 37 + k) % 311, t % 3 != 1)
SH(s_double, double, t + k, t < n) SH(s_tile, float, threadIdx.y * k + threadIdx.x, true)
SH(s_tile_guarded, float, threadIdx.y * k + threadIdx.x, threadIdx.x < 13 && threadIdx.y < n) SH(s_line, float, threadIdx.y * k, true)
#define TG(m, name, type) m(name, type, threadIdx.y * k + threadIdx.x, threadIdx.x < 13 && threadIdx.y < n)
TG(G, g_byte_tile_guarded, char) TG(G, g_short_tile_guarded, short) TG(G, g_double_tile_guarded, double)
TG(SH, s_short_tile_guarded, short) TG(SH, s_double_tile_guarded, double)
G(g_double_line, double, threadIdx.y * k, threadIdx.y < n) SH(s_double_line, double, threadIdx.y * k, true)
extern "C" __global__ void g_struct(const S3* a, float* o, int k, int n) { int t = I; o[t] = a[t + k].y; }
typedef float Four __attribute__((ext_vector_type(4)));
extern "C" __global__ void g_four(const Four* a, float* o, int k, int n) {
  int t = I; if (t < n) { Four v = a[t + k] * a[t + k]; o[t] = v.x + v.y + v.z + v.w; } }
"""


def index_of(name: str, t: Array, x: Array, y: Array, k: int) -> Any:
    """The element each thread reads."""
    rules = {
        "row": t + k, "guarded": t + k, "odd": t + k, "reverse": 200 - t, "two": 2 * t + (k if name[0] == "g" else 0),
        "nine": 9 * t + k, "mixed": (t * 37 + k) % 311, "one": 0 * t + k, "byte": t + k, "double": t + k, "byte_odd": t + k, "double_odd": t + k,
        "odd_row": t + k,
        "tile": y * k + x, "tile_guarded": y * k + x, "line": y * k, "double_line": y * k, "seventeen": 17 * (t % 64) + k,
        "sixteen": 16 * (t % 64) + k, "back": 128 - t, "struct": t + k, "four": t + k,
    }  # fmt: skip
    return rules["tile" if name.endswith("tile_guarded") else name[2:]]


def active(name: str, t: Array, x: Array, y: Array, n: int) -> Any:
    everyone = np.ones(len(t), bool)
    if name in (
        "g_guarded",
        "g_reverse",
        "g_nine",
        "g_one",
        "g_four",
        "s_row",
        "s_seventeen",
        "s_sixteen",
        "s_back",
        "s_double",
    ):
        return t < n
    if name in ("g_odd", "s_mixed", "g_byte_odd"):
        return t % 3 != 1
    if name == "g_double_odd":
        return t % 7 > n
    if name == "g_odd_row":
        return (t * t + n) % 9 < 2
    if name == "g_double":
        return t >= n
    if name.endswith("tile_guarded"):
        return (x < 13) & (y < n)
    return y < n if name in ("g_line", "g_double_line") else everyone


SIZES = {
    "g_byte_tile_guarded": 1, "g_short_tile_guarded": 2, "g_double_tile_guarded": 8, "s_short_tile_guarded": 2,
    "s_double_tile_guarded": 8, "g_double_line": 8, "s_double_line": 8, "g_byte": 1, "g_byte_odd": 1, "g_double_odd": 8, "g_double": 8, "s_double": 8, "g_four": 16,
}  # fmt: skip


def expected(name: str, base: int, block: tuple[int, int, int], k: int, n: int) -> tuple[int, int]:
    """Sectors, or wavefronts, of the load; and how many warps make it. ``base``: the address of element 0."""
    threads = block[0] * block[1]
    t = np.arange(threads)
    x, y = t % block[0], t // block[0]
    size = SIZES.get(name, 4)
    step = 12 if name == "g_struct" else size
    places = base + index_of(name, t, x, y, k) * step + (4 if name == "g_struct" else 0)
    on = active(name, t, x, y, n)
    total = warps = 0
    for first in range(0, threads, 32):
        lanes = np.arange(first, min(first + 32, threads))
        lanes = lanes[on[lanes]]
        if not len(lanes):
            continue
        warps += 1
        if name[0] == "g":
            total += len({s for p in places[lanes] for s in range(p // 32, (p + size - 1) // 32 + 1)})
            continue
        part = 32 if size <= 4 else 16
        for begin in range(first, first + 32, part):
            words = {
                int(p) // 4 + w
                for p in places[(t >= begin) & (t < begin + part) & on]
                for w in range(max(size // 4, 1))
            }
            if words:
                total += max(sum(1 for w in words if w % 32 == bank) for bank in range(32))
    return total, warps


CASES: list[tuple[str, Any, int, int]] = [
    ("g_row", 64, 0, 0), ("g_row", 64, 3, 0), ("g_row", 40, 1, 0), ("g_row", 16, 5, 0), ("g_guarded", 64, 2, 50),
    ("g_guarded", 64, 0, 3), ("g_odd", 64, 0, 0), ("g_reverse", 64, 0, 64), ("g_reverse", 64, 0, 37), ("g_two", 64, 1, 0),
    ("g_nine", 64, 1, 45), ("g_mixed", 64, 5, 0), ("g_one", 64, 7, 40), ("g_byte", 64, 3, 0), ("g_double", 64, 1, 20),
    ("g_struct", 64, 1, 0), ("g_four", 64, 1, 50), ("g_four", 64, 0, 64), ("g_byte_odd", 64, 5, 0), ("g_byte_odd", 64, 0, 0),
    ("g_byte_odd", 16, 3, 0), ("g_double_odd", 64, 1, 4), ("g_double_odd", 64, 2, 2), ("g_odd_row", 64, 3, 0), ("g_odd_row", 40, 7, 5),
    ("s_row", 64, 1, 50), ("s_two", 64, 0, 0), ("s_seventeen", 64, 1, 37), ("s_sixteen", 64, 1, 64), ("s_sixteen", 64, 0, 21),
    ("s_sixteen", 16, 0, 11), ("s_back", 64, 0, 60), ("s_mixed", 64, 3, 0), ("s_double", 64, 1, 64), ("s_double", 64, 1, 20),
    *[(f"{m}_tile{g}", b, k, n) for m in "gs" for g in ("", "_guarded") for b in ((16, 8), (16, 3), (8, 8), (5, 9))
      for k, n in ((16, 5), (17, 4), (40, 8))],
    *[("s_tile", (16, 8), k, 0) for k in (0, 1, 4, 15, 20, 33, 48, 144)],
    *[(name, b, k, n) for name in ("g_byte_tile_guarded", "g_short_tile_guarded", "g_double_tile_guarded",
      "s_short_tile_guarded", "s_double_tile_guarded") for b in ((16, 8), (8, 8)) for k, n in ((16, 8), (17, 7), (0, 8), (40, 2))],
    *[(f"{m}_{d}line", b, k, 5) for m in "gs" for d in ("", "double_") for b in ((16, 8), (8, 8)) for k in (0, 3, 32)],
]  # fmt: skip


@pytest.fixture(scope="module")
def patterns(cuda: Compile) -> Module:
    return cuda(PATTERNS)


@pytest.mark.parametrize("name", sorted({c[0] for c in CASES}))
def test_sectors_and_wavefronts_are_exact_on_every_path(patterns: Module, arena: Arena, name: str) -> None:
    compiled: dict[object, object] = {}
    for kernel, shape, k, n in CASES:
        if kernel != name:
            continue
        block = (shape, 1, 1) if isinstance(shape, int) else (shape[0], shape[1], 1)
        type = {1: np.int8, 2: np.int16, 8: np.float64}.get(SIZES.get(name, 4), np.float32)
        case = Case(patterns, name, 1, block, zeros(4096, type), zeros(1024, np.float32), k, n)
        start = arena_start(arena, case)
        want, warps = expected(name, start if name[0] == "g" else 0, block, k, n)
        seen = set()
        for options, watch in (
            (SimtOptions(block=block), None),
            (SimtOptions(block=block), Watch(races=True)),
            (SimtOptions(block=block, inline=True), None),
            (SimtOptions(block=block, inline=True), Watch(races=True)),
            (SimtOptions(block=None), None),
            (SimtOptions(block=block, uniform=False), None),
        ):
            key = (options,)
            if key not in compiled:
                compiled[key] = case.compiled(options)
            run = launched(case, arena, compiled[key], watch)
            load, result = find_load(run.launch, name)
            count = result.sectors[load] if name[0] == "g" else result.wavefronts[load]
            where = f"{name} {block} k={k} n={n} {options} {watch}"
            assert count == want, where
            assert result.executions[result.kernel.accesses[load].block] == warps, where
            seen.add((result.sectors.tobytes(), result.wavefronts.tobytes()))
        assert len(seen) == 1, f"{name} {block}: stores count differently"


def arena_start(arena: Arena, case: Case) -> int:
    case._memory(arena)
    return arena.buffers[0].address


def launched(case: Case, arena: Arena, kernel: object, watch: Watch | None) -> Run:
    packed, _, addresses, _ = case._memory(arena)
    launch = Launch(case.kernel, case.grid, case.block, packed)
    result = kernel.launch(arena, launch, budget=1 << 30, symbols=addresses, watch=watch)  # type: ignore[attr-defined]
    assert result.fault is None
    return Run([], None, result)


def find_load(result: LaunchResult, name: str) -> tuple[int, LaunchResult]:
    space = 0 if name[0] == "g" else 1
    loads = [a.index for a in result.kernel.accesses if a.kind == "load" and a.space == space]
    assert len(loads) == 1
    return loads[0], result


def test_counts_are_the_same_in_every_run(cuda: Compile, arena: Arena) -> None:
    from tests.simt.test_kernels import CONTROL

    rng = np.random.default_rng(0)
    data = ints(rng, 192, 1, 5000)
    made = [Case(cuda(CONTROL), "switches", 3, 64, data, zeros(192), 190) for _ in range(2)]
    runs = [case.fast(arena).launch for case in (*made, made[0])]  # of other code, and of the same again
    for run in runs[1:]:
        for field in ("executions", "lanes", "sectors", "wavefronts", "serial"):
            np.testing.assert_array_equal(getattr(run, field), getattr(runs[0], field))


def test_lanes_are_the_threads_the_reference_counts(cuda: Compile, arena: Arena) -> None:
    from tests.simt.test_kernels import BARRIERS, CONTROL

    rng = np.random.default_rng(0)
    cases = [
        Case(cuda(CONTROL), "switches", 3, 64, ints(rng, 192, 1, 5000), zeros(192), 190),
        Case(cuda(CONTROL), "nested", 1, (16, 4, 1), ints(rng, 64), zeros(64), 7),
        Case(cuda(BARRIERS), "in_a_loop", 1, 64, ints(rng, 64), zeros(64), 9),
        Case(cuda(BARRIERS), "early", 1, 96, zeros(96), 50),
    ]
    for case in cases:
        want = case.reference(arena).reference.block_counts[case.kernel]
        for options in case.variants():
            if options.counters:
                assert case.lanes(case.fast(arena, options).launch) == want, (case.kernel, options)


def test_atomics_on_one_address_take_turns(cuda: Compile, arena: Arena) -> None:
    module = cuda('extern "C" __global__ void k(int* c, int m) { atomicAdd(&c[threadIdx.x % m], 1); }')
    for modulus, turns in ((1, 31), (2, 15), (32, 0), (5, 6)):
        result = Case(module, "k", 1, 64, zeros(64), modulus).fast(arena).launch
        assert result.serial.tolist() == [2 * turns]


def test_caches_see_what_is_used_again(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(const float* a, float* o, int rounds, int span) {
  float s = 0;
  for (int r = 0; r < rounds; r++) for (int i = threadIdx.x; i < span; i += 32) s += a[i];
  o[threadIdx.x] = s;
}""")

    def hits(span: int, rounds: int, caches: Caches) -> tuple[float, float]:
        case = Case(module, "k", 1, 32, zeros(1 << 16, np.float32), zeros(32, np.float32), rounds, span, budget=10**9)
        result = case.fast(arena, SimtOptions(block=(32, 1, 1)), watch=Watch(caches=caches)).launch
        loads = [a.index for a in result.kernel.accesses if a.kind == "load"]
        looked = sum(int(result.sites["looked_up"][i]) for i in loads)
        l1 = sum(int(result.sites["l1_hits"][i]) for i in loads)
        return l1 / looked, sum(int(result.sites["l2_hits"][i]) for i in loads) / max(looked - l1, 1)

    small = Caches(l1_bytes=16 << 10, l2_bytes=128 << 10, every=1)
    assert hits(2048, 4, small)[0] == pytest.approx(0.75)  # 8 KB stays in L1: only the first round misses
    assert hits(16384, 4, small) == pytest.approx((0, 0.75))  # 64 KB stays in L2
    assert hits(65536, 2, small) == pytest.approx((0, 0))  # 256 KB stays nowhere
    sampled = Caches(l1_bytes=16 << 10, l2_bytes=128 << 10, every=1, skip=2)
    assert hits(2048, 4, sampled)[0] == pytest.approx(0.75, abs=0.02)


def test_events_tell_what_watched_warps_did_in_order(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(const float* a, float* o) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[63 - threadIdx.x];
}""")
    case = Case(module, "k", 4, 64, zeros(64, np.float32), zeros(64, np.float32))
    options = SimtOptions(block=(64, 1, 1), trace=True)
    result = case.fast(arena, options, watch=Watch(caches=Caches(every=2, events=1000))).launch
    events = [(int(e >> 56), int(e >> 48 & 255), int(e >> 24 & 0xFFFFFF), int(e & 0xFFFFFF)) for e in result.events]
    lines = [e for e in events if e[0] == 5]  # behind an access to global memory: its lines and their sectors
    assert len(lines) == 2 * 2 * 2 * 1 and all(e[3] & 15 == 15 for e in lines)
    events = [e for e in events if e[0] != 5]
    kinds = [e[0] for e in events]
    one_warp = [1, 2, 3]
    assert kinds == [0, *one_warp, *one_warp, 4, 1, 3, 2, 1, 3, 2] * 2
    assert [e[2] for e in events if e[0] == 0] == [0, 2]
    assert all(e[3] & 127 == 4 for e in events if e[0] == 2) and all(e[3] == 32 for e in events if e[0] == 1)
    assert all(e[3] >> 7 & 1 for e in events if e[0] == 2) and all(e[3] == 1 << 16 | 1 for e in events if e[0] == 3)
    assert result.events_lost == 0


@pytest.mark.parametrize(
    ("where", "differ"),
    [
        ("i", 1),
        ("i / 2", 0),
        ("i % 2", 0),
        ("i / 16", 0),
        ("5", 0),
        ("i % 4", 1),
        ("i / 2 % 8", 0),
        ("31 - i", 1),
        ("i == 9", 1),
    ],
)
def test_events_say_whether_neighbouring_lanes_ask_for_different_words(
    where: str, differ: int, cuda: Compile, arena: Arena
) -> None:
    """Different from the lane beside it, and from the one two further."""
    module = cuda(f"""
extern "C" __global__ void k(const float* a, float* o) {{
  __shared__ float s[32];
  unsigned i = threadIdx.x;
  s[i] = 0;
  __syncthreads();
  o[i] = s[{where}] + a[{where}];
}}""")
    case = Case(module, "k", 1, 32, zeros(32, np.float32), zeros(32, np.float32))
    watch = Watch(caches=Caches(every=1, events=1000))
    events = case.fast(arena, SimtOptions(block=(32, 1, 1), trace=True), watch=watch).launch.events
    amounts = [(int(e >> 56), int(e & 0xFFFFFF)) for e in events]
    loaded_shared, loaded = [a for kind, a in amounts if kind == 3][-1], next(a for kind, a in amounts if kind == 2)
    assert (loaded_shared >> 16 & 1, loaded >> 7 & 1) == (differ, differ)


def turns_in_parts(words: list[int], lanes: int) -> int:
    """Of so many lanes at a time, the most different words that one of 32 banks has; added up."""
    total = 0
    for first in range(0, 32, lanes):
        banks: dict[int, set[int]] = {}
        for word in words[first : first + lanes]:
            banks.setdefault(word % 32, set()).add(word)
        total += max(map(len, banks.values()))
    return total


@pytest.mark.parametrize(
    "where",
    ["i", "2 * i", "4 * i", "8 * i", "16 * i", "32 * i", "33 * i", "i % 8 * 16", "i % 8 * 8", "5", "i * i", "i ^ 5"],
)
def test_events_say_how_many_turns_the_banks_take(where: str, cuda: Compile, arena: Arena) -> None:
    module = cuda(f"""
extern "C" __global__ void k(const float* a, float* o) {{
  unsigned i = threadIdx.x;
  o[i] = a[{where}];
}}""")
    case = Case(module, "k", 1, 32, zeros(1100, np.float32), zeros(32, np.float32))
    watch = Watch(caches=Caches(every=1, events=1000))
    events = case.fast(arena, SimtOptions(block=(32, 1, 1), trace=True), watch=watch).launch.events
    amount = next(int(e & 0xFFFFFF) for e in events if int(e >> 56) == 2)
    words = [int(eval(where, {"i": i})) for i in range(32)]
    assert [1 + (amount >> at & 31) for at in (8, 13, 18)] == [turns_in_parts(words, lanes) for lanes in (32, 16, 8)]
