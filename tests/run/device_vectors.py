"""What programs of these tests share: vectors of the host that go to device memory and are printed from there."""

from __future__ import annotations

VECTORS = r"""
#include <cstdio>
#include <vector>
#ifndef FORMAT
#define FORMAT "%g"
#endif
template <typename T> T *give(const std::vector<T> &v)
{
    T *at;
    cudaMalloc(&at, v.size() * sizeof(T));
    cudaMemcpy(at, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return at;
}
template <typename T> void show(const char *what, const T *at, int n)
{
    std::vector<T> v(n);
    cudaMemcpy(v.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s", what);
    for (T x : v) printf(" " FORMAT, (double)x);
    puts("");
}
"""
