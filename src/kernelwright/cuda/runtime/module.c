/* Registration: what the constructors of compiled host code tell us before main runs. */
#include "client.h"

#include <stdlib.h>
#include <string.h>

#include "blob.h"

/* How clang and nvcc wrap embedded device code (clang: CGCUDANV.cpp). */
struct wrapper {
    uint32_t magic;
    uint32_t version;
    const void *data;
    void *unused;
};

/* The head of what nvcc embeds. */
struct nvidia_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_size;
    uint64_t size;
};

enum { WRAPPER_MAGIC = 0x466243b1, NVIDIA_MAGIC = 0xba55ed50, BUCKETS = 4096 };

struct kw_list kw_modules, kw_kernels, kw_variables;

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct kw_kernel *bucket[BUCKETS];
static int announced;

static int append(struct kw_list *list, void *item)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        void **larger = realloc(list->item, room * sizeof *larger);
        if (!larger)
            return 0;
        list->item = larger;
        list->room = room;
    }
    list->item[list->count++] = item;
    return 1;
}

static struct kw_kernel **bucket_of(const void *host)
{
    /* Functions start at multiples of 16. */
    return &bucket[((uintptr_t)host >> 4) % BUCKETS];
}

struct kw_kernel *kw_find_kernel(const void *host)
{
    pthread_mutex_lock(&registry);
    struct kw_kernel *kernel = *bucket_of(host);
    while (kernel && kernel->host != host)
        kernel = kernel->next;
    pthread_mutex_unlock(&registry);
    return host ? kernel : NULL;
}

struct kw_variable *kw_find_variable(const void *host)
{
    struct kw_variable *found = NULL;
    pthread_mutex_lock(&registry);
    for (size_t i = 0; i < kw_variables.count && !found && host; i++) {
        struct kw_variable *variable = kw_variables.item[i];
        if (variable->host == host)
            found = variable;
    }
    pthread_mutex_unlock(&registry);
    return found;
}

/* ---- telling the worker; the caller holds `registry` ---- */

static int announce_module(const struct kw_module *module)
{
    if (!module->format) {
        kw_say("the device code built into this program is damaged; compile the program again");
        return cudaErrorInvalidKernelImage;
    }
    struct kw_register_module body = {.module = module->number, .format = module->format};
    return kw_command(KW_REGISTER_MODULE, &body, sizeof body, module->data, module->size);
}

static int announce_kernel(const struct kw_kernel *kernel)
{
    struct kw_register_symbol body = {.module = kernel->module, .symbol = kernel->number};
    return kw_command(KW_REGISTER_KERNEL, &body, sizeof body, kernel->name, strlen(kernel->name));
}

static int announce_variable(const struct kw_variable *variable)
{
    struct kw_register_symbol body = {
        .module = variable->module,
        .symbol = variable->number,
        .flags = variable->flags,
        .size = variable->size,
    };
    uint64_t shared = kw_managed_address((uint64_t)variable->host);
    if (shared != (uint64_t)variable->host) {
        body.flags |= KW_SYMBOL_MANAGED;
        body.address = shared;
    } else if (variable->flags & KW_SYMBOL_MANAGED) {
        body.address = variable->shared;
    }
    return kw_command(KW_REGISTER_VARIABLE, &body, sizeof body, variable->name, strlen(variable->name));
}

int kw_announce_modules(void)
{
    int result = 0;
    pthread_mutex_lock(&registry);
    for (size_t i = 0; i < kw_modules.count && !result; i++) {
        const struct kw_module *module = kw_modules.item[i];
        if (module->data)
            result = announce_module(module);
    }
    for (size_t i = 0; i < kw_kernels.count && !result; i++) {
        const struct kw_kernel *kernel = kw_kernels.item[i];
        if (kernel->host)
            result = announce_kernel(kernel);
    }
    for (size_t i = 0; i < kw_variables.count && !result; i++) {
        const struct kw_variable *variable = kw_variables.item[i];
        if (variable->host)
            result = announce_variable(variable);
    }
    announced = 1;
    pthread_mutex_unlock(&registry);
    return result;
}

void kw_reset_modules(void)
{
    pthread_mutex_lock(&registry);
    for (size_t i = 0; i < kw_kernels.count; i++)
        ((struct kw_kernel *)kw_kernels.item[i])->max_dynamic_shared_bytes[kw_device] = 0;
    for (size_t i = 0; i < kw_variables.count; i++)
        ((struct kw_variable *)kw_variables.item[i])->address[kw_device] = 0;
    pthread_mutex_unlock(&registry);
}

/* ---- how arguments are packed ---- */

