"""Generated kernels compiled and run on the virtual GPU, their outputs beside NumPy's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import kernelwright as kw
from kernelwright.device.timing_model.launch_observation import observe
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.family import Family, shaped_view
from kernelwright.space.cuda_source.generated import GeneratedKernel

TOLERANCE = 1e-4
"""Relative to the largest absolute value of the expected output; inputs are within one, sums of some hundred terms."""


def run(
    family: Family,
    computation: Computation,
    kernel: GeneratedKernel,
    folder: Path,
    device: kw.Device,
    sizes: Mapping[str, int] | None = None,
) -> Any:
    """Asserts equality with the oracle; what the device says of the launch. ``sizes``: those that the kernel is given at launch."""
    path = folder / "kernel.cu"
    path.write_text(kernel.source)
    memory = family.inputs(computation, seed=11)
    expected = family.expected(computation, memory)
    program = kw.compile(str(path), arch="sm_90")
    scratch = kernel.scratch_elements(sizes or {})
    memory |= {name: np.full(elements, np.nan, np.float32) for name, elements in scratch.items()}
    arguments = kernel.arguments(memory, family.scalars, sizes)
    done = device.launch(program.kernel(kernel.name), kernel.grid, kernel.block, arguments)
    assert done.fault is None, f"{done.fault}\n{kernel.source}"
    for name, values in expected.items():
        found = shaped_view(computation.arrays[name], memory[name])
        error = np.abs(found - values).max() / max(np.abs(values).max(), 1e-30)
        assert error < TOLERANCE, f"{name} is off by {error}\n{kernel.source}"
    return done


def terms_of(done: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Cycles of each term of the timing model, those of barriers with the latency; and counts of the executor."""
    cycles = dict.fromkeys(("issue", "fma", "xu", "l1", "l2", "memory", "latency"), 0.0)
    cycles |= {term.name: term.cycles for term in done.estimate.terms}
    cycles["latency"] += cycles.pop("barriers", 0.0)
    accesses = observe(done.result, done.launch).accesses
    outer = [a for a in accesses if a.space == "global"]
    counts = {
        "global requests": float(sum(a.requests - a.shared_requests for a in outer)),
        "sectors at L1": float(sum(a.sectors for a in outer)),
        "shared requests": float(sum(a.shared_requests for a in accesses)),
        "instructions": sum(done.estimate.instructions.values()),
    }
    return cycles, counts
