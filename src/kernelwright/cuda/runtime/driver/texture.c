/* Arrays and texture objects, by the runtime's descriptions of them. */
#include "driver.h"

#include <string.h>

static const struct format {
    CUarray_format number;
    int bits;
    enum cudaChannelFormatKind kind;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

static int channel_format(CUarray_format number, unsigned int channels, struct cudaChannelFormatDesc *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int bits = formats[i].bits;
        if (formats[i].number != number || channels < 1 || channels > 4)
            continue;
        *format = (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                                 channels > 3 ? bits : 0, formats[i].kind};
        return 0;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static int create(CUarray *array, CUarray_format number, unsigned int channels, struct cudaExtent extent,
                  unsigned int flags)
{
    struct cudaChannelFormatDesc format;
    int result = channel_format(number, channels, &format);
    return result ? result : (int)cudaMalloc3DArray((cudaArray_t *)array, &format, extent, flags);
}

KW_API CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *of)
{
    KW_DRIVER_ENTER();
    if (!array || !of)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    return kw_driver_done(create(array, of->Format, of->NumChannels, (struct cudaExtent){of->Width, of->Height, 0}, 0));
}

/* The flags of the two APIs are the same. */
KW_API CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *of)
{
    KW_DRIVER_ENTER();
    if (!array || !of)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    return kw_driver_done(create(array, of->Format, of->NumChannels,
                                 (struct cudaExtent){of->Width, of->Height, of->Depth}, of->Flags));
}

static int describe(CUDA_ARRAY3D_DESCRIPTOR *to, CUarray handle)
{
    const struct cudaArray *array = (const struct cudaArray *)handle;
    if (!kw_is_array(array))
        return CUDA_ERROR_INVALID_HANDLE;
    *to = (CUDA_ARRAY3D_DESCRIPTOR){.Width = array->extent.width,
                                    .Height = array->extent.height,
                                    .Depth = array->extent.depth,
                                    .NumChannels = (unsigned)kw_channels(&array->format),
                                    .Flags = array->flags};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].bits == array->format.x && formats[i].kind == array->format.f)
            to->Format = formats[i].number;
    return 0;
}

KW_API CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *description, CUarray array)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(description ? describe(description, array) : CUDA_ERROR_INVALID_VALUE);
}

KW_API CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *description, CUarray array)
{
    KW_DRIVER_ENTER();
    CUDA_ARRAY3D_DESCRIPTOR told;
    int result = description ? describe(&told, array) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        *description = (CUDA_ARRAY_DESCRIPTOR){told.Width, told.Height, told.Format, told.NumChannels};
    return kw_driver_done(result);
}

KW_API CUresult cuArrayDestroy(CUarray array)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(array ? cudaFreeArray((cudaArray_t)array) : cudaErrorInvalidResourceHandle);
}

/* ---- texture objects ---- */

static int resource_of(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to, struct cudaChannelFormatDesc *format)
{
    memset(to, 0, sizeof *to);
    to->resType = (enum cudaResourceType)from->resType;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        if (!kw_is_array(to->res.array.array))
            return CUDA_ERROR_INVALID_HANDLE;
        *format = to->res.array.array->format;
        return 0;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        *format = (struct cudaChannelFormatDesc){0};
        if (channel_format(from->res.linear.format, from->res.linear.numChannels, format))
            return CUDA_ERROR_INVALID_VALUE;
        to->res.linear.desc = *format;
        return 0;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = (void *)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        if (channel_format(from->res.pitch2D.format, from->res.pitch2D.numChannels, format))
            return CUDA_ERROR_INVALID_VALUE;
        to->res.pitch2D.desc = *format;
        return 0;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* Small integers are read as fractions of 1 unless the flags say otherwise. */
static struct cudaTextureDesc description_of(const CUDA_TEXTURE_DESC *from, const struct cudaChannelFormatDesc *format)
{
    int as_fraction = format->f != cudaChannelFormatKindFloat && format->x < 32 && !(from->flags & CU_TRSF_READ_AS_INTEGER);
    struct cudaTextureDesc to = {
        .filterMode = (enum cudaTextureFilterMode)from->filterMode,
        .readMode = as_fraction ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = (from->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
    };
    for (int i = 0; i < 3; i++)
        to.addressMode[i] = (enum cudaTextureAddressMode)from->addressMode[i];
    memcpy(to.borderColor, from->borderColor, sizeof to.borderColor);
    return to;
}

KW_API CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                                  const CUDA_TEXTURE_DESC *description, const CUDA_RESOURCE_VIEW_DESC *view)
{
    KW_DRIVER_ENTER();
    struct cudaResourceDesc of;
    struct cudaChannelFormatDesc format;
    if (!texture || !resource || !description)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    int result = view ? CUDA_ERROR_NOT_SUPPORTED : resource_of(resource, &of, &format);
    if (result)
        return kw_driver_done(result);
    struct cudaTextureDesc as = description_of(description, &format);
    return kw_driver_done(cudaCreateTextureObject((cudaTextureObject_t *)texture, &of, &as, NULL));
}

KW_API CUresult cuTexObjectDestroy(CUtexObject texture)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDestroyTextureObject(texture));
}
