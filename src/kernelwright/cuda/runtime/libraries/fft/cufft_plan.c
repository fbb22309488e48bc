/* Plans of cuFFT: made, measured, destroyed. Each number is a handle once only, so that one of a destroyed plan is refused. */
#include "cufft_plan.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

/* More numbers than any device holds: no sum of products of what passes overflows 64 bits. */
static const int64_t MOST = (int64_t)1 << 40;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kw_fft_plan **plans; /* by handle, from 1 on */
static int plan_count;

struct kw_fft_plan *kw_fft_plan(cufftHandle handle)
{
    pthread_mutex_lock(&lock);
    struct kw_fft_plan *found = handle > 0 && handle <= plan_count ? plans[handle - 1] : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

cufftResult kw_fft_status(int error)
{
    return error == 0                           ? CUFFT_SUCCESS
           : error == cudaErrorMemoryAllocation ? CUFFT_ALLOC_FAILED
                                                : CUFFT_EXEC_FAILED;
}

KW_API cufftResult cufftCreate(cufftHandle *plan)
{
    if (!plan)
        return CUFFT_INVALID_VALUE;
    if (kw_connect() || !kw_library_is_served("cuFFT"))
        return CUFFT_SETUP_FAILED;
    struct kw_fft_plan *made = calloc(1, sizeof *made);
    if (!made)
        return CUFFT_ALLOC_FAILED;
    made->allocates = 1;
    pthread_mutex_lock(&lock);
    struct kw_fft_plan **more =
        plan_count < INT_MAX ? realloc(plans, ((size_t)plan_count + 1) * sizeof *plans) : NULL;
    if (more) {
        plans = more;
        plans[plan_count++] = made;
        *plan = plan_count;
    }
    pthread_mutex_unlock(&lock);
    if (!more)
        free(made);
    return more ? CUFFT_SUCCESS : CUFFT_ALLOC_FAILED;
}

KW_API cufftResult cufftDestroy(cufftHandle plan)
{
    pthread_mutex_lock(&lock);
    struct kw_fft_plan *found = plan > 0 && plan <= plan_count ? plans[plan - 1] : NULL;
    if (found)
        plans[plan - 1] = NULL;
    pthread_mutex_unlock(&lock);
    if (!found)
        return CUFFT_INVALID_PLAN;
    /* Waits for the work, as NVIDIA's does, which frees memory of the device. */
    if (found->is_made)
        kw_stream_wait(found->stream);
    free(found);
    return CUFFT_SUCCESS;
}

/* ---- what a plan is of ---- */

static int is_double(cufftType type)
{
    return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
}

size_t kw_fft_work_bytes(const struct kw_fft_plan *plan)
{
    int64_t count = plan->batch;
    for (int i = 0; i < plan->rank; i++)
        count *= plan->n[i];
    return (size_t)count * (is_double(plan->type) ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex));
}

/* Reads one side. Its outermost dimension is ignored: only the next transform lies behind it. */
static cufftResult set_layout(struct kw_fft_layout *layout, const struct kw_fft_plan *plan, const long long *embed,
                              long long stride, long long distance)
{
    layout->is_given = 1;
    layout->stride = stride;
    layout->distance = distance;
    if (stride < 1 || distance < 0 || (plan->batch > 1 && distance < 1))
        return CUFFT_INVALID_VALUE;
    int64_t total, span = plan->n[0];
    for (int i = 1; i < plan->rank; i++) {
        if (embed[i] < 1)
            return CUFFT_INVALID_VALUE;
        layout->embed[i] = embed[i];
        if (__builtin_mul_overflow(span, embed[i], &span) || span > MOST)
            return CUFFT_INVALID_SIZE;
    }
    if (__builtin_mul_overflow(span, stride, &span) || span > MOST ||
        __builtin_mul_overflow(plan->batch, distance, &total) || total > MOST)
        return CUFFT_INVALID_SIZE;
    return CUFFT_SUCCESS;
}

