/* cuLink*: device code is linked when it is compiled, so a link of one image is that image, and one of several is refused. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    char *image; /* owned; NULL as long as there is none */
    size_t size;
};

KW_API CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values, CUlinkState *state)
{
    KW_DRIVER_ENTER();
    if (!state || (count && (!options || !values)))
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    kw_answer_options(count, options, values);
    *state = calloc(1, sizeof **state);
    return kw_driver_done(*state ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
}

/* Takes `image` over. */
static int add(CUlinkState state, char *image, size_t size)
{
    if (!image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (state->image) {
        free(image);
        kw_say("cuLink: several pieces of device code are linked when they are compiled: give all sources to one kw compile");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    state->image = image;
    state->size = size;
    return 0;
}

/* Libraries and objects hold host code as well, and ours is not found in there. */
static int check_type(CUjitInputType type)
{
    if (type == CU_JIT_INPUT_CUBIN || type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY)
        return 0;
    if ((int)type >= 0 && type < CU_JIT_NUM_INPUT_TYPES)
        kw_say("cuLink: only PTX, cubins and fat binaries of kw compile are taken, no objects or libraries");
    return (int)type >= 0 && type < CU_JIT_NUM_INPUT_TYPES ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

KW_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                              unsigned int count, CUjit_option *options, void **values)
{
    KW_DRIVER_ENTER();
    (void)name, (void)count, (void)options, (void)values;
    int result = state && data && size ? check_type(type) : CUDA_ERROR_INVALID_VALUE;
    if (result)
        return kw_driver_done(result);
    char *copy = calloc(1, size + 1);
    if (copy)
        memcpy(copy, data, size);
    return kw_driver_done(add(state, copy, size));
}

KW_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int count,
                              CUjit_option *options, void **values)
{
    KW_DRIVER_ENTER();
    (void)count, (void)options, (void)values;
    int result = state && path ? check_type(type) : CUDA_ERROR_INVALID_VALUE;
    if (result)
        return kw_driver_done(result);
    size_t size;
    char *image = kw_read_file(path, &size);
    return kw_driver_done(image ? add(state, image, size) : CUDA_ERROR_FILE_NOT_FOUND);
}

KW_API CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size)
{
    KW_DRIVER_ENTER();
    if (!state || !image || !state->image)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    *image = state->image;
    if (size)
        *size = state->size;
    return kw_driver_done(0);
}

KW_API CUresult cuLinkDestroy(CUlinkState state)
{
    KW_DRIVER_ENTER();
    if (!state)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    free(state->image);
    free(state);
    return kw_driver_done(0);
}
