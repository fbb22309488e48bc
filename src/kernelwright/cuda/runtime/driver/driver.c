/* Starting the driver API, its errors, and the devices there are. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int number;
} errors[] = {
#define KW_DRIVER_ERROR(name, number) {#name, number},
#include "kernelwright/driver/error_table.h"
#undef KW_DRIVER_ERROR
};

static const char *error_name(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == error)
            return errors[i].name;
    return NULL;
}

/* The numbers of the two APIs are the same, but for errors that only the runtime has. */
static int of_driver(int error)
{
    switch (error) {
    case cudaErrorInvalidSymbol:
        return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorNotYetImplemented:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return error_name(error) ? error : error < cudaErrorNoDevice ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNKNOWN;
    }
}

CUresult kw_driver_done(int error)
{
    const char *call = kw_driver_call ? kw_driver_call : "a CUDA call";
    int result = of_driver(error);
    kw_driver_call = NULL;
    if (result) {
        char name[64];
        /* As the program wrote it. */
        snprintf(name, sizeof name, "%s", call);
        size_t length = strlen(name);
        if (length > 3 && !strncmp(name + length - 3, "_v", 2))
            name[length - 3] = 0;
        kw_note_failure(name, error_name(result), result);
    }
    kw_call_is_over();
    return (CUresult)result;
}

/* A runtime call starts the driver as well. */
int kw_driver_initialised(void)
{
    return kw_is_connected() || kw_failure() ? kw_connect() : CUDA_ERROR_NOT_INITIALIZED;
}

int kw_driver_ready(void)
{
    int result = kw_driver_initialised();
    return result || kw_current_context() ? result : CUDA_ERROR_INVALID_CONTEXT;
}

KW_API CUresult cuInit(unsigned int flags)
{
    kw_driver_call = __func__;
    return kw_driver_done(flags ? cudaErrorInvalidValue : kw_connect());
}

KW_API CUresult cuDriverGetVersion(int *version)
{
    kw_driver_call = __func__;
    if (!version)
        return kw_driver_done(cudaErrorInvalidValue);
    cudaDriverGetVersion(version);
    if (!*version)
        *version = CUDA_VERSION; /* there is a driver, and no device */
    return kw_driver_done(0);
}

KW_API CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = error_name((int)error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

KW_API CUresult cuGetErrorString(CUresult error, const char **text)
{
    const char *name;
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    if (!(name = error_name((int)error)))
        return CUDA_ERROR_INVALID_VALUE;
    *text = error == CUDA_ERROR_CONTEXT_ALREADY_CURRENT ? "context is already current" : cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

/* ---- devices ---- */

KW_API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = device ? kw_check_device(ordinal) : cudaErrorInvalidValue;
    if (!result)
        *device = ordinal;
    return kw_driver_done(result);
}

KW_API CUresult cuDeviceGetCount(int *count)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(cudaGetDeviceCount(count));
}

KW_API CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    const struct kw_device_properties *told;
    int result = name && length > 0 ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
    if (!result)
        snprintf(name, (size_t)length, "%s", told->name);
    return kw_driver_done(result);
}

KW_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    const struct kw_device_properties *told;
    int result = uuid ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
    if (!result)
        memcpy(uuid->bytes, told->uuid, sizeof uuid->bytes);
    return kw_driver_done(result);
}

KW_API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    const struct kw_device_properties *told;
    int result = bytes ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
    if (!result)
        *bytes = told->global_bytes;
    return kw_driver_done(result);
}

KW_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
    if (!result && attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED)
        *value = 1; /* which the runtime has no name for */
    return kw_driver_done(result);
}

KW_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    const struct kw_device_properties *told;
    int result = major && minor ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
    if (!result)
        *major = (int)told->major, *minor = (int)told->minor;
    return kw_driver_done(result);
}

KW_API CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    const struct kw_device_properties *told;
    int result = properties ? kw_ask_properties(device, &told) : cudaErrorInvalidValue;
    if (result)
        return kw_driver_done(result);
    *properties = (CUdevprop){
        .maxThreadsPerBlock = (int)told->max_threads_per_block,
        .sharedMemPerBlock = (int)told->shared_bytes_per_block,
        .totalConstantMemory = (int)told->constant_bytes,
        .SIMDWidth = (int)told->warp_size,
        .memPitch = (int)told->max_pitch,
        .regsPerBlock = (int)told->registers_per_block,
        .clockRate = (int)told->clock_khz,
        .textureAlign = (int)told->texture_alignment,
    };
    for (int i = 0; i < 3; i++) {
        properties->maxThreadsDim[i] = (int)told->max_block[i];
        properties->maxGridSize[i] = (int)told->max_grid[i];
    }
    return kw_driver_done(0);
}

KW_API CUresult cuDeviceGetPCIBusId(char *bus, int length, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(cudaDeviceGetPCIBusId(bus, length, device));
}

KW_API CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *bus)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(cudaDeviceGetByPCIBusId(device, bus));
}

KW_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(cudaDeviceCanAccessPeer(can, device, peer));
}

KW_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(cudaDeviceGetDefaultMemPool(pool, device));
}
