// NVIDIA's, which is in a wheel of its own, has these two.
#pragma once
#define __CUDA_PROFILER_API_H__
#include <cuda_runtime_api.h>
#if defined(__cplusplus)
extern "C" {
#endif
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#if defined(__cplusplus)
}
#endif
