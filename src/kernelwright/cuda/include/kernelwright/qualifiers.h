// How we declare our own functions. Included by the parts of kernelwright_cuda.h only.
#pragma once
#pragma GCC system_header

// nodebug: once inlined, their instructions carry the line of the user's call.
#define KW_DEVICE static __inline__ __attribute__((always_inline, nodebug, device))
#define KW_HOST_DEVICE static __inline__ __attribute__((always_inline, nodebug, host, device))
#define KW_HOST static __inline__ __attribute__((host))

// A libdevice function that reads and writes no memory but its operands, and may move across divergent branches.
#if __has_attribute(noconvergent)
#define KW_NOCONVERGENT __attribute__((noconvergent))
#else
#define KW_NOCONVERGENT
#endif
#define KW_LIBDEVICE __attribute__((device)) KW_NOCONVERGENT
#define KW_LIBDEVICE_PURE KW_LIBDEVICE __attribute__((const))
