/* Devices: counting, choosing, describing, limits, waiting for all work. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16 };

static pthread_mutex_t known = PTHREAD_MUTEX_INITIALIZER;
static struct kw_device_properties *properties[DEVICES];

static int check_device(int device)
{
    return device >= 0 && device < DEVICES && (uint32_t)device < kw_welcome->device_count ? 0 : cudaErrorInvalidDevice;
}

const struct kw_device_properties *kw_properties(void)
{
    pthread_mutex_lock(&known);
    struct kw_device_properties **kept = &properties[kw_device];
    if (!*kept) {
        struct kw_device_properties *asked = malloc(sizeof *asked);
        if (asked && kw_request(KW_DEVICE_PROPERTIES, NULL, 0, asked, sizeof *asked)) {
            free(asked);
            asked = NULL;
        }
        *kept = asked;
    }
    pthread_mutex_unlock(&known);
    return *kept;
}

/* Of any device. */
static int ask_properties(int device, const struct kw_device_properties **told)
{
    int result = check_device(device);
    if (result)
        return result;
    int current = kw_device;
    kw_device = device;
    *told = kw_properties();
    kw_device = current;
    return *told ? 0 : kw_failure() ? kw_failure() : cudaErrorInitializationError;
}

/* ---- versions and counting ---- */

KW_API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return kw_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* Without a driver the version is 0, and that is no error. */
KW_API cudaError_t cudaDriverGetVersion(int *version)
{
    const struct kw_device_properties *told;
    if (!version)
        return kw_done(cudaErrorInvalidValue);
    *version = 0;
    if (!kw_connect() && !ask_properties(0, &told))
        *version = (int)told->driver_version;
    return cudaSuccess;
}

KW_API cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return kw_done(cudaErrorInvalidValue);
    *count = 0;
    KW_ENTER();
    *count = (int)(kw_welcome->device_count < DEVICES ? kw_welcome->device_count : DEVICES);
    return cudaSuccess;
}

KW_API cudaError_t cudaGetDevice(int *device)
{
    KW_ENTER();
    if (!device)
        return kw_done(cudaErrorInvalidValue);
    *device = kw_device;
    return cudaSuccess;
}

KW_API cudaError_t cudaSetDevice(int device)
{
    KW_ENTER();
    int result = check_device(device);
    if (!result)
        kw_device = device;
    return kw_done(result);
}

/* The first of the list that is there, unless the thread already has a device. */
KW_API cudaError_t cudaSetValidDevices(int *devices, int count)
{
    KW_ENTER();
    if (count < 0 || (count && !devices))
        return kw_done(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (check_device(devices[i]))
            return kw_done(cudaErrorInvalidDevice);
    if (count)
        kw_device = devices[0];
    return cudaSuccess;
}

static unsigned int device_flags;

static int check_flags(unsigned int flags)
{
    unsigned int schedule = flags & cudaDeviceScheduleMask;
    int one = schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4;
    return one && !(flags & ~(unsigned)cudaDeviceMask) ? 0 : cudaErrorInvalidValue;
}

KW_API cudaError_t cudaInitDevice(int device, unsigned int wanted, unsigned int flags)
{
    enum { FLAGS_ARE_VALID = 1 };
    KW_ENTER();
    int result = check_device(device);
    if (!result && flags & FLAGS_ARE_VALID)
        result = check_flags(wanted);
    return kw_done(result);
}

KW_API cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    KW_ENTER();
    if (!flags)
        return kw_done(cudaErrorInvalidValue);
    *flags = device_flags | cudaDeviceMapHost;
    return cudaSuccess;
}

/* How a waiting thread waits: over a socket, always by sleeping. */
KW_API cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    KW_ENTER();
    int result = check_flags(flags);
    if (!result)
        device_flags = flags;
    return kw_done(result);
}

/* ---- descriptions ---- */

