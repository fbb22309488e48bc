"""The whole way: an nvcc command line, a search, the winners in the program, from Python, and in an exported header."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.device_cuda.test_header import headers

from .conftest import Kw
from .test_run import counted

SMOOTH = Path(__file__).parents[2] / "examples" / "smooth.cu"


@pytest.mark.slow
def test_from_a_command_line_of_nvcc_to_a_faster_program(kw: Kw, tmp_path: Path) -> None:
    source = tmp_path / "smooth.cu"
    source.write_text(SMOOTH.read_text())
    flags = ("-O3", "-std=c++17", "-gencode", "arch=compute_90,code=sm_90")
    made = kw("compile", *flags, source, "-o", "app", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    plain = kw("run", "./app", "--", 512, 32, cwd=tmp_path)
    found = kw(
        "evolve",
        *flags,
        source,
        "--case",
        "300 8",
        "--held-out",
        "1000 4",
        "--evaluations",
        60,
        "--",
        512,
        32,
        cwd=tmp_path,
    )
    assert found.returncode == 0, found.stderr
    carrying = kw("compile", *flags, source, "--with", "smooth-1", "-o", "faster", cwd=tmp_path)
    assert carrying.returncode == 0, carrying.stderr
    done = kw("run", "--report", "./faster", "--", 512, 32, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert counted(done.stderr)["winner"] == 1
    gain = re.search(r"us with them, ([\d.]+)x", done.stderr)
    assert gain is not None and float(gain[1]) > 1.05
    # A launch too small for what the winner's proof asks for: whatever its checks say, the output is the original's.
    small, small_plain = (
        kw("run", "--report", program, "--", 64, 4, cwd=tmp_path) for program in ("./faster", "./app")
    )
    assert small.stdout == small_plain.stdout and sum(map(counted(small.stderr).get, ("winner", "original"))) == 1  # type: ignore[arg-type]
    script = """
import numpy as np, kernelwright as kw
kernel = kw.compile("smooth.cu", arch="sm_90").kernel("smooth")
given, out = np.random.default_rng(1).random((32, 512), np.float32), np.zeros((2, 32, 512), np.float32)
with kw.Device("h200", winners=kw.winners("smooth-1")) as fast, kw.Device("h200") as plain:
    done = [d.launch(kernel, (2, 32), 256, (given, o, np.int32(512), np.int32(32), np.int32(4))) for d, o in zip((fast, plain), out)]
print(done[0].version, done[0].time_us < done[1].time_us, np.array_equal(*out))
"""
    python = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert re.fullmatch(r"smooth-1:v\d+ True True\n", python.stdout), python.stderr
    assert kw("export", "smooth-1", "-o", "out", cwd=tmp_path).returncode == 0
    check = tmp_path / "check.c"
    check.write_text('#include "out/kernel.h"\nint main(void) { return !smooth_launch; }\n')
    command = [sys.executable, "-m", "ziglang", "cc", "-c", f"-I{headers()}", check, "-o", tmp_path / "check.o"]
    subprocess.run(list(map(str, command)), check=True)
