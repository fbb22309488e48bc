"""What evolution made of simpler models, one test for each trick: it must gain nothing here, or what the hardware gives.

The numbers are those of docs/timing-model.md, "What a search would exploit".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.calibration import Calibration
from kernelwright.codegen.cost.block_weights import Weights, weigh
from kernelwright.codegen.cost.scoreboard_steps import Step
from kernelwright.codegen.cost.slow_paths import slow_label
from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.device.arena import Arena
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.device.timing_model.launch_observation import block_labels
from kernelwright.errors import DeviceError
from kernelwright.target import gpu
from tests.model.build import access, asked, count, observed, paths, step, weights
from tests.model.running import ARCH, Device, module, optimised

H100 = gpu("h100")
needs_assembler = pytest.mark.skipif(not find_assemblers(), reason="neither nvJitLink nor ptxas is installed")


@pytest.fixture
def device() -> Iterator[Device]:
    with Arena() as arena:
        yield Device(arena)


def one_block(w: Weights, *accesses: object, run: Sequence[int] = (0,), **more: object) -> Estimate:
    pieces = [count(label, 1) for _, label in w.blocks]
    return estimate(observed(pieces, accesses, trace=[paths(0, run)], **more), w, H100)  # type: ignore[arg-type]


# -- 1: PTX counts, where machine code has none -----------------------------------------------------------------------


@needs_assembler
def test_1_instructions_that_the_assembler_drops_are_worth_nothing() -> None:
    """Moves, and conditions on conditions: PTX without them is 12 instructions shorter, the machine code the same."""
    plain = emit_ptx(optimised(), ARCH)
    padded = re.sub(
        r"(\tfma\.rn\.f32[ \t]+(%r\d+), )",
        lambda m: "".join(f"\tmov.b32 %pad{i}, {m[2]};\n\tmov.b32 %more{i}, %pad{i};\n" for i in range(6)) + m[1],
        plain,
        count=1,
    )
    declared = "".join(f"\t.reg .b32 %pad{i}, %more{i};\n" for i in range(6))
    padded = padded.replace("saxpy_param_3\n)\n{\n", "saxpy_param_3\n)\n{\n" + declared, 1)
    assert padded.count("mov.b32") == plain.count("mov.b32") + 12
    labels = block_labels(module())
    real = [weigh(ptx, "saxpy", ARCH, labels) for ptx in (plain, padded)]
    virtual = [weigh(ptx, "saxpy", ARCH, labels, source="ptx") for ptx in (plain, padded)]
    assert real[0].instructions == real[1].instructions
    assert virtual[1].instructions == virtual[0].instructions + 12


# -- 2: chains that end with their block --------------------------------------------------------------------------------


def test_2_merging_blocks_gains_the_branch_and_no_more() -> None:
    """``if (c)`` becomes ``if (true)``: one block where there were two. The load's wait is overlapped in both."""
    head: list[Step] = [step("load_global", sets=0), step("int", stall=4)]
    tail = [*[step("fp32", stall=4) for _ in range(20)], step("fp32", waits=(0,), stall=4)]
    cut = one_block(weights({"entry": [*head, step("branch", stall=5)], "then": tail}), run=(0, 1))
    merged = one_block(weights({"entry": [*head, *tail]}))
    latency = {t.name: t.cycles for t in cut.terms}["latency"] - {t.name: t.cycles for t in merged.terms}["latency"]
    assert 0 <= latency <= 5


# -- 3: loads that hit the cache anyway -----------------------------------------------------------------------------------


def again(device: Device, times: int) -> Observed:
    x, y = device.floats(32 * 2000, "x"), device.floats(32 * 2000, "y")
    return device.observe("again", 2000, 32, [times, x, y])


