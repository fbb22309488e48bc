/* Arrays: linear device memory with pitched rows, and what their texels are. */
#include "client.h"

#include <stdlib.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static const struct cudaArray **array;
static size_t arrays, room;

/* ---- formats ---- */

/* One, two or four channels of 8, 16 or 32 bits each, all alike. Returns how many; 0 for a format that is none. */
int kw_channels(const struct cudaChannelFormatDesc *format)
{
    const int bits[4] = {format->x, format->y, format->z, format->w};
    int channels = 0;
    while (channels < 4 && bits[channels])
        channels++;
    for (int i = 0; i < 4; i++)
        if (bits[i] != (i < channels ? bits[0] : 0))
            return 0;
    if (channels == 0 || channels == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32))
        return 0;
    if ((int)format->f < cudaChannelFormatKindSigned || format->f > cudaChannelFormatKindFloat)
        return 0;
    return format->f == cudaChannelFormatKindFloat && bits[0] == 8 ? 0 : channels;
}

size_t kw_element_size(const struct cudaChannelFormatDesc *format)
{
    return (size_t)(format->x + format->y + format->z + format->w) / 8;
}

KW_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- arrays ---- */

int kw_is_array(const struct cudaArray *wanted)
{
    int found = 0;
    pthread_mutex_lock(&table);
    for (size_t i = 0; i < arrays && !found; i++)
        found = array[i] == wanted;
    pthread_mutex_unlock(&table);
    return found;
}

static int remember_array(const struct cudaArray *added)
{
    pthread_mutex_lock(&table);
    if (arrays == room) {
        size_t larger = room ? 2 * room : 16;
        void *moved = realloc(array, larger * sizeof *array);
        if (!moved) {
            pthread_mutex_unlock(&table);
            return cudaErrorMemoryAllocation;
        }
        array = moved;
        room = larger;
    }
    array[arrays++] = added;
    pthread_mutex_unlock(&table);
    return 0;
}

static int forget_array(const struct cudaArray *dropped)
{
    int found = 0;
    pthread_mutex_lock(&table);
    for (size_t i = 0; i < arrays; i++)
        if (array[i] == dropped) {
            array[i] = array[--arrays];
            found = 1;
            break;
        }
    pthread_mutex_unlock(&table);
    return found ? 0 : cudaErrorInvalidResourceHandle;
}

static int create_array(cudaArray_t *result, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                        unsigned int flags)
{
    enum {
        ROW = 512,
        ALLOWED = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather | cudaArrayCubemap
    };
    if (!result || !format || !extent.width || (extent.depth && !extent.height && !(flags & cudaArrayLayered)))
        return cudaErrorInvalidValue;
    if (!kw_channels(format))
        return cudaErrorInvalidChannelDescriptor;
    if (flags & ~(unsigned)ALLOWED)
        return cudaErrorInvalidValue;
    /* Six square faces; of a layered one, of each cube. */
    if (flags & cudaArrayCubemap && (extent.width != extent.height || !extent.depth || extent.depth % 6 ||
                                     (extent.depth > 6 && !(flags & cudaArrayLayered))))
        return cudaErrorInvalidValue;
    size_t rows = extent.height ? extent.height : 1;
    size_t slices = extent.depth ? extent.depth : 1;
    size_t row, slice, bytes;
    if (__builtin_mul_overflow(extent.width, kw_element_size(format), &row) || row > SIZE_MAX - ROW)
        return cudaErrorInvalidValue;
    row = (row + ROW - 1) / ROW * ROW;
    if (__builtin_mul_overflow(row, rows, &slice) || __builtin_mul_overflow(slice, slices, &bytes))
        return cudaErrorInvalidValue;
    struct cudaArray *created = calloc(1, sizeof *created);
    void *data = NULL;
    int error = created ? kw_allocate(bytes, KW_MEMORY_DEVICE, 0, &data) : cudaErrorMemoryAllocation;
    if (!error)
        error = remember_array(created);
    if (error) {
        if (data)
            kw_release(data);
        free(created);
        return error;
    }
    *created = (struct cudaArray){*format, extent, flags, data, row, slice};
    *result = created;
    return 0;
}

