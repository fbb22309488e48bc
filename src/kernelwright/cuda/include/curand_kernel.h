// Random numbers in device code: the XORWOW (curandState) and Philox generators with cuRAND's own sequences, uniform,
// normal and log-normal. The other generators and distributions of cuRAND are not here.
#pragma once
#define CURAND_KERNEL_H_
#pragma GCC system_header
#if !defined(KW_HEADERS_OF_NVIDIA)
#include "kernelwright_cuda.h"
#endif

#if !defined(__CUDA__)
// Plain C++ that shares a header with device code: the states, and the generators as host functions.
#define KW_DEVICE static inline
#endif
#include "kernelwright/random_xorwow.h"
#include "kernelwright/random_philox.h"
#include "kernelwright/random_distributions.h"
