"""The process that workers are copies of, itself a copy of the one in ``nursery.py``.

It has imported what they need, so that a new worker takes milliseconds, and it has one thread only, so that a copy of it
is whole. It starts workers, kills them when told to, tells of their deaths, and ends them all when the pool is gone.
"""

from __future__ import annotations

import gc
import os
import selectors
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable
from typing import IO, NoReturn

from kernelwright.errors import ToolError
from kernelwright.farm import limits, worker
from kernelwright.farm.lost_items import raised
from kernelwright.farm.messages import Kind, Message, pack, receive, send
from kernelwright.farm.task import Task, Work

LOG_TAIL_BYTES = 4096


class Template:
    """The workers by process id, and by the numbers the pool gave them."""

    def __init__(self, pool: socket.socket, task: Task, work: Work | None) -> None:
        self._pool = pool
        self._task = task
        self._work = work
        self._workers: dict[int, tuple[int, IO[bytes]]] = {}
        self._awake, self._wake = socket.socketpair()
        for end in (self._awake, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Until the pool is gone."""
        with selectors.DefaultSelector() as selector:
            self._selector = selector
            selector.register(self._pool, selectors.EVENT_READ)
            selector.register(self._awake, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._awake:
                        self._bury()
                    elif message := receive(self._pool):
                        self._obey(message)
                    else:
                        return

    def end(self) -> None:
        """Kills every worker with what it started, and waits for them."""
        for pid in self._workers:
            _kill(pid)
        for pid in self._workers:
            os.waitpid(pid, 0)

    def _obey(self, message: Message) -> None:
        if message.kind is Kind.BEAR:
            self._bear(message)
        elif message.kind is Kind.KILL:
            for pid in [pid for pid, (number, _) in self._workers.items() if number == message.number]:
                _kill(pid)

    def _bear(self, message: Message) -> None:
        log = tempfile.TemporaryFile("a+b", buffering=0)  # noqa: SIM115
        try:
            pid = os.fork()
        except OSError as error:
            log.close()
            message.discard()
            send(self._pool, Kind.DIED, message.number, pack((1, f"it could not be started: {error}")))
            return
        if pid == 0:
            self._become_worker(message, log)
        message.discard()
        try:
            os.setpgid(pid, pid)  # as the worker does: whichever comes first
        except OSError:
            pass
        self._workers[pid] = message.number, log
        send(self._pool, Kind.BORN, message.number, pack(pid))

    def _become_worker(self, message: Message, log: IO[bytes]) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            for each in (self._selector, self._awake, self._wake, self._pool, log):
                each.close()
            for _, other in self._workers.values():
                other.close()
            self._workers.clear()
            post, life_line = message.descriptors
            worker.live(socket.socket(fileno=post), life_line, self._task, self._work)
        finally:
            os._exit(1)

    def _bury(self) -> None:
        """Tells of the workers that have died. What one of them started goes with it."""
        while True:
            try:
                if not self._awake.recv(4096):
                    break
            except BlockingIOError:
                break
        for pid in list(self._workers):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            _kill(pid)  # before its number is given to another
            _, status = os.waitpid(pid, 0)
            number, log = self._workers.pop(pid)
            send(self._pool, Kind.DIED, number, pack((os.waitstatus_to_exitcode(status), _tail(log))))


def _kill(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _tail(log: IO[bytes]) -> str:
    with log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - LOG_TAIL_BYTES))
        return log.read().decode(errors="replace")


def _set_up(task: Task) -> Work | None:
    """Imports what the workers need, and with a shared set-up does that too."""
    function: Callable[..., Work] = task.function()
    work = function(*task.arguments) if task.shared else None
    if threading.active_count() > 1 or len(os.listdir("/proc/self/task")) > 1:
        what = "a shared set-up" if task.shared else f"importing {task.module}"
        hint = "leave shared off" if task.shared else "import what does so inside of the set-up function"
        raise ToolError(f"{what} has started threads, which copies of the process would lack", hint=hint)
    gc.collect()
    gc.freeze()  # the collector must not write to pages that all workers share
    return work


def serve(pool: socket.socket, life_line: int, folder: str) -> None:
    """The whole life of a template. ``folder`` is where workers put temporary files; it is removed at the end."""
    limits.die_with_writer(life_line)  # until it listens itself, and can tidy up
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    message = receive(pool)
    if message is None:
        return
    try:
        task: Task = message.value()
        work = _set_up(task)
    except BaseException as error:
        send(pool, Kind.FAILED, 0, pack(raised(error)))
        return
    os.close(life_line)
    template = Template(pool, task, work)
    try:
        send(pool, Kind.READY, 0, b"")
        template.run()
    except (BrokenPipeError, ConnectionError):
        pass
    finally:
        template.end()
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)  # what a shared set-up has started goes too
