"""Orders of blocks, warps and lane groups: sound kernels do not notice them, others give themselves away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.errors import DeviceError
from kernelwright.ir import Module
from tests.simt.harness import Case
from tests.simt.test_kernels import BARRIERS, CONTROL, ints, zeros
from tests.simt.test_warp import APART, GROUPS, TOGETHER

Compile = Callable[[str], Module]

SCHEDULES = [
    Schedule.reverse(), Schedule.random(1), Schedule.random(2), *(Schedule.subwarp(g, 3) for g in (2, 4, 8, 16, 32)),
]  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_sound_kernels_give_the_same_under_every_schedule(cuda: Compile, arena: Arena, schedule: Schedule) -> None:
    rng = np.random.default_rng(8)
    for case in (
        Case(cuda(CONTROL), "switches", 3, 64, ints(rng, 190, 1, 500), zeros(192), 190),
        Case(cuda(BARRIERS), "in_a_loop", 2, 64, ints(rng, 64), zeros(64), 5),
        Case(cuda(BARRIERS), "early", 1, 96, zeros(96), 50),
        Case(cuda(TOGETHER), "shuffles", 1, 64, ints(rng, 64), zeros(64)),
        Case(cuda(APART), "crossing", 1, 64, ints(rng, 64), zeros(64)),
        Case(cuda(APART), "shrinking", 1, 64, ints(rng, 64), zeros(64)),
        Case(cuda(GROUPS), "groups", 1, 64, ints(rng, 64), zeros(64)),
    ):
        if case.kernel == "groups" and schedule.kind == "subwarp":
            continue  # coalesced_threads() asks who is here, and that depends on the order
        want = case.reference(arena)
        options = SimtOptions(block=case.block, split=schedule.kind == "subwarp")
        case.same(want, case.fast(arena, options, schedule), 0, f"{case.kernel} {schedule}")


def test_kernels_that_lean_on_an_order_give_themselves_away(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void blocks(int* o) { if (threadIdx.x == 0) o[0] = o[0] * 3 + blockIdx.x; }
extern "C" __global__ void warps(int* o) {
  __shared__ int s; if (threadIdx.x == 0) s = 1; __syncthreads();
  if (threadIdx.x % 32 == 0) s = s * 3 + threadIdx.x; __syncthreads(); o[threadIdx.x] = s; }
extern "C" __global__ void lanes(int* o) {
  __shared__ volatile int s[32]; int t = threadIdx.x;
  s[t] = t; o[t] = s[31 - t]; }
""")

    def results(kernel: str, grid: int, block: int, schedules: list[Schedule | None], split: bool) -> set[bytes]:
        case = Case(module, kernel, grid, block, zeros(128))
        options = SimtOptions(block=case.block, split=split)
        return {case.fast(arena, options, s).arrays[0].tobytes() for s in schedules}

    orders = [None, Schedule.reverse(), Schedule.random(1), Schedule.random(2)]
    assert len(results("blocks", 6, 32, orders, False)) > 1
    assert len(results("warps", 1, 128, orders, False)) > 1
    assert len(results("lanes", 1, 32, orders, False)) == 1
    assert len(results("lanes", 1, 32, [None, Schedule.subwarp(2, 1)], True)) == 2


def test_a_schedule_is_the_same_run_every_time(cuda: Compile, arena: Arena) -> None:
    rng = np.random.default_rng(8)
    case = Case(cuda(APART), "crossing", 2, 64, ints(rng, 64), zeros(64))
    options = SimtOptions(block=case.block, split=True)
    runs = [case.fast(arena, options, Schedule.subwarp(4, 9)) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].launch.executions, runs[1].launch.executions)
    np.testing.assert_array_equal(runs[0].arrays[1], runs[1].arrays[1])


def test_groups_need_code_that_can_be_split(cuda: Compile, arena: Arena) -> None:
    case = Case(cuda(CONTROL), "switches", 1, 64, zeros(64), zeros(64), 0)
    with pytest.raises(DeviceError) as error:
        case.fast(arena, SimtOptions(block=case.block), Schedule.subwarp(2, 0))
    assert "split=True" in str(error.value)
