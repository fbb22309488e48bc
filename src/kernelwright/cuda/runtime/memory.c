/* Allocating, freeing, and knowing what an address points to. */
#include "client.h"

#include <stdlib.h>
#include <string.h>

/* Every block of device-visible memory, sorted by address. */
static struct kw_block *block;
static size_t blocks, room;
_Thread_local uint64_t kw_context;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

/* Index of the first block that starts after `address`. */
static size_t after(uint64_t address)
{
    size_t low = 0, high = blocks;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (block[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int kw_find_block(const void *address, struct kw_block *found)
{
    uint64_t where = (uint64_t)address;
    pthread_mutex_lock(&table);
    size_t i = after(where);
    int inside = i > 0 && where - block[i - 1].address < block[i - 1].size;
    if (inside)
        *found = block[i - 1];
    pthread_mutex_unlock(&table);
    return inside;
}

int kw_add_block(struct kw_block added)
{
    pthread_mutex_lock(&table);
    if (blocks == room) {
        size_t larger = room ? 2 * room : 64;
        void *moved = realloc(block, larger * sizeof *block);
        if (!moved) {
            pthread_mutex_unlock(&table);
            return cudaErrorMemoryAllocation;
        }
        block = moved;
        room = larger;
    }
    size_t i = after(added.address);
    memmove(&block[i + 1], &block[i], (blocks - i) * sizeof *block);
    block[i] = added;
    blocks++;
    pthread_mutex_unlock(&table);
    kw_guard_renew();
    return 0;
}

void kw_each_shared_block(void (*each)(uint64_t address, uint64_t size))
{
    pthread_mutex_lock(&table);
    for (size_t i = 0; i < blocks; i++)
        if (block[i].kind == KW_MEMORY_PINNED || block[i].kind == KW_MEMORY_MANAGED)
            each(block[i].address, block[i].size);
    pthread_mutex_unlock(&table);
}

void kw_keep_block(uint64_t address)
{
    pthread_mutex_lock(&table);
    size_t i = after(address);
    if (i > 0)
        block[i - 1].device = KW_DEVICES;
    pthread_mutex_unlock(&table);
}

void kw_drop_block(uint64_t address)
{
    pthread_mutex_lock(&table);
    size_t i = after(address);
    if (i > 0 && block[i - 1].address == address) {
        memmove(&block[i - 1], &block[i], (blocks - i) * sizeof *block);
        blocks--;
    }
    pthread_mutex_unlock(&table);
}

void kw_drop_symbol(uint64_t address)
{
    struct kw_block found;
    if (kw_find_block((void *)address, &found) && found.is_symbol)
        kw_drop_block(found.address);
}

int kw_is_of_this_device(const void *address)
{
    struct kw_block found;
    return kw_find_block(address, &found) && found.device == kw_device;
}

/* What cudaHostRegister knows is the program's own and stays; and so do managed variables that several devices have. */
void kw_drop_all_blocks(void)
{
    pthread_mutex_lock(&table);
    size_t kept = 0;
    for (size_t i = 0; i < blocks; i++)
        if (block[i].kind == KW_BLOCK_REGISTERED || block[i].device != kw_device)
            block[kept++] = block[i];
    blocks = kept;
    pthread_mutex_unlock(&table);
}

int kw_allocate(uint64_t size, uint32_t kind, uint32_t flags, void **address)
{
    struct kw_allocate wanted = {.size = size, .kind = kind};
    struct kw_memory got;
    int result = kw_request(KW_ALLOCATE, &wanted, sizeof wanted, &got, sizeof got);
    if (!result)
        result = kw_add_block((struct kw_block){
            .address = got.address,
            .size = size,
            .kind = kind,
            .device = (uint16_t)kw_device,
            .flags = flags,
            .context = kw_context,
        });
    if (!result)
        *address = (void *)got.address;
    return result;
}

/* Only the start of a block that was allocated can be given back. */
int kw_release(const void *address)
{
    struct kw_block found;
    if (!kw_find_block(address, &found) || found.address != (uint64_t)address || found.is_symbol ||
        found.kind == KW_BLOCK_REGISTERED)
        return cudaErrorInvalidValue;
    struct kw_handle body = {.handle = found.address};
    int current = kw_device;
    kw_device = found.device;
    kw_drop_block(found.address);
    int result = kw_request(KW_FREE, &body, sizeof body, NULL, 0);
    kw_device = current;
    return result;
}

void kw_release_context(uint64_t context)
{
    uint64_t found;
    do {
        found = 0;
        pthread_mutex_lock(&table);
        for (size_t i = 0; i < blocks && !found; i++)
            if (block[i].context == context && !block[i].is_symbol && block[i].kind != KW_BLOCK_REGISTERED)
                found = block[i].address;
        pthread_mutex_unlock(&table);
    } while (found && !kw_release((void *)found));
}

static cudaError_t allocate(void **pointer, size_t bytes, uint32_t kind, uint32_t flags)
{
    KW_ENTER();
    if (!pointer)
        return kw_done(cudaErrorInvalidValue);
    *pointer = NULL;
    return kw_done(bytes ? kw_allocate(bytes, kind, flags, pointer) : 0);
}

static cudaError_t release(void *pointer, int host)
{
    KW_ENTER();
    struct kw_block found;
    if (!pointer)
        return kw_done(cudaSuccess);
    int is_known = kw_find_block(pointer, &found);
    if (!is_known || found.address != (uint64_t)pointer) {
        /* The worker remembers what was there, and says so. */
        struct kw_handle body = {.handle = (uint64_t)pointer};
        kw_request(KW_FREE, &body, sizeof body, NULL, 0);
        return kw_done(kw_failure() ? kw_failure() : cudaErrorInvalidValue);
    }
    if ((found.kind == KW_MEMORY_PINNED) != host)
        return kw_done(cudaErrorInvalidValue);
    return kw_done(kw_release(pointer));
}

KW_API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, KW_MEMORY_DEVICE, 0);
}

KW_API cudaError_t cudaFree(void *pointer)
{
    return release(pointer, 0);
}

KW_API cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, KW_MEMORY_PINNED, cudaHostAllocDefault);
}

