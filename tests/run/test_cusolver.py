"""Programs that call cuSOLVER, as people write them: factors and systems, eigenvalues and singular values, statuses, faults."""

from __future__ import annotations

from pathlib import Path

from .conftest import Here
from .device_vectors import VECTORS

COMMON = '#include <cusolverDn.h>\n#define FORMAT "%.4g"\n' + VECTORS

# A = 4 2 0    B = 0 2 1
#     2 5 3        1 1 0
#     0 3 6        3 0 1
SOLVED = (
    COMMON
    + r"""
__global__ void twice(double *x) { x[threadIdx.x] *= 2; }
int main()
{
    cusolverDnHandle_t handle;
    cudaStream_t stream, set;
    int version, major, lwork, *info = give<int>({-1}), *pivots = give<int>({0, 0, 0});
    double *work;
    cudaStreamCreate(&stream);
    if (cusolverDnCreate(&handle)) return 1;
    cusolverDnSetStream(handle, stream);
    cusolverDnGetStream(handle, &set);
    cusolverGetVersion(&version);
    cusolverGetProperty(MAJOR_VERSION, &major);
    printf("%d %d %d\n", set == stream, version == CUSOLVER_VERSION, major);
    // Cholesky, of the lower triangle: the upper is never read.
    double *a = give<double>({4, 2, 0, 99, 5, 3, 99, 99, 6}), *b = give<double>({8, 21, 24});
    if (cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, 3, a, 3, &lwork) || lwork < 1) return 2;
    cudaMalloc(&work, lwork * sizeof(double));
    printf("potrf %d\n", cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, 3, a, 3, work, lwork, info));
    cusolverDnDpotrs(handle, CUBLAS_FILL_MODE_LOWER, 3, 1, a, 3, b, 3, info);
    twice<<<1, 3, 0, stream>>>(b);
    show("factor", a, 9);
    show("solved", b, 3);
    show("info", info, 1);
    cusolverDnDpotri(handle, CUBLAS_FILL_MODE_LOWER, 3, a, 3, work, lwork, info);
    show("inverse", a, 1);
    // LU.
    double *lu = give<double>({0, 1, 3, 2, 1, 0, 1, 0, 1}), *c = give<double>({7, 3, 6, 11, 4, 4});
    if (cusolverDnDgetrf_bufferSize(handle, 3, 3, lu, 3, &lwork)) return 3;
    cusolverDnDgetrf(handle, 3, 3, lu, 3, work, pivots, info);
    cusolverDnDgetrs(handle, CUBLAS_OP_N, 3, 1, lu, 3, pivots, c, 3, info);
    cusolverDnDgetrs(handle, CUBLAS_OP_T, 3, 1, lu, 3, pivots, c + 3, 3, info);
    show("lu", lu, 9);
    show("pivots", pivots, 3);
    show("solved", c, 6);
    // QR: R has the columns' lengths, Q^T B is 5 where B is the column itself.
    double *q = give<double>({3, 4, 0, 0}), *tau = give<double>({0, 0}), *d = give<double>({3, 4});
    cusolverDnDgeqrf_bufferSize(handle, 2, 2, q, 2, &lwork);
    cusolverDnDgeqrf(handle, 2, 2, q, 2, tau, work, lwork, info);
    cusolverDnDormqr_bufferSize(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 2, 1, 2, q, 2, tau, d, 2, &lwork);
    cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 2, 1, 2, q, 2, tau, d, 2, work, lwork, info);
    show("qtb", d, 1);
    cusolverDnDorgqr_bufferSize(handle, 2, 2, 2, q, 2, tau, &lwork);
    cusolverDnDorgqr(handle, 2, 2, 2, q, 2, tau, work, lwork, info);
    show("q", q, 2);
    // Eigenvalues 1, 3 of (2 1; 1 2), and of the Hermitian (2 i; -i 2).
    double *s = give<double>({2, 1, 99, 2}), *w = give<double>({0, 0});
    cusolverDnDsyevd_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, s, 2, w, &lwork);
    cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, s, 2, w, work, lwork, info);
    show("values", w, 2);
    std::vector<double> v(4);
    cudaMemcpy(v.data(), s, sizeof(double) * 4, cudaMemcpyDeviceToHost);
    printf("vectors %.4f %.4f\n", v[0] * v[1], v[2] * v[3]);
    cuComplex *h = give<cuComplex>({{2, 0}, {99, 99}, {0, 1}, {2, 0}});
    float *wc = give<float>({0, 0});
    cusolverDnCheevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, 2, h, 2, wc, NULL, 0, info);
    show("hermitian", wc, 2);
    double *g = give<double>({2, 0, 0, 12}), *two = give<double>({2, 0, 0, 3});
    cusolverDnDsygvd(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, 2, g, 2, two, 2, w, work, lwork, info);
    show("generalised", w, 2);
    // Singular values 5, 3 of a matrix of three rows.
    float *m = give<float>({3, 0, 0, 0, 4, 3}), *sv = give<float>({0, 0}), *u = give<float>(std::vector<float>(9)),
          *vt = give<float>(std::vector<float>(4)), *fwork;
    cusolverDnSgesvd_bufferSize(handle, 3, 2, &lwork);
    cudaMalloc(&fwork, lwork * sizeof(float));
    cusolverDnSgesvd(handle, 'A', 'A', 3, 2, m, 3, sv, u, 3, vt, 2, fwork, lwork, NULL, info);
    show("singular", sv, 2);
    // Of a batch the second is not positive definite.
    double *one = give<double>({4}), *bad = give<double>({-4}), **batch = give<double *>({one, bad});
    double *r = give<double>({2}), **rs = give<double *>({r});
    int *infos = give<int>({7, 7});
    cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, 1, batch, 1, infos, 2);
    cusolverDnDpotrsBatched(handle, CUBLAS_FILL_MODE_LOWER, 1, 1, batch, 1, rs, 1, info, 1);
    show("infos", infos, 2);
    show("root", r, 1);
    show("info", info, 1);
    return cusolverDnDestroy(handle);
}
"""
)


