/*
 * What objects compiled with NVIDIA's headers call and ours do not: in the shared libraries that stand in for NVIDIA's,
 * and in the static one where --cuda-path named a toolkit. KW_NVCC is the major version of those headers. The functions
 * whose shape is not ours are compiled under another name (runtime_library.py), so that here they can have NVIDIA's.
 */
#include "client.h"

#include <string.h>

/* ---- kernels: nvcc 13 asks for a handle first; ours is the address of the host's function ---- */

KW_API cudaError_t __cudaGetKernel(void **kernel, const void *host)
{
    *kernel = (void *)host;
    return kw_find_kernel(host) ? cudaSuccess : kw_done(cudaErrorInvalidDeviceFunction);
}

KW_API cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                      cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

KW_API char __cudaInitModule(void **handle)
{
    return handle != NULL;
}

/* ---- launches with attributes, as cub of CUDA 13 makes them: hints are ignored, the rest is refused ---- */

/* Access policy, synchronisation, cluster scheduling, early start, priority, memory domains, carveout, link use. */
#define HINTS (1u << 0 | 1u << 1 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 14 | 1u << 16)

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

struct launch_attribute {
    int kind;
    union {
        char room[64];
        int cooperative;
        struct {
            unsigned int x, y, z;
        } cluster;
    } value __attribute__((aligned(8)));
};

struct launch_configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    const struct launch_attribute *attributes;
    unsigned int count;
};

static int is_hint(const struct launch_attribute *attribute)
{
    switch (attribute->kind) {
    case ATTRIBUTE_COOPERATIVE:
        return 1;
    case ATTRIBUTE_CLUSTER:
        return attribute->value.cluster.x * attribute->value.cluster.y * attribute->value.cluster.z <= 1;
    default:
        return attribute->kind >= 0 && attribute->kind < 32 && HINTS >> attribute->kind & 1;
    }
}

static cudaError_t launch_configured(const struct launch_configuration *c, const void *kernel, void **arguments,
                                     cudaStream_t stream)
{
    if (!c)
        return kw_done(cudaErrorInvalidValue);
    int cooperative = 0;
    for (unsigned int i = 0; i < c->count; i++) {
        if (!is_hint(&c->attributes[i]))
            return kw_done(cudaErrorNotSupported);
        if (c->attributes[i].kind == ATTRIBUTE_COOPERATIVE)
            cooperative = c->attributes[i].value.cooperative;
    }
    return (cooperative ? cudaLaunchCooperativeKernel : cudaLaunchKernel)(kernel, c->grid, c->block, arguments,
                                                                          c->shared_bytes, stream);
}

KW_API cudaError_t cudaLaunchKernelExC(const struct launch_configuration *c, const void *kernel, void **arguments)
{
    return launch_configured(c, kernel, arguments, c ? c->stream : NULL);
}

KW_API cudaError_t cudaLaunchKernelExC_ptsz(const struct launch_configuration *c, const void *kernel, void **arguments)
{
    return launch_configured(c, kernel, arguments, c && c->stream ? c->stream : cudaStreamPerThread);
}

/* ---- device properties in NVIDIA's layout: offsets in the headers of 12.8 and of 13.0; -1: not there ---- */


#undef cudaGetDeviceProperties
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync

enum { SIZE_12 = 1032, SIZE_13 = 1008 };