static void describe(struct cudaDeviceProp *to, const struct kw_device_properties *from)
{
    memset(to, 0, sizeof *to);
    snprintf(to->name, sizeof to->name, "%s", from->name);
    memcpy(to->uuid.bytes, from->uuid, sizeof to->uuid.bytes);
    to->major = (int)from->major;
    to->minor = (int)from->minor;
    to->totalGlobalMem = from->global_bytes;
    to->totalConstMem = from->constant_bytes;
    to->sharedMemPerBlock = from->shared_bytes_per_block;
    to->sharedMemPerBlockOptin = from->shared_bytes_per_block_optin;
    to->sharedMemPerMultiprocessor = from->shared_bytes_per_multiprocessor;
    to->reservedSharedMemPerBlock = from->reserved_shared_bytes_per_block;
    to->memPitch = from->max_pitch;
    to->textureAlignment = from->texture_alignment;
    to->texturePitchAlignment = from->texture_pitch_alignment;
    to->surfaceAlignment = from->surface_alignment;
    to->warpSize = (int)from->warp_size;
    to->maxThreadsPerBlock = (int)from->max_threads_per_block;
    to->maxThreadsPerMultiProcessor = (int)from->max_threads_per_multiprocessor;
    to->maxBlocksPerMultiProcessor = (int)from->max_blocks_per_multiprocessor;
    to->regsPerBlock = (int)from->registers_per_block;
    to->regsPerMultiprocessor = (int)from->registers_per_multiprocessor;
    to->multiProcessorCount = (int)from->multiprocessors;
    to->clockRate = (int)from->clock_khz;
    to->memoryClockRate = (int)from->memory_clock_khz;
    to->memoryBusWidth = (int)from->memory_bus_bits;
    to->l2CacheSize = (int)from->l2_bytes;
    to->persistingL2CacheMaxSize = (int)from->persisting_l2_bytes;
    to->globalL1CacheSupported = to->localL1CacheSupported = 1;
    to->singleToDoublePrecisionPerfRatio = (int)from->single_to_double_ratio;
    to->maxTexture1D = (int)from->max_texture_1d;
    to->maxTexture1DLinear = (int)from->max_texture_1d_linear;
    for (int i = 0; i < 2; i++)
        to->maxTexture2D[i] = (int)from->max_texture_2d[i];
    for (int i = 0; i < 3; i++) {
        to->maxThreadsDim[i] = (int)from->max_block[i];
        to->maxGridSize[i] = (int)from->max_grid[i];
        to->maxTexture2DLinear[i] = (int)from->max_texture_2d_linear[i];
        to->maxTexture3D[i] = (int)from->max_texture_3d[i];
    }
    to->pciBusID = (int)from->pci_bus;
    to->pciDeviceID = (int)from->pci_device;
    to->pciDomainID = (int)from->pci_domain;
    to->asyncEngineCount = (int)from->async_engines;
    to->deviceOverlap = from->async_engines > 0;
    to->concurrentKernels = (int)from->concurrent_kernels;
    to->kernelExecTimeoutEnabled = (int)from->kernel_timeout;
    to->integrated = (int)from->integrated;
    to->canMapHostMemory = to->unifiedAddressing = to->managedMemory = 1;
    to->ECCEnabled = (int)from->ecc;
    to->streamPrioritiesSupported = 1;
    to->computePreemptionSupported = (int)from->compute_preemption;
    to->pageableMemoryAccess = (int)from->pageable_memory_access;
    to->concurrentManagedAccess = (int)from->concurrent_managed_access;
    to->hostRegisterSupported = 1;
    to->cooperativeLaunch = (int)from->cooperative_launch;
    to->memoryPoolsSupported = 1;
}

KW_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *result, int device)
{
    KW_ENTER();
    const struct kw_device_properties *told;
    int error = result ? ask_properties(device, &told) : cudaErrorInvalidValue;
    if (!error)
        describe(result, told);
    return kw_done(error);
}

/* Attributes that are a field of the properties, and those that are the same everywhere: `offset` -1 and their `value`.
   Every other attribute of the header is a feature that is not there: 0. */
