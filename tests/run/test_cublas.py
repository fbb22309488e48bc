"""Programs that call cuBLAS, as people write them: one for each level, statuses, faults, and the tools on them."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Here, kw
from .device_vectors import VECTORS

LEVEL_1 = r"""
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    float x[4] = {1, -7, 3, 4}, y[4] = {10, 20, 30, 40}, alpha = 2, *dx, *dy, dot, norm, *ddot;
    int largest;
    cublasHandle_t handle;
    cudaStream_t stream, set;
    cudaStreamCreate(&stream);
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
    cublasSetStream(handle, stream);
    cublasGetStream(handle, &set);
    cudaMalloc((void **)&dx, sizeof x);
    cudaMalloc((void **)&dy, sizeof y);
    cudaMalloc((void **)&ddot, sizeof dot);
    cublasSetVector(4, sizeof *x, x, 1, dx, 1);
    cublasSetVectorAsync(4, sizeof *y, y, 1, dy, 1, stream);
    cublasSaxpy(handle, 4, &alpha, dx, 1, dy, 1);
    cublasSdot(handle, 4, dx, 1, dy, 1, &dot);
    cublasSnrm2(handle, 2, dx + 2, 1, &norm);
    cublasIsamax(handle, 4, dx, 1, &largest);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    cublasSdot(handle, 2, dx, 2, dx, 2, ddot);
    cublasSscal(handle, 4, ddot, dy, 1);
    cublasGetVector(2, sizeof *y, dy, 2, y, 1);
    printf("%g %g %d, %g %g, %d\n", dot, norm, largest, y[0], y[1], set == stream);
    return cublasDestroy(handle);
}
"""

WIDE = (
    "#include <cublas_v2.h>\n#include <cstdint>\n"
    + VECTORS
    + r"""
int main()
{
    cublasHandle_t handle;
    cublasCreate(&handle);
    int64_t n = 4, place = -1, huge = int64_t(1) << 32, *there = give<int64_t>({-1});
    float two = 2, zero = 0, norm, dot, *x = give<float>({3, -4, 0, 12}), *y = give<float>({1, 1, 1, 1}), *c = give<float>({0, 0, 0, 0});
    cublasSaxpy_64(handle, n, &two, x, 1, y, 1);
    cublasIsamax_64(handle, n, x, 1, &place);
    cublasSnrm2_64(handle, n, x, 1, &norm);
    cublasSdot_64(handle, n, x, 1, y, 1, &dot);
    cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &two, x, 2, y, 2, &zero, c, 2);
    printf("%d %g %g\n", (int)place, norm, dot);
    show("y", y, 4);
    show("c", c, 4);
    cublasSdgmm_64(handle, CUBLAS_SIDE_LEFT, 2, 2, x, 2, y, 1, c, 2);
    show("d", c, 4);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    cublasIsamin_64(handle, n, x, 1, there);
    show("least", there, 1);
    printf("%d %d %d\n", cublasIsamax_64(handle, huge, x, 1, there), cublasSscal_64(handle, n, x, x, huge), cublasIsamax_64(handle, n, x, 1, nullptr));
    return cublasDestroy(handle);
}
"""
)

LEVEL_2_AND_3 = (
    "#include <cublas_v2.h>\n#include <cuda_fp16.h>\n#include <cmath>\n"
    + VECTORS
    + r"""
