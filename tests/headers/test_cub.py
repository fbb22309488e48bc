"""The part of cub that our own headers have, run by the virtual GPU against Python; sums of floats also against NVIDIA's cub, to the bit."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kernelwright as kw
from kernelwright.pipeline import CompileOptions
from tests.examples import first_of

from .conftest import CudaCompiler

ITEMS = 3

REDUCE = """
#include <cub/cub.cuh>
typedef cub::KeyValuePair<int, float> Pair;
extern "C" __global__ void reduce(const int *in, float *out, int valid) {
    typedef cub::BlockReduce<int, WIDTH, cub::BLOCK_REDUCE_RAKING, THREADS / WIDTH> Ints;
    typedef cub::BlockReduce<float, WIDTH, cub::BLOCK_REDUCE_WARP_REDUCTIONS, THREADS / WIDTH> Floats;
    typedef cub::BlockReduce<Pair, WIDTH, cub::BLOCK_REDUCE_WARP_REDUCTIONS, THREADS / WIDTH> Pairs;
    __shared__ union { typename Ints::TempStorage ints; typename Pairs::TempStorage pairs; } shared;
    int t = threadIdx.y * WIDTH + threadIdx.x, v = in[t], three[3] = {v, -v, t};
    float results[8];
    results[0] = Ints(shared.ints).Sum(v);
    __syncthreads();
    results[1] = Ints(shared.ints).Reduce(v, cub::Max());
    __syncthreads();
    results[2] = Ints(shared.ints).Reduce(v, cub::Min(), valid);
    __syncthreads();
    results[3] = Ints(shared.ints).Sum(v, valid);
    __syncthreads();
    results[4] = Ints(shared.ints).Sum(three);
    __syncthreads();
    Pair best = Pairs(shared.pairs).Reduce(Pair(t, v % 7), cub::ArgMax());
    results[5] = best.key;
    results[6] = best.value;
    results[7] = Floats().Sum(v * 0.1f);
    if (t == 0) for (int i = 0; i < 8; i++) out[i] = results[i];
}
"""

SCAN = """
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
struct Running { int total; __device__ int operator()(int block) { int before = total; total += block; return before; } };
extern "C" __global__ void scan(const int *in, int *out) {
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
    __shared__ typename Load::TempStorage load;
    __shared__ typename Store::TempStorage store;
    __shared__ typename Scan::TempStorage room;
    int v[ITEMS], w[ITEMS], one, total;
    Running running = {1000};
#define KEEP(number) __syncthreads(); Store(store).Store(out + number * THREADS * ITEMS, w); __syncthreads()
#define KEEP_ONE(number) w[0] = one, w[1] = w[2] = total; KEEP(number)
    Load(load).Load(in, v);
    Scan(room).InclusiveSum(v, w); KEEP(0);
    Scan(room).ExclusiveSum(v, w); KEEP(1);
    Scan(room).ExclusiveSum(v, w, running); KEEP(2);
    Scan(room).InclusiveScan(v, w, cub::Max()); KEEP(3);
    Scan(room).ExclusiveScan(v, w, -5, cub::Max()); KEEP(4);
    Scan(room).InclusiveSum(v[0], one, total); KEEP_ONE(5);
    Scan(room).ExclusiveSum(v[0], one, total); KEEP_ONE(6);
    Scan(room).ExclusiveScan(v[0], one, 7, cub::Sum()); KEEP_ONE(7);
    Scan(room).InclusiveSum(v[0], one, running); total = running.total; KEEP_ONE(8);
}
"""

WARP = """
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
extern "C" __global__ void warp(const int *in, int *out) {
    typedef cub::WarpReduce<int, 8> Reduce;
    typedef cub::WarpScan<int, 16> Scan;
    __shared__ typename Reduce::TempStorage reduce[8];
    __shared__ typename Scan::TempStorage scan[4];
    int t = threadIdx.x, v = in[t], before, total, with;
    int sum = Reduce(reduce[t / 8]).Sum(v), highest = Reduce(reduce[t / 8]).Reduce(v, cub::Max(), 5);
    out[t] = sum;
    out[64 + t] = highest;
    Scan(scan[t / 16]).ExclusiveSum(v, before, total);
    Scan(scan[t / 16]).InclusiveScan(v, with, cub::Max());
    out[128 + t] = before;
    out[192 + t] = total;
    out[256 + t] = with;
    out[320 + t] = Scan(scan[t / 16]).Broadcast(v, 3);
}
"""

TRAITS = """
#include <cub/cub.cuh>
template <class T> __device__ unsigned long long in_order(T value, T *back) {
    auto bits = reinterpret_cast<typename cub::Traits<T>::UnsignedBits &>(value);
    auto key = cub::Traits<T>::TwiddleIn(bits), other = cub::Traits<T>::TwiddleOut(key);
    *back = reinterpret_cast<T &>(other);
    return key;
}
extern "C" __global__ void order(const double *in, double *reals, int *ints, unsigned long long *keys) {
    int t = threadIdx.x;
    unsigned char small;
    keys[t] = in_order((int)in[t], &ints[t]);
    keys[32 + t] = in_order(in[t], &reals[t]);
    keys[64 + t] = in_order((unsigned char)(t * 8), &small);
    ints[t] += 1000 * small;
}
"""

DEVICE_WIDE = r"""
#include <cub/cub.cuh>
#include <cstdio>
struct Big { __host__ __device__ bool operator()(int x) const { return x > 50; } };
int main() {
  const int n = 3000;
  int h[n], *in, *out, *one; long long *sum;
  for (int i = 0; i < n; i++) h[i] = i * 37 % 101;
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, n * 4);
  cudaMalloc(&one, 4);
  cudaMalloc(&sum, 8);
  cudaMemcpy(in, h, n * 4, cudaMemcpyHostToDevice);
  void *t = nullptr; size_t b = 0; long long s; int m, k[n];
  cub::DeviceReduce::Sum(t, b, in, sum, n);
  cudaMalloc(&t, b);
  cub::DeviceReduce::Sum(t, b, in, sum, n);
  cudaMemcpy(&s, sum, 8, cudaMemcpyDeviceToHost);
  cub::DeviceReduce::Max(t, b, in, one, n);
  cudaMemcpy(&m, one, 4, cudaMemcpyDeviceToHost);
  printf("%lld %d ", s, m);
  cub::DeviceReduce::Min(t, b, in + 1, one, n - 1);
  cudaMemcpy(&m, one, 4, cudaMemcpyDeviceToHost);
  printf("%d ", m);
  cub::DeviceScan::ExclusiveSum(t, b, in, out, n);
  cudaMemcpy(k, out, n * 4, cudaMemcpyDeviceToHost);
  printf("%d %d %d ", k[0], k[1], k[n-1]);
  cub::DeviceScan::InclusiveScan(t, b, in, out, cub::Max(), n);
  cudaMemcpy(k, out, n * 4, cudaMemcpyDeviceToHost);
  printf("%d %d ", k[1], k[n-1]);
  cub::DeviceScan::ExclusiveScan(t, b, in, out, cub::Sum(), 5, n);
  cudaMemcpy(k, out, n * 4, cudaMemcpyDeviceToHost);
  printf("%d %d ", k[0], k[n-1]);
  cub::DeviceSelect::If(t, b, in, out, one, n, Big());
  cudaMemcpy(&m, one, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(k, out, n * 4, cudaMemcpyDeviceToHost);
  printf("%d %d %d ", m, k[0], k[m-1]);
  cub::TransformInputIterator<bool, Big, int *> flags(in, Big()); cub::CountingInputIterator<int> c(0);
  cub::DeviceSelect::Flagged(t, b, c, flags, out, one, n);
  cudaMemcpy(&m, one, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(k, out, n * 4, cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", m, k[0], k[m-1]);
}
"""

STANDARDS = ("c++11", "c++14", "c++17", "c++20")

# A block whose last warp is not full, one of less than a warp, and one of two dimensions: threads, width of the block.
SHAPES = ((256, 256), (40, 40), (7, 7), (96, 24), (1024, 1024))


def values(count: int) -> NDArray[np.int32]:
    return (np.arange(count, dtype=np.int64) * 7919 % 1009 - 500).astype(np.int32)


def run(tmp_path: Path, text: str, kernel: str, shape: tuple[int, int], *args: Any, headers: str = "own") -> None:
    source = tmp_path / f"{kernel}.cu"
    threads, width = shape
    source.write_text(f"#define THREADS {threads}\n#define WIDTH {width}\n#define ITEMS {ITEMS}\n{text}")
    program = kw.compile(source, options=CompileOptions(headers=headers))
    done = kw.Device("h200").launch(program.kernel(kernel), grid=1, block=(width, threads // width), args=args)
    assert done.fault is None, done.fault


@pytest.mark.parametrize("shape", SHAPES)
def test_what_blocks_reduce_to(tmp_path: Path, shape: tuple[int, int]) -> None:
    threads = shape[0]
    v, out, valid = values(threads), np.zeros(8, np.float32), max(1, threads - 3)
    run(tmp_path, REDUCE, "reduce", shape, v, out, valid)
    rest = [w - 7 * int(w / 7) for w in map(int, v)]
    expected = [
        v.sum(),
        v.max(),
        v[:valid].min(),
        v[:valid].sum(),
        sum(range(threads)),
        rest.index(max(rest)),
        max(rest),
    ]
    assert out[:7].tolist() == expected
    assert out[7] == pytest.approx(v.sum() * 0.1, abs=1e-2)


@pytest.mark.parametrize("shape", first_of([(40, 40), (256, 256), (96, 24)]))
def test_sums_of_floats_are_nvidias(tmp_path: Path, shape: tuple[int, int]) -> None:
    """The order of operands is that of cub's warp reductions."""
    pytest.importorskip("nvidia.cuda_cccl")
    v = values(shape[0])
    ours, theirs = np.zeros(8, np.float32), np.zeros(8, np.float32)
    run(tmp_path, REDUCE, "reduce", shape, v, ours, shape[0] - 3)
    run(tmp_path, REDUCE, "reduce", shape, v, theirs, shape[0] - 3, headers="nvidia")
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("threads", [256, 40, 7])
def test_what_blocks_scan_to(tmp_path: Path, threads: int) -> None:
    v, out = values(threads * ITEMS), np.zeros((9, threads, ITEMS), np.int32)
    run(tmp_path, SCAN, "scan", (threads, threads), v, out)
    with_own = np.cumsum(v)
    highest = np.maximum.accumulate(v)
    first = np.cumsum(v[::ITEMS])
    assert (out[0].ravel() == with_own).all()
    assert (out[1].ravel() == with_own - v).all()
    assert (out[2].ravel() == with_own - v + 1000).all()
    assert (out[3].ravel() == highest).all()
    assert out[4].ravel().tolist() == [-5, *(max(-5, int(h)) for h in highest[:-1])]
    assert (out[5, :, 0] == first).all() and (out[5:7, :, 1] == first[-1]).all()
    assert (out[6, :, 0] == first - v[::ITEMS]).all()
    assert (out[7, :, 0] == first - v[::ITEMS] + 7).all()
    before = 1000 + with_own[-1]
    assert (out[8, :, 0] == first + before).all() and out[8, 0, 1] == before + first[-1]


def test_what_logical_warps_come_to(tmp_path: Path) -> None:
    v, out = values(64), np.zeros((6, 64), np.int32)
    run(tmp_path, WARP, "warp", (64, 64), v, out)
    for first in range(0, 64, 8):
        assert out[0, first] == v[first : first + 8].sum() and out[1, first] == v[first : first + 5].max()
    for first in range(0, 64, 16):
        part, at = v[first : first + 16], slice(first, first + 16)
        assert out[2, at].tolist() == [0, *itertools.accumulate(part.tolist())][:16]
        assert (out[3, at] == part.sum()).all() and (out[4, at] == np.maximum.accumulate(part)).all()
        assert (out[5, at] == part[3]).all()


def test_algorithms_of_the_whole_device(tmp_path: Path) -> None:
    (tmp_path / "device.cu").write_text(DEVICE_WIDE)
    command = [sys.executable, "-m", "kernelwright", "run", "--device", "h200", str(tmp_path / "device.cu")]
    done = subprocess.run(command, capture_output=True, text=True)
    v = [i * 37 % 101 for i in range(3000)]
    before = sum(v[:-1])
    big = [x for x in v if x > 50]
    places = [i for i, x in enumerate(v) if x > 50]
    expected = [sum(v), max(v), min(v[1:]), 0, v[0], before, max(v[:2]), max(v), 5, before + 5]
    expected += [len(big), big[0], big[-1], len(places), places[0], places[-1]]
    assert [int(word) for word in done.stdout.split()] == expected, done.stderr


@pytest.mark.parametrize("std", STANDARDS)
def test_blocks_and_warps_in_every_standard(std: str, compile_cuda: CudaCompiler) -> None:
    text = f"#define THREADS 64\n#define WIDTH 32\n#define ITEMS {ITEMS}\n{REDUCE}{SCAN}{WARP}"
    for side in ("device", "host"):
        compiled = compile_cuda(text, side=side, std=std)
        assert compiled.ok, compiled.errors


def test_thrust_says_which_standard_it_needs(compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda("#include <thrust/sort.h>\n", std="c++14")
    assert not compiled.ok and "our thrust needs C++17: leave out -std, or give -std=c++17" in compiled.errors


OLD_THRUST = """
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
int main()
{
    thrust::device_vector<int> v(100, 2);
    printf("%d %ld\\n", (int)thrust::reduce(v.begin(), v.end()), __cplusplus);
}
"""


@pytest.mark.parametrize(("std", "newer"), first_of([("gnu++14", "gnu++17"), ("c++11", "c++17")], several=True))
def test_a_program_of_an_older_standard_is_compiled_as_one_that_thrust_can_be(
    std: str, newer: str, tmp_path: Path
) -> None:
    (tmp_path / "old.cu").write_text(OLD_THRUST)
    for what in (["run", "--device", "h200"], ["run", "--device", "h200"], ["compile", "-c", "-o", "old.o"]):
        command = [sys.executable, "-m", "kernelwright", *what, f"-std={std}", "old.cu"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ("200 201703\n" if what[0] == "run" else "")
        assert f"old.cu is compiled as {newer}, which our thrust needs, not as {std}\n" in done.stderr


def test_bits_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    v = np.sort(values(32).astype(np.float64)) / 4
    reals, ints, keys = np.zeros(32), np.zeros(32, np.int32), np.zeros((3, 32), np.uint64)
    run(tmp_path, TRAITS, "order", (32, 32), v, reals, ints, keys)
    assert (reals == v).all()
    assert ints.tolist() == [int(x) + 1000 * 8 * t for t, x in enumerate(v)]
    assert all((np.diff(row.astype(np.float64)) >= 0).all() for row in keys)
    assert (np.diff(keys[1].astype(object)) > 0).all()
