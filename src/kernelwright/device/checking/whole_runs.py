"""The whole program again, in other orders: whether what it gives its user stays the same.

A list filled first come, first served comes out permuted, and a program may make the same of it in any order: a breadth-first search
does of its frontier. So permutations are held against the program's own output: what it prints, its exit code, and, if it prints
nothing, the bytes that it copies back. Lines that differ between two runs in one order (times, say) do not count.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kernelwright.device.execution import Execution
from kernelwright.device.schedule import Schedule
from kernelwright.device.serving.observer import Observed, Observer
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.lazy_dataclasses import dataclass

_MOST = 4
"""Other orders that a whole program is run in."""


@dataclass(frozen=True)
class Output:
    """What a program gave: lines of its standard output, exit code, a digest of what each process copied back."""

    lines: tuple[bytes, ...]
    exit_code: int
    copied: tuple[bytes, ...]

    def is_like(self, other: Output, noise: frozenset[int]) -> bool:
        """Whether exit codes and all lines but those numbered in ``noise`` agree; without any lines, what was copied back."""
        if self.exit_code != other.exit_code or len(self.lines) != len(other.lines):
            return False
        if not self.lines:
            return bool(self.copied) and any(self.copied) and self.copied == other.copied
        return all(a == b for i, (a, b) in enumerate(zip(self.lines, other.lines, strict=True)) if i not in noise)


class InOrder(Observer):
    """Runs every launch in one order and takes down what the program copies back."""

    tells = True
    tells_overreads = True
    marks_new_memory = True

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._session: Observed | None = None
        self._digest = hashlib.blake2b(digest_size=16)
        self._has_copied = False

    def attach(self, session: Observed) -> None:
        self._session = session

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched:
        assert self._session is not None
        return gpu.run(replace(execution, schedule=self._schedule), self._session.arena)

    def host_access(self, address: int, size: int, written: bool) -> None:
        assert self._session is not None
        buffer = None if written else self._session.arena.find(address)
        if buffer is not None:
            start = address - buffer.address
            self._digest.update(self._session.arena.view(buffer)[start : start + size].tobytes())
            self._has_copied = True

    def copied(self) -> bytes:
        """Nothing if nothing was."""
        return self._digest.digest() if self._has_copied else b""


def gives_the_same(
    command: Sequence[str],
    settings: Settings,
    orders: Sequence[Schedule],
    executable: Path,
    environment: Mapping[str, str],
) -> bool:
    """Whether a program gives the same in some of the orders as in the usual one. It gets no standard input."""

    def run(schedule: Schedule) -> Output:
        def serve_connection(connection: socket.socket) -> bytes:
            observer = InOrder(schedule)
            serve(connection, lambda: settings, [observer])
            return observer.copied()

        with tempfile.TemporaryFile() as said:
            with _alone(said.fileno()):
                ran = run_program(command, settings, serve_connection, executable=executable, environment=environment)
            said.seek(0)
            return Output(tuple(said.read().splitlines()), ran.exit_code, tuple(ran.results))

    usual, again = run(Schedule.forward()), run(Schedule.forward())
    if len(usual.lines) != len(again.lines):
        return False
    noise = frozenset(i for i, (a, b) in enumerate(zip(usual.lines, again.lines, strict=True)) if a != b)
    if usual.lines and len(noise) == len(usual.lines):
        return False
    return all(run(order).is_like(usual, noise) for order in orders[:_MOST])


@contextlib.contextmanager
def _alone(output: int) -> Iterator[None]:
    """Standard streams of what is run within: no input, its output to a file, no messages."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(number) for number in range(3)]
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        for number, target in enumerate((nothing, output, nothing)):
            os.dup2(target, number)
        yield
    finally:
        for number, before in enumerate(kept):
            os.dup2(before, number)
            os.close(before)
        os.close(nothing)
