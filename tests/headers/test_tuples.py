"""thrust's pairs and tuples with our own headers: the same in kernels as on the host, and as Python has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kernelwright as kw

SOURCE = """
#include <thrust/pair.h>
#include <thrust/tuple.h>
__host__ __device__ thrust::tuple<int, float, char> make(int i) { return {i, i * 0.5f, 'a'}; }
__host__ __device__ thrust::pair<int, double> half(int i) { return thrust::make_pair(i, i / 2.0); }
__host__ __device__ void all(int i, double *out) {
    int a; float b; char c; double d;
    thrust::tie(a, b, c) = make(i);
    out[0] = a; out[1] = b; out[2] = c;
    thrust::tie(a, d) = half(i);
    out[3] = a; out[4] = d;
    auto [p, q, r] = make(i + 1);
    out[5] = p; out[6] = q; out[7] = r;
    thrust::tuple<double, double> t = thrust::make_tuple(i, 2.5f);
    thrust::get<0>(t) += 1;
    out[8] = thrust::get<0>(t); out[9] = thrust::get<1>(t);
    out[10] = thrust::make_tuple(i, 2) < thrust::make_tuple(3, i);
    out[11] = half(i) < half(3); out[12] = half(i) >= half(3); out[13] = make(i) == make(3); out[14] = half(i) != half(3);
    thrust::pair<long, float> wide = half(i), other(7, 8);
    thrust::swap(wide, other);
    out[15] = wide.first; out[16] = thrust::get<1>(other);
    static_assert(thrust::tuple_size<decltype(t)>::value == 2);
    static_assert(std::is_same_v<thrust::tuple_element<1, thrust::pair<int, char>>::type, char>);
}
extern "C" __global__ void kernel(double *out) { all(threadIdx.x, out + threadIdx.x * 17); }
"""


def expected(i: int) -> list[float]:
    own, three = (i, i / 2), (3, 1.5)
    compared = [(i, 2) < (3, i), own < three, own >= three, i == 3, own != three]
    return [i, i * 0.5, ord("a"), i, i / 2, i + 1, (i + 1) * 0.5, ord("a"), i + 1, 2.5, *compared, 7, i / 2]


def test_pairs_and_tuples_in_kernels(tmp_path: Path) -> None:
    source = tmp_path / "tuples.cu"
    source.write_text(SOURCE)
    out = np.zeros((32, 17))
    done = kw.Device("h200").launch(kw.compile(source).kernel("kernel"), grid=1, block=32, args=(out,))
    assert done.fault is None, done.fault
    assert out.tolist() == [expected(i) for i in range(32)]
