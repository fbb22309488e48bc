/* Copying and filling, to and from memory, symbols and pitched memory. */
#include "graph.h"

#include <string.h>

/* Where a box lies: in the program's own memory, in memory that only kernels use, or in memory both use. */
enum side { HOST, DEVICE, SHARED };

/* Bytes from the first to the last of a box; 0 when that does not fit in an address space. */
static size_t reach(size_t width, size_t height, size_t depth, size_t pitch, size_t slice)
{
    size_t rows, slices, bytes;
    if (__builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &slices) ||
        __builtin_add_overflow(rows, slices, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
        return 0;
    return bytes;
}

/* Raises cudaErrorInvalidValue for a box that leaves its block, and says so. */
static int find_side(const void *address, size_t bytes, enum side *side)
{
    struct kw_block found;
    *side = HOST;
    if (!address || !bytes)
        return cudaErrorInvalidValue;
    if (!kw_find_block(address, &found) || found.kind == KW_BLOCK_REGISTERED)
        return 0;
    uint64_t behind = found.address + found.size - (uint64_t)address;
    if (bytes > behind) {
        kw_say("%zu bytes were to be copied or filled at %p, where %llu bytes are left of the %llu that were allocated",
               bytes, address, (unsigned long long)behind, (unsigned long long)found.size);
        return cudaErrorInvalidValue;
    }
    *side = found.kind == KW_MEMORY_DEVICE ? DEVICE : SHARED;
    return 0;
}

/* With unified addressing the end that a kind calls the host's is found by its address and may be memory of the device:
 * cuMemcpyHtoD copies between two device buffers. The end called the device's must be memory that the driver knows. */
static int check_direction(enum cudaMemcpyKind kind, enum side to, enum side from)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        return to != DEVICE && from != DEVICE ? 0 : cudaErrorInvalidValue;
    case cudaMemcpyHostToDevice:
        return to != HOST ? 0 : cudaErrorInvalidValue;
    case cudaMemcpyDeviceToHost:
        return from != HOST ? 0 : cudaErrorInvalidValue;
    case cudaMemcpyDeviceToDevice:
        return to != HOST && from != HOST ? 0 : cudaErrorInvalidValue;
    case cudaMemcpyDefault:
        return 0;
    }
    return cudaErrorInvalidMemcpyDirection;
}

static void copy_rows(const struct kw_box *box)
{
    for (size_t z = 0; z < box->depth; z++)
        for (size_t y = 0; y < box->height; y++)
            memmove((char *)box->to + z * box->to_slice + y * box->to_pitch,
                    (const char *)box->from + z * box->from_slice + y * box->from_pitch, box->width);
}

static int note_access(const void *address, size_t bytes, uint64_t stream, uint32_t written)
{
    if (!(kw_welcome->flags & KW_NOTE_HOST_ACCESS))
        return 0;
    struct kw_host_access body = {.address = (uint64_t)address, .size = bytes, .stream = stream, .written = written};
    return kw_command(KW_HOST_ACCESS, &body, sizeof body, NULL, 0);
}

/* By row, so that the bytes between rows are not claimed. */
static int note_rows(const struct kw_box *box, uint64_t stream, uint32_t written)
{
    const char *start = written ? box->to : box->from;
    size_t pitch = written ? box->to_pitch : box->from_pitch;
    size_t slice = written ? box->to_slice : box->from_slice;
    int result = 0;
    if (pitch == box->width || box->height == 1)
        for (size_t z = 0; z < box->depth && !result; z++)
            result = note_access(start + z * slice, box->width * box->height, stream, written);
    else
        for (size_t z = 0; z < box->depth && !result; z++)
            for (size_t y = 0; y < box->height && !result; y++)
                result = note_access(start + z * slice + y * pitch, box->width, stream, written);
    return result;
}

static int copy_on_device(const struct kw_box *box, uint64_t stream)
{
    struct kw_copy body = {
        .to = (uint64_t)box->to,
        .from = (uint64_t)box->from,
        .to_pitch = box->to_pitch,
        .from_pitch = box->from_pitch,
        .to_slice = box->to_slice,
        .from_slice = box->from_slice,
        .width = box->width,
        .height = box->height,
        .depth = box->depth,
        .stream = stream,
    };
    return kw_command(KW_COPY, &body, sizeof body, NULL, 0);
}

