"""The process that the templates of a program's pools are copies of: one for all of them, so that what they import is
imported once.

    Nursery ── socket ── nursery process ── fork ── template     (BEAR)
    Child ──── socket ───────┘                                   (BORN, FAILED, DIED)

A run makes half a dozen pools one after the other, and half a second of imports each is most of what a short run takes. The
process imports modules of this package alone: those of a user may have been changed since, start threads, or crash. A template
that has died keeps its process id until its pool has let go of it.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from kernelwright.errors import ToolError
from kernelwright.farm import template
from kernelwright.farm.messages import Kind, Message, pack, pair, receive, send
from kernelwright.lazy_dataclasses import dataclass

PACKAGE = "kernelwright"
READ_AT_START = ("LD_", "GLIBC_", "MALLOC_", "LANG", "LC_", "PYTHON")
"""How the names of variables begin that the loader, the C library and Python read once."""


@dataclass(frozen=True)
class Order:
    """What a template begins with. ``module``: what its workers need of this package, or any other module."""

    module: str
    folder: str
    environment: Mapping[str, str]
    path: tuple[str, ...]
    working_folder: str


@dataclass(eq=False)
class Child:
    """A template, seen from its pool, which is not its parent."""

    pid: int
    _post: socket.socket

    def wait(self, timeout_s: float | None = None) -> int:
        """Its exit status as ``subprocess`` counts it. Raises ``subprocess.TimeoutExpired`` when it still runs then."""
        self._post.settimeout(timeout_s)
        try:
            message = receive(self._post)
        except TimeoutError:
            raise subprocess.TimeoutExpired("a template", timeout_s or 0.0) from None
        except ConnectionError:
            message = None
        self._post.close()
        if message is None:  # the nursery process is gone, so it is unknown
            return -signal.SIGKILL
        code: int = message.value()
        return code

    def forget(self) -> None:
        """Lets go of it in a fork of the pool's process."""
        self._post.close()


class Nursery:
    """The process, seen from the pools of its parent."""

    def __init__(self, environment: Mapping[str, str], log: IO[bytes]) -> None:
        """Raises ``OSError`` when it cannot be started."""
        self.start = read_at_start(environment)
        self._post, theirs = pair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kernelwright.farm.nursery", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def bear(self, order: Order, control: socket.socket, life_line: int, log: IO[bytes]) -> Child | None:
        """A template; None where the process is gone. Raises ``ToolError`` for a system that has no room for another."""
        post, theirs = pair()
        with theirs:
            try:
                send(
                    self._post, Kind.BEAR, 0, pack(order), [control.fileno(), life_line, log.fileno(), theirs.fileno()]
                )
            except (BrokenPipeError, ConnectionError):
                post.close()
                return None
        try:
            message = receive(post)
        except ConnectionError:
            message = None
        if message is not None and message.kind is Kind.BORN:
            return Child(message.value(), post)
        post.close()
        if message is None:
            return None
        raise ToolError(f"worker processes cannot be started: {message.value()}")

    def close(self) -> None:
        """Ends the process. Templates go on."""
        self._post.close()
        self._process.wait()

    def forget(self) -> None:
        """Lets go of the process without ending it."""
        self._post.close()
        self._process.returncode = 0  # it is not this process's to wait for


