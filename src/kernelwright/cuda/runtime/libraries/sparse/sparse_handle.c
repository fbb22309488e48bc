/* Handles of cuSPARSE, its statuses, what older functions are told of a matrix, and calls on their way to the worker. */
#include "sparse.h"

#include <stdlib.h>

static cusparseStatus_t status_of(int error)
{
    switch (error) {
    case 0:
        return CUSPARSE_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
        return CUSPARSE_STATUS_ALLOC_FAILED;
    case cudaErrorNotSupported:
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    case cudaErrorInvalidResourceHandle:
        return CUSPARSE_STATUS_INVALID_VALUE;
    }
    return CUSPARSE_STATUS_EXECUTION_FAILED;
}

KW_API cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
    if (!handle)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (kw_connect() || !kw_library_is_served("cuSPARSE"))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    struct cusparseContext *made = calloc(1, sizeof *made);
    if (!made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    made->magic = KW_SPARSE_HANDLE;
    *handle = made;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
    REQUIRE(1);
    cudaStream_t stream = handle->stream;
    handle->magic = 0;
    free(handle);
    /* Waits for the work, as NVIDIA's does, which frees memory of the device. */
    kw_stream_wait(stream);
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
    REQUIRE(version);
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
    static const int parts[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *value = parts[type];
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
    uint64_t number;
    REQUIRE(!kw_stream_number(stream, &number));
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *stream)
{
    REQUIRE(stream);
    *stream = handle->stream;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode)
{
    REQUIRE(mode == CUSPARSE_POINTER_MODE_HOST || mode == CUSPARSE_POINTER_MODE_DEVICE);
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode)
{
    REQUIRE(mode);
    *mode = handle->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

#define STATUSES(X)                                                              \
    X(SUCCESS, "success")                                                        \
    X(NOT_INITIALIZED, "initialization error")                                   \
    X(ALLOC_FAILED, "out of memory")                                             \
    X(INVALID_VALUE, "invalid value")                                            \
    X(ARCH_MISMATCH, "architecture mismatch")                                    \
    X(MAPPING_ERROR, "texture memory error")                                     \
    X(EXECUTION_FAILED, "kernel launch failure")                                 \
    X(INTERNAL_ERROR, "internal error")                                          \
    X(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported")                    \
    X(ZERO_PIVOT, "zero pivot")                                                  \
    X(NOT_SUPPORTED, "operation not supported")                                  \
    X(INSUFFICIENT_RESOURCES, "insufficient resources")

KW_API const char *cusparseGetErrorName(cusparseStatus_t status)
{
    switch (status) {
#define NAME(name, text)         \
    case CUSPARSE_STATUS_##name: \
        return "CUSPARSE_STATUS_" #name;
        STATUSES(NAME)
    }
    return "unrecognized error code";
}

KW_API const char *cusparseGetErrorString(cusparseStatus_t status)
{
    switch (status) {
#define TEXT(name, text)         \
    case CUSPARSE_STATUS_##name: \
        return text;
        STATUSES(TEXT)
    }
    return "unrecognized error code";
}

/* ---- what older functions are told of a matrix ---- */

KW_API cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descr)
{
    if (!descr)
        return CUSPARSE_STATUS_INVALID_VALUE;
    struct cusparseMatDescr *made = calloc(1, sizeof *made);
    if (!made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    made->magic = KW_SPARSE_INFO;
    *descr = made;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr)
{
    if (!descr)
        return CUSPARSE_STATUS_SUCCESS;
    if (!KW_SPARSE_IS(descr, SPARSE_INFO))
        return CUSPARSE_STATUS_INVALID_VALUE;
    descr->magic = 0;
    free(descr);
    return CUSPARSE_STATUS_SUCCESS;
}

#define FIELD(Name, type_, field, most)                                                     \
    KW_API cusparseStatus_t cusparseSet##Name(cusparseMatDescr_t descr, type_ value)        \
    {                                                                                       \
        if (!KW_SPARSE_IS(descr, SPARSE_INFO) || (unsigned)value > most)                    \
            return CUSPARSE_STATUS_INVALID_VALUE;                                           \
        descr->field = value;                                                               \
        return CUSPARSE_STATUS_SUCCESS;                                                     \
    }                                                                                       \
    KW_API type_ cusparseGet##Name(const cusparseMatDescr_t descr)                          \
    {                                                                                       \
        return KW_SPARSE_IS(descr, SPARSE_INFO) ? descr->field : (type_)0;                  \
    }
FIELD(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
FIELD(MatFillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
FIELD(MatDiagType, cusparseDiagType_t, diagonal, CUSPARSE_DIAG_TYPE_UNIT)
FIELD(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)

/* ---- calls ---- */

size_t kw_sparse_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_32F:
        return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    default:
        return 0;
    }
}

struct kw_argument kw_sparse_number(cusparseHandle_t handle, const void *number, cudaDataType type)
{
    return kw_number(number, kw_sparse_bytes(type), handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE);
}

void kw_sparse_add(struct kw_sparse_call *call, struct kw_argument argument)
{
    call->argument[call->count++] = argument;
}

static void add_words(struct kw_sparse_call *call, const int64_t *word, int count)
{
    for (int i = 0; i < count; i++)
        kw_sparse_add(call, KW_WORD(word[i]));
}

void kw_sparse_add_matrix(struct kw_sparse_call *call, cusparseConstSpMatDescr_t m)
{
    const int64_t words[] = {m->format, m->rows, m->cols, m->nnz, m->base, m->first_type, m->second_type, m->type,
                             m->fill, m->diagonal, m->batch, m->first_stride, m->values_stride};
    add_words(call, words, sizeof words / sizeof *words);
    kw_sparse_add(call, KW_ADDRESS(m->first));
    kw_sparse_add(call, KW_ADDRESS(m->second));
    kw_sparse_add(call, KW_ADDRESS(m->values));
}

void kw_sparse_add_dense(struct kw_sparse_call *call, cusparseConstDnMatDescr_t m)
{
    const int64_t words[] = {m->rows, m->cols, m->ld, m->type, m->order, m->batch, m->stride};
    add_words(call, words, sizeof words / sizeof *words);
    kw_sparse_add(call, KW_ADDRESS(m->values));
}

void kw_sparse_add_vector(struct kw_sparse_call *call, cusparseConstDnVecDescr_t v)
{
    const int64_t words[] = {v->size, v->type};
    add_words(call, words, sizeof words / sizeof *words);
    kw_sparse_add(call, KW_ADDRESS(v->values));
}

void kw_sparse_add_sparse_vector(struct kw_sparse_call *call, cusparseConstSpVecDescr_t v)
{
    const int64_t words[] = {v->size, v->nnz, v->base, v->index_type, v->type};
    add_words(call, words, sizeof words / sizeof *words);
    kw_sparse_add(call, KW_ADDRESS(v->indices));
    kw_sparse_add(call, KW_ADDRESS(v->values));
}

cusparseStatus_t kw_sparse_send(cusparseHandle_t handle, const char *name, const struct kw_sparse_call *call)
{
    return status_of(kw_library(name, handle->stream, call->argument, call->count));
}
