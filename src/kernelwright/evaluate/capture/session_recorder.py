"""Recording a live program: an observer of its session that writes every launch to a capture.

    recorder = Recorder(path, ProgramIdentity(argv, folder))
    Session(connection, settings, [recorder], finish=True).serve()

Only memory that may have changed since the last launch is read again before the next.
"""

from __future__ import annotations

from pathlib import Path

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import MemoryKind, Message
from kernelwright.device.arena import Arena, Buffer, Snapshot
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.serving.errors import Failure
from kernelwright.device.serving.observer import Observed, Observer
from kernelwright.device.serving.replies import Answer
from kernelwright.device.virtual_gpu.gpu import Launched
from kernelwright.evaluate.capture.capture import Memory, Operation, ProgramIdentity, Stored
from kernelwright.evaluate.capture.writer import CaptureWriter
from kernelwright.ir import print_module


class Recorder(Observer):
    """Records one session to ``path``, which is made at the first launch; what the program does to memory too."""

    marks_new_memory = True
    """A variant that does not write a zero has to be seen."""

    def __init__(self, path: Path, program: ProgramIdentity) -> None:
        self.path = path
        self.launches = 0
        self.kernels: dict[str, int] = {}
        """How often each kernel was launched."""
        self._program = program
        self._writer: CaptureWriter | None = None
        self._session: Observed | None = None
        self._names: dict[int, str] = {}
        self._kept_modules: list[Loaded] = []
        self._known: dict[Buffer, Stored] = {}
        """What buffers held when they were last read; without those that may have changed since."""
        self._shared: set[int] = set()
        """Pinned and managed buffers, which the program writes without a word."""
        self._before: Memory = ()

    def attach(self, session: Observed) -> None:
        self._session = session

    @property
    def _arena(self) -> Arena:
        assert self._session is not None
        return self._session.arena

    @property
    def _open(self) -> CaptureWriter:
        if self._writer is None:
            arena = self._arena
            self._writer = CaptureWriter(self.path, self._program, base=arena.base, reserve=arena.reserve)
        return self._writer

    @property
    def is_cut_short(self) -> bool:
        """Whether the disk was full before the program was at its end; the program was told of an error then."""
        return self._writer is not None and self._writer.is_cut_short

    # -- launches --------------------------------------------------------------------------------------------------

    def before_launch(self, execution: Execution) -> None:
        self._module(execution.loaded)
        self._before = self._memory()

    def after_launch(self, execution: Execution, launched: Launched, seconds: float) -> None:
        self._known.clear()
        after = self._memory()
        self._open.launch(
            self._module(execution.loaded),
            execution.launch,
            before=self._before,
            after=after,
            fault=str(launched.fault or ""),
            time_us=launched.time_us or None,
        )
        self.launches += 1
        kernel = execution.launch.kernel
        self.kernels[kernel] = self.kernels.get(kernel, 0) + 1

    def _module(self, loaded: Loaded) -> str:
        """The module's name in the recording; the module itself goes there first."""
        name = self._names.get(id(loaded))
        if name is None:
            source = Path(loaded.source).name or "module"
            taken = set(self._names.values())
            name = next(n for i in range(len(taken) + 1) if (n := f"{source}#{i + 1}" if i else source) not in taken)
            self._names[id(loaded)] = name
            self._kept_modules.append(loaded)  # as long as it lives, no other object has its id
            addresses = {n: b.address for n, b in loaded.variables.buffers.items()}
            self._open.module(name, print_module(loaded.module), None, addresses)
        return name

    def _memory(self) -> Memory:
        """Every buffer's content, those read again that may have changed."""
        arena = self._arena
        changed = [b for b in arena.buffers if b not in self._known or b.address in self._shared]
        read = self._open.memory(Snapshot(tuple((b, memoryview(arena.bytes(b.address, b.size))) for b in changed)))  # type: ignore[misc]
        self._known.update(zip(changed, read, strict=True))
        return tuple(self._known[b] for b in arena.buffers)

    # -- between launches ------------------------------------------------------------------------------------------

    def after_message(self, message: Received, outcome: Answer | Failure) -> None:
        body = message.body
        if isinstance(outcome, Failure):
            return
        if isinstance(body, wire.Allocate):
            assert isinstance(outcome.body, wire.Memory)
            address = outcome.body.address
            buffer = self._arena.find(address)
            if body.kind != MemoryKind.DEVICE:
                self._shared.add(address)
            self._open.operation(Operation("allocate", address, body.size, name=buffer.name if buffer else ""))
        elif message.type is Message.FREE:
            assert isinstance(body, wire.Handle)
            self._shared.discard(body.handle)
            self._open.operation(Operation("free", body.handle))
        elif message.type is Message.DEVICE_RESET:
            left = set(self._arena.buffers)  # those of other devices
            self._known = {buffer: content for buffer, content in self._known.items() if buffer in left}
            self._shared &= {buffer.address for buffer in left}
        elif isinstance(body, wire.HostAccess):
            kind = "write" if body.written & 1 else "read"
            written = bytes(self._arena.bytes(body.address, body.size)) if kind == "write" else None
            self._changed(body.address, kind == "write")
            self._open.operation(Operation("write" if kind == "write" else "read", body.address, body.size), written)
        elif isinstance(body, wire.Fill):
            self._changed(body.address, True)
            self._open.operation(
                Operation("fill", body.address, body.width, body.height, pitch=body.pitch, value=body.value & 0xFF)
            )
        elif isinstance(body, wire.Copy):
            self._changed(body.to, True)
            self._open.operation(
                Operation(
                    "copy", body.to, body.width, body.height, body.depth, body.to_pitch, body.to_slice,
                    body.from_, body.from_pitch, body.from_slice,
                )
            )  # fmt: skip

    def after_library_call(self, call: Call, seconds: float) -> None:
        """What a library has written is to a recording what the program has written."""
        for address, size in call.reads:
            self._open.operation(Operation("read", address, size))
        for address, size in call.writes:
            self._changed(address, True)
            self._open.operation(Operation("write", address, size), bytes(self._arena.bytes(address, size)))

    def _changed(self, address: int, is_written: bool) -> None:
        buffer = self._arena.find(address) if is_written else None
        if buffer is not None:
            self._known.pop(buffer, None)

    def end(self) -> None:
        """Leaves the file as it is: how the program ends is added elsewhere (``end_capture``)."""
        self._open.leave_open()