/* One row, or part of one, through the staging area, which the worker and the device can both reach. */
static int stage_row(char *to, const char *from, size_t bytes, int to_device, cudaStream_t stream, uint64_t number)
{
    static pthread_mutex_t staging = PTHREAD_MUTEX_INITIALIZER;
    char *area = (char *)kw_welcome->staging_address;
    int result = 0;
    if (!kw_welcome->staging_size)
        return cudaErrorNotSupported;
    pthread_mutex_lock(&staging);
    while (bytes && !result) {
        size_t part = bytes < kw_welcome->staging_size ? bytes : kw_welcome->staging_size;
        struct kw_box box = {to_device ? to : area, to_device ? area : from, part, part, part, part, part, 1, 1};
        if (to_device)
            memcpy(area, from, part);
        result = copy_on_device(&box, number);
        if (!result)
            result = kw_stream_wait(stream);
        if (!result && !to_device)
            memcpy(to, area, part);
        to += part;
        from += part;
        bytes -= part;
    }
    pthread_mutex_unlock(&staging);
    return result;
}

static int stage_rows(const struct kw_box *box, int to_device, cudaStream_t stream, uint64_t number)
{
    int whole = box->to_pitch == box->width && box->from_pitch == box->width;
    size_t height = whole ? 1 : box->height;
    size_t width = whole ? box->width * box->height : box->width;
    int result = 0;
    for (size_t z = 0; z < box->depth && !result; z++)
        for (size_t y = 0; y < height && !result; y++)
            result = stage_row((char *)box->to + z * box->to_slice + y * box->to_pitch,
                               (const char *)box->from + z * box->from_slice + y * box->from_pitch, width, to_device,
                               stream, number);
    return result;
}

static int copy_with_host(const struct kw_box *box, enum side to, enum side from, cudaStream_t stream, uint64_t number)
{
    int result = kw_is_busy() ? kw_stream_wait(stream) : 0;
    if (result)
        return result;
    if (!(kw_welcome->flags & KW_ARENA_IS_DEVICE) && (to == DEVICE || from == DEVICE))
        return stage_rows(box, to == DEVICE, stream, number);
    copy_rows(box);
    if (to != HOST)
        result = note_rows(box, number, 1);
    if (from != HOST && !result)
        result = note_rows(box, number, 0);
    return result;
}

static int copy_box(const struct kw_box *given, enum cudaMemcpyKind kind, cudaStream_t stream, uint64_t number, int wait)
{
    int result;
    if (!given->width || !given->height || !given->depth)
        return 0;
    struct kw_work work = {.type = cudaGraphNodeTypeMemcpy};
    work.copy.box = *given;
    work.copy.kind = kind;
    if (kw_captured(number, work, &result))
        return result;
    struct kw_box box = *given;
    box.to = (void *)kw_managed_address((uint64_t)box.to);
    box.from = (const void *)kw_managed_address((uint64_t)box.from);
    enum side to, from;
    result = find_side(box.to, reach(box.width, box.height, box.depth, box.to_pitch, box.to_slice), &to);
    if (!result)
        result = find_side(box.from, reach(box.width, box.height, box.depth, box.from_pitch, box.from_slice), &from);
    if (!result)
        result = check_direction(kind, to, from);
    if (result)
        return result;
    if (to == HOST || from == HOST)
        return copy_with_host(&box, to, from, stream, number);
    result = copy_on_device(&box, number);
    /* As CUDA does, a copy between device memory does not wait even in its synchronous form. */
    if (!result && wait && (to == SHARED || from == SHARED))
        result = kw_stream_wait(stream);
    return result;
}

/* A copy may be given to a stream of another device (CUDA C++ Programming Guide, "Stream and Event Behavior"). */
int kw_copy_box(const struct kw_box *given, enum cudaMemcpyKind kind, cudaStream_t stream, int wait)
{
    uint64_t number;
    int device, current = kw_device;
    int result = kw_stream_anywhere(stream, &number, &device);
    if (result)
        return result;
    kw_device = device;
    result = copy_box(given, kind, stream, number, wait);
    kw_device = current;
    return result;
}

int kw_copy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream, int wait)
{
    struct kw_box box = {to, from, size, size, size, size, size, 1, 1};
    return kw_copy_box(&box, kind, stream, wait);
}

/* ---- copies ---- */

KW_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(kw_copy(to, from, bytes, kind, 0, 1));
}

KW_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(kw_copy(to, from, bytes, kind, stream, 0));
}