__global__ void square(double *c) { c[threadIdx.x] *= c[threadIdx.x]; }
int main()
{
    cublasHandle_t handle;
    cublasCreate(&handle);
    double one = 1, zero = 0;
    auto a = give<double>({2, 1, 0, 3}), x = give<double>({1, 2}), c = give<double>({NAN, NAN, NAN, NAN});
    cublasDgemv(handle, CUBLAS_OP_T, 2, 2, &one, a, 2, x, 1, &zero, c, 1);
    show("gemv", c, 2);
    cublasDger(handle, 2, 2, &one, x, 1, x, 1, a, 2);
    show("ger", a, 4);
    cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, a, 2, x, 1);
    show("trsv", x, 2);
    cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one, a, 2, a, 2, &zero, c, 2);
    square<<<1, 4>>>(c);
    show("gemm", c, 4);
    cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 2, 2, &one, a, 2, c, 2);
    show("trsm", c, 4);
    auto h = give<__half>({__float2half(1.f), __float2half(2.f), __float2half(3.f), __float2half(4.f)});
    auto f = give<float>({0, 0, 0, 0});
    float alpha = 0.5f, beta = 0;
    auto z = give<cuDoubleComplex>({{1, 2}, {3, -1}});
    cuDoubleComplex i = {0, 1}, none = {0, 0};
    printf("%d\n", cublasZgemm3m(handle, CUBLAS_OP_C, CUBLAS_OP_N, 1, 1, 2, &i, z, 2, z, 2, &none, z, 1));
    show("gemm3m", (double *)z, 2);
    printf("%d\n", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, h, CUDA_R_16F, 2, h, CUDA_R_16F, 2, &beta, f,
                                CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    show("gemmEx", f, 4);
    printf("%d\n", cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &alpha, f, 1, 2, f, 2, 2, &beta, f, 1, 1, 2));
    show("batched", f, 2);
    return 0;
}
"""
)

WRONG = r"""
#include <cublas_v2.h>
#include <stdio.h>
int main(void)
{
    cublasHandle_t handle;
    float one = 1, *a;
    int version;
    cudaMalloc((void **)&a, 64);
    cudaMemset(a, 0, 64);
    printf("%d", cublasSscal(NULL, 4, &one, a, 1));
    cublasCreate(&handle);
    printf(" %d", cublasGetVersion(handle, NULL));
    printf(" %d", cublasSscal(handle, 4, NULL, a, 1));
    printf(" %d", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a, 3, a, 4, &one, a, 4));
    printf(" %d", cublasSgemm(handle, 7, CUBLAS_OP_N, 4, 4, 4, &one, a, 4, a, 4, &one, a, 4));
    printf(" %d", cublasSgemv(handle, CUBLAS_OP_N, -1, 4, &one, a, 4, a, 1, &one, a, 1));
    printf(" %d", cublasSgemv(handle, CUBLAS_OP_N, 4, 4, &one, a, 4, a, 0, &one, a, 1));
    printf(" %d", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a, CUDA_R_16F, 4, a, CUDA_R_32F, 4, &one, a,
                               CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    printf(" %s %s\n", cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), cublasGetStatusString(CUBLAS_STATUS_SUCCESS));
    cublasGetVersion(handle, &version);
    printf("%d %d\n", version == CUBLAS_VERSION, cublasSgemm(handle, 0, 0, 9, 2, 2, &one, a, 9, a, 2, &one, a, 9));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d\n", cublasSscal(handle, 4, &one, a, 1));
    return 0;
}
"""

WITHOUT_HANDLES = (
    '#include <cublas.h>\n#include <cuda_runtime.h>\n#define FORMAT "%.6g"\n'
    + VECTORS
    + r"""
