/* Memory pools: one per device, and memory is given back at once. */
#include "client.h"

struct CUmemPoolHandle_st {
    uint64_t attribute[cudaMemPoolAttrUsedMemHigh + 1];
};

enum { POOLS = 16 };
static struct CUmemPoolHandle_st pool[POOLS];

static int find_pool(cudaMemPool_t wanted)
{
    return wanted >= pool && wanted < pool + POOLS ? 0 : cudaErrorInvalidValue;
}

KW_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *result, int device)
{
    KW_ENTER();
    if (!result)
        return kw_done(cudaErrorInvalidValue);
    if (device < 0 || (uint32_t)device >= kw_welcome->device_count || device >= POOLS)
        return kw_done(cudaErrorInvalidDevice);
    *result = &pool[device];
    return kw_done(cudaSuccess);
}

KW_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *result, int device)
{
    return cudaDeviceGetDefaultMemPool(result, device);
}

KW_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t wanted)
{
    KW_ENTER();
    cudaMemPool_t own = NULL;
    cudaError_t result = cudaDeviceGetDefaultMemPool(&own, device);
    return kw_done(result ? result : wanted == own ? cudaSuccess : cudaErrorInvalidValue);
}

/* The reuse policies are ints, thresholds and amounts 64-bit. */
static int is_policy(enum cudaMemPoolAttr attribute)
{
    return attribute >= cudaMemPoolReuseFollowEventDependencies &&
           attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

KW_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t of, enum cudaMemPoolAttr attribute, void *value)
{
    KW_ENTER();
    if (find_pool(of) || !value || attribute < cudaMemPoolReuseFollowEventDependencies ||
        attribute > cudaMemPoolAttrUsedMemHigh)
        return kw_done(cudaErrorInvalidValue);
    of->attribute[attribute] = is_policy(attribute) ? (uint64_t)*(int *)value : *(uint64_t *)value;
    return kw_done(cudaSuccess);
}

KW_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t of, enum cudaMemPoolAttr attribute, void *value)
{
    KW_ENTER();
    if (find_pool(of) || !value || attribute < cudaMemPoolReuseFollowEventDependencies ||
        attribute > cudaMemPoolAttrUsedMemHigh)
        return kw_done(cudaErrorInvalidValue);
    if (is_policy(attribute))
        *(int *)value = (int)of->attribute[attribute];
    else
        *(uint64_t *)value = of->attribute[attribute];
    return kw_done(cudaSuccess);
}

KW_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t of, size_t keep_bytes)
{
    KW_ENTER();
    (void)keep_bytes;
    return kw_done(find_pool(of));
}

/* Another device reaches a pool as it reaches all memory of the pool's device: access is not set pool by pool. */
KW_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t of, const struct cudaMemAccessDesc *list, size_t count)
{
    KW_ENTER();
    int result = find_pool(of);
    if (!result && (!list || !count))
        result = cudaErrorInvalidValue;
    for (size_t i = 0; !result && i < count; i++) {
        int owner = (int)(of - pool), device = list[i].location.id, may = list[i].flags == cudaMemAccessFlagsProtReadWrite;
        if (list[i].location.type != cudaMemLocationTypeDevice || (!may && list[i].flags != cudaMemAccessFlagsProtNone))
            result = cudaErrorInvalidValue;
        else if (kw_check_device(device))
            result = cudaErrorInvalidDevice;
        else if (device != owner)
            result = kw_let_reach(device, owner, may);
        else if (!may)
            result = cudaErrorInvalidDevice; /* a pool's own device reaches it */
    }
    return kw_done(result);
}

KW_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t of, struct cudaMemLocation *location)
{
    KW_ENTER();
    if (find_pool(of) || !flags || !location || location->type != cudaMemLocationTypeDevice ||
        kw_check_device(location->id))
        return kw_done(cudaErrorInvalidValue);
    int owner = (int)(of - pool);
    *flags = location->id == owner || kw_reaches(location->id, owner) ? cudaMemAccessFlagsProtReadWrite
                                                                      : cudaMemAccessFlagsProtNone;
    return kw_done(cudaSuccess);
}
