/* Contexts. A device has one set of memory, modules and streams, and every context of it is a name for that: what was made while
   one was current can be used while another is. Memory that was allocated in a context goes with it. */
#include "driver.h"

#include <stdlib.h>

struct CUctx_st {
    int device;
    unsigned int flags;
    unsigned long long id;
    int is_alive;
};

enum { DEPTH = 256 };

static _Thread_local CUcontext stack[DEPTH];
static _Thread_local int depth;
static struct CUctx_st primary[KW_DEVICES];
static int retained[KW_DEVICES];
static unsigned int primary_flags[KW_DEVICES];
static unsigned long long last_id;

static CUcontext primary_of(int device)
{
    struct CUctx_st *of = &primary[device];
    if (!of->is_alive)
        *of = (struct CUctx_st){device, primary_flags[device], __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED), 1};
    return of;
}

CUcontext kw_current_context(void)
{
    if (depth)
        return stack[depth - 1];
    return kw_uses_runtime ? primary_of(kw_device) : NULL;
}

static int check_context(CUcontext context)
{
    return context && context->is_alive ? 0 : CUDA_ERROR_INVALID_CONTEXT;
}

static void note_current(void)
{
    CUcontext top = depth ? stack[depth - 1] : NULL;
    if (top)
        kw_device = top->device;
    kw_context = top && top != &primary[top->device] ? top->id : 0;
}

static int push(CUcontext context)
{
    int result = check_context(context);
    if (!result && depth == DEPTH)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result)
        return result;
    stack[depth++] = context;
    note_current();
    return 0;
}

static CUcontext pop(void)
{
    CUcontext popped = stack[--depth];
    note_current();
    return popped;
}

static int check_flags(unsigned int flags)
{
    unsigned int schedule = flags & CU_CTX_SCHED_MASK;
    int one = schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4;
    return one && !(flags & ~(unsigned)CU_CTX_FLAGS_MASK) ? 0 : CUDA_ERROR_INVALID_VALUE;
}

static int create(CUcontext *context, unsigned int flags, CUdevice device)
{
    int result = context ? check_flags(flags) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        result = kw_check_device(device);
    if (result)
        return result;
    CUcontext made = malloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct CUctx_st){device, flags, __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED), 1};
    result = push(made);
    if (result)
        free(made);
    else
        *context = made;
    return result;
}

KW_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(create(context, flags, device));
}

KW_API CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    if (params && (params->numExecAffinityParams || params->cigParams))
        return kw_driver_done(CUDA_ERROR_NOT_SUPPORTED);
    return kw_driver_done(create(context, flags, device));
}

static int synchronize(int device)
{
    int current = kw_device;
    kw_device = device;
    int result = kw_request(KW_DEVICE_SYNCHRONIZE, NULL, 0, NULL, 0);
    kw_device = current;
    return result;
}

/* Its few bytes stay, so that later calls that name it are refused. */
KW_API CUresult cuCtxDestroy(CUcontext context)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = check_context(context);
    if (!result && context == &primary[context->device])
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (!result)
        result = synchronize(context->device);
    if (result)
        return kw_driver_done(result);
    context->is_alive = 0;
    kw_release_context(context->id);
    if (depth && stack[depth - 1] == context)
        pop();
    return kw_driver_done(0);
}

/* The functions of CUDA 3 that count the users of a context. */
KW_API CUresult cuCtxAttach(CUcontext *context, unsigned int flags)
{
    KW_DRIVER_ENTER();
    if (!context || flags)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    *context = kw_current_context();
    return kw_driver_done(0);
}

KW_API CUresult cuCtxDetach(CUcontext context)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(check_context(context));
}

KW_API CUresult cuCtxPushCurrent(CUcontext context)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(push(context));
}

KW_API CUresult cuCtxPopCurrent(CUcontext *context)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    if (!depth)
        return kw_driver_done(CUDA_ERROR_INVALID_CONTEXT);
    CUcontext popped = pop();
    if (context)
        *context = popped;
    return kw_driver_done(0);
}

KW_API CUresult cuCtxSetCurrent(CUcontext context)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = context ? check_context(context) : 0;
    if (result)
        return kw_driver_done(result);
    if (depth)
        pop();
    return kw_driver_done(context ? push(context) : 0);
}

KW_API CUresult cuCtxGetCurrent(CUcontext *context)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    if (!context)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    *context = kw_current_context();
    return kw_driver_done(0);
}

KW_API CUresult cuCtxGetDevice(CUdevice *device)
{
    KW_DRIVER_ENTER();
    if (!device)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    *device = kw_current_context()->device;
    return kw_driver_done(0);
}

KW_API CUresult cuCtxGetFlags(unsigned int *flags)
{
    KW_DRIVER_ENTER();
    if (!flags)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    *flags = kw_current_context()->flags;
    return kw_driver_done(0);
}

KW_API CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    KW_DRIVER_ENTER();
    context = context ? context : kw_current_context();
    int result = id ? check_context(context) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        *id = context->id;
    return kw_driver_done(result);
}

KW_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    context = context ? context : kw_current_context();
    int result = version ? check_context(context) : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        *version = 3020; /* that of all contexts since CUDA 3.2 */
    return kw_driver_done(result);
}

KW_API CUresult cuCtxSynchronize(void)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceSynchronize());
}

/* ---- the context that the runtime uses ---- */

KW_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = context ? kw_check_device(device) : CUDA_ERROR_INVALID_VALUE;
    if (!result) {
        *context = primary_of(device);
        __atomic_fetch_add(&retained[device], 1, __ATOMIC_RELAXED);
    }
    return kw_driver_done(result);
}

KW_API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = kw_check_device(device);
    if (!result && __atomic_sub_fetch(&retained[device], 1, __ATOMIC_RELAXED) < 0) {
        retained[device] = 0;
        result = CUDA_ERROR_INVALID_CONTEXT;
    }
    return kw_driver_done(result);
}

KW_API CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    /* The one call that is allowed after a failure. */
    kw_driver_call = __func__;
    int result = kw_is_connected() ? kw_check_device(device) : CUDA_ERROR_NOT_INITIALIZED;
    int current = kw_device;
    if (!result) {
        kw_device = device;
        result = (int)cudaDeviceReset();
        kw_device = current;
    }
    return kw_driver_done(result);
}

KW_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = kw_check_device(device);
    if (!result)
        result = check_flags(flags);
    if (!result)
        primary_flags[device] = primary[device].flags = flags;
    return kw_driver_done(result);
}

KW_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = flags && active ? kw_check_device(device) : CUDA_ERROR_INVALID_VALUE;
    if (!result) {
        *flags = primary_flags[device];
        *active = retained[device] > 0 || kw_uses_runtime;
    }
    return kw_driver_done(result);
}

/* ---- limits and preferences ---- */

KW_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

KW_API CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

KW_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

KW_API CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

KW_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceGetSharedMemConfig((enum cudaSharedMemConfig *)config));
}

KW_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)config));
}

KW_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaDeviceGetStreamPriorityRange(least, greatest));
}

KW_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    KW_DRIVER_ENTER();
    int result = check_context(peer);
    return kw_driver_done(result ? result : cudaDeviceEnablePeerAccess(peer->device, flags));
}

KW_API CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    KW_DRIVER_ENTER();
    int result = check_context(peer);
    return kw_driver_done(result ? result : cudaDeviceDisablePeerAccess(peer->device));
}
