/* cuSPARSE's generic products. Each has up to three functions with the same arguments: the size of its buffer, what may be
   prepared, and the product; all check alike. The worker computes (device/libraries/sparse/products.py). */
#include "sparse.h"

#include <stdlib.h>

#define SPMV                                                                                                    \
    cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,        \
        cusparseConstDnVecDescr_t vecX, const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,  \
        cusparseSpMVAlg_t alg
#define SPMM                                                                                                     \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                \
        cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC, \
        cudaDataType computeType, cusparseSpMMAlg_t alg
#define SDDMM                                                                                                    \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                \
        cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC, \
        cudaDataType computeType, cusparseSDDMMAlg_t alg
#define SPGEMM                                                                                                       \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                    \
        cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC, \
        cudaDataType computeType, cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descr

/* Whether numbers of `type` may be computed with in `compute`, complex with complex. */
static int goes_into(cudaDataType type, cudaDataType compute)
{
    int is_complex = type == CUDA_C_32F || type == CUDA_C_64F;
    int into_complex = compute == CUDA_C_32F || compute == CUDA_C_64F;
    return is_complex ? into_complex && kw_sparse_bytes(type) <= kw_sparse_bytes(compute)
                      : kw_sparse_bytes(type) <= kw_sparse_bytes(compute) / (into_complex ? 2 : 1);
}

static cusparseStatus_t give_size(size_t *size)
{
    if (!size)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *size = KW_SPARSE_BUFFER;
    return CUSPARSE_STATUS_SUCCESS;
}

/* What all of these begin with: the type of computation and the factors. `beta` NULL: there is none. */
static struct kw_sparse_call begin(cusparseHandle_t handle, cudaDataType type, const void *alpha, const void *beta)
{
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_WORD(type));
    kw_sparse_add(&call, kw_sparse_number(handle, alpha, type));
    if (beta)
        kw_sparse_add(&call, kw_sparse_number(handle, beta, type));
    return call;
}

/* Rows and columns of op(a matrix). */
static void shape_of(cusparseOperation_t op, int64_t rows, int64_t cols, int64_t *r, int64_t *c)
{
    int is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    *r = is_plain ? rows : cols;
    *c = is_plain ? cols : rows;
}

/* ---- with vectors ---- */

/* What factors of vectors of `type` are: float for half precision. */
static cudaDataType compute_type(cudaDataType type)
{
    return kw_sparse_is_compute(type) ? type : CUDA_R_32F;
}

KW_API cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t vecX,
                                      const void *beta, cusparseDnVecDescr_t vecY)
{
    REQUIRE(alpha && beta && KW_SPARSE_IS(vecX, SPARSE_VECTOR) && KW_SPARSE_IS(vecY, DENSE_VECTOR));
    REQUIRE(vecX->size == vecY->size && vecX->type == vecY->type);
    struct kw_sparse_call call = begin(handle, compute_type(vecX->type), alpha, beta);
    kw_sparse_add_sparse_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, __func__, &call);
}

KW_API cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t vecY,
                                       cusparseSpVecDescr_t vecX)
{
    REQUIRE(KW_SPARSE_IS(vecX, SPARSE_VECTOR) && KW_SPARSE_IS(vecY, DENSE_VECTOR));
    REQUIRE(vecX->size == vecY->size && vecX->type == vecY->type);
    struct kw_sparse_call call = {0};
    kw_sparse_add_sparse_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, __func__, &call);
}

KW_API cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t vecX,
                                        cusparseDnVecDescr_t vecY)
{
    REQUIRE(KW_SPARSE_IS(vecX, SPARSE_VECTOR) && KW_SPARSE_IS(vecY, DENSE_VECTOR));
    REQUIRE(vecX->size == vecY->size && vecX->type == vecY->type);
    struct kw_sparse_call call = {0};
    kw_sparse_add_sparse_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, __func__, &call);
}

KW_API cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void *c_coeff, const void *s_coeff,
                                    cusparseSpVecDescr_t vecX, cusparseDnVecDescr_t vecY)
{
    REQUIRE(c_coeff && s_coeff && KW_SPARSE_IS(vecX, SPARSE_VECTOR) && KW_SPARSE_IS(vecY, DENSE_VECTOR));
    REQUIRE(vecX->size == vecY->size && vecX->type == vecY->type);
    struct kw_sparse_call call = begin(handle, compute_type(vecX->type), c_coeff, s_coeff);
    kw_sparse_add_sparse_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, __func__, &call);
}

