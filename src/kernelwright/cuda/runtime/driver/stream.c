/* Streams and events, which are the runtime's. */
#include "driver.h"

KW_API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamCreateWithFlags(stream, flags));
}

KW_API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamCreateWithPriority(stream, flags, priority));
}

KW_API CUresult cuStreamDestroy(CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamDestroy(stream));
}

KW_API CUresult cuStreamSynchronize(CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamSynchronize(stream));
}

/* Work that is not done yet is an answer, not a failure. */
static CUresult answered(int result)
{
    if (result != cudaErrorNotReady)
        return kw_driver_done(result);
    kw_driver_done(0);
    return CUDA_ERROR_NOT_READY;
}

KW_API CUresult cuStreamQuery(CUstream stream)
{
    KW_DRIVER_ENTER();
    return answered(cudaStreamQuery(stream));
}

KW_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamWaitEvent(stream, event, flags));
}

KW_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned int flags)
{
    KW_DRIVER_ENTER();
    /* Both kinds of errors are an int in the same register, and the numbers of success are the same. */
    return kw_driver_done(cudaStreamAddCallback(stream, (cudaStreamCallback_t)(void *)callback, data, flags));
}

KW_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaLaunchHostFunc(stream, function, data));
}

KW_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamAttachMemAsync(stream, (void *)address, bytes, flags));
}

KW_API CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamGetFlags(stream, flags));
}

KW_API CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaStreamGetPriority(stream, priority));
}

KW_API CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    KW_DRIVER_ENTER();
    uint64_t number;
    int result = context ? kw_stream_number(stream, &number) : cudaErrorInvalidValue;
    if (!result)
        *context = kw_current_context();
    return kw_driver_done(result);
}

KW_API CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaEventCreateWithFlags(event, flags));
}

KW_API CUresult cuEventDestroy(CUevent event)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaEventDestroy(event));
}

KW_API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaEventRecord(event, stream));
}

KW_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaEventRecordWithFlags(event, stream, flags));
}

KW_API CUresult cuEventSynchronize(CUevent event)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaEventSynchronize(event));
}

KW_API CUresult cuEventQuery(CUevent event)
{
    KW_DRIVER_ENTER();
    return answered(cudaEventQuery(event));
}

KW_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    KW_DRIVER_ENTER();
    return answered(cudaEventElapsedTime(milliseconds, start, end));
}

KW_API CUresult cuProfilerStart(void)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaProfilerStart());
}

KW_API CUresult cuProfilerStop(void)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(cudaProfilerStop());
}
