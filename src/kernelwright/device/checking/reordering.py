"""The same launch in other orders: ``kw check --schedules N``.

Each launch is run again from the memory it began with, under orders that a GPU might choose: blocks and warps at random, and
warps split into groups of lanes that do not run in step. What it wrote must come out the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.checking.findings import CheckFinding
from kernelwright.device.checking.touched_bytes import STORED, Touched
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.schedule import GROUPS, Schedule
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir.module import Function

ElementTypes = Callable[[Function], Sequence["np.dtype[Any] | None"]]
Contents = dict[int, npt.NDArray[np.uint8]]
"""The bytes of buffers by address."""


def schedules(count: int, seed: int) -> tuple[Schedule, ...]:
    """Half of them random orders of whole warps, half split warps; the same for the same seed."""
    made = []
    for number in range(count):
        groups = GROUPS[::-1][number // 2 % len(GROUPS)]
        made.append(Schedule.subwarp(groups, seed + number) if number % 2 else Schedule.random(seed + number))
    return tuple(made)


class Reordering:
    """Tries ``count`` other schedules for each launch."""

    def __init__(self, count: int, seed: int, element_types: ElementTypes | None) -> None:
        self._schedules = schedules(count, seed)
        self._element_types = element_types

    def before(self, arena: Arena, again: bool) -> Contents:
        """What must be kept before a launch: every buffer, or nothing when no other order is tried and it is not run ``again``."""
        return {b.address: arena.view(b).copy() for b in arena.buffers} if self._schedules or again else {}

    def differs(
        self,
        execution: Execution,
        gpu: VirtualGpu,
        arena: Arena,
        before: Contents,
        touched: Touched,
        compiled: CompiledKernel,
        watch: Watch,
    ) -> bool:
        """Whether the launch writes something else, or fails, when it is watched by ``watch``. Memory stays as the launch left it."""
        with self._kept(arena, touched) as (buffers, after, flags):
            self._restore(arena, buffers, before, flags)
            launched = gpu.run(execution, arena, compiled=compiled, watch=watch)
            return launched.fault is not None or any(
                (flags[b.address] & STORED).any() and not np.array_equal(after[b.address], arena.view(b))
                for b in buffers
            )

    @contextmanager
    def _kept(self, arena: Arena, touched: Touched) -> Iterator[tuple[Sequence[Buffer], Contents, dict[int, Any]]]:
        """What a launch left, and puts it back at the end."""
        buffers = arena.buffers
        flags = touched.follow(buffers)
        kept = {a: f.copy() for a, f in flags.items()}
        after = {b.address: arena.view(b).copy() for b in buffers}
        try:
            yield buffers, after, flags
        finally:
            self._restore(arena, buffers, after, flags)
            for address, flag in kept.items():
                flags[address][:] = flag

    def try_others(
        self, execution: Execution, gpu: VirtualGpu, arena: Arena, before: Contents, touched: Touched
    ) -> Iterator[CheckFinding]:
        """Findings of kind ``order-dependent``, one per buffer at most; memory is afterwards as the launch left it."""
        if not self._schedules:
            return
        known: set[int] = set()
        with self._kept(arena, touched) as (buffers, after, flags):
            for schedule in self._schedules:
                self._restore(arena, buffers, before, flags)
                watch = Watch(unwritten=True, touched=True, written=flags)
                launched = gpu.run(replace(execution, schedule=schedule), arena, watch=watch)
                if launched.fault is not None:
                    if -1 not in known:
                        yield _stopped(launched.fault, schedule)
                    known.add(-1)
                    continue
                for buffer in buffers:
                    if buffer.address not in known and (flags[buffer.address] & STORED).any():
                        found = self._compared(buffer, after[buffer.address], arena.view(buffer), schedule, execution)
                        if found is not None:
                            known.add(buffer.address)
                            yield found

    def _restore(self, arena: Arena, buffers: Sequence[Buffer], to: Contents, flags: dict[int, Any]) -> None:
        """Only bytes that some run has written: the program may be writing others of pinned or managed memory meanwhile."""
        for buffer in buffers:
            marks = (flags[buffer.address] & STORED) != 0
            if marks.any():
                np.copyto(arena.view(buffer), to[buffer.address], where=marks)

    def _compared(
        self,
        buffer: Buffer,
        want: npt.NDArray[np.uint8],
        got: npt.NDArray[np.uint8],
        schedule: Schedule,
        execution: Execution,
    ) -> CheckFinding | None:
        different = want != got
        if not different.any():
            return None
        kind = self._element_type(buffer, execution)
        size = kind.itemsize if kind is not None and len(want) % kind.itemsize == 0 else 1
        elements = different.reshape(-1, size).any(axis=1)
        first = int(elements.argmax())
        shown = np.dtype(np.uint8) if kind is None or size == 1 else kind
        a, b = want.view(shown), got.view(shown)
        message = (
            f"{int(elements.sum())} of {len(elements)} elements depend on the order of threads; the first is element "
            f"{first}: {a[first]!s} in the usual order, {b[first]!s} under {schedule}"
        )
        if shown.kind == "f":
            message += f"; the largest relative difference is {_largest(a, b):.2g}"
        permuted = bool(np.array_equal(np.sort(want.view(f"V{size}")), np.sort(got.view(f"V{size}"))))
        address = buffer.address + first * size
        return CheckFinding(
            "order-dependent", message, "order-dependent", address=address, buffer=buffer.name, permuted=permuted
        )

    def _element_type(self, buffer: Buffer, execution: Execution) -> np.dtype[Any] | None:
        kernel = execution.loaded.module.functions[execution.launch.kernel]
        if self._element_types is None:
            return None
        kinds = self._element_types(kernel)
        for kind, parameter in zip(kinds, parameter_layout(kernel).parameters, strict=True):
            raw = execution.launch.parameters[parameter.offset : parameter.offset + parameter.size]
            if kind is not None and buffer.address <= int.from_bytes(raw, "little") < buffer.end:
                return kind
        return None


def _largest(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        distance = np.abs(x - y) / np.maximum(np.abs(x), np.abs(y))
    return float(np.nan_to_num(distance, nan=0.0).max())


def _stopped(fault: Fault, schedule: Schedule) -> CheckFinding:
    place = f" at line {fault.where.line}" if fault.where and fault.where.line else ""
    message = (
        f"under {schedule} the kernel fails{place} ({fault.kind}): {fault.message}; in the usual order it does not"
    )
    return CheckFinding(
        "order-dependent", message, "order-dependent", thread=fault.thread, block=fault.block, buffer=fault.buffer
    )
