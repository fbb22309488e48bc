"""Compiles in a process of its own: one resident worker per configuration of LLVM (``isolation.py`` says when).

The protocol is one pickled request and one pickled answer at a time, each behind its length, over the worker's standard
input and output (``worker_child.py`` is the other end).
"""

from __future__ import annotations

import atexit
import os
import pickle
import selectors
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kernelwright.errors import KernelwrightError
from kernelwright.passes.options import PassOptions
from kernelwright.passes.process_result import death, too_slow, unpacked
from kernelwright.passes.switches import process_switches

R = TypeVar("R")

RESIDENT = 6
"""Workers kept; the one unused for longest goes first. Each takes about 60 MB."""

HEADER = struct.Struct("<Q")

_resident: dict[tuple[str, ...], Worker] = {}
_owner = os.getpid()
_lock = threading.Lock()


def worker(options: PassOptions) -> Worker:
    """The resident worker for ``options``, started when there is none."""
    global _owner
    switches = process_switches(options)
    with _lock:
        if _owner != os.getpid():  # a fork inherits the pipes, but the workers are its parent's
            _resident.clear()
            _owner = os.getpid()
        found = _resident.pop(switches, None)
        if found is None or not found.alive:
            found = Worker(switches)
        _resident[switches] = found
        idle = [key for key, each in _resident.items() if not each.busy and each is not found]
        for key in idle[: max(0, len(_resident) - RESIDENT)]:
            _resident.pop(key).close()
    return found


def close_all() -> None:
    """Ends every resident worker of this process."""
    with _lock:
        if _owner == os.getpid():
            for each in _resident.values():
                each.close()
        _resident.clear()


atexit.register(close_all)


class Worker:
    """One worker process, configured once. Calls are served one after another."""

    def __init__(self, switches: tuple[str, ...]) -> None:
        self.switches = switches
        self._busy = threading.Lock()
        self._configured = False
        self._log = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kernelwright.passes.worker_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": path, "KERNELWRIGHT_COMPILE_WORKER": "1"},
        )
        self._send(switches)

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process.poll() is None

    @property
    def busy(self) -> bool:
        """Whether a call is being served."""
        return self._busy.locked()

    def call(self, function: Callable[..., R], args: tuple[Any, ...], timeout_s: float) -> R:
        """What ``function(*args)`` returns or raises in the worker. Raises ``ToolError`` when that takes too long, or why it ended."""
        with self._busy:
            deadline = time.monotonic() + timeout_s
            if not self._configured:
                self._finish_configuration(deadline, timeout_s)
            os.ftruncate(self._log.fileno(), 0)
            self._send((function.__module__, function.__qualname__, args))
            result: R = self._answer(deadline, timeout_s)
            return result

    def close(self) -> None:
        """Ends the process at once, a call under way included."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unsent bytes for a process that is gone
                    continue

    def _finish_configuration(self, deadline: float, timeout_s: float) -> None:
        try:
            self._answer(deadline, timeout_s)
        except KernelwrightError:
            self.close()  # half configured is not configured: the next caller starts afresh
            raise
        self._configured = True

    def _send(self, request: object) -> None:
        data = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(HEADER.pack(len(data)) + data)
            pipe.flush()
        except BrokenPipeError:
            raise self._lost() from None

    def _answer(self, deadline: float, timeout_s: float) -> Any:
        (size,) = HEADER.unpack(self._read(HEADER.size, deadline, timeout_s))
        return unpacked(self._read(size, deadline, timeout_s))

    def _read(self, size: int, deadline: float, timeout_s: float) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        chunks, missing = [], size
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while missing:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.close()
                    raise too_slow(timeout_s)
                chunk = os.read(pipe.fileno(), missing)
                if not chunk:
                    raise self._lost()
                chunks.append(chunk)
                missing -= len(chunk)
        return b"".join(chunks)

    def _lost(self) -> KernelwrightError:
        """Why the process is gone, in LLVM's words where it left some."""
        code = self._process.wait()
        self._log.seek(0)
        log = self._log.read().decode(errors="replace")
        self.close()
        return death(code, log)
