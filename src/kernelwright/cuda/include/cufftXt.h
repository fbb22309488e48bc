/* Of cuFFT's extended interface: plans by types of numbers, on one GPU. */
#pragma once
#define _CUFFTXT_H_
#pragma GCC system_header
#include <cufft.h>

#if defined(__cplusplus)
extern "C" {
#endif

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,
                                long long idist, cudaDataType inputtype, long long *onembed, long long ostride,
                                long long odist, cudaDataType outputtype, long long batch, size_t *workSize,
                                cudaDataType executiontype);
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,
                               long long idist, cudaDataType inputtype, long long *onembed, long long ostride,
                               long long odist, cudaDataType outputtype, long long batch, size_t *workSize,
                               cudaDataType executiontype);
cufftResult cufftXtExec(cufftHandle plan, void *input, void *output, int direction);

#if defined(__cplusplus)
}
#endif
