"""Records a whole program from Python: runs it on the virtual GPU and keeps every launch, as ``kw capture`` does."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kernelwright import __version__
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.capture.capture import ProgramIdentity
from kernelwright.evaluate.capture.session_recorder import Recorder
from kernelwright.evaluate.capture.writer import end_capture


def record(
    executable: Path, arguments: Sequence[str], target: Path, settings: Settings, *, folder: Path | None = None,
    name: str = "", limit_s: float | None = None,
) -> Path:  # fmt: skip
    """Runs ``executable`` in ``folder`` (else here) and writes ``target``. What it prints goes where ours does.

    Raises ``Misuse`` when the program fails, launches no kernel or takes more than ``limit_s`` seconds, ``ToolError`` when the
    disk is full, ``KeyboardInterrupt`` when it was interrupted.
    """
    target, executable = target.absolute(), executable.absolute()
    shown = name or executable.name
    identity = ProgramIdentity(
        (shown, *arguments), str(folder or Path.cwd()), settings.gpu.name, {"kernelwright": __version__}
    )

    def serve_connection(connection: socket.socket) -> bytes:
        part = target.with_name(f".{target.name}.{os.getpid()}")
        recorder = Recorder(part, identity)
        recorder.tells_overreads = True  # a run says so of its original
        serve(connection, lambda: settings, [recorder], finish=True)
        return json.dumps({"part": str(part), "launches": recorder.launches, "cut": recorder.is_cut_short}).encode()

    try:
        with _inside(folder):
            ran = run_program([str(executable), *arguments], settings, serve_connection, limit_s=limit_s)
        if ran.interrupted:
            raise KeyboardInterrupt
        command = " ".join([shown, *arguments])
        if ran.overdue:
            raise Misuse(
                f"the program has not ended within {limit_s:g} s: {command}",
                hint="give it arguments with which it does",
            )
        told = [json.loads(result) for result in ran.results if result]
        if any(one["cut"] for one in told):
            raise ToolError(
                f"there is no room for the recording of {command} in {target.parent}",
                hint="free space, or work in another folder, or record smaller inputs",
            )
        if ran.exit_code:
            raise Misuse(
                f"the program ends with exit code {ran.exit_code}: {command}",
                hint="it must run before it can be evolved",
            )
        parts = [one for one in told if one["launches"]]
        if not parts:
            raise Misuse(
                f"the program launches no kernel: {command}", hint="give it arguments, behind --, with which it does"
            )
        most = max(parts, key=lambda one: int(one["launches"]))
        end_capture(Path(most["part"]), ran.exit_code, {})
        os.replace(most["part"], target)
        return target
    finally:
        for part in target.parent.glob(f".{target.name}.*"):
            part.unlink(missing_ok=True)


@contextmanager
def _inside(folder: Path | None) -> Iterator[None]:
    before = os.getcwd()
    if folder is not None:
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
