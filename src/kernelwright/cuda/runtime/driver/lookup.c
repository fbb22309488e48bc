/* Functions of the driver API by their names, for programs that look them up while they run. */
#include "driver.h"

#include <string.h>

static const struct {
    const char *name;
    void *function;
} functions[] = {
#define KW_FUNCTION(name) {#name, (void *)name},
#include "kernelwright/driver/function_list.h"
#undef KW_FUNCTION
};

/* A function that changed once has its old number's name as well: cuMemAlloc_v2 is what cuMemAlloc is today. */
static int is_called(const char *name, const char *asked)
{
    size_t length = strlen(name);
    return !strncmp(name, asked, length) && (!asked[length] || (!strncmp(asked + length, "_v", 2) && !asked[length + 3]));
}

static void *find(const char *asked, int version)
{
    if (!strcmp(asked, "cuCtxCreate"))
        return version >= 13000 ? (void *)cuCtxCreate_v4 : (void *)cuCtxCreate_v2;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (is_called(functions[i].name, asked))
            return functions[i].function;
    return NULL;
}

KW_API CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status)
{
    if (!name || !*name || !function || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    *function = find(name, version);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