typedef cuDoubleComplex Z;
static int differences;
static void compare(const char *what, std::vector<double> a, std::vector<double> b)
{
    if (a == b) return;
    differences++;
    printf("%s differs\n", what);
}
static double *fresh() { return give<double>({4, 1, 2, 0, 5, 3, 1, 1, 6, 0.5, 2, 3, 7, 1, 1, 8, 2, 2, 1, 9, 1, 3, 2, 4}); }
static std::vector<double> got(const double *at)
{
    std::vector<double> v(24);
    cublasGetVector(24, sizeof(double), at, 1, v.data(), 1);
    return v;
}
typedef int Call(double *a, double *x, double *c, double *r);
/* The call without a handle and that with one do the same to the arrays x, c and r. */
static void same(const char *what, Call *old, Call *with)
{
    std::vector<double> after[2][3], before = got(fresh());
    Call *calls[2] = {old, with};
    for (int i = 0; i < 2; i++) {
        double *x = fresh(), *c = fresh(), *r = fresh();
        if (calls[i](fresh(), x + 3, c + 1, r)) printf("%s fails\n", what);
        after[i][0] = got(x), after[i][1] = got(c), after[i][2] = got(r);
    }
    for (int i = 0; i < 3; i++) compare(what, after[0][i], after[1][i]);
    if (after[0][0] == before && after[0][1] == before && after[0][2] == before) printf("%s does nothing\n", what);
}
#define CALL(...) [](double *a, double *x, double *c, double *r) -> int { return __VA_ARGS__; }
#define SAME(old, with) same(#old, CALL((old, 0)), CALL(with));
static void put(double *at, double v) { cudaMemcpy(at, &v, sizeof v, cudaMemcpyHostToDevice); }
static void put(double *at, int v) { put(at, (double)v); }
static void put(double *at, Z v) { cudaMemcpy(at, &v, sizeof v, cudaMemcpyHostToDevice); }
#define ANSWER(T, call) [=] { T out; int s = call; put(r, out); return s; }()
#define H cublasGetCurrentCtx()
#define N CUBLAS_OP_N
#define T CUBLAS_OP_T
#define UP CUBLAS_FILL_MODE_UPPER
#define LOW CUBLAS_FILL_MODE_LOWER
static double p = 3, q = 0.5;
static Z zp = {3, 1}, zq = {0.5, -2};
int main()
{
    double *d;
    printf("%d %d\n", cublasAlloc(4, 8, (void **)&d), (cublasDscal(1, 2.0, nullptr, 1), cublasGetError()));
    cublasDscal(1, 2.0, nullptr, 1);
    cublasInit();
    cublasDgemm('N', 'x', 1, 1, 1, p, nullptr, 1, nullptr, 1, q, nullptr, 1);
    printf("the last of two: %d\n", cublasGetError());
    printf("%d %d\n", cublasAlloc(24, 8, (void **)&d), cublasFree(d));
    SAME(cublasDaxpy(3, p, a, 2, c, 3), cublasDaxpy_v2(H, 3, &p, a, 2, c, 3))
    SAME(cublasZscal(2, zp, (Z *)c, 2), cublasZscal_v2(H, 2, &zp, (Z *)c, 2))
    SAME(cublasZdscal(2, p, (Z *)c, 2), cublasZdscal_v2(H, 2, &p, (Z *)c, 2))
    SAME(cublasDcopy(3, a, 2, c, 3), cublasDcopy_v2(H, 3, a, 2, c, 3))
    SAME(cublasDswap(3, x, 2, c, 3), cublasDswap_v2(H, 3, x, 2, c, 3))
    SAME(put(r, cublasDdot(3, a, 2, x, 3)), ANSWER(double, cublasDdot_v2(H, 3, a, 2, x, 3, &out)))
    SAME(put(r, cublasZdotc(3, (Z *)a, 2, (Z *)c, 1)), ANSWER(Z, cublasZdotc_v2(H, 3, (Z *)a, 2, (Z *)c, 1, &out)))
    SAME(put(r, cublasZdotu(3, (Z *)a, 2, (Z *)c, 1)), ANSWER(Z, cublasZdotu_v2(H, 3, (Z *)a, 2, (Z *)c, 1, &out)))
    SAME(put(r, cublasDznrm2(3, (Z *)a, 2)), ANSWER(double, cublasDznrm2_v2(H, 3, (Z *)a, 2, &out)))
    SAME(put(r, cublasDasum(5, x, 2)), ANSWER(double, cublasDasum_v2(H, 5, x, 2, &out)))
    SAME(put(r, cublasIdamax(5, x, 2)), ANSWER(int, cublasIdamax_v2(H, 5, x, 2, &out)))
    SAME(put(r, cublasIzamin(4, (Z *)a, 2)), ANSWER(int, cublasIzamin_v2(H, 4, (Z *)a, 2, &out)))
    SAME(cublasDrot(3, x, 2, c, 1, p, q), cublasDrot_v2(H, 3, x, 2, c, 1, &p, &q))
    SAME(cublasDgemv('t', 2, 3, p, a, 4, x, 2, q, c, 3), cublasDgemv_v2(H, T, 2, 3, &p, a, 4, x, 2, &q, c, 3))
    SAME(cublasDtrmv('U', 'N', 'u', 3, a, 4, c, 2), cublasDtrmv_v2(H, UP, N, CUBLAS_DIAG_UNIT, 3, a, 4, c, 2))
    SAME(cublasDtrsv('l', 'T', 'N', 3, a, 4, c, 2), cublasDtrsv_v2(H, LOW, T, CUBLAS_DIAG_NON_UNIT, 3, a, 4, c, 2))
    SAME(cublasDsymv('L', 3, p, a, 4, x, 2, q, c, 3), cublasDsymv_v2(H, LOW, 3, &p, a, 4, x, 2, &q, c, 3))
    SAME(cublasDger(3, 2, p, a, 2, x, 1, c, 4), cublasDger_v2(H, 3, 2, &p, a, 2, x, 1, c, 4))
    SAME(cublasDsyr2('u', 3, p, a, 2, x, 1, c, 4), cublasDsyr2_v2(H, UP, 3, &p, a, 2, x, 1, c, 4))
    SAME(cublasZgerc(2, 2, zp, (Z *)a, 2, (Z *)a, 1, (Z *)c, 3), cublasZgerc_v2(H, 2, 2, &zp, (Z *)a, 2, (Z *)a, 1, (Z *)c, 3))
    SAME(cublasZhemv('L', 2, zp, (Z *)a, 3, (Z *)a, 2, zq, (Z *)c, 1), cublasZhemv_v2(H, LOW, 2, &zp, (Z *)a, 3, (Z *)a, 2, &zq, (Z *)c, 1))
    SAME(cublasZher('L', 2, p, (Z *)a, 2, (Z *)c, 3), cublasZher_v2(H, LOW, 2, &p, (Z *)a, 2, (Z *)c, 3))
    SAME(cublasDgemm('N', 'T', 3, 2, 4, p, a, 4, x, 3, q, c, 5), cublasDgemm_v2(H, N, T, 3, 2, 4, &p, a, 4, x, 3, &q, c, 5))
    SAME(cublasZgemm('c', 'n', 2, 2, 2, zp, (Z *)a, 3, (Z *)a, 2, zq, (Z *)c, 3), cublasZgemm_v2(H, CUBLAS_OP_C, N, 2, 2, 2, &zp, (Z *)a, 3, (Z *)a, 2, &zq, (Z *)c, 3))
    SAME(cublasDsymm('R', 'U', 2, 3, p, a, 4, x, 3, q, c, 2), cublasDsymm_v2(H, CUBLAS_SIDE_RIGHT, UP, 2, 3, &p, a, 4, x, 3, &q, c, 2))
    SAME(cublasDsyrk('U', 'T', 3, 2, p, a, 4, q, c, 3), cublasDsyrk_v2(H, UP, T, 3, 2, &p, a, 4, &q, c, 3))
    SAME(cublasDsyr2k('L', 'N', 3, 2, p, a, 4, x, 3, q, c, 5), cublasDsyr2k_v2(H, LOW, N, 3, 2, &p, a, 4, x, 3, &q, c, 5))
    SAME(cublasZherk('U', 'N', 2, 2, p, (Z *)a, 3, q, (Z *)c, 2), cublasZherk_v2(H, UP, N, 2, 2, &p, (Z *)a, 3, &q, (Z *)c, 2))
    SAME(cublasZher2k('U', 'N', 2, 2, zp, (Z *)a, 3, (Z *)a, 2, q, (Z *)c, 3), cublasZher2k_v2(H, UP, N, 2, 2, &zp, (Z *)a, 3, (Z *)a, 2, &q, (Z *)c, 3))
    SAME(cublasDtrmm('L', 'U', 'T', 'N', 3, 2, p, a, 4, c, 5), cublasDtrmm_v2(H, CUBLAS_SIDE_LEFT, UP, T, CUBLAS_DIAG_NON_UNIT, 3, 2, &p, a, 4, c, 5, c, 5))
    SAME(cublasDtrsm('R', 'l', 'n', 'U', 3, 2, p, a, 4, c, 5), cublasDtrsm_v2(H, CUBLAS_SIDE_RIGHT, LOW, N, CUBLAS_DIAG_UNIT, 3, 2, &p, a, 4, c, 5))
    printf("%d differences\n", differences);
    cublasDgemm('N', 'x', 1, 1, 1, p, nullptr, 1, nullptr, 1, q, nullptr, 1);
    cublasDscal(1, 1.0, nullptr, 0);
    int first = cublasGetError();
    printf("%d %d %d\n", first, cublasGetError(), cublasShutdown());
    return cublasShutdown() != CUBLAS_STATUS_NOT_INITIALIZED;
}
"""
)


LT = r"""
#include <cublasLt.h>
#include <stdio.h>
int main(void)
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, -1, 2, 1, 0}, bias[2] = {-1, 100}, d[4], alpha = 1, beta = 0;
    float *A, *B, *D, *bias_at;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, ld, wrong;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count, epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    cublasOperation_t transpose = CUBLAS_OP_T;
    cudaMalloc((void **)&A, sizeof a);
    cudaMalloc((void **)&B, sizeof b);
    cudaMalloc((void **)&D, sizeof d);
    cudaMalloc((void **)&bias_at, sizeof bias);
    cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice);
    cudaMemcpy(bias_at, bias, sizeof bias, cudaMemcpyHostToDevice);
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias_at, sizeof bias_at);
    cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, 3, 2, 3);
    cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, 3, 2, 3);
    cublasLtMatrixLayoutCreate(&ld, CUDA_R_32F, 2, 2, 2);
    cublasLtMatrixLayoutCreate(&wrong, CUDA_R_32F, 3, 2, 3);
    cublasLtMatmulPreferenceCreate(&preference);
    printf("%d", cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, ld, ld, preference, 1, &found, &count));
    printf(" %d", cublasLtMatmul(handle, desc, &alpha, A, la, B, lb, &beta, D, ld, D, ld, &found.algo, NULL, 0, 0));
    printf(" %d", cublasLtMatmul(handle, desc, &alpha, A, la, B, lb, &beta, D, ld, D, wrong, &found.algo, NULL, 0, 0));
    epilogue = 192;
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    printf(" %d", cublasLtMatmul(handle, desc, &alpha, A, la, B, lb, &beta, D, ld, D, ld, &found.algo, NULL, 0, 0));
    cudaMemcpy(d, D, sizeof d, cudaMemcpyDeviceToHost);
    printf(" %d: %g %g %g %g\n", count, d[0], d[1], d[2], d[3]);
    return cublasLtMatmulDescDestroy(desc) + cublasLtMatrixLayoutDestroy(la) + cublasLtDestroy(handle);
}
"""


def test_products_with_an_epilogue(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(LT)
    ran = run("app.c", "-lcublasLt", "-lcublas")
    assert (ran.code, ran.out, ran.err) == (0, "0 0 7 15 1: 0 98 3 113\n", "")


def test_level_1(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(LEVEL_1)
    ran = run("app.c", "-lcublas")
    assert (ran.code, ran.out, ran.err) == (0, "270 5 2, 120 360, 1\n", "")


def test_level_2_and_3_with_kernels_between(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(LEVEL_2_AND_3)
    ran = run("app.cu")
    assert ran.code == 0 and ran.err == ""
    a = [[3, 2], [3, 7]]
    products = [sum(a[i][k] * a[j][k] for k in range(2)) for j in range(2) for i in range(2)]
    squares = [p * p for p in products]
    solved = [squares[0] - 2 * squares[1], squares[1], squares[2] - 2 * squares[3], squares[3]]
    assert ran.lines == [
        "gemv 4 6",
        "ger 3 3 2 7",
        "trsv 0.333333 0.142857",
        "gemm " + " ".join(f"{s:g}" for s in squares),
        "trsm " + " ".join(f"{s:g}" for s in solved),
        "0",
        "gemm3m 0 15",
        "0",
        "gemmEx 3.5 5 7.5 11",
        "0",
        f"batched {(3.5 * 3.5 + 5 * 5) / 2:g} {(7.5 * 7.5 + 11 * 11) / 2:g}",
    ]


def test_wrong_arguments_and_a_fault(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(WRONG)
    ran = run("app.c")
    assert ran.lines == [
        "1 7 7 7 7 7 7 15 CUBLAS_STATUS_NOT_SUPPORTED success",
        "1 0",
        "cudaErrorIllegalAddress",
        "13",
    ]
    assert ran.err == (
        "kw: cublasSgemm: C, a matrix of 9 x 2 float with leading dimension 9, takes 72 bytes at offset 0 of "
        "'device allocation 1', which has 64: 8 too many\n"
    )


def test_profile_check_and_capture(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(LEVEL_2_AND_3)
    made = kw("compile", "app.cu", "--emit", "exe", "-o", "app", cwd=tmp_path)
    assert made.code == 0, made.err
    told = kw("profile", "app", "--json", cwd=tmp_path)
    rows = {row["kernel"]: row for row in json.loads(told.out)["kernels"]}
    assert rows["cublasDgemm"]["launches"] == 1 and rows["cublasDgemm"]["time_us"] > 0
    assert rows["cublasDgemm"]["bound_by"] == "memory" and "roofline" in rows["cublasDgemm"]
    assert "square" in rows
    checked = kw("check", "app", cwd=tmp_path)
    assert checked.code == 0, checked.out + checked.err
    captured = kw("capture", "app", cwd=tmp_path)
    assert captured.code == 0, captured.err
    recording = next(path for path in tmp_path.iterdir() if path.name not in ("app", "app.cu"))
    replayed = kw("replay", recording.name, cwd=tmp_path)
    assert replayed.code == 0, replayed.out + replayed.err


def test_numbers_of_64_bits(tmp_path: Path, run: Here) -> None:
    """The upper half of a place is written, on the device too; what no GPU holds is refused."""
    (tmp_path / "app.cu").write_text(WIDE)
    ran = run("app.cu", "-lcublas")
    assert (ran.code, ran.err) == (0, "")
    not_supported, invalid = 15, 7
    assert ran.out.splitlines() == [
        "4 13 349", "y 7 -7 1 25", "c 42 -32 -42 656", "d 21 28 0 -84", "least 3",
        f"{not_supported} {not_supported} {invalid}",
    ]  # fmt: skip


def test_calls_without_handles(tmp_path: Path, run: Here) -> None:
    """As those with one; a failure is told by the next ``cublasGetError``, once."""
    (tmp_path / "app.cu").write_text(WITHOUT_HANDLES)
    ran = run("app.cu", "-lcublas")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == ["1 1", "the last of two: 7", "0 0", "0 differences", "7 0 0"]


def test_one_of_both_headers(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text("#include <cublas_v2.h>\n#include <cublas.h>\nint main() {}\n")
    ran = run("app.cu")
    assert ran.code == 2 and "both cublas.h and cublas_v2.h" in ran.err
