"""Names of the C++ library in kernels, as ``cuda::std`` has them: with our headers as with NVIDIA's."""

from __future__ import annotations

from pathlib import Path

from tests.nvidia_extra import needs_nvidias_headers

from .conftest import Here

PROGRAM = r"""
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/functional>
#include <cuda/std/optional>
#include <cuda/std/bit>
#include <cuda/std/climits>
#include <cuda/std/cfloat>
#include <cuda/std/cmath>
#include <cuda/std/numeric>
#include <cuda/std/span>
#include <cuda/std/limits>
#include <cuda/std/utility>
#include <cstdio>
template <class F> __device__ float twice(F f, float x) { return f(x, f(x, 1.f)); }
__device__ cuda::std::tuple<int, float> two(int i) { return {i, i * 0.5f}; }
__device__ cuda::std::optional<int> even(int i) { if (i % 2) return cuda::std::nullopt; return i; }
__global__ void k(float *out, int n) {
  cuda::std::array<float, 4> a{1, 2, 3, 4};
  a[n % 4] += 10; float s = 0; for (float x : a) s += x;
  auto [i, h] = two(n);
  out[0] = s; out[1] = i + h + cuda::std::get<0>(two(3)) ;
  out[2] = twice(cuda::std::multiplies<float>{}, 3.f) + twice(cuda::std::plus<>{}, 2.f);
  out[3] = even(n).value_or(-1); out[4] = even(n + 1).has_value() ? *even(n + 1) : 0;
  out[5] = cuda::std::popcount(unsigned(n)) + cuda::std::countl_zero(1u) + cuda::std::bit_cast<unsigned>(1.f) % 7;
  out[6] = INT_MAX == cuda::std::numeric_limits<int>::max(); out[7] = FLT_MAX > 1e30f;
  out[8] = cuda::std::sqrt(16.f) + cuda::std::fabs(-2.f) + cuda::std::max(1, 2);
  out[9] = cuda::std::gcd(12, 18);
  cuda::std::span<float> sp(out, 10); out[10] = sp.size() + sp[9] + sp.subspan(2, 3).size();
  cuda::std::swap(out[0], out[1]); 
}
int main() { float *p; cudaMallocManaged(&p, 64); k<<<1, 1>>>(p, 5); cudaDeviceSynchronize(); for (int i = 0; i < 11; i++) printf("%g ", p[i]); puts(""); }
"""


def test_names_of_the_library(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran = run("app.cu", "-std=c++20")
    assert (ran.code, ran.out.split()) == (0, ["10.5", "20", "14", "-1", "6", "37", "1", "1", "8", "6", "19"]), ran.err


def test_with_nvidias_headers_the_numbers_are_the_same(tmp_path: Path, run: Here) -> None:
    needs_nvidias_headers()
    (tmp_path / "app.cu").write_text(PROGRAM)
    ours, theirs = run("app.cu", "-std=c++20"), run("app.cu", "-std=c++20", "--headers", "nvidia")
    assert theirs.code == 0 and theirs.out == ours.out, theirs.err


def test_headers_that_need_a_newer_standard_are_empty_before(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(
        "#include <cuda/std/span>\n#include <cuda/std/bit>\n#include <cuda/std/optional>\nint main() {}\n"
    )
    assert run("app.cu", "-std=c++14").code == 0
