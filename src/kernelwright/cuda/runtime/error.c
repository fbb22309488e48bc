/* Names and texts of the errors, and the last one of each thread. */
#include "client.h"

#include <stdio.h>
#include <string.h>

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

static void note(const char *function, int error)
{
    struct kw_note_error body = {.error = error};
    char tail[sizeof explanation + 128] = "";
    /* Helpers of ours return what the call they belong to returns. */
    const char *call = strncmp(function, "cuda", 4) ? "a CUDA call" : function;
    snprintf(tail, 128, "%s returned %s", call, cudaGetErrorName((cudaError_t)error));
    size_t at = strlen(tail) + 1;
    memcpy(tail + at, explanation, explained);
    kw_command(KW_NOTE_ERROR, &body, sizeof body, tail, at + (explained ? explained : 2));
}

cudaError_t kw_done_in(const char *function, int error)
{
    if (error != cudaSuccess) {
        last_error = error;
        if (kw_welcome->flags & KW_NOTE_ERRORS && kw_is_connected() && !kw_failure())
            note(function, error);
    }
    explained = 0;
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
