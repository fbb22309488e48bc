"""A capture that every test may read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.evaluate.capture.capture import Capture
from tests.evaluate.recording import record


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "app.capture"
    record(path)
    return path


@pytest.fixture
def capture(recorded: Path) -> Iterator[Capture]:
    with Capture.read(recorded) as capture:
        yield capture
