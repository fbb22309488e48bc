"""Runs one kernel on both executors and compares what they leave in memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel, LaunchResult, compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.reference import ReferenceResult, run_reference
from kernelwright.device.reference.race_watch import Watch as ReferenceWatch
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import load_variables
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program

Triple = tuple[int, int, int]
Array = npt.NDArray[Any]


@cache
def cuda(text: str, folder: str, level: int = 3) -> Module:
    """The optimised module of a CUDA source."""
    path = Path(folder) / f"k{abs(hash(text))}.cu"
    path.write_text(text)
    return compile_program(path, arch="sm_80", level=level).units[0].module


PRELUDE = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
"""
"""Declarations of what modules written by hand call."""
_HEADER = 'target triple = "nvptx64-nvidia-cuda"\n'


def ir(text: str) -> Module:
    """A module written as LLVM-IR."""
    return parse_module(_HEADER + text)


@dataclass
class Run:
    """What one executor did: ``arrays`` are the buffers behind the array arguments, in order, then the variables."""

    arrays: list[Array]
    fault: Any
    result: LaunchResult | ReferenceResult

    @property
    def launch(self) -> LaunchResult:
        """What the virtual GPU says of it."""
        assert isinstance(self.result, LaunchResult)
        return self.result

    @property
    def reference(self) -> ReferenceResult:
        """What the reference says of it."""
        assert isinstance(self.result, ReferenceResult)
        return self.result


class Case:
    """A kernel with its inputs. Arrays among ``arguments`` become buffers; other arguments are numbers or bytes."""

    def __init__(
        self,
        module: Module,
        kernel: str,
        grid: Triple | int,
        block: Triple | int,
        *arguments: Any,
        shared: int = 0,
        budget: int = 2_000_000,
        cooperative: bool = False,
    ) -> None:
        self.module = module
        self.kernel = kernel
        self.grid = (grid, 1, 1) if isinstance(grid, int) else grid
        self.block = (block, 1, 1) if isinstance(block, int) else block
        self.arguments = arguments
        self.shared = shared
        self.budget = budget
        self.cooperative = cooperative
        self._compiled: dict[SimtOptions, CompiledKernel] = {}

    def _memory(self, arena: Arena) -> tuple[bytes, list[tuple[Buffer, Any]], dict[str, int], Any]:
        arena.reset()
        buffers: list[tuple[Buffer, Any]] = []
        values: list[Any] = []
        for i, argument in enumerate(self.arguments):
            if isinstance(argument, np.ndarray):
                buffer = arena.allocate(argument.nbytes, f"argument {i}")
                arena.view(buffer, argument.dtype)[:] = argument.reshape(-1)
                buffers.append((buffer, argument.dtype))
                values.append(buffer.address)
            else:
                values.append(argument)
        variables = load_variables(self.module, arena)
        for name in sorted(variables.buffers):
            if not name.startswith((".str", "__")):
                buffers.append((variables.buffers[name], np.uint8))
        return self.pack(values), buffers, variables.addresses, variables

    def pack(self, values: list[Any]) -> bytes:
        """The arguments as a launch takes them."""
        layout = parameter_layout(self.module.function(self.kernel))
        packed = bytearray(layout.size)
        codes = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "float": "f", "double": "d", "ptr": "Q", "i1": "?"}
        for p, value in zip(layout.parameters, values, strict=True):
            if isinstance(value, bytes):
                data = value
            else:
                code = codes[str(p.type)]
                wrap = value if code in "fd?" else int(value) & ((1 << 8 * struct.calcsize(code)) - 1)
                data = struct.pack("<" + (code.upper() if code in "bhiq" else code), wrap)
            packed[p.offset : p.offset + len(data)] = data
        return bytes(packed)

    def reference(
        self,
        arena: Arena,
        schedule: Schedule | None = None,
        watch: ReferenceWatch | None = None,
        overread: int | None = None,
    ) -> Run:
        packed, buffers, _, variables = self._memory(arena)
        result = run_reference(
            self.module, self.kernel, self.grid, self.block, packed, arena, variables=variables,
            shared_bytes=self.shared, schedule=schedule or Schedule(), budget=self.budget, watch=watch, overread=overread,
            is_cooperative=self.cooperative,
        )  # fmt: skip
        return Run([arena.view(b, d).copy() for b, d in buffers], result.fault, result)

    def compiled(self, options: SimtOptions | None = None) -> CompiledKernel:
        """Once for all its launches: compiling takes a hundred times as long as a launch of these runs."""
        options = options or SimtOptions(block=self.block)
        if options not in self._compiled:
            self._compiled[options] = compile_host(lower(self.module, self.kernel, options))
        return self._compiled[options]

    def fast(
        self, arena: Arena, options: SimtOptions | None = None, schedule: Schedule | None = None, **more: Any
    ) -> Run:
        kernel = self.compiled(options)
        packed, buffers, addresses, _ = self._memory(arena)
        launch = Launch(self.kernel, self.grid, self.block, packed, self.shared, self.cooperative)
        result = kernel.launch(arena, launch, schedule=schedule, budget=self.budget, symbols=addresses, **more)
        return Run([arena.view(b, d).copy() for b, d in buffers], result.fault, result)

    def variants(self) -> list[SimtOptions]:
        """The code paths that must agree: specialised, with accesses in line, for any shape, without uniformity, splittable;
        the first and the last as variants are made."""
        return [
            SimtOptions(block=self.block, level=0),
            SimtOptions(block=self.block, inline=True),
            SimtOptions(block=None, inline=True),
            SimtOptions(block=self.block, uniform=False, counters=False),
            SimtOptions(block=self.block, split=True, level=0),
        ]

    def lanes(self, result: LaunchResult) -> list[int]:
        """How many threads ran each IR block of the kernel, as the reference's ``block_counts`` tells it."""
        found = dict.fromkeys(self.module.function(self.kernel).blocks, 0)
        for info, lanes in zip(result.kernel.blocks, result.lanes, strict=True):
            if info.origin is not None and info.part == 0 and info.function == self.kernel:
                found[info.origin] += int(lanes)
        return list(found.values())

    def agree(
        self, arena: Arena, tolerance: float = 0.0, options: list[SimtOptions] | None = None, faults: bool = False
    ) -> Run:
        """Both executors leave the same in memory and stop for the same reason. Returns the reference's run.

        A kernel that faults compares nothing, so unless ``faults`` says that it may, it must not.
        """
        want = self.reference(arena)
        assert faults or want.fault is None, want.fault
        for option in options or self.variants():
            got = self.fast(arena, option)
            self.same(want, got, tolerance, str(option))
        return want

    def same(self, want: Run, got: Run, tolerance: float, what: str) -> None:
        kinds = (want.fault.kind if want.fault else None, got.fault.kind if got.fault else None)
        aliases = {"read-only": "out-of-bounds"}
        assert kinds[0] == aliases.get(kinds[1] or "", kinds[1]), f"{what}: reference {want.fault}, fast {got.fault}"
        if want.fault:
            return
        for i, (a, b) in enumerate(zip(want.arrays, got.arrays, strict=True)):
            if a.dtype.kind == "f" and tolerance:
                np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance, err_msg=f"{what}, array {i}")
            elif a.dtype.kind == "f":
                np.testing.assert_array_equal(b, a, err_msg=f"{what}, array {i}")
            else:
                np.testing.assert_array_equal(b, a, err_msg=f"{what}, array {i}")
