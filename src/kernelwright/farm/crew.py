"""The processes of a pool, seen from the pool: the template, its copies, what they say and how they end.

    Crew ── socket ── template ── fork ── worker     (BEAR, KILL; BORN, DIED)
      └──── socket ─────────────────────── worker     (WORK; READY, DONE, RAISED)

A death is told after everything the worker has said. When the template dies its workers die with it, and the next worker
comes from a new one. There is no thread and no signal handler: everything happens inside ``events``.
"""

from __future__ import annotations

import itertools
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from weakref import WeakSet

from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.farm.lost_items import Raised, cause
from kernelwright.farm.messages import Kind, Message, pack, pair, receive, send
from kernelwright.farm.nursery import Child, Order, bear
from kernelwright.farm.task import Task
from kernelwright.lazy_dataclasses import dataclass

START_S = 300.0
"""What importing and setting up may take."""
STOP_S = 10.0
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "KERNELWRIGHT_CORES")
"""A worker is one core's worth; and a process with threads cannot be copied."""


@dataclass(eq=False)
class Worker:
    """One process. ``waiting``: the numbers of what it was given and has not answered, in order."""

    number: int
    post: socket.socket
    their_end: socket.socket
    """The worker's end of ``post``, kept open to take back what it has not read yet."""
    life_line: int
    pid: int = 0
    ready: bool = False
    since: float = field(default_factory=time.monotonic)
    """When it was started, became ready, answered last, or was given something while idle."""
    killed: bool = False
    waiting: list[int] = field(default_factory=list)

    def give(self, number: int, body: bytes) -> bool:
        """Whether its mailbox had room."""
        if not send(self.post, Kind.WORK, number, body, wait=False):
            return False
        if not self.waiting:
            self.since = max(self.since, time.monotonic())
        self.waiting.append(number)
        return True

    def take_back(self) -> list[int]:
        """What it was given and has not begun, from now on no longer its."""
        found = []
        while True:
            try:
                message = receive(self.their_end, wait=False)
            except BlockingIOError:
                break
            if message is None:
                break
            message.discard()
            found.append(message.number)
            if message.number in self.waiting:  # Ctrl-C may come between giving and noting
                self.waiting.remove(message.number)
        return found

    def close(self) -> None:
        """Closes our ends of its connections; that of ``life_line`` kills a process that still runs."""
        self.post.close()
        self.their_end.close()
        os.close(self.life_line)


@dataclass(frozen=True)
class Answer:
    """``message`` is DONE or RAISED."""

    worker: Worker
    message: Message


@dataclass(frozen=True)
class Death:
    """``code`` as ``subprocess`` counts it, negative for a signal; ``log`` is the end of what it wrote."""

    worker: Worker
    code: int
    log: str


