"""Every term of the estimate by hand, and how terms become a time."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from kernelwright.calibration import Calibration
from kernelwright.device.timing_model.atomics import BYTES_PER_OPERATION, CYCLES, SPREAD, sector_operations
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.errors import DeviceError
from kernelwright.target import gpu
from tests.model.build import access, asked, count, observed, paths, step, weights

H100, P100, A100 = gpu("h100"), gpu("p100"), gpu("a100")


def terms(found: Estimate) -> dict[str, float]:
    return {t.name: t.cycles for t in found.terms}


# 132 blocks of 4 warps: one block on each multiprocessor, every warp runs the block once.
BLOCKS = {"grid": 132, "block": 128}
WARPS = 4 * 132


@pytest.mark.parametrize(
    ("kind", "pipe", "name", "per_warp"),
    [
        ("fp32", "fma", "fma", 32 / 128),
        ("int", "alu", "alu", 32 / 64),
        ("int", "imad", "fma", 32 / 64),  # half of the multiply-add pipe
        ("fp64", "fp64", "fp64", 32 / 64),
        ("special", "xu", "xu", 32 / 16),
        ("warp", "warp", "warp", 32 / 32),
        ("branch", "branch", "branch", 32 / 64),
        ("load_global", "lsu", "l1", 32 / 32),
    ],
)
def test_a_pipe_is_busy_for_its_turns(kind: str, pipe: str, name: str, per_warp: float) -> None:
    """100 instructions of each of 4 warps on the one block of a multiprocessor."""
    w = weights({"entry": [step(kind, pipe=pipe) for _ in range(100)]})
    found = terms(estimate(observed([count("entry", WARPS)], **BLOCKS), w, H100))
    assert found[name] == pytest.approx(4 * 100 * per_warp)
    assert found["issue"] == pytest.approx(4 * 100 / 4)


def test_multiply_adds_of_both_kinds_share_a_pipe() -> None:
    for single, whole, expected in ((150, 100, 4 * 250 * 32 / 128), (50, 100, 4 * 100 * 32 / 64)):
        steps = [step("fp32") for _ in range(single)] + [step("int", pipe="imad") for _ in range(whole)]
        found = terms(estimate(observed([count("entry", WARPS)], **BLOCKS), weights({"entry": steps}), H100))
        assert found["fma"] == expected


def test_sectors_at_the_l1_port_the_l2_port_and_in_memory() -> None:
    """Every warp reads 32 scattered sectors: 128 bytes per cycle into L1, 64 from L2, and the chip's own limits."""
    w = weights({"entry": [step("load_global")]})
    o = observed([count("entry", WARPS)], [access(requests=WARPS, sectors=32 * WARPS)], **BLOCKS)
    found = terms(estimate(o, w, H100))
    per_sm = 4 * 32 * 32
    assert found["l1"] == per_sm / 128
    assert found["l2"] == 132 * per_sm / H100.l2_bytes_per_cycle
    alone = observed([count("entry", 4)], [access(requests=4, sectors=128)], block=128)
    assert terms(estimate(alone, w, H100))["l2"] == per_sm / 64
    # Nothing was logged: half of what is read is assumed to come from memory, no more than the buffers hold.
    assert "memory" not in found
    o = observed(
        [count("entry", WARPS)], [access(requests=WARPS, sectors=32 * WARPS)], buffers=[(0, 1 << 30)], **BLOCKS
    )
    assert terms(estimate(o, w, H100))["memory"] == pytest.approx(132 * per_sm / 2 / H100.dram_bytes_per_cycle)


def test_a_request_takes_a_turn_however_few_its_sectors() -> None:
    w = weights({"entry": [step("load_global")]})
    o = observed([count("entry", WARPS)], [access(requests=WARPS, sectors=WARPS)], **BLOCKS)
    assert terms(estimate(o, w, H100))["l1"] == 4


