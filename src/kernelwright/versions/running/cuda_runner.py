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
from collections.abc import Sequence
from pathlib import Path

from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.virtual_gpu.kept_code import KeptCode
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.versions.program import Compared
from kernelwright.versions.running.line_protocol import ENVIRONMENT, compared_line
from kernelwright.versions.threshold_file import read_thresholds
from kernelwright.versions.tuned_winners import GuardedVersion
from kernelwright.versions.tuned_winners import told as told_versions

TELL = {"KW_TUNING": "dispatch"}
"""Has guards print what they compare, and what they cost."""


def run(
    device: str,
    executable: Path,
    times: Path,
    arguments: list[str],
    versions: Sequence[GuardedVersion] = (),
    kept: KeptCode | None = None,
) -> int:
    """Returns the program's exit code. ``versions``: winners whose thresholds are tuned with the program's own. ``kept``: what earlier
    runs in this process have made, if it goes on.

    Raises ``Misuse`` for a real GPU, whose timeline is not known.
    """
    settings = Settings.for_device(device)
    if settings.real:
        raise Misuse(
            f"the whole timeline of {settings.real} is not measured", hint="kw tune --exec, which times the process"
        )
    given = os.environ.get(ENVIRONMENT)
    thresholds = read_thresholds(Path(given)) if given and versions else {}

    def serve_connection(connection: socket.socket) -> bytes:
        heard: list[Compared] = []
        with_checks = told_versions(versions, thresholds, heard)
        session = serve(connection, lambda: settings, finish=True, timed=True, versions=with_checks, kept=kept)
        elapsed_us = session.device.elapsed_us() if session else None
        if session and kept is not None:
            session.close()
        # The program's own comparisons are printed while it runs: these come after them, in every run alike.
        return json.dumps([elapsed_us, [c.as_json() for c in heard]]).encode()

    environment = {**os.environ, **TELL}
    command = [str(executable), *arguments]
    ran = run_program(command, settings, serve_connection, environment=environment, here=kept is not None)
    results = [json.loads(result) for result in ran.results if result]
    for _, heard in results:
        for each in map(Compared.from_json, heard):
            os.write(2, f"{compared_line(each)}\n".encode())
    times.write_text(f"{sum(us for us, _ in results if us is not None)!r}\n")
    return ran.exit_code


def load() -> None:
    """Loads what the first run would load."""
    import kernelwright.device.serving.session
    import kernelwright.device.serving.virtual_device
    import kernelwright.device.virtual_gpu.launch_estimates  # noqa: F401
    from kernelwright.device.serving.engine import load as load_engine

    load_engine()


def told(
    device: str,
    executable: Path,
    times: Path,
    arguments: list[str],
    versions: Sequence[GuardedVersion] = (),
    kept: KeptCode | None = None,
) -> int:
    """As ``run``; what is wrong goes to standard error."""
    try:
        return run(device, executable, times, arguments, versions, kept)
    except KernelwrightError as error:
        os.write(2, f"{error.message}\n".encode())
        return error.exit_code


def main() -> int:
    """The process: device, executable, file for the times, arguments."""
    device, executable, times, arguments = sys.argv[1:]
    return told(device, Path(executable), Path(times), shlex.split(arguments))


if __name__ == "__main__":
    sys.exit(main())
