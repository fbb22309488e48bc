"""A program's side of the wire in Python, and a session of the virtual GPU at the other end, in a thread."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.protocol import MESSAGES, REPLY, Body, Message
from kernelwright.device.arena import Arena
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.served_device import ServedDevice
from kernelwright.device.serving.session import Session
from kernelwright.device.serving.virtual_device import VirtualDevice
from kernelwright.device.settings import Settings
from kernelwright.target import gpu

Triple = tuple[int, int, int]


class Failed(Exception):
    """A request that was answered with an error."""

    def __init__(self, result: int, sentence: str) -> None:
        super().__init__(f"{result}: {sentence}")
        self.result = result
        self.sentence = sentence


def settings(name: str = "h200", **more: Any) -> Settings:
    return Settings(gpu=gpu(name), **more)


class Client:
    """Use as a context manager. ``memory`` reads and writes what a program would see in its arena."""

    def __init__(
        self,
        given: Settings | None = None,
        observers: Sequence[Observer] = (),
        finish: bool = False,
        device: ServedDevice | None = None,
    ) -> None:
        self.connection, other = socket.socketpair()
        self.other = other
        made = given or settings()
        self.session = Session(other, device or VirtualDevice(Arena(), made, observers), made, observers, finish)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.printed: list[bytes] = []
        self.error: BaseException | None = None
        self._sequence = 0
        self._modules = self._kernels = self._variables = 0

    def _serve(self) -> None:
        try:
            self.session.serve()
        except BaseException as error:
            self.error = error
        finally:
            self.other.close()

    def __enter__(self) -> Self:
        self.thread.start()
        body, _ = self.request(Message.HELLO, wire.Hello(version=wire.VERSION, process=1), b"h200\0test\0")
        assert isinstance(body, wire.Welcome)
        self.welcome = body
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
        self.session.close()
        if kind is None and self.error is not None:
            raise self.error

    def leave(self) -> None:
        """Closes the connection and waits until the session has noticed."""
        self.connection.close()
        self.thread.join(timeout=20)
        assert not self.thread.is_alive()

    # -- the wire --------------------------------------------------------------------------------------------------

    def command(self, kind: Message, body: Body | None = None, tail: bytes = b"", device: int = 0) -> None:
        self._sequence += 1
        packed = (body or wire.Nothing()).pack() + tail
        header = wire.Header(size=wire.Header.sizeof() + len(packed), type=kind, device=device, sequence=self._sequence)
        self.connection.sendall(header.pack() + packed)

    def request(
        self, kind: Message, body: Body | None = None, tail: bytes = b"", device: int = 0
    ) -> tuple[Body, bytes]:
        """The reply's body and tail. Raises ``Failed``."""
        self.command(kind, body, tail, device)
        while True:
            header = wire.Header.unpack(self._take(wire.Header.sizeof()))
            rest = self._take(header.size - wire.Header.sizeof())
            if header.type == Message.OUTPUT:
                self.printed.append(rest[wire.Output.sizeof() :])
                continue
            assert (header.type, header.sequence) == (kind | REPLY, self._sequence)
            if header.result:
                raise Failed(header.result, rest.decode())
            answer = MESSAGES[kind].answer
            assert answer is not None
            return answer.unpack(rest), rest[answer.sizeof() :]

    def _take(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.connection.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    # -- what programs do --------------------------------------------------------------------------------------------

    def register(self, blob: bytes, kernels: Sequence[str] = (), form: int = wire.ModuleFormat.BLOB) -> int:
        """A module with its kernels; returns the module's number."""
        module = self._modules
        self._modules += 1
        self.command(Message.REGISTER_MODULE, wire.RegisterModule(module=module, format=form), blob)
        for name in kernels:
            body = wire.RegisterSymbol(module=module, symbol=self._kernels)
            self.command(Message.REGISTER_KERNEL, body, name.encode())
            self._kernels += 1
        return module

    def variable(self, module: int, name: str, size: int = 4, flags: int = 0, address: int = 0) -> int:
        number = self._variables
        self._variables += 1
        body = wire.RegisterSymbol(module=module, symbol=number, flags=flags, size=size, address=address)
        self.command(Message.REGISTER_VARIABLE, body, name.encode())
        return number

    def allocate(self, size: int, kind: int = wire.MemoryKind.DEVICE) -> int:
        body, _ = self.request(Message.ALLOCATE, wire.Allocate(size=size, kind=kind))
        assert isinstance(body, wire.Memory)
        return body.address

    def free(self, address: int) -> None:
        self.request(Message.FREE, wire.Handle(handle=address))

    def memory(self, address: int, size: int) -> memoryview:
        return self.session.arena.bytes(address, size)

    def write(self, address: int, code: str, *values: float) -> None:
        data = struct.pack(f"<{code}", *values)
        self.memory(address, len(data))[:] = data

    def read(self, address: int, code: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{code}", bytes(self.memory(address, struct.calcsize(f"<{code}"))))

    def launch(
        self,
        kernel: int,
        grid: Triple = (1, 1, 1),
        block: Triple = (32, 1, 1),
        arguments: bytes = b"",
        shared: int = 0,
        stream: int = 0,
    ) -> None:
        body = wire.Launch(
            stream=stream, kernel=kernel, grid=grid, block=block, shared_bytes=shared, arguments_size=len(arguments)
        )
        self.command(Message.LAUNCH, body, arguments)

    def symbol(self, number: int) -> int:
        body, _ = self.request(Message.SYMBOL_ADDRESS, wire.Handle(handle=number))
        assert isinstance(body, wire.Memory)
        return body.address

    def synchronize(self) -> None:
        self.request(Message.DEVICE_SYNCHRONIZE)

    def runs(self) -> bool:
        """Whether a kernel is under way."""
        assert isinstance(self.session.device, VirtualDevice)
        device = self.session.device.engine.running
        return device is not None and device.progress() is not None

    def failure(self) -> Failed:
        """What the next wait for the device fails with."""
        try:
            self.synchronize()
        except Failed as failed:
            return failed
        raise AssertionError("the device is well")