KW_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) {
        KW_ENTER();
        return kw_done(cudaErrorInvalidValue);
    }
    return allocate(pointer, bytes, KW_MEMORY_PINNED, flags);
}

KW_API cudaError_t cudaFreeHost(void *pointer)
{
    return release(pointer, 1);
}

KW_API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
    if (!bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
        KW_ENTER();
        return kw_done(cudaErrorInvalidValue);
    }
    return allocate(pointer, bytes, KW_MEMORY_MANAGED, flags);
}

/* Stream-ordered forms: the memory is there at once, and goes when the stream has come to the call. */
KW_API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    KW_ENTER();
    uint64_t number;
    int result = kw_stream_number(stream, &number);
    return result ? kw_done(result) : allocate(pointer, bytes, KW_MEMORY_DEVICE, 0);
}

KW_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    KW_ENTER();
    int result = kw_stream_wait(stream);
    return result ? kw_done(result) : release(pointer, 0);
}

/* Rows start at multiples of 512, as on NVIDIA's GPUs. */
static int pitched(size_t width, size_t *pitch)
{
    enum { ROW = 512 };
    if (width > SIZE_MAX - ROW)
        return 0;
    *pitch = (width + ROW - 1) / ROW * ROW;
    return 1;
}

KW_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    KW_ENTER();
    size_t row, bytes;
    if (!pitch || !pitched(width, &row) || __builtin_mul_overflow(row, height, &bytes))
        return kw_done(cudaErrorInvalidValue);
    *pitch = row;
    return allocate(pointer, bytes, KW_MEMORY_DEVICE, 0);
}

KW_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *result, struct cudaExtent extent)
{
    KW_ENTER();
    size_t row, slice, bytes;
    if (!result || !pitched(extent.width, &row) || __builtin_mul_overflow(row, extent.height, &slice) ||
        __builtin_mul_overflow(slice, extent.depth, &bytes))
        return kw_done(cudaErrorInvalidValue);
    result->pitch = row;
    result->xsize = extent.width;
    result->ysize = extent.height;
    return allocate(&result->ptr, bytes, KW_MEMORY_DEVICE, 0);
}

