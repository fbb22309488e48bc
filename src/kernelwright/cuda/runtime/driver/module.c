/*
 * Modules that are loaded while the program runs. What can be loaded is what carries our own device code: a blob (kw compile
 * -fatbin, nvrtcGetCUBIN), or PTX and cubins of ours, which have it in a comment or a section (cuda/image.py). The worker reads
 * the image; kernels and variables are registered with it when the program asks for them.
 */
#include "driver.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../blob.h"

struct CUfunc_st {
    CUmodule module;
    char *name;
    struct CUfunc_st *next;
};

struct global {
    char *name;
    struct global *next;
};

struct CUmod_st {
    void *data; /* owned: a blob, or nvcc's image */
    uint32_t format;
    struct kw_module *registered;
    struct CUfunc_st *functions; /* owned, as asked for; their addresses stand for the kernels */
    struct global *globals;      /* likewise */
    void **shared;               /* owned: the memory of managed variables, a NULL behind them */
    CUmodule next;
};

/* Modules are looked up by few threads and seldom: one lock for all of it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUmodule modules;

/* How images begin, as bytes: a text may be shorter than any of them. */
#define WRAPPER_MAGIC "\xb1\x43\x62\x46"
#define NVIDIA_MAGIC "\x50\xed\x55\xba"
#define BEGINS_WITH(image, magic) (!strncmp(image, magic, sizeof magic - 1))

/* ---- images ---- */

static const void *inside_wrapper(const void *image)
{
    const void *inside;
    if (!BEGINS_WITH(image, WRAPPER_MAGIC))
        return image;
    memcpy(&inside, (const char *)image + 8, sizeof inside);
    return inside;
}

/* To where its last section or its table of sections ends. */
static size_t elf_size(const char *image)
{
    const Elf64_Ehdr *head = (const void *)image;
    size_t end = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
    for (unsigned int i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + head->e_shoff + (size_t)i * head->e_shentsize, sizeof section);
        size_t behind = section.sh_type == SHT_NOBITS ? 0 : section.sh_offset + section.sh_size;
        end = behind > end ? behind : end;
    }
    return end;
}

size_t kw_image_size(const void *image)
{
    uint64_t size;
    if (BEGINS_WITH(image, NVIDIA_MAGIC)) {
        uint16_t head;
        memcpy(&head, (const char *)image + 6, sizeof head);
        memcpy(&size, (const char *)image + 8, sizeof size);
        return head + size;
    }
    if (BEGINS_WITH(image, KW_BLOB_MAGIC)) {
        memcpy(&size, (const char *)image + offsetof(struct kw_blob_header, size), sizeof size);
        return size;
    }
    return BEGINS_WITH(image, ELFMAG) ? elf_size(image) : strlen(image) + 1;
}

char *kw_read_file(const char *path, size_t *size)
{
    FILE *from = path ? fopen(path, "rb") : NULL;
    char *bytes = NULL;
    long length = -1;
    if (from && !fseek(from, 0, SEEK_END) && (length = ftell(from)) >= 0 && !fseek(from, 0, SEEK_SET))
        bytes = malloc((size_t)length + 1);
    if (bytes && fread(bytes, 1, (size_t)length, from) != (size_t)length) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes) {
        bytes[length] = 0;
        *size = (size_t)length;
    }
    if (from)
        fclose(from);
    return bytes;
}

/* ---- loading ---- */

/* Managed variables lie where the host can use them, with their initial bytes, before anything is loaded on the device. */
static int share_managed(CUmodule module)
{
    uint32_t count;
    const struct kw_blob_variable *variable;
    const char *names = kw_blob_variables(module->data, &count, &variable);
    module->shared = calloc(count + 1u, sizeof *module->shared);
    if (!module->shared)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t shared = 0;
    for (uint32_t i = 0; i < count; i++) {
        void *lies;
        if (!(variable[i].flags & KW_BLOB_MANAGED))
            continue;
        int result = kw_allocate(variable[i].size, KW_MEMORY_MANAGED, cudaMemAttachGlobal, &lies);
        if (result)
            return result;
        module->shared[shared++] = lies;
        const void *initial = variable[i].initial ? names + variable[i].initial : NULL;
        if (initial)
            memcpy(lies, initial, variable[i].size);
        else
            memset(lies, 0, variable[i].size);
        struct global *global = calloc(1, sizeof *global);
        char *name = strdup(names + variable[i].name);
        if (!global || !name)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *global = (struct global){name, module->globals};
        module->globals = global;
        kw_add_variable(module->registered, global, name, variable[i].size, KW_SYMBOL_MANAGED, (uint64_t)lies);
    }
    return 0;
}

