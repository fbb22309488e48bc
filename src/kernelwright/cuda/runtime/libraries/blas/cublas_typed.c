/* Routines of cuBLAS that take the types of their data as arguments. */
#include "cublas_calls.h"

/* Bytes of a number; 0 for a type that no routine here takes. */
static size_t size_of(cudaDataType type)
{
    switch ((int)type) {
    case CUDA_R_8I:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    }
    return 0;
}

/* The type of alpha and beta; -1 for a computation that is none. */
static int scale_type(cublasComputeType_t compute, cudaDataType C)
{
    switch ((int)compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return C == CUDA_C_64F ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return C == CUDA_C_32F ? CUDA_C_32F : CUDA_R_32F;
    }
    return -1;
}

/* cublasGemmEx's table of types, without those of 8 bits of floating point. */
static int is_combination(int scale, cudaDataType A, cudaDataType B, cudaDataType C)
{
    if (A != B)
        return 0;
    switch (scale) {
    case CUDA_R_16F:
        return A == CUDA_R_16F && C == CUDA_R_16F;
    case CUDA_R_32I:
        return A == CUDA_R_8I && C == CUDA_R_32I;
    case CUDA_R_64F:
        return A == CUDA_R_64F && C == CUDA_R_64F;
    case CUDA_C_64F:
        return A == CUDA_C_64F && C == CUDA_C_64F;
    case CUDA_C_32F:
        return A == CUDA_C_32F && C == CUDA_C_32F;
    }
    return (A == CUDA_R_32F && C == CUDA_R_32F) || (A == CUDA_R_16F && (C == CUDA_R_16F || C == CUDA_R_32F)) ||
           (A == CUDA_R_16BF && (C == CUDA_R_16BF || C == CUDA_R_32F)) || (A == CUDA_R_8I && C == CUDA_R_32F);
}

#define IS_GEMM                                                                                                  \
    (is_operation(transa) && is_operation(transb) && m >= 0 && n >= 0 && k >= 0 && alpha && beta &&              \
     at_least(transa == CUBLAS_OP_N ? m : k, lda) && at_least(transb == CUBLAS_OP_N ? k : n, ldb) && at_least(m, ldc))

#define SCALE(p) kw_number(p, size_of((cudaDataType)scale), ON_DEVICE)

#define CHECK_TYPES(compute)                                                  \
    int scale = scale_type(compute, Ctype);                                   \
    if (scale < 0 || !is_combination(scale, Atype, Btype, Ctype))             \
        return CUBLAS_STATUS_NOT_SUPPORTED;

KW_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void *alpha, const void *A, cudaDataType Atype, int lda,
                                   const void *B, cudaDataType Btype, int ldb, const void *beta, void *C,
                                   cudaDataType Ctype, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    (void)algo; /* all give the same */
    REQUIRE(IS_GEMM);
    CHECK_TYPES(compute)
    if (!m || !n)
        return CUBLAS_STATUS_SUCCESS;
    return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), WORD(k), SCALE(alpha), ADDRESS(A), WORD(Atype), WORD(lda),
                ADDRESS(B), WORD(Btype), WORD(ldb), SCALE(beta), ADDRESS(C), WORD(Ctype), WORD(ldc), WORD(scale));
}

KW_API cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *const A[],
                                          cudaDataType Atype, int lda, const void *const B[], cudaDataType Btype,
                                          int ldb, const void *beta, void *const C[], cudaDataType Ctype, int ldc,
                                          int count, cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    (void)algo; /* all give the same */
    REQUIRE(IS_GEMM && count >= 0);
    CHECK_TYPES(compute)
    if (!m || !n || !count)
        return CUBLAS_STATUS_SUCCESS;
    return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), WORD(k), SCALE(alpha), ADDRESS(A), WORD(Atype), WORD(lda),
                ADDRESS(B), WORD(Btype), WORD(ldb), SCALE(beta), ADDRESS(C), WORD(Ctype), WORD(ldc), WORD(count),
                WORD(scale));
}

KW_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *A, cudaDataType Atype, int lda, long long strideA, const void *B, cudaDataType Btype, int ldb,
    long long strideB, const void *beta, void *C, cudaDataType Ctype, int ldc, long long strideC, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    (void)algo; /* all give the same */
    REQUIRE(IS_GEMM && count >= 0);
    CHECK_TYPES(compute)
    if (!m || !n || !count)
        return CUBLAS_STATUS_SUCCESS;
    return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), WORD(k), SCALE(alpha), ADDRESS(A), WORD(Atype), WORD(lda),
                WORD(strideA), ADDRESS(B), WORD(Btype), WORD(ldb), WORD(strideB), SCALE(beta), ADDRESS(C), WORD(Ctype),
                WORD(ldc), WORD(strideC), WORD(count), WORD(scale));
}

KW_API cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                    int n, int k, const float *alpha, const void *A, cudaDataType Atype, int lda,
                                    const void *B, cudaDataType Btype, int ldb, const float *beta, void *C,
                                    cudaDataType Ctype, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* ---- vectors ---- */

#define CHECK_SIZES(...)                                                                     \
    do {                                                                                     \
        const cudaDataType types[] = {__VA_ARGS__};                                          \
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)                            \
            if (!size_of(types[i]) || types[i] == CUDA_R_8I || types[i] == CUDA_R_32I)       \
                return CUBLAS_STATUS_NOT_SUPPORTED;                                          \
    } while (0)

KW_API cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alphaType,
                                   const void *x, cudaDataType xType, int incx, void *y, cudaDataType yType, int incy,
                                   cudaDataType executionType)
{
    REQUIRE(alpha);
    CHECK_SIZES(alphaType, xType, yType, executionType);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    return CALL(WORD(n), kw_number(alpha, size_of(alphaType), ON_DEVICE), WORD(alphaType), ADDRESS(x), WORD(xType),
                WORD(incx), ADDRESS(y), WORD(yType), WORD(incy));
}

KW_API cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alphaType, void *x,
                                   cudaDataType xType, int incx, cudaDataType executionType)
{
    REQUIRE(alpha);
    CHECK_SIZES(alphaType, xType, executionType);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    return CALL(WORD(n), kw_number(alpha, size_of(alphaType), ON_DEVICE), WORD(alphaType), ADDRESS(x), WORD(xType),
                WORD(incx));
}

#define PRODUCT(name)                                                                                             \
    KW_API cublasStatus_t cublas##name(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, \
                                       const void *y, cudaDataType yType, int incy, void *result,                 \
                                       cudaDataType resultType, cudaDataType executionType)                       \
    {                                                                                                             \
        REQUIRE(result);                                                                                          \
        CHECK_SIZES(xType, yType, resultType, executionType);                                                     \
        return CALL(WORD(n), ADDRESS(x), WORD(xType), WORD(incx), ADDRESS(y), WORD(yType), WORD(incy),            \
                    kw_answer(result, size_of(resultType), ON_DEVICE), WORD(resultType));    \
    }
PRODUCT(DotEx)
PRODUCT(DotcEx)

KW_API cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx,
                                   void *result, cudaDataType resultType, cudaDataType executionType)
{
    REQUIRE(result);
    CHECK_SIZES(xType, resultType, executionType);
    return CALL(WORD(n), ADDRESS(x), WORD(xType), WORD(incx), kw_answer(result, size_of(resultType), ON_DEVICE),
                WORD(resultType));
}
