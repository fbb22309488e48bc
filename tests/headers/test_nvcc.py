"""nvcc as the judge of our tables: what we say is CUDA, nvcc compiles too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .promises import GROUPS, source

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")]


@pytest.mark.parametrize("group", GROUPS)
def test_nvcc_knows_what_we_promise(group: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.cu"
    path.write_text(source(group, nvcc=True))
    command = [
        "nvcc",
        "-ptx",
        "-arch=sm_80",
        "-std=c++17",
        "-w",
        "--expt-relaxed-constexpr",
        str(path),
        "-o",
        str(tmp_path / "calls.ptx"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
