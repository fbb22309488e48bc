"""Launches with estimated times: what is kept, what a warm cache changes, and kernels that the model cannot take."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.load_module import load
from kernelwright.device.virtual_gpu import launch_estimates as timing_module
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.device.virtual_gpu.kept_code import KeptCode
from kernelwright.device.virtual_gpu.launch_estimates import Timing
from kernelwright.errors import CompileError
from kernelwright.ir import parse_module
from kernelwright.launch import Launch
from kernelwright.target import gpu

ADD = """
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @add(ptr %a, ptr %b, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = shl i32 %c, 8
  %i = add i32 %w, %t
  %in = icmp slt i32 %i, %n
  br i1 %in, label %do, label %end
do:
  %p = getelementptr float, ptr %a, i32 %i
  %q = getelementptr float, ptr %b, i32 %i
  %x = load float, ptr %p
  %y = fadd float %x, 1.0
  store float %y, ptr %q
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
attributes #0 = { "target-cpu"="sm_90" }
"""
N = 1 << 20


class Bench:
    """One module on one GPU, with two buffers of 4 MiB."""

    def __init__(self, arena: Arena, name: str = "h200", kept: KeptCode | None = None) -> None:
        self.virtual = VirtualGpu()
        self.timing = Timing(gpu(name), arena, kept=kept)
        self.loaded: Loaded = load(kept.module(ADD) if kept is not None else parse_module(ADD), arena)
        self.buffers = [arena.allocate(4 * N, each, fill=None) for each in "ab"]

    def run(self, n: int) -> Launched:
        packed = struct.pack("<QQi", self.buffers[0].address, self.buffers[1].address, n)
        launch = Launch("add", (-(-n // 256), 1, 1), (256, 1, 1), packed)
        return self.timing.launch(self.virtual, Execution(self.loaded, launch))


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Arena() as arena:
        yield Bench(arena)


def test_more_work_takes_longer(bench: Bench) -> None:
    small, large = bench.run(1000), bench.run(N)
    assert small.estimate is not None and large.estimate is not None
    assert gpu("h200").launch_us < small.time_us < large.time_us
    # 8 MiB through the memory of an H200 at 4.8 TB/s, and not ten times that.
    assert 8 * N / 4.8e6 < large.time_us < 10 * 8 * N / 4.8e6


def test_the_second_launch_finds_its_data_in_the_cache(bench: Bench) -> None:
    times = [bench.run(N).time_us for _ in range(4)]
    assert times[1] < times[0] and times[1:] == times[1:2] * 3
    bench.timing.start_over()
    assert bench.run(N).time_us == times[0]


def test_figures_repeat() -> None:
    def all_times() -> list[float]:
        with Arena() as arena:
            bench = Bench(arena)
            return [bench.run(n).time_us for n in (1000, N, 5000, N)]

    assert all_times() == all_times()


def test_a_session_has_the_estimates_of_those_before_and_they_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at is the same, from the same addresses: nothing is weighed or estimated a second time. Another session, with
    other launches before, differs, and is estimated."""
    made: list[str] = []
    for name in ("weigh_all", "estimate"):
        real = getattr(timing_module, name)

        def counted(*args: Any, real: Callable[..., Any] = real, name: str = name, **more: Any) -> Any:
            made.append(name)
            return real(*args, **more)

        monkeypatch.setattr(timing_module, name, counted)

    def session(kept: KeptCode | None, *sizes: int) -> list[float]:
        with Arena() as arena:
            bench = Bench(arena, kept=kept)
            return [bench.run(n).time_us for n in sizes]

    kept, sizes = KeptCode(), (1000, N, 5000, N)
    first = session(kept, *sizes)
    assert made.count("weigh_all") == 1 and made.count("estimate") == 3
    made.clear()
    assert session(kept, *sizes) == first and not made
    cold = session(kept, N, 1000)
    assert made == ["estimate"] * 2
    assert cold == session(None, N, 1000) and first == session(None, *sizes)


def test_gpus_differ() -> None:
    times = {}
    for name in ("p100", "h200"):
        with Arena() as arena:
            times[name] = Bench(arena, name).run(N).time_us
    assert times["p100"] > 2 * times["h200"]


def test_a_fault_has_no_time(bench: Bench) -> None:
    done = bench.run(N + 1)
    assert done.fault is not None and done.estimate is None and done.time_us == 0


def test_a_kernel_that_the_model_cannot_take_runs_all_the_same(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CompileError("the assembler is of another opinion")

    monkeypatch.setattr(timing_module, "weigh_all", refuse)
    done = bench.run(1000)
    assert done.fault is None and done.estimate is None
    assert bench.timing.untimed == {"add": "the assembler is of another opinion"}
    assert bench.run(1000).fault is None
