/* A CUDA runtime on a machine without a device: every call that needs one fails. Enough to link and start a suite program
 * and to see how it treats its command line and its files. */
#include <stddef.h>

enum { NO_DEVICE = 100 };

typedef struct {
    unsigned x, y, z;
} dim3;

#define FAILS(name, ...)       \
    int name(__VA_ARGS__)      \
    {                          \
        return NO_DEVICE;      \
    }

FAILS(cudaMalloc, void **pointer, size_t bytes)
FAILS(cudaFree, void *pointer)
FAILS(cudaMemcpy, void *to, const void *from, size_t bytes, int kind)
FAILS(cudaMemcpyToSymbol, const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
FAILS(cudaMemcpyFromSymbol, void *to, const void *symbol, size_t bytes, size_t offset, int kind)
FAILS(cudaMemset, void *pointer, int value, size_t bytes)
FAILS(cudaDeviceSynchronize, void)
FAILS(cudaGetLastError, void)
FAILS(cudaLaunchKernel, const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream)
FAILS(__cudaPushCallConfiguration, dim3 grid, dim3 block, size_t shared, void *stream)
FAILS(__cudaPopCallConfiguration, dim3 *grid, dim3 *block, size_t *shared, void **stream)

const char *cudaGetErrorString(int error)
{
    (void)error;
    return "no CUDA-capable device is detected";
}
