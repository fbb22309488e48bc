"""The headers work from C++11 to C++20, for every architecture, with the flags that programs use."""

from __future__ import annotations

import re

import pytest

from .conftest import HEADERS, CudaCompiler, Library, Pass, optimised
from .promises import source

_EVERYTHING = """
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <math_constants.h>
#include <cuComplex.h>
using namespace std;
template <class T> __global__ void kernel(T *p, int n) {
  __shared__ T tile[64];
  extern __shared__ float more[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = p[i] * T(2) + sqrt(p[i]) + sin(p[i]) + abs(p[i]) + pow(p[i], T(3)) + max(p[i], T(1)) + min(i, n);
  more[threadIdx.x] = floor(1.5f) + fmaf(1.0f, 2.0f, 3.0f) + CUDART_PI_F;
  __syncthreads();
  if (isnan(p[i]) || isinf(p[i]) || i >= n) return;
  atomicAdd(&p[i], tile[63 - threadIdx.x] + more[0]);
}
template __global__ void kernel<float>(float *, int);
template __global__ void kernel<double>(double *, int);
__global__ void __launch_bounds__(128, 2) bounded(const __grid_constant__ int n, float *__restrict__ p) { p[0] = n; }
__noinline__ __device__ float called(float x) { return x; }
__forceinline__ __device__ float inlined(float x) { return called(x); }
struct __align__(16) Aligned { float x; };
int main() {
  float *v = nullptr;
  kernel<<<1, 64, 256>>>(v, 4);
  bounded<<<1, 64>>>(1, v);
  checkCudaErrors(cudaDeviceSynchronize());
  printf("%g %g %g %d %d", max(2.0f, 1.0f), sqrt(2.0f), pow(2.0, 3), isnan(1.0), min(3, 4));
  printf("%g %g\\n", rsqrtf(4.0f), sinpi(0.5));
}
"""


@pytest.mark.parametrize("std", ["c++11", "c++14", "gnu++17", "c++20"])
@pytest.mark.parametrize("library", ["system", "libc++"])
@pytest.mark.parametrize("side", ["device", "host"])
def test_every_standard(std: str, library: Library, side: Pass, compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda(_EVERYTHING, std=std, library=library, side=side)
    assert compiled.ok, compiled.errors


@pytest.mark.parametrize("side", ["device", "host"])
def test_the_librarys_larger_headers(side: Pass, compile_cuda: CudaCompiler) -> None:
    text = """
    #include <complex>
    #include <iostream>
    #include <map>
    #include <random>
    #include <string>
    #include <vector>
    int main() {
      std::vector<float> v(4, 1.0f);
      std::map<std::string, std::complex<double>> m;
      std::default_random_engine engine;
      std::cout << std::abs(m["a"]) << std::normal_distribution<float>()(engine) << max(v[0], 2) << std::endl;
    }"""
    for library in ("system", "libc++"):
        compiled = compile_cuda(text, library=library, side=side)
        assert compiled.ok, compiled.errors


@pytest.mark.parametrize("arch", ["sm_75", "sm_86", "sm_90", "sm_100", "sm_121"])
def test_every_architecture(arch: str, compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda(source("warp", "synchronisation", "integers"), arch=arch)
    assert compiled.ok, compiled.errors


def test_reductions_before_sm_80_are_shuffles(compile_cuda: CudaCompiler) -> None:
    text = "__global__ void k(unsigned *p) { *p = __reduce_min_sync(0xff, *p); }"
    old, new = compile_cuda(text, arch="sm_75"), compile_cuda(text, arch="sm_80")
    assert old.ok and new.ok
    assert "@llvm.nvvm.shfl.sync.idx.i32(" in optimised(old.ir) and "redux" not in old.ir
    assert "@llvm.nvvm.redux.sync.umin(" in optimised(new.ir)


@pytest.mark.parametrize("flag", ["-fgpu-approx-transcendentals", "-D__USE_FAST_MATH__"])
def test_fast_math_takes_the_fast_functions(flag: str, compile_cuda: CudaCompiler) -> None:
    text = "__global__ void k(float *p) { *p = sinf(*p) + expf(p[1]) + powf(p[2], p[3]) + std::log(p[4]) + sin((double)p[5]); }"
    compiled = compile_cuda(text, flag)
    assert compiled.ok, compiled.errors
    called = set(re.findall(r"call .*@(__nv_\w+)\(", compiled.ir))
    assert called == {"__nv_fast_sinf", "__nv_fast_expf", "__nv_fast_powf", "__nv_fast_logf", "__nv_sin"}


def test_what_nvcc_includes_we_include(compile_cuda: CudaCompiler) -> None:
    """No #include at all: nvcc brings the C library's common headers, min, max, printf and the runtime."""
    text = """
    __global__ void k(int *p) { printf("%d\\n", *p); *p = max(*p, INT_MAX); }
    int main() {
      char text[8]; strcpy(text, "a"); srand(time(NULL)); clock_t now = clock();
      float *p = (float *)malloc(8); p[0] = sqrtf(2.0f) + min(rand(), 3) + (float)now; free(p);
      k<<<1, 1>>>(nullptr); printf("%zu", strlen(text)); return EXIT_SUCCESS;
    }"""
    for side, library in (("device", "system"), ("host", "system"), ("host", "libc++")):
        compiled = compile_cuda(text, side=side, library=library)
        assert compiled.ok, compiled.errors


def test_the_usual_names_are_the_main_header(compile_cuda: CudaCompiler) -> None:
    skip = ("thrust", "cub", "kernelwright")
    headers = sorted(str(h.relative_to(HEADERS)) for h in HEADERS.rglob("*.h"))
    headers = [h for h in headers if not h.startswith(skip)]
    for known in (
        "cuda.h",
        "device_launch_parameters.h",
        "sm_60_atomic_functions.h",
        "crt/device_functions.h",
        "math_constants.h",
    ):
        assert known in headers
    text = "\n".join(f"#include <{h}>" for h in headers) + "\n__global__ void k(float *p) { *p = threadIdx.x; }"
    for side in ("device", "host"):
        compiled = compile_cuda(text, side=side)
        assert compiled.ok, compiled.errors


def test_lines_are_the_users(compile_cuda: CudaCompiler) -> None:
    """Our functions carry no lines of their own: inlined, they are at the line of the call."""
    compiled = compile_cuda("__global__ void k(float *p) {\n  *p =\n    sqrtf(p[1]);\n}", "-gline-tables-only")
    sqrt = next(line for line in optimised(compiled.ir).splitlines() if "@llvm.sqrt.f32(" in line and "call" in line)
    location = re.search(r"!dbg (!\d+)", sqrt)
    assert location
    assert re.search(rf"^{location[1]} = !DILocation\(line: 3, column: 5, scope: !\d+\)$", optimised(compiled.ir), re.M)


@pytest.mark.parametrize("side", ["device", "host"])
def test_programs_see_nvccs_macros(side: Pass, compile_cuda: CudaCompiler) -> None:
    """Programs put qualifiers before functions where one of these is defined."""
    names = ("__NVCC__", "__CUDACC__", "__CUDACC_VER_MAJOR__", "CUDA_VERSION", "CUDART_VERSION")
    asked = "".join(f"#ifndef {name}\n#error {name} is not defined\n#endif\n" for name in names)
    compiled = compile_cuda(asked, side=side)
    assert compiled.ok, compiled.errors
