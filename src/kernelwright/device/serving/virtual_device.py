"""What the messages of a program do to the virtual GPU: its modules, memory, kernels, streams and events.

``TABLE`` lists it, message by message. What cannot be done raises ``Refused``; ``Session`` makes an answer of that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kernelwright.cuda.names import readable
from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.launch_codec import read_launch
from kernelwright.cuda.wire.protocol import Message, WelcomeFlags
from kernelwright.device.arena import Arena
from kernelwright.device.libraries.message import call_library
from kernelwright.device.serving.allocations import Allocations
from kernelwright.device.serving.engine import Engine
from kernelwright.device.serving.errors import CudaError, Failure, Refused
from kernelwright.device.serving.kernel_tally import Tally
from kernelwright.device.serving.let_pass import LetPass
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.properties import properties_of
from kernelwright.device.serving.replies import Answer, handle_of
from kernelwright.device.serving.served_device import Tell
from kernelwright.device.serving.timeline import HostClock, Timeline
from kernelwright.device.serving.watchdog import UnderWay
from kernelwright.device.settings import Settings
from kernelwright.device.versions.absent import without_kernel
from kernelwright.device.virtual_gpu.kept_code import KeptCode
from kernelwright.launch import STACK_BYTES
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from kernelwright.device.virtual_gpu.gpu import Launched
    from kernelwright.ir.debug import Location
    from kernelwright.kernel_version import Version

_NO_TIMING = 2
"""cudaEventDisableTiming."""
MOST_STACK = 512 << 10
"""Bytes of local memory that a thread can have (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""
FRAMES_ARE_LARGER = 4
"""Times that a frame here may be as long as one of the GPU's, which keeps values in registers: what fits there has to fit here."""


@dataclass
class Part:
    """What is one device's own, of several that a program has."""

    number: int
    engine: Engine
    memory: Allocations
    timeline: Timeline


class VirtualDevice:
    """The virtual GPU, or the several of a program, on the memory of ``arena``. ``observers`` see launches and copies. Work is done in
    the order in which it was asked, on whichever device.

    Launches carry estimates of their time with ``timed``, and from the first event on that the program creates to measure with.
    """

    always = frozenset(
        {
            Message.HELLO,
            Message.MOVE_ARENA,
            Message.DEVICE_RESET,
            Message.DEVICE_PROPERTIES,
            Message.KERNEL_LAYOUT,
            Message.COUNTERS,
        }
    )

    def __init__(
        self,
        arena: Arena,
        settings: Settings,
        observers: Sequence[Observer] = (),
        timed: bool = False,
        versions: Sequence[Version] | None = (),
        kept: KeptCode | None = None,
    ) -> None:
        """``versions``: what may run in the place of the program's kernels, besides what it carries itself; None: neither
        does. Tools that observe see the program's own kernels. ``kept``: what earlier sessions have made."""
        self._kept = kept
        self.under_way = UnderWay()
        self.tally = Tally()
        self._let_pass = LetPass()
        self.text: list[bytes] = []
        """What kernels have printed since it was last taken."""
        self._settings = settings
        self._observers = (self.tally, self._let_pass, *observers)
        self._marks_new_memory = settings.strict or any(observer.marks_new_memory for observer in observers)
        self._timed = timed
        self._versions = None if observers else versions
        self._kernels: dict[str, None] = {}
        self._begin(arena)

    def _begin(self, arena: Arena) -> None:
        """Devices on which nothing has happened."""
        self.arena = arena
        arena.devices = self._settings.gpus
        self._clock = HostClock()
        # One compiles for all: they are alike.
        kept = self._kept or (KeptCode() if self._settings.gpus > 1 else None)
        self._parts = [self._part(number, kept) for number in range(self._settings.gpus)]
        self._enter(self._parts[0])

    def _part(self, number: int, kept: KeptCode | None) -> Part:
        arena, settings = self.arena, self._settings
        engine = Engine(arena, settings, self._observers, self._timed, self.under_way, self._versions, kept)
        return Part(number, engine, Allocations(arena, settings, self._marks_new_memory), self._new_timeline())

    def _enter(self, part: Part) -> None:
        """What follows is about this device."""
        self._current = part.number
        self.arena.device = part.number
        self.engine, self._memory, self._timeline = part.engine, part.memory, part.timeline

    def _find(self, device: int) -> Part:
        if device >= len(self._parts):
            raise Refused(CudaError.INVALID_DEVICE)
        return self._parts[device]

    def elapsed_us(self) -> float:
        return max(part.timeline.end_us for part in self._parts)

    def _new_timeline(self) -> Timeline:
        gpu = self._settings.gpu
        return Timeline(gpu.dram_gb_per_s, gpu.host_gb_per_s, self._clock)

    # -- what a session asks ---------------------------------------------------------------------------------------

    def welcome(self) -> wire.Welcome:
        return wire.Welcome(
            version=wire.VERSION,
            device_count=len(self._parts),
            flags=WelcomeFlags.ARENA_IS_DEVICE | WelcomeFlags.NOTE_HOST_ACCESS,
            arena_address=self.arena.base,
            arena_size=self.arena.reserve,
        )

    def warm_up(self) -> None:
        self.engine.warm_up()

    def move(self, address: int) -> None:
        old = self.arena
        self._begin(Arena.attach(os.dup(old.fd), address, old.reserve))
        old.close()

    def handle(self, message: Received) -> Answer | Failure:
        part = self._find(message.device)
        if message.type in _FOR_ALL:
            for each in self._parts:
                self._enter(each)
                TABLE[message.type](self, message)
        self._enter(part)
        return Answer() if message.type in _FOR_ALL else TABLE[message.type](self, message) or Answer()

    def take_output(self) -> bytes:
        text = b"".join(self.text)
        self.text.clear()
        return text

    def finish(self) -> None:
        """Everything has run by the time anybody can ask."""

    def report(self) -> list[dict[str, Any]]:
        return self.tally.as_json()

    def versions(self) -> list[dict[str, Any]]:
        dispatches = [part.engine.dispatch for part in self._parts]
        return [row for dispatch in dispatches if dispatch is not None for row in dispatch.rows()]

    def definition(self, kernel: str) -> Location | None:
        from kernelwright.ir.debug import function_location

        try:
            loaded = self.engine.registered.loaded_of(kernel)
        except Refused:
            return None
        found = loaded.module.functions.get(kernel) if loaded else None
        return function_location(found) if found else None

    def stop(self, tell: Tell) -> bool:
        """The launch ends with a fault, which the program is told of by the session."""
        running = self.engine.running
        return running is not None and running.stop()

    def progress(self) -> tuple[str, int] | None:
        running = self.engine.running
        return running.progress() if running is not None else None

    def remarks(self) -> list[str]:
        """Kernels that were launched and that the timing model could not take, and what was let pass as GPUs do, unless that has been
        told otherwise."""
        told = [*without_kernel(self._versions or (), self._kernels)]
        for engine in [part.engine for part in self._parts]:
            told += engine.dispatch.sentences() if engine.dispatch is not None else []
            told += [f"kernel {readable(k)} has no estimated time: {why}" for k, why in engine.untimed.items()]
        untimed = list(dict.fromkeys(told))  # devices are alike, and what is said of one holds for the others
        is_told = any(observer.tells or observer.tells_overreads for observer in self._observers)
        return untimed if is_told else [*untimed, *self._let_pass.sentences()]

    # -- registration ----------------------------------------------------------------------------------------------

    def _register_module(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterModule)
        if self.engine.registered.has_module(message.body.module):
            return  # told again after another device was reset
        self.engine.registered.add_module(message.body.module, message.body.format, message.tail)

    def _register_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterSymbol)
        name = message.tail.decode()
        if self.engine.registered.has_kernel(message.body.symbol):
            return
        self.engine.registered.add_kernel(message.body.symbol, message.body.module, name)
        self._kernels[name] = None

    def _register_variable(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.RegisterSymbol)
        if self.engine.registered.has_variable(b.symbol):
            return
        self.engine.registered.add_variable(b.symbol, b.module, message.tail.decode(), b.size, b.flags, b.address)

    def _unregister_module(self, message: Received) -> None:
        self.engine.registered.remove_module(handle_of(message))
        self.engine.forget_prepared()

    # -- memory ----------------------------------------------------------------------------------------------------

    def _allocate(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Allocate)
        size = message.body.size
        return Answer(wire.Memory(address=self._memory.allocate(size, message.body.kind), size=size))

    def _free(self, message: Received) -> None:
        self._memory.free(handle_of(message))

    def _fill(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Fill)
        self._check_stream(b.stream)
        self._memory.fill(b, self._note_access)
        self._timeline.fill(b.stream, b.width * b.height)

    def _copy(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Copy)
        self._check_stream(b.stream)
        self._memory.copy(b, self._note_access)
        size = b.width * b.height * b.depth
        peer = self._peer_of(b)
        if peer is None:
            self._timeline.copy(b.stream, size, "none")
        else:
            self._timeline.copy_from_peer(peer.timeline, b.stream, size)

    def _peer_of(self, box: wire.Copy) -> Part | None:
        """The device that has the other end of a copy which leaves this one."""
        ends = [self.arena.find(box.to), self.arena.find(box.from_)]
        others = [end.device for end in ends if end is not None and not end.is_shared and end.device != self._current]
        return self._parts[others[0]] if others else None

    def _host_access(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.HostAccess)
        self._check_stream(b.stream)
        self._timeline.copy(b.stream, b.size, "to device" if b.written else "to host")
        self._note_access(b.address, b.size, bool(b.written))

    def _note_access(self, address: int, size: int, written: bool) -> None:
        for observer in self._observers:
            observer.host_access(address, size, written)

    def _memory_info(self, message: Received) -> Answer:
        return Answer(wire.MemoryInfo(free=self._memory.free_bytes, total=self._settings.gpu.memory_bytes))

    def _symbol_address(self, message: Received) -> Answer:
        address, size = self.engine.registered.variable(handle_of(message))
        return Answer(wire.Memory(address=address, size=size))

    # -- kernels ---------------------------------------------------------------------------------------------------

    def launch(self, body: bytes, device: int = 0) -> Failure | None:
        """Runs the launch in a message. Returns what went wrong."""
        try:
            if device != self._current:
                self._enter(self._find(device))
            stream, number, launch = read_launch(body, self.engine.registered.name_of)
            self._check_stream(stream)
            launched = self.engine.launch(number, launch, stream)
            self._ran(stream, launched)
            if launched.fault is not None:
                return self.engine.failure_of(launched.fault, self.engine.registered.loaded(number), launch)
            for loaded, child in self.engine.launched_by(number, stream):
                self._ran(stream, child)
                if child.fault is not None:
                    return self.engine.failure_of(child.fault, loaded, child.launch)
        except Refused as refused:
            return refused.failure
        return None

    def _ran(self, stream: int, launched: Launched) -> None:
        if launched.result.printed:
            self.text.append(launched.result.printed)
        self._timeline.run(stream, launched.time_us)

    def _kernel_layout(self, message: Received) -> Answer:
        kernel = self.engine.registered.entry(handle_of(message))
        tail = b"".join(wire.Parameter(offset=p.offset, size=p.size).pack() for p in kernel.parameters)
        return Answer(wire.KernelLayout(len(kernel.parameters), kernel.arguments_size), tail)

    def _function_attributes(self, message: Received) -> Answer:
        return Answer(self.engine.registered.attributes(handle_of(message), self._settings.gpu))

    def _set_function_attribute(self, message: Received) -> None:
        assert isinstance(message.body, wire.FunctionAttribute)
        b = message.body
        self.engine.registered.set_attribute(b.kernel, b.attribute, b.value)

    def _occupancy(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Occupancy)
        b = message.body
        blocks = self.engine.registered.resident_blocks(b.kernel, self._settings.gpu, b.block_threads, b.shared_bytes)
        return Answer(wire.Handle(handle=blocks))

    def _swap_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.Swap)
        size = message.body.name_size
        name = message.tail[: max(size - 1, 0)].decode()
        self.engine.registered.swap(name, message.tail[size : size + message.body.blob_size])
        self.engine.forget_prepared()

    def _library_call(self, message: Received) -> Answer | Failure:
        assert isinstance(message.body, wire.LibraryCall)
        self._check_stream(message.body.stream)
        return call_library(message, self.arena, self._settings.gpu, self._timeline, self._observers)

    # -- streams, events, device -----------------------------------------------------------------------------------

    def _check_stream(self, stream: int) -> None:
        if not self._timeline.has(stream):
            raise Refused(CudaError.INVALID_RESOURCE_HANDLE)

    def _stream_create(self, message: Received) -> None:
        assert isinstance(message.body, wire.Stream)
        self._timeline.create(message.body.stream, blocking=not message.body.flags & 1)

    def _stream_destroy(self, message: Received) -> None:
        self._timeline.destroy(handle_of(message))

    def _stream_synchronize(self, message: Received) -> None:
        self._check_stream(handle_of(message))
        self._timeline.synchronize(handle_of(message))

    def _stream_query(self, message: Received) -> None:
        """All work is done by the time anybody can ask."""
        self._check_stream(handle_of(message))

    def _stream_wait(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._check_stream(message.body.stream)
        self._timeline.wait(message.body.stream, message.body.event)

    def _event_create(self, message: Received) -> None:
        """An event takes no room before it is recorded; but from now on the program may ask how long things take."""
        assert isinstance(message.body, wire.Event)
        if not message.body.flags & _NO_TIMING:
            for part in self._parts:
                part.engine.keep_time()

    def _event_record(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._check_stream(message.body.stream)
        self._timeline.record(message.body.event, message.body.stream)

    def _event_destroy(self, message: Received) -> None:
        self._timeline.forget_event(handle_of(message))

    def _event_synchronize(self, message: Received) -> None:
        self._timeline.synchronize_event(handle_of(message))

    def _event_elapsed(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Elapsed)
        elapsed = self._timeline.elapsed_ms(message.body.start, message.body.end)
        if elapsed is None:
            raise Refused(CudaError.INVALID_RESOURCE_HANDLE)
        return Answer(wire.Milliseconds(milliseconds=elapsed))

    def _device_synchronize(self, message: Received) -> None:
        self._timeline.synchronize()

    def _device_properties(self, message: Received) -> Answer:
        return Answer(properties_of(self._settings.gpu, self._current))

    def _device_reset(self, message: Received) -> None:
        """A device on which nothing has happened. What kernels have printed stays."""
        part = self._parts[self._current]
        if len(self._parts) == 1:
            self.arena.reset()
        else:
            self._forget_device(part)
        self._memory.start_over()
        self.engine.start_over()
        self._timeline.synchronize()
        part.timeline = self._new_timeline()
        self._enter(part)

    def _forget_device(self, part: Part) -> None:
        """One of several: its memory goes, but for managed variables, which all of them have; and it has no peer any more."""
        managed = self.engine.registered.managed_addresses()
        for buffer in self.arena.buffers:
            if buffer.device == part.number and not any(buffer.address <= a < buffer.end for a in managed):
                self.arena.free(buffer)
        self.arena.set_peers(frozenset())
        for other in self._parts:
            self.arena.device = other.number
            self.arena.set_peers(self.arena.peers - {part.number})
        self.arena.device = part.number

    def _stack_limit(self, message: Received) -> None:
        self.engine.stack_bytes = max(STACK_BYTES, FRAMES_ARE_LARGER * min(handle_of(message), MOST_STACK))

    def _peer_access(self, message: Received) -> None:
        body = message.body
        assert isinstance(body, wire.PeerAccess)
        peer = {self._find(body.peer).number}
        self.arena.set_peers(self.arena.peers | peer if body.is_enabled else self.arena.peers - peer)

    def _counters(self, message: Received) -> Answer:
        text = json.dumps({"device": self._settings.gpu.name, "kernels": self.tally.as_json()})
        if handle_of(message):
            self.tally.kernels.clear()
        return Answer(tail=text.encode())

    def _nothing(self, message: Received) -> None:
        """Whatever was asked before has been done."""


_FOR_ALL = frozenset(
    {Message.REGISTER_MODULE, Message.REGISTER_KERNEL, Message.REGISTER_VARIABLE, Message.UNREGISTER_MODULE}
)
"""What concerns every device of the program: a program registers its code once."""

TABLE: dict[Message, Callable[[VirtualDevice, Received], Answer | Failure | None]] = {
    Message.REGISTER_MODULE: VirtualDevice._register_module,
    Message.REGISTER_KERNEL: VirtualDevice._register_kernel,
    Message.REGISTER_VARIABLE: VirtualDevice._register_variable,
    Message.UNREGISTER_MODULE: VirtualDevice._unregister_module,
    Message.ALLOCATE: VirtualDevice._allocate,
    Message.FREE: VirtualDevice._free,
    Message.FILL: VirtualDevice._fill,
    Message.COPY: VirtualDevice._copy,
    Message.HOST_ACCESS: VirtualDevice._host_access,
    Message.MEMORY_INFO: VirtualDevice._memory_info,
    Message.SYMBOL_ADDRESS: VirtualDevice._symbol_address,
    Message.KERNEL_LAYOUT: VirtualDevice._kernel_layout,
    Message.FUNCTION_ATTRIBUTES: VirtualDevice._function_attributes,
    Message.SET_FUNCTION_ATTRIBUTE: VirtualDevice._set_function_attribute,
    Message.OCCUPANCY: VirtualDevice._occupancy,
    Message.LIBRARY_CALL: VirtualDevice._library_call,
    Message.LIBRARY_QUESTION: VirtualDevice._library_call,
    Message.STREAM_CREATE: VirtualDevice._stream_create,
    Message.STREAM_DESTROY: VirtualDevice._stream_destroy,
    Message.STREAM_SYNCHRONIZE: VirtualDevice._stream_synchronize,
    Message.STREAM_QUERY: VirtualDevice._stream_query,
    Message.STREAM_WAIT: VirtualDevice._stream_wait,
    Message.EVENT_CREATE: VirtualDevice._event_create,
    Message.EVENT_DESTROY: VirtualDevice._event_destroy,
    Message.EVENT_RECORD: VirtualDevice._event_record,
    Message.EVENT_SYNCHRONIZE: VirtualDevice._event_synchronize,
    Message.EVENT_QUERY: VirtualDevice._nothing,
    Message.EVENT_ELAPSED: VirtualDevice._event_elapsed,
    Message.DEVICE_SYNCHRONIZE: VirtualDevice._device_synchronize,
    Message.DEVICE_PROPERTIES: VirtualDevice._device_properties,
    Message.DEVICE_RESET: VirtualDevice._device_reset,
    Message.PEER_ACCESS: VirtualDevice._peer_access,
    Message.STACK_LIMIT: VirtualDevice._stack_limit,
    Message.COUNTERS: VirtualDevice._counters,
    Message.LAST_ERROR: VirtualDevice._nothing,
    Message.SWAP_KERNEL: VirtualDevice._swap_kernel,
    Message.NOTE_ERROR: VirtualDevice._nothing,
}
"""Launches are not among them: ``Session`` knows them by their number; and what a session answers itself is in its table."""
