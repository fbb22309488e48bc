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
from os import sched_yield
from time import perf_counter
from typing import NamedTuple

from kernelwright.cuda.wire.protocol import MESSAGES, REPLY, Message, Nothing, Output
from kernelwright.cuda.wire.structures import Body
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

_HEADER = struct.Struct("<IHHIi")
"""``protocol.Header``, packed by hand as it stands before every message."""
_CHUNK = 1 << 16
LOOKS_FOR_S = 50e-6
"""Seconds that a worker looks for the next message before it sleeps until it comes: about as long as falling asleep and being
woken take."""


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


class Raw(NamedTuple):
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
        if len(self._waiting) - self._at < _HEADER.size and not self._read(_HEADER.size):
            return None
        size, kind, device, sequence, _ = _HEADER.unpack_from(self._waiting, self._at)
        if size < _HEADER.size or (len(self._waiting) - self._at < size and not self._read(size)):
            raise _no_message(kind, size)
        rest = self._at + _HEADER.size
        self._at += size
        return Raw(kind, device, sequence, self._waiting[rest : self._at])

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
        size = _HEADER.size + len(body) + len(tail)
        self._connection.sendall(_HEADER.pack(size, Message.OUTPUT, 0, 0, 0) + body + tail)

    def _send(self, to: Received, result: int, body: Body, tail: bytes, descriptors: Sequence[int]) -> None:
        packed = body.pack()
        size = _HEADER.size + len(packed) + len(tail)
        data = _HEADER.pack(size, to.type | REPLY, to.device, to.sequence, result) + packed + tail
        if descriptors:
            sent = socket.send_fds(self._connection, [data], list(descriptors))
            data = data[sent:]
        self._connection.sendall(data)

    def _read(self, size: int) -> bool:
        """Has at least ``size`` bytes waiting; False when the connection ends before them."""
        pieces = [self._waiting[self._at :]]
        missing = size - len(pieces[0])
        while missing > 0:
            more = self._received(max(_CHUNK, missing))
            if not more:
                return False
            pieces.append(more)
            missing -= len(more)
        self._waiting, self._at = b"".join(pieces), 0
        return True

    def _received(self, most: int) -> bytes:
        """The next bytes: looked for over and over at first, since a program that has just been answered asks again at once, and to be
        woken takes longer than most of what it asks."""
        until = 0.0
        while True:
            try:
                return self._connection.recv(most, socket.MSG_DONTWAIT)
            except BlockingIOError:
                now = perf_counter()
            until = until or now + LOOKS_FOR_S
            if now > until:
                return self._connection.recv(most)
            sched_yield()


def _no_message(kind: int, size: int) -> ToolError:
    return ToolError(
        f"the program sent something that is no message (type {kind}, {size} bytes)",
        hint="compile the program again with this kernelwright",
    )