static const struct attribute {
    int attribute, offset, bytes, value;
} attributes[] = {
#define FIELD(attribute, field) \
    {attribute, offsetof(struct kw_device_properties, field), sizeof((struct kw_device_properties *)0)->field, 0}
#define FIXED(attribute, value) {attribute, -1, 0, value}
    FIELD(cudaDevAttrMaxThreadsPerBlock, max_threads_per_block),
    FIELD(cudaDevAttrMaxBlockDimX, max_block[0]),
    FIELD(cudaDevAttrMaxBlockDimY, max_block[1]),
    FIELD(cudaDevAttrMaxBlockDimZ, max_block[2]),
    FIELD(cudaDevAttrMaxGridDimX, max_grid[0]),
    FIELD(cudaDevAttrMaxGridDimY, max_grid[1]),
    FIELD(cudaDevAttrMaxGridDimZ, max_grid[2]),
    FIELD(cudaDevAttrMaxSharedMemoryPerBlock, shared_bytes_per_block),
    FIELD(cudaDevAttrTotalConstantMemory, constant_bytes),
    FIELD(cudaDevAttrWarpSize, warp_size),
    FIELD(cudaDevAttrMaxPitch, max_pitch),
    FIELD(cudaDevAttrMaxRegistersPerBlock, registers_per_block),
    FIELD(cudaDevAttrClockRate, clock_khz),
    FIELD(cudaDevAttrTextureAlignment, texture_alignment),
    FIELD(cudaDevAttrMultiProcessorCount, multiprocessors),
    FIELD(cudaDevAttrKernelExecTimeout, kernel_timeout),
    FIELD(cudaDevAttrIntegrated, integrated),
    FIELD(cudaDevAttrMaxTexture1DWidth, max_texture_1d),
    FIELD(cudaDevAttrMaxTexture2DWidth, max_texture_2d[0]),
    FIELD(cudaDevAttrMaxTexture2DHeight, max_texture_2d[1]),
    FIELD(cudaDevAttrMaxTexture3DWidth, max_texture_3d[0]),
    FIELD(cudaDevAttrMaxTexture3DHeight, max_texture_3d[1]),
    FIELD(cudaDevAttrMaxTexture3DDepth, max_texture_3d[2]),
    FIELD(cudaDevAttrSurfaceAlignment, surface_alignment),
    FIELD(cudaDevAttrConcurrentKernels, concurrent_kernels),
    FIELD(cudaDevAttrEccEnabled, ecc),
    FIELD(cudaDevAttrPciBusId, pci_bus),
    FIELD(cudaDevAttrPciDeviceId, pci_device),
    FIELD(cudaDevAttrPciDomainId, pci_domain),
    FIELD(cudaDevAttrMemoryClockRate, memory_clock_khz),
    FIELD(cudaDevAttrGlobalMemoryBusWidth, memory_bus_bits),
    FIELD(cudaDevAttrL2CacheSize, l2_bytes),
    FIELD(cudaDevAttrMaxThreadsPerMultiProcessor, max_threads_per_multiprocessor),
    FIELD(cudaDevAttrGpuOverlap, async_engines),
    FIELD(cudaDevAttrAsyncEngineCount, async_engines),
    FIELD(cudaDevAttrTexturePitchAlignment, texture_pitch_alignment),
    FIELD(cudaDevAttrMaxTexture1DLinearWidth, max_texture_1d_linear),
    FIELD(cudaDevAttrMaxTexture2DLinearWidth, max_texture_2d_linear[0]),
    FIELD(cudaDevAttrMaxTexture2DLinearHeight, max_texture_2d_linear[1]),
    FIELD(cudaDevAttrMaxTexture2DLinearPitch, max_texture_2d_linear[2]),
    FIELD(cudaDevAttrComputeCapabilityMajor, major),
    FIELD(cudaDevAttrComputeCapabilityMinor, minor),
    FIELD(cudaDevAttrMaxSharedMemoryPerMultiprocessor, shared_bytes_per_multiprocessor),
    FIELD(cudaDevAttrMaxRegistersPerMultiprocessor, registers_per_multiprocessor),
    FIELD(cudaDevAttrSingleToDoublePrecisionPerfRatio, single_to_double_ratio),
    FIELD(cudaDevAttrPageableMemoryAccess, pageable_memory_access),
    FIELD(cudaDevAttrConcurrentManagedAccess, concurrent_managed_access),
    FIELD(cudaDevAttrComputePreemptionSupported, compute_preemption),
    FIELD(cudaDevAttrCooperativeLaunch, cooperative_launch),
    FIELD(cudaDevAttrMaxSharedMemoryPerBlockOptin, shared_bytes_per_block_optin),
    FIELD(cudaDevAttrMaxBlocksPerMultiprocessor, max_blocks_per_multiprocessor),
    FIELD(cudaDevAttrMaxPersistingL2CacheSize, persisting_l2_bytes),
    FIELD(cudaDevAttrReservedSharedMemoryPerBlock, reserved_shared_bytes_per_block),
    FIXED(cudaDevAttrCanMapHostMemory, 1),
    FIXED(cudaDevAttrUnifiedAddressing, 1),
    FIXED(cudaDevAttrManagedMemory, 1),
    FIXED(cudaDevAttrStreamPrioritiesSupported, 1),
    FIXED(cudaDevAttrGlobalL1CacheSupported, 1),
    FIXED(cudaDevAttrLocalL1CacheSupported, 1),
    FIXED(cudaDevAttrHostRegisterSupported, 1),
    FIXED(cudaDevAttrMemoryPoolsSupported, 1),
    FIXED(cudaDevAttrNumaId, -1),
    FIXED(cudaDevAttrHostNumaId, -1),
#undef FIELD
#undef FIXED
};

