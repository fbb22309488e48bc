/* cuSPARSE's triangular systems and incomplete LU factors (device/libraries/sparse/solves.py). */
#include "sparse.h"

#include <stdlib.h>

/* ---- op(A) y = alpha x, A a triangle of a sparse matrix ---- */

struct cusparseSpSVDescr {
    uint32_t magic;
    cusparseConstSpMatDescr_t analysed;
};

struct cusparseSpSMDescr {
    uint32_t magic;
    cusparseConstSpMatDescr_t analysed;
};

#define DESCRIPTOR(Name)                                                                               \
    KW_API cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t *descr)               \
    {                                                                                                  \
        if (!descr)                                                                                    \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                      \
        struct cusparse##Name##Descr *made = calloc(1, sizeof *made);                                  \
        if (!made)                                                                                     \
            return CUSPARSE_STATUS_ALLOC_FAILED;                                                       \
        made->magic = KW_SPARSE_STEPS;                                                                 \
        *descr = made;                                                                                 \
        return CUSPARSE_STATUS_SUCCESS;                                                                \
    }                                                                                                  \
    KW_API cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descr)               \
    {                                                                                                  \
        if (!KW_SPARSE_IS(descr, SPARSE_STEPS))                                                        \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                      \
        descr->magic = 0;                                                                              \
        free(descr);                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                \
    }
DESCRIPTOR(SpSV)
DESCRIPTOR(SpSM)

/* What the functions of a system have in common: the size of a buffer, the analysis, the solution. */
#define STAGES(Name, parameters, arguments)                                              \
    KW_API cusparseStatus_t cusparse##Name##_bufferSize(parameters, size_t *bufferSize)  \
    {                                                                                    \
        cusparseStatus_t status = check_##Name arguments;                                \
        if (status || !bufferSize)                                                       \
            return status ? status : CUSPARSE_STATUS_INVALID_VALUE;                      \
        *bufferSize = KW_SPARSE_BUFFER;                                                  \
        return CUSPARSE_STATUS_SUCCESS;                                                  \
    }                                                                                    \
    KW_API cusparseStatus_t cusparse##Name##_analysis(parameters, void *externalBuffer)  \
    {                                                                                    \
        (void)externalBuffer;                                                            \
        cusparseStatus_t status = check_##Name arguments;                                \
        if (!status)                                                                     \
            descr->analysed = matA;                                                      \
        return status;                                                                   \
    }                                                                                    \
    KW_API cusparseStatus_t cusparse##Name##_solve(parameters)                           \
    {                                                                                    \
        cusparseStatus_t status = check_##Name arguments;                                \
        if (!status && descr->analysed != matA)                                          \
            return CUSPARSE_STATUS_INVALID_VALUE;                                        \
        return status ? status : solve_##Name arguments;                                 \
    }

static cusparseStatus_t is_supported(cudaDataType type, cudaDataType a, cudaDataType b, cudaDataType c)
{
    return kw_sparse_is_compute(type) && a == type && b == type && c == type ? CUSPARSE_STATUS_SUCCESS
                                                                             : CUSPARSE_STATUS_NOT_SUPPORTED;
}

#define SPSV                                                                                             \
    cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA, \
        cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY, cudaDataType computeType,             \
        cusparseSpSVAlg_t alg, cusparseSpSVDescr_t descr
#define SPSM                                                                                              \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,         \
        cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,        \
        cudaDataType computeType, cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descr

static cusparseStatus_t check_SpSV(SPSV)
{
    (void)alg;
    REQUIRE(alpha && kw_sparse_is_operation(opA) && KW_SPARSE_IS(matA, SPARSE_MATRIX) && KW_SPARSE_IS(descr, SPARSE_STEPS));
    REQUIRE(KW_SPARSE_IS(vecX, DENSE_VECTOR) && KW_SPARSE_IS(vecY, DENSE_VECTOR));
    REQUIRE(matA->rows == matA->cols && vecX->size == matA->rows && vecY->size == matA->rows);
    return is_supported(computeType, matA->type, vecX->type, vecY->type);
}

