"""``kw evolve`` of a program that reads a row before its image, on the first row of which it does not use it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_evolve import kw, rows

APP = """
#include <cstdio>
__global__ void blur(float *out, const float *in, int columns) {
  __shared__ float above[64];
  int t = threadIdx.x, i = blockIdx.x * columns + t;
  above[t] = in[i - columns];
  __syncthreads();
  if (blockIdx.x == 0) above[t] = in[i];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < 8; k++) sum += above[t] * k;
  out[i] = sum + in[i]; }
int main() {
  const int rows = 4, columns = 64;
  float *in, *out;
  cudaMallocManaged(&in, rows * columns * sizeof(float));
  cudaMallocManaged(&out, rows * columns * sizeof(float));
  for (int i = 0; i < rows * columns; i++) in[i] = i % 37;
  blur<<<rows, columns>>>(out, in, columns);
  cudaDeviceSynchronize();
  printf("%g\\n", out[100]);
}
"""
LINE = "the original reads past its buffers, at blur.cu:6, as GPUs let it"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("past")
    (made / "blur.cu").write_text(APP)
    return made


def test_it_is_evolved_and_everybody_says_how(folder: Path) -> None:
    done = kw(folder, "evolve", "blur.cu", "--evaluations", "16", "--seed", "2", "--keep-flags", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("past") == done.stderr.count(LINE) == 1, done.stderr
    result = json.loads(done.stdout)
    assert result["speedup"] > 1 and result["label"] == "as safe as the original"
    assert result["proven"]["past buffers"] == "passed" and result["proven"]["bounds"] == "passed"
    assert LINE in kw(folder, "show", result["run"]).stdout
    assert LINE in (folder / result["report"]).read_text()
    readme = (folder / result["export"] / "README.md").read_text()
    assert "reads past its buffers" in readme and "blur.cu:6" in readme
    assert (
        json.loads(kw(folder, "prove", f"{result['run']}:{result['best']}", "--json").stdout)["label"]
        == result["label"]
    )


@pytest.mark.slow
def test_it_is_resumed(folder: Path) -> None:
    command = [
        "evolve",
        "blur.cu",
        "--evaluations",
        "12",
        "--seed",
        "1",
        "--keep-flags",
        "--given-data",
        "--name",
        "cut",
        "--no-report",
    ]
    running = subprocess.Popen(
        [sys.executable, "-m", "kernelwright", *command], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        journal, until = folder / "kw-runs" / "cut" / "journal.db", time.monotonic() + 120
        while not (journal.exists() and rows(journal) > 3):
            assert running.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    finally:
        running.kill()
    resumed = kw(folder, "evolve", "--resume", "kw-runs/cut", "--no-report", "--json")
    assert resumed.returncode == 0, resumed.stderr
    whole = kw(folder, "evolve", *command[1:-3], "--name", "whole", "--no-report", "--json")
    one, other = json.loads(resumed.stdout), json.loads(whole.stdout)
    same = ("speedup", "label", "edits", "error")
    assert [one[name] for name in same] == [other[name] for name in same]
    assert LINE in kw(folder, "show", "cut").stdout
