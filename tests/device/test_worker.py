"""The worker process: what it does at its end, and what is said about it."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import tempfile
import time
from pathlib import Path

import pytest

from kernelwright.device.serving.worker import fork_worker, how_it_ended, limit_memory
from kernelwright.device.settings import Settings
from kernelwright.errors import ToolError


def status_of(child: int) -> int:
    return os.waitpid(child, 0)[1]


def test_ctrl_c_does_not_reach_a_worker() -> None:
    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)

    assert os.waitstatus_to_exitcode(status_of(fork_worker(work))) == 0


@pytest.mark.parametrize(
    "error", [ToolError("clear words", hint="do this"), MemoryError(), ValueError("a slip of ours")]
)
def test_an_error_is_told_and_the_process_ends(
    error: Exception, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the trace of a defect lies

    def work() -> None:
        raise error

    status = status_of(fork_worker(work))
    said = capfd.readouterr().err
    assert os.waitstatus_to_exitcode(status) == 3 and how_it_ended(status) == ""
    assert said.startswith("kw: ") and "Traceback" not in said
    expected = {ToolError: "clear words\nnext: do this", MemoryError: "no memory left", ValueError: "a slip of ours"}
    assert expected[type(error)] in said


@pytest.mark.parametrize(
    ("number", "text"),
    [(signal.SIGKILL, "memory runs out"), (signal.SIGABRT, "gave up"), (signal.SIGSEGV, "a defect in Kernelwright")],
)
def test_a_death_is_explained(number: signal.Signals, text: str) -> None:
    def work() -> None:
        # No core file, which takes hundreds of megabytes, and no traceback by pytest.
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), number)
        time.sleep(5)

    said = how_it_ended(status_of(fork_worker(work)))
    assert said.startswith(f"the device worker was ended by {number.name}; ") and text in said


def test_memory_is_limited() -> None:
    def work() -> None:
        limit_memory(Settings.for_device("h200", memory_bytes=64 << 20))
        try:
            kept = bytearray((64 << 30) + (3 << 30))
        except MemoryError:
            return
        raise AssertionError(len(kept))

    assert os.waitstatus_to_exitcode(status_of(fork_worker(work))) == 0