static cusparseStatus_t solve_SpSV(SPSV)
{
    (void)alg, (void)descr;
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_WORD(computeType));
    kw_sparse_add(&call, kw_sparse_number(handle, alpha, computeType));
    kw_sparse_add(&call, KW_WORD(opA));
    kw_sparse_add_matrix(&call, matA);
    kw_sparse_add_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, "cusparseSpSV_solve", &call);
}

STAGES(SpSV, SPSV, (handle, opA, alpha, matA, vecX, vecY, computeType, alg, descr))

/* ---- op(A) C = alpha op(B) ---- */

static cusparseStatus_t check_SpSM(SPSM)
{
    (void)alg;
    REQUIRE(alpha && kw_sparse_is_operation(opA) && kw_sparse_is_operation(opB) && KW_SPARSE_IS(descr, SPARSE_STEPS));
    REQUIRE(KW_SPARSE_IS(matA, SPARSE_MATRIX) && KW_SPARSE_IS(matB, DENSE_MATRIX) && KW_SPARSE_IS(matC, DENSE_MATRIX));
    int is_plain = opB == CUSPARSE_OPERATION_NON_TRANSPOSE;
    REQUIRE(matA->rows == matA->cols && matC->rows == matA->rows && (is_plain ? matB->rows : matB->cols) == matC->rows &&
            (is_plain ? matB->cols : matB->rows) == matC->cols);
    if (matA->batch != 1 || matB->batch != 1 || matC->batch != 1)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return is_supported(computeType, matA->type, matB->type, matC->type);
}

static cusparseStatus_t solve_SpSM(SPSM)
{
    (void)alg, (void)descr;
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_WORD(computeType));
    kw_sparse_add(&call, kw_sparse_number(handle, alpha, computeType));
    kw_sparse_add(&call, KW_WORD(opA));
    kw_sparse_add(&call, KW_WORD(opB));
    kw_sparse_add_matrix(&call, matA);
    kw_sparse_add_dense(&call, matB);
    kw_sparse_add_dense(&call, matC);
    return kw_sparse_send(handle, "cusparseSpSM_solve", &call);
}

STAGES(SpSM, SPSM, (handle, opA, opB, alpha, matA, matB, matC, computeType, alg, descr))

/* ---- A = L U, or A = L L^H, where A has entries, in place; the diagonal of the first L is 1 and not kept ---- */

struct csrilu02Info {
    uint32_t magic;
    int is_done;
    struct cusparseSpMatDescr matrix; /* what was factored last */
};

KW_API cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t *info)
{
    if (!info)
        return CUSPARSE_STATUS_INVALID_VALUE;
    struct csrilu02Info *made = calloc(1, sizeof *made);
    if (!made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    made->magic = KW_SPARSE_ILU;
    *info = made;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info)
{
    if (!info)
        return CUSPARSE_STATUS_SUCCESS;
    if (!KW_SPARSE_IS(info, SPARSE_ILU))
        return CUSPARSE_STATUS_INVALID_VALUE;
    info->magic = 0;
    free(info);
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check_ilu(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA,
                                  const void *values, const int *rowPtr, const int *colInd, csrilu02Info_t info)
{
    REQUIRE(m >= 0 && nnz >= 0 && KW_SPARSE_IS(descrA, SPARSE_INFO) && KW_SPARSE_IS(info, SPARSE_ILU));
    REQUIRE(!m || (rowPtr && (!nnz || (values && colInd))));
    return descrA->type == CUSPARSE_MATRIX_TYPE_GENERAL ? CUSPARSE_STATUS_SUCCESS
                                                        : CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
}

static cusparseStatus_t factor(cusparseHandle_t handle, const char *name, cudaDataType type, int m, int nnz,
                               const cusparseMatDescr_t descrA, void *values, const int *rowPtr, const int *colInd,
                               csrilu02Info_t info)
{
    cusparseStatus_t status = check_ilu(handle, m, nnz, descrA, values, rowPtr, colInd, info);
    if (status)
        return status;
    info->matrix = (struct cusparseSpMatDescr){
        .magic = KW_SPARSE_MATRIX, .format = CUSPARSE_FORMAT_CSR, .rows = m, .cols = m, .nnz = nnz,
        .first = (void *)rowPtr, .second = (void *)colInd, .values = values, .first_type = CUSPARSE_INDEX_32I,
        .second_type = CUSPARSE_INDEX_32I, .base = descrA->base, .type = type, .batch = 1,
    };
    info->is_done = 1;
    struct kw_sparse_call call = {0};
    kw_sparse_add_matrix(&call, &info->matrix);
    return kw_sparse_send(handle, name, &call);
}

/* The first row, counted from the matrix's index base, without a diagonal element that could be divided by; -1 where all have one. */
KW_API cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int *position)
{
    REQUIRE(KW_SPARSE_IS(info, SPARSE_ILU) && position);
    int found = -1;
    if (info->is_done) {
        struct kw_sparse_call call = {0};
        kw_sparse_add(&call, kw_answer(&found, sizeof found, 0));
        kw_sparse_add_matrix(&call, &info->matrix);
        cusparseStatus_t status = kw_sparse_send(handle, __func__, &call);
        if (status)
            return status;
    }
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
        cudaMemcpy(position, &found, sizeof found, cudaMemcpyHostToDevice);
    else
        *position = found;
    return found < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

KW_API cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t *info)
{
    return cusparseCreateCsrilu02Info(info);
}

KW_API cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info)
{
    return cusparseDestroyCsrilu02Info(info);
}

