/*
 * Textures. Device code fetches with ordinary loads through a kwTextureDescriptor (texture_types.h), so a texture
 * object is the device address of a descriptor, a texture reference a device variable that holds such an address, and
 * the worker need not know of either.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

/* Of a texture or a surface. */
struct object {
    uint64_t handle;
    int is_surface;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc description;
    struct object *next;
};

/* A texture reference that has been bound at least once. */
struct binding {
    const struct textureReference *reference;
    int device;
    void *descriptor;
    int is_bound;
    struct binding *next;
};

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static struct binding *bindings;

/* ---- what device code reads ---- */

/* Memory of a resource: where it is, how large, and of which texels. */
static int describe_resource(const struct cudaResourceDesc *resource, struct kwTextureDescriptor *to,
                             struct cudaChannelFormatDesc *format)
{
    size_t reach;
    struct kw_block found;
    const struct cudaArray *of = resource->res.array.array;
    switch (resource->resType) {
    case cudaResourceTypeArray:
        if (!kw_is_array(of))
            return cudaErrorInvalidResourceHandle;
        *format = of->format;
        to->data = (uint64_t)of->data;
        to->row_bytes = of->pitch;
        to->slice_bytes = of->slice;
        to->width = (unsigned)of->extent.width;
        to->height = (unsigned)of->extent.height;
        to->depth = (unsigned)of->extent.depth;
        return 0;
    case cudaResourceTypeLinear:
        *format = resource->res.linear.desc;
        if (!kw_channels(format))
            return cudaErrorInvalidChannelDescriptor;
        to->data = kw_managed_address((uint64_t)resource->res.linear.devPtr);
        to->width = (unsigned)(resource->res.linear.sizeInBytes / kw_element_size(format));
        to->row_bytes = to->slice_bytes = resource->res.linear.sizeInBytes;
        /* It may be longer than its memory, as NVIDIA's driver lets it be: what is fetched behind that is read past a buffer. */
        reach = 1;
        break;
    case cudaResourceTypePitch2D:
        *format = resource->res.pitch2D.desc;
        if (!kw_channels(format))
            return cudaErrorInvalidChannelDescriptor;
        to->data = kw_managed_address((uint64_t)resource->res.pitch2D.devPtr);
        to->width = (unsigned)resource->res.pitch2D.width;
        to->height = (unsigned)resource->res.pitch2D.height;
        to->row_bytes = resource->res.pitch2D.pitchInBytes;
        if (!to->height || to->width * kw_element_size(format) > to->row_bytes)
            return cudaErrorInvalidValue;
        to->slice_bytes = to->row_bytes * to->height;
        reach = to->row_bytes * (to->height - 1) + to->width * kw_element_size(format);
        break;
    default:
        return cudaErrorNotSupported;
    }
    if (!to->width || !kw_find_block((void *)to->data, &found) || found.kind == KW_BLOCK_REGISTERED ||
        reach > found.address + found.size - to->data)
        return cudaErrorInvalidValue;
    return 0;
}

static int describe_texture(const struct cudaResourceDesc *resource, const struct cudaTextureDesc *texture,
                            struct kwTextureDescriptor *to)
{
    struct cudaChannelFormatDesc format;
    memset(to, 0, sizeof *to);
    int result = describe_resource(resource, to, &format);
    if (result)
        return result;
    int is_float = format.f == cudaChannelFormatKindFloat;
    if (texture->readMode == cudaReadModeNormalizedFloat && (is_float || format.x == 32))
        return cudaErrorInvalidNormSetting;
    if (texture->filterMode == cudaFilterModeLinear && !is_float && texture->readMode == cudaReadModeElementType)
        return cudaErrorInvalidFilterSetting;
    if (texture->sRGB)
        return cudaErrorNotSupported;
    to->channels = kw_channels(&format);
    to->channel_bits = format.x;
    to->channel_kind = format.f;
    to->filter_mode = texture->filterMode;
    to->read_mode = texture->readMode;
    to->normalized_coords = texture->normalizedCoords != 0;
    memcpy(to->border, texture->borderColor, sizeof to->border);
    for (int i = 0; i < 3; i++)
        to->address_mode[i] = texture->addressMode[i];
    return 0;
}

/* ---- texture and surface objects ---- */

static struct object *find_object(uint64_t handle, int is_surface)
{
    struct object *each = objects;
    while (each && (each->handle != handle || each->is_surface != is_surface))
        each = each->next;
    return each;
}