def test_bank_conflicts_take_turns_at_one_port_with_l1_from_volta_on() -> None:
    w = weights({"entry": [step("load_shared"), step("load_global")]})
    accesses = [access(space="shared", requests=WARPS, wavefronts=8 * WARPS), access(requests=WARPS, sectors=WARPS)]
    o = observed([count("entry", WARPS)], accesses, **BLOCKS)
    assert terms(estimate(o, w, H100))["l1"] == 4 * (8 + 1)
    pascal = terms(estimate(o, w, P100))
    busiest = math.ceil(132 / 56)
    assert pascal["shared"] == pytest.approx(busiest * 4 * 8)
    assert pascal["l1"] == pytest.approx(busiest * 4 * 2)  # two requests


def test_atomics_on_one_line_take_turns_over_the_whole_chip() -> None:
    """The lanes that meet at a word take turns; words of other pieces of 256 bytes do not wait for them."""
    w = weights({"entry": [step("atomic")]})
    all_on_one = access("atomic", requests=WARPS, sectors=WARPS, serial=31 * WARPS)
    hot = [asked(n, [(0, [(7, 1)])] * 4, [0]) for n in range(4)]
    o = observed([count("entry", WARPS)], [all_on_one], trace=hot, **BLOCKS)
    assert terms(estimate(o, w, H100))["atomics"] == pytest.approx(32 * WARPS * CYCLES)
    apart = [asked(n, [(0, [(8 * n + 2 * i, 1)]) for i in range(4)], [0]) for n in range(4)]
    o = observed([count("entry", WARPS)], [all_on_one], trace=apart, **BLOCKS)
    assert terms(estimate(o, w, H100))["atomics"] == pytest.approx(32 * WARPS * CYCLES / 16**SPREAD)
    # On many lines it is all slices together.
    each_its_own = access("atomic", requests=WARPS, sectors=32 * WARPS)
    many = [asked(n, [(0, [(1000 * n + 100 * i + j, 1) for j in range(32)]) for i in range(4)], [0]) for n in range(4)]
    o = observed([count("entry", WARPS)], [each_its_own], trace=many, **BLOCKS)
    together = 32 * WARPS * BYTES_PER_OPERATION / H100.l2_bytes_per_cycle
    assert terms(estimate(o, w, H100))["atomics"] == pytest.approx(together)


@pytest.mark.parametrize(
    ("lanes", "serial", "sectors", "operations"),
    [
        (32, 31, 1, 32),
        (32, 0, 4, 4),
        (32, 3, 1, 4),
        (32, 1, 2, 4),
        (32, 3, 8, 32),
        (32, 7, 8, 32),
        (16, 0, 16, 16),
        (1, 0, 1, 1),
    ],
)
def test_turns_of_an_atomic(lanes: int, serial: int, sectors: int, operations: int) -> None:
    """Lanes, the further turns that most of them need, and the sectors that they lie in: as many turns in each as lanes meet."""
    o = observed([replace(count("entry", 7), lanes=7 * lanes)])
    found = sector_operations(o, access("atomic", requests=7, sectors=7 * sectors, serial=7 * serial))
    assert found == 7 * operations
    assert sector_operations(o, access("atomic", requests=0)) == 0


@pytest.mark.parametrize(
    ("grid", "busiest", "waves"), [(1, 1, 1), (132, 1, 1), (133, 2, 1), (1056, 8, 1), (1057, 9, 2), (2112, 16, 2)]
)
def test_waves_and_tails(grid: int, busiest: int, waves: int) -> None:
    """256 threads and 32 registers: 8 blocks at a time on each of 132 multiprocessors. The busiest one decides."""
    w = weights({"entry": [step("fp32", stall=4) for _ in range(10)]})
    o = observed([count("entry", 8 * grid)], grid=grid, block=256, trace=[paths(0, *[[0]] * 8)])
    found = estimate(o, w, H100)
    assert found.waves == waves
    assert terms(found)["latency"] == waves * 40
    assert terms(found)["issue"] == pytest.approx(busiest * 8 * 10 / 4)


