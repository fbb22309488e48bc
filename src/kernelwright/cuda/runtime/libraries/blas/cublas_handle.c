/* Handles of cuBLAS, what they hold, its status texts, and its copies. */
#include "cublas_calls.h"

#include <stdlib.h>

enum { HANDLE = 0x626c6173 };

int kw_is_cublas(cublasHandle_t handle)
{
    return handle && handle->magic == HANDLE;
}

cublasStatus_t kw_cublas_status(int error)
{
    switch (error) {
    case 0:
        return CUBLAS_STATUS_SUCCESS;
    case cudaErrorNoDevice:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
        return CUBLAS_STATUS_NOT_INITIALIZED;
    case cudaErrorMemoryAllocation:
        return CUBLAS_STATUS_ALLOC_FAILED;
    case cudaErrorNotSupported:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    case cudaErrorInvalidResourceHandle:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t kw_cublas_call(cublasHandle_t handle, const char *name, const struct kw_argument *argument,
                              uint32_t count)
{
    return kw_cublas_status(kw_library(name, handle->stream, argument, count));
}

KW_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    int error = kw_connect();
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (error)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!kw_library_is_served("cuBLAS"))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    struct cublasContext *made = calloc(1, sizeof *made);
    if (!made)
        return CUBLAS_STATUS_ALLOC_FAILED;
    made->magic = HANDLE;
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    REQUIRE(1);
    cudaStream_t stream = handle->stream;
    handle->magic = 0;
    free(handle);
    /* Waits for the work, as NVIDIA's does, which frees memory of the device. */
    kw_stream_wait(stream);
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    REQUIRE(version);
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    static const int parts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = parts[type];
    return CUBLAS_STATUS_SUCCESS;
}

KW_API size_t cublasGetCudartVersion(void)
{
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return (size_t)version;
}

KW_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    uint64_t number;
    REQUIRE(!kw_stream_number(stream, &number));
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

KW_API cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    REQUIRE(stream);
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

#define MODE(name, field, type, is_valid)                                            \
    KW_API cublasStatus_t cublasSet##name(cublasHandle_t handle, type mode)          \
    {                                                                                \
        REQUIRE(is_valid);                                                           \
        handle->field = mode;                                                        \
        return CUBLAS_STATUS_SUCCESS;                                                \
    }                                                                                \
    KW_API cublasStatus_t cublasGet##name(cublasHandle_t handle, type *mode)         \
    {                                                                                \
        REQUIRE(mode);                                                               \
        *mode = handle->field;                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                \
    }
MODE(PointerMode_v2, pointer_mode, cublasPointerMode_t,
     mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE)
/* Results are the same on every run here, and of full precision, whatever these allow. */
MODE(AtomicsMode, atomics_mode, cublasAtomicsMode_t,
     mode == CUBLAS_ATOMICS_ALLOWED || mode == CUBLAS_ATOMICS_NOT_ALLOWED)
MODE(MathMode, math_mode, cublasMath_t,
     ((unsigned)mode & ~(unsigned)CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) <= CUBLAS_TF32_TENSOR_OP_MATH)

/* Nothing here needs a workspace. */
KW_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    REQUIRE(workspace || !bytes);
    return CUBLAS_STATUS_SUCCESS;
}

#define STATUSES(X)                                                         \
    X(SUCCESS, "success")                                                   \
    X(NOT_INITIALIZED, "the library was not initialized")                   \
    X(ALLOC_FAILED, "the resource allocation failed")                       \
    X(INVALID_VALUE, "an unsupported value or parameter was passed to the function") \
    X(ARCH_MISMATCH, "the requested functionality requires an architectural feature absent from the device") \
    X(MAPPING_ERROR, "an access to GPU memory space failed")                \
    X(EXECUTION_FAILED, "the function failed to launch on the GPU")         \
    X(INTERNAL_ERROR, "an internal operation failed")                       \
    X(NOT_SUPPORTED, "the functionality requested is not supported")        \
    X(LICENSE_ERROR, "the functionality requested requires some license")

KW_API const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
#define NAME(name, text)       \
    case CUBLAS_STATUS_##name: \
        return "CUBLAS_STATUS_" #name;
        STATUSES(NAME)
    }
    return "UNKNOWN";
}

KW_API const char *cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
#define TEXT(name, text)       \
    case CUBLAS_STATUS_##name: \
        return text;
        STATUSES(TEXT)
    }
    return "unknown status";
}

/* ---- copies between host and device ---- */

static cublasStatus_t copy_box(const struct kw_box *box, enum cudaMemcpyKind kind, cudaStream_t stream, int wait)
{
    int result = kw_connect();
    if (!result)
        result = kw_copy_box(box, kind, stream, wait);
    return result == cudaErrorInvalidValue ? CUBLAS_STATUS_MAPPING_ERROR : kw_cublas_status(result);
}

static cublasStatus_t copy_vector(int n, int size, const void *x, int incx, void *y, int incy, enum cudaMemcpyKind kind,
                                  cudaStream_t stream, int wait)
{
    if (incx <= 0 || incy <= 0 || size <= 0 || n < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!n)
        return CUBLAS_STATUS_SUCCESS;
    size_t bytes = (size_t)size, height = (size_t)n;
    if (incx == 1 && incy == 1)
        bytes *= height, height = 1;
    struct kw_box box = {y, x, (size_t)size * (size_t)incy, (size_t)size * (size_t)incx, 0, 0, bytes, height, 1};
    if (height == 1)
        box.to_pitch = box.from_pitch = bytes;
    return copy_box(&box, kind, stream, wait);
}

static cublasStatus_t copy_matrix(int rows, int cols, int size, const void *A, int lda, void *B, int ldb,
                                  enum cudaMemcpyKind kind, cudaStream_t stream, int wait)
{
    if (rows < 0 || cols < 0 || size <= 0 || lda < rows || ldb < rows || lda <= 0 || ldb <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!rows || !cols)
        return CUBLAS_STATUS_SUCCESS;
    size_t bytes = (size_t)size;
    struct kw_box box = {B, A, bytes * (size_t)ldb, bytes * (size_t)lda, 0, 0, bytes * (size_t)rows, (size_t)cols, 1};
    return copy_box(&box, kind, stream, wait);
}

#define COPIES(direction, kind)                                                                                     \
    KW_API cublasStatus_t cublas##direction##Vector(int n, int size, const void *x, int incx, void *y, int incy)    \
    {                                                                                                               \
        return copy_vector(n, size, x, incx, y, incy, kind, 0, 1);                                                  \
    }                                                                                                               \
    KW_API cublasStatus_t cublas##direction##VectorAsync(int n, int size, const void *x, int incx, void *y,         \
                                                         int incy, cudaStream_t stream)                             \
    {                                                                                                               \
        return copy_vector(n, size, x, incx, y, incy, kind, stream, 0);                                             \
    }                                                                                                               \
    KW_API cublasStatus_t cublas##direction##Matrix(int rows, int cols, int size, const void *A, int lda, void *B,  \
                                                    int ldb)                                                        \
    {                                                                                                               \
        return copy_matrix(rows, cols, size, A, lda, B, ldb, kind, 0, 1);                                           \
    }                                                                                                               \
    KW_API cublasStatus_t cublas##direction##MatrixAsync(int rows, int cols, int size, const void *A, int lda,      \
                                                         void *B, int ldb, cudaStream_t stream)                     \
    {                                                                                                               \
        return copy_matrix(rows, cols, size, A, lda, B, ldb, kind, stream, 0);                                      \
    }
COPIES(Set, cudaMemcpyHostToDevice)
COPIES(Get, cudaMemcpyDeviceToHost)