def test_3_removing_a_repeated_load_gains_a_hit_not_a_miss(device: Device) -> None:
    """Ten loads of one line and one load of it move the same bytes through L2 and memory."""
    found = {}
    for times in (1, 10):
        o = again(device, times)
        w = weigh(emit_ptx(optimised(), ARCH), "again", ARCH, block_labels(module()), source="ptx")
        found[times] = {t.name: t.cycles for t in estimate(o, w, H100).terms}
    assert found[10]["l2"] == pytest.approx(found[1]["l2"])
    assert found[10]["memory"] == pytest.approx(found[1]["memory"])
    assert found[10]["l1"] == pytest.approx(found[1]["l1"] * 11 / 2, rel=0.2)


def test_3_the_wait_for_a_hit_is_that_of_a_hit() -> None:
    steps = [s for _ in range(4) for s in (step("load_global", sets=0), step("fp32", waits=(0,)))]
    load = access(requests=4, sectors=16)
    same = asked(0, [(0, [(5, 15)])] * 4, [0])
    apart = asked(0, [(0, [(5 + i, 15)]) for i in range(4)], [0])
    w = weights({"entry": steps})
    waits = [
        {t.name: t.cycles for t in estimate(observed([count("entry", 1)], [load], trace=[t]), w, H100).terms}["latency"]
        for t in (same, apart)
    ]
    mean = (H100.dram_latency + 3 * H100.sm.l1_latency) / 4
    assert waits[0] == pytest.approx(4 * mean, rel=0.02)
    assert waits[1] == pytest.approx(4 * H100.dram_latency, rel=0.02)


# -- 4: registers that cost nothing ---------------------------------------------------------------------------------------


def test_4_registers_decide_how_many_blocks_hide_each_other() -> None:
    """The same code with 168 registers instead of 32 leaves room for one block of 256 threads, not eight."""
    steps = [step("load_global", sets=0), step("fp32", waits=(0,))]
    lean, fat = weights({"entry": steps}, registers=32), weights({"entry": steps}, registers=168)
    warps = 132 * 8 * 8
    o = observed([count("entry", warps)], [access(requests=warps, sectors=4 * warps)], grid=132 * 8, block=256)
    at_once = replace(H100, block_cycles=0.0)
    few, many = estimate(o, fat, at_once), estimate(o, lean, at_once)
    assert (many.occupancy.blocks, few.occupancy.blocks) == (8, 1)
    assert few.occupancy.limit == "registers"
    assert few.cycles > 3 * many.cycles


@needs_assembler
def test_4_registers_are_the_assemblers(device: Device) -> None:
    w = weigh(emit_ptx(optimised(), ARCH), "uneven", ARCH)
    assert w.registers_from == "machine code" and 8 <= w.resources.registers <= 64


# -- 5: barriers ------------------------------------------------------------------------------------------------------------


def barrier_or_not(barrier: bool, calibration: Calibration) -> float:
    """A block of one warp, where a barrier has nobody to wait for."""
    work = [step("fp32", stall=4) for _ in range(20)]
    steps = [*work, step("barrier"), *work] if barrier else [*work, *work]
    pieces = [count("entry", 1), *([count("entry", 1, barriers=1)] if barrier else [])]
    o = observed(pieces, trace=[paths(0, list(range(len(pieces))))])
    return estimate(o, weights({"entry": steps}), H100, calibration).cycles


@pytest.mark.parametrize("factor", [0.1, 1.0, 4.0])
def test_5_a_barrier_is_worth_what_calibration_says(factor: float) -> None:
    gain = barrier_or_not(True, Calibration(barrier=factor)) - barrier_or_not(False, Calibration(barrier=factor))
    cost = round(H100.sm.barrier_latency * factor) + round(H100.sm.barrier_warp_cycles * factor)
    assert gain == pytest.approx(cost + 1, abs=1)


# -- 6: blocks that nobody counted ------------------------------------------------------------------------------------------


def test_6_every_ptx_instruction_belongs_to_a_counted_block(device: Device) -> None:
    """Edges that LLVM splits, preheaders and the short division have no name in the IR; each finds an owner."""
    ptx = emit_ptx(optimised(), ARCH)
    for source in ("ptx", None):
        w = weigh(ptx, "uneven", ARCH, block_labels(module()), source=source)  # type: ignore[arg-type]
        x, y = device.floats(4096, "x"), device.floats(4096, "y")
        found = estimate(device.observe("uneven", 2, 128, [5, x, y]), w, H100)
        assert "without frequency" not in found.sources