def test_time_is_launch_and_cycles_over_clock() -> None:
    w = weights({"entry": [step("fp32", stall=4)]})
    found = estimate(observed([count("entry", 1)], trace=[paths(0, [0])]), w, H100)
    assert found.time_us == H100.launch_us + found.cycles / 1980
    assert found.cycles == pytest.approx(4, rel=0.01)
    assert found.bound_by == "latency"


def test_a_kernel_that_does_nothing_takes_a_launch() -> None:
    found = estimate(observed([count("entry", 1)]), weights({"entry": []}), H100)
    assert (found.time_us, found.cycles, found.bound_by, found.lines) == (H100.launch_us, 0.0, "launch", ())


@pytest.mark.parametrize("norm", [1, 2, 4, 8, 16])
def test_places_are_joined_by_a_power_mean(norm: int) -> None:
    """What the chip does and waits; with what multiprocessors do: their sum with norm 1, hardly more than one with 16."""
    w = weights({"entry": [step("fp64") for _ in range(300)]})
    found = estimate(observed([count("entry", WARPS)], **BLOCKS), w, H100, Calibration(norm=norm))
    busy = terms(found)
    places = [(busy["fp64"] ** 4 + busy["issue"] ** 4) ** 0.25, busy["blocks"] + busy["latency"]]
    assert found.cycles == pytest.approx(sum(x**norm for x in places) ** (1 / norm), rel=1e-3)


def test_what_a_gpu_of_hopper_waits_for_and_what_its_memory_does_add_up() -> None:
    """A thread that reads one number, and as many of them as memory takes a microsecond for."""
    w = weights({"entry": [step("load_global", sets=0), step("fp32", waits=(0,))]})
    grid = 1320
    o = observed(
        [count("entry", 32 * grid)], [access(requests=32 * grid, sectors=4 * 32 * grid)], grid=grid, block=1024,
        trace=[paths(0, *[[0]] * 32)], buffers=[(0, 1 << 30)],
    )  # fmt: skip
    for name, together in (("h100", float.__add__), ("h200", float.__add__), ("a100", math.hypot)):
        found = estimate(o, w, replace(gpu(name), block_cycles=0.0), Calibration(norm=16))
        busy = terms(found)
        assert busy["memory"] > 1000 and busy["latency"] > 1000
        assert found.cycles == pytest.approx(together(busy["memory"], busy["latency"]), rel=0.05), name


def test_parts_of_a_multiprocessor_overlap_in_part() -> None:
    """Two that are busy for the same time take 2^(1/4) of it."""
    w = weights({"entry": [step("fp64") for _ in range(300)] + [step("special", times=0.25) for _ in range(300)]})
    found = estimate(
        observed([count("entry", WARPS)], **BLOCKS), w, replace(H100, block_cycles=0.0), Calibration(norm=16)
    )
    busy = terms(found)
    assert busy["fp64"] == busy["xu"] and found.cycles == pytest.approx(2**0.25 * busy["xu"], rel=0.03)


def test_shares_say_what_limits() -> None:
    w = weights({"entry": [step("special") for _ in range(100)] + [step("fp32") for _ in range(100)]})
    found = estimate(observed([count("entry", WARPS)], **BLOCKS), w, H100)
    assert found.bound_by == "xu" and found.terms[0].share > 0.9
    assert math.fsum(t.share for t in found.terms) == pytest.approx(1)
    assert [t.share for t in found.terms] == sorted((t.share for t in found.terms), reverse=True)


def test_latency_and_barriers_add_up_before_they_overlap() -> None:
    w = weights({"entry": [step("fp32", stall=15), step("barrier")]})
    blocks = [count("entry", 4), count("entry", 4, barriers=1)]
    o = observed(blocks, block=128, trace=[paths(0, *[[0, 1]] * 4)])
    found = estimate(o, w, H100, Calibration(norm=16))
    busy = terms(found)
    assert busy["barriers"] == H100.sm.barrier_latency + 4 * H100.sm.barrier_warp_cycles
    assert busy["latency"] == 16
    assert found.cycles == pytest.approx(busy["barriers"] + busy["latency"], rel=1e-3)
    assert found.barriers == 1


