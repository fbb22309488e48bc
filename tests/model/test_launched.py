"""Launches of the virtual GPU as the model sees them: traffic that is known beforehand, and figures that repeat."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kernelwright.codegen.cost.loop_copies import original
from kernelwright.codegen.cost.slow_paths import slow_label
from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.launching.watching import Caches, Watch
from kernelwright.device.arena import Arena
from kernelwright.device.timing_model.atomics import CYCLES
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.device.timing_model.machine_accesses import machine_accesses
from kernelwright.errors import DeviceError
from kernelwright.launch import Launch
from kernelwright.target import GPUS, gpu
from tests.model.running import ARCH, SOURCE, Device, all_weights, compiled, module, packed

H100 = gpu("h100")


@pytest.fixture
def device() -> Iterator[Device]:
    with Arena() as arena:
        yield Device(arena)


def by_kind(o: Observed, kind: str, space: str = "global") -> list[int]:
    """Requests, sectors, wavefronts and further turns of all accesses of a kind."""
    found = [a for a in o.accesses if (a.kind, a.space) == (kind, space)]
    return [sum(getattr(a, f) for a in found) for f in ("requests", "sectors", "wavefronts", "serial")]


def test_saxpy(device: Device) -> None:
    """64 blocks of 256 threads: 512 warps, two loads and a store each, 4 sectors to a request."""
    n = 64 * 256
    x, y = device.floats(n, "x"), device.floats(n, "y")
    o = device.observe("saxpy", 64, 256, [n, 2.0, x, y])
    assert by_kind(o, "load") == [1024, 4096, 0, 0]
    assert by_kind(o, "store") == [512, 2048, 0, 0]
    assert {a.line for a in o.accesses} == {4} and o.accesses[0].file.endswith("kernels.cu")
    assert max(b.executions for b in o.blocks) == 512 and max(b.lanes for b in o.blocks) == n
    found = estimate(o, all_weights()["saxpy"], H100)
    assert found.l1_hit_rate == 0
    # x and y are read once each, and y is written: nothing is read twice, nothing is found in L2 but what is stored.
    assert found.dram_bytes == pytest.approx(3 * 4 * n, rel=0.01)
    assert dict(found.sources)["weights"] == f"machine code of {ARCH}"
    assert found.sources["paths"] == "logged" and found.sources["caches"] == "replayed"
    assert "without frequency" not in found.sources


def test_structures_that_are_copied(device: Device) -> None:
    """64 warps copy a ``float4`` a lane: code generation joins its four loads into one request of 16 sectors."""
    x, y = device.floats(4 * 64 * 32, "x"), device.floats(4 * 64 * 32, "y")
    o = device.observe("copy4", 64, 32, [y, x])
    made = machine_accesses(o, all_weights()["copy4"])
    assert by_kind(made, "load") == by_kind(made, "store") == [64, 64 * 16, 0, 0]
    assert estimate(o, all_weights()["copy4"], H100).dram_bytes == pytest.approx(2 * 4 * 4 * 64 * 32, rel=0.01)


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (8, 32), (32, 32)])
def test_sectors_of_a_request(device: Device, stride: int, sectors: int) -> None:
    x, y = device.floats(32 * 64 * 32, "x"), device.floats(64 * 32, "y")
    o = device.observe("strided", 64, 32, [stride, x, y])
    assert by_kind(o, "load") == [64, 64 * sectors, 0, 0]


@pytest.mark.parametrize(("stride", "degree"), [(1, 1), (2, 2), (4, 4), (32, 32)])
def test_bank_conflicts(device: Device, stride: int, degree: int) -> None:
    o = device.observe("conflicts", 10, 32, [stride, device.floats(320, "y")])
    assert by_kind(o, "load", "shared")[2] == 10 * degree
    assert by_kind(o, "store", "shared")[2] == 10 * degree
    found = estimate(o, all_weights()["conflicts"], H100)
    assert found.barriers == 1


def test_atomics_on_one_word(device: Device) -> None:
    sum_of = device.floats(1, "sum")
    o = device.observe("count_all", 40, 64, [sum_of])
    assert by_kind(o, "atomic") == [80, 80, 0, 80 * 31]
    found = estimate(o, all_weights()["count_all"], H100)
    # 80 warps, whose 32 lanes take turns at one word.
    assert {t.name: t.cycles for t in found.terms}["atomics"] == pytest.approx(80 * 32 * CYCLES)


def test_pieces_behind_barriers_are_told_apart(device: Device) -> None:
    o = device.observe("conflicts", 1, 32, [1, device.floats(32, "y")])
    whole = [b for b in o.blocks if b.executions]
    assert [(b.barriers, b.starts) for b in whole] == [(0, True), (1, True)]
    assert len({b.label for b in whole}) == 1


def test_a_place_where_lanes_wait_for_each_other_starts_nothing_anew(device: Device) -> None:
    """The executor cuts the block at the shuffle; the machine runs it in one go."""
    o = device.observe("exchange", 1, 32, [device.floats(32, "y")])
    cut = [b for b in o.blocks if [a.label for a in o.blocks].count(b.label) > 1 and b.executions]
    assert len(cut) >= 2 and [b.starts for b in cut] == [True] + [False] * (len(cut) - 1)
    assert all(b.barriers == 0 for b in cut)


def test_requests_take_turns(device: Device) -> None:
    """Two warps read five times each: the log has one warp after the other, the caches see them alternate."""
    x, y = device.floats(64, "x"), device.floats(64, "y")
    trace = device.observe("again", 1, 64, [5, x, y]).trace[0]
    lines = [int(trace.lines[r["first_line"]] >> 4) for r in trace.requests]
    assert len(lines) == 12
    assert lines[:10] == [lines[0], lines[0] + 1] * 5


def test_warps_are_followed(device: Device) -> None:
    """Warp w goes round the loop 5 w times; the barrier waits for the longest."""
    x, y = device.floats(4096, "x"), device.floats(4096, "y")
    o = device.observe("uneven", 2, 128, [5, x, y])
    assert [t.number for t in o.trace] == [0, 1]
    lengths = [len(path) for path in o.trace[0].paths]
    assert lengths == sorted(lengths) and lengths[3] > lengths[0] + 4
    for trace in o.trace:
        for index, block in enumerate(o.blocks):
            assert 0 <= sum(int((p == index).sum()) for p in trace.paths) <= block.executions
    total = sum(len(p) for t in o.trace for p in t.paths)
    assert total == sum(b.executions for b in o.blocks)


def test_a_line_read_again_costs_a_hit(device: Device) -> None:
    x, y = device.floats(32 * 64, "x"), device.floats(32 * 64, "y")
    found = estimate(device.observe("again", 64, 32, [10, x, y]), all_weights()["again"], H100)
    # Ten loads, the first misses; the stores all go to L2.
    assert found.l1_hit_rate == pytest.approx(36 / 44)
    assert found.dram_bytes == pytest.approx(2 * 4 * 32 * 64)


def test_without_a_log(device: Device) -> None:
    x, y = device.floats(32 * 64, "x"), device.floats(32 * 64, "y")
    o = device.observe("again", 64, 32, [10, x, y], log=False)
    assert o.trace == ()
    found = estimate(o, all_weights("ptx")["again"], H100)
    assert (found.sources["paths"], found.sources["caches"], found.sources["registers"]) == ("counts", "assumed", "ptx")
    assert found.sources["weights"] == "ptx of sm_90"


def test_a_launch_that_faulted_has_no_time(device: Device) -> None:
    """Reading where nothing is costs nothing and yields zeros: so it must not be timed at all."""
    with pytest.raises(DeviceError, match="stopped with a fault \\(out-of-bounds\\)"):
        device.observe("too_far", 1, 32, [device.floats(32, "y")])


@pytest.mark.parametrize("name", sorted(GPUS))
def test_every_gpu_has_an_estimate(device: Device, name: str) -> None:
    """With its own machine code or a stand-in's; all instructions find their blocks."""
    it = gpu(name)
    x, y = device.floats(4096, "x"), device.floats(4096, "y")
    o = device.observe("uneven", 8, 128, [5, x, y])
    found = estimate(o, all_weights("", it.arch)["uneven"], it)
    assert found.time_us > it.launch_us
    assert "without frequency" not in found.sources


