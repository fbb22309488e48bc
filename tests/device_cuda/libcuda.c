/*
 * A stand-in for NVIDIA's libcuda.so.1: device memory is host memory, and a few kernels are known by name.
 *
 *     add_one(float *p, int n)   adds 1 to each element            10 us
 *     add_slow(float *p, int n)  the same                          30 us
 *     talk()                     prints a line
 *     bounds() misaligned() failed() asserted()                    errors that a context does not survive
 *     forever()                  never ends
 *
 * A module is text: "MODULE" and a name; anything with BAD in it is refused with a log. Further words change all its kernels:
 * SLOW takes 30 us, WRONG adds 2 in the place of 1, SELDOM does so every other time, FAULT leaves its buffers; US=5 takes that
 * long, NOISE=0.3 that share more or less, anew each time; ROUNDS adds 1.0001; DIE ends the process, FAILS is not launched.
 * FAKE_CUDA_LOG names a file that every call is written to; FAKE_CUDA_GPUS is how many GPUs there are (1). With
 * FAKE_CUDA_BY_SIZE, code takes a microsecond for every five instructions in it (fillers do not count), as PTX too. A
 * launch that finds the file FAKE_CUDA_DIE names removes it and ends the process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int CUresult;
typedef unsigned long long ptr;
enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_DEVICE = 100, BAD_DEVICE = 101, BAD_IMAGE = 200, BAD_PTX = 218, NOT_FOUND = 500, CAPTURED = 900,
       NOT_READY = 600 };

static CUresult sticky;
static double now_us;
static int next_priority;

static void note(const char *format, ...) {
    const char *path = getenv("FAKE_CUDA_LOG");
    if (!path) return;
    FILE *file = fopen(path, "a");
    va_list list;
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
    fputc('\n', file);
    fclose(file);
}

#define STUCK                   \
    do {                        \
        if (sticky) return sticky; \
    } while (0)

/* The process that used the library first: as with CUDA, its copies cannot begin. */
static pid_t user;
static int is_copy(void) {
    if (!user) user = getpid();
    return user != getpid();
}
CUresult cuInit(unsigned flags) {
    const char *many = getenv("FAKE_CUDA_GPUS");
    note("init");
    if (is_copy()) return 3; /* CUDA_ERROR_NOT_INITIALIZED */
    return many && !atoi(many) ? NO_DEVICE : OK;
}
CUresult cuDriverGetVersion(int *v) { is_copy(); *v = 12080; return OK; }
CUresult cuDeviceGetCount(int *n) { const char *many = getenv("FAKE_CUDA_GPUS"); *n = many ? atoi(many) : 1; return OK; }
CUresult cuDeviceGet(int *device, int ordinal) {
    int n;
    cuDeviceGetCount(&n);
    *device = ordinal;
    return ordinal < n ? OK : BAD_DEVICE;
}
CUresult cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Stand-in %d", device); return OK; }
CUresult cuDeviceGetUuid(char *uuid, int device) { memset(uuid, 0, 16); uuid[0] = 'K'; uuid[15] = (char)device; return OK; }
CUresult cuDeviceTotalMem(size_t *bytes, int device) { *bytes = (size_t)8 << 30; return OK; }
CUresult cuDeviceTotalMem_v2(size_t *bytes, int device) { return cuDeviceTotalMem(bytes, device); }
CUresult cuDeviceGetAttribute(int *value, int which, int device) {
    static const int table[][2] = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535},
        {8, 49152}, {10, 32}, {12, 65536}, {13, 1980000}, {16, 132}, {38, 4 << 20}, {39, 2048}, {75, 9}, {76, 0}, {97, 232448}};
    *value = 0;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i][0] == which) *value = table[i][1];
    return OK;
}
CUresult cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)0xc0; note("context %d", device); return OK; }
CUresult cuDevicePrimaryCtxRelease(int device) { note("release %d", device); return OK; }
CUresult cuDevicePrimaryCtxReset(int device) { note("reset %d", device); return OK; }
CUresult cuCtxSetCurrent(void *context) { return OK; }
CUresult cuCtxGetCurrent(void **context) { *context = (void *)0xc0; return OK; }
CUresult cuCtxGetDevice(int *device) { *device = 0; return OK; }

