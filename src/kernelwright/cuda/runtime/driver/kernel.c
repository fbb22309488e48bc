/* Kernels: launching them, what is known about them, how many blocks fit. */
#include "driver.h"

static int find_kernel(CUfunction function, struct kw_kernel **kernel)
{
    *kernel = kw_find_kernel(function);
    return *kernel ? kw_know_layout(*kernel) : CUDA_ERROR_INVALID_HANDLE;
}

/* The second way to pass arguments: one buffer in which they lie as the kernel has them, named by `extra`. */
static int arguments_of_buffer(const struct kw_kernel *kernel, void **extra, void **arguments)
{
    char *buffer = NULL;
    size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            size = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (kernel->parameter_count && (!buffer || size < kernel->arguments_size))
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t p = 0; p < kernel->parameter_count; p++)
        arguments[p] = buffer + kernel->parameter[p].offset;
    return 0;
}

static int launch(CUfunction function, dim3 grid, dim3 block, unsigned int shared_bytes, CUstream stream,
                  void **parameters, void **extra, int cooperative)
{
    enum { PARAMETERS = 4096 };
    struct kw_kernel *kernel;
    void *unpacked[PARAMETERS];
    int result = find_kernel(function, &kernel);
    if (!result && parameters && extra)
        result = CUDA_ERROR_INVALID_VALUE;
    if (!result && extra) {
        result = kernel->parameter_count > PARAMETERS ? CUDA_ERROR_NOT_SUPPORTED
                                                      : arguments_of_buffer(kernel, extra, unpacked);
        parameters = unpacked;
    }
    if (result)
        return result;
    return (int)(cooperative ? cudaLaunchCooperativeKernel : cudaLaunchKernel)(function, grid, block, parameters,
                                                                               shared_bytes, stream);
}

KW_API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                               CUstream stream, void **parameters, void **extra)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(launch(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, shared_bytes,
                                 stream, parameters, extra, 0));
}

KW_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                          unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                          unsigned int shared_bytes, CUstream stream, void **parameters)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(launch(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, shared_bytes,
                                 stream, parameters, NULL, 1));
}

/* 0, or the error for an attribute that is not supported: clusters of blocks, and events within a kernel. */
static int check_attribute(const CUlaunchAttribute *of)
{
    switch (of->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return of->value.clusterDim.x * of->value.clusterDim.y * of->value.clusterDim.z > 1 ? CUDA_ERROR_NOT_SUPPORTED : 0;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return CUDA_ERROR_NOT_SUPPORTED;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        return 0;
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

KW_API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **parameters, void **extra)
{
    KW_DRIVER_ENTER();
    if (!c || (c->numAttrs && !c->attrs))
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    int cooperative = 0;
    for (unsigned int i = 0; i < c->numAttrs; i++) {
        if (check_attribute(&c->attrs[i])) {
            kw_say("cuLaunchKernelEx: clusters of blocks and events in the middle of a kernel are not supported");
            return kw_driver_done(CUDA_ERROR_NOT_SUPPORTED);
        }
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = c->attrs[i].value.cooperative;
    }
    return kw_driver_done(launch(function, (dim3){c->gridDimX, c->gridDimY, c->gridDimZ},
                                 (dim3){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream, parameters,
                                 extra, cooperative));
}

int kw_attribute_of_function(int *value, CUfunction_attribute attribute, CUfunction function)
{
    struct kw_kernel *kernel;
    struct cudaFuncAttributes told;
    int result = value ? find_kernel(function, &kernel) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        result = (int)cudaFuncGetAttributes(&told, function);
    if (result)
        return result;
    const int values[CU_FUNC_ATTRIBUTE_MAX] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = told.maxThreadsPerBlock,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)told.sharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = (int)told.constSizeBytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)told.localSizeBytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = told.numRegs,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = told.ptxVersion,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = told.binaryVersion,
        [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = told.cacheModeCA,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = told.maxDynamicSharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = told.preferredShmemCarveout,
    };
    if ((int)attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *value = values[attribute];
    return 0;
}

KW_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_attribute_of_function(value, attribute, function));
}

/* The numbers of the attributes that can be set are the same in both APIs. */
KW_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaFuncSetAttribute(function, (enum cudaFuncAttribute)attribute, value));
}

KW_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaFuncSetCacheConfig(function, (enum cudaFuncCache)config));
}

KW_API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaFuncSetSharedMemConfig(function, (enum cudaSharedMemConfig)config));
}

KW_API CUresult cuFuncGetName(const char **name, CUfunction function)
{
    KW_DRIVER_ENTER();
    struct kw_kernel *kernel;
    int result = name ? find_kernel(function, &kernel) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        *name = kernel->name;
    return kw_driver_done(result);
}

KW_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    KW_DRIVER_ENTER();
    struct kw_kernel *kernel;
    int result = offset ? find_kernel(function, &kernel) : CUDA_ERROR_INVALID_VALUE;
    if (!result && index >= kernel->parameter_count)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result)
        return kw_driver_done(result);
    *offset = kernel->parameter[index].offset;
    if (size)
        *size = kernel->parameter[index].size;
    return kw_driver_done(0);
}

/* ---- occupancy ---- */

KW_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_size,
                                                                     size_t shared_bytes, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, flags));
}

KW_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                            size_t shared_bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes));
}

/* The block size with the most resident threads, the largest of those. */
static int best_block(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared_bytes,
                      int limit, unsigned int flags)
{
    const struct kw_device_properties *device = kw_properties();
    struct cudaFuncAttributes told;
    if (!grid || !block || limit < 0 || !device)
        return device ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    int result = (int)cudaFuncGetAttributes(&told, function);
    if (result)
        return result;
    int warp = (int)device->warp_size, most = 0;
    int largest = limit && limit < told.maxThreadsPerBlock ? limit : told.maxThreadsPerBlock;
    for (int upper = (largest + warp - 1) / warp * warp; upper > 0; upper -= warp) {
        int size = upper < largest ? upper : largest, blocks;
        result = (int)cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, function, size, shared_of ? shared_of(size) : shared_bytes, flags);
        if (result)
            return result;
        if (blocks * size > most) {
            most = blocks * size;
            *block = size;
            *grid = blocks * (int)device->multiprocessors;
        }
        if (most == (int)device->max_threads_per_multiprocessor)
            break;
    }
    return most ? 0 : CUDA_ERROR_INVALID_VALUE;
}

KW_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                          CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit,
                                                          unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(best_block(grid, block, function, shared_of, shared_bytes, limit, flags));
}

KW_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                 CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(best_block(grid, block, function, shared_of, shared_bytes, limit, 0));
}

KW_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, CUfunction function, int blocks,
                                                        int block_size)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaOccupancyAvailableDynamicSMemPerBlock(shared_bytes, function, blocks, block_size));
}
