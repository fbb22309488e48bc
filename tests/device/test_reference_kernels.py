"""Whole CUDA kernels through the compiler and the reference executor, against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from tests.device.conftest import Launcher

Compile = Callable[[str], Module]
RNG = np.random.default_rng(7)
SCHEDULES = [Schedule.forward(), Schedule.reverse(), Schedule.random(3), Schedule.subwarp(4, 5)]


def test_vector_add(compiled: Compile, launch: Launcher) -> None:
    module = compiled(
        "__global__ void add(const float* a, const float* b, float* c, int n) {"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }"
    )
    a, b = RNG.random((2, 1000), dtype=np.float32)
    c = np.zeros(1001, np.float32)
    result = launch(module, "add", 8, 128, a, b, c, 1000)
    assert result.fault is None and result.text == ""
    assert np.array_equal(c[:1000], a + b) and c[1000] == 0
    (counts,) = result.block_counts.values()
    assert sorted(counts) == [1000, 1024, 1024]


REDUCTION = """
__global__ void reduce(const int* in, int* out, int n) {
    extern __shared__ int tile[];
    int t = threadIdx.x;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    tile[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s >= 32; s >>= 1) {
        if (t < s) tile[t] += tile[t + s];
        __syncthreads();
    }
    if (t < 32) {
        int v = tile[t];
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
        if (t == 0) atomicAdd(out, v);
    }
}
"""


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_reduction_under_every_schedule(compiled: Compile, launch: Launcher, schedule: Schedule) -> None:
    values = RNG.integers(-1000, 1000, 5000, dtype=np.int32)
    total = np.zeros(1, np.int32)
    result = launch(compiled(REDUCTION), "reduce", 3, 128, values, total, 5000, shared_bytes=512, schedule=schedule)
    assert result.fault is None
    assert total[0] == values.sum()


HOTSPOT = """
#define B 16
__global__ void hotspot(const float* power, const float* in, float* out, int n, float cap, float rx, float ry, float rz) {
    __shared__ float t[B][B];
    int x = blockIdx.x * (B - 2) + threadIdx.x - 1, y = blockIdx.y * (B - 2) + threadIdx.y - 1;
    int cx = min(max(x, 0), n - 1), cy = min(max(y, 0), n - 1);
    t[threadIdx.y][threadIdx.x] = in[cy * n + cx];
    __syncthreads();
    int tx = threadIdx.x, ty = threadIdx.y;
    if (tx > 0 && tx < B - 1 && ty > 0 && ty < B - 1 && x < n && y < n) {
        float c = t[ty][tx];
        out[y * n + x] = c + cap * (power[y * n + x] + (t[ty + 1][tx] + t[ty - 1][tx] - 2.0f * c) * ry
                                    + (t[ty][tx + 1] + t[ty][tx - 1] - 2.0f * c) * rx + (80.0f - c) * rz);
    }
}
"""


def test_hotspot(compiled: Compile, launch: Launcher) -> None:
    n = 30
    power, temperature = RNG.random((2, n, n), dtype=np.float32)
    out = np.zeros((n, n), np.float32)
    coefficients = (0.5, 0.125, 0.25, 0.0625)
    result = launch(compiled(HOTSPOT), "hotspot", (3, 3), (16, 16), power, temperature, out, n, *coefficients)
    assert result.fault is None
    t = np.pad(temperature.astype(np.float64), 1, mode="edge")
    c = t[1:-1, 1:-1]
    cap, rx, ry, rz = coefficients
    expected = c + cap * (
        power + (t[2:, 1:-1] + t[:-2, 1:-1] - 2 * c) * ry + (t[1:-1, 2:] + t[1:-1, :-2] - 2 * c) * rx + (80 - c) * rz
    )
    np.testing.assert_allclose(out, expected, rtol=1e-6)


NEEDLE = """
#define B 16
__global__ void needle(const int* ref, int* m, int cols, int penalty, int diagonal) {
    __shared__ int temp[B + 1][B + 1];
    int tx = threadIdx.x, bx = blockIdx.x, by = diagonal - blockIdx.x;
    int base = cols * B * by + B * bx;
    if (tx == 0) temp[0][0] = m[base];
    temp[tx + 1][0] = m[base + cols * (tx + 1)];
    temp[0][tx + 1] = m[base + tx + 1];
    __syncthreads();
    for (int d = 0; d < 2 * B - 1; d++) {
        int x = tx + 1, y = d - tx + 1;
        if (y >= 1 && y <= B)
            temp[y][x] = max(temp[y - 1][x - 1] + ref[base + cols * y + x],
                             max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
        __syncthreads();
    }
    for (int y = 1; y <= B; y++) m[base + cols * y + tx + 1] = temp[y][tx + 1];
}
"""


def test_needleman_wunsch(compiled: Compile, launch: Launcher) -> None:
    n, penalty = 33, 10
    module = compiled(NEEDLE)
    reference = RNG.integers(-4, 12, (n, n), dtype=np.int32)
    m = np.zeros((n, n), np.int32)
    m[0] = m[:, 0] = -penalty * np.arange(n)
    expected = m.copy()
    for y in range(1, n):
        for x in range(1, n):
            expected[y, x] = max(
                expected[y - 1, x - 1] + reference[y, x], expected[y, x - 1] - penalty, expected[y - 1, x] - penalty
            )
    for diagonal, blocks in ((0, 1), (1, 2)):
        assert launch(module, "needle", blocks, 16, reference, m, n, penalty, diagonal).fault is None
    # The last tile lies on the third diagonal, which starts at tile (1, 1).
    shifted = compiled(NEEDLE.replace("bx = blockIdx.x, by = diagonal", "bx = blockIdx.x + 1, by = diagonal"))
    assert launch(shifted, "needle", 1, 16, reference, m, n, penalty, 1).fault is None
    assert np.array_equal(m, expected)


PATHFINDER = """
__global__ void pathfinder(int steps, const int* wall, const int* source, int* result, int cols) {
    __shared__ int previous[64], next[64];
    int tx = threadIdx.x, x = blockIdx.x * (64 - 2 * steps) - steps + tx;
    bool valid = x >= 0 && x < cols;
    if (valid) previous[tx] = source[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= 62 - i && valid) {
            int w = x == 0 ? tx : tx - 1, e = x == cols - 1 ? tx : tx + 1;
            next[tx] = min(previous[w], min(previous[tx], previous[e])) + wall[cols * i + x];
            computed = true;
        }
        __syncthreads();
        if (i == steps - 1) break;
        if (computed) previous[tx] = next[tx];
        __syncthreads();
    }
    if (computed) result[x] = next[tx];
}
"""


def test_pathfinder(compiled: Compile, launch: Launcher) -> None:
    cols, steps = 150, 4
    wall = RNG.integers(0, 10, (steps, cols), dtype=np.int32)
    source = RNG.integers(0, 10, cols, dtype=np.int32)
    found = np.zeros(cols, np.int32)
    result = launch(compiled(PATHFINDER), "pathfinder", 3, 64, steps, wall, source, found, cols)
    assert result.fault is None
    expected = source.astype(np.int64)
    for row in wall:
        padded = np.pad(expected, 1, mode="edge")
        expected = np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:]) + row
    assert np.array_equal(found, expected)