KW_API cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int *position)
{
    return cusparseXcsrilu02_zeroPivot(handle, info, position);
}

#define FACTORS(X, T, TYPE, kind)                                                                                   \
    KW_API cusparseStatus_t cusparse##X##kind##_bufferSize(cusparseHandle_t handle, int m, int nnz,                 \
                                                           const cusparseMatDescr_t descrA, T *values,              \
                                                           const int *rowPtr, const int *colInd, kind##Info_t info, \
                                                           int *bufferSize)                                         \
    {                                                                                                               \
        cusparseStatus_t status = check_ilu(handle, m, nnz, descrA, values, rowPtr, colInd, info);                  \
        if (status || !bufferSize)                                                                                  \
            return status ? status : CUSPARSE_STATUS_INVALID_VALUE;                                                 \
        *bufferSize = KW_SPARSE_BUFFER;                                                                             \
        return CUSPARSE_STATUS_SUCCESS;                                                                             \
    }                                                                                                               \
    KW_API cusparseStatus_t cusparse##X##kind##_analysis(cusparseHandle_t handle, int m, int nnz,                   \
                                                         const cusparseMatDescr_t descrA, const T *values,          \
                                                         const int *rowPtr, const int *colInd, kind##Info_t info,   \
                                                         cusparseSolvePolicy_t policy, void *buffer)                \
    {                                                                                                               \
        (void)policy, (void)buffer;                                                                                 \
        return check_ilu(handle, m, nnz, descrA, values, rowPtr, colInd, info);                                     \
    }                                                                                                               \
    KW_API cusparseStatus_t cusparse##X##kind(cusparseHandle_t handle, int m, int nnz,                              \
                                              const cusparseMatDescr_t descrA, T *values, const int *rowPtr,        \
                                              const int *colInd, kind##Info_t info, cusparseSolvePolicy_t policy,   \
                                              void *buffer)                                                         \
    {                                                                                                               \
        (void)policy, (void)buffer;                                                                                 \
        return factor(handle, __func__, TYPE, m, nnz, descrA, values, rowPtr, colInd, info);                        \
    }
FACTORS(S, float, CUDA_R_32F, csrilu02)
FACTORS(D, double, CUDA_R_64F, csrilu02)
FACTORS(C, cuComplex, CUDA_C_32F, csrilu02)
FACTORS(Z, cuDoubleComplex, CUDA_C_64F, csrilu02)
FACTORS(S, float, CUDA_R_32F, csric02)
FACTORS(D, double, CUDA_R_64F, csric02)
FACTORS(C, cuComplex, CUDA_C_32F, csric02)
FACTORS(Z, cuDoubleComplex, CUDA_C_64F, csric02)
