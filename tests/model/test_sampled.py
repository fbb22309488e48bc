"""Estimates from a sample of a grid's blocks: near those of the whole grid, or not given at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelwright as kw
from kernelwright.device.virtual_gpu.gpu import Launched
from kernelwright.device.virtual_gpu.sampled_launch import LEAST, SHARE, draw
from kernelwright.errors import DeviceError, Misuse

SOURCE = """
extern "C" __global__ void alike(const float* a, float* o, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float s = a[y * n + x];
  if (x > 0) s += a[y * n + x - 1];
  if (y > 0) s += a[(y - 1) * n + x];
  for (int i = 0; i < 20; i++) s = s * 0.5f + a[y * n + (x + i) % n];
  o[y * n + x] = s;
}
extern "C" __global__ void uneven(float* o) {
  float s = 0;
  int rounds = blockIdx.x % 16 == 5 ? 5000 : 1;
  for (int i = 0; i < rounds; i++) s = s * 0.5f + i;
  o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void rare(const int* a, float* o) {
  float s = 0;
  if (blockIdx.x == 777) for (int i = 0; i < 1000; i++) s += a[(i * 33 + threadIdx.x) % 64];
  o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void in_a_row(volatile int* ready) {
  if (blockIdx.x > 0) while (!ready[blockIdx.x - 1]) {}
  ready[blockIdx.x] = 1;
}
extern "C" __global__ void beyond(float* o, int n) { o[(long long)blockIdx.x * n] = 1; }
"""
BLOCKS = LEAST * SHARE


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> kw.Program:
    source = tmp_path_factory.mktemp("sampled") / "kernels.cu"
    source.write_text(SOURCE)
    return kw.compile(source)


@pytest.fixture
def device() -> Iterator[kw.Device]:
    with kw.Device("h200", budget=2_000_000) as device:
        yield device


def test_blocks_that_are_alike_stand_for_all(kernels: kw.Program, device: kw.Device) -> None:
    rng = np.random.default_rng(1)
    cells, out = rng.random((256, 1024), np.float32), np.full((256, 1024), 7, np.float32)
    arguments = (cells, out, 1024)
    found = device.estimate(kernels.kernel("alike"), (8, 256), 128, arguments)
    assert (out == 7).all()
    assert found.sources["blocks"] == f"{LEAST} of 2,048 blocks"
    assert device.estimate(kernels.kernel("alike"), (8, 256), 128, arguments) == found
    whole = device.launch(kernels.kernel("alike"), (8, 256), 128, arguments)
    assert isinstance(whole, Launched) and whole.estimate is not None
    assert found.time_us == pytest.approx(whole.time_us, rel=0.02)
    assert sum(found.instructions.values()) == pytest.approx(sum(whole.estimate.instructions.values()), rel=0.01)
    assert "blocks" not in whole.estimate.sources


def test_blocks_that_are_not_alike_all_run(kernels: kw.Program, device: kw.Device) -> None:
    kernel, out = kernels.kernel("uneven"), np.zeros(1024 * 64, np.float32)
    found = device.estimate(kernel, 1024, 64, (out,))
    assert "blocks" not in found.sources
    assert not out.any()
    assert found == device.launch(kernel, 1024, 64, (out,)).estimate


def test_code_that_no_sampled_block_runs_may_matter(kernels: kw.Program, device: kw.Device) -> None:
    arguments = (np.arange(64, dtype=np.int32), np.zeros(1024 * 64, np.float32))
    found = device.estimate(kernels.kernel("rare"), 1024, 64, arguments)
    assert "blocks" not in found.sources


def test_blocks_that_wait_for_each_other_all_run(kernels: kw.Program, device: kw.Device) -> None:
    kernel, ready = kernels.kernel("in_a_row"), np.zeros(BLOCKS, np.int32)
    found = device.estimate(kernel, BLOCKS, 32, (ready,))
    assert "blocks" not in found.sources
    assert not ready.any()


def test_a_small_grid_runs_whole(kernels: kw.Program, device: kw.Device) -> None:
    out = np.zeros((BLOCKS - 1) * 64, np.float32)
    assert "blocks" not in device.estimate(kernels.kernel("uneven"), BLOCKS - 1, 64, (out,)).sources


def test_a_launch_that_faults_has_no_estimate(kernels: kw.Program, device: kw.Device) -> None:
    with pytest.raises(DeviceError, match="stops with a fault"):
        device.estimate(kernels.kernel("beyond"), BLOCKS, 32, (np.zeros(8, np.float32), 1000))


def test_what_cannot_estimate_says_so(kernels: kw.Program) -> None:
    with kw.Device("h200", timing=False) as device, pytest.raises(Misuse, match="without timing"):
        device.estimate(kernels.kernel("uneven"), BLOCKS, 32, (np.zeros(BLOCKS * 32, np.float32),))


@given(st.integers(1, 1 << 40), st.integers(1, 512), st.integers(0, 5))
def test_every_part_of_the_grid_has_its_block(blocks: int, size: int, seed: int) -> None:
    size = min(size, blocks)
    drawn = draw(blocks, size, seed)
    assert drawn == draw(blocks, size, seed)
    assert all(k * blocks // size <= n < (k + 1) * blocks // size for k, n in enumerate(drawn))
