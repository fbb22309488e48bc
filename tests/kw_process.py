"""``kw`` in a process of its own that is a copy of one which has imported everything: a command then costs what it does.

    done = kw("evolve", "app.cu", cwd=folder)            # as subprocess.run([sys.executable, "-m", "kernelwright", ...])

Half a second of imports for each of hundreds of commands was most of what these tests took. What a fresh process does about
imports, streams, signals and its ways around llvmlite is seen by the tests of ``kw compile`` and ``kw run``, which start one.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import os
import pickle
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from tests.announced_lines import without_announced

SRC = str(Path(__file__).parents[1] / "src")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""A process with threads cannot be copied."""

WITH_WORKERS = ("breed", "evolve", "explain", "explore", "export", "minimize", "prove", "tune")
"""Commands that start worker processes."""

_servers: dict[tuple[int, str], tuple[subprocess.Popen[bytes], socket.socket]] = {}
"""By the process that has started them, and by what the loader reads at the start of a process."""

_lock = threading.Lock()


def kw(
    *arguments: str, cwd: Path | str | None = None, env: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """What came of a command. ``env``: None for that of the test."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, here:
        environment = dict(os.environ if env is None else env)
        request = pickle.dumps((arguments, str(cwd or os.getcwd()), environment))
        with tempfile.TemporaryFile() as body, there:
            body.write(request)
            body.flush()
            rights = array.array("i", [body.fileno(), out.fileno(), err.fileno(), there.fileno()])
            with _lock:
                server = _running(environment)
            server.sendmsg([b"kw"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        pid = int(here.recv(64))
        here.settimeout(timeout)
        try:
            code = int(here.recv(64))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess(["kw", *arguments], code, said[0], without_announced(said[1]))


def _running(environment: Mapping[str, str]) -> socket.socket:
    """The server of this process, started where there is none."""
    key = os.getpid(), environment.get("LD_LIBRARY_PATH", "")
    if key not in _servers:
        post, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join([SRC, str(Path(__file__).parents[1]), *filter(None, sys.path)])
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.kw_process", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={**environment, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
            )
        _servers[key] = process, post
        atexit.register(_close, key)
    return _servers[key][1]


def _close(key: tuple[int, str]) -> None:
    if key[0] == os.getpid():
        process, post = _servers.pop(key)
        post.close()
        process.wait()


# -- the server ---------------------------------------------------------------------------------------------------------


def _preload() -> None:
    for package in ("kernelwright.cli.commands", "kernelwright.cli.support", "kernelwright.stories"):
        found = importlib.import_module(package)
        for each in pkgutil.walk_packages(found.__path__, f"{package}."):
            importlib.import_module(each.name)
    for name in (
        "kernelwright.cli.app",
        "kernelwright.evaluate.judging.worker_process",
        "matplotlib.backends.backend_svg",
    ):
        importlib.import_module(name)
    importlib.import_module("matplotlib.figure")
    assert len(os.listdir("/proc/self/task")) == 1, "an import has started threads"
    gc.collect()
    gc.freeze()


def _serve(post: socket.socket) -> tuple[Any, list[int]] | None:
    """In the server, None when the tests are at their end; in a copy of it, what it is to do, and its streams."""
    awake, wake = socket.socketpair()
    for end in (awake, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waiting: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(post, selectors.EVENT_READ)
        selector.register(awake, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if awake in ready:
                awake.recv(4096)
                for pid in list(waiting):
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        with waiting.pop(pid) as asker:
                            asker.send(b"%d" % os.waitstatus_to_exitcode(status))
            if post not in ready:
                continue
            data, rights, _, _ = post.recvmsg(16, socket.CMSG_LEN(16))
            if not data:
                return None
            body, out, err, reply = array.array("i", rights[0][2])
            asker = socket.socket(fileno=reply)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for end in (awake, wake, asker, post, *waiting.values()):
                    end.close()
                with open(body, "rb") as file:
                    file.seek(0)
                    return pickle.load(file), [out, err]
            waiting[pid] = asker
            asker.send(b"%d" % pid)
            for each in (body, out, err):
                os.close(each)


def _bring_nursery() -> None:
    """A copy of this process that is there when the command's first pool asks for a nursery: one that is started then imports for
    a second what this process has imported. It ends with the command."""
    from kernelwright.farm import messages, nursery

    post, theirs = messages.pair()
    pid = os.fork()
    if not pid:
        post.close()
        os.setsid()
        nursery.serve(theirs)
    theirs.close()
    started = nursery.Nursery.__init__

    def brought(self: nursery.Nursery, environment: Mapping[str, str], log: IO[bytes]) -> None:
        nursery.Nursery.__init__ = started  # type: ignore[method-assign]  # the next is started as always
        self.start = nursery.read_at_start(environment)
        self._post, self._process = post, _Copy(pid)  # type: ignore[assignment]

    nursery.Nursery.__init__ = brought  # type: ignore[method-assign]


class _Copy:
    """As much of a ``Popen`` as a nursery uses."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.returncode: int | None = None

    def wait(self) -> None:
        os.waitpid(self._pid, 0)


def _command(asked: Any, streams: list[int]) -> int:
    arguments, folder, environment = asked
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv[:] = [str(Path(SRC, "kernelwright", "__main__.py")), *arguments]
    if arguments and arguments[0] in WITH_WORKERS:
        _bring_nursery()
    from kernelwright.cli import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _preload()
    _asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if _asked is not None:
        _code = _command(*_asked)
        atexit._run_exitfuncs()
        for _stream in (sys.stdout, sys.stderr):
            _stream.flush()
        os._exit(_code)
