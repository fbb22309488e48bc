"""A device worker that computes nothing: it answers every request, remembers every message, and keeps the arena.

Its answers are the simplest that the protocol allows, so that a test can say what the client must have sent. A test
gives it `answers` (what to say to a message instead) and `on_launch` (what a kernel does to memory).
"""

from __future__ import annotations

import mmap
import os
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from kernelwright.cuda.wire.channel import Channel, Received
from kernelwright.cuda.wire.protocol import (
    MESSAGES,
    VERSION,
    Allocate,
    Body,
    Copy,
    DeviceProperties,
    Fill,
    FunctionAttributes,
    Handle,
    KernelLayout,
    Launch,
    Memory,
    MemoryInfo,
    Message,
    Milliseconds,
    MoveArena,
    RegisterSymbol,
    Welcome,
    WelcomeFlags,
)

ARENA_ADDRESS = 0x2000_0000_0000
ARENA_SIZE = 64 << 20
STAGING_SIZE = 4096
# Where device memory is when it is not in the arena: the client must never touch these addresses.
FAR_ADDRESS = 0x7_0000_0000_0000

PROPERTIES = DeviceProperties(
    name=b"Paper GPU",
    uuid=bytes(range(16)),
    global_bytes=8 << 30,
    shared_bytes_per_block=49152,
    shared_bytes_per_block_optin=101376,
    shared_bytes_per_multiprocessor=102400,
    reserved_shared_bytes_per_block=1024,
    constant_bytes=65536,
    max_pitch=0x7FFFFFFF,
    texture_alignment=512,
    texture_pitch_alignment=32,
    major=8,
    minor=6,
    multiprocessors=28,
    warp_size=32,
    max_threads_per_block=1024,
    max_threads_per_multiprocessor=1536,
    max_blocks_per_multiprocessor=16,
    max_block=(1024, 1024, 64),
    max_grid=(0x7FFFFFFF, 65535, 65535),
    clock_khz=1_777_000,
    pci_bus=3,
    virtual_device=1,
    driver_version=12080,
)


@dataclass(frozen=True)
class Answer:
    """What to say to a request: a body, or a failure with a sentence; before either, text that a kernel printed."""

    body: Body | None = None
    tail: bytes = b""
    result: int = 0
    sentence: str = ""
    printed: str = ""