static const struct field {
    size_t from, bytes;
    int at_12, at_13;
} fields[] = {
#define FIELD(name, at_12, at_13) \
    {offsetof(struct cudaDeviceProp, name), sizeof((struct cudaDeviceProp *)0)->name, at_12, at_13}
    FIELD(name, 0, 0),
    FIELD(uuid, 256, 256),
    FIELD(totalGlobalMem, 288, 288),
    FIELD(sharedMemPerBlock, 296, 296),
    FIELD(regsPerBlock, 304, 304),
    FIELD(warpSize, 308, 308),
    FIELD(memPitch, 312, 312),
    FIELD(maxThreadsPerBlock, 320, 320),
    FIELD(maxThreadsDim, 324, 324),
    FIELD(maxGridSize, 336, 336),
    FIELD(clockRate, 348, -1),
    FIELD(totalConstMem, 352, 352),
    FIELD(major, 360, 360),
    FIELD(minor, 364, 364),
    FIELD(textureAlignment, 368, 368),
    FIELD(texturePitchAlignment, 376, 376),
    FIELD(deviceOverlap, 384, -1),
    FIELD(multiProcessorCount, 388, 384),
    FIELD(kernelExecTimeoutEnabled, 392, -1),
    FIELD(integrated, 396, 388),
    FIELD(canMapHostMemory, 400, 392),
    FIELD(computeMode, 404, -1),
    FIELD(maxTexture1D, 408, 396),
    FIELD(maxTexture1DLinear, 416, -1),
    FIELD(maxTexture2D, 420, 404),
    FIELD(maxTexture2DLinear, 436, 420),
    FIELD(maxTexture3D, 456, 440),
    FIELD(surfaceAlignment, 568, 552),
    FIELD(concurrentKernels, 576, 560),
    FIELD(ECCEnabled, 580, 564),
    FIELD(pciBusID, 584, 568),
    FIELD(pciDeviceID, 588, 572),
    FIELD(pciDomainID, 592, 576),
    FIELD(asyncEngineCount, 600, 584),
    FIELD(unifiedAddressing, 604, 588),
    FIELD(memoryClockRate, 608, -1),
    FIELD(memoryBusWidth, 612, 592),
    FIELD(l2CacheSize, 616, 596),
    FIELD(persistingL2CacheMaxSize, 620, 600),
    FIELD(maxThreadsPerMultiProcessor, 624, 604),
    FIELD(streamPrioritiesSupported, 628, 608),
    FIELD(globalL1CacheSupported, 632, 612),
    FIELD(localL1CacheSupported, 636, 616),
    FIELD(sharedMemPerMultiprocessor, 640, 624),
    FIELD(regsPerMultiprocessor, 648, 632),
    FIELD(managedMemory, 652, 636),
    FIELD(singleToDoublePrecisionPerfRatio, 668, -1),
    FIELD(pageableMemoryAccess, 672, 652),
    FIELD(concurrentManagedAccess, 676, 656),
    FIELD(computePreemptionSupported, 680, 660),
    FIELD(cooperativeLaunch, 688, 668),
    FIELD(sharedMemPerBlockOptin, 696, 672),
    FIELD(maxBlocksPerMultiProcessor, 712, 688),
    FIELD(reservedSharedMemPerBlock, 720, 696),
    FIELD(hostRegisterSupported, 728, 704),
    FIELD(memoryPoolsSupported, 744, 720),
#undef FIELD
};

cudaError_t kw_own_device_properties(struct cudaDeviceProp *properties, int device);

static cudaError_t describe_for_nvcc(char *to, int device)
{
    struct cudaDeviceProp own;
    cudaError_t result = to ? kw_own_device_properties(&own, device) : kw_done(cudaErrorInvalidValue);
    if (result)
        return result;
    memset(to, 0, KW_NVCC >= 13 ? SIZE_13 : SIZE_12);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int at = KW_NVCC >= 13 ? fields[i].at_13 : fields[i].at_12;
        if (at >= 0)
            memcpy(to + at, (const char *)&own + fields[i].from, fields[i].bytes);
    }
    return cudaSuccess;
}

/* A place for memory: a device, or one of several ways to say "the host". */
struct location {
    int type, id;
};

enum { LOCATION_DEVICE = 1 };

static int device_at(struct location place)
{
    return place.type == LOCATION_DEVICE ? place.id : cudaCpuDeviceId;
}

#if KW_NVCC >= 13

KW_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    return describe_for_nvcc((char *)properties, device);
}

cudaError_t kw_own_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device);
cudaError_t kw_own_prefetch(const void *pointer, size_t bytes, int device, cudaStream_t stream);

KW_API cudaError_t kw_nvcc_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                  struct location place) __asm__("cudaMemAdvise");
KW_API cudaError_t kw_nvcc_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                  struct location place)
{
    return kw_own_advise(pointer, bytes, advice, device_at(place));
}

KW_API cudaError_t kw_nvcc_prefetch(const void *pointer, size_t bytes, struct location place, unsigned int flags,
                                    cudaStream_t stream) __asm__("cudaMemPrefetchAsync");
KW_API cudaError_t kw_nvcc_prefetch(const void *pointer, size_t bytes, struct location place, unsigned int flags,
                                    cudaStream_t stream)
{
    return flags ? kw_done(cudaErrorInvalidValue) : kw_own_prefetch(pointer, bytes, device_at(place), stream);
}

#else

KW_API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device)
{
    return describe_for_nvcc((char *)properties, device);
}

