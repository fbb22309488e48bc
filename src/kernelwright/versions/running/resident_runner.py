"""``cuda_runner`` in a process that stays: what a run reads, compiles, assembles and weighs, those after it have already.

    runner = ResidentRunner(versions)
    runner.load()                                           # may be left out: the process is started, and loads what runs kernels
    run = runner.start(command, environment, out, err)      # as ``subprocess.Popen`` would
    code = run.wait(timeout)
    run.end()                                               # the process with it, unless the run has ended by itself

The process is a copy of this one, made at the first run, or earlier by ``load``, and again after one that crashed or was ended. It ends
when no process is left to ask it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

from kernelwright.versions.tuned_winners import GuardedVersion

_PR_SET_PDEATHSIG = 1
FAILED = 3
LOAD = b"load\n"
"""A request that is answered when everything is loaded."""


class ResidentRun:
    """A run that was asked for."""

    def __init__(self, runner: ResidentRunner, command: str) -> None:
        self._runner = runner
        self._command = command
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for the signal that ended the process. Raises ``subprocess.TimeoutExpired``."""
        if self._code is None:
            self._code = self._runner.answer(timeout)
            if self._code is None:
                raise subprocess.TimeoutExpired(self._command, timeout or 0)
        return self._code

    def end(self) -> None:
        if self._code is None:
            self._code = self._runner.kill()


class ResidentRunner:
    """Runs programs on a virtual GPU, one at a time. ``versions``: winners that take part."""

    def __init__(self, versions: Sequence[GuardedVersion] = ()) -> None:
        self._versions = versions
        self._process = 0
        self._connection: socket.socket | None = None
        self._loads = False
        """Whether an answer to ``LOAD`` is still to come."""
        _RUNNERS.add(self)

    def load(self, *, wait: bool = False) -> None:
        """Starts the process, which loads what runs kernels while this one does something else; ``wait``: until it has."""
        self._connected().sendall(LOAD)
        self._loads = True
        if wait:
            self._wait_until_loaded()

    def processor_s(self) -> float:
        """Processor time of the process and of the programs that it has run, in seconds; 0 where there is none."""
        if self._connection is None:
            return 0.0
        fields = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # utime, stime, cutime, cstime: proc(5)

    def start(self, command: str, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]) -> ResidentRun:
        """Starts ``... cuda_runner DEVICE EXECUTABLE TIMES ARGUMENTS``; ``out`` and ``err`` are files with names."""
        request = {
            "words": shlex.split(command)[-4:], "environment": dict(environment), "out": str(out.name), "err": str(err.name),
        }  # fmt: skip
        line = json.dumps(request).encode() + b"\n"
        self._wait_until_loaded()  # no part of the time that a run may take
        try:
            self._connected().sendall(line)
        except ConnectionError:  # it ended between two runs
            self.kill()
            self._connected().sendall(line)
        return ResidentRun(self, command)

    def _wait_until_loaded(self) -> None:
        if self._loads:
            self.answer(None)
            self._loads = False

    def answer(self, timeout: float | None) -> int | None:
        """The exit code of the run under way; None when time is up."""
        assert self._connection is not None
        ready, _, _ = select.select([self._connection], [], [], timeout)
        if not ready:
            return None
        said = self._connection.recv(64)
        return int(said) if said else self.kill()

    def kill(self) -> int:
        """Ends the process and what it started; its exit code, negative for a signal."""
        self._loads = False
        if self._connection is None:
            return FAILED
        self._connection.close()
        self._connection = None
        try:
            os.killpg(self._process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])

    def forget(self) -> None:
        """Leaves the process to others that ask it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> socket.socket:
        if self._connection is None:
            ours, theirs = socket.socketpair()
            self._process = os.fork()
            if not self._process:
                ours.close()
                for other in _RUNNERS:  # their processes wait for the end of connections, which we hold open, too
                    other.forget()
                _serve_runs(theirs, self._versions)
            theirs.close()
            self._connection = ours
        return self._connection


_RUNNERS: weakref.WeakSet[ResidentRunner] = weakref.WeakSet()


def _serve_runs(connection: socket.socket, versions: Sequence[GuardedVersion]) -> NoReturn:
    """The process: runs what it is asked for until nothing asks."""
    code = FAILED
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        from kernelwright.device.virtual_gpu.kept_code import KeptCode
        from kernelwright.versions.running.cuda_runner import load, told

        kept = KeptCode()
        with connection.makefile("rb") as requests:
            for line in requests:
                if line == LOAD:
                    with contextlib.suppress(Exception):  # the first run meets the same, and says so
                        load()
                    connection.sendall(b"0")
                    continue
                request = json.loads(line)
                for name, descriptor in (("out", 1), ("err", 2)):
                    opened = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                    os.dup2(opened, descriptor)
                    os.close(opened)
                os.environ.clear()
                os.environ.update(request["environment"])
                device, executable, times, arguments = request["words"]
                result = told(device, Path(executable), Path(times), shlex.split(arguments), versions, kept)
                for descriptor in (1, 2):
                    os.dup2(nothing, descriptor)
                connection.sendall(str(result).encode())
        code = 0
    except ConnectionError:  # no process is left to be answered
        code = 0
    except Exception as error:
        from kernelwright.device.serving.worker import complain

        complain(error)
    finally:
        os._exit(code)
