/* Handles of cuSOLVER's dense interface, and calls on their way to the worker. */
#include "solver.h"

#include <stdlib.h>

enum { HANDLE = 0x736f6c76 };

/* Nothing is kept in work areas; programs allocate as many numbers as they are told, and some expect more than 0. */
enum { WORK_AREA = 64 };

static int is_handle(cusolverDnHandle_t handle)
{
    return handle && handle->magic == HANDLE;
}

static cusolverStatus_t status_of(int error)
{
    switch (error) {
    case 0:
        return CUSOLVER_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
        return CUSOLVER_STATUS_ALLOC_FAILED;
    case cudaErrorNotSupported:
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    case cudaErrorInvalidResourceHandle:
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    return CUSOLVER_STATUS_EXECUTION_FAILED;
}

cusolverStatus_t kw_solver_size(cusolverDnHandle_t handle, int wrong, int *size)
{
    if (!is_handle(handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (wrong || !size)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *size = WORK_AREA;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t kw_solver_run(cusolverDnHandle_t handle, const char *name, int wrong, int *info,
                               const struct kw_argument *argument, uint32_t count)
{
    if (!is_handle(handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (!wrong)
        return status_of(kw_library(name, handle->stream, argument, count));
    if (info) {
        struct kw_argument told[] = {KW_ADDRESS(info), KW_WORD(wrong)};
        kw_library("cusolverDnWrongParameter", handle->stream, told, 2);
    }
    return CUSOLVER_STATUS_INVALID_VALUE;
}

KW_API cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    if (!handle)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (kw_connect() || !kw_library_is_served("cuSOLVER"))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    struct cusolverDnContext *made = calloc(1, sizeof *made);
    if (!made)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    made->magic = HANDLE;
    *handle = made;
    return CUSOLVER_STATUS_SUCCESS;
}

KW_API cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    if (!is_handle(handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    cudaStream_t stream = handle->stream;
    handle->magic = 0;
    free(handle);
    /* Waits for the work, as NVIDIA's does, which frees memory of the device. */
    kw_stream_wait(stream);
    return CUSOLVER_STATUS_SUCCESS;
}

KW_API cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
    uint64_t number;
    if (!is_handle(handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (kw_stream_number(stream, &number))
        return CUSOLVER_STATUS_INVALID_VALUE;
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

KW_API cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream)
{
    if (!is_handle(handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (!stream)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *stream = handle->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

KW_API cusolverStatus_t cusolverGetVersion(int *version)
{
    if (!version)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *version = CUSOLVER_VERSION;
    return CUSOLVER_STATUS_SUCCESS;
}

KW_API cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value)
{
    static const int parts[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *value = parts[type];
    return CUSOLVER_STATUS_SUCCESS;
}