enum { LAST_ATTRIBUTE = 200 };

static int attribute_value(const struct attribute *of, const struct kw_device_properties *told)
{
    if (of->offset < 0)
        return of->value;
    uint64_t value = 0;
    memcpy(&value, (const char *)told + of->offset, (size_t)of->bytes);
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

KW_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    KW_ENTER();
    const struct kw_device_properties *told;
    if (!value || (int)attribute < 1 || (int)attribute > LAST_ATTRIBUTE)
        return kw_done(cudaErrorInvalidValue);
    int result = ask_properties(device, &told);
    if (result)
        return kw_done(result);
    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == (int)attribute)
            *value = attribute_value(&attributes[i], told);
    return cudaSuccess;
}

/* How many of the wishes a device fulfils. */
static int suits(const struct kw_device_properties *has, const struct cudaDeviceProp *wanted)
{
    return (wanted->major > 0 && (int)has->major >= wanted->major) +
           (wanted->minor > 0 && (int)has->major == wanted->major && (int)has->minor >= wanted->minor) +
           (wanted->totalGlobalMem > 0 && has->global_bytes >= wanted->totalGlobalMem) +
           (wanted->multiProcessorCount > 0 && (int)has->multiprocessors >= wanted->multiProcessorCount);
}

KW_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    KW_ENTER();
    int best = -1;
    if (!device || !wanted)
        return kw_done(cudaErrorInvalidValue);
    for (int each = 0; !check_device(each); each++) {
        const struct kw_device_properties *told;
        int result = ask_properties(each, &told);
        if (result)
            return kw_done(result);
        if (suits(told, wanted) > best) {
            best = suits(told, wanted);
            *device = each;
        }
    }
    return cudaSuccess;
}

KW_API cudaError_t cudaDeviceGetPCIBusId(char *bus, int length, int device)
{
    KW_ENTER();
    const struct kw_device_properties *told;
    int result = bus && length > 0 ? ask_properties(device, &told) : cudaErrorInvalidValue;
    if (!result && snprintf(bus, (size_t)length, "%04x:%02x:%02x.0", told->pci_domain, told->pci_bus,
                            told->pci_device) >= length)
        result = cudaErrorInvalidValue;
    return kw_done(result);
}

KW_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *bus)
{
    KW_ENTER();
    unsigned int domain = 0, number = 0, slot = 0;
    if (!device || !bus || (sscanf(bus, "%x:%x:%x", &domain, &number, &slot) != 3 &&
                            (domain = 0, sscanf(bus, "%x:%x", &number, &slot) != 2)))
        return kw_done(cudaErrorInvalidValue);
    for (int each = 0; !check_device(each); each++) {
        const struct kw_device_properties *told;
        int result = ask_properties(each, &told);
        if (result)
            return kw_done(result);
        if (told->pci_domain == domain && told->pci_bus == number && told->pci_device == slot) {
            *device = each;
            return cudaSuccess;
        }
    }
    return kw_done(cudaErrorInvalidDevice);
}

/* ---- waiting and starting over ---- */

