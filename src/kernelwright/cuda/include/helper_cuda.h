// Error checks and device choice under the names that CUDA's sample programs use. Our own code.
#pragma once
#pragma GCC system_header

#include <cuda_runtime.h>  // ours or NVIDIA's, whichever the program is compiled with
#include <stdio.h>
#include <stdlib.h>

#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

static inline const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

// Statuses of the libraries whose headers were included before this one.
#if defined(CUBLAS_API_H_)
static inline const char *_cudaGetErrorEnum(cublasStatus_t status) { return cublasGetStatusName(status); }
#endif
#if defined(_CUFFT_H_)
static inline const char *_cudaGetErrorEnum(cufftResult status) {
    static const char *const names[] = {
        "SUCCESS",        "INVALID_PLAN",   "ALLOC_FAILED",   "INVALID_TYPE",   "INVALID_VALUE",
        "INTERNAL_ERROR", "EXEC_FAILED",    "SETUP_FAILED",   "INVALID_SIZE",   "UNALIGNED_DATA",
        "INCOMPLETE_PARAMETER_LIST",        "INVALID_DEVICE", "PARSE_ERROR",    "NO_WORKSPACE",
        "NOT_IMPLEMENTED", "LICENSE_ERROR", "NOT_SUPPORTED"};
    static char told[40];
    if ((unsigned)status >= sizeof names / sizeof *names) return "unknown";
    snprintf(told, sizeof told, "CUFFT_%s", names[status]);
    return told;
}
#endif
#if defined(CUSPARSE_H_)
static inline const char *_cudaGetErrorEnum(cusparseStatus_t status) { return cusparseGetErrorName(status); }
#endif
#if defined(CUSOLVER_COMMON_H_)
static inline const char *_cudaGetErrorEnum(cusolverStatus_t status) {
    static const char *const names[] = {
        "SUCCESS",        "NOT_INITIALIZED",  "ALLOC_FAILED",   "INVALID_VALUE",
        "ARCH_MISMATCH",  "MAPPING_ERROR",    "EXECUTION_FAILED", "INTERNAL_ERROR",
        "MATRIX_TYPE_NOT_SUPPORTED",          "NOT_SUPPORTED",  "ZERO_PIVOT",       "INVALID_LICENSE"};
    static char told[48];
    if ((unsigned)status >= sizeof names / sizeof *names) return "unknown";
    snprintf(told, sizeof told, "CUSOLVER_STATUS_%s", names[status]);
    return told;
}
#endif
template <typename Status>
static inline const char *_cudaGetErrorEnum(Status) {
    return "a status of a library";
}

template <typename Status>
static inline void kw_check(Status error, const char *what, const char *file, int line) {
    if ((int)error == 0) return;
    fprintf(stderr, "%s:%d: CUDA error %d (%s) in \"%s\"\n", file, line, (int)error, _cudaGetErrorEnum(error), what);
    exit(EXIT_FAILURE);
}
static inline void kw_check(cudaError_t error, const char *what, const char *file, int line) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s:%d: CUDA error %d (%s, %s) in \"%s\"\n", file, line, (int)error, cudaGetErrorName(error),
            cudaGetErrorString(error), what);
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) kw_check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) kw_check(cudaGetLastError(), message, __FILE__, __LINE__)
#define printLastCudaError(message)                                                                        \
    do {                                                                                                   \
        cudaError_t kw_error = cudaGetLastError();                                                         \
        if (kw_error != cudaSuccess)                                                                       \
            fprintf(stderr, "%s:%d: %s: CUDA error %d (%s)\n", __FILE__, __LINE__, message, (int)kw_error, \
                    cudaGetErrorString(kw_error));                                                         \
    } while (0)

static inline int ftoi(float value) { return (int)(value >= 0 ? value + 0.5 : value - 0.5); }

// Single-precision units per multiprocessor (CUDA programming guide, "Arithmetic Instructions").
static inline int _ConvertSMVer2Cores(int major, int minor) {
    static const int table[][3] = {{5, 0, 128}, {5, 2, 128}, {5, 3, 128}, {6, 0, 64},  {6, 1, 128}, {6, 2, 128},
                                   {7, 0, 64},  {7, 2, 64},  {7, 5, 64},  {8, 0, 64},  {8, 6, 128}, {8, 7, 128},
                                   {8, 9, 128}, {9, 0, 128}, {10, 0, 128}, {10, 1, 128}, {10, 3, 128}, {12, 0, 128},
                                   {12, 1, 128}};
    for (const int *row : table)
        if (row[0] == major && row[1] == minor) return row[2];
    return 128;
}

static inline int gpuDeviceInit(int device) {
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (count == 0) {
        fprintf(stderr, "no device that runs CUDA\n");
        exit(EXIT_FAILURE);
    }
    if (device < 0) device = 0;
    if (device >= count) return -device;
    checkCudaErrors(cudaSetDevice(device));
    return device;
}

// The device with the most multiprocessors times units times clock.
static inline int gpuGetMaxGflopsDeviceId() {
    int count = 0, best = 0;
    double most = -1;
    checkCudaErrors(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; device++) {
        cudaDeviceProp p;
        int clock = 0;
        checkCudaErrors(cudaGetDeviceProperties(&p, device));
        checkCudaErrors(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device));
        double speed = (double)p.multiProcessorCount * _ConvertSMVer2Cores(p.major, p.minor) * clock;
        if (speed > most) {
            most = speed;
            best = device;
        }
    }
    return best;
}

// The device of --device=N, else the fastest; made the current one.
static inline int findCudaDevice(int argc, const char **argv) {
    int device = checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device")
                                                        : gpuGetMaxGflopsDeviceId();
    device = gpuDeviceInit(device);
    if (device < 0) {
        fprintf(stderr, "there is no device %d\n", -device);
        exit(EXIT_FAILURE);
    }
    return device;
}

static inline bool checkCudaCapabilities(int major, int minor) {
    cudaDeviceProp p;
    int device = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaGetDeviceProperties(&p, device));
    if (p.major > major || (p.major == major && p.minor >= minor)) return true;
    printf("device %d has compute capability %d.%d, but %d.%d is needed\n", device, p.major, p.minor, major, minor);
    return false;
}