KW_API cudaError_t cudaMallocArray(cudaArray_t *result, const struct cudaChannelFormatDesc *format, size_t width,
                                   size_t height, unsigned int flags)
{
    KW_ENTER();
    if (flags & (cudaArrayLayered | cudaArrayCubemap))
        return kw_done(cudaErrorInvalidValue);
    return kw_done(create_array(result, format, (struct cudaExtent){width, height, 0}, flags));
}

KW_API cudaError_t cudaMalloc3DArray(cudaArray_t *result, const struct cudaChannelFormatDesc *format,
                                     struct cudaExtent extent, unsigned int flags)
{
    KW_ENTER();
    return kw_done(create_array(result, format, extent, flags));
}

KW_API cudaError_t cudaFreeArray(cudaArray_t freed)
{
    KW_ENTER();
    int result = freed ? forget_array(freed) : 0;
    if (result || !freed)
        return kw_done(result);
    result = kw_release(freed->data);
    free(freed);
    return kw_done(result);
}

KW_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                                    unsigned int *flags, cudaArray_t of)
{
    KW_ENTER();
    if (!kw_is_array(of))
        return kw_done(cudaErrorInvalidResourceHandle);
    if (format)
        *format = of->format;
    if (extent)
        *extent = of->extent;
    if (flags)
        *flags = of->flags;
    return cudaSuccess;
}

KW_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t of)
{
    KW_ENTER();
    if (!format)
        return kw_done(cudaErrorInvalidValue);
    if (!kw_is_array(of))
        return kw_done(cudaErrorInvalidResourceHandle);
    *format = of->format;
    return cudaSuccess;
}

/* A copy of rows to or from an array; x in bytes, as in CUDA. A copy of consecutive bytes may run over several rows. */
static int copy_array(const struct cudaArray *in, size_t x, size_t y, char *other, size_t other_pitch, size_t width,
                      size_t height, enum cudaMemcpyKind kind, int to_array, cudaStream_t stream, int wait)
{
    if (!kw_is_array(in))
        return cudaErrorInvalidResourceHandle;
    size_t row = in->extent.width * kw_element_size(&in->format);
    size_t rows = in->extent.height ? in->extent.height : 1;
    if (width > row || x > row - width || height > rows || y > rows - height)
        return cudaErrorInvalidValue;
    if (width > other_pitch)
        return cudaErrorInvalidPitchValue;
    char *start = in->data + y * in->pitch + x;
    struct kw_box box = {.width = width, .height = height, .depth = 1};
    box.to = to_array ? start : other;
    box.to_pitch = to_array ? in->pitch : other_pitch;
    box.from = to_array ? other : start;
    box.from_pitch = to_array ? other_pitch : in->pitch;
    return kw_copy_box(&box, kind, stream, wait);
}

static int copy_bytes(const struct cudaArray *in, size_t x, size_t y, char *other, size_t bytes,
                      enum cudaMemcpyKind kind, int to_array)
{
    if (!kw_is_array(in))
        return cudaErrorInvalidResourceHandle;
    size_t row = in->extent.width * kw_element_size(&in->format);
    int result = x < row || !bytes ? 0 : cudaErrorInvalidValue;
    while (bytes && !result) {
        size_t part = bytes < row - x ? bytes : row - x;
        result = copy_array(in, x, y, other, part, part, 1, kind, to_array, 0, 1);
        other += part;
        bytes -= part;
        x = 0;
        y++;
    }
    return result;
}

KW_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_bytes(to, x, y, (char *)from, bytes, kind, 1));
}

KW_API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                       enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_bytes(from, x, y, to, bytes, kind, 0));
}

KW_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t from_pitch,
                                       size_t width, size_t height, enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_array(to, x, y, (char *)from, from_pitch, width, height, kind, 1, 0, 1));
}

KW_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t from_pitch,
                                            size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(copy_array(to, x, y, (char *)from, from_pitch, width, height, kind, 1, stream, 0));
}

KW_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t to_pitch, cudaArray_const_t from, size_t x, size_t y,
                                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_array(from, x, y, to, to_pitch, width, height, kind, 0, 0, 1));
}

void kw_drop_all_arrays(void)
{
    pthread_mutex_lock(&table);
    size_t kept = 0;
    for (size_t i = 0; i < arrays; i++)
        if (!kw_is_of_this_device(array[i]->data))
            array[kept++] = array[i];
    arrays = kept;
    pthread_mutex_unlock(&table);
}