/* The object that owns what `written` becomes on the device. */
static int create_object(cudaTextureObject_t *handle, struct object content, const struct kwTextureDescriptor *written)
{
    void *place;
    struct object *created = calloc(1, sizeof *created);
    int result = created ? kw_allocate(sizeof *written, KW_MEMORY_DEVICE, 0, &place) : cudaErrorMemoryAllocation;
    if (!result)
        result = kw_copy(place, written, sizeof *written, cudaMemcpyHostToDevice, 0, 1);
    if (result) {
        free(created);
        return result;
    }
    *created = content;
    created->handle = (uint64_t)place;
    pthread_mutex_lock(&table);
    created->next = objects;
    objects = created;
    pthread_mutex_unlock(&table);
    *handle = created->handle;
    return 0;
}

static int destroy_object(uint64_t handle, int is_surface)
{
    struct object *dropped = NULL;
    if (!handle)
        return 0;
    pthread_mutex_lock(&table);
    for (struct object **link = &objects; *link; link = &(*link)->next)
        if ((*link)->handle == handle && (*link)->is_surface == is_surface) {
            dropped = *link;
            *link = dropped->next;
            break;
        }
    pthread_mutex_unlock(&table);
    if (!dropped)
        return cudaErrorInvalidValue;
    free(dropped);
    return kw_release((void *)handle);
}

static int find_resource(struct cudaResourceDesc *resource, uint64_t handle, int is_surface)
{
    pthread_mutex_lock(&table);
    const struct object *found = find_object(handle, is_surface);
    if (found && resource)
        *resource = found->resource;
    pthread_mutex_unlock(&table);
    return found && resource ? 0 : cudaErrorInvalidValue;
}

KW_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                                           const struct cudaTextureDesc *description,
                                           const struct cudaResourceViewDesc *view)
{
    KW_ENTER();
    struct kwTextureDescriptor written;
    if (!texture || !resource || !description)
        return kw_done(cudaErrorInvalidValue);
    if (view)
        return kw_done(cudaErrorNotSupported);
    int result = describe_texture(resource, description, &written);
    if (!result)
        result = create_object(texture, (struct object){.resource = *resource, .description = *description}, &written);
    return kw_done(result);
}

KW_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    KW_ENTER();
    return kw_done(destroy_object(texture, 0));
}

KW_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t texture)
{
    KW_ENTER();
    return kw_done(find_resource(resource, texture, 0));
}

/* A surface is an array that was made for it. */
KW_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource)
{
    KW_ENTER();
    const struct cudaTextureDesc plain = {.filterMode = cudaFilterModePoint};
    struct kwTextureDescriptor written;
    if (!surface || !resource || resource->resType != cudaResourceTypeArray)
        return kw_done(cudaErrorInvalidValue);
    int result = describe_texture(resource, &plain, &written);
    if (!result && !(resource->res.array.array->flags & cudaArraySurfaceLoadStore))
        result = cudaErrorInvalidValue;
    if (!result)
        result = create_object(surface, (struct object){.is_surface = 1, .resource = *resource}, &written);
    return kw_done(result);
}

KW_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    KW_ENTER();
    return kw_done(destroy_object(surface, 1));
}

KW_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t surface)
{
    KW_ENTER();
    return kw_done(find_resource(resource, surface, 1));
}

