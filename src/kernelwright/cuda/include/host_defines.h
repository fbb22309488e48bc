/* Function and variable qualifiers. Outside a CUDA compile they vanish, so that plain C and C++ can include us. */
#pragma once
#define __HOST_DEFINES_H__
#pragma GCC system_header

#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define CUDARTAPI
#define CUDART_CB

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __device_builtin__
#define __cudart_builtin__
#define __specialization_static

#if defined(__CUDA__)

#define __NVCC__ 1 /* programs ask it whether qualifiers are needed */
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))

/* A managed variable is a device variable whose host copy lies in the linker section "kw_managed". The runtime finds
   the section between __start_kw_managed and __stop_kw_managed and keeps both sides the same memory. */
#define __managed__ __attribute__((device, section("kw_managed")))

/* __noinline__ is a keyword of clang's CUDA mode. As a macro it would break __attribute__((__noinline__)). */

#else

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __grid_constant__

#endif
