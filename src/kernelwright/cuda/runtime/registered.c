/*
 * The program's own memory under cudaHostRegister. On a GPU copies of it are faster, which takes nothing here, and kernels may use it
 * in place. When a pointer for them is asked for, its pages are replaced by pages of the arena with the same bytes in them, as those of
 * managed variables are: the program goes on using its own address. They are its own again when it is unregistered.
 */
#define _GNU_SOURCE
#include "client.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 256 };

/* Whole pages of the program, and where the arena has them. */
static struct shared {
    uint64_t begin, size, copy;
} shared[ROOM];
static size_t count;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static int put_in_place(void *pages, uint64_t old_size, const struct shared *at)
{
    /* With an old size of 0, mremap maps the pages of a shared mapping a second time. */
    return mremap(pages, old_size, at->size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)at->begin) != MAP_FAILED;
}

/* Its pages are written to while they are replaced. */
static int is_on_stack(uint64_t begin, uint64_t size)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t extent = 0;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return 0;
    pthread_attr_getstack(&attributes, &lowest, &extent);
    pthread_attr_destroy(&attributes);
    return begin < (uint64_t)lowest + extent && (uint64_t)lowest < begin + size;
}

/* What another thread writes to these pages meanwhile may be lost, as in CUDA, where a registration has to be complete before use. */
static int share(const struct kw_block *registered)
{
    uint64_t page = (uint64_t)getpagesize(), end = registered->address + registered->size;
    struct shared added = {.begin = registered->address / page * page};
    void *copy;
    added.size = (end + page - 1) / page * page - added.begin;
    for (size_t i = 0; i < count; i++)
        if (added.begin < shared[i].begin + shared[i].size && shared[i].begin < added.begin + added.size) {
            kw_say("registered memory at %p has a page in common with other registered memory that kernels use: align it to %d bytes",
                   (void *)registered->address, (int)page);
            return cudaErrorNotSupported;
        }
    if (is_on_stack(added.begin, added.size)) {
        kw_say("kernels cannot use memory on the stack: register memory that was allocated");
        return cudaErrorNotSupported;
    }
    if (!kw_welcome->arena_size || count == ROOM)
        return cudaErrorNotSupported;
    if (msync((void *)added.begin, added.size, MS_ASYNC)) /* no memory there */
        return cudaErrorInvalidValue;
    int result = kw_allocate(added.size, KW_MEMORY_PINNED, cudaHostAllocMapped, &copy);
    if (result)
        return result;
    memcpy(copy, (void *)added.begin, added.size);
    added.copy = (uint64_t)copy;
    if (!put_in_place(copy, 0, &added)) {
        kw_release(copy);
        return cudaErrorOperatingSystem;
    }
    shared[count++] = added;
    return 0;
}

static void take_back(size_t i)
{
    struct shared which = shared[i];
    void *own = mmap(NULL, which.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return; /* then they stay as they are, and the arena's memory is not given back */
    kw_request(KW_DEVICE_SYNCHRONIZE, NULL, 0, NULL, 0);
    memcpy(own, (void *)which.begin, which.size);
    if (!put_in_place(own, which.size, &which)) {
        munmap(own, which.size);
        return;
    }
    shared[i] = shared[--count];
    kw_release((void *)which.copy);
}

void kw_take_registered_back(void)
{
    pthread_mutex_lock(&table);
    for (size_t i = count; i-- > 0;)
        take_back(i);
    pthread_mutex_unlock(&table);
}

uint64_t kw_registered_address(uint64_t address)
{
    uint64_t found = 0;
    pthread_mutex_lock(&table);
    for (size_t i = 0; i < count; i++)
        if (address - shared[i].begin < shared[i].size)
            found = shared[i].copy + (address - shared[i].begin);
    pthread_mutex_unlock(&table);
    return found;
}

KW_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    KW_ENTER();
    struct kw_block found;
    if (!pointer || !bytes)
        return kw_done(cudaErrorInvalidValue);
    if (flags & cudaHostRegisterIoMemory)
        return kw_done(cudaErrorNotSupported);
    if (kw_find_block(pointer, &found) || kw_find_block((char *)pointer + bytes - 1, &found))
        return kw_done(cudaErrorHostMemoryAlreadyRegistered);
    return kw_done(kw_add_block((struct kw_block){
        .address = (uint64_t)pointer,
        .size = bytes,
        .kind = KW_BLOCK_REGISTERED,
        .device = (uint16_t)kw_device,
        .flags = flags,
    }));
}

KW_API cudaError_t cudaHostUnregister(void *pointer)
{
    KW_ENTER();
    struct kw_block found;
    if (!kw_find_block(pointer, &found) || found.kind != KW_BLOCK_REGISTERED || found.address != (uint64_t)pointer)
        return kw_done(cudaErrorHostMemoryNotRegistered);
    pthread_mutex_lock(&table);
    for (size_t i = 0; i < count; i++)
        if (found.address - shared[i].begin < shared[i].size) {
            take_back(i);
            break;
        }
    pthread_mutex_unlock(&table);
    kw_drop_block(found.address);
    return kw_done(cudaSuccess);
}

KW_API cudaError_t cudaHostGetDevicePointer(void **device_pointer, void *host_pointer, unsigned int flags)
{
    KW_ENTER();
    struct kw_block found;
    if (!device_pointer || flags || !kw_find_block(host_pointer, &found))
        return kw_done(cudaErrorInvalidValue);
    if (found.kind == KW_MEMORY_PINNED) {
        *device_pointer = host_pointer;
        return kw_done(cudaSuccess);
    }
    if (found.kind != KW_BLOCK_REGISTERED)
        return kw_done(cudaErrorInvalidValue);
    if (!kw_registered_address((uint64_t)host_pointer)) {
        pthread_mutex_lock(&table);
        int result = share(&found);
        pthread_mutex_unlock(&table);
        if (result)
            return kw_done(result);
    }
    *device_pointer = (void *)kw_registered_address((uint64_t)host_pointer);
    return kw_done(cudaSuccess);
}
