"""Programs that call cuFFT, as people write them: plans, layouts, in place and not, work areas, statuses, faults, real devices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.cuda.clang import find_clang
from kernelwright.errors import KernelwrightError

from .conftest import Here

COMMON = r"""
#include <cufftXt.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>
typedef std::complex<float> C;
typedef std::complex<double> Z;
template <typename T> T *give(const std::vector<T> &v)
{
    T *at;
    cudaMalloc(&at, v.size() * sizeof(T));
    cudaMemcpy(at, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return at;
}
template <typename T> std::vector<T> back(const T *at, size_t n)
{
    std::vector<T> v(n);
    cudaMemcpy(v.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}
template <typename T> void show(const char *what, const std::complex<T> *at, size_t n)
{
    printf("%s", what);
    for (auto x : back(at, n)) printf(" %.4f %.4f", (double)x.real() + 0.0, (double)x.imag() + 0.0);
    puts("");
}
template <typename T> void show(const char *what, const T *at, size_t n)
{
    printf("%s", what);
    for (auto x : back(at, n)) printf(" %.4f", (double)x + 0.0);
    puts("");
}
static float value(int i) { return (float)((i * 37 + 11) % 23) - 9; }
"""

TRANSFORMS = (
    COMMON
    + r"""
__global__ void scale(float2 *data, float by) { data[threadIdx.x].x *= by; data[threadIdx.x].y *= by; }
int main()
{
    cufftHandle plan;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    std::vector<C> c(24);
    std::vector<float> r(30);
    std::vector<double> d(30);
    for (int i = 0; i < 24; i++) c[i] = C(value(i), value(i + 100));
    for (int i = 0; i < 30; i++) d[i] = r[i] = value(i);
    // Two transforms of 12, there and back in place, in a stream, with a kernel between.
    C *data = give(c), *out = give(std::vector<C>(40));
    cufftComplex *at = (cufftComplex *)data;
    cufftPlan1d(&plan, 12, CUFFT_C2C, 2);
    cufftSetStream(plan, stream);
    cufftExecC2C(plan, at, (cufftComplex *)out, CUFFT_FORWARD);
    show("1d", out, 24);
    cufftExecC2C(plan, at, at, CUFFT_FORWARD);
    scale<<<1, 24, 0, stream>>>(at, 1.f / 12);
    cufftExecC2C(plan, at, at, CUFFT_INVERSE);
    show("back", data, 24);
    cufftDestroy(plan);
    // Two dimensions, real to complex: 5 x 6.
    float *real = give(r);
    cufftPlan2d(&plan, 5, 6, CUFFT_R2C);
    cufftExecR2C(plan, real, (cufftComplex *)out);
    show("2d", out, 20);
    cufftDestroy(plan);
    cufftPlan2d(&plan, 5, 6, CUFFT_C2R);
    cufftExecC2R(plan, (cufftComplex *)out, real);
    show("2d back", real, 30);
    cufftDestroy(plan);
    // The same in place: rows of 6 numbers are 8 apart.
    std::vector<float> padded(40, 1000);
    for (int i = 0; i < 30; i++) padded[i / 6 * 8 + i % 6] = r[i];
    float *inplace = give(padded);
    cufftPlan2d(&plan, 5, 6, CUFFT_R2C);
    cufftExecR2C(plan, inplace, (cufftComplex *)inplace);
    show("in place", (C *)inplace, 20);
    cufftDestroy(plan);
    // In place, a batch of two of 7: 8 apart.
    std::vector<float> two(16, 1000);
    for (int i = 0; i < 14; i++) two[i / 7 * 8 + i % 7] = r[i];
    float *batch = give(two);
    cufftPlan1d(&plan, 7, CUFFT_R2C, 2);
    cufftExecR2C(plan, batch, (cufftComplex *)batch);
    show("batch", (C *)batch, 8);
    cufftDestroy(plan);
    cufftPlan1d(&plan, 7, CUFFT_C2R, 2);
    cufftExecC2R(plan, (cufftComplex *)batch, batch);
    printf("batch back %.4f %.4f\n", back(batch, 16)[0], back(batch, 16)[14]);
    cufftDestroy(plan);
    // Three dimensions in double precision, the plan made in two steps.
    size_t bytes = 0, same = 0, guess = 0;
    double *doubles = give(d);
    Z *wide = give(std::vector<Z>(24));
    cufftCreate(&plan);
    cufftMakePlan3d(plan, 3, 2, 5, CUFFT_D2Z, &bytes);
    cufftGetSize(plan, &same);
    cufftEstimate3d(3, 2, 5, CUFFT_D2Z, &guess);
    cufftExecD2Z(plan, doubles, (cufftDoubleComplex *)wide);
    show("3d", wide, 18);
    printf("sizes %d %d\n", bytes == same && same == guess, bytes >= 30 * sizeof(double));
    cufftDestroy(plan);
    // Columns of a matrix of 4 x 6, each a transform; the result as rows.
    int n[1] = {4}, embed[1] = {4};
    cudaMemcpy(data, c.data(), 24 * sizeof(C), cudaMemcpyHostToDevice);
    cufftPlanMany(&plan, 1, n, embed, 6, 1, embed, 1, 4, CUFFT_C2C, 6);
    cufftExecC2C(plan, at, (cufftComplex *)out, CUFFT_INVERSE);
    show("columns", out, 24);
    cufftDestroy(plan);
    // A part of 3 x 4 of rows that are 6 long, by types.
    long long size[2] = {3, 4}, in[2] = {4, 6}, to[2] = {3, 4};
    cufftCreate(&plan);
    cufftXtMakePlanMany(plan, 2, size, in, 1, 24, CUDA_C_32F, to, 1, 12, CUDA_C_32F, 1, &bytes, CUDA_C_32F);
    cufftXtExec(plan, data, out, CUFFT_FORWARD);
    show("part", out, 12);
    return cufftDestroy(plan);
}
"""
)


def value(i: int) -> int:
    return (i * 37 + 11) % 23 - 9


def dft(values: np.ndarray, sign: int = -1, axes: tuple[int, ...] = (-1,)) -> np.ndarray:
    """By its definition."""
    made = values.astype(complex)
    for axis in axes:
        n = values.shape[axis]
        powers = np.exp(sign * 2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
        made = np.moveaxis(np.tensordot(powers, made, (1, axis)), 0, axis)
    return made


def test_transforms(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(TRANSFORMS)
    ran = run("app.cu", "-lcufft")
    assert (ran.code, ran.err) == (0, "")
    told = {name: np.array(numbers.split(), float) for name, numbers in (_split(line) for line in ran.lines)}
    c = np.array([value(i) + 1j * value(i + 100) for i in range(24)])
    r = np.array([value(i) for i in range(30)], float)

    def same(name: str, expected: np.ndarray) -> None:
        found = told[name] if np.isrealobj(expected) else told[name][::2] + 1j * told[name][1::2]
        np.testing.assert_allclose(found, expected.ravel(), atol=2e-3)

    same("1d", dft(c.reshape(2, 12)))
    same("back", c)
    flat = dft(r.reshape(5, 6), axes=(0, 1))[:, :4]
    same("2d", flat)
    same("2d back", r * 30)
    same("in place", flat)
    same("batch", dft(r[:14].reshape(2, 7))[:, :4])
    same("batch back", np.array([r[0], r[13]]) * 7)
    same("3d", dft(r.reshape(3, 2, 5), axes=(0, 1, 2))[..., :3])
    same("sizes", np.array([1.0, 1.0]))
    same("columns", dft(c.reshape(4, 6).T, sign=1))
    same("part", dft(c.reshape(4, 6)[:3, :4], axes=(0, 1)))


def _split(line: str) -> tuple[str, str]:
    words = line.split()
    first = next(i for i, word in enumerate(words) if word.lstrip("-")[0].isdigit() and "d" not in word)
    return " ".join(words[:first]), " ".join(words[first:])


WRONG = (
    COMMON
    + r"""
int main()
{
    cufftHandle plan, other;
    size_t bytes;
    int version, n[4] = {4, 4, 4, 4}, part, none[2] = {0, 0};
    cufftComplex *at = (cufftComplex *)give(std::vector<C>(64));
    printf("%d %d %d %d", cufftPlan1d(NULL, 8, CUFFT_C2C, 1), cufftPlan1d(&plan, 0, CUFFT_C2C, 1),
           cufftPlan1d(&plan, 8, CUFFT_C2C, 0), cufftPlan2d(&plan, 8, -1, CUFFT_C2C));
    printf(" %d %d %d %d", cufftPlan1d(&plan, 8, (cufftType)7, 1), cufftPlanMany(&plan, 4, n, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1),
           cufftPlanMany(&plan, 0, n, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1), cufftPlanMany(&plan, 1, NULL, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1));
    printf(" %d %d", cufftPlanMany(&plan, 1, n, n, 0, 4, n, 1, 4, CUFFT_C2C, 1), cufftPlanMany(&plan, 2, n, none, 1, 16, n, 1, 16, CUFFT_C2C, 1));
    printf(" %d\n", cufftPlan3d(&plan, 1 << 30, 1 << 30, 1 << 30, CUFFT_C2C));
    printf("%d %d %d", cufftExecC2C(0, at, at, CUFFT_FORWARD), cufftExecC2C(-3, at, at, CUFFT_FORWARD), cufftDestroy(99));
    cufftCreate(&other);
    printf(" %d %d", cufftExecC2C(other, at, at, CUFFT_FORWARD), cufftGetSize(other, &bytes));
    printf(" %d", cufftMakePlan1d(other, 8, CUFFT_C2C, 1, NULL));
    cufftMakePlan1d(other, 8, CUFFT_C2C, 1, &bytes);
    printf(" %d %d %d", cufftMakePlan1d(other, 8, CUFFT_C2C, 1, &bytes), cufftSetAutoAllocation(other, 0), cufftGetSize(other, NULL));
    printf(" %d %d", cufftDestroy(other), cufftExecC2C(other, at, at, CUFFT_FORWARD));
    printf(" %d\n", cufftDestroy(other));
    cufftPlan1d(&plan, 8, CUFFT_C2C, 1);
    printf("%d %d %d %d", cufftExecC2C(plan, NULL, at, CUFFT_FORWARD), cufftExecC2C(plan, at, NULL, CUFFT_FORWARD),
           cufftExecC2C(plan, at, at, 0), cufftExecR2C(plan, (float *)at, at));
    printf(" %d %d %d", cufftExecC2C(plan, (cufftComplex *)((char *)at + 4), at, CUFFT_FORWARD), cufftExecZ2Z(plan, NULL, NULL, 1),
           cufftSetStream(12345, 0));
    printf(" %d %d %d %d\n", cufftGetVersion(NULL), cufftGetVersion(&version), version == CUFFT_VERSION, cufftGetProperty(MAJOR_VERSION, &part));
    // A plan whose program wants to give the room for work itself.
    cufftHandle own;
    cufftCreate(&own);
    cufftSetAutoAllocation(own, 0);
    cufftMakePlan1d(own, 8, CUFFT_C2C, 1, &bytes);
    printf("%d", cufftExecC2C(own, at, at, CUFFT_FORWARD));
    cufftSetWorkArea(own, at);
    printf(" %d", cufftExecC2C(own, at, at, CUFFT_FORWARD));
    long long size[1] = {8};
    cufftHandle half;
    cufftCreate(&half);
    printf(" %d", cufftXtMakePlanMany(half, 1, size, NULL, 1, 1, CUDA_C_16F, NULL, 1, 1, CUDA_C_16F, 1, &bytes, CUDA_C_16F));
    printf(" %d\n", cufftXtMakePlanMany(half, 1, size, NULL, 1, 1, CUDA_C_32F, NULL, 1, 1, CUDA_R_64F, 1, &bytes, CUDA_C_32F));
    fflush(stdout);
    cufftPlan1d(&other, 65, CUFFT_C2C, 1);
    printf("%d\n", cufftExecC2C(other, at, at, CUFFT_FORWARD));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d\n", cufftExecC2C(plan, at, at, CUFFT_FORWARD));
}
"""
)


def test_mistakes(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(WRONG)
    ran = run("app.cu", "-lcufft")
    assert ran.lines == [
        "4 8 8 8 4 4 4 4 4 4 8",
        "1 1 1 1 1 4 1 1 4 0 1 1",
        "4 4 4 4 4 4 1 4 0 1 0",
        "13 0 16 4",
        "0",
        "cudaErrorIllegalAddress",
        "6",
    ]
    assert "cuFFT's transforms of half precision are not implemented: take float" in ran.err
    assert "cufftExecC2C: idata, an array of 1 x 1 x 1 x 65 cuComplex, takes 520 bytes" in ran.err


def test_what_is_not_there(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(
        '#include <cufft.h>\nextern "C" cufftResult cufftXtSetCallback(cufftHandle, void **, int, void **);\n'
        "int main() { return cufftXtSetCallback(1, 0, 0, 0); }\n"
    )
    ran = run("app.cu", "-lcufft")
    assert ran.code == 2
    assert "uses cufftXtSetCallback, of cuFFT, which our CUDA runtime does not implement" in ran.err
    assert "cufft.h declares what it implements" in ran.err


@pytest.mark.parametrize("name", ["cufft", "cufft_static"])
def test_helpers_of_the_samples(tmp_path: Path, run: Here, name: str) -> None:
    (tmp_path / "app.cu").write_text(
        "#include <cufft.h>\n#include <helper_cuda.h>\nint main() { cufftHandle p; checkCudaErrors(cufftPlan1d(&p, 0, CUFFT_C2C, 1)); }\n"
    )
    ran = run("app.cu", f"-l{name}")
    assert ran.code == 1
    assert "app.cu:3: CUDA error 8 (CUFFT_INVALID_SIZE)" in ran.err


def test_with_nvidias_headers(tmp_path: Path, run: Here) -> None:
    """Those of libraries are ours all the same, in CUDA and in C++."""
    try:
        find_clang(headers="nvidia")
    except KernelwrightError:
        pytest.skip("the [nvidia] extra is not installed")
    (tmp_path / "app.cu").write_text(
        "#include <cufftXt.h>\n#include <cusparse.h>\nint other();\n__global__ void none() {}\n"
        "int main() { cufftHandle p; cusparseHandle_t s; return cufftPlan1d(&p, 8, CUFFT_C2C, 1) + cusparseCreate(&s) + other(); }\n"
    )
    (tmp_path / "other.cpp").write_text("#include <cufft.h>\nint other() { return cufftDestroy(99); }\n")
    assert run("--headers", "nvidia", "app.cu", "other.cpp", "-lcufft", "-lcusparse").code == 1