def test_factors_systems_eigenvalues_and_singular_values(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(SOLVED)
    ran = run("app.cu", "-lcusolver")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == [
        "1 1 11",
        "potrf 0",
        "factor 2 1 0 99 2 1.5 99 99 1.936",
        "solved 2 4 6",  # twice what solves it
        "info 0",
        "inverse 0.35",
        "lu 3 0 0.3333 0 2 0.5 1 1 -0.8333",
        "pivots 3 3 3",
        "solved 1 2 3 1 2 3",
        "qtb -5",
        "q -0.6 -0.8",
        "values 1 3",
        "vectors -0.5000 0.5000",
        "hermitian 1 3",
        "generalised 1 4",
        "singular 5 3",
        "infos 0 1",
        "root 0.5",
        "info 0",
    ]


WRONG = (
    COMMON
    + r"""
int main()
{
    cusolverDnHandle_t handle = NULL;
    int lwork, version, *info = give<int>({0});
    float *a = give<float>({1, 2, 3, 4}), *w = give<float>({0, 0}), *work = a;
    cuComplex *c = give<cuComplex>(std::vector<cuComplex>(4));
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    printf("%d %d %d %d", cusolverDnCreate(NULL), cusolverDnDestroy(NULL), cusolverGetVersion(NULL), cusolverDnSetStream(NULL, 0));
    printf(" %d %d\n", cusolverDnSpotrf(NULL, lower, 2, a, 2, work, 64, info), cusolverDnSpotrf_bufferSize(NULL, lower, 2, a, 2, &lwork));
    cusolverDnCreate(&handle);
    printf("%d %d %d\n", cusolverGetProperty(MAJOR_VERSION, NULL), cusolverDnGetStream(handle, NULL),
           cusolverDnSpotrf_bufferSize(handle, lower, 2, a, 2, NULL));
    // Each with the number that it leaves in devInfo.
#define WRONG(call) { int status = call; printf("%d", status); show("", info, 1); }
    WRONG(cusolverDnSpotrf(handle, (cublasFillMode_t)5, 2, a, 2, work, 64, info))
    WRONG(cusolverDnSpotrf(handle, lower, -1, a, 2, work, 64, info))
    WRONG(cusolverDnSpotrf(handle, lower, 2, a, 1, work, 64, info))
    WRONG(cusolverDnSpotrs(handle, lower, 2, -1, a, 2, a, 2, info))
    WRONG(cusolverDnSpotrs(handle, lower, 2, 1, a, 2, a, 1, info))
    WRONG(cusolverDnSgetrf(handle, -1, 2, a, 2, work, NULL, info))
    WRONG(cusolverDnSgetrs(handle, (cublasOperation_t)7, 2, 1, a, 2, NULL, a, 2, info))
    WRONG(cusolverDnSgetrs(handle, CUBLAS_OP_N, 2, 1, a, 2, NULL, a, 1, info))
    WRONG(cusolverDnSgeqrf(handle, 2, 2, a, 1, w, work, 64, info))
    WRONG(cusolverDnSorgqr(handle, 1, 2, 1, a, 2, w, work, 64, info))
    WRONG(cusolverDnSormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 2, 2, 3, a, 2, w, a, 2, work, 64, info))
    WRONG(cusolverDnCunmqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 2, 2, 2, c, 2, c, c, 2, c, 64, info))
    WRONG(cusolverDnSsyevd(handle, (cusolverEigMode_t)9, lower, 2, a, 2, w, work, 64, info))
    WRONG(cusolverDnSsygvd(handle, (cusolverEigType_t)0, CUSOLVER_EIG_MODE_VECTOR, lower, 2, a, 2, a, 2, w, work, 64, info))
    WRONG(cusolverDnSgesvd(handle, 'X', 'A', 2, 2, a, 2, w, a, 2, a, 2, work, 64, NULL, info))
    WRONG(cusolverDnSgesvd(handle, 'O', 'O', 2, 2, a, 2, w, a, 2, a, 2, work, 64, NULL, info))
    WRONG(cusolverDnSgesvd(handle, 'N', 'N', 1, 2, a, 2, w, a, 2, a, 2, work, 64, NULL, info))
    WRONG(cusolverDnSpotrsBatched(handle, lower, 2, 2, (float **)a, 2, (float **)a, 2, info, 1))
    printf("%d %d\n", cusolverDnSgesvd_bufferSize(handle, 1, 2, &lwork), cusolverDnSgetrf_bufferSize(handle, 2, 2, a, 1, &lwork));
    // Not positive definite, and singular.
    printf("%d", cusolverDnSpotrf(handle, lower, 2, a, 2, work, 64, info));
    show("", info, 1);
    cudaMemset(a, 0, 4 * sizeof(float));
    printf("%d", cusolverDnSgetrf(handle, 2, 2, a, 2, work, NULL, info));
    show("", info, 1);
    fflush(stdout);
    // A matrix that is larger than its buffer.
    printf("%d\n", cusolverDnSpotrf(handle, lower, 20, a, 20, work, 64, info));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d\n", cusolverDnSpotrf(handle, lower, 2, a, 2, work, 64, info));
}
"""
)


def test_mistakes(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(WRONG)
    ran = run("app.cu", "-lcusolver")
    numbers = [-1, -2, -4, -3, -7, -1, -1, -8, -4, -2, -5, -2, -1, -1, -1, -2, -4, -3]
    assert ran.lines == [
        "3 1 3 1 1 1",
        "3 3 3",
        *(f"3 {number}" for number in numbers),
        "3 3",
        "0 2",
        "0 1",
        "0",
        "cudaErrorIllegalAddress",
        "6",
    ]
    assert "cusolverDnSpotrf: A, a matrix of 20 x 20 float with leading dimension 20" in ran.err


def test_what_is_not_there(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(
        '#include <cusolverDn.h>\nextern "C" cusolverStatus_t cusolverDnSsytrf(cusolverDnHandle_t);\n'
        "int main() { return cusolverDnSsytrf(0); }\n"
    )
    ran = run("app.cu", "-lcusolver")
    assert ran.code == 2
    assert "uses cusolverDnSsytrf, of cuSOLVER, which our CUDA runtime does not implement" in ran.err
    assert "cusolverDn.h declares what it implements" in ran.err
    (tmp_path / "sparse.cu").write_text("#include <cusolverSp.h>\nint main() {}\n")
    ran = run("sparse.cu")
    assert ran.code == 2 and "of cuSOLVER there is cusolverDn.h, the dense interface" in ran.err


def test_within_a_graph(tmp_path: Path, run: Here) -> None:
    text = r"""
int main()
{
    cusolverDnHandle_t handle;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    int *info = give<int>({5});
    double *a = give<double>({16});
    cudaStreamCreate(&stream);
    cusolverDnCreate(&handle);
    cusolverDnSetStream(handle, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_UPPER, 1, a, 1, NULL, 0, info);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    show("before", a, 1);
    for (int i = 0; i < 2; i++) cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    show("after", a, 1);
}
"""
    (tmp_path / "app.cu").write_text(COMMON + text)
    ran = run("app.cu")
    assert (ran.code, ran.lines) == (0, ["before 16", "after 2"])


def test_the_sample_programs_helper_names_a_status(tmp_path: Path, run: Here) -> None:
    text = "int main() { checkCudaErrors(cusolverDnCreate(NULL)); }\n"
    (tmp_path / "app.cu").write_text("#include <cusolverDn.h>\n#include <helper_cuda.h>\n" + text)
    ran = run("app.cu")
    assert ran.code == 1 and "CUDA error 3 (CUSOLVER_STATUS_INVALID_VALUE)" in ran.err
