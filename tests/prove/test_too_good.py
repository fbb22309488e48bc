"""The largest speed-up that the same work can have, from an estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.arguments import pack
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.timing_model.estimate import Estimate, Term
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.device.virtual_gpu.launch_estimates import Timing
from kernelwright.launch import Launch
from kernelwright.prove.speedup_ceiling import LIMIT, ceiling
from kernelwright.target import gpu
from tests.prove.planted import planted


@pytest.fixture(scope="module")
def measured() -> Estimate:
    one = planted("positive")
    with Arena() as arena:
        loaded = load(one.original["positive"], arena)
        buffers = [arena.allocate(128 * 4, name) for name in ("in", "out")]
        arena.view(buffers[0], np.float32)[:] = 1
        kernel = loaded.module.functions["positive"]
        packed = pack(kernel, [b.address for b in buffers] + [128])
        execution = Execution(loaded, Launch("positive", (2, 1, 1), (64, 1, 1), packed))
        found = Timing(gpu("h200"), arena).launch(VirtualGpu(), execution).estimate
    assert found is not None
    return found


def made(measured: Estimate, **cycles: float) -> Estimate:
    """An estimate with these terms, and no launch overhead."""
    terms = tuple(Term(name, number, 0.5) for name, number in cycles.items())
    clock = gpu(measured.gpu).clock_mhz
    return replace(measured, terms=terms, cycles=1000.0, time_us=1000.0 / clock)


def test_the_smaller_half_remains(measured: Estimate) -> None:
    assert ceiling([made(measured, issue=400.0, memory=500.0, latency=900.0)]) == pytest.approx(1000 / 400)
    assert ceiling([made(measured, issue=500.0, l2=250.0, barriers=900.0)]) == pytest.approx(1000 / 250)


def test_never_above_the_limit(measured: Estimate) -> None:
    assert ceiling([made(measured, latency=1000.0)]) == LIMIT
    assert ceiling([]) == LIMIT


def test_a_real_estimate(measured: Estimate) -> None:
    assert 1.0 < ceiling([measured, measured]) <= LIMIT