/* Fills in all but the state of `plan`. */
static cufftResult describe(struct kw_fft_plan *plan, int rank, const long long *n, const long long *inembed,
                            long long istride, long long idist, const long long *onembed, long long ostride,
                            long long odist, cufftType type, long long batch)
{
    switch (type) {
    case CUFFT_C2C:
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_Z2Z:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
        break;
    default:
        return CUFFT_INVALID_VALUE;
    }
    if (rank < 1 || rank > KW_FFT_RANK || !n)
        return CUFFT_INVALID_VALUE;
    plan->type = type;
    plan->rank = rank;
    plan->batch = batch;
    int64_t total = batch;
    if (batch < 1)
        return CUFFT_INVALID_SIZE;
    for (int i = 0; i < rank; i++) {
        plan->n[i] = n[i];
        if (n[i] < 1 || __builtin_mul_overflow(total, n[i], &total) || total > MOST)
            return CUFFT_INVALID_SIZE;
    }
    plan->in.is_given = plan->out.is_given = 0;
    if (!inembed || !onembed)
        return CUFFT_SUCCESS; /* strides and distances are ignored then */
    cufftResult result = set_layout(&plan->in, plan, inembed, istride, idist);
    return result ? result : set_layout(&plan->out, plan, onembed, ostride, odist);
}

static cufftResult make(cufftHandle handle, int rank, const long long *n, const long long *inembed, long long istride,
                        long long idist, const long long *onembed, long long ostride, long long odist, cufftType type,
                        long long batch, size_t *bytes)
{
    struct kw_fft_plan *plan = kw_fft_plan(handle), described;
    if (!plan || plan->is_made)
        return CUFFT_INVALID_PLAN;
    if (!bytes)
        return CUFFT_INVALID_VALUE;
    described = *plan;
    cufftResult result =
        describe(&described, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    if (result)
        return result;
    described.is_made = 1;
    *plan = described;
    *bytes = kw_fft_work_bytes(plan);
    return CUFFT_SUCCESS;
}

static cufftResult measure(int rank, const long long *n, const long long *inembed, long long istride, long long idist,
                           const long long *onembed, long long ostride, long long odist, cufftType type,
                           long long batch, size_t *bytes)
{
    struct kw_fft_plan plan = {0};
    if (!bytes)
        return CUFFT_INVALID_VALUE;
    cufftResult result = describe(&plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    if (!result)
        *bytes = kw_fft_work_bytes(&plan);
    return result;
}

/* Dimensions as the functions for 32 bits have them. */
struct wide {
    long long n[KW_FFT_RANK], in[KW_FFT_RANK], out[KW_FFT_RANK];
};

static struct wide widen(int rank, const int *n, const int *inembed, const int *onembed)
{
    struct wide made = {{0}, {0}, {0}};
    for (int i = 0; i < rank && i < KW_FFT_RANK; i++) {
        made.n[i] = n ? n[i] : 0;
        made.in[i] = inembed ? inembed[i] : 0;
        made.out[i] = onembed ? onembed[i] : 0;
    }
    return made;
}

#define BASIC(rank, batch, ...) rank, (const long long[]){__VA_ARGS__}, NULL, 0, 0, NULL, 0, 0, type, batch

KW_API cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *workSize)
{
    return make(plan, BASIC(1, batch, nx), workSize);
}

KW_API cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *workSize)
{
    return make(plan, BASIC(2, 1, nx, ny), workSize);
}

KW_API cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *workSize)
{
    return make(plan, BASIC(3, 1, nx, ny, nz), workSize);
}

KW_API cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,
                                       long long idist, long long *onembed, long long ostride, long long odist,
                                       cufftType type, long long batch, size_t *workSize)
{
    return make(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
}

#define MANY                                                                                                    \
    rank, n ? wide.n : NULL, inembed ? wide.in : NULL, istride, idist, onembed ? wide.out : NULL, ostride, odist, type, \
        batch

KW_API cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist,
                                     int *onembed, int ostride, int odist, cufftType type, int batch, size_t *workSize)
{
    struct wide wide = widen(rank, n, inembed, onembed);
    return make(plan, MANY, workSize);
}

/* ---- made in one call ---- */

#define CREATED(call)                          \
    do {                                       \
        size_t bytes;                          \
        cufftHandle made;                      \
        cufftResult result = cufftCreate(plan ? &made : NULL); \
        if (result)                            \
            return result;                     \
        if ((result = call))                   \
            cufftDestroy(made);                \
        else                                   \
            *plan = made;                      \
        return result;                         \
    } while (0)

KW_API cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch)
{
    CREATED(cufftMakePlan1d(made, nx, type, batch, &bytes));
}

KW_API cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type)
{
    CREATED(cufftMakePlan2d(made, nx, ny, type, &bytes));
}

KW_API cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type)
{
    CREATED(cufftMakePlan3d(made, nx, ny, nz, type, &bytes));
}

