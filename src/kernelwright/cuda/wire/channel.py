"""One connection between a CUDA program and its device worker, as the worker sees it.

channel = Channel(connection)
while (message := channel.receive()) is not None:
    match message.body:
        case Allocate(size=size):
            channel.reply(message, Memory(address=..., size=size))

``take`` and ``decode`` are the two halves of ``receive``, for a worker that reads the commonest messages by itself.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from kernelwright.cuda.wire.protocol import MESSAGES, REPLY, Header, Message, Nothing, Output
from kernelwright.cuda.wire.structures import Body
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

_HEADER = struct.Struct("<IHHIi")
_CHUNK = 1 << 16


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
        """Whether the sender waits for an answer to this kind of message."""
        return MESSAGES[self.type].answer is not None


@dataclass(frozen=True, slots=True)
class Raw:
    """One message as bytes: what follows its header, not looked at yet."""

    type: int
    device: int
    sequence: int
    rest: bytes


class Channel:
    """One connection of a worker. Not for several threads at once."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting = b""
        self._at = 0

    def receive(self) -> Received | None:
        """The next message; None when the program has gone. Raises ``ToolError`` for bytes that are no message."""
        raw = self.take()
        return None if raw is None else self.decode(raw)

    def take(self) -> Raw | None:
        """The next message undecoded; None when the program has gone. Raises ``ToolError`` for an impossible size."""
        head = self._bytes(_HEADER.size)
        if head is None:
            return None
        size, kind, device, sequence, _ = _HEADER.unpack(head)
        if size < _HEADER.size:
            raise _no_message(kind, size)
        rest = self._bytes(size - _HEADER.size)
        if rest is None:
            raise _no_message(kind, size)
        return Raw(kind, device, sequence, rest)

    def decode(self, raw: Raw) -> Received:
        """A message with its body read. Raises ``ToolError`` for bytes that are no message."""
        try:
            kind = Message(raw.type)
            layout = MESSAGES[kind].body
            body = layout.unpack(raw.rest)
        except (ValueError, struct.error):
            raise _no_message(raw.type, len(raw.rest) + _HEADER.size) from None
        return Received(kind, raw.device, raw.sequence, body, raw.rest[layout.sizeof() :])

    def reply(self, to: Received, body: Body | None = None, tail: bytes = b"", descriptors: Sequence[int] = ()) -> None:
        """Answers a request with success. ``descriptors`` travel with the first byte."""
        self._send(to, 0, body or Nothing(), tail, descriptors)

    def fail(self, to: Received, result: int, sentence: str = "") -> None:
        """Answers a request with a cudaError_t; ``sentence`` is printed for the user."""
        self._send(to, result, Nothing(), sentence.encode("utf-8", "replace"), ())

    def output(self, text: str | bytes, stream: int = 1) -> None:
        """Prints in the program, to its standard output (1) or error (2); only before a reply."""
        tail = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
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

    def _bytes(self, size: int) -> bytes | None:
        """The next ``size`` bytes; None when the connection ends before them."""
        end = self._at + size
        if end > len(self._waiting):
            pieces = [self._waiting[self._at :]]
            missing = size - len(pieces[0])
            while missing > 0:
                more = self._connection.recv(max(_CHUNK, missing))
                if not more:
                    return None
                pieces.append(more)
                missing -= len(more)
            self._waiting = b"".join(pieces)
            self._at, end = 0, size
        taken = self._waiting[self._at : end]
        self._at = end
        return taken


def _no_message(kind: int, size: int) -> ToolError:
    return ToolError(
        f"the program sent something that is no message (type {kind}, {size} bytes)",
        hint="compile the program again with this kernelwright",
    )