static cusparseStatus_t check_spvv(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                                   cusparseConstDnVecDescr_t y, const void *result, cudaDataType type)
{
    REQUIRE(result && kw_sparse_is_operation(op) && KW_SPARSE_IS(x, SPARSE_VECTOR) && KW_SPARSE_IS(y, DENSE_VECTOR));
    REQUIRE(x->size == y->size);
    return kw_sparse_is_compute(type) && goes_into(x->type, type) && goes_into(y->type, type)
               ? CUSPARSE_STATUS_SUCCESS
               : CUSPARSE_STATUS_NOT_SUPPORTED;
}

KW_API cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opX,
                                                cusparseConstSpVecDescr_t vecX, cusparseConstDnVecDescr_t vecY,
                                                const void *result, cudaDataType computeType, size_t *bufferSize)
{
    cusparseStatus_t status = check_spvv(handle, opX, vecX, vecY, result, computeType);
    return status ? status : give_size(bufferSize);
}

KW_API cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t opX, cusparseConstSpVecDescr_t vecX,
                                     cusparseConstDnVecDescr_t vecY, void *result, cudaDataType computeType,
                                     void *externalBuffer)
{
    (void)externalBuffer;
    cusparseStatus_t status = check_spvv(handle, opX, vecX, vecY, result, computeType);
    if (status)
        return status;
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, KW_WORD(computeType));
    kw_sparse_add(&call, kw_answer(result, kw_sparse_bytes(computeType),
                                   handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE));
    kw_sparse_add(&call, KW_WORD(opX));
    kw_sparse_add_sparse_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, __func__, &call);
}

/* ---- the three stages of a product ---- */

#define STAGES(Name, parameters, arguments)                                            \
    KW_API cusparseStatus_t cusparse##Name##_bufferSize(UNPACK parameters, size_t *bufferSize) \
    {                                                                                  \
        cusparseStatus_t status = check_##Name arguments;                              \
        return status ? status : give_size(bufferSize);                                \
    }                                                                                  \
    KW_API cusparseStatus_t cusparse##Name##_preprocess(UNPACK parameters, void *externalBuffer) \
    {                                                                                  \
        (void)externalBuffer;                                                          \
        return check_##Name arguments;                                                 \
    }                                                                                  \
    KW_API cusparseStatus_t cusparse##Name(UNPACK parameters, void *externalBuffer)    \
    {                                                                                  \
        (void)externalBuffer;                                                          \
        cusparseStatus_t status = check_##Name arguments;                              \
        return status ? status : run_##Name arguments;                                 \
    }
#define UNPACK(...) __VA_ARGS__

/* ---- Y = alpha op(A) X + beta Y ---- */

static cusparseStatus_t check_SpMV(SPMV)
{
    int64_t rows, cols;
    REQUIRE(alpha && beta && kw_sparse_is_operation(opA) && KW_SPARSE_IS(matA, SPARSE_MATRIX));
    REQUIRE(KW_SPARSE_IS(vecX, DENSE_VECTOR) && KW_SPARSE_IS(vecY, DENSE_VECTOR) && (unsigned)alg <= CUSPARSE_SPMV_SELL_ALG1);
    shape_of(opA, matA->rows, matA->cols, &rows, &cols);
    REQUIRE(vecX->size == cols && vecY->size == rows);
    return kw_sparse_is_compute(computeType) && goes_into(matA->type, computeType) && goes_into(vecX->type, computeType) &&
                   goes_into(vecY->type, computeType)
               ? CUSPARSE_STATUS_SUCCESS
               : CUSPARSE_STATUS_NOT_SUPPORTED;
}

static cusparseStatus_t run_SpMV(SPMV)
{
    (void)alg;
    struct kw_sparse_call call = begin(handle, computeType, alpha, beta);
    kw_sparse_add(&call, KW_WORD(opA));
    kw_sparse_add_matrix(&call, matA);
    kw_sparse_add_vector(&call, vecX);
    kw_sparse_add_vector(&call, vecY);
    return kw_sparse_send(handle, "cusparseSpMV", &call);
}