KW_API cudaError_t cudaDeviceSynchronize(void)
{
    KW_ENTER();
    return kw_done(kw_request(KW_DEVICE_SYNCHRONIZE, NULL, 0, NULL, 0));
}

/* The one call that gets through after a failure, and mends it when the worker can. The worker forgets all it was told,
   so it is told again. */
KW_API cudaError_t cudaDeviceReset(void)
{
    int result = kw_connect();
    if (!kw_is_connected())
        return kw_done(result);
    result = kw_request(KW_DEVICE_RESET, NULL, 0, NULL, 0);
    if (result)
        return kw_done(result);
    kw_drop_all_blocks();
    kw_drop_all_streams();
    kw_drop_all_textures();
    kw_drop_all_arrays();
    kw_reset_modules();
    kw_forget_failure();
    cudaGetLastError();
    result = kw_share_managed();
    return kw_done(result ? result : kw_announce_modules());
}

/* ---- limits and preferences: remembered, and told back ---- */

static size_t limit[cudaLimitPersistingL2CacheSize + 1] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitMaxL2FetchGranularity] = 64,
};
static enum cudaFuncCache cache_config;

/* Kernels that launch kernels are not supported, so neither are their limits. */
static int check_limit(enum cudaLimit which)
{
    if ((int)which < 0 || which > cudaLimitPersistingL2CacheSize)
        return cudaErrorInvalidValue;
    if (which == cudaLimitDevRuntimeSyncDepth || which == cudaLimitDevRuntimePendingLaunchCount)
        return cudaErrorUnsupportedLimit;
    return 0;
}

KW_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit which)
{
    KW_ENTER();
    int result = value ? check_limit(which) : cudaErrorInvalidValue;
    if (!result)
        *value = limit[which];
    return kw_done(result);
}

KW_API cudaError_t cudaDeviceSetLimit(enum cudaLimit which, size_t value)
{
    KW_ENTER();
    int result = check_limit(which);
    if (!result)
        limit[which] = value;
    return kw_done(result);
}

KW_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    KW_ENTER();
    if (!config)
        return kw_done(cudaErrorInvalidValue);
    *config = cache_config;
    return cudaSuccess;
}

KW_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    KW_ENTER();
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
        return kw_done(cudaErrorInvalidValue);
    cache_config = config;
    return cudaSuccess;
}

/* Banks have been four bytes wide since Maxwell, whatever is asked. */
KW_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    KW_ENTER();
    if (!config)
        return kw_done(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

KW_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    KW_ENTER();
    return kw_done(config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte
                       ? cudaErrorInvalidValue
                       : cudaSuccess);
}

/* ---- peers: no device reaches another's memory ---- */

KW_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    KW_ENTER();
    if (!can)
        return kw_done(cudaErrorInvalidValue);
    *can = 0;
    return kw_done(check_device(device) ? check_device(device) : check_device(peer));
}

KW_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    KW_ENTER();
    int result = flags ? cudaErrorInvalidValue : check_device(peer);
    return kw_done(result ? result : peer == kw_device ? cudaErrorInvalidDevice : cudaErrorPeerAccessUnsupported);
}

KW_API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    KW_ENTER();
    int result = check_device(peer);
    return kw_done(result ? result : cudaErrorPeerAccessNotEnabled);
}

KW_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int source, int destination)
{
    KW_ENTER();
    if (!value || attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        return kw_done(cudaErrorInvalidValue);
    if (check_device(source) || check_device(destination) || source == destination)
        return kw_done(cudaErrorInvalidDevice);
    *value = 0;
    return cudaSuccess;
}

/* ---- a profiler that is asked to start or stop and is not there is no error ---- */

KW_API cudaError_t cudaProfilerStart(void)
{
    KW_ENTER();
    return cudaSuccess;
}

KW_API cudaError_t cudaProfilerStop(void)
{
    KW_ENTER();
    return cudaSuccess;
}

/* ---- older names ---- */

KW_API cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

KW_API cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

KW_API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit which)
{
    return cudaDeviceGetLimit(value, which);
}

KW_API cudaError_t cudaThreadSetLimit(enum cudaLimit which, size_t value)
{
    return cudaDeviceSetLimit(which, value);
}

KW_API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}

KW_API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}