class FakeWorker:
    """Serves one program, in a thread. Use as a context manager; `path` is the socket."""

    def __init__(
        self,
        path: Path,
        *,
        welcome: Welcome | None = None,
        far: bool = False,
        note_host_access: bool = False,
        answers: dict[Message, Callable[[FakeWorker, Received], Answer | None]] | None = None,
        on_launch: Callable[[FakeWorker, Launch, bytes], None] | None = None,
        leave_at: Message | None = None,
    ) -> None:
        self.path = path
        self.messages: list[Received] = []
        self.symbols: dict[int, RegisterSymbol] = {}
        self.addresses: dict[bytes, int] = {}
        """Of the variables whose address was asked, by name."""
        self.far = bytearray(1 << 20) if far else None
        self._answers = answers or {}
        self._on_launch = on_launch
        self._leave_at = leave_at
        self._next = 1 << 16
        self._next_far = 0
        self._descriptor = os.memfd_create("arena")
        os.ftruncate(self._descriptor, ARENA_SIZE)
        self._arena = mmap.mmap(self._descriptor, ARENA_SIZE)
        flags = (0 if far else WelcomeFlags.ARENA_IS_DEVICE) | (
            WelcomeFlags.NOTE_HOST_ACCESS if note_host_access else 0
        )
        self.welcome = welcome or Welcome(
            version=VERSION,
            device_count=1,
            flags=flags,
            arena_address=ARENA_ADDRESS,
            arena_size=ARENA_SIZE,
            staging_address=ARENA_ADDRESS + 4096,
            staging_size=STAGING_SIZE,
        )
        self.failure: BaseException | None = None

    # ---- memory, by the addresses that the program sees ----

    def read(self, address: int, size: int) -> bytes:
        if self.far is not None and address >= FAR_ADDRESS:
            return bytes(self.far[address - FAR_ADDRESS : address - FAR_ADDRESS + size])
        at = address - self.welcome.arena_address
        return self._arena[at : at + size]

    def write(self, address: int, data: bytes) -> None:
        if self.far is not None and address >= FAR_ADDRESS:
            self.far[address - FAR_ADDRESS : address - FAR_ADDRESS + len(data)] = data
            return
        at = address - self.welcome.arena_address
        self._arena[at : at + len(data)] = data

    def place(self, size: int, device: bool) -> int:
        """A fresh address, a multiple of 256."""
        room = -(-size // 256) * 256
        if self.far is not None and device:
            self._next_far += room
            return FAR_ADDRESS + self._next_far - room
        self._next += room
        return self.welcome.arena_address + self._next - room

    def of(self, *kinds: Message) -> list[Received]:
        """The messages of these kinds, in order."""
        return [m for m in self.messages if m.type in kinds]

    # ---- the other side ----

    def serve(self, connection: socket.socket) -> None:
        channel = Channel(connection)
        while (message := channel.receive()) is not None:
            self.messages.append(message)
            if message.type is self._leave_at:
                return
            if message.is_request:
                self._answer(channel, message)
            else:
                self._obey(message)

    def _answer(self, channel: Channel, message: Received) -> None:
        special = self._answers.get(message.type)
        asked = special(self, message) if special else None
        answer = asked if asked is not None else self._usual_answer(message)
        if answer.printed:
            channel.output(answer.printed)
        if answer.result:
            channel.fail(message, answer.result, answer.sentence)
        else:
            sent = [self._descriptor] if message.type is Message.HELLO and self.welcome.arena_size else []
            channel.reply(message, answer.body, answer.tail, sent)

    def _usual_answer(self, message: Received) -> Answer:
        match message.body:
            case Allocate(size=size, kind=kind):
                return Answer(Memory(address=self.place(size, kind == 0), size=size))
            case MoveArena(address=address):
                moved = address - self.welcome.arena_address
                staging = self.welcome.staging_address + moved
                self.welcome = replace(self.welcome, arena_address=address, staging_address=staging)
                return Answer(self.welcome)
            case Handle(handle=handle) if message.type is Message.SYMBOL_ADDRESS:
                symbol = self.symbols[handle]
                address = symbol.address or self.place(symbol.size, device=True)
                name = next(m.tail for m in self.of(Message.REGISTER_VARIABLE) if m.body == symbol)
                self.addresses[name] = address
                return Answer(Memory(address=address, size=symbol.size))
        fixed: dict[Message, Body] = {
            Message.HELLO: self.welcome,
            Message.MEMORY_INFO: MemoryInfo(free=3 << 30, total=8 << 30),
            Message.KERNEL_LAYOUT: KernelLayout(),
            Message.FUNCTION_ATTRIBUTES: FunctionAttributes(max_threads=1024, registers=17, ptx_version=80),
            Message.OCCUPANCY: Handle(handle=6),
            Message.EVENT_ELAPSED: Milliseconds(milliseconds=1.25),
            Message.DEVICE_PROPERTIES: PROPERTIES,
        }
        answer = MESSAGES[message.type].answer
        assert answer is not None
        return Answer(fixed.get(message.type, answer()))

    def _obey(self, message: Received) -> None:
        match message.body:
            case RegisterSymbol() as symbol if message.type is Message.REGISTER_VARIABLE:
                self.symbols[symbol.symbol] = symbol
            case Fill() as fill:
                for row in range(fill.height):
                    self.write(fill.address + row * fill.pitch, bytes([fill.value]) * fill.width)
            case Copy() as copy:
                for z in range(copy.depth):
                    for y in range(copy.height):
                        data = self.read(copy.from_ + z * copy.from_slice + y * copy.from_pitch, copy.width)
                        self.write(copy.to + z * copy.to_slice + y * copy.to_pitch, data)
            case Launch() as launch if self._on_launch:
                self._on_launch(self, launch, message.tail)

    def __enter__(self) -> Self:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(1)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
            with connection:
                self.serve(connection)
        except BaseException as e:
            self.failure = e

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A program that never connected would leave the thread in accept.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._thread.join(timeout=10)
        self._listener.close()
        self._arena.close()
        os.close(self._descriptor)
        if kind is None and self.failure is not None and not isinstance(self.failure, OSError):
            raise self.failure


if __name__ == "__main__":
    # Started by a program: the socket is descriptor KERNELWRIGHT_FD. Says on standard error what it saw.
    print("printed by the worker", flush=True)
    worker = FakeWorker(Path())
    with socket.socket(fileno=int(os.environ["KERNELWRIGHT_FD"])) as own:
        worker.serve(own)
    seen = " ".join(m.type.name for m in worker.messages)
    print(f"worker for {os.environ['KERNELWRIGHT_DEVICE']}: {seen}", file=sys.stderr)