struct manner { int slow, wrong, seldom, fault, die, fails, rounds; double us, noise; };
struct function { char name[64]; struct manner manner; };
struct module {
    int count;
    struct manner manner;
    struct { char name[64], content[64]; } variable[16];
};

static double by_size(const char *image) {
    double us = 0;
    if (strncmp(image, "\x7f" "ELF", 4)) {
        for (const char *line = image; (line = strstr(line, "\n\t")); line += 2) us += line[2] != '.';
        return us / 5;
    }
    const Elf64_Ehdr *elf = (const void *)image;
    for (int i = 0; i < elf->e_shnum; i++) {
        const Elf64_Shdr *section = (const void *)(image + elf->e_shoff + i * elf->e_shentsize);
        /* From sm_70 on: 16 bytes each, and twelve bits say which; NOP fills up. */
        for (uint64_t at = 0; section->sh_flags & SHF_EXECINSTR && at < section->sh_size; at += 16)
            us += (*(const uint64_t *)(image + section->sh_offset + at) & 0xfff) != 0x918;
    }
    return us / 5;
}
/* A thread that captures, as FAKE_CUDA_CAPTURES says that this one does, may load only in the mode that is called relaxed. */
static int capture_mode;
CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return OK;
}
CUresult cuModuleLoadDataEx(struct module **module, const char *image, unsigned n, int *options, void **values) {
    STUCK;
    if (getenv("FAKE_CUDA_CAPTURES") && capture_mode != 2) return CAPTURED;
    if (!strncmp(image, "\x7f" "ELF", 4))
        note("load cubin");
    else if (!memcmp(image, "\x50\xed\x55\xba", 4))
        note("load fat binary");
    else
        note("load %.*s", (int)strcspn(image, "\n"), image);
    if (strstr(image, "BAD")) {
        for (unsigned i = 0; i < n; i++)
            if (options[i] == 5) strcpy(values[i], "ptxas error: line 3; unknown opcode");
        return BAD_PTX;
    }
    *module = calloc(1, sizeof **module);
    (*module)->manner = (struct manner){!!strstr(image, "SLOW"), !!strstr(image, "WRONG"), !!strstr(image, "SELDOM"),
                                        !!strstr(image, "FAULT"), !!strstr(image, "DIE"), !!strstr(image, "FAILS"),
                                        !!strstr(image, "ROUNDS")};
    if (getenv("FAKE_CUDA_BY_SIZE")) (*module)->manner.us = by_size(image);
    const char *us = strstr(image, "US="), *noise = strstr(image, "NOISE=");
    if (us) (*module)->manner.us = atof(us + 3);
    if (noise) (*module)->manner.noise = atof(noise + 6);
    return OK;
}
CUresult cuModuleUnload(struct module *module) { STUCK; note("unload"); free(module); return OK; }
CUresult cuModuleGetFunction(struct function **function, struct module *module, const char *name) {
    STUCK;
    if (!strncmp(name, "absent", 6)) return NOT_FOUND;
    *function = calloc(1, sizeof **function);
    snprintf((*function)->name, 64, "%s", name);
    (*function)->manner = module->manner;
    note("function %s", name);
    return OK;
}
CUresult cuModuleGetGlobal(ptr *address, size_t *size, struct module *module, const char *name) {
    STUCK;
    if (!strncmp(name, "absent", 6)) return NOT_FOUND;
    int n = 0;
    while (n < module->count && strcmp(module->variable[n].name, name)) n++;
    if (n == 16) return NOT_FOUND;
    if (n == module->count) snprintf(module->variable[module->count++].name, 64, "%s", name);
    *address = (ptr)module->variable[n].content;
    *size = 64;
    return OK;
}
/* Every kernel takes what add_one takes. */
CUresult cuFuncGetParamInfo(struct function *function, size_t index, size_t *offset, size_t *size) {
    STUCK;
    if (index > 1) return INVALID;
    *offset = 8 * index;
    *size = index ? 4 : 8;
    return OK;
}
CUresult cuFuncGetAttribute(int *value, int which, struct function *function) { STUCK; *value = which == 4 ? 24 : which == 0 ? 1024 : 0; return OK; }
CUresult cuFuncSetAttribute(struct function *function, int which, int value) { STUCK; note("attribute %s %d %d", function->name, which, value); return OK; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct function *f, int threads, size_t shared) { STUCK; *blocks = 2048 / threads; return OK; }