static int check_devices(int to, int from)
{
    uint32_t count = kw_welcome->device_count;
    return to >= 0 && from >= 0 && (uint32_t)to < count && (uint32_t)from < count ? 0 : cudaErrorInvalidDevice;
}

KW_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    KW_ENTER();
    int result = check_devices(to_device, from_device);
    return kw_done(result ? result : kw_copy(to, from, bytes, cudaMemcpyDeviceToDevice, 0, 1));
}

KW_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                       cudaStream_t stream)
{
    KW_ENTER();
    int result = check_devices(to_device, from_device);
    return kw_done(result ? result : kw_copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream, 0));
}

static int copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                   enum cudaMemcpyKind kind, cudaStream_t stream, int wait)
{
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidPitchValue;
    struct kw_box box = {to, from, to_pitch, from_pitch, 0, 0, width, height, 1};
    return kw_copy_box(&box, kind, stream, wait);
}

KW_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, 0, 1));
}

KW_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, 0));
}

/* One end of a 3D copy: an array or pitched memory. */
struct end {
    char *start;
    size_t pitch, slice;
};

static int find_end(const struct cudaArray *array, struct cudaPitchedPtr memory, struct cudaPos at,
                    struct cudaExtent bytes, struct end *end)
{
    if ((array != NULL) == (memory.ptr != NULL))
        return cudaErrorInvalidValue;
    if (!array) {
        if (at.x + bytes.width > memory.pitch)
            return cudaErrorInvalidPitchValue;
        *end = (struct end){memory.ptr, memory.pitch, memory.pitch * memory.ysize};
        end->start += at.z * end->slice + at.y * end->pitch + at.x;
        return 0;
    }
    if (!kw_is_array(array))
        return cudaErrorInvalidResourceHandle;
    size_t element = kw_element_size(&array->format);
    size_t rows = array->extent.height ? array->extent.height : 1;
    size_t slices = array->extent.depth ? array->extent.depth : 1;
    if (at.x * element + bytes.width > array->extent.width * element || at.y + bytes.height > rows ||
        at.z + bytes.depth > slices)
        return cudaErrorInvalidValue;
    *end = (struct end){array->data, array->pitch, array->slice};
    end->start += at.z * end->slice + at.y * end->pitch + at.x * element;
    return 0;
}

int kw_box_of_3d(const struct cudaMemcpy3DParms *copy, struct kw_box *box)
{
    if (!copy)
        return cudaErrorInvalidValue;
    struct cudaExtent bytes = copy->extent;
    const struct cudaArray *array = copy->srcArray ? copy->srcArray : copy->dstArray;
    /* With an array at either end, widths count its elements. */
    if (array) {
        if (!kw_is_array(array))
            return cudaErrorInvalidResourceHandle;
        bytes.width *= kw_element_size(&array->format);
    }
    struct end to, from;
    int result = find_end(copy->dstArray, copy->dstPtr, copy->dstPos, bytes, &to);
    if (!result)
        result = find_end(copy->srcArray, copy->srcPtr, copy->srcPos, bytes, &from);
    if (result)
        return result;
    *box = (struct kw_box){to.start,   from.start,  to.pitch,     from.pitch, to.slice,
                           from.slice, bytes.width, bytes.height, bytes.depth};
    return 0;
}

static int copy_3d(const struct cudaMemcpy3DParms *copy, cudaStream_t stream, int wait)
{
    struct kw_box box;
    int result = kw_box_of_3d(copy, &box);
    return result ? result : kw_copy_box(&box, copy->kind, stream, wait);
}

KW_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *copy)
{
    KW_ENTER();
    return kw_done(copy_3d(copy, 0, 1));
}

KW_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(copy_3d(copy, stream, 0));
}

/* ---- fills ---- */

int kw_fill(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, int wait)
{
    uint64_t number;
    int device;
    enum side side;
    int result = kw_stream_anywhere(stream, &number, &device);
    if (result || !width || !height)
        return result;
    if (height > 1 && width > pitch)
        return cudaErrorInvalidPitchValue;
    struct kw_work work = {.type = cudaGraphNodeTypeMemset};
    work.fill = (struct cudaMemsetParams){pointer, pitch, (uint8_t)value, 1, width, height};
    if (kw_captured(number, work, &result))
        return result;
    pointer = (void *)kw_managed_address((uint64_t)pointer);
    result = find_side(pointer, reach(width, height, 1, pitch, 0), &side);
    if (result || side == HOST)
        return cudaErrorInvalidValue;
    struct kw_fill body = {
        .address = (uint64_t)pointer,
        .pitch = pitch,
        .width = width,
        .height = height,
        .stream = number,
        .value = (uint8_t)value,
    };
    result = kw_command_to(device, KW_FILL, &body, sizeof body);
    return result || !wait || side == DEVICE ? result : kw_stream_wait(stream);
}

