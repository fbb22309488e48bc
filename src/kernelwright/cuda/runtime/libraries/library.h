/* Calls of libraries: what the worker computes by the public name of a routine. */
#ifndef KERNELWRIGHT_LIBRARY_H
#define KERNELWRIGHT_LIBRARY_H

#include "client.h"

/* Arguments of a call: an integer or enumerator, and an address of the device. */
#define KW_WORD(x) ((struct kw_argument){.word = (uint64_t)(x)})
#define KW_ADDRESS(p) ((struct kw_argument){.word = kw_managed_address((uint64_t)(p))})

/* A number at `pointer`, of the host or (`on_device`) of the device. */
struct kw_argument kw_number(const void *pointer, size_t size, int on_device);

/* A number that the routine writes to `pointer`. The call waits for it when that is the host's. */
struct kw_argument kw_answer(void *pointer, size_t size, int on_device);

/* Whether the device computes libraries' calls; says so, with the library's title, where it does not. */
int kw_library_is_served(const char *title);

/* Sends a call. `name`: the function's, with or without _v2. Returns 0 or a cudaError_t. */
int kw_library(const char *name, cudaStream_t stream, const struct kw_argument *argument, uint32_t count);

#endif