/* As CUDA 13 calls them by their plain names. */
KW_API cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, struct location place)
{
    return cudaMemAdvise(pointer, bytes, advice, device_at(place));
}

KW_API cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, struct location place, unsigned int flags,
                                           cudaStream_t stream)
{
    return flags ? kw_done(cudaErrorInvalidValue) : cudaMemPrefetchAsync(pointer, bytes, device_at(place), stream);
}

#endif

/* ---- --default-stream per-thread: calls under another name, where stream 0 means the thread's own ---- */

/* The synchronous forms wait for all streams, which includes the thread's own: they are the plain functions. */
#define SAME(name) \
    KW_API __attribute__((naked)) void name##_ptds(void) { __asm__("jmp " #name "@PLT"); }
SAME(cudaMemcpy)
SAME(cudaMemcpy2D)
SAME(cudaMemcpy3D)
SAME(cudaMemcpy2DToArray)
SAME(cudaMemcpy2DFromArray)
SAME(cudaMemcpyToArray)
SAME(cudaMemcpyFromArray)
SAME(cudaMemcpyToSymbol)
SAME(cudaMemcpyFromSymbol)
SAME(cudaMemset)
SAME(cudaMemset2D)
SAME(cudaMemset3D)
#undef SAME

#define OWN (stream ? stream : cudaStreamPerThread)
#define PER_THREAD(name, parameters, arguments) \
    KW_API cudaError_t name##_ptsz parameters { return name arguments; }
PER_THREAD(cudaLaunchKernel, (const void *k, dim3 g, dim3 b, void **a, size_t s, cudaStream_t stream),
           (k, g, b, a, s, OWN))
PER_THREAD(__cudaLaunchKernel, (void *k, dim3 g, dim3 b, void **a, size_t s, cudaStream_t stream),
           (k, g, b, a, s, OWN))
PER_THREAD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data), (OWN, function, data))
PER_THREAD(cudaMallocAsync, (void **p, size_t bytes, cudaStream_t stream), (p, bytes, OWN))
PER_THREAD(cudaFreeAsync, (void *p, cudaStream_t stream), (p, OWN))
PER_THREAD(cudaMemcpyAsync, (void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream),
           (to, from, n, kind, OWN))
PER_THREAD(cudaMemcpy2DAsync,
           (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           (to, tp, from, fp, w, h, kind, OWN))
PER_THREAD(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *copy, cudaStream_t stream), (copy, OWN))
PER_THREAD(cudaMemcpy2DToArrayAsync,
           (cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, size_t w, size_t h,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           (to, x, y, from, fp, w, h, kind, OWN))
PER_THREAD(cudaMemcpyToSymbolAsync,
           (const void *symbol, const void *from, size_t n, size_t offset, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           (symbol, from, n, offset, kind, OWN))
PER_THREAD(cudaMemcpyFromSymbolAsync,
           (void *to, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
           (to, symbol, n, offset, kind, OWN))
PER_THREAD(cudaMemsetAsync, (void *p, int value, size_t n, cudaStream_t stream), (p, value, n, OWN))
PER_THREAD(cudaMemset2DAsync, (void *p, size_t pitch, int value, size_t w, size_t h, cudaStream_t stream),
           (p, pitch, value, w, h, OWN))
PER_THREAD(cudaStreamSynchronize, (cudaStream_t stream), (OWN))
PER_THREAD(cudaStreamQuery, (cudaStream_t stream), (OWN))
PER_THREAD(cudaStreamGetFlags, (cudaStream_t stream, unsigned int *flags), (OWN, flags))
PER_THREAD(cudaStreamGetPriority, (cudaStream_t stream, int *priority), (OWN, priority))
PER_THREAD(cudaStreamSetAttribute, (cudaStream_t stream, cudaStreamAttrID which, const cudaStreamAttrValue *value), (OWN, which, value))
PER_THREAD(cudaStreamGetAttribute, (cudaStream_t stream, cudaStreamAttrID which, cudaStreamAttrValue *value), (OWN, which, value))
PER_THREAD(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags), (OWN, event, flags))
PER_THREAD(cudaStreamAddCallback,
           (cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned int flags),
           (OWN, function, data, flags))
PER_THREAD(cudaStreamAttachMemAsync, (cudaStream_t stream, void *p, size_t n, unsigned int flags), (OWN, p, n, flags))
PER_THREAD(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, OWN))
PER_THREAD(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags), (event, OWN, flags))
