/* Descriptors of cuSPARSE's generic interface: where vectors and matrices lie, and how. */
#include "sparse.h"

#include <stdlib.h>

static int is_index(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}

/* What all descriptors of the generic interface do first and last. */
#define MADE(descriptor, what, T, ...)                         \
    do {                                                       \
        T *made = malloc(sizeof *made);                        \
        if (!made)                                             \
            return CUSPARSE_STATUS_ALLOC_FAILED;               \
        *made = (T){.magic = KW_##what, __VA_ARGS__};          \
        *descriptor = made;                                    \
        return CUSPARSE_STATUS_SUCCESS;                        \
    } while (0)

#define DESTROYED(descriptor, what, T)                         \
    do {                                                       \
        T *gone = (T *)descriptor;                             \
        if (!gone)                                             \
            return CUSPARSE_STATUS_SUCCESS;                    \
        if (!KW_SPARSE_IS(gone, what))                         \
            return CUSPARSE_STATUS_INVALID_VALUE;              \
        gone->magic = 0;                                       \
        free(gone);                                            \
        return CUSPARSE_STATUS_SUCCESS;                        \
    } while (0)

#define CHECK(condition)                          \
    do {                                          \
        if (!(condition))                         \
            return CUSPARSE_STATUS_INVALID_VALUE; \
    } while (0)
#define SUPPORTED(condition)                      \
    do {                                          \
        if (!(condition))                         \
            return CUSPARSE_STATUS_NOT_SUPPORTED; \
    } while (0)
#define GIVE(to, value)       \
    do {                      \
        if (to)               \
            *(to) = (value);  \
    } while (0)

/* ---- sparse vectors ---- */

KW_API cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *vec, int64_t size, int64_t nnz, void *indices,
                                            void *values, cusparseIndexType_t idxType, cusparseIndexBase_t idxBase,
                                            cudaDataType valueType)
{
    CHECK(vec && size >= 0 && nnz >= 0 && nnz <= size && (!nnz || (indices && values)) && kw_sparse_is_base(idxBase));
    SUPPORTED(is_index(idxType) && kw_sparse_bytes(valueType));
    MADE(vec, SPARSE_VECTOR, struct cusparseSpVecDescr, size, nnz, indices, values, idxType, idxBase, valueType);
}

KW_API cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *vec, int64_t size, int64_t nnz,
                                                 const void *indices, const void *values, cusparseIndexType_t idxType,
                                                 cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    return cusparseCreateSpVec((cusparseSpVecDescr_t *)vec, size, nnz, (void *)indices, (void *)values, idxType,
                               idxBase, valueType);
}

KW_API cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vec)
{
    DESTROYED(vec, SPARSE_VECTOR, struct cusparseSpVecDescr);
}

/* ---- dense vectors ---- */

KW_API cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *vec, int64_t size, void *values,
                                            cudaDataType valueType)
{
    CHECK(vec && size >= 0 && (!size || values));
    SUPPORTED(kw_sparse_bytes(valueType));
    MADE(vec, DENSE_VECTOR, struct cusparseDnVecDescr, size, values, valueType);
}

KW_API cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *vec, int64_t size, const void *values,
                                                 cudaDataType valueType)
{
    return cusparseCreateDnVec((cusparseDnVecDescr_t *)vec, size, (void *)values, valueType);
}

KW_API cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vec)
{
    DESTROYED(vec, DENSE_VECTOR, struct cusparseDnVecDescr);
}

KW_API cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vec, int64_t *size, void **values,
                                         cudaDataType *valueType)
{
    CHECK(KW_SPARSE_IS(vec, DENSE_VECTOR));
    GIVE(size, vec->size);
    GIVE(values, vec->values);
    GIVE(valueType, vec->type);
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- dense matrices ---- */

KW_API cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *mat, int64_t rows, int64_t cols, int64_t ld,
                                            void *values, cudaDataType valueType, cusparseOrder_t order)
{
    CHECK(mat && rows >= 0 && cols >= 0 && (!rows || !cols || values));
    CHECK(order == CUSPARSE_ORDER_COL ? ld >= rows : order == CUSPARSE_ORDER_ROW && ld >= cols);
    SUPPORTED(kw_sparse_bytes(valueType));
    MADE(mat, DENSE_MATRIX, struct cusparseDnMatDescr, rows, cols, ld, values, valueType, order, 1, 0);
}

KW_API cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *mat, int64_t rows, int64_t cols, int64_t ld,
                                                 const void *values, cudaDataType valueType, cusparseOrder_t order)
{
    return cusparseCreateDnMat((cusparseDnMatDescr_t *)mat, rows, cols, ld, (void *)values, valueType, order);
}

KW_API cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t mat)
{
    DESTROYED(mat, DENSE_MATRIX, struct cusparseDnMatDescr);
}

