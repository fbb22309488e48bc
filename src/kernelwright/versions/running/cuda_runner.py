"""Runs an executable that ``kw compile`` made once, on a virtual GPU: ``python -m kernelwright.versions.running.cuda_runner``.

    cuda_runner DEVICE EXECUTABLE TIMES "ARGUMENTS"

The time that counts goes into the file TIMES: that of the whole device timeline, launches and copies, in microseconds. It is an
estimate, and the same in every run.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from pathlib import Path

from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.errors import KernelwrightError, Misuse

TELL = "KW_TUNING"


def run(device: str, executable: Path, times: Path, arguments: list[str]) -> int:
    """Returns the program's exit code. Raises ``Misuse`` for a real GPU, of which nobody has the timeline."""
    settings = Settings.for_device(device)
    if settings.real:
        raise Misuse(
            f"the whole timeline of {settings.real} is not measured", hint="kw tune --exec, which times the process"
        )

    def serve_connection(connection: socket.socket) -> bytes:
        session = serve(connection, lambda: settings, finish=True, timed=True)
        return json.dumps(session.device.elapsed_us() if session else None).encode()

    ran = run_program([str(executable), *arguments], settings, serve_connection, environment={**os.environ, TELL: "1"})
    elapsed = [json.loads(result) for result in ran.results if result]
    times.write_text(f"{sum(us for us in elapsed if us is not None)!r}\n")
    return ran.exit_code


def told(device: str, executable: Path, times: Path, arguments: list[str]) -> int:
    """As ``run``; what is wrong goes to standard error."""
    try:
        return run(device, executable, times, arguments)
    except KernelwrightError as error:
        os.write(2, f"{error.message}\n".encode())
        return error.exit_code


def main() -> int:
    device, executable, times, arguments = sys.argv[1:]
    return told(device, Path(executable), Path(times), shlex.split(arguments))


if __name__ == "__main__":
    sys.exit(main())
