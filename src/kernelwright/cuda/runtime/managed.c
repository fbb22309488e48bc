/*
 * Managed variables. The headers put the host's copy of every __managed__ variable into the section "kw_managed"
 * (host_defines.h), and the link step closes that section with managed_end.c, so that it begins and ends with a page.
 * When a worker comes, those pages are replaced by pages of the arena with the same bytes in them: host code goes on
 * using its own address and device code uses the arena's, and both are the same memory.
 */
#define _GNU_SOURCE
#include "client.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __start_kw_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_kw_managed[] __attribute__((weak, visibility("hidden")));

/* managed_end.c; this reference keeps it when a linker drops what nothing uses. */
extern char kw_managed_end[] __attribute__((weak, visibility("hidden")));

/* Where the arena has the section; 0 until then, and in programs without managed variables. */
static uint64_t shared;
static struct kw_block section;

int kw_share_managed(void)
{
    size_t size = (size_t)(__stop_kw_managed - __start_kw_managed);
    void *copy;
    if (!size || (shared && kw_welcome->device_count > 1))
        return 0;
    size_t page = (size_t)getpagesize();
    if (!kw_managed_end || (uintptr_t)__start_kw_managed % page || size % page) {
        kw_say("managed variables need the program to be linked with kw compile");
        return cudaErrorNotSupported;
    }
    if (!kw_welcome->arena_size)
        return cudaErrorNotSupported;
    int result = kw_allocate(size, KW_MEMORY_MANAGED, cudaMemAttachGlobal, &copy);
    if (result)
        return result;
    memcpy(copy, __start_kw_managed, size);
    /* mremap with an old size of 0 maps the same pages of a shared mapping a second time. */
    if (mremap(copy, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, __start_kw_managed) == MAP_FAILED) {
        kw_say("the program's managed variables cannot be shared with the device");
        return cudaErrorOperatingSystem;
    }
    if (kw_welcome->device_count > 1)
        kw_keep_block((uint64_t)copy);
    section = (struct kw_block){.address = (uint64_t)__start_kw_managed, .size = size};
    shared = (uint64_t)copy;
    return 0;
}

int kw_is_managed(const void *host)
{
    return (const char *)host >= __start_kw_managed && (const char *)host < __stop_kw_managed;
}

uint64_t kw_managed_address(uint64_t address)
{
    if (!shared || address - section.address >= section.size)
        return address;
    return shared + (address - section.address);
}
