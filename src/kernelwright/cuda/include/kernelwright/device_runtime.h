// What device code calls like C library functions: printf, assert, malloc, free, memcpy, memset, new and delete.
#pragma once
#pragma GCC system_header

extern "C" {
// nvcc declares printf, malloc and free on both sides, without <stdio.h>.
int printf(const char *format, ...);
__device__ int printf(const char *format, ...);  // clang lowers a call to vprintf with the arguments in one struct
__device__ int vprintf(const char *format, const char *arguments);
__device__ void *malloc(size_t bytes);
__device__ void free(void *pointer);
__device__ __attribute__((noreturn)) void __assertfail(const char *message, const char *file, unsigned int line,
                                                       const char *function, size_t char_size);
}

// On the device clang knows no library function but printf and malloc; these become LLVM's intrinsics.
KW_DEVICE void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
KW_DEVICE void *memmove(void *to, const void *from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
KW_DEVICE void *memset(void *pointer, int value, size_t bytes) { return __builtin_memset(pointer, value, bytes); }

namespace std {
using ::free;
using ::malloc;
using ::memcpy;
using ::memmove;
using ::memset;
using ::printf;
}  // namespace std

// What the virtual table of a class holds for a pure virtual function.
extern "C" __device__ __inline__ void __cxa_pure_virtual() { __builtin_trap(); }

// What <assert.h> of glibc expands to.
KW_DEVICE __attribute__((noreturn)) void __assert_fail(const char *message, const char *file, unsigned int line,
                                                       const char *function) {
    __assertfail(message, file, line, function, sizeof(char));
}

// A clang with CUDA wrappers of its own brings these with its <new>.
#if !defined(__CLANG_CUDA_WRAPPERS_NEW)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ __inline__ void *operator new(size_t bytes) { return ::malloc(bytes); }
__device__ __inline__ void *operator new[](size_t bytes) { return ::malloc(bytes); }
__device__ __inline__ void operator delete(void *pointer) noexcept { ::free(pointer); }
__device__ __inline__ void operator delete[](void *pointer) noexcept { ::free(pointer); }
__device__ __inline__ void operator delete(void *pointer, size_t) noexcept { ::free(pointer); }
__device__ __inline__ void operator delete[](void *pointer, size_t) noexcept { ::free(pointer); }
#if __cplusplus < 202400L  // constexpr, hence ours too, from C++26
__device__ __inline__ void *operator new(size_t, void *place) noexcept { return place; }
__device__ __inline__ void *operator new[](size_t, void *place) noexcept { return place; }
__device__ __inline__ void operator delete(void *, void *) noexcept {}
__device__ __inline__ void operator delete[](void *, void *) noexcept {}
#endif
#pragma clang diagnostic pop
#endif