KW_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    KW_ENTER();
    struct kw_memory_info info;
    int result = kw_request(KW_MEMORY_INFO, NULL, 0, &info, sizeof info);
    if (!result && free_bytes)
        *free_bytes = info.free;
    if (!result && total_bytes)
        *total_bytes = info.total;
    return kw_done(result);
}

KW_API cudaError_t cudaHostGetFlags(unsigned int *flags, void *pointer)
{
    KW_ENTER();
    struct kw_block found;
    if (!flags || !kw_find_block(pointer, &found) || found.kind != KW_MEMORY_PINNED)
        return kw_done(cudaErrorInvalidValue);
    /* Pinned memory is always mapped and portable here. */
    *flags = found.flags | cudaHostAllocMapped;
    return kw_done(cudaSuccess);
}

KW_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    KW_ENTER();
    struct kw_block found;
    if (!attributes)
        return kw_done(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId};
    const void *known = (const void *)kw_managed_address((uint64_t)pointer);
    if (!kw_find_block(known, &found))
        return kw_done(cudaSuccess);
    attributes->device = found.device;
    switch (found.kind) {
    case KW_MEMORY_DEVICE:
        attributes->type = cudaMemoryTypeDevice;
        attributes->devicePointer = (void *)known;
        break;
    case KW_MEMORY_MANAGED:
        attributes->type = cudaMemoryTypeManaged;
        attributes->devicePointer = (void *)known;
        attributes->hostPointer = (void *)pointer;
        break;
    case KW_MEMORY_PINNED:
        attributes->type = cudaMemoryTypeHost;
        attributes->devicePointer = (void *)known;
        attributes->hostPointer = (void *)pointer;
        break;
    default:
        attributes->type = cudaMemoryTypeHost;
        attributes->devicePointer = (void *)kw_registered_address((uint64_t)pointer);
        attributes->hostPointer = (void *)pointer;
    }
    return kw_done(cudaSuccess);
}

/* ---- advice: managed memory is always where it is needed, so advice is checked and has no effect ---- */

static int check_managed(const void *pointer, size_t bytes)
{
    struct kw_block found;
    uint64_t known = kw_managed_address((uint64_t)pointer);
    if (!bytes || !kw_find_block((const void *)known, &found) || found.kind != KW_MEMORY_MANAGED ||
        bytes > found.address + found.size - known)
        return cudaErrorInvalidValue;
    return 0;
}

static int check_location(int device)
{
    return device == cudaCpuDeviceId || (device >= 0 && (uint32_t)device < kw_welcome->device_count)
               ? 0
               : cudaErrorInvalidDevice;
}

KW_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    KW_ENTER();
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return kw_done(cudaErrorInvalidValue);
    int result = check_managed(pointer, bytes);
    /* The device does not matter for read-mostly and for taking a preferred place back. */
    if (!result && (advice == cudaMemAdviseSetPreferredLocation || advice >= cudaMemAdviseSetAccessedBy))
        result = check_location(device);
    return kw_done(result);
}

KW_API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    KW_ENTER();
    uint64_t number;
    int result = check_managed(pointer, bytes);
    if (!result)
        result = check_location(device);
    return kw_done(result ? result : kw_stream_number(stream, &number));
}

KW_API cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes, enum cudaMemRangeAttribute attribute,
                                            const void *pointer, size_t bytes)
{
    KW_ENTER();
    int result = check_managed(pointer, bytes);
    if (result)
        return kw_done(result);
    if (!data || data_bytes < sizeof(int) || data_bytes % sizeof(int) || attribute < cudaMemRangeAttributeReadMostly ||
        attribute > cudaMemRangeAttributeLastPrefetchLocation)
        return kw_done(cudaErrorInvalidValue);
    int *value = data;
    for (size_t i = 0; i < data_bytes / sizeof(int); i++)
        value[i] = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
    return kw_done(cudaSuccess);
}
