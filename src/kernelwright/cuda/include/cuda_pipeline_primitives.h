// Asynchronous copies from global to shared memory, for a thread by itself. Before sm_80 they are done at once, as CUDA does it.
// Not here: __pipeline_arrive_on, which needs barriers in shared memory.
#pragma once
#define _CUDA_PIPELINE_PRIMITIVES_H_
#include "kernelwright_cuda.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define KW_COPY_ASYNC(how, size)                                                      \
    {                                                                                 \
        auto *shared = (__attribute__((address_space(3))) void *)to;                  \
        auto *global = (const __attribute__((address_space(1))) void *)from;          \
        if (zeros) __nvvm_cp_async_##how##_shared_global_##size(shared, global, (int)(size - zeros)); \
        else __nvvm_cp_async_##how##_shared_global_##size(shared, global);            \
    }
#endif

// Copies `bytes` (4, 8 or 16), the last `zeros` of which are zeros instead.
KW_DEVICE void __pipeline_memcpy_async(void *__restrict__ to, const void *__restrict__ from, size_t bytes, size_t zeros = 0) {
#ifdef KW_COPY_ASYNC
    if (bytes == 16) KW_COPY_ASYNC(cg, 16)
    else if (bytes == 8) KW_COPY_ASYNC(ca, 8)
    else if (bytes == 4) KW_COPY_ASYNC(ca, 4)
    else __builtin_trap();
#else
    for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = i < bytes - zeros ? ((const char *)from)[i] : 0;
#endif
}

KW_DEVICE void __pipeline_commit() {
#ifdef KW_COPY_ASYNC
    __nvvm_cp_async_commit_group();
#endif
}

// Waits until no more than the last `n` of this thread's groups are on their way; `n` is a constant.
#ifdef KW_COPY_ASYNC
#define __pipeline_wait_prior(n) __nvvm_cp_async_wait_group(n)
#else
KW_DEVICE void __pipeline_wait_prior(size_t) {}
#endif
