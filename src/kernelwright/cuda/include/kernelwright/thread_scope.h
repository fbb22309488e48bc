// The threads that an operation is seen by in one order. CUDA programming guide, "Thread Scopes".
#pragma once
#pragma GCC system_header

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
}
