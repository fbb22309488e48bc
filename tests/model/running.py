"""Kernels compiled, run on the virtual GPU and handed to the model, the way the device does it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from kernelwright.codegen.cost.block_weights import Weights, weigh_all
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel, compile_host
from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program

SOURCE = Path(__file__).parent / "kernels.cu"
ARCH = "sm_90"


@cache
def optimised() -> str:
    return compile_program(SOURCE, arch=ARCH).units[0].optimised


@cache
def module() -> Module:
    return parse_module(optimised())


@cache
def all_weights(source: str = "", arch: str = ARCH) -> dict[str, Weights]:
    return weigh_all(emit_ptx(optimised(), arch), arch, block_labels(module()), source=source or None)  # type: ignore[arg-type]


@cache
def compiled(kernel: str, block: tuple[int, int, int], trace: bool) -> CompiledKernel:
    return compile_host(lower(module(), kernel, SimtOptions(block=block, trace=trace)))


def packed(*arguments: int | float | Buffer) -> bytes:
    """A parameter buffer: each argument at its own alignment."""
    made = b""
    for each in arguments:
        form = "<Q" if isinstance(each, Buffer) else "<f" if isinstance(each, float) else "<i"
        value = each.address if isinstance(each, Buffer) else each
        made += b"\0" * (-len(made) % struct.calcsize(form)) + struct.pack(form, value)
    return made


@dataclass
class Device:
    """Memory, and launches in it."""

    arena: Arena

    def floats(self, n: int, name: str) -> Buffer:
        buffer = self.arena.allocate(4 * n, name)
        self.arena.view(buffer, np.float32)[:] = 1.0
        return buffer

    def launch(
        self, kernel: str, grid: int, block: int, arguments: Sequence[int | float | Buffer], *, log: bool = True
    ) -> LaunchResult:
        run = compiled(kernel, (block, 1, 1), log)
        launch = Launch(kernel, (grid, 1, 1), (block, 1, 1), packed(*arguments))
        return run.launch(self.arena, launch, watch=watch_of((grid, 1, 1)) if log else None)

    def observe(
        self, kernel: str, grid: int, block: int, arguments: Sequence[int | float | Buffer], *, log: bool = True
    ) -> Observed:
        bounds = [(int(b["start"]), int(b["end"])) for b in self.arena.bounds()]
        result = self.launch(kernel, grid, block, arguments, log=log)
        return observe(result, Launch(kernel, (grid, 1, 1), (block, 1, 1)), bounds)
