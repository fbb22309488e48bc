"""The order of streams, events and the program: who may touch what when."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import Message
from kernelwright.device.arena import Buffer
from kernelwright.device.checking.touched_bytes import Bytes
from kernelwright.device.serving.stream_waits import Waiting, Work

BUFFER = Buffer(0x1000, 64, "b")
A, B, FREE, EVENT = 1, 2, 3, 9


def message(kind: Message, body: wire.Body) -> Received:
    return Received(kind, 0, 0, body)


@pytest.fixture
def waiting() -> Waiting:
    made = Waiting()
    for stream, flags in ((A, 0), (B, 0), (FREE, 1)):
        made.follow(message(Message.STREAM_CREATE, wire.Stream(stream=stream, flags=flags)))
    return made


def write(start: int = 0, size: int = 64) -> Work:
    return Work("kernel w", [], [Bytes.box(BUFFER, 0x1000 + start, size)], kernel="w")


def read(start: int = 0, size: int = 64) -> Work:
    return Work("kernel r", [Bytes.box(BUFFER, 0x1000 + start, size)], [], kernel="r")


def test_two_streams_collide_and_one_does_not(waiting: Waiting) -> None:
    assert not waiting.issue(A, write())
    assert not waiting.issue(A, read())
    (found,) = waiting.issue(B, read())
    assert found.kind == "async" and found.address == 0x1000 and "'b'" in found.message


def test_reads_do_not_collide_and_other_bytes_neither(waiting: Waiting) -> None:
    assert not waiting.issue(A, read(0, 32))
    assert not waiting.issue(B, read())
    assert not waiting.issue(FREE, Work("elsewhere", [], [Bytes.box(Buffer(0x2000, 64, "c"), 0x2000, 64)]))
    (found,) = waiting.issue(A, write(32, 8))
    assert found.address == 0x1020, "the first byte that B reads"


def test_marks_decide_not_boxes(waiting: Waiting) -> None:
    even = np.arange(64) % 2 == 0
    assert not waiting.issue(A, Work("x", [], [Bytes(BUFFER, 0, even)]))
    assert not waiting.issue(B, Work("y", [], [Bytes(BUFFER, 0, ~even)]))
    assert waiting.issue(FREE, Work("z", [], [Bytes.box(BUFFER, 0x1003, 1)]))[0].address == 0x1003


Order = Callable[[Waiting], None]


def by_event(w: Waiting) -> None:
    w.follow(message(Message.EVENT_RECORD, wire.Event(event=EVENT, stream=A)))
    w.follow(message(Message.STREAM_WAIT, wire.Event(event=EVENT, stream=B)))


def by_stream(w: Waiting) -> None:
    w.follow(message(Message.STREAM_SYNCHRONIZE, wire.Handle(handle=A)))


def by_device(w: Waiting) -> None:
    w.follow(message(Message.DEVICE_SYNCHRONIZE, wire.Nothing()))


def by_event_and_host(w: Waiting) -> None:
    w.follow(message(Message.EVENT_RECORD, wire.Event(event=EVENT, stream=A)))
    w.follow(message(Message.EVENT_SYNCHRONIZE, wire.Handle(handle=EVENT)))


def by_legacy_stream(w: Waiting) -> None:
    w.issue(0, Work("nothing", [], []))


@pytest.mark.parametrize("order", [by_event, by_stream, by_device, by_event_and_host, by_legacy_stream])
def test_what_orders(waiting: Waiting, order: Order) -> None:
    waiting.issue(A, write())
    order(waiting)
    assert not waiting.issue(B, write())


@pytest.mark.parametrize("order", [by_event, by_legacy_stream])
def test_what_does_not_order_an_independent_stream(waiting: Waiting, order: Order) -> None:
    waiting.issue(A, write())
    order(waiting)
    assert waiting.issue(FREE, write())


def test_an_event_orders_what_came_before_it_only(waiting: Waiting) -> None:
    waiting.follow(message(Message.EVENT_RECORD, wire.Event(event=EVENT, stream=A)))
    waiting.issue(A, write())
    waiting.follow(message(Message.STREAM_WAIT, wire.Event(event=EVENT, stream=B)))
    assert waiting.issue(B, read())


def test_the_program_must_wait_too(waiting: Waiting) -> None:
    waiting.issue(A, write(8, 4))
    assert not waiting.host(read(0, 8))
    assert waiting.host(read(8, 1))
    by_stream(waiting)
    assert not waiting.host(read())


def test_free_waits_except_behind_a_wait_for_another_stream(waiting: Waiting) -> None:
    waiting.issue(A, write())
    waiting.follow(message(Message.STREAM_SYNCHRONIZE, wire.Handle(handle=B)))
    assert waiting.free(BUFFER)[0].hint == "async free"
    waiting.issue(A, write())
    waiting.follow(message(Message.MEMORY_INFO, wire.Nothing()))
    assert not waiting.free(BUFFER)
    assert not waiting.host(read())


def test_devices_have_streams_of_their_own(waiting: Waiting) -> None:
    assert not waiting.issue(0, write(), device=0)
    assert waiting.issue(0, read(), device=1), "each device has a default stream"
    waiting.follow(Received(Message.DEVICE_SYNCHRONIZE, 1, 0, wire.Nothing()))
    assert waiting.issue(0, read(), device=1), "another device was waited for"
    waiting.follow(Received(Message.DEVICE_SYNCHRONIZE, 0, 0, wire.Nothing()))
    assert not waiting.issue(0, write(), device=1)


def test_a_copy_between_devices_is_ordered_with_both_default_streams(waiting: Waiting) -> None:
    assert not waiting.issue(0, write(0, 16), device=0)
    assert not waiting.issue(0, write(16, 16), device=1)
    assert not waiting.issue(0, read(0, 32), device=0, peer=1)
    assert not waiting.issue(0, write(), device=1)


def test_an_event_of_another_device(waiting: Waiting) -> None:
    assert not waiting.issue(A, write(), device=0)
    waiting.follow(Received(Message.EVENT_RECORD, 0, 0, wire.Event(event=EVENT, stream=A)))
    waiting.follow(Received(Message.STREAM_CREATE, 1, 0, wire.Stream(stream=7)))
    assert waiting.issue(7, read(), device=1)
    waiting.follow(Received(Message.STREAM_WAIT, 1, 0, wire.Event(event=EVENT, stream=7)))
    assert not waiting.issue(7, read(), device=1)
