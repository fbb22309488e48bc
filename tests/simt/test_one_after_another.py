"""Launches of one kernel one after another: what accesses know of the buffers they were in is kept only as long as those are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel, LaunchResult, compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena, Buffer
from kernelwright.ir import Module
from kernelwright.launch import Launch
from tests.examples import few

Compile = Callable[[str], Module]

SOURCE = """
extern "C" __global__ void copy(int *to, const int *from, const int *pick, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { to[i] = from[pick[i]]; atomicAdd(to + n, 1); } }
"""
THREADS = 64


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    """The kernel above, compiled."""
    return cuda(SOURCE)


def compiled(module: Module, inline: bool) -> CompiledKernel:
    return compile_host(lower(module, "copy", SimtOptions(block=(THREADS, 1, 1), inline=inline)))


def launched(kernel: CompiledKernel, arena: Arena, to: int, source: int, pick: int, n: int = THREADS) -> LaunchResult:
    parameters = np.array([to, source, pick], np.uint64).tobytes() + np.array([n, 0], np.int32).tobytes()
    return kernel.launch(arena, Launch("copy", (1, 1, 1), (THREADS, 1, 1), parameters))


def allocated(arena: Arena, numbers: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Buffer:
    buffer = arena.allocate(numbers.nbytes, "numbers")
    arena.view(buffer, np.dtype(np.int32))[:] = numbers
    return buffer


@settings(max_examples=few(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, THREADS)), min_size=2, max_size=6),
    st.booleans(),
)
def test_the_same_as_first_launches(
    module: Module, arena: Arena, asked: list[tuple[int, int, int]], inline: bool
) -> None:
    """Results and counters of each launch are those of code that has never run; the buffers change from launch to launch."""
    arena.reset()
    kernel = compiled(module, inline)
    buffers = [allocated(arena, np.arange(THREADS + 1, dtype=np.int32) + 1000 * i) for i in range(3)]
    picks = [allocated(arena, np.arange(THREADS, dtype=np.int32)[::step]) for step in (1, -1)]
    for to, source, n in asked:
        before = [arena.view(b, np.dtype(np.int32)).copy() for b in buffers]
        results = []
        for code in (compiled(module, inline), kernel):
            for buffer, numbers in zip(buffers, before, strict=True):
                arena.view(buffer, np.dtype(np.int32))[:] = numbers
            found = launched(code, arena, buffers[to].address, buffers[source].address, picks[n % 2].address, n)
            assert found.fault is None
            results.append((
                [arena.view(b, np.dtype(np.int32)).tolist() for b in buffers], found.sectors.tolist(), found.serial.tolist(),
                found.executions.tolist(), found.blocks_done,
            ))  # fmt: skip
        assert results[0] == results[1]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_buffer_that_is_gone(module: Module, arena: Arena, inline: bool, which: int) -> None:
    """The next launch does not reach it, nor does the one after a launch that could not begin."""
    arena.reset()
    kernel = compiled(module, inline)
    buffers = [allocated(arena, np.zeros(THREADS + 1, np.int32)) for _ in range(3)]
    places = [b.address for b in buffers]
    assert launched(kernel, arena, *places).fault is None
    arena.free(buffers[which].address)
    with pytest.raises(Exception, match="arguments"):
        kernel.launch(arena, replace(Launch("copy", (1, 1, 1), (THREADS, 1, 1), b"")))
    for _ in range(2):
        fault = launched(kernel, arena, *places).fault
        assert fault is not None and fault.kind == "out-of-bounds"


@pytest.mark.parametrize("inline", [False, True])
def test_a_launch_that_ends_before_it_begins(
    module: Module, arena: Arena, inline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt between the new table of buffers and the first block does not make the old one count as the new."""
    arena.reset()
    kernel = compiled(module, inline)
    buffers = [allocated(arena, np.zeros(THREADS + 1, np.int32)) for _ in range(3)]
    places = [b.address for b in buffers]
    assert launched(kernel, arena, *places).fault is None
    arena.free(buffers[1].address)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(kernel, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            launched(kernel, arena, *places)
    fault = launched(kernel, arena, *places).fault
    assert fault is not None and fault.kind == "out-of-bounds"
