/* Devices: counting, choosing, limits, waiting for all work, starting over. */
#include "client.h"

/* ---- versions and counting ---- */

KW_API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return kw_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* Without a driver the version is 0, and that is no error. */
KW_API cudaError_t cudaDriverGetVersion(int *version)
{
    const struct kw_device_properties *told;
    if (!version)
        return kw_done(cudaErrorInvalidValue);
    *version = 0;
    if (!kw_connect() && !kw_ask_properties(0, &told))
        *version = (int)told->driver_version;
    return cudaSuccess;
}

KW_API cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return kw_done(cudaErrorInvalidValue);
    *count = 0;
    KW_ENTER();
    *count = (int)(kw_welcome->device_count < KW_DEVICES ? kw_welcome->device_count : KW_DEVICES);
    return cudaSuccess;
}

KW_API cudaError_t cudaGetDevice(int *device)
{
    KW_ENTER();
    if (!device)
        return kw_done(cudaErrorInvalidValue);
    *device = kw_device;
    return cudaSuccess;
}

/* After a failure too: the device that is to be reset may be another. */
KW_API cudaError_t cudaSetDevice(int device)
{
    int failure = kw_connect();
    if (!kw_is_connected())
        return kw_done(failure);
    kw_uses_runtime |= !kw_driver_call;
    int result = kw_check_device(device);
    if (!result)
        kw_device = device;
    return kw_done(result ? result : failure);
}

/* The first of the list that is there, unless the thread already has a device. */
KW_API cudaError_t cudaSetValidDevices(int *devices, int count)
{
    KW_ENTER();
    if (count < 0 || (count && !devices))
        return kw_done(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (kw_check_device(devices[i]))
            return kw_done(cudaErrorInvalidDevice);
    if (count)
        kw_device = devices[0];
    return cudaSuccess;
}

static unsigned int device_flags;

static int check_flags(unsigned int flags)
{
    unsigned int schedule = flags & cudaDeviceScheduleMask;
    int one = schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4;
    return one && !(flags & ~(unsigned)cudaDeviceMask) ? 0 : cudaErrorInvalidValue;
}

KW_API cudaError_t cudaInitDevice(int device, unsigned int wanted, unsigned int flags)
{
    enum { FLAGS_ARE_VALID = 1 };
    KW_ENTER();
    int result = kw_check_device(device);
    if (!result && flags & FLAGS_ARE_VALID)
        result = check_flags(wanted);
    return kw_done(result);
}

KW_API cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    KW_ENTER();
    if (!flags)
        return kw_done(cudaErrorInvalidValue);
    *flags = device_flags | cudaDeviceMapHost;
    return cudaSuccess;
}

/* How a waiting thread waits: over a socket, always by sleeping. */
KW_API cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    KW_ENTER();
    int result = check_flags(flags);
    if (!result)
        device_flags = flags;
    return kw_done(result);
}

/* How many of the requested properties a device has. */
static int suits(const struct kw_device_properties *has, const struct cudaDeviceProp *wanted)
{
    return (wanted->major > 0 && (int)has->major >= wanted->major) +
           (wanted->minor > 0 && (int)has->major == wanted->major && (int)has->minor >= wanted->minor) +
           (wanted->totalGlobalMem > 0 && has->global_bytes >= wanted->totalGlobalMem) +
           (wanted->multiProcessorCount > 0 && (int)has->multiprocessors >= wanted->multiProcessorCount);
}

KW_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    KW_ENTER();
    int best = -1;
    if (!device || !wanted)
        return kw_done(cudaErrorInvalidValue);
    for (int each = 0; !kw_check_device(each); each++) {
        const struct kw_device_properties *told;
        int result = kw_ask_properties(each, &told);
        if (result)
            return kw_done(result);
        if (suits(told, wanted) > best) {
            best = suits(told, wanted);
            *device = each;
        }
    }
    return cudaSuccess;
}

/* ---- waiting and starting over ---- */

KW_API cudaError_t cudaDeviceSynchronize(void)
{
    KW_ENTER();
    return kw_done(kw_request(KW_DEVICE_SYNCHRONIZE, NULL, 0, NULL, 0));
}

static void drop_peers(void);

/* The one call that is allowed after a failure; it clears the failure when the worker can. The worker forgets everything about
   the device, so all of it is sent again. */
KW_API cudaError_t cudaDeviceReset(void)
{
    int result = kw_connect();
    if (!kw_is_connected())
        return kw_done(result);
    kw_take_registered_back();
    result = kw_request(KW_DEVICE_RESET, NULL, 0, NULL, 0);
    if (result)
        return kw_done(result);
    kw_drop_all_textures();
    kw_drop_all_arrays();
    kw_drop_all_blocks();
    kw_drop_all_streams();
    drop_peers();
    kw_reset_modules();
    kw_forget_failure();
    cudaGetLastError();
    result = kw_share_managed();
    return kw_done(result ? result : kw_announce_modules());
}

