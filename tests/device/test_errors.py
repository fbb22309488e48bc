"""What a program and a person learn of what went wrong."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from kernelwright.device.serving.errors import CudaError, Failure, defect
from kernelwright.device.serving.replies import WaitingError

SMALL, OTHER = Failure(CudaError.INVALID_VALUE, "small"), Failure(CudaError.INVALID_CONFIGURATION, "other")
LOST = Failure(CudaError.ILLEGAL_ADDRESS, "lost", is_sticky=True)


def test_the_first_error_is_told_once() -> None:
    error = WaitingError()
    assert error.tell() is None and error.untold is None
    error.keep(SMALL)
    error.keep(OTHER)
    assert error.untold is SMALL and not error.is_sticky
    assert error.tell() is SMALL and error.tell() is None and error.untold is None


def test_an_error_that_cuda_does_not_survive_stands_before_the_others_and_stays() -> None:
    error = WaitingError()
    error.keep(SMALL)
    error.keep(LOST)
    error.keep(SMALL)
    assert error.is_sticky and error.untold is LOST
    assert error.tell() is LOST and error.tell() is LOST and error.untold is None and error.is_sticky
    error.forget()
    assert error.tell() is None and not error.is_sticky
    error.keep_told(LOST)
    assert error.is_sticky and error.untold is None


def test_a_defect_that_happens_often_leaves_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def sentence(number: int) -> str:
        try:
            raise RuntimeError("broken")
        except RuntimeError as error:
            return defect(error)

    assert len({sentence(n) for n in range(5)}) == 1
    (file,) = tmp_path.glob("kernelwright-*.trace")
    assert re.fullmatch(
        rf"this is a defect in Kernelwright: RuntimeError: broken; please report it with {file}", sentence(5)
    )
    assert "Traceback" in file.read_text()
