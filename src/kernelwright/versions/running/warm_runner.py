"""``cuda_runner`` in a copy of this process, which has loaded what each run would load again: a run takes a third of the time."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO


class CopiedProcess:
    """A child of ours, with as much of ``subprocess.Popen`` as a run needs."""

    def __init__(self, pid: int, command: str) -> None:
        self.pid = pid
        self._command = command
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Raises ``subprocess.TimeoutExpired``."""
        end = None if timeout is None else time.monotonic() + timeout
        while self._code is None:
            done, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if done:
                self._code = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self._command, timeout or 0)
            else:
                time.sleep(0.005)
        return self._code


def load() -> None:
    """Loads what a run on the virtual GPU needs. Once for all runs."""
    import kernelwright.device.load_module
    import kernelwright.device.serving.registry
    import kernelwright.device.serving.session
    import kernelwright.device.serving.virtual_device
    import kernelwright.device.virtual_gpu.gpu
    import kernelwright.device.virtual_gpu.launch_estimates
    import kernelwright.versions.running.cuda_runner  # noqa: F401
    from kernelwright.codegen.simt.launching.runtime_library import runtime
    from kernelwright.passes.llvm import binding

    binding()
    runtime()


def start(command: str, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]) -> CopiedProcess:
    """Starts ``... cuda_runner DEVICE EXECUTABLE TIMES ARGUMENTS`` as a session of its own."""
    load()
    device, executable, times, arguments = shlex.split(command)[-4:]
    child = os.fork()
    if child:
        return CopiedProcess(child, command)
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for ours, theirs in ((nothing, 0), (out.fileno(), 1), (err.fileno(), 2)):
            os.dup2(ours, theirs)
        os.environ.clear()
        os.environ.update(environment)
        from kernelwright.versions.running.cuda_runner import told

        code = told(device, Path(executable), Path(times), shlex.split(arguments))
    finally:
        os._exit(code)
