/* Names and texts of the errors, and the last one of each thread. */
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *text;
    int number;
} errors[] = {
#define KW_ERROR(name, number, text) {#name, text, number},
#include "kernelwright/error_table.h"
#undef KW_ERROR
};

static _Thread_local int last_error;
_Thread_local const char *kw_driver_call;
_Thread_local int kw_uses_runtime;

/* Two texts, each with its NUL: the kernel and the reason. */
static _Thread_local char explanation[512];
static _Thread_local size_t explained;

void kw_explain(const char *kernel, const char *reason)
{
    int written = snprintf(explanation, sizeof explanation / 2, "%s", kernel);
    size_t at = (written < 0 ? 0 : strlen(explanation)) + 1;
    snprintf(explanation + at, sizeof explanation - at, "%s", reason);
    explained = at + strlen(explanation + at) + 1;
}

/* Appends one address as "FILE+0xOFFSET ". */
static size_t put_address(char *to, size_t room, const void *address)
{
    Dl_info found, program;
    char itself[1024];
    if (!address || !dladdr(address, &found) || !found.dli_fname)
        return 0;
    const char *name = found.dli_fname;
    /* The program is known by the name it was called by, which need not be its file's. */
    if (dladdr((const void *)getauxval(AT_PHDR), &program) && program.dli_fbase == found.dli_fbase) {
        ssize_t length = readlink("/proc/self/exe", itself, sizeof itself - 1);
        if (length > 0)
            itself[length] = 0, name = itself;
    }
    int written = snprintf(to, room, "%s+0x%llx ", name,
                           (unsigned long long)((const char *)address - (const char *)found.dli_fbase));
    return written > 0 && (size_t)written < room ? (size_t)written : 0;
}

/* Where the program is, innermost first: what `first` says, then the calls around us. Returns the bytes with the NUL. */
size_t kw_stack(char *to, size_t room, const void *first)
{
    void *calls[24];
    int count = backtrace(calls, sizeof calls / sizeof *calls);
    size_t at = put_address(to, room, first);
    for (int i = 0; i < count; i++)
        at += put_address(to + at, room - at, calls[i]);
    to[at] = 0;
    return at + 1;
}

void kw_note_failure(const char *call, const char *error_name, int error)
{
    struct kw_note_error body = {.error = error};
    char tail[sizeof explanation + 128 + 4096] = "";
    if (!(kw_welcome->flags & KW_NOTE_ERRORS) || !kw_is_connected() || kw_failure())
        return;
    snprintf(tail, 128, "%s returned %s", call, error_name);
    size_t at = strlen(tail) + 1;
    memcpy(tail + at, explanation, explained);
    at += explained ? explained : 2;
    at += kw_stack(tail + at, sizeof tail - at, kw_launched_from());
    kw_command(KW_NOTE_ERROR, &body, sizeof body, tail, at);
}

void kw_call_is_over(void)
{
    explained = 0;
    kw_launch_is_over();
}

cudaError_t kw_done_in(const char *function, int error)
{
    if (kw_driver_call)
        return (cudaError_t)error;
    if (error != cudaSuccess) {
        last_error = error;
        /* Helpers of ours return what the call they belong to returns. */
        const char *call = strncmp(function, "cuda", 4) ? "a CUDA call" : function;
        kw_note_failure(call, cudaGetErrorName((cudaError_t)error), error);
    }
    kw_call_is_over();
    return (cudaError_t)error;
}

KW_API cudaError_t cudaGetLastError(void)
{
    int error = last_error;
    last_error = kw_failure();
    return (cudaError_t)error;
}

KW_API cudaError_t cudaPeekAtLastError(void)
{
    return (cudaError_t)last_error;
}

KW_API const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == (int)error)
            return errors[i].name;
    return "unrecognized error code";
}

KW_API const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == (int)error)
            return errors[i].text;
    return "unrecognized error code";
}
