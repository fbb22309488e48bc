"""Loads and stores as machine code makes them, against numbers that are known: of kernels written for it, by NumPy's count.

The oracle reckons from the addresses of all lanes, written down here once more, and from the width of the machine's
instructions; the disassembly says that these are the instructions there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.codegen.cost.block_weights import Source, Weights, weigh_all
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.device.timing_model.machine_accesses import SPIN_TURNS, machine_accesses
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module, print_module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program
from kernelwright.target import gpu
from tests.model.build import access, count, observed, step, weights
from tests.model.running import packed

ARCH = "sm_80"
A100 = gpu("a100")
SOURCES: tuple[Source, ...] = ("machine code", "ptx")
FLOATS = 1024 * 97


@cache
def module() -> Module:
    return compile_program(Path(__file__).parent / "accesses.cu", arch=ARCH).units[0].module


@cache
def mangled(kernel: str) -> str:
    return next(f.name for f in module().kernels if f"{len(kernel)}{kernel}" in f.name)


@cache
def all_weights(source: Source) -> dict[str, Weights]:
    return weigh_all(emit_ptx(print_module(module()), ARCH), ARCH, block_labels(module()), source=source)


@cache
def launched(kernel: str, block: int, *numbers: int) -> Observed:
    """As the executor counts it: one block, on an array of ones (two where the kernel reads one and writes the other)."""
    with Arena() as arena:
        loaded = load(module(), arena, "accesses.cu")
        arrays = [arena.allocate(4 * FLOATS, name) for name in "ab"]
        given = arrays if kernel in ("wide", "guarded") else arrays[:1]
        launch = Launch(mangled(kernel), (1, 1, 1), (block, 1, 1), packed(*given, *numbers))
        machine = VirtualGpu()
        code = machine.compile(loaded, launch.kernel, launch.block, followed=True)
        done = machine.run(Execution(loaded, launch), arena, compiled=code, watch=watch_of(launch.grid))
        assert done.fault is None
        return observe(done.result, launch, [(a.address, a.address + 4 * FLOATS) for a in given])


def totals(o: Observed, kind: str, space: str) -> tuple[int, int, int, int]:
    """Requests, sectors, wavefronts, further turns."""
    some = [a for a in o.accesses if (a.kind, a.space) == (kind, space)]
    return (
        sum(a.requests for a in some), sum(a.sectors for a in some), sum(a.wavefronts for a in some),
        sum(a.serial for a in some),
    )  # fmt: skip


# -- the oracle --------------------------------------------------------------------------------------------------------


def wavefronts(addresses: Sequence[int], width: int) -> int:
    """Of one request: parts of at most 128 bytes, each as long as its busiest bank has different words."""
    lanes = 32 * 4 // max(4, width)
    total = 0
    for first in range(0, len(addresses), lanes):
        words = {a // 4 + k for a in addresses[first : first + lanes] for k in range(max(1, width // 4))}
        total += int(np.bincount([w % 32 for w in words]).max())
    return total


def sectors(addresses: Sequence[int], width: int) -> int:
    return len({(a + k) // 32 for a in addresses for k in range(width)})


THREADS = range(32)


@pytest.mark.parametrize(
    ("kernel", "width", "addresses"),
    [
        ("joined", 16, [[16 * t for t in THREADS]]),
        ("strided", 8, [[16 * t for t in THREADS]]),
        ("shared_rows", 4, [[4 * (33 * row + t) for t in THREADS] for row in range(23)]),
    ],
)
def test_loads_of_shared_memory(kernel: str, width: int, addresses: Sequence[Sequence[int]]) -> None:
    before, w = launched(kernel, 32), all_weights("machine code")[mangled(kernel)]
    assert [s.bytes for s in steps(w) if s.kind == "load_shared"] == [width] * len(addresses)
    assert totals(before, "load", "shared")[0] > len(addresses)
    after = machine_accesses(before, w)
    assert totals(after, "load", "shared") == (len(addresses), 0, sum(wavefronts(a, width) for a in addresses), 0)
    assert totals(after, "store", "shared") == totals(before, "store", "shared")
    assert after.counted_in == "machine code" and after.executed == before.accesses


@pytest.mark.parametrize("source", SOURCES)
def test_neighbours_in_global_memory(source: Source) -> None:
    after = machine_accesses(launched("wide", 32), all_weights(source)[mangled("wide")])
    assert totals(after, "load", "global") == (1, sectors([8 * t for t in THREADS], 8), 0, 0)
    assert totals(after, "store", "global") == (1, 4, 0, 0)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("kernel", "numbers", "requests", "turns"),
    [
        ("operands", (), 0, 0),
        ("uniform_constants", (7,), 7, 0),
        ("scattered_constants", (0,), 1, 0),
        ("scattered_constants", (7,), 1, 7),
        ("scattered_constants", (31,), 1, 31),
    ],
)
def test_constants_have_a_path_of_their_own(
    kernel: str, numbers: tuple[int, ...], requests: int, turns: int, source: Source
) -> None:
    before = launched(kernel, 32, *numbers)
    after = machine_accesses(before, all_weights(source)[mangled(kernel)])
    assert totals(after, "load", "constant") == (requests, 0, 0, turns)
    loads = 1 if kernel == "operands" else 0
    assert totals(after, "load", "global") == totals(before, "load", "global") == (loads, 4 * loads, 0, 0)
    logged = {before.accesses[i].space for block in before.trace for i in block.requests["access"].tolist()}
    assert logged == {"global"}, "the constant cache is no part of L1"


@given(st.integers(0, 31), st.sampled_from([1, 5, 16, 31, 32]))
def test_turns_of_constants(mask: int, threads: int) -> None:
    """As many as lanes ask for different words."""
    turns = len({t & mask for t in range(threads)})
    assert totals(launched("scattered_constants", threads, mask), "load", "constant") == (1, 0, 0, turns - 1)


@pytest.mark.parametrize("source", SOURCES)
def test_parameters_are_constants(source: Source) -> None:
    before = launched("by_value", 32, 0x40000000, 0x40000000, 3)
    assert totals(before, "load", "constant")[0] == 2 and totals(before, "load", "global")[0] == 1
    after = machine_accesses(before, all_weights(source)[mangled("by_value")])
    assert totals(after, "load", "constant") == (0, 0, 0, 0)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("n", "warps"), [(0, 0), (1, 1), (33, 2), (128, 4)])
def test_a_guarded_load_is_a_request_where_lanes_are_left(n: int, warps: int, source: Source) -> None:
    after = machine_accesses(launched("guarded", 128, n), all_weights(source)[mangled("guarded")])
    assert totals(after, "load", "global")[0] == warps
    assert totals(after, "store", "global")[0] == 4


def test_spilled_registers_are_counted() -> None:
    """The IR knows nothing of them; each thread has words of its own, so a word of a warp is four sectors."""
    w = all_weights("machine code")[mangled("spilled")]
    found = Counter((s.kind, s.bytes) for s in steps(w) if s.kind.endswith("_local"))
    before = launched("spilled", 1024, 0)
    after = machine_accesses(before, w)
    assert not totals(before, "load", "local")[0]
    for kind in ("load", "store"):
        here = {width: n for (k, width), n in found.items() if k == f"{kind}_local"}
        assert here, "the kernel is meant to spill"
        asked = sum(here.values()) * 32
        assert totals(after, kind, "local")[:2] == (asked, sum(n * width for width, n in here.items()) * 32)
    said = estimate(before, w, A100)
    assert said.sources["accesses"] == "machine code"


def steps(w: Weights) -> Iterator[object]:
    return (s for segments in w.blocks.values() for segment in segments for s in segment)


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_what_is_left_of_a_line_goes_to_the_block_and_what_is_left_there_elsewhere() -> None:
    o = observed(
        [count("entry", 10), count("body", 30)],
        [
            access(requests=10, sectors=40, line=1),
            access(requests=10, sectors=80, line=2),
            access(requests=30, sectors=30, label="body", line=3),
        ],
    )
    w = weights({"entry": [loading(line=2), loading(line=9)], "body": []})
    assert [a.requests for a in machine_accesses(o, w).accesses] == [10, 10, 0]
    hoisted = weights({"entry": [loading(line=2), loading(line=3, block="body")], "body": []})
    after = machine_accesses(o, hoisted)
    assert [(a.requests, a.sectors) for a in after.accesses] == [(0, 0), (10, 80), (10, 10)]
    assert [a.group for a in after.accesses] == [0, 0, 1]


def test_no_access_gets_more_than_was_executed() -> None:
    o = observed([count("entry", 10)], [access(requests=10, sectors=40)])
    assert machine_accesses(o, weights({"entry": [loading(), loading(), loading()]})).accesses[0].requests == 10


def test_without_instructions_that_ask_for_anything_nothing_changes() -> None:
    o = observed([count("entry", 10)], [access(requests=10, sectors=40)])
    assert machine_accesses(o, weights({"entry": [step("fp32")]})) is o


def test_twice_is_once() -> None:
    o = observed([count("entry", 10)], [access(requests=10, sectors=40), access(requests=10, sectors=40)])
    once = machine_accesses(o, weights({"entry": [loading()]}))
    assert [a.requests for a in once.accesses] == [5, 5] and machine_accesses(
        once, weights({"entry": [loading()]})
    ) is once


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_totals_are_exact(asked: list[int], made: list[int]) -> None:
    """However many accesses share however many instructions: no request is lost, none is invented."""
    labels = [f"b{i}" for i in range(len(made))]
    o = observed(
        [count("entry", 0), *(count(label, n) for label, n in zip(labels, made, strict=True))],
        [access(requests=n, sectors=3 * n) for n in asked],
    )
    w = weights({label: [loading()] for label in labels})
    after = machine_accesses(o, w)
    assert sum(a.requests for a in after.accesses) == min(sum(asked), sum(made))
    assert all(0 <= a.requests <= n and a.sectors == 3 * a.requests for a, n in zip(after.accesses, asked, strict=True))


def loading(line: int = 0, block: str = "entry") -> object:
    return step("load_global", line=line, block=block, bytes=4)


def test_what_brings_more_than_a_line_asks_for_is_another_lines() -> None:
    """A merged load has the line of its neighbour: of two rows that are read by 16 bytes (line 27) and two vectors of 8 bytes (whose loads
    have no line, in the machine code one has the rows'), each gets its own. Divided by requests alone, the rows got half of the second."""
    rows, vectors = [access(requests=10, sectors=10, line=27)] * 8, [access(requests=10, sectors=80)] * 4
    wide, narrow = (step("load_global", line=27, bytes=16) for _ in range(2)), step("load_global", line=27, bytes=8)
    w = weights({"entry": [*wide, narrow, step("load_global", line=48, bytes=8)]})
    after = machine_accesses(observed([count("entry", 10)], [*rows, *vectors]), w)
    assert sum(a.requests for a in after.accesses[:8]) == 20 == sum(a.sectors for a in after.accesses[:8])
    assert sum(a.requests for a in after.accesses[8:]) == 20 and sum(a.sectors for a in after.accesses[8:]) == 160


def test_an_access_may_get_more_than_its_bytes_where_no_other_lacks_any() -> None:
    """As where a load is made twice."""
    o = observed(
        [count("entry", 10)], [access(requests=10, sectors=10, line=1), access(requests=10, sectors=10, line=1)]
    )
    after = machine_accesses(o, weights({"entry": [step("load_global", line=1, bytes=8), loading(1)]}))
    assert [a.requests for a in after.accesses] == [10, 10]


# -- wide accesses ------------------------------------------------------------------------------------------------------

MEASURED = [
    # words of an instruction, of an access of the IR, its turns per request, share whose neighbours differ, turns measured on an H100
    (2, 1, 2, 1.0, 2), (2, 1, 1, 0.0, 1), (2, 1, 1, 1.0, 2), (2, 2, 2, 1.0, 2), (2, 2, 2, 0.0, 1),
    (4, 1, 4, 1.0, 4), (4, 1, 1, 0.0, 2), (4, 1, 2, 1.0, 4), (4, 1, 1, 1.0, 4), (4, 4, 4, 1.0, 4), (4, 4, 4, 0.0, 2), (4, 2, 2, 0.0, 2),
    (1, 1, 1, 1.0, 1), (1, 1, 7, 0.0, 7), (4, 1, 9, 1.0, 9), (4, 1, 1, 0.5, 3),
]  # fmt: skip


@pytest.mark.parametrize(("words", "own", "turns", "apart", "measured"), MEASURED)
def test_lanes_of_a_wide_access_take_turns_by_halves_and_quarters(
    words: int, own: int, turns: int, apart: float, measured: int
) -> None:
    """``2026-11-27-nvidia-h100-80gb-hbm3.json``: shared memory, 8 and 16 bytes a lane; without what its adding takes."""
    some = [access(space="shared", requests=80, wavefronts=80 * turns, bytes=4 * own, apart=apart)] * (words // own)
    w = weights({"entry": [step("load_shared", bytes=4 * words)]})
    after = machine_accesses(observed([count("entry", 80)], some), w)
    assert sum(a.requests for a in after.accesses) == 80
    assert sum(a.wavefronts for a in after.accesses) == 80 * measured


@pytest.mark.parametrize(
    ("words", "apart", "passes"), [(1, 1.0, 1), (2, 1.0, 2), (4, 1.0, 4), (4, 0.0, 2), (2, 0.0, 1)]
)
def test_the_l1_cache_is_taken_to_serve_lanes_likewise(words: int, apart: float, passes: int) -> None:
    some = [access(requests=80, sectors=80, apart=apart)] * words
    w = weights({"entry": [step("load_global", bytes=4 * words)]})
    after = machine_accesses(observed([count("entry", 80)], some), w)
    assert sum(a.passes for a in after.accesses) == 80 * passes


@pytest.mark.parametrize(
    ("words", "apart", "passes"), [(1, 1.0, 4), (2, 1.0, 8), (4, 1.0, 16), (4, 0.0, 8), (1, 0.0, 4)]
)
def test_lanes_that_meet_in_a_bank_of_l1_go_one_after_the_other(words: int, apart: float, passes: int) -> None:
    """Eight lanes 64 bytes apart, and the same again every eight lanes: four meet in a bank, of every part of the request."""
    some = [replace(access(requests=80, sectors=80, apart=apart), turns=(4.0, 8.0, 16.0))] * words
    w = weights({"entry": [step("load_global", bytes=4 * words)]})
    after = machine_accesses(observed([count("entry", 80)], some), w)
    assert sum(a.passes for a in after.accesses) == 80 * passes


# -- atomics of shared memory ----------------------------------------------------------------------------------------------

ATOMICS = """
extern "C" __global__ void ones(int *out) {
  __shared__ int sum[32];
  sum[threadIdx.x] = 0;
  atomicAdd(&sum[out[0]], 1);
  out[threadIdx.x] = sum[threadIdx.x];
}
extern "C" __global__ void values(int *out) {
  __shared__ int sum[32];
  sum[threadIdx.x] = 0;
  atomicAdd(&sum[out[0]], out[1]);
  out[threadIdx.x] = sum[threadIdx.x];
}
extern "C" __global__ void floats(float *out) {
  __shared__ float sum[32];
  sum[threadIdx.x] = 0;
  atomicAdd(&sum[threadIdx.x & 1], out[1]);
  out[threadIdx.x] = sum[threadIdx.x];
}
extern "C" __global__ void compared(int *out) {
  __shared__ int sum[32];
  sum[threadIdx.x] = 0;
  out[threadIdx.x] = atomicCAS(&sum[threadIdx.x & 1], out[0], out[1]);
}
"""


@pytest.mark.parametrize(
    ("kernel", "turns"), [("ones", 0), ("values", 31), ("floats", 15 * SPIN_TURNS), ("compared", 15)]
)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_lanes_that_meet_at_a_word_of_shared_memory(kernel: str, turns: int, arch: str, tmp_path: Path) -> None:
    """Adding 1 counts the lanes at once; adding a float compares and swaps until it has won. The code says so, not the IR."""
    source = tmp_path / "atomics.cu"
    source.write_text(ATOMICS)
    made = compile_program(source, arch=arch).units[0].module
    weighed = weigh_all(emit_ptx(print_module(made), arch), arch, block_labels(made), source="machine code")[kernel]
    with Arena() as arena:
        loaded = load(made, arena, "atomics.cu")
        out = arena.allocate(128, "out")
        arena.view(out, np.int32)[:] = 0
        launch = Launch(kernel, (1, 1, 1), (32, 1, 1), packed(out))
        machine = VirtualGpu()
        code = machine.compile(loaded, kernel, launch.block, followed=True)
        done = machine.run(Execution(loaded, launch), arena, compiled=code, watch=watch_of(launch.grid))
        assert done.fault is None
        seen = observe(done.result, launch, [(out.address, out.address + 128)])
    (atomic,) = (a for a in machine_accesses(seen, weighed).accesses if a.kind == "atomic")
    assert (atomic.space, atomic.requests, atomic.serial) == ("shared", 1, turns)


def test_the_slowest_atomic_of_a_line_decides() -> None:
    lane = access("atomic", space="shared", requests=4, serial=12)
    o = observed([count("entry", 4)], [lane])
    slow = replace(step("atomic"), spins=True)
    for steps, turns in (
        ([replace(step("atomic"), counts_lanes=True)], 0),
        ([step("atomic"), replace(step("atomic"), counts_lanes=True)], 12),
        ([step("atomic"), slow], 12 * SPIN_TURNS),
    ):
        made = machine_accesses(o, weights({"entry": [*steps, step("load_global", bytes=4)]}))
        assert made.accesses[0].serial == turns