def read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process takes from its environment when it begins, and a copy of it cannot be told."""
    return {
        name: value for name, value in environment.items() if name.startswith(READ_AT_START) and name != "PYTHONPATH"
    }


_nursery: Nursery | None = None
_lock = threading.Lock()


def bear(order: Order, control: socket.socket, life_line: int, log: IO[bytes]) -> Child:
    """A template from the nursery of this process, which is started where there is none.

    Raises ``ToolError`` when there can be none.
    """
    global _nursery
    with _lock:
        for _ in range(2):
            if _nursery is not None and _nursery.start != read_at_start(order.environment):
                _nursery.close()
                _nursery = None
            if _nursery is None:
                try:
                    _nursery = Nursery({**order.environment, "PYTHONPATH": os.pathsep.join(order.path)}, log)
                except OSError as error:
                    raise ToolError(f"worker processes cannot be started: {error.strerror}") from None
            child = _nursery.bear(order, control, life_line, log)
            if child is not None:
                return child
            _nursery.close()
            _nursery = None
    log.seek(0)
    said = log.read()[-4096:].decode(errors="replace").strip()
    raise ToolError(f"worker processes cannot be started: {said or 'the process they come from ends at once'}")


def close() -> None:
    """Ends the nursery of this process, if there is one."""
    global _nursery
    with _lock:
        if _nursery is not None:
            _nursery.close()
            _nursery = None


def _forget() -> None:
    global _nursery, _lock
    _lock = threading.Lock()
    if _nursery is not None:
        _nursery.forget()
        _nursery = None


atexit.register(close)
# A copy of the socket in a fork would keep the process alive after its parent.
os.register_at_fork(after_in_child=_forget)


# -- the process itself ---------------------------------------------------------------------------------------------------


class _Births:
    """The templates by process id, with the sockets of those who wait for their ends."""

    def __init__(self, post: socket.socket) -> None:
        self._post = post
        self._waiting: dict[int, socket.socket] = {}
        self._told: set[int] = set()
        self._unwanted: set[int] = set()
        """Templates whose pools are gone, and which end for that."""
        self._awake, self._wake = socket.socketpair()
        for end in (self._awake, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector = selectors.DefaultSelector()
        self._selector.register(post, selectors.EVENT_READ)
        self._selector.register(self._awake, selectors.EVENT_READ)

    def run(self) -> None:
        """Until the process that wants templates is gone."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._awake:
                    self._tell()
                elif key.data is not None:
                    self._let_go(key.data)
                elif message := receive(self._post):
                    self._bear(message)
                else:
                    return

    def _bear(self, message: Message) -> None:
        control, life_line, log, post = message.descriptors[:4]
        asker = socket.socket(fileno=post)
        order: Order = message.value()
        _import(order.module)
        try:
            pid = os.fork()
        except OSError as error:
            send(asker, Kind.FAILED, 0, pack(str(error.strerror)))
            asker.close()
        else:
            if pid == 0:
                asker.close()
                self._become_template(order, control, life_line, log)
            self._waiting[pid] = asker
            self._selector.register(asker, selectors.EVENT_READ, pid)
            send(asker, Kind.BORN, 0, pack(pid))
        for each in (control, life_line, log):
            os.close(each)

    def _become_template(self, order: Order, control: int, life_line: int, log: int) -> NoReturn:
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for end in (self._awake, self._wake, self._post, *self._waiting.values()):
                end.close()
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            os.environ.clear()
            os.environ.update(order.environment)
            sys.path[:] = [order.working_folder, *order.path]
            importlib.invalidate_caches()
            os.chdir(order.working_folder)
            template.serve(socket.socket(fileno=control), life_line, order.folder)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        finally:
            os._exit(1)

    def _tell(self) -> None:
        """Says which templates have died. They are buried when their pools have let go of them."""
        while True:
            try:
                if not self._awake.recv(4096):
                    break
            except BlockingIOError:
                break
        for pid, post in self._waiting.items():
            ended: Any = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or pid in self._told:
                continue
            self._told.add(pid)
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            try:
                send(post, Kind.DIED, 0, pack(code))
            except (BrokenPipeError, ConnectionError):
                continue  # which the selector tells, too
        self._bury()

    def _let_go(self, pid: int) -> None:
        post = self._waiting.pop(pid)
        self._selector.unregister(post)
        post.close()
        self._told.discard(pid)
        self._unwanted.add(pid)
        self._bury()

    def _bury(self) -> None:
        self._unwanted = {pid for pid in self._unwanted if os.waitpid(pid, os.WNOHANG)[0] == 0}


def _import(module: str) -> None:
    """What the next template will need, too. An import that fails does so again in the template, where it is told."""
    if module.partition(".")[0] != PACKAGE or module in sys.modules:
        return
    try:
        importlib.import_module(module)
    except Exception:
        return
    gc.collect()
    gc.freeze()  # templates collect what is theirs only


def serve(post: socket.socket) -> NoReturn:
    """The whole life of the process."""
    os.set_inheritable(post.fileno(), False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = 1
    try:
        _Births(post).run()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
