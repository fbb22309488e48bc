/* Device code that was linked for one object: compiled for each, with its module's name and the file of its blob. */
#include <stdlib.h>

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

__asm__(".section .nv_fatbin,\"a\",@progbits\n"
        ".balign 16\n"
        "kw_linked_code:\n"
        ".incbin \"" KW_BLOB "\"\n"
        ".previous\n");
extern const char kw_linked_code[] __attribute__((visibility("hidden")));

static const struct {
    int magic, version;
    const void *data;
    void *unused;
} wrapper __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, kw_linked_code, NULL};

static void **handle;

static void unregister(void)
{
    __cudaUnregisterFatBinary(handle);
}

/* Called by the object's constructor in place of the registration of an embedded binary. */
__attribute__((visibility("hidden"))) void JOINED(__cudaRegisterLinkedBinary, KW_MODULE)(void (*globals)(void **), void *embedded,
                                                                                        void *id, void (*done)(void *))
{
    (void)embedded, (void)id, (void)done;
    handle = __cudaRegisterFatBinary((void *)&wrapper);
    globals(handle);
    __cudaRegisterFatBinaryEnd(handle);
    atexit(unregister);
}