static void unload(CUmodule module)
{
    if (module->registered)
        __cudaUnregisterFatBinary((void **)module->registered);
    for (struct CUfunc_st *function = module->functions, *next; function; function = next) {
        next = function->next;
        free(function->name);
        free(function);
    }
    for (struct global *global = module->globals, *next; global; global = next) {
        next = global->next;
        free(global->name);
        free(global);
    }
    for (void **shared = module->shared; shared && *shared; shared++)
        kw_release(*shared);
    free(module->shared);
    free(module->data);
    free(module);
}

int kw_module_load(CUmodule *result, const void *image, size_t size)
{
    struct kw_handle format;
    void *data = NULL;
    size_t told;
    if (!result || !image)
        return CUDA_ERROR_INVALID_VALUE;
    image = inside_wrapper(image);
    size = size ? size : kw_image_size(image);
    int error = kw_request_exchange(KW_READ_IMAGE, NULL, 0, image, size, &format, sizeof format, &data, &told);
    if (error)
        return error;
    CUmodule made = calloc(1, sizeof *made);
    if (!made) {
        free(data);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (struct CUmod_st){.data = data, .format = (uint32_t)format.handle};
    if (made->format == KW_FORMAT_BLOB && (told < sizeof(struct kw_blob_header) || !kw_blob_check(data)))
        error = CUDA_ERROR_INVALID_IMAGE;
    if (!error && !(made->registered = kw_load_module(data, told, made->format)))
        error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error && made->format == KW_FORMAT_BLOB)
        error = share_managed(made);
    if (error) {
        unload(made);
        return error;
    }
    pthread_mutex_lock(&lock);
    made->next = modules;
    modules = made;
    pthread_mutex_unlock(&lock);
    *result = made;
    return 0;
}

int kw_module_load_file(CUmodule *module, const char *path)
{
    size_t size;
    char *image = kw_read_file(path, &size);
    if (!image)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    int result = size < 8 ? CUDA_ERROR_INVALID_IMAGE : kw_module_load(module, image, size);
    free(image);
    return result;
}

KW_API CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_load_file(module, path));
}

KW_API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_load(module, image, 0));
}

/* Nothing is assembled here, so there is nothing for a log to say, and no target to choose. */
void kw_answer_options(unsigned int count, const CUjit_option *options, void **values)
{
    for (unsigned int i = 0; i < count; i++)
        for (unsigned int j = 0; j < count; j++) {
            int is_log = options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER;
            /* The size of a log comes anywhere among the options, under the next number. */
            if (is_log && (unsigned)options[j] == (unsigned)options[i] + 1 && values[i] && (unsigned int)(uintptr_t)values[j])
                *(char *)values[i] = 0;
        }
    for (unsigned int i = 0; i < count; i++)
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES ||
            options[i] == CU_JIT_WALL_TIME)
            values[i] = NULL; /* no bytes, 0.0f milliseconds */
}

KW_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options,
                                   void **values)
{
    KW_DRIVER_ENTER();
    if (count && (!options || !values))
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    kw_answer_options(count, options, values);
    return kw_driver_done(kw_module_load(module, image, 0));
}

KW_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_load(module, image, 0));
}

int kw_module_unload(CUmodule module)
{
    pthread_mutex_lock(&lock);
    CUmodule *link = &modules;
    while (*link && *link != module)
        link = &(*link)->next;
    int found = module && *link;
    if (found)
        *link = module->next;
    pthread_mutex_unlock(&lock);
    if (found)
        unload(module);
    return found ? 0 : CUDA_ERROR_INVALID_HANDLE;
}

KW_API CUresult cuModuleUnload(CUmodule module)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_unload(module));
}

/* ---- what is in a module; the caller holds `lock` ---- */

static int is_loaded(CUmodule module)
{
    CUmodule each = modules;
    while (each && each != module)
        each = each->next;
    return module && each;
}

