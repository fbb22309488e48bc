/* Copies and fills. */
#include "driver.h"

#include <stddef.h>

/* With unified addressing the driver finds what an address is by itself. */
KW_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpy((void *)to, (void *)from, bytes, cudaMemcpyDefault));
}

KW_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyAsync((void *)to, (void *)from, bytes, cudaMemcpyDefault, stream));
}

/* Addresses are unique among all devices, so that they say whose memory is meant. */
KW_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    KW_DRIVER_ENTER();
    (void)to_context, (void)from_context;
    return kw_driver_done(cudaMemcpy((void *)to, (void *)from, bytes, cudaMemcpyDeviceToDevice));
}

KW_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t bytes, CUstream stream)
{
    KW_DRIVER_ENTER();
    (void)to_context, (void)from_context;
    return kw_driver_done(cudaMemcpyAsync((void *)to, (void *)from, bytes, cudaMemcpyDeviceToDevice, stream));
}

KW_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpy((void *)to, from, bytes, cudaMemcpyHostToDevice));
}

KW_API CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpy(to, (void *)from, bytes, cudaMemcpyDeviceToHost));
}

KW_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpy((void *)to, (void *)from, bytes, cudaMemcpyDeviceToDevice));
}

KW_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyAsync((void *)to, from, bytes, cudaMemcpyHostToDevice, stream));
}

KW_API CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyAsync(to, (void *)from, bytes, cudaMemcpyDeviceToHost, stream));
}

KW_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyAsync((void *)to, (void *)from, bytes, cudaMemcpyDeviceToDevice, stream));
}

/* ---- arrays of one row ---- */

KW_API CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyToArray((cudaArray_t)to, offset, 0, (void *)from, bytes, cudaMemcpyDeviceToDevice));
}

KW_API CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(
        cudaMemcpyFromArray((void *)to, (cudaArray_const_t)from, offset, 0, bytes, cudaMemcpyDeviceToDevice));
}

KW_API CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void *from, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyToArray((cudaArray_t)to, offset, 0, from, bytes, cudaMemcpyHostToDevice));
}

KW_API CUresult cuMemcpyAtoH(void *to, CUarray from, size_t offset, size_t bytes)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaMemcpyFromArray(to, (cudaArray_const_t)from, offset, 0, bytes, cudaMemcpyDeviceToHost));
}

/* ---- boxes ---- */

/* One end of a copy, as CUDA_MEMCPY3D has it, of which a CUDA_MEMCPY2D is a part. */
struct end {
    size_t x, y, z;
    CUmemorytype type;
    void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, rows;
};

static int place(const struct end *end, size_t width, size_t height, size_t depth, void **start, size_t *pitch,
                 size_t *slice)
{
    const struct cudaArray *array = (const struct cudaArray *)end->array;
    char *base = end->type == CU_MEMORYTYPE_HOST ? end->host : (char *)end->device;
    size_t rows = end->rows ? end->rows : end->y + height;
    *pitch = end->pitch ? end->pitch : end->x + width;
    if (end->type == CU_MEMORYTYPE_ARRAY) {
        if (!kw_is_array(array))
            return CUDA_ERROR_INVALID_HANDLE;
        size_t all_rows = array->extent.height ? array->extent.height : 1, slices = array->extent.depth ? array->extent.depth : 1;
        if (end->x + width > array->extent.width * kw_element_size(&array->format) || end->y + height > all_rows ||
            end->z + depth > slices)
            return CUDA_ERROR_INVALID_VALUE;
        base = array->data;
        *pitch = array->pitch;
        *slice = array->slice;
    } else if (end->type < CU_MEMORYTYPE_HOST || end->type > CU_MEMORYTYPE_UNIFIED || end->x + width > *pitch) {
        return CUDA_ERROR_INVALID_VALUE;
    } else {
        *slice = *pitch * rows;
    }
    *start = base + end->z * *slice + end->y * *pitch + end->x;
    return 0;
}

static int copy_box(const struct end *to, const struct end *from, size_t width, size_t height, size_t depth,
                    CUstream stream, int wait)
{
    struct kw_box box = {.width = width, .height = height, .depth = depth};
    void *source;
    if (!width || !height || !depth)
        return 0;
    int result = place(to, width, height, depth, &box.to, &box.to_pitch, &box.to_slice);
    if (!result)
        result = place(from, width, height, depth, &source, &box.from_pitch, &box.from_slice);
    if (result)
        return result;
    box.from = source;
    return kw_copy_box(&box, cudaMemcpyDefault, stream, wait);
}

static int copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, int wait)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    struct end to = {c->dstXInBytes, c->dstY, 0, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstPitch, 0};
    struct end from = {
        c->srcXInBytes, c->srcY, 0, c->srcMemoryType, (void *)c->srcHost, c->srcDevice, c->srcArray, c->srcPitch, 0};
    return copy_box(&to, &from, c->WidthInBytes, c->Height, 1, stream, wait);
}

static int copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, int wait)
{
    if (!c || c->srcLOD || c->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    struct end to = {c->dstXInBytes, c->dstY,   c->dstZ,     c->dstMemoryType, c->dstHost,
                     c->dstDevice,   c->dstArray, c->dstPitch, c->dstHeight};
    struct end from = {c->srcXInBytes, c->srcY,   c->srcZ,     c->srcMemoryType, (void *)c->srcHost,
                       c->srcDevice,   c->srcArray, c->srcPitch, c->srcHeight};
    return copy_box(&to, &from, c->WidthInBytes, c->Height, c->Depth, stream, wait);
}

KW_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(copy_2d(copy, 0, 1));
}

KW_API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(copy_2d(copy, 0, 1));
}

KW_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(copy_2d(copy, stream, 0));
}

KW_API CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(copy_3d(copy, 0, 1));
}

KW_API CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(copy_3d(copy, stream, 0));
}

/* ---- fills: widths count elements ---- */

static int fill(CUdeviceptr address, size_t pitch, unsigned int value, unsigned int element, size_t width, size_t height,
                CUstream stream)
{
    struct cudaMemsetParams filled = {(void *)kw_managed_address(address), pitch, value, element, width, height};
    if (address % element || (height > 1 && pitch % element))
        return CUDA_ERROR_INVALID_VALUE;
    return width && height ? kw_fill_pattern(&filled, stream) : 0;
}

KW_API CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, size_t count)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, 0, value, 1, count, 1, 0));
}

KW_API CUresult cuMemsetD16(CUdeviceptr address, unsigned short value, size_t count)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, 0, value, 2, count, 1, 0));
}

KW_API CUresult cuMemsetD32(CUdeviceptr address, unsigned int value, size_t count)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, 0, value, 4, count, 1, 0));
}

KW_API CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, 0, value, 1, count, 1, stream));
}

KW_API CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, 0, value, 2, count, 1, stream));
}

KW_API CUresult cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, 0, value, 4, count, 1, stream));
}

KW_API CUresult cuMemsetD2D8(CUdeviceptr address, size_t pitch, unsigned char value, size_t width, size_t height)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, pitch, value, 1, width, height, 0));
}

KW_API CUresult cuMemsetD2D16(CUdeviceptr address, size_t pitch, unsigned short value, size_t width, size_t height)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, pitch, value, 2, width, height, 0));
}

KW_API CUresult cuMemsetD2D32(CUdeviceptr address, size_t pitch, unsigned int value, size_t width, size_t height)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(fill(address, pitch, value, 4, width, height, 0));
}
