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

from kernelwright.codegen.memory_layout import parameter_layout, shared_layout
from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.cuda.names import base_name, readable
from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import MemoryKind, Message
from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW, Arena
from kernelwright.device.checking.findings import CheckFinding, End, FindingKind, Findings, Hint
from kernelwright.device.checking.reordering import Reordering
from kernelwright.device.checking.touched_bytes import READ, STORED, Bytes, Touched
from kernelwright.device.describe_access import plural
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.locations import location_of
from kernelwright.device.overread import Overread
from kernelwright.device.serving.errors import CudaError, Failure
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.replies import Answer
from kernelwright.device.serving.stream_waits import Waiting, Work
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu, position
from kernelwright.ir.debug import Location, function_location
from kernelwright.ir.module import Function
from kernelwright.ir.types import PointerType

_FAULTS: dict[str, tuple[FindingKind, Hint]] = {
    "out-of-bounds": ("out-of-bounds", "out-of-bounds"),
    "misaligned": ("misaligned", "misaligned"),
    "use-after-free": ("use-after-free", "use-after-free"),
    "barrier": ("barrier", "barrier"),
    "endless": ("launch", "launch endless"),
    "assert": ("launch", "launch assert"),
    "trap": ("launch", "launch assert"),
    "stack": ("launch", "launch"),
}
_SCOPES: dict[str, tuple[str, Hint]] = {
    "warp": ("lanes of one warp", "race warp"),
    "block": ("different warps of a block", "race block"),
    "grid": ("different blocks", "race grid"),
}
_WIDEST_FIRST = ("grid", "block", "warp")
_QUIET = frozenset({int(CudaError.NOT_READY)})
"""Errors that are answers."""

ElementTypes = Callable[[Function], Sequence["np.dtype[Any] | None"]]


