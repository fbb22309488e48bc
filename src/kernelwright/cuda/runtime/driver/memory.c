/* Memory: allocated, registered, asked about, and mapped piece by piece. */
#include "driver.h"

#include <stdlib.h>

KW_API CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemGetInfo(free_bytes, total_bytes));
}

/* The runtime takes 0 bytes; the driver does not. */
KW_API CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(bytes ? cudaMalloc((void **)address, bytes) : cudaErrorInvalidValue);
}

KW_API CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned int element)
{
    KW_DRIVER_ENTER();
    int is_valid = width && height && (element == 4 || element == 8 || element == 16);
    return kw_driver_done(is_valid ? cudaMallocPitch((void **)address, pitch, width, height) : cudaErrorInvalidValue);
}

KW_API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(bytes ? cudaMallocManaged((void **)address, bytes, flags) : cudaErrorInvalidValue);
}

KW_API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMallocAsync((void **)address, bytes, stream));
}

KW_API CUresult cuMemFree(CUdeviceptr address)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaFree((void *)address));
}

KW_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaFreeAsync((void *)address, stream));
}

KW_API CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(bytes ? cudaMallocHost(pointer, bytes) : cudaErrorInvalidValue);
}

KW_API CUresult cuMemFreeHost(void *pointer)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaFreeHost(pointer));
}

KW_API CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(bytes ? cudaHostAlloc(pointer, bytes, flags) : cudaErrorInvalidValue);
}

KW_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaHostGetDevicePointer((void **)address, pointer, flags));
}

KW_API CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaHostGetFlags(flags, pointer));
}

KW_API CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaHostRegister(pointer, bytes, flags));
}

KW_API CUresult cuMemHostUnregister(void *pointer)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaHostUnregister(pointer));
}

KW_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemAdvise((void *)address, bytes, (enum cudaMemoryAdvise)advice, device));
}

KW_API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemPrefetchAsync((void *)address, bytes, device, stream));
}

/* ---- what an address is ---- */

KW_API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    KW_DRIVER_ENTER();
    struct kw_block found;
    if (!kw_find_block((void *)kw_managed_address(address), &found) || found.kind == KW_BLOCK_REGISTERED)
        return kw_driver_done(CUDA_ERROR_NOT_FOUND);
    if (base)
        *base = found.address;
    if (bytes)
        *bytes = found.size;
    return kw_driver_done(0);
}

static int tell_pointer(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct kw_block found;
    if (!kw_find_block((void *)kw_managed_address(address), &found))
        return CUDA_ERROR_INVALID_VALUE;
    int is_host = found.kind == KW_MEMORY_PINNED || found.kind == KW_BLOCK_REGISTERED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = kw_current_context();
        return 0;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)value = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return 0;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (found.kind == KW_MEMORY_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = (void *)address;
        return 0;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(int *)value = 0;
        return 0;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = found.address;
        return 0;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(int *)value = found.kind == KW_MEMORY_MANAGED;
        return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = found.device;
        return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = found.address;
        return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = found.size;
        return 0;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(int *)value = 1;
        return 0;
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

KW_API CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(value ? tell_pointer(value, attribute, address) : CUDA_ERROR_INVALID_VALUE);
}

/* An address that is not the driver's is no error here: its values are zero, of whatever size each is. */
KW_API CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **values,
                                       CUdeviceptr address)
{
    KW_DRIVER_ENTER();
    if (!count || !attributes || !values)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    for (unsigned int i = 0; i < count; i++) {
        int result = tell_pointer(values[i], attributes[i], address);
        if (result == CUDA_ERROR_NOT_SUPPORTED)
            return kw_driver_done(result);
        if (!result)
            continue;
        int is_word = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || attributes[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                      attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED || attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)values[i] = CU_DEVICE_INVALID;
        else if (is_word)
            *(int *)values[i] = 0;
        else
            *(void **)values[i] = NULL;
    }
    return kw_driver_done(0);
}

/* ---- mapped piece by piece: a range of addresses has its memory from the start, and a handle is no more than a size ---- */

enum { GRANULARITY = 2 << 20 };

struct handle {
    size_t size;
    int uses; /* its own, and one for each range it is mapped to */
};

static int check_properties(const CUmemAllocationProp *properties)
{
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->requestedHandleTypes)
        return CUDA_ERROR_NOT_SUPPORTED;
    return kw_check_device(properties->location.id);
}

KW_API CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties,
                                              CUmemAllocationGranularity_flags which)
{
    KW_DRIVER_ENTER();
    int result = bytes && (unsigned)which <= CU_MEM_ALLOC_GRANULARITY_RECOMMENDED ? check_properties(properties)
                                                                                  : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        *bytes = GRANULARITY;
    return kw_driver_done(result);
}

KW_API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                    unsigned long long flags)
{
    KW_DRIVER_ENTER();
    (void)wanted; /* a hint, which CUDA need not follow either */
    if (!address || !bytes || bytes % GRANULARITY || flags || (alignment & (alignment - 1)))
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    return kw_driver_done(kw_allocate(bytes, KW_MEMORY_DEVICE, 0, (void **)address));
}

/* Whether the range lies in one that was reserved. */
static int check_range(CUdeviceptr address, size_t bytes)
{
    struct kw_block found;
    if (!bytes || bytes % GRANULARITY || !kw_find_block((void *)address, &found) ||
        bytes > found.address + found.size - address)
        return CUDA_ERROR_INVALID_VALUE;
    return 0;
}

KW_API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    KW_DRIVER_ENTER();
    int result = check_range(address, bytes);
    return kw_driver_done(result ? result : kw_release((void *)address));
}

KW_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties,
                            unsigned long long flags)
{
    KW_DRIVER_ENTER();
    int result = handle && bytes && bytes % GRANULARITY == 0 && !flags ? check_properties(properties)
                                                                       : CUDA_ERROR_INVALID_VALUE;
    struct handle *made = result ? NULL : malloc(sizeof *made);
    if (!made)
        return kw_driver_done(result ? result : CUDA_ERROR_OUT_OF_MEMORY);
    *made = (struct handle){bytes, 1};
    *handle = (CUmemGenericAllocationHandle)made;
    return kw_driver_done(0);
}

KW_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    KW_DRIVER_ENTER();
    struct handle *released = (struct handle *)handle;
    if (!released)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    if (!--released->uses)
        free(released);
    return kw_driver_done(0);
}

/* Mapping the same memory at two addresses is not supported. */
KW_API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags)
{
    KW_DRIVER_ENTER();
    struct handle *mapped = (struct handle *)handle;
    if (!mapped || offset || flags || bytes != mapped->size)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    int result = check_range(address, bytes);
    if (!result && mapped->uses > 1) {
        kw_say("cuMemMap: memory that is mapped to one address cannot be mapped to another as well");
        result = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!result)
        mapped->uses++;
    return kw_driver_done(result);
}

KW_API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(check_range(address, bytes));
}

KW_API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *accesses, size_t count)
{
    KW_DRIVER_ENTER();
    int result = accesses && count ? check_range(address, bytes) : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++)
        result = kw_check_device(accesses[i].location.id);
    return kw_driver_done(result);
}
