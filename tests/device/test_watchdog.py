"""The thread beside a session: time, a program that has gone, and a word now and then."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kernelwright.device.serving import watchdog as module
from kernelwright.device.serving.watchdog import UnderWay, Watchdog


class Kernel:
    """A kernel that runs until it is stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def stop(self) -> bool:
        self.stopped.set()
        return True

    def progress(self) -> tuple[str, int] | None:
        return "spin", 17


@contextmanager
def watching(
    timeout_s: float, say: Callable[[str], None] | None = None, abandon: Callable[[], object] | None = None
) -> Iterator[tuple[UnderWay, Kernel, socket.socket]]:
    program, worker = socket.socketpair()
    kernel = Kernel()
    under_way = UnderWay()
    dog = Watchdog(worker, under_way, kernel, timeout_s, say, abandon)
    with program, worker:
        yield under_way, kernel, program
        dog.end()


def test_a_kernel_has_its_time() -> None:
    with watching(0.2) as (under_way, kernel, _):
        under_way.began = time.monotonic()
        assert not kernel.stopped.wait(0.1) and not under_way.timed_out
        assert kernel.stopped.wait(2) and under_way.timed_out and not under_way.gone


def test_without_a_limit_a_kernel_may_take_all_day() -> None:
    with watching(0) as (under_way, kernel, _):
        under_way.began = time.monotonic() - 1e6
        assert not kernel.stopped.wait(0.2) and not under_way.timed_out


def test_nothing_is_stopped_between_kernels() -> None:
    with watching(0.01) as (under_way, kernel, program):
        program.close()
        time.sleep(0.2)
        assert under_way.gone and not kernel.stopped.is_set()


def test_a_kernel_ends_with_its_program_however_much_was_left_to_read() -> None:
    with watching(0) as (under_way, kernel, program):
        under_way.began = time.monotonic()
        program.sendall(bytes(1000))
        assert not kernel.stopped.wait(0.2)
        program.close()
        assert kernel.stopped.wait(2) and under_way.gone and not under_way.timed_out


def test_a_long_kernel_is_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAY_AFTER_S", 0.2)
    said: list[str] = []
    with watching(0, said.append) as (under_way, _, _):
        under_way.began = time.monotonic()
        time.sleep(0.7)
        under_way.began = None
        count = len(said)
        assert 1 <= count <= 3 and said[0] == "kernel spin has run for 0 s, 17 blocks are done"
        time.sleep(0.3)
        assert len(said) == count


def test_a_session_that_goes_on_without_its_program_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ABANDON_AFTER_S", 0.3)
    abandoned = threading.Event()
    with watching(0, abandon=abandoned.set) as (under_way, _, program):
        assert not abandoned.wait(0.5), "the program is there"
        program.close()
        assert not abandoned.wait(0.15) and abandoned.wait(2) and under_way.gone
    with watching(0) as (under_way, _, program):  # whoever records takes the time it needs
        program.close()
        time.sleep(0.5)
        assert under_way.gone
