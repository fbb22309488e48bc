"""Programs whose warps meet at different barriers and work on every GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.conftest import Here, kw

TWO = """
#include <cstdio>
__global__ void split(int *out, int threads) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;
  if (t < threads) {
    __syncthreads();
    out[t] = s[127 - t];
    return;
  }
  __syncthreads();
  out[t] = 2 * s[127 - t];
}
int main(int count, char **words) {
  int *out, back[128];
  cudaMalloc(&out, sizeof back);
  for (int i = 0; i < 3; i++) split<<<4, 128>>>(out, count > 1 ? 40 : 32);
  int code = cudaMemcpy(back, out, sizeof back, cudaMemcpyDefault);
  if (!code) printf("%d %d ", back[31], back[32]);
  printf("%d\\n", code);
}
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.cu"
    path.write_text(TWO)
    return path


def test_the_program_goes_on_and_it_is_told_once(two: Path, run: Here) -> None:
    ran = run("two.cu")
    assert (ran.code, ran.out) == (0, "96 190 0\n")
    said = ran.err.splitlines()
    assert len(said) == 2 and said[0].endswith(
        f"two.cu:8: kernel split: warps of a block wait at this barrier for others that wait at the one at {two}:12"
    )
    assert "--strict" in said[1] and "kw check" in said[1]


def test_strict_stops_there(two: Path, run: Here) -> None:
    ran = run("--strict", "two.cu")
    assert ran.out == "719\n" and "two.cu:12" in ran.err and "different barriers" in ran.err


def test_lanes_of_a_warp_that_meet_at_different_barriers_stop_it_always(two: Path, run: Here) -> None:
    assert run("two.cu", "--", "more").out == "719\n"


def test_check_finds_it(two: Path) -> None:
    ran = kw("check", str(two))
    assert ran.code == 1
    assert "two.cu:12: barrier: threads wait at different barriers" in ran.err and "two.cu:8" in ran.err