class CheckedSession(Protocol):
    """What a checker asks of a session."""

    @property
    def arena(self) -> Arena: ...

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when nobody knows."""


class Checker(Observer):
    """Watches one session. ``schedules``: other orders to try for each launch, from ``seed`` on.

    ``element_types`` says what the pointers of a kernel point to, for values in messages.
    """

    tells = True
    welcome_flags = wire.WelcomeFlags.NOTE_ERRORS | wire.WelcomeFlags.NOTE_DIRECT_ACCESS

    def __init__(self, schedules: int = 0, seed: int = 0, element_types: ElementTypes | None = None) -> None:
        self.findings = Findings()
        self.launches = 0
        self.incomplete: list[str] = []
        """Kernels whose launches were too large to be followed to the end."""
        self._reordering = Reordering(schedules, seed, element_types)
        self._touched = Touched()
        self._waiting = Waiting()
        self._told: set[str] = set()
        """Sentences of failures that have become findings."""
        self._session: CheckedSession | None = None
        self._execution: Execution | None = None

    def attach(self, session: CheckedSession) -> None:
        self._session = session

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
        flags = self._touched.follow(arena.buffers)
        before = self._reordering.before(arena)
        follows = bool(before) or self._waiting.matters
        watch = Watch(races=True, unwritten=True, touched=follows, written=flags)
        launched = gpu.run(execution, arena, watch=watch)
        if launched.fault is not None:
            self.findings.add(self._of_fault(launched.fault, execution))
        for one in launched.overreads:
            self.findings.add(self._of_overread(one, execution))
        # The widest scope of a race first: it says what helps.
        for found in sorted(launched.result.found, key=lambda found: _WIDEST_FIRST.index(found.scope)):
            self.findings.add(self._of_found(found, execution))
        if launched.result.incomplete and execution.launch.kernel not in self.incomplete:
            self.incomplete.append(execution.launch.kernel)
        if before and launched.fault is None:
            for other in self._reordering.try_others(execution, gpu, arena, before, self._touched):
                self.findings.add(self._about(execution, other))
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
        self._add_all(self._waiting.issue(execution.stream, work))

    def _definition(self, execution: Execution) -> End:
        place = function_location(execution.loaded.module.functions[execution.launch.kernel])
        return End(place.file, place.line) if place else End(execution.loaded.source)

    def _about(self, execution: Execution, one: CheckFinding) -> CheckFinding:
        """A finding about the launch as a whole, with names and the kernel's own line."""
        place = self._definition(execution)
        name = self._buffer_name(one.address, execution) if one.address else one.buffer
        return replace(one, kernel=readable(execution.launch.kernel), file=place.file, line=place.line, buffer=name)

    def _of_fault(self, fault: Fault, execution: Execution) -> CheckFinding:
        kind, hint = _FAULTS.get(fault.kind, ("launch", "launch"))
        other = fault.other
        if kind == "barrier" and fault.where and "barrier.cta" not in fault.where.instruction:
            hint = "barrier warp"
        place = fault.where if fault.where and fault.where.line else self._definition(execution)
        return CheckFinding(
            kind,
            fault.message,
            hint,
            kernel=readable(execution.launch.kernel),
            file=place.file,
            line=place.line,
            also=End(other.file, other.line, fault.other_thread, fault.other_block) if other else None,
            thread=fault.thread,
            block=fault.block,
            address=fault.address,
            buffer=self._buffer_name(fault.address, execution) or fault.buffer,
        )

    def _of_overread(self, one: Overread, execution: Execution) -> CheckFinding:
        """What a GPU lets pass is a defect all the same: the bytes are nobody's."""
        place = one.where if one.where.line else self._definition(execution)
        return CheckFinding(
            "out-of-bounds",
            one.message(self._arena),
            "out-of-bounds",
            kernel=readable(one.kernel),
            file=place.file,
            line=place.line,
            thread=one.thread,
            block=one.block,
            address=one.address,
            buffer=self._buffer_name(one.address, execution),
            count=one.count,
        )

    def _of_found(self, found: Found, execution: Execution) -> CheckFinding:
        where = location_of(found.origin)
        thread, block = position(found.thread, execution.launch.block), position(found.block, execution.launch.grid)
        also = None
        hint: Hint = "uninitialised"
        kind: FindingKind = "uninitialised"
        name = self._buffer_name(found.address, execution)
        if found.other is not None:
            kind = "race"
            other = location_of(found.other)
            also = End(
                other.file,
                other.line,
                position(found.other_thread, execution.launch.block),
                position(found.other_block, execution.launch.grid),
            )
            who, hint = _SCOPES[found.scope]
            if found.benign:
                hint = "benign"
            elif "atomic" in found.verbs and found.scope == "grid":
                hint = "race atomic"
            message = (
                f"{found.verbs[0]} and {found.verbs[1]} of the same {plural(found.size, 'byte')} by {who}, "
                f"and nothing orders them"
            )
        else:
            message = f"reads {plural(found.size, 'byte')} that nobody has written"
            if SHARED_BASE <= found.address < SHARED_BASE + WINDOW:
                hint = "uninitialised shared"
        return CheckFinding(
            kind,
            message,
            hint,
            kernel=readable(execution.launch.kernel),
            file=where.file,
            line=where.line,
            also=also,
            thread=thread,
            block=block,
            address=found.address,
            buffer=name,
            benign=found.benign,
            count=found.count,
        )

    # -- names -----------------------------------------------------------------------------------------------------

    def _buffer_name(self, address: int, execution: Execution) -> str:
        """What lies at an address, as the kernel's author knows it: ``tile``, ``out (device allocation 3)``."""
        kernel = execution.loaded.module.functions[execution.launch.kernel]
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            offsets = shared_layout(kernel).offsets
            below = [(o, n) for n, o in offsets.items() if o <= address - SHARED_BASE]
            return f"{_variable(max(below)[1])} (shared memory)" if below else "shared memory"
        if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
            return "local memory"
        arena = self._arena
        buffer = arena.find(address) or arena.find_freed(address)
        if buffer is None and arena.contains(address):
            buffer = arena.nearest(address)
        if buffer is None:
            return ""
        arguments = []
        for argument, parameter in zip(kernel.arguments, parameter_layout(kernel).parameters, strict=True):
            if isinstance(parameter.type, PointerType) and not parameter.byval:
                raw = execution.launch.parameters[parameter.offset : parameter.offset + parameter.size]
                if buffer.address <= int.from_bytes(raw, "little") < max(buffer.end, buffer.address + 1):
                    arguments.append(argument.name)
        name = _variable(buffer.name)
        # Arrays from Python are named after the parameter already.
        return f"{', '.join(arguments)} ({name})" if arguments and arguments != [name] else name

    # -- between launches ------------------------------------------------------------------------------------------

    def after_message(self, message: Received, outcome: Answer | Failure) -> None:
        body = message.body
        if isinstance(outcome, Failure):
            if message.type is Message.FREE and outcome.sentence:
                self._add_launch(f"cudaFree: {outcome.sentence}")
                self._told.add(outcome.sentence)
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
            self._touched.reset()
            self._waiting = Waiting()
        elif isinstance(body, wire.NoteError):
            self._note_error(body.error, message.tail)
        elif isinstance(body, wire.HostAccess):
            self._host(body)
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
        self._add_all(self._waiting.issue(b.stream, Work("a copy", reads, writes)))

    def _fill(self, b: wire.Fill) -> None:
        writes = []
        arena = self._arena
        for row in range(b.height):
            self._touched.fill(arena, b.address + row * b.pitch, b.width)
            writes += _box(arena, b.address + row * b.pitch, b.width)
        self._add_all(self._waiting.issue(b.stream, Work("cudaMemset", [], writes)))

    def _host(self, b: wire.HostAccess) -> None:
        if b.written & 1:
            self._touched.fill(self._arena, b.address, b.size)
        boxes = _box(self._arena, b.address, b.size)
        is_direct = bool(b.written & 2)
        reads, writes = ([], boxes) if b.written & 1 else (boxes, [])
        if is_direct:
            self._add_all(self._waiting.host(Work("the program itself", reads, writes)))
        else:
            self._add_all(self._waiting.issue(b.stream, Work("cudaMemcpy", reads, writes), waits=True))

    def after_library_call(self, call: Call, seconds: float) -> None:
        for address, size in call.writes:
            self._touched.fill(self._arena, address, size)
        reads, writes = (
            [b for at, size in pieces for b in _box(self._arena, at, size)] for pieces in (call.reads, call.writes)
        )
        self._add_all(self._waiting.issue(call.stream, Work(call.name, reads, writes)))

    def library_fault(self, routine: str, kind: str, message: str) -> None:
        found, hint = _FAULTS[kind]
        self.findings.add(CheckFinding(found, f"{routine}: {message}", hint, routine))

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
        sentence, kernel, why, *_ = [*tail.decode(errors="replace").split("\0"), "", "", ""]
        last, self._last_failure = self._last_failure, None
        if error in _QUIET or (last is not None and last.error == error and last.sentence in self._told):
            return
        if last is not None and last.error == error and last.sentence:
            why = why or last.sentence
        self._add_launch(f"{sentence}: {why}" if why else sentence, kernel=kernel)

    def _add_launch(self, sentence: str, execution: Execution | None = None, kernel: str = "") -> None:
        file, line = "", 0
        if execution is not None:
            place = self._definition(execution)
            kernel, file, line = execution.launch.kernel, place.file, place.line
        elif kernel and self._session is not None:
            found = self._session.definition(kernel)
            if found is not None:
                file, line = found.file, found.line
        self.findings.add(CheckFinding("launch", sentence, "launch", readable(kernel), file, line))


def _box(arena: Arena, address: int, size: int) -> list[Bytes]:
    buffer = arena.find(address)
    return [Bytes.box(buffer, address, size)] if buffer and size else []


def _variable(mangled: str) -> str:
    """``_ZZ4scanPfE4tile`` is ``tile``."""
    if mangled.startswith("_ZZ"):
        _, _, local = mangled.partition("E")
        digits = len(local) - len(local.lstrip("0123456789"))
        return local[digits : digits + int(local[:digits])] if digits else mangled
    return base_name(mangled)