def test_labels_are_those_of_the_ptx() -> None:
    """Every block that PTX charges something to is a block of the IR."""
    labels = {name: {*own, *map(slow_label, own)} for name, own in block_labels(module()).items()}
    for source in ("", "ptx"):
        for w in all_weights(source).values():
            assert {original(label) for f, label in w.blocks if f == w.kernel} <= labels[w.kernel]


def test_what_is_watched_is_the_same_every_time() -> None:
    one, other = watch_of((1000, 2, 1)), watch_of((1000, 2, 1))
    assert one == other and one.caches is not None and len(one.caches.blocks) == 24


SCRIPT = """
from kernelwright.device.arena import Arena
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.target import GPUS
from tests.model.running import Device, all_weights
with Arena() as arena:
    d = Device(arena)
    x, y = d.floats(65536, "x"), d.floats(65536, "y")
    for kernel, grid, arguments in (("uneven", 300, [5, x, y]), ("half_warp", 1, [y]), ("conflicts", 100, [8, y])):
        o = d.observe(kernel, grid, 32 if kernel == "conflicts" else 128, arguments)
        for it in GPUS.values():
            print(repr(estimate(o, all_weights()[kernel], it)))
"""


def test_figures_repeat_bit_for_bit_in_other_processes(capsys: pytest.CaptureFixture[str]) -> None:
    """Another process has other addresses, other hashes and other object ids."""
    exec(SCRIPT, {})
    here = capsys.readouterr().out
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=SOURCE.parents[2],
        env={**os.environ, "PYTHONPATH": "src:.", "PYTHONHASHSEED": "77"},
    ).stdout  # fmt: skip
    assert here == there and here.count("Estimate(") == 3 * len(GPUS)


