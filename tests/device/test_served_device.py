"""A session is the same before any device: what it answers itself, and what it makes of a device's failures."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import Message
from kernelwright.device.arena import Arena
from kernelwright.device.real_gpu.cuda_device import TABLE as CUDA_TABLE
from kernelwright.device.serving.errors import CudaError, Failure, Refused
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.replies import Answer
from kernelwright.device.serving.served_device import ServedDevice, Tell
from kernelwright.device.serving.session import TABLE, Session
from kernelwright.device.serving.virtual_device import TABLE as VIRTUAL_TABLE
from kernelwright.device.serving.watchdog import UnderWay

from .wire_client import Client, Failed, settings


class StandIn:
    """A device on which everything works, but for what it is told to fail at."""

    always = frozenset({Message.HELLO, Message.DEVICE_RESET})

    def __init__(self, **failures: Failure | Exception) -> None:
        self.under_way = UnderWay()
        self.arena = Arena()
        self.done: list[str] = []
        self.waits = threading.Event()
        self._failures = {Message[name]: failure for name, failure in failures.items()}

    def welcome(self) -> wire.Welcome:
        return wire.Welcome(version=wire.VERSION, device_count=1, flags=1)

    def warm_up(self) -> None:
        self.done.append("warm up")

    def move(self, address: int) -> None:
        self.done.append(f"move {address}")

    def handle(self, message: Received) -> Answer | Failure:
        self.done.append(message.type.name)
        failure = self._failures.get(message.type)
        if isinstance(failure, Exception):
            raise failure
        return failure or Answer()

    def launch(self, body: bytes, device: int = 0) -> Failure | None:
        self.done.append("LAUNCH")
        failure = self._failures.get(Message.LAUNCH)
        assert not isinstance(failure, Exception)
        return failure

    def take_output(self) -> bytes:
        return b""

    def finish(self) -> None:
        self.done.append("finish")

    def elapsed_us(self) -> None:
        return None

    def report(self) -> list[dict[str, Any]]:
        return [{"done": len(self.done)}]

    def untimed(self) -> list[str]:
        return []

    def definition(self, kernel: str) -> None:
        return None

    def stop(self, tell: Tell) -> bool:
        tell(CudaError.LAUNCH_TIMEOUT, "it does not end")
        self.waits.set()
        return True

    def progress(self) -> None:
        return None


class Flags(Observer):
    welcome_flags = 8

    def __init__(self) -> None:
        self.failures: list[Failure] = []

    def failed(self, failure: Failure) -> None:
        self.failures.append(failure)


@contextmanager
def served(device: ServedDevice, *observers: Observer) -> Iterator[Client]:
    client = Client(settings(), observers, device=device)
    with client:
        yield client


LOST = Failure(CudaError.ILLEGAL_ADDRESS, "lost", is_sticky=True)


def test_no_message_has_two_answers() -> None:
    for table in (set(VIRTUAL_TABLE), set(CUDA_TABLE)):
        assert not set(TABLE) & table and Message.LAUNCH not in table


def test_the_program_is_welcomed_with_what_observers_want() -> None:
    device = StandIn()
    with served(device, Flags()) as client:
        assert client.welcome.flags == 9
        client.request(Message.DEVICE_SYNCHRONIZE)
    assert device.done == ["warm up", "DEVICE_SYNCHRONIZE", "finish"]


def test_a_launch_that_fails_is_told_with_the_next_request() -> None:
    device, observer = StandIn(LAUNCH=LOST), Flags()
    with served(device, observer) as client:
        client.launch(0)
        for _ in range(2):
            with pytest.raises(Failed, match="lost"):
                client.request(Message.DEVICE_SYNCHRONIZE)
        client.launch(0)
        client.request(Message.DEVICE_RESET)
        client.request(Message.DEVICE_SYNCHRONIZE)
    assert observer.failures == [LOST]
    assert device.done == ["warm up", "LAUNCH", "DEVICE_RESET", "DEVICE_SYNCHRONIZE", "finish"]


def test_a_request_that_loses_the_device_goes_on_to_be_told() -> None:
    device = StandIn(DEVICE_SYNCHRONIZE=LOST)
    with served(device) as client:
        for request in (Message.DEVICE_SYNCHRONIZE, Message.STREAM_CREATE, Message.STREAM_QUERY):
            if request is Message.STREAM_CREATE:
                client.command(request, wire.Stream(stream=1))
            else:
                with pytest.raises(Failed, match="lost"):
                    client.request(request, wire.Handle() if request is Message.STREAM_QUERY else None)
    assert client.session.untold is None, "it was told"
    assert device.done == ["warm up", "DEVICE_SYNCHRONIZE", "finish"]


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (Refused(CudaError.INVALID_VALUE, "not so"), "not so"),
        (MemoryError(), "no memory left"),
        (ValueError("odd"), "this is a defect in Kernelwright: ValueError: odd"),
    ],
)
def test_what_a_device_raises_is_an_answer(
    raised: Exception, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the trace of a defect lies
    with served(StandIn(DEVICE_SYNCHRONIZE=raised)) as client:
        with pytest.raises(Failed, match=told):
            client.request(Message.DEVICE_SYNCHRONIZE)
        client.request(Message.DEVICE_RESET)


def test_a_reset_that_fails_forgets_nothing() -> None:
    device = StandIn(LAUNCH=LOST, DEVICE_RESET=Failure(CudaError.UNKNOWN, "no"))
    with served(device) as client:
        client.launch(0)
        with pytest.raises(Failed, match="no"):
            client.request(Message.DEVICE_RESET)
        with pytest.raises(Failed, match="lost"):
            client.request(Message.DEVICE_SYNCHRONIZE)


def test_whoever_waits_for_a_device_that_is_stopped_is_told() -> None:
    """The watchdog answers in the place of a thread that does not return."""
    device = StandIn()
    program, worker = socket.socketpair()
    with program, worker:
        session = Session(worker, device, settings())
        header = wire.Header(size=wire.Header.sizeof(), type=Message.DEVICE_SYNCHRONIZE, sequence=5)
        program.sendall(header.pack())
        assert session.stop() and device.waits.is_set()
        answer = wire.Header.unpack(program.recv(1000))
        assert (answer.sequence, answer.result) == (5, CudaError.LAUNCH_TIMEOUT)
    device.arena.close()
