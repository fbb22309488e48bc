"""A worker's end of the connection: messages in pieces, messages in heaps, and bytes that are none."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Channel
from kernelwright.cuda.wire.protocol import Message
from kernelwright.errors import ToolError


def message(kind: int, sequence: int, rest: bytes) -> bytes:
    return wire.Header(size=16 + len(rest), type=kind, sequence=sequence).pack() + rest


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, Channel]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, Channel(theirs)


def test_messages_in_heaps_and_pieces(pair: tuple[socket.socket, Channel]) -> None:
    ours, channel = pair
    handles = [message(Message.FREE, i, wire.Handle(handle=i).pack()) for i in range(3000)]
    stream = b"".join(handles) + message(Message.REGISTER_KERNEL, 9, wire.RegisterSymbol(symbol=4).pack() + b"name")

    def send() -> None:
        for start in range(0, len(stream), 1001):
            ours.sendall(stream[start : start + 1001])

    sender = threading.Thread(target=send)
    sender.start()
    received = [channel.receive() for _ in range(3000)]
    assert [m.body for m in received if m is not None] == [wire.Handle(handle=i) for i in range(3000)]
    assert [m.sequence for m in received if m is not None] == list(range(3000))
    last = channel.receive()
    assert last is not None and (last.type, last.tail, last.is_request) == (Message.REGISTER_KERNEL, b"name", False)
    sender.join()
    ours.close()
    assert channel.receive() is None


def test_a_message_larger_than_any_buffer(pair: tuple[socket.socket, Channel]) -> None:
    ours, channel = pair
    tail = bytes(range(256)) * 5000
    whole = message(Message.REGISTER_MODULE, 1, wire.RegisterModule(module=3).pack() + tail)
    sender = threading.Thread(target=ours.sendall, args=(whole,))
    sender.start()
    got = channel.receive()
    sender.join()
    assert got is not None and got.body == wire.RegisterModule(module=3) and got.tail == tail


WRONG = {
    "an unknown type": message(999, 1, b""),
    "a size below the header's": wire.Header(size=15, type=Message.FREE).pack(),
    "a body that is too short": message(Message.FREE, 1, b"1234"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bytes_that_are_no_message(name: str, pair: tuple[socket.socket, Channel]) -> None:
    ours, channel = pair
    ours.sendall(WRONG[name])
    with pytest.raises(ToolError, match="something that is no message"):
        channel.receive()


def test_a_message_that_breaks_off(pair: tuple[socket.socket, Channel]) -> None:
    ours, channel = pair
    ours.sendall(message(Message.FREE, 1, bytes(8))[:20])
    ours.close()
    with pytest.raises(ToolError, match="no message"):
        channel.receive()


def test_text_goes_through_as_it_is(pair: tuple[socket.socket, Channel]) -> None:
    ours, channel = pair
    for text in ("plain", b"\xff\x00\xfe"):
        channel.output(text)
        raw = text.encode() if isinstance(text, str) else text
        assert ours.recv(1000)[16 + wire.Output.sizeof() :] == raw


def test_a_worker_sleeps_while_nothing_comes(pair: tuple[socket.socket, Channel]) -> None:
    ours, channel = pair
    sender = threading.Timer(0.4, ours.sendall, [message(Message.FREE, 1, wire.Handle(handle=7).pack())])
    sender.start()
    began = time.thread_time()
    got = channel.receive()
    taken = time.thread_time() - began
    sender.join()
    assert got is not None and got.body == wire.Handle(handle=7)
    assert taken < 0.2
