/* Launching kernels, and what is known about them. */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What <<<...>>> leaves for the host stub; launches may stand inside the arguments of another. */
struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

enum {
    NESTING = 32,
    ARGUMENTS = 32764, /* bytes: the most that CUDA 12.1 and later allow */
};

static _Thread_local struct configuration pushed[NESTING];
static _Thread_local int depth;
static _Thread_local const void *launched_from; /* the <<<>>> of the launch that is to come or under way */

const void *kw_launched_from(void)
{
    return launched_from;
}

KW_API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream)
{
    if (depth == NESTING)
        return (unsigned)kw_done(cudaErrorInvalidConfiguration);
    pushed[depth++] = (struct configuration){grid, block, shared_bytes, stream};
    launched_from = __builtin_return_address(0);
    return 0;
}

KW_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    if (!depth)
        return kw_done(cudaErrorMissingConfiguration);
    const struct configuration *top = &pushed[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

void kw_launch_is_over(void)
{
    launched_from = NULL;
}

/* ---- launches ---- */

/* The last part of a mangled name, its length returned: `_ZN3net6reduceIfEvPT_` is `reduce`. Other names stay. */
static int plain_name(const char **name)
{
    const char *at = *name;
    size_t length = strlen(at);
    if (strncmp(at, "_Z", 2))
        return (int)length;
    at += 2;
    at += strspn(at, "NLK");
    while (*at >= '1' && *at <= '9') {
        char *part;
        unsigned long size = strtoul(at, &part, 10);
        if (size > strlen(part))
            break;
        *name = part;
        length = size;
        at = part + size;
    }
    return (int)length;
}

/* Says, once for each kernel, why a launch is refused: the error's own name tells little. */
static int refuse(struct kw_kernel *kernel, int error, const char *reason, uint64_t wanted, uint64_t allowed)
{
    const char *name = kernel->name;
    int length = plain_name(&name);
    char why[200];
    snprintf(why, sizeof why, "%s is %llu, and it must be 1 to %llu", reason, (unsigned long long)wanted,
             (unsigned long long)allowed);
    kw_explain(kernel->name, why);
    if (!__atomic_exchange_n(&kernel->is_told, 1, __ATOMIC_RELAXED))
        kw_say("a launch of kernel %.*s was refused: %s", length, name, why);
    return error;
}

static int check_extent(struct kw_kernel *kernel, const char *const reasons[], dim3 size, const uint32_t *limit)
{
    uint32_t each[] = {size.x, size.y, size.z};
    for (int i = 0; i < 3; i++)
        if (!each[i] || each[i] > limit[i])
            return refuse(kernel, cudaErrorInvalidConfiguration, reasons[i], each[i], limit[i]);
    return 0;
}

/* What CUDA refuses at the launch itself; the rest is for the worker. */
static int check_geometry(struct kw_kernel *kernel, dim3 grid, dim3 block, size_t shared_bytes)
{
    static const char *const grids[] = {"the number of blocks", "the number of blocks in y", "the number of blocks in z"};
    static const char *const blocks[] = {"the number of threads per block in x", "the number of threads per block in y",
                                         "the number of threads per block in z"};
    const struct kw_device_properties *device = kw_properties();
    if (!device)
        return cudaErrorInitializationError;
    int result = check_extent(kernel, grids, grid, device->max_grid);
    if (!result)
        result = check_extent(kernel, blocks, block, device->max_block);
    if (result)
        return result;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (threads > device->max_threads_per_block)
        return refuse(kernel, cudaErrorInvalidConfiguration, "the number of threads per block", threads,
                      device->max_threads_per_block);
    if (kernel->max_threads && threads > kernel->max_threads)
        return refuse(kernel, cudaErrorLaunchOutOfResources,
                      "the number of threads per block (its __launch_bounds__ say so)", threads, kernel->max_threads);
    uint64_t limit = device->shared_bytes_per_block;
    if (kernel->max_dynamic_shared_bytes[kw_device] + kernel->static_shared_bytes > limit)
        limit = kernel->max_dynamic_shared_bytes[kw_device] + kernel->static_shared_bytes;
    if (shared_bytes + kernel->static_shared_bytes > limit)
        return refuse(kernel, cudaErrorInvalidValue,
                      "its shared memory in bytes (cudaFuncSetAttribute allows more than 48 KiB)",
                      shared_bytes + kernel->static_shared_bytes, limit);
    return 0;
}

/* Blocks that wait for each other must all fit on the device at once. */
static int check_residence(struct kw_kernel *kernel, dim3 grid, dim3 block, size_t shared_bytes)
{
    const struct kw_device_properties *device = kw_properties();
    struct kw_handle answer;
    if (!device)
        return cudaErrorInitializationError;
    if (!device->cooperative_launch)
        return cudaErrorNotSupported;
    uint64_t threads = (uint64_t)block.x * block.y * block.z, blocks = (uint64_t)grid.x * grid.y * grid.z;
    struct kw_occupancy body = {
        .shared_bytes = shared_bytes, .kernel = kernel->number, .block_threads = (uint32_t)threads};
    int result = kw_request(KW_OCCUPANCY, &body, sizeof body, &answer, sizeof answer);
    if (result || blocks <= answer.handle * device->multiprocessors)
        return result;
    return refuse(kernel, cudaErrorCooperativeLaunchTooLarge, "the number of blocks of a cooperative launch", blocks,
                  answer.handle * device->multiprocessors);
}

/* Puts the arguments where the kernel's parameters lie. Holes are zero, so that equal launches are equal bytes. */
static void pack(const struct kw_kernel *kernel, void *const *arguments, char *packed)
{
    memset(packed, 0, kernel->arguments_size);
    for (uint32_t p = 0; p < kernel->parameter_count; p++) {
        char *slot = packed + kernel->parameter[p].offset;
        memcpy(slot, arguments[p], kernel->parameter[p].size);
        if (p < 64 && kernel->pointers >> p & 1) {
            uint64_t address;
            memcpy(&address, slot, sizeof address);
            address = kw_managed_address(address);
            memcpy(slot, &address, sizeof address);
        }
    }
}

/* Whether a kernel may be launched so. */
static int check_launch(const void *host, dim3 grid, dim3 block, void *const *arguments, size_t shared_bytes,
                        struct kw_kernel **kernel)
{
    *kernel = kw_find_kernel(host);
    if (!*kernel)
        return cudaErrorInvalidDeviceFunction;
    int result = kw_know_layout(*kernel);
    if (!result)
        result = check_geometry(*kernel, grid, block, shared_bytes);
    if (!result && ((*kernel)->arguments_size > ARGUMENTS || ((*kernel)->parameter_count && !arguments)))
        result = cudaErrorInvalidValue;
    return result;
}

static int send_launch(struct kw_kernel *kernel, dim3 grid, dim3 block, const void *packed, size_t shared_bytes,
                       uint64_t number, int cooperative)
{
    struct kw_launch body = {
        .stream = number,
        .kernel = kernel->number,
        .cooperative = cooperative != 0,
        .grid = {grid.x, grid.y, grid.z},
        .block = {block.x, block.y, block.z},
        .shared_bytes = (uint32_t)shared_bytes,
        .arguments_size = kernel->arguments_size,
    };
    int result = kw_command(KW_LAUNCH, &body, sizeof body, packed, kernel->arguments_size);
    if (!result)
        __atomic_fetch_add(&kernel->launches, 1, __ATOMIC_RELAXED);
    return result;
}

static struct kw_work kernel_work(const struct kw_kernel *kernel, dim3 grid, dim3 block, const void *packed,
                                  size_t shared_bytes, int cooperative)
{
    struct kw_work work = {.type = cudaGraphNodeTypeKernel};
    work.kernel.cooperative = cooperative;
    work.kernel.host = kernel->host;
    work.kernel.grid = grid;
    work.kernel.block = block;
    work.kernel.shared_bytes = shared_bytes;
    work.kernel.size = kernel->arguments_size;
    work.kernel.packed = malloc(kernel->arguments_size + 1);
    if (work.kernel.packed)
        memcpy(work.kernel.packed, packed, kernel->arguments_size);
    return work;
}

static int launch(const void *host, dim3 grid, dim3 block, void *const *arguments, size_t shared_bytes,
                  cudaStream_t stream, int cooperative)
{
    struct kw_kernel *kernel;
    uint64_t number;
    int result = check_launch(host, grid, block, arguments, shared_bytes, &kernel);
    if (!result && cooperative)
        result = check_residence(kernel, grid, block, shared_bytes);
    if (!result)
        result = kw_stream_number(stream, &number);
    if (result)
        return result;
    char packed[ARGUMENTS];
    pack(kernel, arguments, packed);
    if (kw_is_capturing()) {
        struct kw_work work = kernel_work(kernel, grid, block, packed, shared_bytes, cooperative);
        if (kw_captured(number, work, &result))
            return result;
        kw_free_work(&work);
    }
    return send_launch(kernel, grid, block, packed, shared_bytes, number, cooperative);
}

int kw_make_kernel_work(const void *host, dim3 grid, dim3 block, void *const *arguments, size_t shared_bytes,
                        struct kw_work *work)
{
    struct kw_kernel *kernel;
    int result = check_launch(host, grid, block, arguments, shared_bytes, &kernel);
    if (result)
        return result;
    char packed[ARGUMENTS];
    pack(kernel, arguments, packed);
    *work = kernel_work(kernel, grid, block, packed, shared_bytes, 0);
    return work->kernel.packed ? 0 : cudaErrorMemoryAllocation;
}

int kw_launch_work(const struct kw_work *work, cudaStream_t stream)
{
    uint64_t number;
    int result = kw_stream_number(stream, &number);
    struct kw_kernel *kernel = kw_find_kernel(work->kernel.host);
    if (result || !kernel)
        return result ? result : cudaErrorInvalidDeviceFunction;
    if (kw_is_capturing()) {
        struct kw_work again = kernel_work(kernel, work->kernel.grid, work->kernel.block, work->kernel.packed,
                                           work->kernel.shared_bytes, work->kernel.cooperative);
        if (kw_captured(number, again, &result))
            return result;
        kw_free_work(&again);
    }
    return send_launch(kernel, work->kernel.grid, work->kernel.block, work->kernel.packed, work->kernel.shared_bytes,
                       number, work->kernel.cooperative);
}

/* A program that does not check for errors would go on with results that were never computed: say it once. */
static int refused(const void *host, int error)
{
    static int said;
    const struct kw_kernel *kernel = kw_find_kernel(host);
    const char *name = kernel ? kernel->name : "(not registered)";
    int length = plain_name(&name);
    if (error == cudaErrorNoDevice && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        kw_say("kernel %.*s was not run: there is no device here (KERNELWRIGHT_DEVICE=%s)", length, name,
               kw_device_name());
    return error;
}

static cudaError_t launch_kernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                 cudaStream_t stream, int cooperative)
{
    int result = kw_connect();
    if (result)
        return kw_done(refused(kernel, result));
    return kw_done(launch(kernel, grid, block, arguments, shared_bytes, stream, cooperative));
}

KW_API cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                    cudaStream_t stream)
{
    return launch_kernel(kernel, grid, block, arguments, shared_bytes, stream, 0);
}