def test_source_lines_get_their_part_of_each_term() -> None:
    """Line 3 is arithmetic, line 5 waits for memory; together they are the whole."""
    steps = [step("special", line=3) for _ in range(50)]
    steps += [step("load_global", sets=0, line=5), step("fp32", waits=(0,), line=6)]
    o = observed(
        [count("entry", WARPS)], [access(requests=WARPS, sectors=4 * WARPS, line=5)], trace=[paths(0, [0])], **BLOCKS
    )
    found = estimate(o, weights({"entry": steps}), H100)
    by_line = {each.line: each.share for each in found.lines}
    assert math.fsum(by_line.values()) == pytest.approx(1)
    assert math.fsum(each.cycles for each in found.lines) == pytest.approx(found.cycles)
    share = {t.name: t.share for t in found.terms}
    assert by_line[3] == pytest.approx(
        share["xu"] + share["issue"] * 50 / 52 + share["latency"] * 50 / (50 + H100.l2_latency + 1), rel=0.02
    )
    assert by_line[5] > by_line[6]
    assert found.lines[0].file == "k.cu"


def test_work_without_a_line_is_kept_under_none() -> None:
    found = estimate(observed([count("entry", WARPS)], **BLOCKS), weights({"entry": [step("fp32")]}), H100)
    assert [(each.file, each.line) for each in found.lines] == [("", 0)]


def test_instructions_by_class() -> None:
    w = weights({"entry": [step("fp32"), step("int"), step("int")], "body": [step("fp32", times=0.5)]})
    found = estimate(observed([count("entry", 2), count("body", 10)], block=64), w, H100)
    assert dict(found.instructions) == {"fp32": 2 + 5, "int": 4}


def test_the_estimate_says_what_it_was_read_from() -> None:
    o = observed([count("entry", 1)], [access(requests=1, sectors=1)])
    found = estimate(o, weights({"entry": [step("fp32")], "lost": [step("int")]}, source="ptx"), H100)
    assert dict(found.sources) == {
        "weights": "ptx of sm_90",
        "registers": "ptx",
        "paths": "counts",
        "accesses": "IR",
        "caches": "assumed",
        "calibration": "uncalibrated",
        "without frequency": "1 instructions of uncounted blocks",
    }
    logged = observed([count("entry", 1)], [access(requests=1, sectors=1)], trace=[asked(0, [(0, [(1, 1)])], [0])])
    sources = estimate(logged, weights({"entry": [step("fp32")]}), A100).sources
    assert sources["weights"] == "machine code of sm_90, standing in for sm_80"
    assert (sources["paths"], sources["caches"]) == ("logged", "replayed")


def test_json() -> None:
    found = estimate(observed([count("entry", 1)]), weights({"entry": [step("fp32")]}), H100)
    read = json.loads(json.dumps(found.as_json()))
    assert read["bound_by"] == found.bound_by and read["time_us"] == found.time_us


def test_a_block_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(DeviceError, match="too much registers"):
        estimate(observed([count("entry", 1)], block=1024), weights({"entry": []}, registers=100), H100)


def test_the_same_launch_has_the_same_figures_bit_for_bit() -> None:
    def make() -> Observed:
        trace = [asked(n, [(0, [(13 * n + i, 5)]) for i in range(50)], [0, 1], [0]) for n in range(9)]
        return observed(
            [count("entry", 36), count("body", 18)], [access(requests=450, sectors=900)], grid=9, trace=trace
        )

    w = weights({"entry": [step("load_global", sets=0, line=1)], "body": [step("fp32", waits=(0,), line=2)]})
    assert repr(estimate(make(), w, H100)) == repr(estimate(make(), w, H100))