KW_API cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    KW_ENTER();
    return kw_done(kw_fill(pointer, bytes, value, bytes, 1, 0, 1));
}

KW_API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(kw_fill(pointer, bytes, value, bytes, 1, stream, 0));
}

KW_API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    KW_ENTER();
    return kw_done(kw_fill(pointer, pitch, value, width, height, 0, 1));
}

KW_API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(kw_fill(pointer, pitch, value, width, height, stream, 0));
}

KW_API cudaError_t cudaMemset3D(struct cudaPitchedPtr memory, int value, struct cudaExtent extent)
{
    KW_ENTER();
    int result = 0;
    for (size_t z = 0; z < extent.depth && !result; z++)
        result = kw_fill((char *)memory.ptr + z * memory.pitch * memory.ysize, memory.pitch, value, extent.width,
                      extent.height, 0, 1);
    return kw_done(result);
}

/* ---- symbols ---- */

int kw_symbol(const void *host, uint64_t *address, uint64_t *size)
{
    struct kw_variable *variable = kw_find_variable(host);
    if (!variable)
        return cudaErrorInvalidSymbol;
    uint64_t *known_address = &variable->address[kw_device];
    if (variable->shared) {
        *address = variable->shared;
        *size = variable->size;
        return 0;
    }
    if (!*known_address) {
        struct kw_handle which = {.handle = variable->number};
        struct kw_memory memory;
        int result = kw_request(KW_SYMBOL_ADDRESS, &which, sizeof which, &memory, sizeof memory);
        struct kw_block known;
        if (result)
            return result;
        /* A managed variable lies in a block that is known already. */
        if (!kw_find_block((void *)memory.address, &known)) {
            result = kw_add_block((struct kw_block){
                .address = memory.address,
                .size = memory.size,
                .kind = KW_MEMORY_DEVICE,
                .device = (uint16_t)kw_device,
                .is_symbol = 1,
            });
            if (result)
                return result;
        }
        variable->size = memory.size;
        *known_address = memory.address;
    }
    *address = *known_address;
    *size = variable->size;
    return 0;
}

static int symbol_range(const void *symbol, size_t bytes, size_t offset, void **start)
{
    uint64_t address, size;
    int result = kw_symbol(symbol, &address, &size);
    if (result)
        return result;
    if (offset > size || bytes > size - offset)
        return cudaErrorInvalidValue;
    *start = (char *)address + offset;
    return 0;
}

static int copy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                          cudaStream_t stream, int wait)
{
    void *to;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return cudaErrorInvalidMemcpyDirection;
    int result = symbol_range(symbol, bytes, offset, &to);
    return result ? result : kw_copy(to, from, bytes, kind, stream, wait);
}

static int copy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                            cudaStream_t stream, int wait)
{
    void *from;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return cudaErrorInvalidMemcpyDirection;
    int result = symbol_range(symbol, bytes, offset, &from);
    return result ? result : kw_copy(to, from, bytes, kind, stream, wait);
}

KW_API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    KW_ENTER();
    uint64_t address, size;
    if (!pointer)
        return kw_done(cudaErrorInvalidValue);
    int result = kw_symbol(symbol, &address, &size);
    if (!result)
        *pointer = (void *)address;
    return kw_done(result);
}

KW_API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    KW_ENTER();
    uint64_t address, size;
    if (!bytes)
        return kw_done(cudaErrorInvalidValue);
    int result = kw_symbol(symbol, &address, &size);
    if (!result)
        *bytes = size;
    return kw_done(result);
}

KW_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_to_symbol(symbol, from, bytes, offset, kind, 0, 1));
}

KW_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind)
{
    KW_ENTER();
    return kw_done(copy_from_symbol(to, symbol, bytes, offset, kind, 0, 1));
}

KW_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(copy_to_symbol(symbol, from, bytes, offset, kind, stream, 0));
}

KW_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(copy_from_symbol(to, symbol, bytes, offset, kind, stream, 0));
}