KW_API cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t mat, int64_t *rows, int64_t *cols, int64_t *ld,
                                         void **values, cudaDataType *valueType, cusparseOrder_t *order)
{
    CHECK(KW_SPARSE_IS(mat, DENSE_MATRIX));
    GIVE(rows, mat->rows);
    GIVE(cols, mat->cols);
    GIVE(ld, mat->ld);
    GIVE(values, mat->values);
    GIVE(valueType, mat->type);
    GIVE(order, mat->order);
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t mat, int batchCount, int64_t batchStride)
{
    CHECK(KW_SPARSE_IS(mat, DENSE_MATRIX) && batchCount > 0 && batchStride >= 0);
    mat->batch = batchCount;
    mat->stride = batchStride;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t mat, int *batchCount,
                                                     int64_t *batchStride)
{
    CHECK(KW_SPARSE_IS(mat, DENSE_MATRIX) && batchCount && batchStride);
    *batchCount = mat->batch;
    *batchStride = mat->stride;
    return CUSPARSE_STATUS_SUCCESS;
}

#define VALUES(Name, what, T)                                             \
    KW_API cusparseStatus_t cusparse##Name##GetValues(T of, void **values) \
    {                                                                     \
        CHECK(KW_SPARSE_IS(of, what) && values);                          \
        *values = of->values;                                             \
        return CUSPARSE_STATUS_SUCCESS;                                   \
    }                                                                     \
    KW_API cusparseStatus_t cusparse##Name##SetValues(T of, void *values)  \
    {                                                                     \
        CHECK(KW_SPARSE_IS(of, what) && values);                          \
        of->values = values;                                              \
        return CUSPARSE_STATUS_SUCCESS;                                   \
    }
VALUES(SpVec, SPARSE_VECTOR, cusparseSpVecDescr_t)
VALUES(DnVec, DENSE_VECTOR, cusparseDnVecDescr_t)
VALUES(DnMat, DENSE_MATRIX, cusparseDnMatDescr_t)
VALUES(SpMat, SPARSE_MATRIX, cusparseSpMatDescr_t)

/* ---- sparse matrices ---- */

static cusparseStatus_t create(cusparseSpMatDescr_t *mat, cusparseFormat_t format, int64_t rows, int64_t cols,
                               int64_t nnz, const void *first, const void *second, const void *values,
                               cusparseIndexType_t first_type, cusparseIndexType_t second_type,
                               cusparseIndexBase_t base, cudaDataType type)
{
    /* Not more entries than elements, without multiplying what may overflow. */
    CHECK(mat && rows >= 0 && cols >= 0 && nnz >= 0 && (!nnz || (rows && cols && (nnz - 1) / rows < cols)));
    CHECK((!nnz || (first && second && values)) && kw_sparse_is_base(base));
    SUPPORTED(is_index(first_type) && is_index(second_type) && kw_sparse_bytes(type));
    MADE(mat, SPARSE_MATRIX, struct cusparseSpMatDescr, format, rows, cols, nnz, (void *)first, (void *)second,
         (void *)values, first_type, second_type, base, type, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT, 1,
         0, 0);
}

#define COMPRESSED(Name, FORMAT)                                                                                      \
    KW_API cusparseStatus_t cusparseCreate##Name(                                                                     \
        cusparseSpMatDescr_t *mat, int64_t rows, int64_t cols, int64_t nnz, void *offsets, void *indices,             \
        void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t indicesType, cusparseIndexBase_t idxBase,  \
        cudaDataType valueType)                                                                                       \
    {                                                                                                                 \
        return create(mat, CUSPARSE_FORMAT_##FORMAT, rows, cols, nnz, offsets, indices, values, offsetsType,          \
                      indicesType, idxBase, valueType);                                                               \
    }                                                                                                                 \
    KW_API cusparseStatus_t cusparseCreateConst##Name(                                                                \
        cusparseConstSpMatDescr_t *mat, int64_t rows, int64_t cols, int64_t nnz, const void *offsets,                 \
        const void *indices, const void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t indicesType,    \
        cusparseIndexBase_t idxBase, cudaDataType valueType)                                                          \
    {                                                                                                                 \
        return create((cusparseSpMatDescr_t *)mat, CUSPARSE_FORMAT_##FORMAT, rows, cols, nnz, offsets, indices,       \
                      values, offsetsType, indicesType, idxBase, valueType);                                          \
    }                                                                                                                 \
    KW_API cusparseStatus_t cusparse##Name##Get(cusparseSpMatDescr_t mat, int64_t *rows, int64_t *cols, int64_t *nnz, \
                                                void **offsets, void **indices, void **values,                        \
                                                cusparseIndexType_t *offsetsType, cusparseIndexType_t *indicesType,   \
                                                cusparseIndexBase_t *idxBase, cudaDataType *valueType)                \
    {                                                                                                                 \
        CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && mat->format == CUSPARSE_FORMAT_##FORMAT);                           \
        give(mat, rows, cols, nnz, offsets, indices, values, indicesType, idxBase, valueType);                        \
        GIVE(offsetsType, mat->first_type);                                                                           \
        return CUSPARSE_STATUS_SUCCESS;                                                                               \
    }                                                                                                                 \
    KW_API cusparseStatus_t cusparse##Name##SetPointers(cusparseSpMatDescr_t mat, void *offsets, void *indices,       \
                                                        void *values)                                                 \
    {                                                                                                                 \
        return set_pointers(mat, CUSPARSE_FORMAT_##FORMAT, offsets, indices, values);                                 \
    }

static void give(cusparseConstSpMatDescr_t mat, int64_t *rows, int64_t *cols, int64_t *nnz, void **first,
                 void **second, void **values, cusparseIndexType_t *type, cusparseIndexBase_t *base,
                 cudaDataType *value_type)
{
    GIVE(rows, mat->rows);
    GIVE(cols, mat->cols);
    GIVE(nnz, mat->nnz);
    GIVE(first, mat->first);
    GIVE(second, mat->second);
    GIVE(values, mat->values);
    GIVE(type, mat->second_type);
    GIVE(base, mat->base);
    GIVE(value_type, mat->type);
}

static cusparseStatus_t set_pointers(cusparseSpMatDescr_t mat, cusparseFormat_t format, void *first, void *second,
                                     void *values)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && mat->format == format && (!mat->nnz || (first && second && values)));
    mat->first = first;
    mat->second = second;
    mat->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

