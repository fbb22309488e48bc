/* cublasLt: what describes a product is kept here; the product itself is one call. */
#include "cublas_calls.h"
#include "cublasLt.h"

#include <stdlib.h>
#include <string.h>

struct cublasLtContext {
    int unused;
};

/* What lies in the program's opaque structures. */
struct product {
    int compute, scale, pointer_mode, transa, transb, epilogue, bias_type; /* bias_type -1: that of D */
    const void *bias;
};

struct layout {
    int type, order, count;
    uint64_t rows, cols;
    int64_t ld, stride;
};

_Static_assert(sizeof(struct product) <= sizeof(cublasLtMatmulDescOpaque_t), "it has room");
_Static_assert(sizeof(struct layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "it has room");

#define CREATE(pointer)                                \
    do {                                               \
        if (!(pointer))                                \
            return CUBLAS_STATUS_INVALID_VALUE;        \
        *(pointer) = calloc(1, sizeof **(pointer));    \
        if (!*(pointer))                               \
            return CUBLAS_STATUS_ALLOC_FAILED;         \
    } while (0)

#define DESTROY(name, T)                       \
    KW_API cublasStatus_t name(T destroyed)    \
    {                                          \
        if (!destroyed)                        \
            return CUBLAS_STATUS_INVALID_VALUE; \
        free(destroyed);                       \
        return CUBLAS_STATUS_SUCCESS;          \
    }
DESTROY(cublasLtDestroy, cublasLtHandle_t)
DESTROY(cublasLtMatmulDescDestroy, cublasLtMatmulDesc_t)
DESTROY(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayout_t)
DESTROY(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreference_t)

KW_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    if (kw_connect())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!kw_library_is_served("cublasLt"))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    CREATE(handle);
    return CUBLAS_STATUS_SUCCESS;
}

KW_API size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

KW_API cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType scale)
{
    if (!desc)
        return CUBLAS_STATUS_INVALID_VALUE;
    *(struct product *)desc = (struct product){
        .compute = compute, .scale = scale, .epilogue = CUBLASLT_EPILOGUE_DEFAULT, .bias_type = -1};
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                               cudaDataType scale)
{
    CREATE(desc);
    return cublasLtMatmulDescInit(*desc, compute, scale);
}

/* Copies a value of exactly the field's size. */
#define SET(field)                                 \
    do {                                           \
        if (!value || bytes != sizeof(field))      \
            return CUBLAS_STATUS_INVALID_VALUE;    \
        memcpy(&(field), value, bytes);            \
        return CUBLAS_STATUS_SUCCESS;              \
    } while (0)