STAGES(SpMV, (SPMV),
       (handle, opA, alpha, matA, vecX, beta, vecY, computeType, alg))

/* ---- C = alpha op(A) op(B) + beta C, A sparse ---- */

/* What a sparse and a dense matrix have in common. */
struct operand {
    int64_t rows, cols;
    cudaDataType type;
    int batch;
};

#define OPERAND(matrix) ((struct operand){(matrix)->rows, (matrix)->cols, (matrix)->type, (matrix)->batch})

/* Whether op(A) op(B) has C's shape and types. Batches: as many as C has, of A and B as many or one. */
static cusparseStatus_t check_product(cusparseOperation_t op_a, struct operand a, cusparseOperation_t op_b, struct operand b,
                                      struct operand c, cudaDataType compute)
{
    int64_t rows, inner, inner_of_b, cols;
    shape_of(op_a, a.rows, a.cols, &rows, &inner);
    shape_of(op_b, b.rows, b.cols, &inner_of_b, &cols);
    if (inner != inner_of_b || c.rows != rows || c.cols != cols)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if ((a.batch != 1 && a.batch != c.batch) || (b.batch != 1 && b.batch != c.batch))
        return CUSPARSE_STATUS_INVALID_VALUE;
    return kw_sparse_is_compute(compute) && goes_into(a.type, compute) && goes_into(b.type, compute) && goes_into(c.type, compute)
               ? CUSPARSE_STATUS_SUCCESS
               : CUSPARSE_STATUS_NOT_SUPPORTED;
}

static cusparseStatus_t check_SpMM(SPMM)
{
    (void)alg;
    REQUIRE(alpha && beta && kw_sparse_is_operation(opA) && kw_sparse_is_operation(opB));
    REQUIRE(KW_SPARSE_IS(matA, SPARSE_MATRIX) && KW_SPARSE_IS(matB, DENSE_MATRIX) && KW_SPARSE_IS(matC, DENSE_MATRIX));
    return check_product(opA, OPERAND(matA), opB, OPERAND(matB), OPERAND(matC), computeType);
}

static cusparseStatus_t run_SpMM(SPMM)
{
    (void)alg;
    struct kw_sparse_call call = begin(handle, computeType, alpha, beta);
    kw_sparse_add(&call, KW_WORD(opA));
    kw_sparse_add(&call, KW_WORD(opB));
    kw_sparse_add_matrix(&call, matA);
    kw_sparse_add_dense(&call, matB);
    kw_sparse_add_dense(&call, matC);
    return kw_sparse_send(handle, "cusparseSpMM", &call);
}

STAGES(SpMM, (SPMM),
       (handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg))

/* ---- C = alpha (op(A) op(B)) where C has entries + beta C, C sparse ---- */

static cusparseStatus_t check_SDDMM(SDDMM)
{
    (void)alg;
    REQUIRE(alpha && beta && kw_sparse_is_operation(opA) && kw_sparse_is_operation(opB));
    REQUIRE(KW_SPARSE_IS(matC, SPARSE_MATRIX) && KW_SPARSE_IS(matB, DENSE_MATRIX) && KW_SPARSE_IS(matA, DENSE_MATRIX));
    return check_product(opA, OPERAND(matA), opB, OPERAND(matB), OPERAND(matC), computeType);
}

static cusparseStatus_t run_SDDMM(SDDMM)
{
    (void)alg;
    struct kw_sparse_call call = begin(handle, computeType, alpha, beta);
    kw_sparse_add(&call, KW_WORD(opA));
    kw_sparse_add(&call, KW_WORD(opB));
    kw_sparse_add_dense(&call, matA);
    kw_sparse_add_dense(&call, matB);
    kw_sparse_add_matrix(&call, matC);
    return kw_sparse_send(handle, "cusparseSDDMM", &call);
}

STAGES(SDDMM, (SDDMM),
       (handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg))

/* ---- C = alpha A B + beta C, all sparse: its entries are counted first, then the program makes room for them ---- */

struct cusparseSpGEMMDescr {
    uint32_t magic;
    int64_t products; /* that the last estimation counted */
};

