/* What the files of cuSPARSE share: handles, descriptors, and how both go into a call.
 *
 *     struct kw_sparse_call call = {0};
 *     kw_sparse_add(&call, KW_WORD(op));              // in the order of the worker's function
 *     kw_sparse_add_matrix(&call, matA);
 *     return kw_sparse_send(handle, name, &call);
 */
#ifndef KERNELWRIGHT_SPARSE_H
#define KERNELWRIGHT_SPARSE_H

#include "cusparse.h"
#include "library.h"

enum kw_sparse_magic {
    KW_SPARSE_HANDLE = 0x73706872,
    KW_SPARSE_INFO,
    KW_SPARSE_VECTOR,
    KW_DENSE_VECTOR,
    KW_SPARSE_MATRIX,
    KW_DENSE_MATRIX,
    KW_SPARSE_STEPS, /* descriptors of SpSV, SpSM and SpGEMM */
    KW_SPARSE_ILU,
};

/* Everything begins with its magic, which is gone when it is destroyed. */
struct cusparseContext {
    uint32_t magic;
    cudaStream_t stream;
    cusparsePointerMode_t pointer_mode;
};

struct cusparseMatDescr {
    uint32_t magic;
    cusparseMatrixType_t type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseIndexBase_t base;
};

struct cusparseSpVecDescr {
    uint32_t magic;
    int64_t size, nnz;
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};

struct cusparseDnVecDescr {
    uint32_t magic;
    int64_t size;
    void *values;
    cudaDataType type;
};

/* `first`: of COO row indices, else offsets; `second`: column indices, of CSC row indices. */
struct cusparseSpMatDescr {
    uint32_t magic;
    cusparseFormat_t format;
    int64_t rows, cols, nnz;
    void *first, *second, *values;
    cusparseIndexType_t first_type, second_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    int batch;
    int64_t first_stride, values_stride;
};

struct cusparseDnMatDescr {
    uint32_t magic;
    int64_t rows, cols, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    int batch;
    int64_t stride;
};

#define KW_SPARSE_IS(object, what) ((object) && (object)->magic == KW_##what)

/* Whether `handle` is one, else CUSPARSE_STATUS_NOT_INITIALIZED; and what must hold, else CUSPARSE_STATUS_INVALID_VALUE. */
#define REQUIRE(condition)                         \
    do {                                           \
        if (!KW_SPARSE_IS(handle, SPARSE_HANDLE))  \
            return CUSPARSE_STATUS_NOT_INITIALIZED; \
        if (!(condition))                          \
            return CUSPARSE_STATUS_INVALID_VALUE;  \
    } while (0)

/* Nothing is kept in buffers; programs allocate as many bytes as they are told, and some expect more than 0. */
enum { KW_SPARSE_BUFFER = 256 };

struct kw_sparse_call {
    uint32_t count;
    struct kw_argument argument[64];
};

void kw_sparse_add(struct kw_sparse_call *call, struct kw_argument argument);
void kw_sparse_add_matrix(struct kw_sparse_call *call, cusparseConstSpMatDescr_t matrix);
void kw_sparse_add_dense(struct kw_sparse_call *call, cusparseConstDnMatDescr_t matrix);
void kw_sparse_add_vector(struct kw_sparse_call *call, cusparseConstDnVecDescr_t vector);
void kw_sparse_add_sparse_vector(struct kw_sparse_call *call, cusparseConstSpVecDescr_t vector);

/* `name`: the public one; the worker has it in a table of its own. */
cusparseStatus_t kw_sparse_send(cusparseHandle_t handle, const char *name, const struct kw_sparse_call *call);

/* Bytes of a number; 0 for a type that nothing here computes with. */
size_t kw_sparse_bytes(cudaDataType type);

/* A factor of a computation in `type`, which is float, double or complex: others are refused before. */
struct kw_argument kw_sparse_number(cusparseHandle_t handle, const void *number, cudaDataType type);

static inline int kw_sparse_is_compute(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F;
}

static inline int kw_sparse_is_operation(cusparseOperation_t op)
{
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE || op == CUSPARSE_OPERATION_TRANSPOSE ||
           op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

static inline int kw_sparse_is_base(cusparseIndexBase_t base)
{
    return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}

#endif
