/* cuSPARSE's ways from one format to another, counts and sorts (device/libraries/sparse/conversions.py). */
#include "sparse.h"

/* A matrix of an older function: 32-bit indices. */
static struct cusparseSpMatDescr matrix_of(cusparseFormat_t format, int m, int n, int nnz, cusparseIndexBase_t base,
                                           const void *first, const void *second, const void *values,
                                           cudaDataType type)
{
    return (struct cusparseSpMatDescr){
        .magic = KW_SPARSE_MATRIX, .format = format, .rows = m, .cols = n, .nnz = nnz, .first = (void *)first,
        .second = (void *)second, .values = (void *)values, .first_type = CUSPARSE_INDEX_32I,
        .second_type = CUSPARSE_INDEX_32I, .base = base, .type = type, .batch = 1,
    };
}

static cusparseStatus_t give_size(size_t *size)
{
    if (!size)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *size = KW_SPARSE_BUFFER;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- offsets and indices of rows ---- */

static cusparseStatus_t convert_rows(cusparseHandle_t handle, const char *name, const int *from, int nnz, int m, int *to,
                                     cusparseIndexBase_t base)
{
    REQUIRE(nnz >= 0 && m >= 0 && kw_sparse_is_base(base) && from && to);
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_ADDRESS(from));
    kw_sparse_add(&call, KW_WORD(nnz));
    kw_sparse_add(&call, KW_WORD(m));
    kw_sparse_add(&call, KW_ADDRESS(to));
    kw_sparse_add(&call, KW_WORD(base));
    return kw_sparse_send(handle, name, &call);
}

KW_API cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *cooRowInd, int nnz, int m, int *csrRowPtr,
                                         cusparseIndexBase_t idxBase)
{
    return convert_rows(handle, __func__, cooRowInd, nnz, m, csrRowPtr, idxBase);
}

KW_API cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *csrRowPtr, int nnz, int m, int *cooRowInd,
                                         cusparseIndexBase_t idxBase)
{
    return convert_rows(handle, __func__, csrRowPtr, nnz, m, cooRowInd, idxBase);
}

/* ---- by rows to by columns ---- */

#define CSR2CSC                                                                                                 \
    cusparseHandle_t handle, int m, int n, int nnz, const void *csrVal, const int *csrRowPtr, const int *csrColInd, \
        void *cscVal, int *cscColPtr, int *cscRowInd, cudaDataType valType, cusparseAction_t copyValues,        \
        cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg

static cusparseStatus_t check_csr2csc(CSR2CSC)
{
    int has_values = copyValues == CUSPARSE_ACTION_NUMERIC;
    REQUIRE(m >= 0 && n >= 0 && nnz >= 0 && kw_sparse_is_base(idxBase) && alg == CUSPARSE_CSR2CSC_ALG1);
    REQUIRE(csrRowPtr && cscColPtr && (!nnz || (csrColInd && cscRowInd && (!has_values || (csrVal && cscVal)))));
    REQUIRE(has_values || copyValues == CUSPARSE_ACTION_SYMBOLIC);
    return kw_sparse_bytes(valType) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

KW_API cusparseStatus_t cusparseCsr2cscEx2_bufferSize(CSR2CSC, size_t *bufferSize)
{
    cusparseStatus_t status = check_csr2csc(handle, m, n, nnz, csrVal, csrRowPtr, csrColInd, cscVal, cscColPtr,
                                            cscRowInd, valType, copyValues, idxBase, alg);
    return status ? status : give_size(bufferSize);
}

KW_API cusparseStatus_t cusparseCsr2cscEx2(CSR2CSC, void *buffer)
{
    (void)buffer;
    cusparseStatus_t status = check_csr2csc(handle, m, n, nnz, csrVal, csrRowPtr, csrColInd, cscVal, cscColPtr,
                                            cscRowInd, valType, copyValues, idxBase, alg);
    if (status)
        return status;
    struct cusparseSpMatDescr from =
        matrix_of(CUSPARSE_FORMAT_CSR, m, n, nnz, idxBase, csrRowPtr, csrColInd, csrVal, valType);
    struct cusparseSpMatDescr to =
        matrix_of(CUSPARSE_FORMAT_CSC, m, n, nnz, idxBase, cscColPtr, cscRowInd, cscVal, valType);
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_WORD(copyValues));
    kw_sparse_add_matrix(&call, &from);
    kw_sparse_add_matrix(&call, &to);
    return kw_sparse_send(handle, __func__, &call);
}

/* ---- dense and sparse ---- */

static cusparseStatus_t check_dense(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse,
                                    cusparseConstDnMatDescr_t dense)
{
    REQUIRE(KW_SPARSE_IS(sparse, SPARSE_MATRIX) && KW_SPARSE_IS(dense, DENSE_MATRIX));
    REQUIRE(sparse->rows == dense->rows && sparse->cols == dense->cols && sparse->type == dense->type);
    return sparse->batch == 1 && dense->batch == 1 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

static cusparseStatus_t convert(cusparseHandle_t handle, const char *name, int64_t *count,
                                cusparseConstSpMatDescr_t sparse, cusparseConstDnMatDescr_t dense)
{
    cusparseStatus_t status = check_dense(handle, sparse, dense);
    if (status)
        return status;
    struct kw_sparse_call call = {0};
    if (count)
        kw_sparse_add(&call, kw_answer(count, sizeof *count, 0));
    kw_sparse_add_matrix(&call, sparse);
    kw_sparse_add_dense(&call, dense);
    return kw_sparse_send(handle, name, &call);
}

KW_API cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                                         cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg,
                                                         size_t *bufferSize)
{
    (void)alg;
    cusparseStatus_t status = check_dense(handle, matA, matB);
    return status ? status : give_size(bufferSize);
}

