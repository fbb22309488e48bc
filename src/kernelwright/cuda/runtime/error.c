/* Names and texts of the errors, and the last one of each thread. */
#include "client.h"

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

cudaError_t kw_done(int error)
{
    if (error != cudaSuccess)
        last_error = error;
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