def test_of_long_warps_the_log_has_as_much_of_each(device: Device) -> None:
    """Every watched block is there as far as its share goes, and what it does beyond that is reckoned from the counters."""
    x, y = device.floats(1 << 22, "x"), device.floats(4096, "y")
    run = compiled("sums", (64, 1, 1), True)
    launch = Launch("sums", (64, 1, 1), (64, 1, 1), packed(800, x, y))
    whole = run.launch(device.arena, launch, watch=watch_of((64, 1, 1)))
    assert (whole.events_lost, whole.events_beyond) == (0, 0) and not observe(whole, launch).ends_early
    events = len(whole.events) // 3
    cut = run.launch(device.arena, launch, watch=watch_of((64, 1, 1), events))
    seen, every = observe(cut, launch), observe(whole, launch)
    assert seen.ends_early and cut.events_lost == 0 and len(cut.events) <= 1.1 * events
    assert [t.number for t in seen.trace] == [t.number for t in every.trace]
    for short, long in zip(seen.trace, every.trace, strict=True):
        for one, other in zip(short.paths, long.paths, strict=True):
            assert 0.3 * len(other) < len(one) < 0.4 * len(other) and one.tolist() == other[: len(one)].tolist()
        # A warp ends where a block of the kernel begins: all that it asked for before is there.
        assert short.requests["at"].max() == max(map(len, short.paths)) - 1
    got, wanted = (estimate(each, all_weights()["sums"], H100) for each in (seen, every))
    assert got.dram_bytes == pytest.approx(wanted.dram_bytes, rel=0.05)
    assert got.cycles == pytest.approx(wanted.cycles, rel=0.05)


def test_a_log_without_shares_drops_the_block_it_ends_in(device: Device) -> None:
    """Of two watched blocks the second is cut off; a single one is kept as far as it goes."""
    x, y = device.floats(4096, "x"), device.floats(4096, "y")
    run = compiled("again", (32, 1, 1), True)
    launch = Launch("again", (2, 1, 1), (32, 1, 1), packed(50, x, y))

    def logged(events: int) -> LaunchResult:
        return run.launch(device.arena, launch, watch=Watch(caches=Caches(every=1, events=events)))

    n = len(logged(1 << 20).events)
    for events, expected in ((n, [0, 1]), (n - 1, [0]), (n // 4, [0])):
        cut = logged(events)
        assert [t.number for t in observe(cut, launch).trace] == expected
        assert bool(cut.events_lost) == (events < n)