KW_API cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                               size_t shared_bytes, cudaStream_t stream)
{
    return launch_kernel(kernel, grid, block, arguments, shared_bytes, stream, 1);
}

/* ---- what is known about a kernel ---- */

static int find_kernel(const void *host, struct kw_kernel **kernel)
{
    *kernel = kw_find_kernel(host);
    return *kernel ? kw_know_layout(*kernel) : cudaErrorInvalidDeviceFunction;
}

static int ask_attributes(const struct kw_kernel *kernel, struct kw_function_attributes *attributes)
{
    struct kw_handle which = {.handle = kernel->number};
    return kw_request(KW_FUNCTION_ATTRIBUTES, &which, sizeof which, attributes, sizeof *attributes);
}

KW_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host)
{
    KW_ENTER();
    struct kw_kernel *kernel;
    struct kw_function_attributes told;
    int result = attributes ? find_kernel(host, &kernel) : cudaErrorInvalidValue;
    if (!result)
        result = ask_attributes(kernel, &told);
    if (result)
        return kw_done(result);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = told.static_shared_bytes,
        .constSizeBytes = told.constant_bytes,
        .localSizeBytes = told.local_bytes,
        .maxThreadsPerBlock = (int)told.max_threads,
        .numRegs = (int)told.registers,
        .ptxVersion = (int)told.ptx_version,
        .binaryVersion = (int)told.binary_version,
        .maxDynamicSharedSizeBytes = (int)told.max_dynamic_shared_bytes,
        .preferredShmemCarveout = told.preferred_carveout,
    };
    return kw_done(cudaSuccess);
}

