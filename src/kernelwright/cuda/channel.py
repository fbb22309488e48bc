"""One connection between a CUDA program and its device worker, as the worker sees it.

channel = Channel(connection)
while (message := channel.receive()) is not None:
    match message.body:
        case Allocate(size=size):
            channel.reply(message, Memory(address=..., size=size))
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.cuda.protocol import MESSAGES, REPLY, Body, Header, Message, Nothing, Output
from kernelwright.errors import ToolError


@dataclass(frozen=True)
class Received:
    """One message as it came in."""

    type: Message
    device: int
    sequence: int
    body: Body
    tail: bytes = b""

    @property
    def is_request(self) -> bool:
        return MESSAGES[self.type].answer is not None


class Channel:
    """One connection of a worker. Not for several threads at once."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting = bytearray()

    def receive(self) -> Received | None:
        """The next message; None when the program has gone. Raises ``ToolError`` for bytes that are no message."""
        head = self._take(Header.sizeof())
        if head is None:
            return None
        header = Header.unpack(head)
        rest = self._take(header.size - Header.sizeof()) if header.size >= Header.sizeof() else None
        try:
            kind = Message(header.type)
            if rest is None:
                raise ValueError
            layout = MESSAGES[kind].body
            return Received(kind, header.device, header.sequence, layout.unpack(rest), rest[layout.sizeof() :])
        except (ValueError, struct.error):
            raise ToolError(
                f"the program sent something that is no message (type {header.type}, {header.size} bytes)",
                hint="compile the program again with this kernelwright",
            ) from None

    def reply(self, to: Received, body: Body | None = None, tail: bytes = b"", descriptors: Sequence[int] = ()) -> None:
        """Answers a request with success. ``descriptors`` travel with the first byte."""
        self._send(to, 0, body or Nothing(), tail, descriptors)

    def fail(self, to: Received, result: int, sentence: str = "") -> None:
        """Answers a request with a cudaError_t; ``sentence`` is printed for the user."""
        self._send(to, result, Nothing(), sentence.encode(), ())

    def output(self, text: str, stream: int = 1) -> None:
        """Prints in the program, to its standard output (1) or error (2); only before a reply."""
        tail = text.encode("utf-8", "surrogateescape")
        body = Output(stream=stream).pack()
        size = Header.sizeof() + len(body) + len(tail)
        self._connection.sendall(Header(size=size, type=Message.OUTPUT).pack() + body + tail)

    def _send(self, to: Received, result: int, body: Body, tail: bytes, descriptors: Sequence[int]) -> None:
        packed = body.pack()
        size = Header.sizeof() + len(packed) + len(tail)
        header = Header(size=size, type=to.type | REPLY, device=to.device, sequence=to.sequence, result=result)
        data = header.pack() + packed + tail
        if descriptors:
            sent = socket.send_fds(self._connection, [data], list(descriptors))
            data = data[sent:]
        self._connection.sendall(data)

    def _take(self, size: int) -> bytes | None:
        while len(self._waiting) < size:
            more = self._connection.recv(max(65536, size - len(self._waiting)))
            if not more:
                return None
            self._waiting += more
        taken = bytes(self._waiting[:size])
        del self._waiting[:size]
        return taken
