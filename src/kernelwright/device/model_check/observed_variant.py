"""A variant on the virtual GPU: some blocks of its grid run, and what they count is multiplied up to all of it.

A grid of tuners' sizes has thousands of blocks that do the same. Waves, tails and the footprint are those of the whole grid.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelwright.codegen.cost.block_weights import Weights, weigh
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.model_check.kernel_description import KernelDescription
from kernelwright.device.settings import OVERREAD
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.device.timing_model.neighbours import watched
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.device.virtual_gpu.sampled_launch import draw, multiplied
from kernelwright.errors import DeviceError, Misuse
from kernelwright.ir import print_module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program
from kernelwright.target import Gpu

COUNTED = 24
"""Blocks drawn from the grid that are counted, besides those that are watched."""
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
        launch = Launch(kernel.name, grid, block, packed, int(shared))
        virtual = VirtualGpu()
        code = virtual.compile(loaded, kernel.name, block, followed=True)
        result = _launched(virtual, Execution(loaded, launch, overread=OVERREAD), arena, code)
        bounds = arena.bounds()
        buffers = list(zip(bounds["start"].tolist(), bounds["end"].tolist(), strict=True))
        return observe(result, launch, buffers), weights


def _launched(virtual: VirtualGpu, execution: Execution, arena: Arena, code: CompiledKernel) -> LaunchResult:
    """Of neighbours and some far apart the log, of blocks drawn from the whole grid the counters: rows at an edge may do less."""
    grid = execution.launch.grid
    blocks = grid[0] * grid[1] * grid[2]
    numbers = watched(grid)
    log = virtual.run(execution, arena, compiled=code, watch=watch_of(grid), blocks=numbers)
    counted = log
    drawn = draw(blocks, min(blocks, COUNTED), SEED)
    if len(numbers) < blocks:
        counted = virtual.run(execution, arena, compiled=code, blocks=drawn)
    for done in (log, counted):
        if done.fault is not None:
            raise DeviceError(f"the kernel ended with a fault: {done.fault.message}")
    return log.result if counted is log else multiplied(log.result, [counted.result], blocks, len(drawn))


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