static int layout_from_blob(struct kw_kernel *kernel, const void *blob)
{
    const struct kw_blob_parameter *parameter;
    const struct kw_blob_kernel *entry = kw_blob_find_kernel(blob, kernel->name, &parameter);
    if (!entry)
        return cudaErrorInvalidDeviceFunction;
    kernel->parameter = calloc(entry->parameter_count + 1, sizeof *kernel->parameter);
    if (!kernel->parameter)
        return cudaErrorMemoryAllocation;
    for (uint32_t p = 0; p < entry->parameter_count; p++) {
        kernel->parameter[p] = (struct kw_parameter){parameter[p].offset, parameter[p].size};
        if (parameter[p].kind == KW_BLOB_POINTER && p < 64)
            kernel->pointers |= UINT64_C(1) << p;
    }
    kernel->parameter_count = entry->parameter_count;
    kernel->arguments_size = entry->arguments_size;
    kernel->max_threads = entry->max_threads;
    kernel->static_shared_bytes = entry->static_shared_bytes;
    return 0;
}

static int layout_from_worker(struct kw_kernel *kernel)
{
    struct kw_handle which = {.handle = kernel->number};
    struct kw_kernel_layout layout;
    void *tail = NULL;
    size_t size = 0;
    int result = kw_request_tail(KW_KERNEL_LAYOUT, &which, sizeof which, &layout, sizeof layout, &tail, &size);
    if (result)
        return result;
    struct kw_parameter *parameter = tail;
    int fits = size == layout.parameter_count * sizeof *parameter;
    for (uint32_t p = 0; fits && p < layout.parameter_count; p++)
        fits = (uint64_t)parameter[p].offset + parameter[p].size <= layout.arguments_size;
    if (!fits) {
        free(tail);
        return cudaErrorInvalidKernelImage;
    }
    kernel->parameter = parameter;
    kernel->parameter_count = layout.parameter_count;
    kernel->arguments_size = layout.arguments_size;
    return 0;
}

/* Of a kernel in a blob it has been known since registration. */
int kw_know_layout(struct kw_kernel *kernel)
{
    static const int unknown[] = {cudaErrorInvalidKernelImage, cudaErrorInvalidDeviceFunction};
    int result = 0;
    pthread_mutex_lock(&registry);
    if (!kernel->has_layout) {
        const struct kw_module *module = kw_modules.item[kernel->module];
        result = module->format == KW_FORMAT_NVIDIA ? layout_from_worker(kernel) : unknown[module->format];
        kernel->has_layout = !result;
    }
    pthread_mutex_unlock(&registry);
    return result;
}

/* ---- called by compiled host code ---- */

static void know_bytes(struct kw_module *module, const struct wrapper *wrapper)
{
    module->data = wrapper->data;
    if (wrapper->magic != WRAPPER_MAGIC)
        return;
    const struct nvidia_header *nvidia = wrapper->data;
    if (nvidia->magic == NVIDIA_MAGIC) {
        module->format = KW_FORMAT_NVIDIA;
        module->size = nvidia->header_size + nvidia->size;
        return;
    }
    size_t size = kw_blob_check(wrapper->data);
    if (!size)
        return;
    const struct kw_blob_header *header = wrapper->data;
    module->size = size;
    module->format = KW_FORMAT_BLOB;
    memcpy(module->id, header->module, sizeof module->id);
    size_t length;
    const char *source = kw_blob_source(wrapper->data, &length);
    memcpy(module->source, source, length < sizeof module->source ? length : sizeof module->source - 1);
}

static struct kw_module *add_module(struct kw_module *module)
{
    pthread_mutex_lock(&registry);
    module->number = (uint32_t)kw_modules.count;
    if (!append(&kw_modules, module))
        abort();
    if (announced)
        announce_module(module);
    pthread_mutex_unlock(&registry);
    return module;
}

KW_API void **__cudaRegisterFatBinary(void *wrapper)
{
    struct kw_module *module = calloc(1, sizeof *module);
    if (!module)
        abort();
    know_bytes(module, wrapper);
    return (void **)add_module(module);
}

struct kw_module *kw_load_module(const void *data, size_t size, uint32_t format)
{
    struct kw_module *module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    know_bytes(module, &(struct wrapper){.magic = format == KW_FORMAT_BLOB ? WRAPPER_MAGIC : 0, .data = data});
    if (format != KW_FORMAT_BLOB) {
        module->size = size;
        module->format = format;
    }
    return add_module(module);
}

KW_API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

