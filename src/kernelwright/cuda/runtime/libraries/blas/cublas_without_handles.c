/* cuBLAS without handles (cublas.h): the one handle that its calls share, and their last error. As NVIDIA's, for one thread at a
   time; the routines themselves are inline in the header. */
#include "cublas_calls.h"

#include "cublas.h"

enum { NO_SUCH = -1 };

static cublasHandle_t shared;
static cublasStatus_t failure;

KW_API cublasHandle_t cublasGetCurrentCtx(void)
{
    return shared;
}

KW_API void kw_cublas_remember(cublasStatus_t status)
{
    if (status)
        failure = status;
}

KW_API cublasStatus_t cublasInit(void)
{
    return shared ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&shared);
}

KW_API cublasStatus_t cublasShutdown(void)
{
    cublasHandle_t was = shared;
    shared = 0;
    return was ? cublasDestroy_v2(was) : CUBLAS_STATUS_NOT_INITIALIZED;
}

KW_API cublasStatus_t cublasGetError(void)
{
    cublasStatus_t was = failure;
    failure = CUBLAS_STATUS_SUCCESS;
    return was;
}

KW_API cublasStatus_t cublasGetVersion(int *version)
{
    return cublasGetVersion_v2(shared, version);
}

KW_API cublasStatus_t cublasSetKernelStream(cudaStream_t stream)
{
    return cublasSetStream_v2(shared, stream);
}

KW_API cublasStatus_t cublasAlloc(int n, int elemSize, void **devicePtr)
{
    if (!shared)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0 || elemSize <= 0 || !devicePtr)
        return CUBLAS_STATUS_INVALID_VALUE;
    return cudaMalloc(devicePtr, (size_t)n * (size_t)elemSize) ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasFree(void *devicePtr)
{
    if (!shared)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return cudaFree(devicePtr) ? CUBLAS_STATUS_INTERNAL_ERROR : CUBLAS_STATUS_SUCCESS;
}

static int lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
}

KW_API cublasOperation_t kw_cublas_operation(char letter)
{
    switch (lower(letter)) {
    case 'n':
        return CUBLAS_OP_N;
    case 't':
        return CUBLAS_OP_T;
    case 'c':
        return CUBLAS_OP_C;
    }
    return (cublasOperation_t)NO_SUCH;
}

KW_API cublasFillMode_t kw_cublas_triangle(char letter)
{
    return lower(letter) == 'l'   ? CUBLAS_FILL_MODE_LOWER
           : lower(letter) == 'u' ? CUBLAS_FILL_MODE_UPPER
                                  : (cublasFillMode_t)NO_SUCH;
}

KW_API cublasSideMode_t kw_cublas_side(char letter)
{
    return lower(letter) == 'l'   ? CUBLAS_SIDE_LEFT
           : lower(letter) == 'r' ? CUBLAS_SIDE_RIGHT
                                  : (cublasSideMode_t)NO_SUCH;
}

KW_API cublasDiagType_t kw_cublas_diagonal(char letter)
{
    return lower(letter) == 'n'   ? CUBLAS_DIAG_NON_UNIT
           : lower(letter) == 'u' ? CUBLAS_DIAG_UNIT
                                  : (cublasDiagType_t)NO_SUCH;
}
