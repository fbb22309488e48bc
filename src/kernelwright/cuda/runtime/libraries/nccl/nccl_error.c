/* What went wrong: words for results, the last sentence of a thread, and the version. */
#include "nccl_comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last[KW_NCCL_SENTENCE];

ncclResult_t kw_nccl_error(ncclResult_t result, const char *format, ...)
{
    va_list arguments;
    char made[sizeof last]; /* an argument may be the last sentence */
    va_start(arguments, format);
    vsnprintf(made, sizeof made, format, arguments);
    va_end(arguments);
    memcpy(last, made, sizeof last);
    const char *debug = getenv("NCCL_DEBUG");
    if (debug && (!strcmp(debug, "WARN") || !strcmp(debug, "INFO") || !strcmp(debug, "TRACE")))
        kw_say("NCCL: %s", last);
    return result;
}

const char *kw_nccl_sentence(void)
{
    return last;
}

KW_API const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {
        "no error",
        "unhandled CUDA error (NCCL_DEBUG=WARN says more)",
        "unhandled system error (NCCL_DEBUG=WARN says more)",
        "internal error",
        "invalid argument (NCCL_DEBUG=WARN says more)",
        "invalid usage (NCCL_DEBUG=WARN says more)",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };
    return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result code";
}

KW_API const char *ncclGetLastError(ncclComm_t comm)
{
    return kw_nccl_is_comm(comm) && comm->error ? comm->sentence : last;
}

KW_API ncclResult_t ncclGetVersion(int *version)
{
    if (!version)
        return kw_nccl_error(ncclInvalidArgument, "ncclGetVersion: version is null");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

static ncclResult_t cuda_failed(const char *function, int error)
{
    return kw_nccl_error(ncclUnhandledCudaError, "%s: %s", function, cudaGetErrorName((cudaError_t)error));
}

KW_API ncclResult_t ncclMemAlloc(void **ptr, size_t size)
{
    if (!ptr || !size)
        return kw_nccl_error(ncclInvalidArgument, "ncclMemAlloc: %s", ptr ? "size is 0" : "ptr is null");
    int error = kw_connect();
    if (!error)
        error = kw_allocate(size, KW_MEMORY_DEVICE, 0, ptr);
    return error ? cuda_failed(__func__, error) : ncclSuccess;
}

KW_API ncclResult_t ncclMemFree(void *ptr)
{
    int error = ptr ? kw_connect() : 0;
    if (ptr && !error)
        error = kw_release(ptr);
    return error ? cuda_failed(__func__, error) : ncclSuccess;
}
