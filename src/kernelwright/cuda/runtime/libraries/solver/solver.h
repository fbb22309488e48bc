/* What the files of cuSOLVER share. Every routine has the same shape:
 *
 *     static int wrong_something(int n, int lda)      // the parameter that cannot be, from 1 on, the handle not counted, or 0
 *     KW_API cusolverStatus_t cusolverDnSsomething_bufferSize(...) { return SIZE(wrong_something(n, lda), lwork); }
 *     KW_API cusolverStatus_t cusolverDnSsomething(...) { return RUN(wrong_something(n, lda), info, WORD(n), ADDRESS(A), ...); }
 */
#ifndef KERNELWRIGHT_SOLVER_H
#define KERNELWRIGHT_SOLVER_H

#include "blas/cublas_calls.h"
#include "cusolverDn.h"

struct cusolverDnContext {
    uint32_t magic; /* HANDLE while it lives */
    cudaStream_t stream;
};

/* Tells the size of a work area, in numbers. */
cusolverStatus_t kw_solver_size(cusolverDnHandle_t handle, int wrong, int *size);

/* Sends a call; where a parameter is `wrong`, sets what `info` points to on the device to its negative number instead. */
cusolverStatus_t kw_solver_run(cusolverDnHandle_t handle, const char *name, int wrong, int *info,
                               const struct kw_argument *argument, uint32_t count);

#define SIZE(wrong, lwork) kw_solver_size(handle, wrong, lwork)
#define RUN(wrong, info, ...)                                                             \
    kw_solver_run(handle, __func__, wrong, info, (struct kw_argument[]){__VA_ARGS__},     \
                  sizeof((struct kw_argument[]){__VA_ARGS__}) / sizeof(struct kw_argument))

#endif
