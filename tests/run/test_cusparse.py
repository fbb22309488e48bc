"""Programs that call cuSPARSE, as people write them: products, systems, conversions, statuses, faults."""

from __future__ import annotations

from pathlib import Path

from .conftest import Here
from .device_vectors import VECTORS

COMMON = "#include <cusparse.h>\n" + VECTORS

# A = 1 0 2    B = 1 4
#     0 3 0        2 5
#     4 0 5        3 6
PRODUCTS = (
    COMMON
    + r"""
__global__ void twice(double *y) { y[threadIdx.x] *= 2; }
int main()
{
    cusparseHandle_t handle;
    cudaStream_t stream, set;
    cudaStreamCreate(&stream);
    if (cusparseCreate(&handle)) return 1;
    cusparseSetStream(handle, stream);
    cusparseGetStream(handle, &set);
    int *offsets = give<int>({0, 2, 3, 5}), *columns = give<int>({0, 2, 1, 0, 2});
    double *values = give<double>({1, 2, 3, 4, 5}), *x = give<double>({1, 2, 3}), *y = give<double>({0, 0, 0});
    double *b = give<double>({1, 2, 3, 4, 5, 6}), *c = give<double>({0, 0, 0, 0, 0, 0});
    cusparseSpMatDescr_t a, product;
    cusparseDnVecDescr_t vx, vy;
    cusparseDnMatDescr_t mb, mc;
    cusparseCreateCsr(&a, 3, 3, 5, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
    cusparseCreateDnVec(&vx, 3, x, CUDA_R_64F);
    cusparseCreateDnVec(&vy, 3, y, CUDA_R_64F);
    double one = 1, zero = 0, *device_one = give<double>({1});
    size_t bytes = 0;
    void *buffer;
    cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    cudaMalloc(&buffer, bytes);
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer);
    twice<<<1, 3, 0, stream>>>(y);
    cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE);
    cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, device_one, a, vx, device_one, vy, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, buffer);
    cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST);
    show("spmv", y, 3);
    cusparseCreateDnMat(&mb, 3, 2, 3, b, CUDA_R_64F, CUSPARSE_ORDER_COL);
    cusparseCreateDnMat(&mc, 3, 2, 2, c, CUDA_R_64F, CUSPARSE_ORDER_ROW);
    cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, mb, &zero, mc, CUDA_R_64F,
                 CUSPARSE_SPMM_ALG_DEFAULT, buffer);
    show("spmm", c, 6);
    // A A: its entries are counted, then there is room for them.
    cusparseSpGEMMDescr_t steps;
    int *offsets_c = give<int>({0, 0, 0, 0}), *columns_c;
    double *values_c;
    cusparseSpGEMM_createDescr(&steps);
    cusparseCreateCsr(&product, 3, 3, 0, NULL, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
#define GEMM handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, a, &zero, product, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, steps
    cusparseSpGEMM_workEstimation(GEMM, &bytes, NULL);
    cusparseSpGEMM_workEstimation(GEMM, &bytes, buffer);
    cusparseSpGEMM_compute(GEMM, &bytes, NULL);
    cusparseSpGEMM_compute(GEMM, &bytes, buffer);
    int64_t rows, cols, nnz;
    cusparseSpMatGetSize(product, &rows, &cols, &nnz);
    cudaMalloc(&columns_c, nnz * sizeof(int));
    cudaMalloc(&values_c, nnz * sizeof(double));
    cusparseCsrSetPointers(product, offsets_c, columns_c, values_c);
    cusparseSpGEMM_copy(GEMM);
    show("offsets", offsets_c, 4);
    show("columns", columns_c, nnz);
    show("values", values_c, nnz);
    // The lower triangle: 1, 3, (4, 5).
    cusparseSpSVDescr_t system;
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseSpSV_createDescr(&system);
    cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill);
#define SOLVE handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, vy, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, system
    cusparseSpSV_bufferSize(SOLVE, &bytes);
    cusparseSpSV_analysis(SOLVE, buffer);
    cusparseSpSV_solve(SOLVE);
    show("spsv", y, 3);
    // Dense to sparse, by columns.
    cusparseSpMatDescr_t made;
    cusparseCreateCsc(&made, 3, 2, 0, offsets_c, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F);
    cudaMemset(c, 0, sizeof(double));
    cusparseDenseToSparse_analysis(handle, mc, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer);
    cusparseSpMatGetSize(made, &rows, &cols, &nnz);
    cusparseCscSetPointers(made, offsets_c, columns_c, values_c);
    cusparseDenseToSparse_convert(handle, mc, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer);
    printf("made %d %d\n", (int)nnz, set == stream);
    show("offsets", offsets_c, 3);
    show("rows", columns_c, 5);
    // Incomplete factors, and a pivot of 0.
    cusparseMatDescr_t descr;
    csrilu02Info_t info;
    int pivot, size;
    cusparseCreateMatDescr(&descr);
    cusparseCreateCsrilu02Info(&info);
    cusparseDcsrilu02_bufferSize(handle, 3, 5, descr, values, offsets, columns, info, &size);
    cusparseDcsrilu02_analysis(handle, 3, 5, descr, values, offsets, columns, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer);
    printf("pivot %d", cusparseXcsrilu02_zeroPivot(handle, info, &pivot));
    cusparseDcsrilu02(handle, 3, 5, descr, values, offsets, columns, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer);
    printf(" %d", cusparseXcsrilu02_zeroPivot(handle, info, &pivot));
    cudaMemset(values + 2, 0, sizeof(double));
    printf(" %d", cusparseXcsrilu02_zeroPivot(handle, info, &pivot));
    printf(" %d\n", pivot);
    show("lu", values, 5);
    cusparseDestroySpMat(a);
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnMat(mb);
    cusparseSpSV_destroyDescr(system);
    return cusparseDestroy(handle);
}
"""
)


