"""The worker process: ``python -m kernelwright.device.serving.worker``, started by a CUDA program for itself.

It finds its end of the connection as the descriptor ``KERNELWRIGHT_FD``, serves that one program and ends with it. The
process that does the work is a child of the one that was started, which waits and says how it ended when that was not as
it should be: killed for want of memory, say, or by a defect of ours or LLVM's.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kernelwright.device.serving.observer import Observer
    from kernelwright.device.serving.session import Session
    from kernelwright.device.settings import Settings
    from kernelwright.device.virtual_gpu.kept_code import KeptCode
    from kernelwright.kernel_version import Version

PREFIX = "kw"
_PROGRAMS_OWN = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serves the connection that the environment names. Returns the exit code."""
    number = os.environ.get("KERNELWRIGHT_FD", "")
    if not number.isdigit():
        say("a device worker is started by a CUDA program; KERNELWRIGHT_FD is not set")
        return 2
    connection = socket.socket(fileno=int(number))
    child = fork_worker(lambda: serve(connection, from_environment))
    connection.close()
    _, status = os.waitpid(child, 0)
    said = how_it_ended(status)
    if said:
        say(said)
    return os.waitstatus_to_exitcode(status) and 3


def fork_worker(work: Callable[[], object]) -> int:
    """Starts ``work`` in a process of its own, which ends with this one at the latest; returns its number.

    The program decides when it ends: what a terminal or ``kill`` sends to all processes around the program does not reach
    its worker, which would leave it with errors where it meant to save its results.
    """
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        for number in _PROGRAMS_OWN:
            signal.signal(number, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:  # else it ended before the line above
            work()
            code = 0
    except BaseException as error:
        complain(error)
    finally:
        _leave(code)


def _leave(code: int) -> NoReturn:
    """Ends the process without what its parent has registered to do at its own end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    os._exit(code)


def complain(error: BaseException) -> None:
    """Says on standard error what went wrong: a sentence, or the report of a defect."""
    from kernelwright.device.serving.errors import defect
    from kernelwright.errors import KernelwrightError

    if isinstance(error, KernelwrightError):
        say(str(error))
    elif isinstance(error, MemoryError):
        say("the device worker has no memory left: use smaller inputs, or allow more with --memory")
    elif isinstance(error, Exception):
        say(defect(error))


def from_environment() -> Settings:
    """What the environment says. Raises ``Misuse``."""
    from kernelwright.device.settings import Settings

    return Settings.of(os.environ)


def serve(
    connection: socket.socket,
    settings_of: Callable[[], Settings],
    observers: Sequence[Observer] = (),
    *,
    finish: bool = False,
    timed: bool = False,
    versions: Sequence[Version] | None = (),
    kept: KeptCode | None = None,
) -> Session | None:
    """Serves one program until it ends; None when what is asked for cannot be had, as the program was told.

    The rest is as ``Session`` has it. On a real GPU nothing is observed, and launches are measured when ``timed``. ``versions``: what
    may run in the place of the program's kernels, before what it carries itself; None: neither does. ``kept``: what earlier
    programs left in this process, which then goes on: its memory is limited by who began it.
    """
    from kernelwright.errors import KernelwrightError

    try:
        session = _session(connection, settings_of(), observers, finish, timed, versions, kept)
    except KernelwrightError as error:
        refuse(connection, error)
        return None
    session.serve()
    for sentence in session.device.remarks():
        say(sentence)
    if session.settings.winners == "count":
        from kernelwright.device.versions.table import version_lines

        for line in version_lines(session.versions(), session.settings):
            say(line)
    if session.untold is not None and session.untold.sentence:
        say(session.untold.sentence)
    return session


def _session(
    connection: socket.socket,
    settings: Settings,
    observers: Sequence[Observer],
    finish: bool,
    timed: bool,
    versions: Sequence[Version] | None,
    kept: KeptCode | None,
) -> Session:
    """The session, with the device that the settings name."""
    from kernelwright.device.serving.session import Session

    versions = None if settings.winners == "off" else versions
    if settings.real:
        from kernelwright.device.real_gpu.cuda_device import CudaDevice
        from kernelwright.device.real_gpu.gpu import CudaGpu

        on_gpu = CudaDevice(CudaGpu(settings.ordinal), settings.timeout_s, timed, versions)
        # Its watchdog ends this process when the program has gone: until then everything is done.
        return Session(connection, on_gpu, settings, finish=True)
    from kernelwright.device.arena import Arena
    from kernelwright.device.serving.virtual_device import VirtualDevice

    if kept is None:
        limit_memory(settings)
    abandon = None if finish else functools.partial(_leave, 3)
    device = VirtualDevice(Arena(), settings, observers, timed, versions, kept)
    return Session(connection, device, settings, observers, finish, abandon)


def refuse(connection: socket.socket, error: Exception) -> None:
    """Tells a program that it gets no device, and why."""
    from kernelwright.cuda.wire.channel import Channel
    from kernelwright.device.serving.errors import CudaError

    channel = Channel(connection)
    first = channel.receive()
    if first is not None:
        channel.fail(first, CudaError.NO_DEVICE, str(error))


def limit_memory(settings: Settings) -> None:
    """Lets this process take no more than the settings allow, besides the address space that the arena reserves."""
    if settings.memory_bytes is None:
        return
    import resource

    from kernelwright.device.arena import RESERVE

    with open("/proc/self/statm") as sizes:
        taken = int(sizes.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limit = taken + RESERVE + _OVERHEAD + settings.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


_OVERHEAD = 1 << 30
"""Address space for Python, LLVM and the stacks of threads, most of which is never used."""


def how_it_ended(status: int) -> str:
    """One sentence about a worker's end, empty when it was in order or has been told already."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return ""
    name = signal.Signals(-code).name
    why = {
        signal.SIGKILL: "; the system kills processes when memory runs out: use smaller inputs, or --memory",
        signal.SIGABRT: "; LLVM or the C library gave up, perhaps for want of memory",
        signal.SIGBUS: "; the machine has run out of memory for the device",
    }.get(signal.Signals(-code), "; this is a defect in Kernelwright, please report it with the program")
    return f"the device worker was ended by {name}{why}"


def say(line: str) -> None:
    """Tells the person at the program's standard error."""
    try:
        print(f"{PREFIX}: {line}", file=sys.stderr, flush=True)
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(main())
