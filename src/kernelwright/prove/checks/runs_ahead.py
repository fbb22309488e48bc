"""Runs of a variant that another process makes meanwhile: the same runs, known sooner.

    ahead = RunsAhead(make, keep, processes=1)
    ahead.begin([[first, instead], [third]])    # the last group first, of a group only as many as it takes to find something wrong
    ahead.take()                                # keep(asked, run) of whatever has been told since
    ahead.close()

The other process is a copy of this one and knows all that this one does. Nothing ever waits for it: what it has not told by the time it is
needed is run here, so that a run which ends the process does so here, too, and answers are the same with and without.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import signal
import struct
from collections.abc import Callable, Sequence
from typing import NoReturn

from kernelwright.device.schedule import Schedule
from kernelwright.errors import KernelwrightError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.baseline import Reference
from kernelwright.prove.checks.known_runs import KnownRun

_PR_SET_PDEATHSIG = 1
_HEAD = struct.Struct("<IIQ")
"""Of what is told of a run: its group, its place there, and how many bytes follow."""
_CHUNK = 1 << 16
LEAST = 4
"""Groups of runs that are worth a process: making one takes some milliseconds, and its code is made once more there."""


@dataclass(frozen=True, eq=False)
class AskedRun:
    """A run of the variant on a case."""

    one: Reference
    schedule: Schedule
    watch: bool = True


Groups = Sequence[Sequence[AskedRun]]


class RunsAhead:
    """With ``processes`` at once. ``make``: makes a run; ``keep``: is told of one that was made; ``is_known``: whether it was."""

    def __init__(
        self,
        make: Callable[[AskedRun], KnownRun],
        keep: Callable[[AskedRun, KnownRun], None],
        is_known: Callable[[AskedRun], bool],
        processes: int,
    ) -> None:
        self._make = make
        self._keep = keep
        self._is_known = is_known
        self._processes = processes
        self._others: list[_Other] = []

    @property
    def is_free(self) -> bool:
        """Whether another process may begin."""
        self.take()
        return len(self._others) < self._processes

    def begin(self, groups: Groups) -> None:
        """Has runs made, where a process is free and they are worth one."""
        if self.is_free and len(groups) >= LEAST:
            self._others.append(_Other(self._make, groups))

    def take(self) -> None:
        """Keeps what has been told since. A process to which nothing is left that is not known is ended."""
        for other in list(self._others):
            for asked, run in other.told():
                self._keep(asked, run)
            if all(self._is_known(group[-1]) for group in other.left):
                other.end()
            if other.is_over:
                self._others.remove(other)

    def close(self) -> None:
        """Ends the other processes, whatever they are at."""
        for other in self._others:
            other.end()
        self._others.clear()


class _Other:
    """A copy of this process."""

    def __init__(self, make: Callable[[AskedRun], KnownRun], groups: Groups) -> None:
        self._groups = groups
        self.left = groups
        """Those that it has not told all of, as far as can be said."""
        self._waiting = bytearray()
        self.is_over = False
        self._reader, writer = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if not self._pid:
            _live(make, groups, writer, parent)
        os.close(writer)
        os.set_blocking(self._reader, False)

    def told(self) -> list[tuple[AskedRun, KnownRun]]:
        """What it has told since it was asked last."""
        while not self.is_over:
            try:
                data = os.read(self._reader, _CHUNK)
            except BlockingIOError:
                break
            self._waiting += data
            if not data:
                self.end()
        found = []
        while len(self._waiting) >= _HEAD.size:
            group, place, size = _HEAD.unpack_from(self._waiting)
            if len(self._waiting) < _HEAD.size + size:
                break
            self.left = self._groups[: group + 1]
            found.append((self._groups[group][place], pickle.loads(self._waiting[_HEAD.size : _HEAD.size + size])))
            del self._waiting[: _HEAD.size + size]
        return found

    def end(self) -> None:
        if not self.is_over:
            self.is_over = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            os.close(self._reader)


def _live(make: Callable[[AskedRun], KnownRun], groups: Groups, writer: int, parent: int) -> NoReturn:
    """The other process's whole life."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        gc.disable()  # its life is short, and looking for circles would copy all memory
        for number in range(len(groups) - 1, -1, -1):
            for place, asked in enumerate(groups[number]):
                if os.getppid() != parent:
                    os._exit(0)
                run = make(asked)
                told = pickle.dumps(run)
                _write(writer, _HEAD.pack(number, place, len(told)) + told)
                if run.wrong is not None:
                    break
    except (KernelwrightError, OSError, MemoryError):
        pass  # the caller makes the run, and is told why it cannot be made
    finally:
        os._exit(0)


def _write(writer: int, data: bytes) -> None:
    while data:
        data = data[os.write(writer, data) :]
