"""Long launches under other schedules: some of their blocks run, what is wrong among them is found, and the rest is left as it was."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.edits import Gene
from kernelwright.edits.kinds.delete_barrier import barriers
from kernelwright.evaluate.judging import fitness as fitness_module
from kernelwright.evaluate.judging import some_blocks as module
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.judging.some_blocks import LEAST_BLOCKS, SHARE, WORK, SomeBlocks, chosen_blocks, some_blocks
from kernelwright.evaluate.judging.variant_launches import Done, VariantExecutor
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.case import Case, Output
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES
from kernelwright.target import gpu

THREADS, BLOCKS = 64, 64

# The second warp of a block takes what the first has left there: without the barrier it is right as long as the first runs first.
HAND_OVER = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @hand_over(ptr %a, ptr %s, ptr %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %b, 64
  %i = add i32 %base, %t
  %low = and i32 %t, 31
  %j = add i32 %base, %low
  %from = getelementptr float, ptr %a, i32 %i
  %left = getelementptr float, ptr %s, i32 %i
  %taken = getelementptr float, ptr %s, i32 %j
  %to = getelementptr float, ptr %o, i32 %i
  %v = load float, ptr %from
  store volatile float %v, ptr %left
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %w = load volatile float, ptr %taken
  store float %w, ptr %to
  ret void
}
"""


@given(st.integers(1, 5000), st.integers(0, 10**7))
def test_pairs_of_neighbours_are_drawn_that_do_about_as_much_as_wanted(count: int, work: int) -> None:
    found = chosen_blocks(count, work)
    assert found == chosen_blocks(count, work)
    if not found:
        assert count < SHARE * max(LEAST_BLOCKS, count * WORK / max(work, 1) + 1)
        return
    assert list(found) == sorted(set(found)) and found[0] >= 0 and found[-1] < count
    assert all(other == one + 1 for one, other in zip(found[::2], found[1::2], strict=True))
    assert LEAST_BLOCKS <= len(found) <= count / SHARE + 1
    assert len(found) == LEAST_BLOCKS or abs(len(found) * work / count - WORK) <= 2 * work / count


def test_a_schedule_orders_those_alone() -> None:
    made = SomeBlocks((2, 3, 10, 11, 40, 41), cast(Output, None))
    executor = VariantExecutor(cast(VirtualGpu, None), {}, {})
    forward, random = (made.executor(executor, schedule).only for schedule in (Schedule.forward(), Schedule.random(1)))
    assert forward == made.blocks and random != made.blocks and sorted(random) == list(made.blocks)


def launched(blocks: int, work: int) -> Done:
    result = SimpleNamespace(executions=np.array([work]))
    return cast(Done, SimpleNamespace(launched=SimpleNamespace(grid=(blocks, 1, 1), result=result)))


EXECUTOR = VariantExecutor(cast(VirtualGpu, None), {}, {})
RIGHT = Output({}, {}, {})


def test_blocks_that_do_not_run_by_themselves_are_run_with_all_others() -> None:
    waits = Rejected("timeout", "it waits for a block that does not run")
    assert some_blocks(EXECUTOR, lambda _: waits, (launched(640, 10**6),)) is None
    found = some_blocks(EXECUTOR, lambda _: RIGHT, (launched(640, 10**6),))
    assert found is not None and found.expected is RIGHT


@pytest.mark.parametrize("whole", [(), (launched(9, 10**6),), (launched(640, 100),), (launched(640, 10**6),) * 2])
def test_few_blocks_little_work_and_several_launches_are_run_whole(whole: tuple[Done, ...]) -> None:
    assert some_blocks(EXECUTOR, lambda _: pytest.fail("there is nothing to choose"), whole) is None


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """By launch: the kind of schedule, and how many blocks ran."""
    found: list[tuple[str, int]] = []
    run = VirtualGpu.run

    def noting(self: VirtualGpu, execution: Any, arena: Any, *, blocks: Any = None, **more: Any) -> Any:
        found.append((execution.schedule.kind, execution.launch.grid[0] if blocks is None else len(blocks)))
        return run(self, execution, arena, blocks=blocks, **more)

    monkeypatch.setattr(VirtualGpu, "run", noting)
    monkeypatch.setattr(fitness_module, "LITTLE_WORK", 100)
    monkeypatch.setattr(module, "WORK", 10)
    return found


def judge(folder: Path, accept: str, *, sampled: bool) -> Fitness[tuple[Gene, ...]]:
    source = folder / "hand_over.ll"
    source.write_text(HAND_OVER)
    n = THREADS * BLOCKS
    arguments = {"a": np.arange(n, dtype=np.float32), "s": np.zeros(n, np.float32), "o": np.zeros(n, np.float32)}
    workload = Workload(source, "hand_over", (Case((BLOCKS,), (THREADS,), arguments),))
    made = Fitness(workload, gpu("h200"), Demands(accept, sampled=sampled), kind=GENOMES)  # type: ignore[arg-type]
    made.reference()
    return made


def without_barrier(made: Fitness[tuple[Gene, ...]]) -> tuple[Gene, ...]:
    (edit,) = barriers(made.builder.originals["hand_over"])
    return (Gene("hand_over", edit),)


@pytest.mark.parametrize("sampled", [True, False])
def test_what_is_wrong_in_another_order_is_found_on_some_blocks(
    tmp_path: Path, ran: list[tuple[str, int]], sampled: bool
) -> None:
    made = judge(tmp_path, "benign", sampled=sampled)
    ran.clear()
    assert isinstance(made(()), Ok)
    found = made(without_barrier(made))
    assert isinstance(found, Rejected) and found.stage == "order" and "under schedule" in found.reason
    assert {count for kind, count in ran if kind == "forward"} == {BLOCKS}
    assert {count for kind, count in ran if kind != "forward"} == {LEAST_BLOCKS if sampled else BLOCKS}


def test_what_is_watched_is_run_whole(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    made = judge(tmp_path, "clean", sampled=True)
    ran.clear()
    found = made(without_barrier(made))
    assert isinstance(found, Rejected)
    assert {count for kind, count in ran if kind == "random"} == {BLOCKS}
    assert isinstance(made(()), Ok)