static int set_shared_limit(struct kw_kernel *kernel, int bytes)
{
    const struct kw_device_properties *device = kw_properties();
    if (!device)
        return cudaErrorInitializationError;
    if (bytes < 0 || (uint64_t)bytes + kernel->static_shared_bytes > device->shared_bytes_per_block_optin)
        return cudaErrorInvalidValue;
    kernel->max_dynamic_shared_bytes[kw_device] = (uint32_t)bytes;
    return 0;
}

KW_API cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    KW_ENTER();
    struct kw_kernel *kernel;
    int result = find_kernel(host, &kernel);
    if (!result && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        result = set_shared_limit(kernel, value);
    else if (!result && (attribute != cudaFuncAttributePreferredSharedMemoryCarveout || value < -1 || value > 100))
        result = attribute > cudaFuncAttributePreferredSharedMemoryCarveout ? cudaErrorNotSupported
                                                                             : cudaErrorInvalidValue;
    if (result)
        return kw_done(result);
    struct kw_function_attribute body = {.kernel = kernel->number, .attribute = attribute, .value = value};
    return kw_done(kw_request(KW_SET_FUNCTION_ATTRIBUTE, &body, sizeof body, NULL, 0));
}

/* Preferences that no GPU since Volta acts on. */
KW_API cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
    KW_ENTER();
    struct kw_kernel *kernel;
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
        return kw_done(cudaErrorInvalidValue);
    return kw_done(find_kernel(host, &kernel));
}