def test_6_what_has_no_owner_is_told() -> None:
    found = one_block(weights({"entry": [step("fp32")]}))
    lost = estimate(observed([count("entry", 1)]), weights({"entry": [], "lost": [step("fp32")]}), H100)
    assert "without frequency" not in found.sources and "without frequency" in lost.sources


# -- 7: reads outside buffers, slow paths of divisions, scaled grids -----------------------------------------------------------


def test_7_reading_outside_a_buffer_gains_no_time(device: Device) -> None:
    with pytest.raises(DeviceError, match="has no time"):
        device.observe("too_far", 1, 32, [device.floats(32, "y")])


@needs_assembler
def test_7_slow_paths_are_no_blocks() -> None:
    """A square root and a quotient: under 60 machine instructions in line, and a hundred that few executions enter."""
    w = weigh(emit_ptx(optimised(), ARCH), "half_warp", ARCH, block_labels(module()))
    assert w.cold > 60
    inline = {label: sum(len(s) for s in segments) for (_, label), segments in w.blocks.items()}
    assert inline.pop(slow_label("if.then")) == 26
    assert max(inline.values()) < 60 and sum(inline.values()) == w.instructions


@needs_assembler
def test_7_a_slow_path_is_paid_by_the_warps_that_take_it(device: Device) -> None:
    """A third of nothing takes as long as a third of infinity, and longer than a third of one; elsewhere as in line 38."""
    w = weigh(emit_ptx(optimised(), ARCH), "half_warp", ARCH, block_labels(module()))
    y = device.floats(32 * 128, "y")
    found = []
    for value in (1.0, 0.0, np.inf):
        device.arena.view(y, np.float32)[:] = value
        found.append(estimate(device.observe("half_warp", 32, 128, [y]), w, H100))
    one, zero, infinite = found
    assert zero.time_us == infinite.time_us > one.time_us
    more = sum(zero.instructions.values()) - sum(one.instructions.values())
    assert more == 26 * 32 * 4  # a slow path in each warp
    assert sum(c.cycles for c in zero.lines if c.line == 38) > sum(c.cycles for c in one.lines if c.line == 38)


@needs_assembler
def test_7_slow_paths_of_a_launch_that_was_not_followed_take_their_time(device: Device) -> None:
    """Its paths are those of the launch that was, whose data were others."""
    w = weigh(emit_ptx(optimised(), ARCH), "half_warp", ARCH, block_labels(module()))
    y = device.floats(32 * 128, "y")
    plain = device.observe("half_warp", 32, 128, [y])
    device.arena.view(y, np.float32)[:] = 0
    slow = device.observe("half_warp", 32, 128, [y])
    lent = replace(slow, trace=plain.trace)

    def latency(seen: Observed) -> float:
        return next(t.cycles for t in estimate(seen, w, H100).terms if t.name == "latency")

    assert latency(plain) < latency(lent) == pytest.approx(latency(slow), rel=0.05)


def test_7_a_tail_is_paid_not_scaled_away() -> None:
    """133 blocks on 132 multiprocessors take as long as 264."""
    w = weights({"entry": [step("special") for _ in range(100)]})
    at_once = replace(H100, block_cycles=0.0)
    found = [estimate(observed([count("entry", n)], grid=n), w, at_once) for n in (132, 133, 264)]
    times = [next(t.cycles for t in each.terms if t.name == "xu") for each in found]
    assert times[1] == times[2] == 2 * times[0]


# -- 8: edits that do nothing ---------------------------------------------------------------------------------------------------


def test_counters_decide_not_names() -> None:
    """The same launch under another name takes the same time."""
    w = weights({"entry": [step("fp32")]})
    o = observed([count("entry", 100)], grid=100)
    assert estimate(replace(o, kernel="other"), w, H100).cycles == estimate(o, w, H100).cycles
