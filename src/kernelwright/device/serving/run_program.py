"""A CUDA program and its device workers, from start to end: what ``kw run`` does after compiling.

    ran = run_program(["./app", "100"], settings)
    ran.exit_code, ran.results

The program finds a socket in its environment. Each of its processes that calls CUDA gets a worker of its own, forked from
this process, which has what a worker needs loaded already. The socket has a name and no file (unix(7), abstract names), so
nothing is left behind however anybody ends. Signals that would end us end the program first. A program that nvcc linked with
NVIDIA's shared runtime takes ours in its place.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from kernelwright.device.serving.runtime_substitution import stand_in
from kernelwright.device.serving.worker import complain, fork_worker, how_it_ended, say, serve
from kernelwright.device.settings import Settings
from kernelwright.errors import Misuse, ToolError
from kernelwright.lazy_dataclasses import dataclass

Serve = Callable[[socket.socket], bytes]
"""Serves one connection in a worker; the bytes reach the caller of ``run_program``."""

GRACE_S = 2.0
"""What a program gets to end by itself after Ctrl-C, and again after each stronger signal."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1


@dataclass
class Ran:
    """How a program ended."""

    exit_code: int
    """Its own; 128 plus the signal's number when a signal ended it, as shells have it."""
    signal: int = 0
    """The signal that ended it, or that ended us; 0: it ended by itself."""
    interrupted: bool = False
    """We were asked to end it."""
    overdue: bool = False
    """It was ended because its time was up."""
    results: list[bytes] = field(default_factory=list)
    """What its workers had to say, in the order they ended."""


@dataclass
class _Worker:
    process: int
    result: int
    """A file that its result is written to."""


def run_program(
    command: Sequence[str],
    settings: Settings,
    serve_connection: Serve | None = None,
    *,
    executable: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    here: bool = False,
) -> Ran:
    """Runs ``command`` on the device that the settings describe and waits for its end, ``limit_s`` seconds at most.

    ``executable`` is the file to run when it is not ``command[0]``; ``environment`` comes on top of ours. Standard streams
    and working folder are the program's own. ``here``: the first connection is served by a thread of this process, which keeps what
    it learns; the process ends with a worker that would. Raises ``Misuse`` for what cannot be executed.
    """
    host = _Host(settings, serve_connection or (lambda connection: _serve_plainly(connection, settings)), limit_s, here)
    return host.run(command, executable, environment or {})


def _serve_plainly(connection: socket.socket, settings: Settings) -> bytes:
    serve(connection, lambda: settings)
    return b""