class Crew:
    """Starts processes as they are asked for. Raises ``ToolError`` for a system without what it needs."""

    def __init__(self, task: Task) -> None:
        if not hasattr(os, "memfd_create"):
            raise ToolError("worker processes need Linux", hint="run this on a Linux machine")
        self.workers: dict[int, Worker] = {}
        self.starts = 0
        """How many workers there have been."""
        self._task, self._module = pack(task), task.module
        self._numbers = itertools.count(1)
        self._selector = selectors.DefaultSelector()
        self._folder = tempfile.mkdtemp(prefix=f"kernelwright-farm-{os.getpid()}-")
        self._template: Child | None = None
        self._control: socket.socket | None = None
        self._life_line = -1
        self._listening = False
        self._log = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        _crews.add(self)

    def start_worker(self) -> Worker:
        """A new worker; it can be given work at once."""
        if self._template is None:
            self._start_template()
        assert self._control is not None
        post, theirs = pair()
        life_reader, life_line = os.pipe()
        worker = Worker(next(self._numbers), post, theirs, life_line)
        try:
            send(self._control, Kind.BEAR, worker.number, b"", [theirs.fileno(), life_reader])
        except (BrokenPipeError, ConnectionError):
            pass  # the template is gone, which the next look at it tells
        finally:
            os.close(life_reader)
        self.workers[worker.number] = worker
        self._selector.register(post, selectors.EVENT_READ, worker)
        self.starts += 1
        return worker

    def kill(self, worker: Worker) -> None:
        """Ends a worker with all that it started. Its death is told as any other."""
        worker.killed = True
        if self._control is not None:
            try:
                send(self._control, Kind.KILL, worker.number, b"")
            except (BrokenPipeError, ConnectionError):
                pass

    def events(self, timeout_s: float) -> Iterator[Answer | Death]:
        """What has happened since the last call, at most ``timeout_s`` from now. Raises what set-up raised."""
        for key, _ in self._selector.select(max(0.0, timeout_s)):
            if isinstance(key.data, Worker):
                yield from self._heard(key.data)
            else:
                yield from self._told()

    def close(self) -> None:
        """Ends every process, and waits until they are gone."""
        self._stop_template()
        shutil.rmtree(self._folder, ignore_errors=True)
        self.forget()

    def forget(self) -> None:
        """Lets go of the processes without ending them: a fork of this process is not the one they live for."""
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()
        if self._control is not None and self._template is not None:
            self._control.close()
            os.close(self._life_line)
            self._template.forget()
        self._control = self._template = None
        self._selector.close()
        self._log.close()
        _crews.discard(self)

    # -- the template ---------------------------------------------------------------------------------------------

    def _start_template(self) -> None:
        control, theirs = pair()
        life_reader, self._life_line = os.pipe()
        path = [str(Path(__file__).resolve().parents[2]), *filter(None, sys.path)]
        environment = {
            "PYTHONHASHSEED": "0",  # sets of text are in the same order in every worker
            **os.environ,
            **dict.fromkeys(ONE_THREAD, "1"),
            "PYTHONPATH": os.pathsep.join(path),
            "TMPDIR": self._folder,
            "KERNELWRIGHT_COMPILE_WORKER": "1",  # it needs no protection from itself
        }
        os.makedirs(self._folder, exist_ok=True)
        order = Order(self._module, self._folder, environment, tuple(path), _working_folder())
        with theirs:
            try:
                self._template = bear(order, theirs, life_reader, self._log)
            except BaseException:
                control.close()
                os.close(self._life_line)
                raise
            finally:
                os.close(life_reader)
        self._control = control
        send(control, Kind.SETUP, 0, self._task)
        self._await_template()
        self._selector.register(control, selectors.EVENT_READ)
        self._listening = True

    def _await_template(self) -> None:
        assert self._control is not None and self._template is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            if not selector.select(START_S):
                self._stop_template()
                raise ToolError(f"setting up worker processes took longer than {START_S:g} s")
        try:
            message = receive(self._control)
        except ConnectionError:
            message = None
        if message is None:
            why = cause(self._stop_template(), self._log_tail())
            raise ToolError(f"setting up worker processes failed: {why.lost.reason}")
        if message.kind is Kind.FAILED:
            self._stop_template()
            raise _set_up_error(message)

    def _stop_template(self) -> int:
        """Its exit status."""
        if self._template is None or self._control is None:
            return 0
        if self._listening:
            self._selector.unregister(self._control)
        else:
            os.killpg(self._template.pid, signal.SIGKILL)
        self._control.close()
        try:
            code = self._template.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._template.pid, signal.SIGKILL)
            code = self._template.wait()
        os.close(self._life_line)
        self._template = self._control = None
        self._listening = False
        return code

    def _log_tail(self) -> str:
        self._log.seek(0)
        return self._log.read()[-4096:].decode(errors="replace")

    # -- what they say --------------------------------------------------------------------------------------------

    def _heard(self, worker: Worker) -> Iterator[Answer]:
        while worker.number in self.workers:
            try:
                message = receive(worker.post, wait=False)
            except (BlockingIOError, ConnectionError):
                return
            if message is None:
                return
            worker.since = time.monotonic()
            if message.kind is Kind.READY:
                worker.ready = True
            elif message.kind is Kind.FAILED:
                raise _set_up_error(message)
            elif message.number in worker.waiting:
                worker.waiting.remove(message.number)
                yield Answer(worker, message)
            else:
                message.discard()

    def _told(self) -> Iterator[Answer | Death]:
        assert self._control is not None
        while True:
            try:
                message = receive(self._control, wait=False)
            except BlockingIOError:
                return
            except ConnectionError:
                message = None
            if message is None:
                yield from self._template_died()
                return
            worker = self.workers.get(message.number)
            if worker is None:
                message.discard()
            elif message.kind is Kind.BORN:
                worker.pid = message.value()
            elif message.kind is Kind.DIED:
                yield from self._died(worker, *message.value())

    def _died(self, worker: Worker, code: int, log: str) -> Iterator[Answer | Death]:
        yield from self._heard(worker)
        self._selector.unregister(worker.post)
        del self.workers[worker.number]
        try:
            yield Death(worker, code, log)
        finally:
            worker.close()

    def _template_died(self) -> Iterator[Answer | Death]:
        code = self._stop_template()
        for worker in list(self.workers.values()):
            yield from self._died(worker, code, "")


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed by another
        return os.sep


def _set_up_error(message: Message) -> KernelwrightError:
    found: Raised = message.value()
    if isinstance(found.error, KernelwrightError):
        return found.error
    return ToolError(f"setting up worker processes failed: {found.reason}\n{found.trace}".rstrip())


_crews: WeakSet[Crew] = WeakSet()


def _forget_all() -> None:
    for each in list(_crews):
        each.forget()


# Copies of the sockets and life lines in a fork would keep the processes alive after their pool.
os.register_at_fork(after_in_child=_forget_all)
