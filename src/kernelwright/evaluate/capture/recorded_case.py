"""A recorded launch as a case: memory is restored as it was, the kernel runs, its buffers are compared with the recording."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.cache import content_key
from kernelwright.codegen.memory_layout import alloc_size, parameter_layout
from kernelwright.device.arena import GAP, Arena, Buffer, Snapshot
from kernelwright.errors import DeviceError, ToolError
from kernelwright.evaluate.capture.capture import Capture, Memory, Pointer, RecordedLaunch, Stored
from kernelwright.evaluate.judging.case_runner import Runner
from kernelwright.evaluate.workload.case import Arrays, Output
from kernelwright.evaluate.workload.element_types import parameter_types, variable_type
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.ir import Module

BYTES: np.dtype[Any] = np.dtype(np.uint8)


class RecordedCase:
    """One launch of a capture. ``module`` is the recorded one: it says what the buffers hold.

    Only memory that the launch can reach is restored and compared: what its arguments and the device variables point to,
    what those buffers point to, and so on; and whatever changed in the recording. Managed variables lie in one section of the
    program; here each is a buffer of its own, as other variables are.
    """

    def __init__(
        self, capture: Capture, recorded: RecordedLaunch, module: Module, rules: Rules | None = None, of: str = ""
    ) -> None:
        """``of``: what the recording is one of, for the case's name."""
        launch = recorded.launch
        if launch.kernel not in module.functions:
            raise ToolError(
                f"module '{recorded.module}' of {capture.path} does not define kernel '{launch.kernel}'",
                hint="record the program again",
            )
        self.capture = capture
        self.recorded = recorded
        self.launch = launch
        self.module = module
        self.rules = rules or Rules()
        self.name = f"{launch.kernel} #{recorded.number}{of}"
        self._variables = capture.modules[recorded.module].variables
        self._cut: dict[bytes, bytes] = {}
        """What pieces of the program's section hold, by hash."""

    def arena(self) -> Arena:
        """An arena at the recorded addresses. Raises ``DeviceError`` when another one of this process is there."""
        fd = os.memfd_create("kernelwright-replay", os.MFD_CLOEXEC)
        try:
            os.ftruncate(fd, self.capture.reserve)
            return Arena.attach(fd, self.capture.base, self.capture.reserve)
        except DeviceError as error:
            os.close(fd)
            raise DeviceError(
                f"{self.capture.path} was recorded at address {self.capture.base:#x}, which this process uses already",
                hint="close the other arena, or replay in a process of its own",
            ) from error
        except BaseException:
            os.close(fd)
            raise

    def run(self, runner: Runner, kernel: str) -> Output:
        """Restores the memory, runs the launch, and reads the buffers. Raises ``Stopped`` when the kernel fails."""
        arena = runner.arena
        put_back(arena, Snapshot(tuple((s.buffer, self._content(s)) for s in self.reached)))
        runner.launch(self.launch, self._variables)
        found = {name: self._typed(name, arena.view(b).tobytes()) for name, b in self.names.items()}
        before = self.contents("before")
        return Output(found, before, before)

    def expected(self) -> Arrays:
        """The recorded buffers after the launch."""
        return self.contents("after")

    def contents(self, when: str) -> Arrays:
        """The buffers that are compared, before or after the recorded launch, as arrays of what they hold."""
        memory = {s.buffer: s for s in (self._before if when == "before" else self._after)}
        return {name: self._typed(name, self._content(memory[b])) for name, b in self.names.items() if b in memory}

    @cached_property
    def reached(self) -> Memory:
        """What the launch can reach, as it was before."""
        after = {s.buffer: s.content for s in self._after}
        stored = {s.buffer.address: s for s in self._before}
        starts = np.array(sorted(stored), dtype=np.uint64)
        waiting = [s.buffer.address for s in self._before if after.get(s.buffer) != s.content]
        waiting += [self._buffer_of(p) for p in self.recorded.pointers]
        waiting += [a for a in self._variables.values() if a in stored]
        found: set[int] = set()
        while waiting:
            address = waiting.pop()
            if address not in found:
                found.add(address)
                waiting += self._pointed_from(stored[address], starts, stored)
        return tuple(s for s in self._before if s.buffer.address in found)

    def _pointed_from(self, source: Stored, starts: NDArray[np.uint64], stored: dict[int, Stored]) -> Iterable[int]:
        """The buffers that aligned words of a buffer point into."""
        data = self._content(source)
        words = np.frombuffer(data, dtype="<u8", count=len(data) // 8)
        low, high = self.capture.base, self.capture.base + self.capture.reserve
        words = np.unique(words[(words >= low) & (words < high)])
        at = np.searchsorted(starts, words, side="right")
        for word, place in zip(words.tolist(), at.tolist(), strict=True):
            if place:
                address = int(starts[place - 1])
                if word <= stored[address].buffer.end:
                    yield address

    @cached_property
    def names(self) -> dict[str, Buffer]:
        """The buffers that are compared, by a name of their own."""
        found: dict[str, Buffer] = {}
        for stored in self.reached:
            buffer = stored.buffer
            found[buffer.name if buffer.name not in found else f"{buffer.name}@{buffer.address:#x}"] = buffer
        return found

    @cached_property
    def types(self) -> dict[int, np.dtype[Any]]:
        """Element types by the address of the buffer, as far as the kernel tells."""
        kernel = self.module.functions[self.launch.kernel]
        by_offset = {
            p.offset: t for p, t in zip(parameter_layout(kernel).parameters, parameter_types(kernel), strict=True)
        }
        found: dict[int, np.dtype[Any]] = {}
        for pointer in self.recorded.pointers:
            kind = by_offset.get(pointer.offset)
            if kind is not None and pointer.inside % kind.itemsize == 0:
                # Two parameters that see one buffer differently: no type.
                buffer = self._buffer_of(pointer)
                found[buffer] = kind if found.get(buffer, kind) == kind else BYTES
        for name, address in self._variables.items():
            variable = self.module.globals.get(name)
            kind = variable_type(variable) if variable is not None else None
            if kind is not None:
                found[address] = kind
        return found

    # -- managed variables ---------------------------------------------------------------------------------------------

    @cached_property
    def _before(self) -> Memory:
        return tuple(piece for stored in self.recorded.before for piece in self._pieces(stored))

    @cached_property
    def _after(self) -> Memory:
        return tuple(piece for stored in self.recorded.after for piece in self._pieces(stored))

    def _content(self, stored: Stored) -> bytes:
        cut = self._cut.get(stored.content)
        return self.capture.content(stored) if cut is None else cut

    def _pieces(self, stored: Stored) -> Iterator[Stored]:
        """A buffer as it is, or, where it holds variables of the module among other things, these and what lies between them."""
        whole = stored.buffer
        inside = sorted(
            (v for v in self._sized_variables if whole.address <= v.address < whole.end), key=lambda v: v.address
        )
        if not inside or [(v.address, v.size) for v in inside] == [(whole.address, whole.size)]:
            yield stored
            return
        at = whole.address
        for variable in inside:
            if at < variable.address:
                yield self._piece(stored, Buffer(at, variable.address - at, whole.name, whole.writable))
            yield self._piece(stored, replace(variable, writable=whole.writable))
            at = variable.end
        if at < whole.end:
            yield self._piece(stored, Buffer(at, whole.end - at, whole.name, whole.writable))

    def _piece(self, stored: Stored, buffer: Buffer) -> Stored:
        begin = buffer.address - stored.buffer.address
        data = self.capture.content(stored)[begin : begin + buffer.size]
        key = bytes.fromhex(content_key([b"a piece", data]))
        self._cut[key] = data
        return Stored(buffer, key)

    @cached_property
    def _sized_variables(self) -> list[Buffer]:
        """The module's variables that have an address."""
        known = self.module.globals
        return [Buffer(a, alloc_size(known[n].value_type), n) for n, a in self._variables.items() if n in known]

    def _buffer_of(self, pointer: Pointer) -> int:
        """The address of the buffer that a parameter points into."""
        value = pointer.buffer + pointer.inside
        return next(
            (s.buffer.address for s in self._before if s.buffer.address <= value < s.buffer.end), pointer.buffer
        )

    def _typed(self, name: str, content: bytes) -> NDArray[Any]:
        kind = self.rules.type_of(name) or self.types.get(self.names[name].address, BYTES)
        return np.frombuffer(content, dtype=kind if len(content) % kind.itemsize == 0 else BYTES)

    def fingerprint(self) -> str:
        """A hash of all that decides what the launch does."""
        launch = self.launch
        parts: list[str | bytes] = [
            launch.kernel,
            repr((launch.grid, launch.block, launch.shared_bytes, *["cooperative"] * launch.is_cooperative)),
        ]
        parts += [self.capture.modules[self.recorded.module].ir, launch.parameters]
        parts += [f"{s.buffer}{s.content.hex()}" for s in self.reached]
        return content_key(parts)


def put_back(arena: Arena, snapshot: Snapshot) -> None:
    """Makes the arena hold exactly these buffers, and lets later allocations lie behind them, always at the same place."""
    if arena.buffers == tuple(buffer for buffer, _ in snapshot.contents):
        for buffer, content in snapshot.contents:
            arena.bytes(buffer.address, buffer.size)[:] = content
        return
    arena.reset()
    end = max((buffer.end for buffer, _ in snapshot.contents), default=arena.base)
    # Addresses rise and are not used again: what is allocated and freed here is never handed out.
    arena.free(arena.allocate(max(end - arena.base - GAP, 0), "addresses of the recording", fill=None))
    arena.restore(snapshot)