class _Host:
    """Waits for connections, for the ends of processes, and for signals, all at once."""

    def __init__(self, settings: Settings, serve_connection: Serve, limit_s: float | None, here: bool) -> None:
        self._here = here
        self._thread: threading.Thread | None = None
        self._settings = settings
        self._serve = serve_connection
        self._deadline = None if limit_s is None else time.monotonic() + limit_s
        self._overdue = False
        self._workers: list[_Worker] = []
        self._results: list[bytes] = []
        self._asked: list[int] = []

    def run(self, command: Sequence[str], executable: Path | None, environment: Mapping[str, str]) -> Ran:
        name = f"kernelwright-{os.getpid()}-{os.urandom(8).hex()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, _signals(self._asked) as awake:
            listener.bind(f"\0{name}")
            listener.listen()
            given = _environment(environment, self._settings, name)
            given |= stand_in(executable or Path(command[0]), bool(self._settings.real), given)
            program = _start(command, executable, given)
            try:
                self._wait(program, listener, awake)
            finally:
                if program.poll() is None:
                    program.kill()
                    program.wait()
                self._end_workers()
        return self._ran(program.returncode)

    def _ran(self, code: int) -> Ran:
        number = -code if code < 0 else 0
        if self._asked:
            number = self._asked[0]
        return Ran(128 + number if number else code, number, bool(self._asked), self._overdue, self._results)

    def _wait(self, program: subprocess.Popen[bytes], listener: socket.socket, awake: socket.socket) -> None:
        """Returns when the program and the workers it talked to have ended."""
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(awake, select.POLLIN)
        stronger: Iterator[int] = iter((signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
        patience = 0.0
        while program.poll() is None or self._workers or self._is_serving:
            tick = 20 if self._is_serving else 100 if self._asked or self._deadline is not None else None
            for descriptor, _ in poll.poll(tick):
                if descriptor == awake.fileno():
                    awake.recv(4096)
                else:
                    self._accept(listener, awake)
            self._reap()
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._overdue = True
                return
            if not self._asked:
                continue
            # A terminal has sent the program the same signal: it gets a moment before we do.
            patience = patience or time.monotonic() + GRACE_S / 4
            if program.poll() is not None:
                return
            if time.monotonic() > patience:
                program.send_signal(next(stronger, signal.SIGKILL))
                patience = time.monotonic() + GRACE_S

    # -- workers ---------------------------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket, awake: socket.socket) -> None:
        connection, _ = listener.accept()
        # Abstract names have no permissions: only our own user is served.
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] != os.getuid():
            connection.close()
            return
        if self._here and self._thread is None:
            self._thread = threading.Thread(target=self._serve_here, args=[connection], name="session", daemon=True)
            self._thread.start()
            return
        result = os.memfd_create("kernelwright-result", os.MFD_CLOEXEC)

        def work() -> None:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            awake.close()
            os.write(result, self._serve(connection))

        sys.stdout.flush()
        sys.stderr.flush()
        self._workers.append(_Worker(fork_worker(work), result))
        connection.close()

    @property
    def _is_serving(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _serve_here(self, connection: socket.socket) -> None:
        try:
            self._results.append(self._serve(connection))
        except Exception as error:  # as a worker process says it
            complain(error)
        finally:
            connection.close()

    def _reap(self) -> None:
        for worker in list(self._workers):
            done, status = os.waitpid(worker.process, os.WNOHANG)
            if not done:
                continue
            self._workers.remove(worker)
            with os.fdopen(worker.result, "rb") as file:
                file.seek(0)
                self._results.append(file.read())
            said = how_it_ended(status)
            if said:
                say(said)

    def _end_workers(self) -> None:
        """Those that are left belong to processes that outlive the program, or the program was ended."""
        for worker in self._workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.process, signal.SIGKILL)
            os.waitpid(worker.process, 0)
            os.close(worker.result)
        self._workers.clear()


def _environment(more: Mapping[str, str], settings: Settings, socket_name: str) -> dict[str, str]:
    """Ours without what would start another worker, and with the way to this one."""
    kept = {k: v for k, v in os.environ.items() if k not in ("KERNELWRIGHT_WORKER", "KERNELWRIGHT_FD")}
    return kept | {"KERNELWRIGHT_DEVICE": settings.name, "KERNELWRIGHT_SOCKET": f"@{socket_name}"} | dict(more)


def _start(command: Sequence[str], executable: Path | None, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts the program; it is killed when we are, in whatever way."""
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def before() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # we ended before the line above
            os._exit(1)

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        return subprocess.Popen(
            list(command),
            executable=None if executable is None else str(executable),
            env=dict(environment),
            close_fds=False,
            preexec_fn=before,
        )
    except FileNotFoundError:
        raise Misuse(f"{command[0]} does not exist", hint="check the path of the program") from None
    except PermissionError:
        raise Misuse(f"{command[0]} may not be executed", hint=f"chmod +x {command[0]}") from None
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be started: {error.strerror}") from None


@contextlib.contextmanager
def _signals(asked: list[int]) -> Iterator[socket.socket]:
    """Within, signals that would end us are noted in ``asked``, and the socket becomes readable with each and with the end
    of each child."""
    awake, wake = socket.socketpair()
    for end in (awake, wake):
        end.setblocking(False)
    before = signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    old = {each: signal.signal(each, lambda number, _: asked.append(number)) for each in _ENDING}
    old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        yield awake
    finally:
        for each, handler in old.items():
            signal.signal(each, handler)
        signal.set_wakeup_fd(before)
        awake.close()
        wake.close()