enum { ALLOCATIONS = 64 };
static struct { ptr start; size_t size; } allocated[ALLOCATIONS];
static int allocations;
CUresult cuMemAlloc(ptr *address, size_t size) {
    STUCK;
    note("allocate %zu", size);
    if (size > (size_t)8 << 30) return NO_MEMORY;
    *address = (ptr)aligned_alloc(256, (size + 255) / 256 * 256);
    allocated[allocations % ALLOCATIONS].start = *address;
    allocated[allocations++ % ALLOCATIONS].size = size;
    return OK;
}
CUresult cuMemAlloc_v2(ptr *address, size_t size) { return cuMemAlloc(address, size); }
CUresult cuMemGetAddressRange_v2(ptr *start, size_t *size, ptr address) {
    for (int i = 0; i < ALLOCATIONS; i++)
        if (allocated[i].start <= address && address < allocated[i].start + allocated[i].size) {
            *start = allocated[i].start;
            *size = allocated[i].size;
            return OK;
        }
    return NOT_FOUND;
}
CUresult cuMemAllocManaged(ptr *address, size_t size, unsigned flags) { return cuMemAlloc(address, size); }
CUresult cuMemFree(ptr address) { STUCK; note("free"); free((void *)address); return OK; }
CUresult cuMemGetInfo(size_t *available, size_t *total) { STUCK; *available = (size_t)7 << 30; *total = (size_t)8 << 30; return OK; }
CUresult cuMemcpyHtoD(ptr to, const void *from, size_t size) { STUCK; note("write %zu", size); memcpy((void *)to, from, size); return OK; }
CUresult cuMemcpyDtoH(void *to, ptr from, size_t size) { STUCK; note("read %zu", size); memcpy(to, (void *)from, size); return OK; }
CUresult cuMemcpyAsync(ptr to, ptr from, size_t size, void *stream) { STUCK; note("copy %zu", size); memmove((void *)to, (void *)from, size); return OK; }
/* Zeros in whole pages cost nothing: the system gives them anew. Buffers of a gigabyte that nobody reads would take a minute. */
CUresult cuMemsetD8Async(ptr to, unsigned char value, size_t size, void *stream) {
    STUCK;
    note("fill %zu", size);
    ptr page = 4096, from = (to + page - 1) / page * page, end = (to + size) / page * page;
    if (value || end <= from || madvise((void *)from, end - from, MADV_DONTNEED)) {
        memset((void *)to, value, size);
        return OK;
    }
    memset((void *)to, 0, from - to);
    memset((void *)end, 0, to + size - end);
    return OK;
}
CUresult cuMemHostRegister(void *address, size_t size, unsigned flags) { STUCK; note("pin %zu", size); return OK; }
CUresult cuMemHostUnregister(void *address) { STUCK; note("unpin"); return OK; }

CUresult cuMemGetAllocationGranularity(size_t *bytes, void *prop, int kind) { *bytes = 2 << 20; return OK; }
CUresult cuMemAddressReserve(ptr *address, size_t size, size_t align, ptr wanted, unsigned long long flags) {
    STUCK;
    if (getenv("FAKE_CUDA_ELSEWHERE")) wanted += (ptr)1 << 40;
    void *got = mmap((void *)wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | 0x100000, -1, 0);
    if (got == MAP_FAILED) return NO_MEMORY;
    note("reserve %zu", size);
    *address = (ptr)got;
    return OK;
}
CUresult cuMemAddressFree(ptr address, size_t size) { munmap((void *)address, size); return OK; }
CUresult cuMemCreate(ptr *handle, size_t size, void *prop, unsigned long long flags) { *handle = 77; return OK; }
CUresult cuMemMap(ptr address, size_t size, size_t offset, ptr handle, unsigned long long flags) { return OK; }
CUresult cuMemSetAccess(ptr address, size_t size, void *access, size_t n) { return OK; }
CUresult cuMemUnmap(ptr address, size_t size) { return OK; }
CUresult cuMemRelease(ptr handle) { return OK; }

