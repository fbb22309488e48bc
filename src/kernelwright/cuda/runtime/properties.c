/* What a device is: its properties and attributes, asked from the worker once. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t known = PTHREAD_MUTEX_INITIALIZER;
static struct kw_device_properties *properties[KW_DEVICES];

int kw_check_device(int device)
{
    int is_there = device >= 0 && device < KW_DEVICES && (uint32_t)device < kw_welcome->device_count;
    return is_there ? 0 : cudaErrorInvalidDevice;
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

int kw_ask_properties(int device, const struct kw_device_properties **told)
{
    int result = kw_check_device(device);
    if (result)
        return result;
    int current = kw_device;
    kw_device = device;
    *told = kw_properties();
    kw_device = current;
    return *told ? 0 : kw_failure() ? kw_failure() : cudaErrorInitializationError;
}

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
    int error = result ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
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
    int result = kw_ask_properties(device, &told);
    if (result)
        return kw_done(result);
    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == (int)attribute)
            *value = attribute_value(&attributes[i], told);
    return cudaSuccess;
}

KW_API cudaError_t cudaDeviceGetPCIBusId(char *bus, int length, int device)
{
    KW_ENTER();
    const struct kw_device_properties *told;
    int result = bus && length > 0 ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
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
    for (int each = 0; !kw_check_device(each); each++) {
        const struct kw_device_properties *told;
        int result = kw_ask_properties(each, &told);
        if (result)
            return kw_done(result);
        if (told->pci_domain == domain && told->pci_bus == number && told->pci_device == slot) {
            *device = each;
            return cudaSuccess;
        }
    }
    return kw_done(cudaErrorInvalidDevice);
}