KW_API cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                              cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg,
                                              void *externalBuffer)
{
    (void)alg, (void)externalBuffer;
    return convert(handle, __func__, NULL, matA, matB);
}

KW_API cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
                                                         cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg,
                                                         size_t *bufferSize)
{
    (void)alg;
    cusparseStatus_t status = check_dense(handle, matB, matA);
    return status ? status : give_size(bufferSize);
}

/* Counts the entries, for which the program makes room then (cusparseSpMatGetSize, cusparseCsrSetPointers). */
KW_API cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
                                                       cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg,
                                                       void *externalBuffer)
{
    (void)alg, (void)externalBuffer;
    int64_t count = 0;
    cusparseStatus_t status = convert(handle, __func__, &count, matB, matA);
    if (!status)
        matB->nnz = count;
    return status;
}

KW_API cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
                                                      cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg,
                                                      void *externalBuffer)
{
    (void)alg, (void)externalBuffer;
    return convert(handle, __func__, NULL, matB, matA);
}

static cusparseStatus_t count_entries(cusparseHandle_t handle, const char *name, cudaDataType type,
                                      cusparseDirection_t dirA, int m, int n, const cusparseMatDescr_t descrA,
                                      const void *A, int lda, int *nnzPerRowColumn, int *nnzTotal)
{
    REQUIRE(m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1) && KW_SPARSE_IS(descrA, SPARSE_INFO) && nnzTotal);
    REQUIRE((!m || !n || A) && nnzPerRowColumn && (dirA == CUSPARSE_DIRECTION_ROW || dirA == CUSPARSE_DIRECTION_COLUMN));
    struct cusparseDnMatDescr dense = {KW_DENSE_MATRIX, m, n, lda, (void *)A, type, CUSPARSE_ORDER_COL, 1, 0};
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, kw_answer(nnzTotal, sizeof *nnzTotal, handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE));
    kw_sparse_add(&call, KW_WORD(dirA));
    kw_sparse_add_dense(&call, &dense);
    kw_sparse_add(&call, KW_ADDRESS(nnzPerRowColumn));
    return kw_sparse_send(handle, name, &call);
}

#define COUNT(X, T, TYPE)                                                                                             \
    KW_API cusparseStatus_t cusparse##X##nnz(cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n,         \
                                             const cusparseMatDescr_t descrA, const T *A, int lda,                    \
                                             int *nnzPerRowColumn, int *nnzTotal)                                     \
    {                                                                                                                 \
        return count_entries(handle, __func__, TYPE, dirA, m, n, descrA, A, lda, nnzPerRowColumn, nnzTotal);          \
    }
COUNT(S, float, CUDA_R_32F)
COUNT(D, double, CUDA_R_64F)
COUNT(C, cuComplex, CUDA_C_32F)
COUNT(Z, cuDoubleComplex, CUDA_C_64F)

/* ---- sorts ---- */

KW_API cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p)
{
    REQUIRE(n >= 0 && (!n || p));
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_WORD(n));
    kw_sparse_add(&call, KW_ADDRESS(p));
    return kw_sparse_send(handle, __func__, &call);
}

/* P may be NULL: the order is not asked for. */
static cusparseStatus_t sort(cusparseHandle_t handle, const char *name, int m, int n, int nnz, cusparseIndexBase_t base,
                             const int *first, int *second, int *P)
{
    REQUIRE(m >= 0 && n >= 0 && nnz >= 0 && (!nnz || (first && second)));
    struct cusparseSpMatDescr matrix =
        matrix_of(CUSPARSE_FORMAT_COO, m, n, nnz, base, first, second, NULL, CUDA_R_32F);
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_ADDRESS(P));
    kw_sparse_add_matrix(&call, &matrix);
    return kw_sparse_send(handle, name, &call);
}

KW_API cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                       const int *csrRowPtr, const int *csrColInd, size_t *bufferSize)
{
    REQUIRE(m >= 0 && n >= 0 && nnz >= 0 && (!nnz || (csrRowPtr && csrColInd)));
    return give_size(bufferSize);
}

KW_API cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz,
                                         const cusparseMatDescr_t descrA, const int *csrRowPtr, int *csrColInd, int *P,
                                         void *buffer)
{
    (void)buffer;
    REQUIRE(KW_SPARSE_IS(descrA, SPARSE_INFO));
    return sort(handle, __func__, m, n, nnz, descrA->base, csrRowPtr, csrColInd, P);
}

KW_API cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                       const int *cooRows, const int *cooCols, size_t *bufferSize)
{
    REQUIRE(m >= 0 && n >= 0 && nnz >= 0 && (!nnz || (cooRows && cooCols)));
    return give_size(bufferSize);
}

KW_API cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz, int *cooRows,
                                              int *cooCols, int *P, void *buffer)
{
    (void)buffer;
    return sort(handle, __func__, m, n, nnz, CUSPARSE_INDEX_BASE_ZERO, cooRows, cooCols, P);
}

KW_API cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz, int *cooRows,
                                                 int *cooCols, int *P, void *buffer)
{
    (void)buffer;
    return sort(handle, __func__, m, n, nnz, CUSPARSE_INDEX_BASE_ZERO, cooRows, cooCols, P);
}