/* ---- limits and preferences: remembered, and told back ---- */

static size_t limit[cudaLimitPersistingL2CacheSize + 1] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
};
static enum cudaFuncCache cache_config;

/* Grids do not wait for those that they launch, since CUDA 12, and never here. */
static int check_limit(enum cudaLimit which)
{
    if ((int)which < 0 || which > cudaLimitPersistingL2CacheSize)
        return cudaErrorInvalidValue;
    if (which == cudaLimitDevRuntimeSyncDepth)
        return cudaErrorUnsupportedLimit;
    return 0;
}

KW_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit which)
{
    KW_ENTER();
    int result = value ? check_limit(which) : cudaErrorInvalidValue;
    if (!result)
        *value = limit[which];
    return kw_done(result);
}

KW_API cudaError_t cudaDeviceSetLimit(enum cudaLimit which, size_t value)
{
    KW_ENTER();
    int result = check_limit(which);
    struct kw_handle body = {.handle = value};
    if (!result && which == cudaLimitStackSize)
        result = kw_request(KW_STACK_LIMIT, &body, sizeof body, NULL, 0);
    if (!result)
        limit[which] = value;
    return kw_done(result);
}

KW_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    KW_ENTER();
    if (!config)
        return kw_done(cudaErrorInvalidValue);
    *config = cache_config;
    return cudaSuccess;
}

KW_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    KW_ENTER();
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
        return kw_done(cudaErrorInvalidValue);
    cache_config = config;
    return cudaSuccess;
}

/* Banks have been four bytes wide since Maxwell, whatever is asked. */
KW_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    KW_ENTER();
    if (!config)
        return kw_done(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

KW_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    KW_ENTER();
    return kw_done(config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte
                       ? cudaErrorInvalidValue
                       : cudaSuccess);
}

/* ---- peers: every device may reach every other's memory once it was asked to ---- */

static uint8_t reaches[KW_DEVICES][KW_DEVICES]; /* device, peer */

static void drop_peers(void)
{
    for (int each = 0; each < KW_DEVICES; each++)
        reaches[kw_device][each] = reaches[each][kw_device] = 0;
}

KW_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    KW_ENTER();
    if (!can)
        return kw_done(cudaErrorInvalidValue);
    int result = kw_check_device(device) ? kw_check_device(device) : kw_check_device(peer);
    *can = !result && device != peer;
    return kw_done(result);
}

static int set_peer(int peer, uint8_t is_enabled)
{
    struct kw_peer_access body = {.peer = (uint32_t)peer, .is_enabled = is_enabled};
    reaches[kw_device][peer] = is_enabled;
    return kw_command(KW_PEER_ACCESS, &body, sizeof body, NULL, 0);
}

int kw_reaches(int device, int peer)
{
    return reaches[device][peer];
}

int kw_let_reach(int device, int peer, int is_enabled)
{
    if (reaches[device][peer] == is_enabled)
        return cudaSuccess;
    int current = kw_device;
    kw_device = device;
    int result = set_peer(peer, (uint8_t)is_enabled);
    kw_device = current;
    return result;
}

KW_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    KW_ENTER();
    int result = flags ? cudaErrorInvalidValue : kw_check_device(peer);
    if (!result && peer == kw_device)
        result = cudaErrorInvalidDevice;
    if (!result && reaches[kw_device][peer])
        result = cudaErrorPeerAccessAlreadyEnabled;
    return kw_done(result ? result : set_peer(peer, 1));
}

KW_API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    KW_ENTER();
    int result = kw_check_device(peer);
    if (!result && !reaches[kw_device][peer])
        result = cudaErrorPeerAccessNotEnabled;
    return kw_done(result ? result : set_peer(peer, 0));
}

KW_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int source, int destination)
{
    KW_ENTER();
    if (!value || attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        return kw_done(cudaErrorInvalidValue);
    if (kw_check_device(source) || kw_check_device(destination) || source == destination)
        return kw_done(cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
    return cudaSuccess;
}

/* ---- a profiler that is asked to start or stop and is not there is no error ---- */

KW_API cudaError_t cudaProfilerStart(void)
{
    KW_ENTER();
    return cudaSuccess;
}

KW_API cudaError_t cudaProfilerStop(void)
{
    KW_ENTER();
    return cudaSuccess;
}

/* ---- older names ---- */

KW_API cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

KW_API cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

KW_API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit which)
{
    return cudaDeviceGetLimit(value, which);
}

KW_API cudaError_t cudaThreadSetLimit(enum cudaLimit which, size_t value)
{
    return cudaDeviceSetLimit(which, value);
}

KW_API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}

KW_API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}
