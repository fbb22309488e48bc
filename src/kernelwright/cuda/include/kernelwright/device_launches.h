// Kernels that launch kernels: included by force where a file has such launches (cuda/frontend.py).
//
// child<<<grid, block, bytes, stream>>>(a, b) in device code is, as clang writes it,
//
//     void *p = cudaGetParameterBuffer(64, size of (a, b)); if (p) { store a and b there; cudaLaunchDevice(child, p, ...); }
//
// What is launched goes into a queue in device memory, which the virtual GPU takes when the grid has ended
// (device/virtual_gpu/device_launches.py). On a real GPU nothing takes them: there a launch is a trap.
#pragma once
#pragma GCC system_header

#ifndef cudaStreamTailLaunch
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#endif

// NVIDIA's headers have functions of these names, which call others, whose names they hide.
#if defined(__cudaCDP2LaunchDevice)
#define KW_WITH_NVIDIA
#undef __cudaCDP2GetParameterBuffer
#undef __cudaCDP2LaunchDevice
#undef __cudaCDP2StreamCreateWithFlags
#undef __cudaCDP2StreamDestroy
#undef __cudaCDP2GetLastError
#undef __cudaCDP2PeekAtLastError
#undef __cudaCDP2Malloc
#undef __cudaCDP2Free
#define KW_LAUNCHED(name) __cudaCDP2##name
#else
#define KW_LAUNCHED(name) cuda##name
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void *kernel, void *parameters, dim3 grid, dim3 block, unsigned int shared_bytes,
                                        cudaStream_t stream);
}
#endif

#if defined(__CUDA_ARCH__)

struct __kw_device_launch {
    const void *kernel;
    const void *parameters;
    unsigned int grid[3], block[3], shared_bytes, stream;
};

struct __kw_launch_queue {
    unsigned int launches;
    unsigned int bytes;  // of parameters
    unsigned int pad[14];
    __kw_device_launch launch[16384];
    alignas(64) char parameters[2 << 20];
};

extern "C" {
__device__ __attribute__((weak)) __kw_launch_queue __kw_device_launches;

// Null when there is no room: the launch is left out then, as CUDA leaves out those beyond its limit.
__device__ __attribute__((weak)) void *KW_LAUNCHED(GetParameterBuffer)(size_t alignment, size_t size) {
    if (__nvvm_read_ptx_sreg_nsmid() != 1) __builtin_trap();
    unsigned int bytes = (unsigned int)(size + 63) / 64 * 64;
    unsigned int at = atomicAdd(&__kw_device_launches.bytes, bytes);
    return at + bytes <= sizeof __kw_device_launches.parameters ? __kw_device_launches.parameters + at : nullptr;
}

__device__ __attribute__((weak)) cudaError_t KW_LAUNCHED(LaunchDevice)(void *kernel, void *parameters, dim3 grid,
                                                                      dim3 block, unsigned int shared_bytes,
                                                                      cudaStream_t stream) {
    const unsigned int most = sizeof __kw_device_launches.launch / sizeof *__kw_device_launches.launch;
    unsigned int number = atomicAdd(&__kw_device_launches.launches, 1u);
    if (number >= most) return (cudaError_t)69;  // cudaErrorLaunchPendingCountExceeded
    __kw_device_launch *to = &__kw_device_launches.launch[number];
    to->kernel = kernel;
    to->parameters = parameters;
    to->grid[0] = grid.x, to->grid[1] = grid.y, to->grid[2] = grid.z;
    to->block[0] = block.x, to->block[1] = block.y, to->block[2] = block.z;
    to->shared_bytes = shared_bytes;
    to->stream = (unsigned int)(size_t)stream;
    return cudaSuccess;
}
}

#endif

#if defined(KW_WITH_NVIDIA)
#define KW_OF_DEVICE __device__ __attribute__((weak))
#else
#define KW_OF_DEVICE static __device__ inline
#endif

extern "C" {
// Streams of device code say which launches wait for each other; all of them run one after the other.
KW_OF_DEVICE cudaError_t KW_LAUNCHED(StreamCreateWithFlags)(cudaStream_t *stream, unsigned int) {
    *stream = (cudaStream_t)0x10;
    return cudaSuccess;
}
KW_OF_DEVICE cudaError_t KW_LAUNCHED(StreamDestroy)(cudaStream_t) { return cudaSuccess; }
KW_OF_DEVICE cudaError_t KW_LAUNCHED(GetLastError)() { return cudaSuccess; }
KW_OF_DEVICE cudaError_t KW_LAUNCHED(PeekAtLastError)() { return cudaSuccess; }
KW_OF_DEVICE cudaError_t KW_LAUNCHED(Malloc)(void **pointer, size_t bytes) {
    *pointer = malloc(bytes);
    return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
KW_OF_DEVICE cudaError_t KW_LAUNCHED(Free)(void *pointer) {
    free(pointer);
    return cudaSuccess;
}
}

#if !defined(KW_WITH_NVIDIA)
#if defined(__CUDA_ARCH__)
// A copy is a launch as well, which waits for those before it.
__global__ __attribute__((weak)) void __kw_copy_of_device(char *to, const char *from, size_t bytes) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * (size_t)blockDim.x)
        to[i] = from[i];
}
static __device__ inline cudaError_t __kw_copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    struct Copy { void *to; const void *from; size_t bytes; };
    if (!bytes) return cudaSuccess;
    Copy *copy = (Copy *)cudaGetParameterBuffer(64, sizeof(Copy));
    if (!copy) return (cudaError_t)69;
    *copy = Copy{to, from, bytes};
    const size_t blocks = (bytes + 255) / 256;
    return cudaLaunchDevice((void *)__kw_copy_of_device, copy, dim3(blocks < 64 ? (unsigned int)blocks : 64u), dim3(256), 0,
                            stream);
}
#else
static __device__ inline cudaError_t __kw_copy(void *, const void *, size_t, cudaStream_t) { return cudaSuccess; }
#endif
extern "C" {
static __device__ inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                                                     cudaStream_t stream = 0) {
    return __kw_copy(to, from, bytes, stream);
}
}
#endif

#undef KW_LAUNCHED
#undef KW_OF_DEVICE
#undef KW_WITH_NVIDIA
