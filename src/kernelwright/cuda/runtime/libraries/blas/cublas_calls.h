/* What the files of cuBLAS share. Every routine has the same shape:
 *
 *     KW_API cublasStatus_t cublasSomething(cublasHandle_t handle, ...)
 *     {
 *         REQUIRE(n >= 0 && lda >= ...);              // what cuBLAS documents as CUBLAS_STATUS_INVALID_VALUE
 *         if (!n)
 *             return CUBLAS_STATUS_SUCCESS;
 *         return CALL(WORD(n), SCALAR(alpha), ADDRESS(x));    // the arguments in the order of the function's own
 *     }
 */
#ifndef KERNELWRIGHT_CUBLAS_CALLS_H
#define KERNELWRIGHT_CUBLAS_CALLS_H

#include "cublas_api.h"
#include "library.h"

struct cublasContext {
    uint32_t magic; /* HANDLE while it lives */
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasMath_t math_mode;
};

int kw_is_cublas(cublasHandle_t handle);
cublasStatus_t kw_cublas_call(cublasHandle_t handle, const char *name, const struct kw_argument *argument,
                              uint32_t count);
cublasStatus_t kw_cublas_status(int error);

#define REQUIRE(condition)                        \
    do {                                          \
        if (!kw_is_cublas(handle))                \
            return CUBLAS_STATUS_NOT_INITIALIZED; \
        if (!(condition))                         \
            return CUBLAS_STATUS_INVALID_VALUE;   \
    } while (0)

#define WORD(x) KW_WORD(x)
#define ADDRESS(p) KW_ADDRESS(p)
#define ON_DEVICE (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
#define SCALAR(p) kw_number(p, sizeof *(p), ON_DEVICE)
#define ANSWER(p) kw_answer(p, sizeof *(p), ON_DEVICE)
#define CALL(...)                                                     \
    kw_cublas_call(handle, __func__, (struct kw_argument[]){__VA_ARGS__}, \
                   sizeof((struct kw_argument[]){__VA_ARGS__}) / sizeof(struct kw_argument))

static inline int at_least(int least, int ld)
{
    return ld >= (least > 1 ? least : 1);
}

static inline int is_operation(cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C;
}

static inline int is_triangle(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}

static inline int is_diagonal(cublasDiagType_t diag)
{
    return diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT;
}

static inline int is_side(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}

#endif