KW_API cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist,
                                 int *onembed, int ostride, int odist, cufftType type, int batch)
{
    CREATED(cufftMakePlanMany(made, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, &bytes));
}

/* ---- room for work ---- */

KW_API cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *workSize)
{
    return measure(BASIC(1, batch, nx), workSize);
}

KW_API cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *workSize)
{
    return measure(BASIC(2, 1, nx, ny), workSize);
}

KW_API cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *workSize)
{
    return measure(BASIC(3, 1, nx, ny, nz), workSize);
}

KW_API cufftResult cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                                     int odist, cufftType type, int batch, size_t *workSize)
{
    struct wide wide = widen(rank, n, inembed, onembed);
    return measure(MANY, workSize);
}

#define OF_PLAN(call) return kw_fft_plan(plan) ? call : CUFFT_INVALID_PLAN

KW_API cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *workSize)
{
    OF_PLAN(cufftEstimate1d(nx, type, batch, workSize));
}

KW_API cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *workSize)
{
    OF_PLAN(cufftEstimate2d(nx, ny, type, workSize));
}

KW_API cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *workSize)
{
    OF_PLAN(cufftEstimate3d(nx, ny, nz, type, workSize));
}

KW_API cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist,
                                    int *onembed, int ostride, int odist, cufftType type, int batch, size_t *workSize)
{
    OF_PLAN(cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize));
}

KW_API cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,
                                      long long idist, long long *onembed, long long ostride, long long odist,
                                      cufftType type, long long batch, size_t *workSize)
{
    OF_PLAN(measure(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize));
}

KW_API cufftResult cufftGetSize(cufftHandle plan, size_t *workSize)
{
    const struct kw_fft_plan *of = kw_fft_plan(plan);
    if (!of || !of->is_made)
        return CUFFT_INVALID_PLAN;
    if (!workSize)
        return CUFFT_INVALID_VALUE;
    *workSize = kw_fft_work_bytes(of);
    return CUFFT_SUCCESS;
}

KW_API cufftResult cufftSetWorkArea(cufftHandle plan, void *workArea)
{
    struct kw_fft_plan *of = kw_fft_plan(plan);
    if (!of || !of->is_made)
        return CUFFT_INVALID_PLAN;
    of->work_area = workArea;
    return CUFFT_SUCCESS;
}

KW_API cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate)
{
    struct kw_fft_plan *of = kw_fft_plan(plan);
    if (!of || of->is_made)
        return CUFFT_INVALID_PLAN; /* it had to be said before the plan was made */
    of->allocates = autoAllocate != 0;
    return CUFFT_SUCCESS;
}

KW_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream)
{
    struct kw_fft_plan *of = kw_fft_plan(plan);
    uint64_t number;
    if (!of)
        return CUFFT_INVALID_PLAN;
    if (kw_stream_number(stream, &number))
        return CUFFT_INVALID_VALUE;
    of->stream = stream;
    return CUFFT_SUCCESS;
}

/* ---- plans by types of numbers ---- */

/* The transform from `input` to `output`, computed as `inner`. */
static cufftResult type_of(cudaDataType input, cudaDataType output, cudaDataType inner, cufftType *type)
{
    static const struct {
        cudaDataType input, output, inner;
        cufftType type;
    } table[] = {
        {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_R2C},
        {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
        {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_Z2D},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].input == input && table[i].output == output && table[i].inner == inner) {
            *type = table[i].type;
            return CUFFT_SUCCESS;
        }
    if (inner == CUDA_C_16F || inner == CUDA_C_16BF) {
        kw_say("cuFFT's transforms of half precision are not implemented: take float");
        return CUFFT_NOT_SUPPORTED;
    }
    return CUFFT_INVALID_VALUE;
}

KW_API cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,
                                       long long idist, cudaDataType inputtype, long long *onembed, long long ostride,
                                       long long odist, cudaDataType outputtype, long long batch, size_t *workSize,
                                       cudaDataType executiontype)
{
    cufftType type;
    cufftResult result = type_of(inputtype, outputtype, executiontype, &type);
    return result
               ? result
               : cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
}

KW_API cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,
                                      long long idist, cudaDataType inputtype, long long *onembed, long long ostride,
                                      long long odist, cudaDataType outputtype, long long batch, size_t *workSize,
                                      cudaDataType executiontype)
{
    cufftType type;
    cufftResult result = type_of(inputtype, outputtype, executiontype, &type);
    return result
               ? result
               : cufftGetSizeMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
}