KW_API void __cudaUnregisterFatBinary(void **handle)
{
    struct kw_module *module = (struct kw_module *)handle;
    pthread_mutex_lock(&registry);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct kw_kernel **link = &bucket[i]; *link;) {
            if ((*link)->module == module->number) {
                (*link)->host = NULL;
                *link = (*link)->next;
            } else {
                link = &(*link)->next;
            }
        }
    for (size_t i = 0; i < kw_variables.count; i++) {
        struct kw_variable *variable = kw_variables.item[i];
        if (variable->module == module->number && variable->host) {
            variable->host = NULL;
            for (int device = 0; device < KW_DEVICES; device++)
                if (variable->address[device])
                    kw_drop_symbol(variable->address[device]);
        }
    }
    module->data = NULL;
    if (announced && kw_is_connected() && !kw_failure()) {
        struct kw_handle body = {.handle = module->number};
        kw_command(KW_UNREGISTER_MODULE, &body, sizeof body, NULL, 0);
    }
    pthread_mutex_unlock(&registry);
}

/* Of objects whose device code is linked later clang registers what is static in its file under a name with a hash behind it, which
   the device code does not have (CodeGenModule::printPostfixForExternalizedDecl). */
static size_t plain_length(const char *name)
{
    static const char *const marks[] = {"__static__", "__intern__"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (const char *found = strstr(name, marks[i]); found; found = strstr(found + 1, marks[i])) {
            const char *hash = found + strlen(marks[i]);
            if (strlen(hash) >= 8 && strspn(hash, "0123456789abcdef_") == strlen(hash))
                return (size_t)(found - name);
        }
    return strlen(name);
}

void kw_add_kernel(struct kw_module *module, const void *host, const char *name)
{
    struct kw_kernel *kernel = calloc(1, sizeof *kernel);
    char *copy = strndup(name, plain_length(name));
    if (!kernel || !copy)
        abort();
    kernel->host = host;
    kernel->name = copy;
    kernel->module = module->number;
    if (module->format == KW_FORMAT_BLOB)
        kernel->has_layout = !layout_from_blob(kernel, module->data);
    pthread_mutex_lock(&registry);
    kernel->number = (uint32_t)kw_kernels.count;
    if (!append(&kw_kernels, kernel))
        abort();
    /* A template kernel that two files instantiate is registered by both under one address; the first stays. */
    struct kw_kernel **link = bucket_of(host);
    while (*link)
        link = &(*link)->next;
    *link = kernel;
    if (announced)
        announce_kernel(kernel);
    pthread_mutex_unlock(&registry);
}

/* The seven arguments after the name belong to ways of compiling that ended with CUDA 4. */
KW_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                   void *tid, void *bid, void *block, void *grid, int *warp)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    kw_add_kernel((struct kw_module *)handle, host, name);
}

static struct kw_variable *register_variable(const struct kw_module *module, const void *host, const char *name, size_t size,
                                             uint32_t flags, uint64_t shared)
{
    struct kw_variable *variable = calloc(1, sizeof *variable);
    char *copy = strndup(name, plain_length(name));
    if (!variable || !copy)
        abort();
    variable->host = host;
    variable->name = copy;
    variable->module = module->number;
    variable->flags = flags;
    variable->size = size;
    variable->shared = shared;
    pthread_mutex_lock(&registry);
    variable->number = (uint32_t)kw_variables.count;
    if (!append(&kw_variables, variable))
        abort();
    if (announced)
        announce_variable(variable);
    pthread_mutex_unlock(&registry);
    return variable;
}

void kw_add_variable(struct kw_module *module, const void *host, const char *name, size_t size, uint32_t flags,
                     uint64_t shared)
{
    register_variable(module, host, name, size, flags, shared);
}

KW_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                              int constant, int global)
{
    (void)device, (void)global;
    const struct kw_module *module = (struct kw_module *)handle;
    uint32_t flags = (constant ? KW_SYMBOL_CONSTANT : 0u) | (external ? KW_SYMBOL_EXTERNAL : 0u);
    /* The compiler leaves a managed variable's initial value on the device's side; the host is to see it too. */
    const void *initial = module->format == KW_FORMAT_BLOB && kw_is_managed(host)
                              ? kw_blob_initial_bytes(module->data, name) : NULL;
    if (initial)
        memcpy(host, initial, size);
    register_variable(module, host, name, size, flags, 0);
}

/* A texture reference is, on the device, a variable that holds the address of a descriptor. */
KW_API void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                                  int dimensions, int normalized, int external)
{
    (void)device, (void)dimensions;
    uint32_t flags = external ? KW_SYMBOL_EXTERNAL : 0u;
    register_variable((struct kw_module *)handle, host, name, sizeof(cudaTextureObject_t), flags, 0)->read_mode = normalized;
}