COMPRESSED(Csr, CSR)
COMPRESSED(Csc, CSC)

KW_API cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *mat, int64_t rows, int64_t cols, int64_t nnz,
                                          void *rowInd, void *colInd, void *values, cusparseIndexType_t idxType,
                                          cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    return create(mat, CUSPARSE_FORMAT_COO, rows, cols, nnz, rowInd, colInd, values, idxType, idxType, idxBase,
                  valueType);
}

KW_API cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *mat, int64_t rows, int64_t cols, int64_t nnz,
                                               const void *rowInd, const void *colInd, const void *values,
                                               cusparseIndexType_t idxType, cusparseIndexBase_t idxBase,
                                               cudaDataType valueType)
{
    return create((cusparseSpMatDescr_t *)mat, CUSPARSE_FORMAT_COO, rows, cols, nnz, rowInd, colInd, values, idxType,
                  idxType, idxBase, valueType);
}

KW_API cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t mat, int64_t *rows, int64_t *cols, int64_t *nnz,
                                       void **rowInd, void **colInd, void **values, cusparseIndexType_t *idxType,
                                       cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && mat->format == CUSPARSE_FORMAT_COO);
    give(mat, rows, cols, nnz, rowInd, colInd, values, idxType, idxBase, valueType);
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t mat, void *rowInd, void *colInd, void *values)
{
    return set_pointers(mat, CUSPARSE_FORMAT_COO, rowInd, colInd, values);
}

KW_API cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t mat)
{
    DESTROYED(mat, SPARSE_MATRIX, struct cusparseSpMatDescr);
}

KW_API cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t mat, cusparseFormat_t *format)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && format);
    *format = mat->format;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t mat, cusparseIndexBase_t *idxBase)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && idxBase);
    *idxBase = mat->base;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t mat, int64_t *rows, int64_t *cols, int64_t *nnz)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && rows && cols && nnz);
    *rows = mat->rows;
    *cols = mat->cols;
    *nnz = mat->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t mat, cusparseSpMatAttribute_t attribute,
                                                  void *data, size_t dataSize)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && data && dataSize == sizeof(int));
    CHECK(attribute == CUSPARSE_SPMAT_FILL_MODE || attribute == CUSPARSE_SPMAT_DIAG_TYPE);
    *(int *)data = attribute == CUSPARSE_SPMAT_FILL_MODE ? (int)mat->fill : (int)mat->diagonal;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t mat, cusparseSpMatAttribute_t attribute,
                                                  void *data, size_t dataSize)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && data && dataSize == sizeof(int));
    int value = *(const int *)data;
    CHECK((attribute == CUSPARSE_SPMAT_FILL_MODE || attribute == CUSPARSE_SPMAT_DIAG_TYPE) && (unsigned)value <= 1);
    if (attribute == CUSPARSE_SPMAT_FILL_MODE)
        mat->fill = (cusparseFillMode_t)value;
    else
        mat->diagonal = (cusparseDiagType_t)value;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t mat, int batchCount, int64_t batchStride)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && mat->format == CUSPARSE_FORMAT_COO && batchCount > 0 && batchStride >= 0);
    mat->batch = batchCount;
    mat->first_stride = mat->values_stride = batchStride;
    return CUSPARSE_STATUS_SUCCESS;
}

KW_API cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t mat, int batchCount, int64_t offsetsBatchStride,
                                                   int64_t columnsValuesBatchStride)
{
    CHECK(KW_SPARSE_IS(mat, SPARSE_MATRIX) && mat->format == CUSPARSE_FORMAT_CSR && batchCount > 0);
    CHECK(offsetsBatchStride >= 0 && columnsValuesBatchStride >= 0);
    mat->batch = batchCount;
    mat->first_stride = offsetsBatchStride;
    mat->values_stride = columnsValuesBatchStride;
    return CUSPARSE_STATUS_SUCCESS;
}
