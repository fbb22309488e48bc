"""Features of CUDA and of its host compilers that programs use, each as a program that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cuda.openmp import find_openmp

from .conftest import Here, kw

KERNELS = r"""
#include <cstdio>
#include <cuda.h>
extern __device__ int counter;
extern __constant__ float weight[2];
extern __device__ float scale(float x, int i);
void shift(float *x);
int count();
__global__ void change(float *x)
{
    x[threadIdx.x] = scale(x[threadIdx.x], threadIdx.x & 1) + weight[0];
    atomicAdd(&counter, 1);
}
int main()
{
    uint64_t n = 4; // of <cuda.h>
    float *x;
    cudaMallocManaged(&x, n * sizeof *x);
    for (int i = 0; i < 4; i++) x[i] = i;
    change<<<1, 4>>>(x);
    shift(x);
    cudaDeviceSynchronize();
    printf("%g %g %g %g, %d\n", x[0], x[1], x[2], x[3], count());
}
"""

FUNCTIONS = """
__device__ int counter;
static __device__ int offset = 100;
__constant__ float weight[2] = {1, 2};
static __device__ float twice(float x) { return 2 * x; }
__device__ float scale(float x, int i) { atomicAdd(&counter, 10); return twice(x) * weight[i]; }
__global__ void add(float *x) { x[threadIdx.x] += offset; }
void shift(float *x) { add<<<1, 4>>>(x); }
int count() { int c; cudaMemcpyFromSymbol(&c, counter, sizeof c); return c; }
"""


def test_device_functions_and_variables_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(KERNELS)
    (tmp_path / "functions.cu").write_text(FUNCTIONS)
    ran = kw("run", "-rdc=true", "app.cu", "functions.cu", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err) == (0, "101 105 105 113, 44\n", "")


OPENMP = r"""
#include <omp.h>
#include <stdio.h>
int main(void)
{
    double from = omp_get_wtime(), sum = 0;
    omp_lock_t lock;
    omp_set_num_threads(4);
    omp_init_lock(&lock);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) {
        omp_set_lock(&lock);
        sum += i;
        omp_unset_lock(&lock);
    }
    printf("%g %d %d %d\n", sum, omp_get_thread_num(), omp_get_num_threads(), omp_get_wtime() >= from);
    return 0;
}
"""


def test_openmp_in_host_code_without_its_runtime_is_run_by_one_thread(
    tmp_path: Path, run: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelwright.cuda.openmp.find_openmp", lambda: None)
    (tmp_path / "app.c").write_text(OPENMP)
    ran = run("-Xcompiler", "-fopenmp", "-lgomp", "app.c")
    assert (ran.code, ran.out) == (0, "4950 0 1 1\n")
    assert (
        "-fopenmp (loops marked for OpenMP run on one thread; on several with pip install 'kernelwright[openmp]')"
        in ran.err
    )


THREADS = r"""
#include <omp.h>
#include <cstdio>
#ifdef _OPENMP
template <typename T> __global__ void add(T *x, T by) { x[threadIdx.x] += by; }
#endif
int main()
{
    int seen[4] = {0, 0, 0, 0}, team = 0;
    long sum = 0;
    double from = omp_get_wtime();
    omp_set_num_threads(4);
#pragma omp parallel
    {
        int t = omp_get_thread_num(), *d;
        cudaMalloc(&d, 32 * sizeof(int));
        cudaMemset(d, 0, 32 * sizeof(int));
        for (int i = 0; i < 20; i++) add<int><<<1, 32>>>(d, t + 1);
        cudaMemcpy(&seen[t], d + 5, sizeof(int), cudaMemcpyDeviceToHost);
        cudaFree(d);
#pragma omp single
        team = omp_get_num_threads();
    }
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
    for (int i = 0; i < 1000; i++) sum += i;
    printf("%d, %d %d %d %d, %ld %d\n", team, seen[0], seen[1], seen[2], seen[3], sum, omp_get_wtime() >= from);
}
"""


@pytest.mark.skipif(find_openmp() is None, reason="OpenMP's runtime is not installed: kernelwright[openmp]")
def test_openmp_in_host_code_with_its_runtime(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(THREADS)
    (tmp_path / "app.c").write_text(OPENMP)
    for _ in range(3):
        ran = run("-Xcompiler", "-fopenmp", "-lgomp", "app.cu")
        assert (ran.code, ran.lines, ran.err) == (0, ["4, 20 40 60 80, 499500 1"], "")
    ran = run("-Xcompiler", "-fopenmp", "-lgomp", "app.c")
    assert (ran.code, ran.out) == (0, "4950 0 1 1\n")  # in each region several, outside of it one
    assert run("app.c").out == "4950 0 1 1\n"  # without the flag, one


HEAP = r"""
#include <cstdio>
__device__ char *kept;
__global__ void keep() { kept = new char[100]; for (int i = 0; i < 100; i++) kept[i] = i; }
__global__ void use(int *out) { int s = 0; for (int i = 0; i < 100; i++) s += kept[i]; delete[] kept; *out = s; }
int main()
{
    int *p, h;
    cudaMalloc(&p, sizeof h);
    keep<<<1, 1>>>();
    use<<<1, 1>>>(p);
    cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
}
"""


def test_memory_that_kernels_take_is_there_for_later_ones(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(HEAP)
    ran = kw("run", "--report", "app.cu", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "4950\n") and "use" in ran.err
    assert kw("check", "app.cu", cwd=tmp_path).code == 0
    assert kw("capture", "app.cu", "-o", "app.kwcap", cwd=tmp_path).code == 0
    replayed = kw("replay", "app.kwcap", cwd=tmp_path)
    assert replayed.code == 0, replayed.out + replayed.err


NAMES_OF_ERRORS = """
#include <cstdio>
__device__ __forceinline__ void check(cudaError_t code) {
  if (code != cudaSuccess) printf("%s: %s\\n", cudaGetErrorName(code), cudaGetErrorString(code));
}
__global__ void k(int code) { check((cudaError_t)code); }
int main() {
  for (int code : {0, 2, 69, 12345}) k<<<1, 1>>>(code);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def test_errors_have_names_in_device_code(tmp_path: Path) -> None:
    """In a program whose kernels launch none, too: checks like these are written for others."""
    (tmp_path / "errors.cu").write_text(NAMES_OF_ERRORS)
    ran = kw("run", "errors.cu", "--device", "h200", cwd=tmp_path)
    assert (ran.code, ran.lines) == (0, [
        "cudaErrorMemoryAllocation: out of memory",
        "cudaErrorLaunchPendingCountExceeded: too many pending device-side launches",
        "unrecognized error code: unrecognized error code",
    ])  # fmt: skip
