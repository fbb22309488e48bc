"""``kw breed`` where a stand-in for the driver is: populations become cubins, are loaded and launched, and their answers judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.breeding.back_end_table import BACKENDS

from .conftest import Fake


# NVRTC asks the driver's library for more than the stand-in has, and crashes.
@pytest.mark.parametrize("backend", [row.name for row in BACKENDS.values() if row.needs_gpu and row.name != "nvrtc"])
def test_a_population_goes_to_the_gpu(backend: str, fake: Fake, tmp_path: Path) -> None:
    """Its kernels leave what was there, so that all programs have the fitness of zeros."""
    if missing := BACKENDS[backend].compiler().missing():
        pytest.skip(missing)
    given = ["--backend", backend, "--generations", "1", "--population", "30", "--jobs", "1", "--no-cache", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "kernelwright", "breed", "multiplier5", *given],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr  # the target is not reached
    found = json.loads(done.stdout)
    assert found["evaluations"] == 30 and found["rejected"] == {} and found["backend"] == backend
    assert found["compile_seconds"] > 0 and found["run_seconds"] > 0
    assert "load cubin" in fake.calls and "function population0" in fake.calls
