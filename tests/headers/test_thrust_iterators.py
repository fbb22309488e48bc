"""thrust's iterators that others stand behind, on the device and on the host: against what they stand for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kernelwright.executable import build_executable
from kernelwright.pipeline import compile as compile_program
from tests.headers.test_thrust import run

ZIPPED = """
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>
#include <thrust/copy.h>
#include <thrust/for_each.h>
#include <thrust/generate.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <cstdio>
typedef thrust::tuple<float, int> Both;
struct Product { __host__ __device__ float operator()(const Both &t) const { return thrust::get<0>(t) * thrust::get<1>(t); } };
struct Sum { template <class T> __host__ __device__ void operator()(T t) const { thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t) + 1; } };
struct Seven { __host__ __device__ Both operator()() const { return thrust::make_tuple(2.5f, 7); } };
typedef thrust::device_vector<int>::iterator Place;
typedef thrust::iterator_difference<Place>::type Distance;
static_assert(std::is_same_v<Distance, std::ptrdiff_t> && std::is_same_v<thrust::iterator_value_t<Place>, int>);
static_assert(std::is_same_v<thrust::iterator_reference<Both *>::type, Both &> && std::is_same_v<thrust::iterator_pointer<Both *>::type, Both *>);
static_assert(std::is_same_v<thrust::iterator_value<thrust::counting_iterator<Distance>>::type, Distance>);
static_assert(std::is_same_v<thrust::iterator_traits<thrust::permutation_iterator<Place, Place>>::value_type, int>);
struct Odd { __host__ __device__ bool operator()(const Both &t) const { return thrust::get<1>(t) % 2; } };
int main() {
    const int n = 1000;
    thrust::device_vector<float> a(n), c(n);
    thrust::device_vector<int> b(n), order{900, 5, 0};
    thrust::sequence(b.begin(), b.end());
    thrust::transform(b.begin(), b.end(), a.begin(), thrust::negate<float>());
    auto z = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
    thrust::transform(z, z + n, c.begin(), Product());
    printf("%g ", (float)c[10]);                                                         // -10 * 10
    auto three = thrust::make_zip_iterator(a.begin(), b.begin(), c.begin());
    thrust::for_each(three, three + n, Sum());
    printf("%g ", (float)c[10]);                                                         // -10 + 10 + 1
    thrust::generate(z, z + 5, Seven());
    printf("%g %d %d\\n", (float)a[4], (int)b[4], (int)b[5]);
    auto p = thrust::make_permutation_iterator(b.begin(), order.begin());
    printf("%d ", thrust::reduce(p, p + 3));                                             // 900 + 5 + 7
    thrust::copy(p, p + 3, b.begin() + 10);
    thrust::transform(p, p + 3, p, thrust::negate<int>());
    printf("%d %d ", (int)b[10], (int)b[900]);
    printf("%g\\n", thrust::transform_reduce(z + 20, z + 23, Product(), 0.f, thrust::plus<float>()));
    auto end = thrust::remove_if(z, z + n, Odd());
    thrust::sort(z, end);
    printf("%d %g %d %g %d\\n", (int)(end - z), (float)a[0], (int)b[0], (float)a[400], (int)b[400]);
    thrust::transform(z, z + 3, c.begin(), thrust::make_zip_function([] __device__(float x, int y) { return x + y + 0.5f; }));
    printf("%g ", (float)c[1]);
    thrust::host_vector<float> ha(4, 1.5f), hc(4);
    thrust::host_vector<int> hb(4);
    int number = 3;
    thrust::generate(hb.begin(), hb.end(), [&] { return number *= 2; });
    auto hz = thrust::make_zip_iterator(ha.begin(), hb.begin());
    thrust::transform(hz, hz + 4, hc.begin(), Product());
    printf("%g %g %d\\n", hc[0], hc[3], (int)(hz + 4 - hz));
}
"""


def sorted_rest() -> list[tuple[float, int]]:
    """What is left of the pairs of the program when those with an odd number are gone, in order."""
    b = list(range(1000))
    a = [float(-n) for n in b]
    a[:5], b[:5] = [2.5] * 5, [7] * 5
    b[10:13] = [b[n] for n in (900, 5, 0)]
    for n in (900, 5, 0):
        b[n] = -b[n]
    return sorted(pair for pair in zip(a, b, strict=True) if pair[1] % 2 == 0)


def test_iterators_that_others_stand_behind(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(ZIPPED)
    build_executable(compile_program(tmp_path / "app.cu"), [], tmp_path / "app")
    done: subprocess.CompletedProcess[str] = run(tmp_path / "app")
    left = sorted_rest()
    assert done.stdout.splitlines() == [
        "-100 1 2.5 7 5",
        f"912 900 -900 {-(20 * 20 + 21 * 21 + 22 * 22)}",
        f"{len(left)} {left[0][0]:g} {left[0][1]} {left[400][0]:g} {left[400][1]}",
        "0.5 9 72 4",
    ], done.stderr
