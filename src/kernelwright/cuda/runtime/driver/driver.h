/*
 * The driver API, made of the runtime: every public function has the same shape:
 *
 *     CUresult cuSomething(...)
 *     {
 *         KW_DRIVER_ENTER();                       // cuInit was called, and a context is current
 *         ...                                      // check arguments; the runtime's function of the same meaning
 *         return kw_driver_done(cudaSomething());  // the driver's error for the runtime's
 *     }
 *
 * Handles are the runtime's (kernelwright/driver/types.h). A CUfunction is an address of its own that stands for a kernel, as that
 * of a host stub does.
 */
#ifndef KERNELWRIGHT_DRIVER_H
#define KERNELWRIGHT_DRIVER_H

#include "../graph.h"

#include "cuda.h"

#define KW_DRIVER_ENTER()                  \
    do {                                   \
        kw_driver_call = __func__;         \
        int kw_entered = kw_driver_ready(); \
        if (kw_entered)                    \
            return kw_driver_done(kw_entered); \
    } while (0)

/* As KW_DRIVER_ENTER, where no context need be current. */
#define KW_DRIVER_ENTER_WITHOUT_CONTEXT()        \
    do {                                         \
        kw_driver_call = __func__;               \
        int kw_entered = kw_driver_initialised(); \
        if (kw_entered)                          \
            return kw_driver_done(kw_entered);   \
    } while (0)

/* 0 or an error. */
int kw_driver_initialised(void);
int kw_driver_ready(void);

/* Ends a call: tells tools of a failure; the driver's number for an error of either API. */
CUresult kw_driver_done(int error);

/* ---- context.c ---- */

/* The context that is current in this thread; NULL when none is. */
CUcontext kw_current_context(void);

/* ---- module.c ---- */

/* Each returns 0 or an error. `size`: of an image whose bytes have been counted; 0: what its head says. */
int kw_module_load(CUmodule *module, const void *image, size_t size);
int kw_module_load_file(CUmodule *module, const char *path);
int kw_module_unload(CUmodule module);
int kw_module_function(CUmodule module, const char *name, CUfunction *function);
int kw_module_global(CUmodule module, const char *name, CUdeviceptr *address, size_t *bytes);

/* Says what there is to say of options: the logs are empty, and no time was spent. */
void kw_answer_options(unsigned int count, const CUjit_option *options, void **values);

/* The bytes of a file, to be freed, with a NUL behind them; NULL when it cannot be read. */
char *kw_read_file(const char *path, size_t *size);

/* How long a module image is: PTX to its NUL, the others as their heads say. */
size_t kw_image_size(const void *image);

/* ---- kernel.c ---- */

int kw_attribute_of_function(int *value, CUfunction_attribute attribute, CUfunction function);

#endif