KW_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *description, cudaTextureObject_t texture)
{
    KW_ENTER();
    pthread_mutex_lock(&table);
    const struct object *found = find_object(texture, 0);
    if (found && description)
        *description = found->description;
    pthread_mutex_unlock(&table);
    return kw_done(found && description ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- texture references ---- */

/* The binding of a registered reference on this thread's device, made when it is not there yet; NULL when there is no memory for it. */
static struct binding *find_binding(const struct textureReference *reference, int make)
{
    struct binding *found = bindings;
    while (found && (found->reference != reference || found->device != kw_device))
        found = found->next;
    if (found || !make)
        return found;
    found = calloc(1, sizeof *found);
    if (found && kw_allocate(sizeof(struct kwTextureDescriptor), KW_MEMORY_DEVICE, 0, &found->descriptor)) {
        free(found);
        return NULL;
    }
    if (found) {
        found->reference = reference;
        found->device = kw_device;
        found->next = bindings;
        bindings = found;
    }
    return found;
}

static int write_binding(const struct binding *binding, const struct kwTextureDescriptor *written)
{
    uint64_t variable, size;
    uint64_t value = (uint64_t)binding->descriptor;
    int result = kw_symbol(binding->reference, &variable, &size);
    if (!result && size < sizeof value)
        result = cudaErrorInvalidTexture;
    if (!result)
        result = kw_copy(binding->descriptor, written, sizeof *written, cudaMemcpyHostToDevice, 0, 1);
    if (!result)
        result = kw_copy((void *)variable, &value, sizeof value, cudaMemcpyHostToDevice, 0, 1);
    return result;
}

static int bind(const struct textureReference *reference, const struct cudaResourceDesc *resource)
{
    const struct kw_variable *variable = kw_find_variable(reference);
    if (!variable)
        return cudaErrorInvalidTexture;
    struct cudaTextureDesc description = {
        .filterMode = reference->filterMode,
        .readMode = (enum cudaTextureReadMode)variable->read_mode,
        .sRGB = reference->sRGB,
        .normalizedCoords = reference->normalized,
    };
    struct kwTextureDescriptor written;
    memcpy(description.addressMode, reference->addressMode, sizeof description.addressMode);
    int result = describe_texture(resource, &description, &written);
    if (result)
        return result;
    pthread_mutex_lock(&table);
    struct binding *binding = find_binding(reference, 1);
    result = binding ? write_binding(binding, &written) : cudaErrorMemoryAllocation;
    if (!result)
        binding->is_bound = 1;
    pthread_mutex_unlock(&table);
    return result;
}

/* Bytes from `pointer` to the end of its block: what "everything" means for a binding without a size. */
static size_t rest_of_block(const void *pointer)
{
    struct kw_block found;
    uint64_t known = kw_managed_address((uint64_t)pointer);
    return kw_find_block((const void *)known, &found) ? found.address + found.size - known : 0;
}

KW_API cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texture, const void *pointer,
                                   const struct cudaChannelFormatDesc *format, size_t bytes)
{
    KW_ENTER();
    if (!texture || !pointer || !format)
        return kw_done(cudaErrorInvalidValue);
    size_t rest = rest_of_block(pointer);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
    resource.res.linear.devPtr = (void *)pointer;
    resource.res.linear.desc = *format;
    resource.res.linear.sizeInBytes = bytes < rest ? bytes : rest;
    int result = bind(texture, &resource);
    if (!result && offset)
        *offset = 0;
    return kw_done(result);
}

KW_API cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texture, const void *pointer,
                                     const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                                     size_t pitch)
{
    KW_ENTER();
    if (!texture || !pointer || !format)
        return kw_done(cudaErrorInvalidValue);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypePitch2D};
    resource.res.pitch2D.devPtr = (void *)pointer;
    resource.res.pitch2D.desc = *format;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    int result = bind(texture, &resource);
    if (!result && offset)
        *offset = 0;
    return kw_done(result);
}

KW_API cudaError_t cudaBindTextureToArray(const struct textureReference *texture, cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc *format)
{
    KW_ENTER();
    if (!texture || !format)
        return kw_done(cudaErrorInvalidValue);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    resource.res.array.array = (cudaArray_t)array;
    return kw_done(bind(texture, &resource));
}

static int is_bound(const struct textureReference *texture, int unbind)
{
    pthread_mutex_lock(&table);
    struct binding *binding = find_binding(texture, 0);
    int bound = binding && binding->is_bound;
    if (bound && unbind)
        binding->is_bound = 0;
    pthread_mutex_unlock(&table);
    return bound;
}

KW_API cudaError_t cudaUnbindTexture(const struct textureReference *texture)
{
    KW_ENTER();
    if (!texture || !kw_find_variable(texture))
        return kw_done(cudaErrorInvalidTexture);
    is_bound(texture, 1);
    return cudaSuccess;
}

KW_API cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texture)
{
    KW_ENTER();
    if (!offset)
        return kw_done(cudaErrorInvalidValue);
    if (!is_bound(texture, 0))
        return kw_done(cudaErrorInvalidTextureBinding);
    *offset = 0;
    return cudaSuccess;
}

KW_API cudaError_t cudaGetTextureReference(const struct textureReference **texture, const void *symbol)
{
    KW_ENTER();
    if (!texture)
        return kw_done(cudaErrorInvalidValue);
    if (!kw_find_variable(symbol))
        return kw_done(cudaErrorInvalidTexture);
    *texture = symbol;
    return cudaSuccess;
}

/* After a reset of this thread's device, which has taken their memory; before its blocks are dropped. */
void kw_drop_all_textures(void)
{
    pthread_mutex_lock(&table);
    for (struct object **link = &objects; *link;) {
        struct object *each = *link;
        if (!kw_is_of_this_device((void *)each->handle)) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        free(each);
    }
    for (struct binding **link = &bindings; *link;) {
        struct binding *each = *link;
        if (each->device != kw_device) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        free(each);
    }
    pthread_mutex_unlock(&table);
}
