"""Checked launches: what ``kw check`` sees of a program, as an observer of its session.

    checker = Checker()
    Session(connection, settings, [checker]).serve()
    for finding in checker.findings.defects: ...

Every launch is watched for races and reads of unwritten memory; a fault ends it as on a GPU, everything else, reads past a
buffer that a GPU lets pass among it, is noted and the program goes on. What the program does between launches is followed by
``stream_waits.py``, other orders by ``reordering.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.cuda.names import readable
from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import MemoryKind, Message
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.checking.findings import CheckFinding, End, Findings
from kernelwright.device.checking.host_lines import HostLines
from kernelwright.device.checking.launch_findings import LaunchFindings, routine_finding
from kernelwright.device.checking.reordering import Reordering
from kernelwright.device.checking.touched_bytes import READ, STORED, Bytes, Touched
from kernelwright.device.execution import Execution
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.serving.errors import CudaError, Failure
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.replies import Answer
from kernelwright.device.serving.stream_waits import Waiting, Work
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.ir.debug import Location, function_location
from kernelwright.ir.module import Function

_OTHER_FILLER = 0x5A3C96E1
"""What a shuffle gives in a second run for a lane that does not take part; 0 in the first."""
_QUIET = frozenset({int(CudaError.NOT_READY)})
"""Errors that are answers."""

ElementTypes = Callable[[Function], Sequence["np.dtype[Any] | None"]]


class CheckedSession(Protocol):
    """What a checker asks of a session."""

    @property
    def arena(self) -> Arena:
        """The device's memory with its table of buffers."""

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when it is unknown."""


class Checker(Observer):
    """Watches one session. ``schedules``: other orders to try for each launch, from ``seed`` on.

    ``element_types`` says what the pointers of a kernel point to, for values in messages.
    """

    tells = True
    marks_new_memory = True
    welcome_flags = wire.WelcomeFlags.NOTE_ERRORS | wire.WelcomeFlags.NOTE_DIRECT_ACCESS

    def __init__(
        self, schedules: int = 0, seed: int = 0, element_types: ElementTypes | None = None, strict: bool = False
    ) -> None:
        self.findings = Findings()
        self.launches = 0
        self.incomplete: list[str] = []
        """Kernels whose launches were too large to be followed to the end."""
        self._reordering = Reordering(schedules, seed, element_types)
        self._strict = strict
        self._touched = Touched()
        self._waiting = Waiting()
        self._lines = HostLines()
        self._told: set[str] = set()
        """Sentences of failures that have become findings."""
        self._session: CheckedSession | None = None
        self._execution: Execution | None = None

    def attach(self, session: CheckedSession) -> None:
        self._session = session
        self._waiting.matters = session.arena.devices > 1

    @property
    def _arena(self) -> Arena:
        assert self._session is not None
        return self._session.arena

    # -- launches --------------------------------------------------------------------------------------------------

    def before_launch(self, execution: Execution) -> None:
        self._execution = execution

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched:
        arena = self._arena
        self.launches += 1
        describe = LaunchFindings(execution, arena, self._definition(execution), self._strict)
        compiled = gpu.compile(
            execution.loaded,
            execution.launch.kernel,
            execution.launch.block,
            SimtOptions(checked=True),
            split=execution.schedule.kind == "subwarp",
        )
        flags = self._touched.follow(arena.buffers)
        shuffles = any("shfl.sync" in str(note.origin) for note in compiled.kernel.notes)
        before = self._reordering.before(arena, shuffles)
        follows = bool(before) or self._waiting.matters
        watch = Watch(races=True, unwritten=True, touched=follows, written=flags)
        launched = gpu.run(execution, arena, compiled=compiled, watch=watch)
        if launched.fault is not None:
            self.findings.add(describe.fault(launched.fault))
        for one in launched.overreads:
            self.findings.add(describe.overread(one))
        absent = [found for found in launched.result.found if found.kind == "absent"]
        if absent and launched.fault is None:
            again = replace(watch, filler=_OTHER_FILLER)
            matters = self._reordering.differs(execution, gpu, arena, before, self._touched, compiled, again)
        for found in launched.result.found:
            if found.kind != "absent" or launched.fault is not None or matters:
                self.findings.add(describe.found(found))
        if launched.result.incomplete and execution.launch.kernel not in self.incomplete:
            self.incomplete.append(execution.launch.kernel)
        if launched.fault is None:
            for other in self._reordering.try_others(execution, gpu, arena, before, self._touched):
                self.findings.add(describe.about_all(other))
        if follows:
            self._issue(execution)
            self._touched.clear()
        self._execution = None
        return launched

    def _issue(self, execution: Execution) -> None:
        """The launch as work in its stream."""
        buffers = self._arena.buffers
        work = Work(
            f"kernel {readable(execution.launch.kernel)}",
            self._touched.take(buffers, READ),
            self._touched.take(buffers, STORED),
            self._definition(execution),
            readable(execution.launch.kernel),
        )
        self._add_all(self._waiting.issue(execution.stream, work, device=self._arena.device))

    def _definition(self, execution: Execution) -> End:
        place = function_location(execution.loaded.module.functions[execution.launch.kernel])
        return End(place.file, place.line) if place else End(execution.loaded.source)

    # -- between launches ------------------------------------------------------------------------------------------

    def after_message(self, message: Received, outcome: Answer | Failure) -> None:
        body = message.body
        if isinstance(outcome, Failure):
            self._last_failure = outcome
            return
        if isinstance(body, wire.Allocate):
            assert isinstance(outcome.body, wire.Memory)
            self._touched.allocated(outcome.body.address, body.size, body.kind != MemoryKind.DEVICE)
        elif message.type is Message.FREE:
            assert isinstance(body, wire.Handle)
            self._add_all(self._waiting.free(self._arena.find_freed(body.handle)))
            self._touched.freed(body.handle)
        elif message.type is Message.DEVICE_RESET:
            self._touched.keep(self._arena.buffers)
        elif isinstance(body, wire.NoteError):
            self._note_error(body.error, message.tail)
        elif isinstance(body, wire.HostAccess):
            self._host(body, message.tail)
        elif isinstance(body, wire.Copy):
            self._copy(body)
        elif isinstance(body, wire.Fill):
            self._fill(body)
        self._waiting.follow(message)

    _last_failure: Failure | None = None

    def _copy(self, b: wire.Copy) -> None:
        reads, writes = [], []
        arena = self._arena
        for z in range(b.depth):
            for y in range(b.height):
                to = b.to + z * b.to_slice + y * b.to_pitch
                start = b.from_ + z * b.from_slice + y * b.from_pitch
                self._touched.copy(arena, to, start, b.width)
                reads += _box(arena, start, b.width)
                writes += _box(arena, to, b.width)
        peer = next((end.buffer.device for end in reads + writes if _is_of_peer(arena, end.buffer)), None)
        work = Work("a copy", reads, writes)
        self._add_all(self._waiting.issue(b.stream, work, device=arena.device, peer=peer))

    def _fill(self, b: wire.Fill) -> None:
        writes = []
        arena = self._arena
        for row in range(b.height):
            self._touched.fill(arena, b.address + row * b.pitch, b.width)
            writes += _box(arena, b.address + row * b.pitch, b.width)
        self._add_all(self._waiting.issue(b.stream, Work("cudaMemset", [], writes), device=arena.device))

    def _host(self, b: wire.HostAccess, tail: bytes) -> None:
        if b.written & 1:
            self._touched.fill(self._arena, b.address, b.size)
        elif not b.written & 2:
            self._copied_to_host(b)
        boxes = _box(self._arena, b.address, b.size)
        is_direct = bool(b.written & 2)
        reads, writes = ([], boxes) if b.written & 1 else (boxes, [])
        if is_direct:
            found = self._waiting.host(Work("the program itself", reads, writes))
            place = self._lines.first_of(tail.rstrip(b"\0").decode(errors="surrogateescape")) if found else None
            self._add_all([_at(one, place) for one in found])
        else:
            work = Work("cudaMemcpy", reads, writes)
            self._add_all(self._waiting.issue(b.stream, work, waits=True, device=self._arena.device))

    def _copied_to_host(self, b: wire.HostAccess) -> None:
        """Bytes that nothing wrote, in a copy to the host: a note, since what the program does with them is not seen."""
        count = self._touched.unwritten(self._arena, b.address, b.size)
        buffer = self._arena.find(b.address)
        if count and buffer is not None:
            message = f"{count:,} of {b.size:,} bytes that are copied to the host were never written"
            one = CheckFinding("uninitialised", message, "uninitialised copied", address=b.address, buffer=buffer.name)
            self.findings.add(replace(one, benign=True))

    def after_library_call(self, call: Call, seconds: float) -> None:
        for address, size in call.writes:
            self._touched.fill(self._arena, address, size)
        reads, writes = (
            [b for at, size in pieces for b in _box(self._arena, at, size)] for pieces in (call.reads, call.writes)
        )
        self._add_all(self._waiting.issue(call.stream, Work(call.name, reads, writes), device=self._arena.device))

    def library_fault(self, routine: str, kind: str, message: str) -> None:
        self.findings.add(routine_finding(routine, kind, message))

    def _add_all(self, found: list[CheckFinding]) -> None:
        for one in found:
            self.findings.add(one)

    # -- refused -----------------------------------------------------------------------------------------------------

    def failed(self, failure: Failure) -> None:
        """A command was refused. Faults of kernels are findings already; they have no sentence here."""
        if failure.is_sticky or failure.sentence in self._told:
            return
        self._told.add(failure.sentence)
        execution, self._execution = self._execution, None
        self._add_launch(failure.sentence or f"error {failure.error.name}", execution)
        self._last_failure = failure

    def _note_error(self, error: int, tail: bytes) -> None:
        """A call of the program has returned an error."""
        sentence, kernel, why, stack, *_ = [*tail.decode(errors="surrogateescape").split("\0"), "", "", "", ""]
        last, self._last_failure = self._last_failure, None
        if error in _QUIET or (last is not None and last.error == error and last.sentence in self._told):
            return
        if last is not None and last.error == error and last.sentence:
            why = why or last.sentence
        self._add_launch(f"{sentence}: {why}" if why else sentence, kernel=kernel, stack=stack)

    def _add_launch(self, sentence: str, execution: Execution | None = None, kernel: str = "", stack: str = "") -> None:
        file, line = "", 0
        if execution is not None:
            place = self._definition(execution)
            kernel, file, line = execution.launch.kernel, place.file, place.line
        elif kernel and self._session is not None:
            found = self._session.definition(kernel)
            if found is not None:
                file, line = found.file, found.line
        one = CheckFinding("launch", sentence, "launch", readable(kernel), file, line)
        self.findings.add(_at(one, self._lines.first_of(stack)))


def _at(one: CheckFinding, place: End | None) -> CheckFinding:
    """A finding about a line of host code; where it had its line before is the other end."""
    if place is None:
        return one
    other = End(one.file, one.line) if one.line else one.also
    return replace(one, file=place.file, line=place.line, also=other)


def _is_of_peer(arena: Arena, buffer: Buffer) -> bool:
    return buffer.device != arena.device and not buffer.is_shared


def _box(arena: Arena, address: int, size: int) -> list[Bytes]:
    buffer = arena.find(address)
    return [Bytes.box(buffer, address, size)] if buffer and size else []
