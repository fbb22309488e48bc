"""``kw breed`` where a stand-in for the driver is: populations become cubins, are loaded and launched, and their answers judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.breeding.back_end_table import BACKENDS
from tests import kw_process

from .conftest import Fake


# NVRTC asks the driver's library for more than the stand-in has, and crashes.
@pytest.mark.parametrize("backend", [row.name for row in BACKENDS.values() if row.needs_gpu and row.name != "nvrtc"])
def test_a_population_goes_to_the_gpu(backend: str, fake: Fake, tmp_path: Path) -> None:
    """Its kernels leave what was there, so that all programs have the fitness of zeros."""
    if missing := BACKENDS[backend].compiler().missing():
        pytest.skip(missing)
    given = ["--backend", backend, "--generations", "1", "--population", "30", "--jobs", "1", "--no-cache", "--json"]
    done = kw_process.kw("breed", "multiplier5", *given, cwd=tmp_path, timeout=120)
    assert done.returncode == 1, done.stderr  # the target is not reached
    found = json.loads(done.stdout)
    assert found["evaluations"] == 30 and found["rejected"] == {} and found["backend"] == backend
    assert found["compile_seconds"] > 0 and found["run_seconds"] > 0
    assert "load cubin" in fake.calls and "function population0" in fake.calls