KW_API cudaError_t cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig config)
{
    KW_ENTER();
    struct kw_kernel *kernel;
    if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte)
        return kw_done(cudaErrorInvalidValue);
    return kw_done(find_kernel(host, &kernel));
}

KW_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int block_size,
                                                                          size_t shared_bytes, unsigned int flags)
{
    KW_ENTER();
    struct kw_kernel *kernel;
    struct kw_handle answer;
    if (!blocks || block_size <= 0 || flags & ~(unsigned)cudaOccupancyDisableCachingOverride)
        return kw_done(cudaErrorInvalidValue);
    int result = find_kernel(host, &kernel);
    if (result)
        return kw_done(result);
    struct kw_occupancy body = {
        .shared_bytes = shared_bytes, .kernel = kernel->number, .block_threads = (uint32_t)block_size};
    result = kw_request(KW_OCCUPANCY, &body, sizeof body, &answer, sizeof answer);
    if (!result)
        *blocks = (int)answer.handle;
    return kw_done(result);
}

KW_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int block_size,
                                                                 size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, block_size, shared_bytes,
                                                                  cudaOccupancyDefault);
}

/* A multiprocessor's shared memory, in equal parts for `blocks`, less what each block needs anyway. */
KW_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, const void *host, int blocks,
                                                             int block_size)
{
    KW_ENTER();
    struct kw_kernel *kernel;
    if (!shared_bytes || blocks <= 0 || block_size <= 0)
        return kw_done(cudaErrorInvalidValue);
    int result = find_kernel(host, &kernel);
    const struct kw_device_properties *device = result ? NULL : kw_properties();
    if (!device)
        return kw_done(result ? result : cudaErrorInitializationError);
    enum { UNIT = 128 }; /* shared memory is handed out in units of 128 bytes */
    uint64_t part = device->shared_bytes_per_multiprocessor / (uint64_t)blocks / UNIT * UNIT;
    if (part > device->shared_bytes_per_block_optin + device->reserved_shared_bytes_per_block)
        part = device->shared_bytes_per_block_optin + device->reserved_shared_bytes_per_block;
    uint64_t taken = kernel->static_shared_bytes + device->reserved_shared_bytes_per_block;
    if ((uint64_t)blocks * (uint64_t)block_size > device->max_threads_per_multiprocessor || part < taken)
        return kw_done(cudaErrorInvalidValue);
    *shared_bytes = part - taken;
    return kw_done(cudaSuccess);
}