CUresult cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { STUCK; *stream = (void *)(intptr_t)(0x100 + ++next_priority); note("stream %u", flags); return OK; }
CUresult cuStreamDestroy(void *stream) { STUCK; return OK; }
CUresult cuStreamSynchronize(void *stream) { return sticky; }
CUresult cuStreamQuery(void *stream) { return sticky; }
CUresult cuStreamWaitEvent(void *stream, void *event, unsigned flags) { STUCK; return OK; }
CUresult cuCtxSynchronize(void) { note("synchronize"); fflush(stdout); return sticky; }

CUresult cuEventCreate(double **event, unsigned flags) { STUCK; *event = calloc(1, sizeof(double)); return OK; }
CUresult cuEventDestroy(double *event) { free(event); return OK; }
CUresult cuEventRecord(double *event, void *stream) { STUCK; note("record"); *event = now_us; return OK; }
CUresult cuEventSynchronize(double *event) { return sticky; }
CUresult cuEventQuery(double *event) { return sticky; }
CUresult cuEventElapsedTime(float *ms, double *start, double *end) { STUCK; *ms = (float)((*end - *start) / 1e3); return OK; }

CUresult cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **parameters, void **extra) {
    STUCK;
    static const struct { const char *name; CUresult error; } failures[] = {
        {"bounds", 700}, {"misaligned", 716}, {"failed", 719}, {"asserted", 710}};
    static const void *none[5];
    unsigned char both[12];
    if (!extra) {
        /* As the code that an export writes launches: arguments by their addresses. */
        memcpy(both, parameters[0], 8);
        memcpy(both + 8, parameters[1], 4);
    }
    const unsigned char *packed = extra ? extra[1] : both;
    size_t size = extra ? *(size_t *)extra[3] : sizeof both;
    if (!extra) extra = (void **)none;
    char hex[257] = "";
    for (size_t i = 0; i < size && i < 128; i++) sprintf(hex + 2 * i, "%02x", packed[i]);
    note("launch %s %u,%u,%u %u,%u,%u shared %u stream %p arguments %s %ld %ld %ld", f->name, gx, gy, gz, bx, by, bz, shared, stream, hex,
         (long)extra[0], (long)extra[2], (long)extra[4]);
    if (bx * by * bz > 1024) return INVALID;
    const char *die = getenv("FAKE_CUDA_DIE");
    if (f->manner.die || (die && !unlink(die))) _exit(9);
    if (f->manner.fails) return INVALID;
    double share = 1 + f->manner.noise * (2.0 * rand() / RAND_MAX - 1);
    now_us += share * (f->manner.us ? f->manner.us : strstr(f->name, "slow") || f->manner.slow ? 30 : 10);
    if (f->manner.fault) sticky = 700;
    for (unsigned i = 0; i < 4; i++)
        if (!strcmp(f->name, failures[i].name)) sticky = failures[i].error;
    if (!strncmp(f->name, "add_", 4)) {
        float *p = *(float **)packed;
        int n = *(int *)(packed + 8);
        int is_wrong = f->manner.wrong || (f->manner.seldom && f->manner.seldom++ % 2 == 0);
        for (int i = 0; i < n; i++) p[i] += f->manner.rounds ? 1.0001f : 1 + is_wrong;
    }
    if (!strcmp(f->name, "talk")) printf("a kernel speaks\n");
    if (!strcmp(f->name, "forever")) for (;;) pause();
    return OK;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = error == 700 ? "an illegal memory access was encountered" : error == 2 ? "out of memory" : "a stand-in's error";
    return OK;
}
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status) {
    Dl_info self;
    dladdr((void *)cuInit, &self);
    void *library = dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    *function = dlsym(library, symbol);
    return *function ? OK : NOT_FOUND;
}