def test_products_systems_and_conversions(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(PRODUCTS)
    ran = run("app.cu", "-lcusparse")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == [
        "spmv 27 18 55",  # 2 A x + A^T x
        "spmm 7 16 6 15 19 46",
        "offsets 0 2 3 5",
        "columns 0 2 1 0 2",
        "values 9 12 9 24 33",
        "spsv 1 0.666667 -0.2",
        "made 5 1",
        "offsets 1 3 6",
        "rows 2 3 1 2 3",
        "pivot 0 0 9 1",
        "lu 1 2 0 4 -3",
    ]


WRONG = (
    COMMON
    + r"""
int main()
{
    cusparseHandle_t handle = NULL;
    cusparseSpMatDescr_t a, none;
    cusparseDnVecDescr_t x, y;
    float one = 1, *values = give<float>({1, 2, 3});
    int *offsets = give<int>({0, 1, 2, 3}), *columns = give<int>({0, 1, 7}), version;
    size_t bytes;
    printf("%d %d %d", cusparseCreate(NULL), cusparseDestroy(NULL), cusparseGetVersion(NULL, &version));
    cusparseCreate(&handle);
    printf(" %d %d\n", cusparseGetVersion(handle, NULL), cusparseSetPointerMode(handle, (cusparsePointerMode_t)5));
#define CSR(rows, cols, nnz, o, c, v, type, index) \
    cusparseCreateCsr(&none, rows, cols, nnz, o, c, v, index, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type)
    printf("%d %d %d %d", CSR(-1, 3, 0, offsets, columns, values, CUDA_R_32F, CUSPARSE_INDEX_32I),
           CSR(3, 3, 10, offsets, columns, values, CUDA_R_32F, CUSPARSE_INDEX_32I),
           CSR(3, 3, 3, offsets, NULL, values, CUDA_R_32F, CUSPARSE_INDEX_32I),
           CSR(3, 3, 3, offsets, columns, values, CUDA_R_8I, CUSPARSE_INDEX_32I));
    printf(" %d\n", CSR(3, 3, 3, offsets, columns, values, CUDA_R_32F, CUSPARSE_INDEX_16U));
    cusparseCreateCsr(&a, 3, 8, 3, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnVec(&x, 3, values, CUDA_R_32F);
    cusparseCreateDnVec(&y, 3, values, CUDA_R_32F);
#define SPMV(handle, op, alpha, a, type) cusparseSpMV(handle, op, alpha, a, x, &one, y, type, CUSPARSE_SPMV_ALG_DEFAULT, NULL)
    printf("%d %d %d %d", SPMV(NULL, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, CUDA_R_32F), SPMV(handle, (cusparseOperation_t)9, &one, a, CUDA_R_32F),
           SPMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, NULL, a, CUDA_R_32F), SPMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, CUDA_R_32F));
    cusparseCreateCsr(&none, 3, 3, 3, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    printf(" %d", SPMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, none, CUDA_R_32I));
    printf(" %d", cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, none, x, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL));
    cusparseSpSVDescr_t system;
    cusparseSpSV_createDescr(&system);
    printf(" %d", cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, none, x, y, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, system));
    printf(" %d", cusparseSpSV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, y, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, system, &bytes));
    cusparseDestroyDnVec(x);
    printf(" %s %s\n", cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT), cusparseGetErrorString(CUSPARSE_STATUS_INVALID_VALUE));
    fflush(stdout);
    cusparseCreateDnVec(&x, 3, values, CUDA_R_32F);
    printf("%d\n", SPMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, none, CUDA_R_32F));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d\n", SPMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, none, CUDA_R_32F));
}
"""
)


def test_mistakes(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(WRONG)
    ran = run("app.cu", "-lcusparse")
    assert ran.lines == [
        "3 1 1 3 3",
        "3 3 3 10 10",
        "1 3 3 3 10 3 3 3 CUSPARSE_STATUS_ZERO_PIVOT invalid value",
        "0",
        "cudaErrorIllegalAddress",
        "6",
    ]
    assert "cusparseSpMV: A's column indices: number 2 is 7, counted from 0, of 3" in ran.err


def test_what_is_not_there(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(
        '#include <cusparse.h>\nextern "C" cusparseStatus_t cusparseSgtsv2(cusparseHandle_t);\n'
        "int main() { return cusparseSgtsv2(0); }\n"
    )
    ran = run("app.cu", "-lcusparse")
    assert ran.code == 2
    assert "uses cusparseSgtsv2, of cuSPARSE, which our CUDA runtime does not implement" in ran.err
    assert "cusparse.h declares what it implements" in ran.err
