// C++ forms of the runtime API: typed pointers, kernels and symbols without casts.
#pragma once
#pragma GCC system_header
#include "cuda_runtime_api.h"

// A call that fails is told with its line in the program, not with one of these.
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

// ---- typed pointers ----

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return ::cudaMalloc((void **)pointer, bytes);
}
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned int flags = 0) {
    return ::cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned int flags) {
    return ::cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **devicePointer, void *hostPointer, unsigned int flags) {
    return ::cudaHostGetDevicePointer((void **)devicePointer, hostPointer, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
    return ::cudaMallocManaged((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t widthBytes, size_t height) {
    return ::cudaMallocPitch((void **)pointer, pitch, widthBytes, height);
}
// As CUDA 11 has them: messages that nothing writes.
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *errorNode,
                                               char *log, size_t bytes) {
    if (errorNode) *errorNode = 0;
    if (log && bytes) *log = 0;
    return ::cudaGraphInstantiate(exec, graph, 0);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *errorNode,
                                              cudaGraphExecUpdateResult *result) {
    cudaGraphExecUpdateResultInfo told;
    cudaError_t error = ::cudaGraphExecUpdate(exec, graph, &told);
    if (errorNode) *errorNode = told.errorNode;
    if (result) *result = told.result;
    return error;
}
// A place as CUDA 13 names it.
static inline int __kw_device_at(cudaMemLocation place) {
    return place.type == cudaMemLocationTypeDevice ? place.id : cudaCpuDeviceId;
}
static inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice,
                                        cudaMemLocation place) {
    return ::cudaMemAdvise(pointer, bytes, advice, __kw_device_at(place));
}
static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, cudaMemLocation place,
                                               unsigned int flags, cudaStream_t stream = 0) {
    return flags ? cudaErrorInvalidValue : ::cudaMemPrefetchAsync(pointer, bytes, __kw_device_at(place), stream);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
    return ::cudaMallocAsync((void **)pointer, bytes, stream);
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
    return ::cudaEventCreateWithFlags(event, flags);
}

static inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t xsize, size_t ysize) {
    cudaPitchedPtr p = {pointer, pitch, xsize, ysize};
    return p;
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    cudaExtent e = {width, height, depth};
    return e;
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    cudaPos p = {x, y, z};
    return p;
}

// ---- symbols ----

template <class T> static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
    return ::cudaGetSymbolAddress(pointer, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return ::cudaGetSymbolSize(bytes, (const void *)&symbol);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0) {
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0) {
    return ::cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream);
}

// ---- kernels ----

template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t sharedBytes = 0,
                                           cudaStream_t stream = 0) {
    return ::cudaLaunchKernel((const void *)kernel, grid, block, arguments, sharedBytes, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                      size_t sharedBytes = 0, cudaStream_t stream = 0) {
    return ::cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, sharedBytes, stream);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
    return ::cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
    return ::cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) {
    return ::cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *kernel, cudaSharedMemConfig config) {
    return ::cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int blockSize,
                                                                        size_t dynamicSharedBytes) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, blockSize, dynamicSharedBytes);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        int *blocks, T kernel, int blockSize, size_t dynamicSharedBytes, unsigned int flags) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, blockSize,
                                                                    dynamicSharedBytes, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSharedBytes, T *kernel, int blocks,
                                                                    int blockSize) {
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSharedBytes, (const void *)kernel, blocks, blockSize);
}

// The block size that keeps the most threads resident, and the grid size that fills the device with such blocks once.
// `sharedBytes(blockSize)` is the dynamic shared memory of one block. The larger of two equal choices wins.
template <class SharedBytes, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *gridSize, int *blockSize, T kernel,
                                                                         SharedBytes sharedBytes,
                                                                         int blockSizeLimit = 0) {
    int device, multiprocessors, warp, most;
    cudaFuncAttributes attributes;
    cudaError_t error;
    if ((error = ::cudaGetDevice(&device)) != cudaSuccess ||
        (error = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess ||
        (error = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) != cudaSuccess ||
        (error = ::cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device)) != cudaSuccess ||
        (error = ::cudaFuncGetAttributes(&attributes, (const void *)kernel)) != cudaSuccess)
        return error;
    if (attributes.maxThreadsPerBlock < most) most = attributes.maxThreadsPerBlock;
    if (blockSizeLimit > 0 && blockSizeLimit < most) most = blockSizeLimit;

    int bestThreads = 0;
    *gridSize = *blockSize = 0;
    // Try `most` itself, then the multiples of the warp size below it.
    for (int size = most; size > 0; size = (size - 1) / warp * warp) {
        int blocks;
        error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel, size, sharedBytes(size));
        if (error != cudaSuccess) return error;
        if (blocks * size > bestThreads) {
            bestThreads = blocks * size;
            *blockSize = size;
            *gridSize = blocks * multiprocessors;
        }
    }
    return cudaSuccess;
}
struct __kw_fixed_shared_bytes {
    size_t bytes;
    size_t operator()(int) const { return bytes; }
};
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, T kernel,
                                                             size_t dynamicSharedBytes = 0, int blockSizeLimit = 0) {
    __kw_fixed_shared_bytes fixed = {dynamicSharedBytes};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(gridSize, blockSize, kernel, fixed, blockSizeLimit);
}

#pragma clang attribute pop