KW_API cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr)
{
    if (!descr)
        return CUSPARSE_STATUS_INVALID_VALUE;
    struct cusparseSpGEMMDescr *made = calloc(1, sizeof *made);
    if (!made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    made->magic = KW_SPARSE_STEPS;
    *descr = made;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr)
{
    if (!KW_SPARSE_IS(descr, SPARSE_STEPS))
        return CUSPARSE_STATUS_INVALID_VALUE;
    descr->magic = 0;
    free(descr);
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check_spgemm(SPGEMM)
{
    (void)alg;
    REQUIRE(alpha && beta && kw_sparse_is_operation(opA) && kw_sparse_is_operation(opB) && KW_SPARSE_IS(descr, SPARSE_STEPS));
    REQUIRE(KW_SPARSE_IS(matA, SPARSE_MATRIX) && KW_SPARSE_IS(matB, SPARSE_MATRIX) && KW_SPARSE_IS(matC, SPARSE_MATRIX));
    REQUIRE(matA->cols == matB->rows && matC->rows == matA->rows && matC->cols == matB->cols);
    int is_csr = matA->format == CUSPARSE_FORMAT_CSR && matB->format == CUSPARSE_FORMAT_CSR &&
                 matC->format == CUSPARSE_FORMAT_CSR;
    int is_plain = opA == CUSPARSE_OPERATION_NON_TRANSPOSE && opB == CUSPARSE_OPERATION_NON_TRANSPOSE;
    int is_one = matA->batch == 1 && matB->batch == 1 && matC->batch == 1;
    return is_csr && is_plain && is_one && kw_sparse_is_compute(computeType) && goes_into(matA->type, computeType) &&
                   goes_into(matB->type, computeType) && goes_into(matC->type, computeType)
               ? CUSPARSE_STATUS_SUCCESS
               : CUSPARSE_STATUS_NOT_SUPPORTED;
}

static cusparseStatus_t run_spgemm(const char *name, int64_t *count, SPGEMM)
{
    cusparseStatus_t status = check_spgemm(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg, descr);
    if (status)
        return status;
    struct kw_sparse_call call = begin(handle, computeType, alpha, beta);
    if (count)
        kw_sparse_add(&call, kw_answer(count, sizeof *count, 0));
    kw_sparse_add_matrix(&call, matA);
    kw_sparse_add_matrix(&call, matB);
    kw_sparse_add_matrix(&call, matC);
    return kw_sparse_send(handle, name, &call);
}

KW_API cusparseStatus_t cusparseSpGEMM_workEstimation(SPGEMM, size_t *bufferSize1, void *externalBuffer1)
{
    cusparseStatus_t status = check_spgemm(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg, descr);
    if (status)
        return status;
    if (!externalBuffer1)
        return give_size(bufferSize1);
    struct kw_sparse_call call = {0};
    kw_sparse_add(&call, kw_answer(&descr->products, sizeof descr->products, 0));
    kw_sparse_add_matrix(&call, matA);
    kw_sparse_add_matrix(&call, matB);
    return kw_sparse_send(handle, __func__, &call);
}

/* How many multiplications the product takes. */
KW_API cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr, int64_t *num_prods)
{
    if (!KW_SPARSE_IS(descr, SPARSE_STEPS) || !num_prods)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *num_prods = descr->products;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSpGEMM_estimateMemory(SPGEMM, float chunk_fraction, size_t *bufferSize3,
                                                      void *externalBuffer3, size_t *bufferSize2)
{
    cusparseStatus_t status = check_spgemm(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg, descr);
    if (status)
        return status;
    if (chunk_fraction <= 0 || chunk_fraction > 1)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return give_size(externalBuffer3 ? bufferSize2 : bufferSize3);
}

/* Without a buffer it says how large that should be; with one it counts C's entries. */
KW_API cusparseStatus_t cusparseSpGEMM_compute(SPGEMM, size_t *bufferSize2, void *externalBuffer2)
{
    cusparseStatus_t status = check_spgemm(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg, descr);
    if (status)
        return status;
    if (!externalBuffer2)
        return give_size(bufferSize2);
    int64_t count = 0;
    status = run_spgemm(__func__, &count, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg, descr);
    if (!status)
        matC->nnz = count;
    return status;
}

KW_API cusparseStatus_t cusparseSpGEMM_copy(SPGEMM)
{
    return run_spgemm(__func__, NULL, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg, descr);
}
