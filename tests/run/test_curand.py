"""Programs that call cuRAND's host interface and NVTX."""

from __future__ import annotations

from pathlib import Path

from .conftest import Here

RANDOM = r"""
#include <curand.h>
#include <curand_kernel.h>
#include <nvtx3/nvToolsExt.h>
#include <cmath>
#include <cstdio>
#include <vector>
enum { N = 20000 };
template <typename T> void show(const char *what, const std::vector<T> &v)
{
    double sum = 0, squares = 0, low = v[0], high = v[0];
    for (T x : v) sum += x, squares += (double)x * x, low = fmin(low, x), high = fmax(high, x);
    double mean = sum / v.size();
    printf("%s %.1f %.1f %d %d\n", what, mean, sqrt(squares / v.size() - mean * mean), low > 0, high <= 1);
}
template <typename T> std::vector<T> back(T *at)
{
    std::vector<T> v(N);
    cudaMemcpy(v.data(), at, N * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}
int main()
{
    nvtxRangePushA("all");
    curandGenerator_t a, b, host, none;
    float *f;
    double *d;
    unsigned *u;
    cudaMalloc(&f, N * sizeof *f);
    cudaMalloc(&d, N * sizeof *d);
    cudaMalloc(&u, N * sizeof *u);
    curandCreateGenerator(&a, CURAND_RNG_PSEUDO_DEFAULT);
    curandCreateGenerator(&b, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetPseudoRandomGeneratorSeed(a, 7);
    curandSetPseudoRandomGeneratorSeed(b, 7);
    curandGenerateUniform(a, f, N);
    std::vector<float> first = back(f);
    show("uniform", first);
    curandGenerateUniform(a, f, N);
    std::vector<float> second = back(f);
    curandGenerateUniform(b, f, N);
    printf("again %d, goes on %d\n", first == back(f), first != second);
    curandGenerateUniformDouble(a, d, N);
    show("double", back(d));
    curandGenerateNormal(a, f, N, 5.f, 2.f);
    show("normal", back(f));
    curandGenerateLogNormalDouble(a, d, N, 0, 0.25);
    show("log-normal", back(d));
    curandGeneratePoisson(a, u, N, 9);
    show("poisson", back(u));
    curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    std::vector<float> own(N);
    curandGenerateUniform(host, own.data(), N);
    show("host", own);
    printf("%d %d %d %d\n", curandGenerateNormal(a, f, 3, 0, 1), curandCreateGenerator(&none, CURAND_RNG_QUASI_SOBOL32),
           curandGenerate(NULL, u, 1), curandDestroyGenerator(a));
    nvtxRangePop();
}
"""


def test_random_numbers(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(RANDOM)
    ran = run("app.cu", "-lcurand", "-lnvToolsExt")
    assert ran.code == 0
    assert ran.lines == [
        "uniform 0.5 0.3 1 1",
        "again 1, goes on 1",
        "double 0.5 0.3 1 1",
        "normal 5.0 2.0 0 0",
        "log-normal 1.0 0.3 1 0",
        "poisson 9.0 3.0 0 0",
        "host 0.5 0.3 1 1",
        "105 103 101 0",
    ]
    assert ran.err == "kw: cuRAND's quasi-random generators are not implemented: take a pseudo-random one\n"
