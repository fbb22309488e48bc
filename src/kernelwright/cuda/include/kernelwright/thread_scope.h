// The threads that an operation is seen by in one order, and how one waits for others. CUDA programming guide, "Thread Scopes".
#pragma once
#pragma GCC system_header
#include "../kernelwright_cuda.h"

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace details {
KW_DEVICE void let_others_run() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    __nanosleep(20);
#endif
}
}  // namespace details
}  // namespace cuda
