"""A program with a limit of time: it is ended, with all it has started, and that is told."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from kernelwright.device.serving.run_program import run_program
from kernelwright.device.settings import Settings, virtual_gpu
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture.record_program import record

SETTINGS = Settings(virtual_gpu("h200"))


def test_one_that_waits_for_ever_is_ended() -> None:
    begin = time.monotonic()
    ran = run_program([sys.executable, "-c", "import time; time.sleep(60)"], SETTINGS, limit_s=0.3)
    assert ran.overdue and not ran.interrupted and ran.exit_code == 137
    assert time.monotonic() - begin < 30


def test_one_that_ends_in_time_is_not() -> None:
    ran = run_program([sys.executable, "-c", "raise SystemExit(3)"], SETTINGS, limit_s=60)
    assert not ran.overdue and ran.exit_code == 3


def test_a_recording_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"has not ended within 0.3 s"):
        record(
            Path(sys.executable), ["-c", "import time; time.sleep(60)"], tmp_path / "a.capture", SETTINGS, limit_s=0.3
        )
    assert not list(tmp_path.iterdir())
