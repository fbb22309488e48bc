"""A variant on the virtual GPU, cut: the first blocks of its grid run, and what they count is multiplied up to all of it.

A grid of tuners' sizes has thousands of blocks that do the same. Waves, tails and the footprint are those of the whole grid.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kernelwright.codegen.cost.block_weights import Weights, weigh
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.model_check.kernel_description import KernelDescription
from kernelwright.device.timing_model.counters import Geometry, Observed
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.errors import DeviceError, Misuse
from kernelwright.ir import print_module
from kernelwright.launch import Launch, Triple
from kernelwright.pipeline import compile as compile_program
from kernelwright.target import Gpu

LEAST_BLOCKS = 24
"""That run: enough for neighbours in both directions."""
SEED = 1


def observe_variant(
    description: KernelDescription, parameters: Mapping[str, Any], gpu: Gpu
) -> tuple[Observed, Weights]:
    """What a variant does over its whole grid, and what its blocks cost. Raises what compiling and launching raise."""
    grid = description.extent(description.grid, parameters)
    block = description.extent(description.block, parameters)
    with description.source_of(parameters) as source:
        beside = (str(description.source.parent),)
        define = description.definitions(parameters)
        kernel = compile_program(str(source), arch=gpu.arch, include=beside, define=define).kernel(description.kernel)
        module = kernel.unit.module
    weights = weigh(emit_ptx(print_module(module), gpu.arch), kernel.name, gpu.arch, block_labels(module))
    cut = cut_grid(grid)
    with Arena() as arena:
        loaded = load(module, arena, str(description.source))
        for number, (name, fill) in enumerate(description.constants.items()):
            variable = loaded.variables.buffers.get(name)
            if variable is None:
                raise Misuse(
                    f"{description.path}: {description.source.name} has no variable {name!r}",
                    hint=f"it has {', '.join(loaded.variables.buffers) or 'none'}",
                )
            fill.write(arena.view(variable, np.uint8), SEED + len(description.arguments) + number)
        packed = _packed(description, parameters, arena)
        shared = description.shared_bytes.value(parameters)
        launch = Launch(kernel.name, cut, block, packed, int(shared))
        virtual = VirtualGpu()
        code = virtual.compile(loaded, kernel.name, block, followed=True)
        done = virtual.run(Execution(loaded, launch), arena, compiled=code, watch=watch_of(cut))
        if done.fault is not None:
            raise DeviceError(f"the kernel ended with a fault: {done.fault.message}")
        bounds = arena.bounds()
        seen = observe(done.result, launch, list(zip(bounds["start"].tolist(), bounds["end"].tolist(), strict=True)))
    return multiplied(seen, grid), weights


def cut_grid(grid: Triple) -> Triple:
    """About as wide as it is high, with at least ``LEAST_BLOCKS`` where the grid has so many."""
    x, y, z = grid
    width = min(x, max(math.isqrt(LEAST_BLOCKS - 1) + 1, -(-LEAST_BLOCKS // y)))
    height = min(y, -(-LEAST_BLOCKS // width))
    return width, height, min(z, -(-LEAST_BLOCKS // (width * height)))


def multiplied(seen: Observed, grid: Triple) -> Observed:
    """A launch of the first blocks as one of the whole grid."""
    whole = Geometry(grid, seen.geometry.block, seen.geometry.shared_bytes)
    had = seen.geometry.blocks

    def up(count: int) -> int:
        return (2 * count * whole.blocks + had) // (2 * had)

    return replace(
        seen,
        geometry=whole,
        blocks=tuple(replace(b, executions=up(b.executions), lanes=up(b.lanes)) for b in seen.blocks),
        accesses=tuple(
            replace(
                a,
                requests=up(a.requests),
                shared_requests=up(a.shared_requests),
                sectors=up(a.sectors),
                wavefronts=up(a.wavefronts),
                serial=up(a.serial),
            )
            for a in seen.accesses
        ),
    )


def _packed(description: KernelDescription, parameters: Mapping[str, Any], arena: Arena) -> bytes:
    packed = b""
    for index, argument in enumerate(description.arguments):
        if argument.kind == "bytes":
            size = argument.value.count(parameters)
            buffer = arena.allocate(size, f"argument {index}")
            argument.fill.write(arena.view(buffer, np.uint8), SEED + index)
            value, form = buffer.address, "<Q"
        else:
            value, form = argument.value.value(parameters), "<i" if argument.kind == "int" else "<f"
        packed += bytes(-len(packed) % struct.calcsize(form))
        try:
            packed += struct.pack(form, value)
        except struct.error as error:
            raise Misuse(f"{argument.value.place}: {value!r} is no {argument.kind} ({error})") from None
    return packed