KW_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t given,
                                                     cublasLtMatmulDescAttributes_t attribute, const void *value,
                                                     size_t bytes)
{
    struct product *desc = (struct product *)given;
    if (!desc)
        return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
        SET(desc->compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
        SET(desc->scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
        SET(desc->pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
        SET(desc->transa);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        SET(desc->transb);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        SET(desc->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        SET(desc->bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        SET(desc->bias_type);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

KW_API cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                               uint64_t cols, int64_t ld)
{
    if (!layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    *(struct layout *)layout = (struct layout){.type = type, .rows = rows, .cols = cols, .ld = ld, .count = 1};
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                                 uint64_t cols, int64_t ld)
{
    CREATE(layout);
    return cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld);
}

KW_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t given,
                                                       cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                                       size_t bytes)
{
    struct layout *layout = (struct layout *)given;
    if (!layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
        SET(layout->type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
        SET(layout->order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
        SET(layout->rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
        SET(layout->cols);
    case CUBLASLT_MATRIX_LAYOUT_LD:
        SET(layout->ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        SET(layout->count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        SET(layout->stride);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

KW_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    CREATE(preference);
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference)
{
    return preference ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* There is one way here, which needs no workspace and no alignment. */
KW_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                           cublasLtMatmulPreferenceAttributes_t attribute,
                                                           const void *value, size_t bytes)
{
    (void)attribute;
    return preference && value && bytes ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* What of a product is wrong, or is not there. */
static cublasStatus_t check(const struct product *desc, const struct layout *A,
                            const struct layout *B, const struct layout *C,
                            const struct layout *D)
{
    if (!desc || !A || !B || !C || !D)
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct layout *const all[] = {A, B, C, D};
    for (int i = 0; i < 4; i++) {
        if (all[i]->order != CUBLASLT_ORDER_COL)
            return CUBLAS_STATUS_NOT_SUPPORTED;
        if (all[i]->ld < (int64_t)all[i]->rows || all[i]->count != D->count)
            return CUBLAS_STATUS_INVALID_VALUE;
        if (all[i]->type != CUDA_R_32F && all[i]->type != CUDA_R_64F && all[i]->type != CUDA_R_16F &&
            all[i]->type != CUDA_R_16BF && all[i]->type != CUDA_R_8I && all[i]->type != CUDA_R_32I)
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    /* Whole numbers are of 8 bits and summed in 32. */
    int is_whole = desc->scale == CUDA_R_32I;
    if ((A->type == CUDA_R_8I) != is_whole || (B->type == CUDA_R_8I) != is_whole ||
        (D->type == CUDA_R_32I) != is_whole || C->type != D->type)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    uint64_t k = desc->transa == CUBLAS_OP_N ? A->cols : A->rows;
    if (D->rows != (desc->transa == CUBLAS_OP_N ? A->rows : A->cols) ||
        D->cols != (desc->transb == CUBLAS_OP_N ? B->cols : B->rows) ||
        k != (desc->transb == CUBLAS_OP_N ? B->rows : B->cols) || C->rows != D->rows || C->cols != D->cols)
        return CUBLAS_STATUS_INVALID_VALUE;
    if ((desc->scale != CUDA_R_32F && desc->scale != CUDA_R_64F && desc->scale != CUDA_R_16F && !is_whole) ||
        desc->pointer_mode)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (desc->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

KW_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                                     cublasLtMatrixLayout_t A, cublasLtMatrixLayout_t B,
                                                     cublasLtMatrixLayout_t C, cublasLtMatrixLayout_t D,
                                                     cublasLtMatmulPreference_t preference, int wanted,
                                                     cublasLtMatmulHeuristicResult_t results[], int *found)
{
    if (!handle || !preference || wanted < 1 || !results || !found)
        return CUBLAS_STATUS_INVALID_VALUE;
    *found = 0;
    cublasStatus_t status = check((void *)desc, (void *)A, (void *)B, (void *)C, (void *)D);
    if (status)
        return status;
    memset(results, 0, sizeof *results);
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

#define LAYOUT(at, layout) KW_ADDRESS(at), KW_WORD((layout)->type), KW_WORD((layout)->ld), KW_WORD((layout)->stride)

KW_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                                     const void *A, cublasLtMatrixLayout_t Adesc, const void *B,
                                     cublasLtMatrixLayout_t Bdesc, const void *beta, const void *C,
                                     cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
                                     const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes,
                                     cudaStream_t stream)
{
    const struct product *p = (void *)desc;
    const struct layout *la = (void *)Adesc, *lb = (void *)Bdesc, *lc = (void *)Cdesc, *ld = (void *)Ddesc;
    (void)algo, (void)workspace, (void)bytes;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = check(p, la, lb, lc, ld);
    if (status || !ld->rows || !ld->cols)
        return status;
    size_t size = p->scale == CUDA_R_64F ? 8 : p->scale == CUDA_R_16F ? 2 : 4;
    uint64_t k = p->transa == CUBLAS_OP_N ? la->cols : la->rows;
    struct kw_argument argument[] = {
        KW_WORD(p->transa), KW_WORD(p->transb), KW_WORD(ld->rows), KW_WORD(ld->cols), KW_WORD(k),
        kw_number(alpha, size, 0), kw_number(beta, size, 0), KW_WORD(p->scale),
        LAYOUT(A, la), LAYOUT(B, lb), LAYOUT(C, lc), LAYOUT(D, ld), KW_WORD(ld->count),
        KW_WORD(p->epilogue), KW_ADDRESS(p->bias),
        KW_WORD(p->bias_type < 0 ? ld->type : p->bias_type),
    };
    return kw_cublas_status(kw_library(__func__, stream, argument, sizeof argument / sizeof *argument));
}