static int find_function(CUmodule module, const char *name, CUfunction *result)
{
    const struct kw_blob_parameter *parameters;
    for (CUfunction each = module->functions; each; each = each->next)
        if (!strcmp(each->name, name)) {
            *result = each;
            return 0;
        }
    if (module->format == KW_FORMAT_BLOB && !kw_blob_find_kernel(module->data, name, &parameters))
        return CUDA_ERROR_NOT_FOUND;
    CUfunction made = calloc(1, sizeof *made);
    char *copy = strdup(name);
    if (!made || !copy) {
        free(made);
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (struct CUfunc_st){module, copy, module->functions};
    module->functions = made;
    kw_add_kernel(module->registered, made, name);
    /* Of nvcc's code only the device knows what is in it. */
    int result_of = kw_know_layout(kw_find_kernel(made));
    if (result_of)
        return module->format == KW_FORMAT_BLOB ? result_of : CUDA_ERROR_NOT_FOUND;
    *result = made;
    return 0;
}

int kw_module_function(CUmodule module, const char *name, CUfunction *function)
{
    if (!function || !name || !*name)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int result = is_loaded(module) ? find_function(module, name, function) : CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_unlock(&lock);
    return result;
}

KW_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_function(module, name, function));
}

KW_API CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    KW_DRIVER_ENTER();
    const struct kw_blob_kernel *kernels;
    if (!count)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    pthread_mutex_lock(&lock);
    int result = is_loaded(module) ? 0 : CUDA_ERROR_INVALID_HANDLE;
    if (!result && module->format != KW_FORMAT_BLOB)
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (!result)
        kw_blob_kernels(module->data, count, &kernels);
    pthread_mutex_unlock(&lock);
    return kw_driver_done(result);
}

KW_API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule module)
{
    KW_DRIVER_ENTER();
    const struct kw_blob_kernel *kernels;
    uint32_t all;
    if (count && !functions)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    pthread_mutex_lock(&lock);
    int result = is_loaded(module) ? 0 : CUDA_ERROR_INVALID_HANDLE;
    if (!result && module->format != KW_FORMAT_BLOB)
        result = CUDA_ERROR_NOT_SUPPORTED;
    const char *names = result ? NULL : kw_blob_kernels(module->data, &all, &kernels);
    for (uint32_t i = 0; !result && i < all && i < count; i++)
        result = find_function(module, names + kernels[i].name, &functions[i]);
    pthread_mutex_unlock(&lock);
    return kw_driver_done(result);
}

/* A static variable's name has its length in it: `table` is `_ZL5table`. */
static int is_called(const char *variable, const char *name)
{
    char mangled[32];
    if (!strcmp(variable, name))
        return 1;
    int length = snprintf(mangled, sizeof mangled, "_ZL%zu", strlen(name));
    return !strncmp(variable, mangled, (size_t)length) && !strcmp(variable + length, name);
}

static int find_global(CUmodule module, const char *name, uint64_t *address, uint64_t *size)
{
    uint32_t count = 0, flags = 0;
    uint64_t bytes = 0;
    const struct kw_blob_variable *variable;
    for (struct global *each = module->globals; each; each = each->next)
        if (is_called(each->name, name))
            return kw_symbol(each, address, size);
    if (module->format == KW_FORMAT_BLOB) {
        const char *names = kw_blob_variables(module->data, &count, &variable);
        uint32_t i = 0;
        while (i < count && !is_called(names + variable[i].name, name))
            i++;
        if (i == count)
            return CUDA_ERROR_NOT_FOUND;
        name = names + variable[i].name;
        bytes = variable[i].size;
        flags = variable[i].flags & KW_BLOB_CONSTANT ? KW_SYMBOL_CONSTANT : 0u;
    }
    struct global *made = calloc(1, sizeof *made);
    char *copy = strdup(name);
    if (!made || !copy) {
        free(made);
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (struct global){copy, module->globals};
    module->globals = made;
    kw_add_variable(module->registered, made, name, bytes, flags, 0);
    return kw_symbol(made, address, size);
}

int kw_module_global(CUmodule module, const char *name, CUdeviceptr *address, size_t *bytes)
{
    uint64_t start, size;
    if (!name || !*name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int result = is_loaded(module) ? find_global(module, name, &start, &size) : CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_unlock(&lock);
    if (!result && address)
        *address = start;
    if (!result && bytes)
        *bytes = size;
    return result;
}

KW_API CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_global(module, name, address, bytes));
}

/* ---- where a kernel comes from ---- */

KW_API CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    KW_DRIVER_ENTER();
    if (!module)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    int result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&lock);
    for (CUmodule each = modules; each && result; each = each->next)
        for (CUfunction one = each->functions; one && result; one = one->next)
            if (one == function) {
                *module = each;
                result = 0;
            }
    pthread_mutex_unlock(&lock);
    return kw_driver_done(result);
}
