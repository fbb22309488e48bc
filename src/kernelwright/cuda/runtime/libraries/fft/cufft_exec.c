/* cuFFT's transforms: a plan put on data. The worker computes them (device/libraries/fourier.py). */
#include "cufft_plan.h"

/* Numbers along the innermost dimension of one side: of a real transform's complex side, half of them and one. */
static int64_t innermost(const struct kw_fft_plan *plan, int is_half)
{
    int64_t n = plan->n[plan->rank - 1];
    return is_half ? n / 2 + 1 : n;
}

/* Writes the numbers from one element to the next in each dimension, outermost first, and from one transform to the next.
   `row`: numbers from one innermost row to the next where the program did not say. */
static void strides_of(const struct kw_fft_plan *plan, const struct kw_fft_layout *layout, int64_t row,
                       struct kw_argument *argument)
{
    int64_t step = layout->is_given ? layout->stride : 1;
    int64_t stride[KW_FFT_RANK] = {0};
    for (int i = plan->rank - 1, inner = 1; i >= 0; i--, inner = 0) {
        stride[i] = step;
        step *= layout->is_given ? layout->embed[i] : inner ? row : plan->n[i];
    }
    for (int i = 0; i < KW_FFT_RANK; i++) {
        int of = i - (KW_FFT_RANK - plan->rank);
        argument[i] = KW_WORD(of < 0 ? 0 : stride[of]);
    }
    argument[KW_FFT_RANK] = KW_WORD(layout->is_given ? layout->distance : step);
}

static cufftResult execute(cufftHandle handle, cufftType type, const char *name, void *input, void *output,
                           int direction)
{
    const struct kw_fft_plan *plan = kw_fft_plan(handle);
    if (!plan || !plan->is_made)
        return CUFFT_INVALID_PLAN;
    int is_forward = type == CUFFT_R2C || type == CUFFT_D2Z, is_back = type == CUFFT_C2R || type == CUFFT_Z2D;
    int is_double = type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
    uintptr_t alignment = is_double ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
    if (type != plan->type || !input || !output || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
        return CUFFT_INVALID_VALUE;
    if ((uintptr_t)input % alignment || (uintptr_t)output % alignment)
        return CUFFT_INVALID_VALUE;
    if (!plan->allocates && !plan->work_area)
        return CUFFT_NO_WORKSPACE;
    /* Real numbers that take the place of complex ones, or give it, are padded to their length. */
    int64_t padded = 2 * innermost(plan, 1), real_row = input == output ? padded : innermost(plan, 0);
    int64_t in_row = is_forward ? real_row : innermost(plan, is_back);
    int64_t out_row = is_back ? real_row : innermost(plan, is_forward);
    enum { DIMENSIONS = 2, INPUT = DIMENSIONS + KW_FFT_RANK, OUTPUT = INPUT + KW_FFT_RANK + 2, END = OUTPUT + KW_FFT_RANK + 2 };
    struct kw_argument argument[END];
    argument[0] = KW_WORD((int64_t)direction);
    argument[1] = KW_WORD(plan->batch);
    for (int i = 0; i < KW_FFT_RANK; i++) {
        int of = i - (KW_FFT_RANK - plan->rank);
        argument[DIMENSIONS + i] = KW_WORD(of < 0 ? 1 : plan->n[of]);
    }
    argument[INPUT] = KW_ADDRESS(input);
    strides_of(plan, &plan->in, in_row, argument + INPUT + 1);
    argument[OUTPUT] = KW_ADDRESS(output);
    strides_of(plan, &plan->out, out_row, argument + OUTPUT + 1);
    return kw_fft_status(kw_library(name, plan->stream, argument, END));
}

KW_API cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *idata, cufftComplex *odata, int direction)
{
    return execute(plan, CUFFT_C2C, __func__, idata, odata, direction);
}

KW_API cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *idata, cufftDoubleComplex *odata, int direction)
{
    return execute(plan, CUFFT_Z2Z, __func__, idata, odata, direction);
}

#define REAL(name, from, to, direction)                                        \
    KW_API cufftResult cufftExec##name(cufftHandle plan, from *idata, to *odata)     \
    {                                                                                \
        return execute(plan, CUFFT_##name, __func__, idata, odata, direction);       \
    }
REAL(R2C, cufftReal, cufftComplex, CUFFT_FORWARD)
REAL(C2R, cufftComplex, cufftReal, CUFFT_INVERSE)
REAL(D2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
REAL(Z2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)

/* The direction of a real transform is its type's. */
KW_API cufftResult cufftXtExec(cufftHandle plan, void *input, void *output, int direction)
{
    const struct kw_fft_plan *of = kw_fft_plan(plan);
    if (!of || !of->is_made)
        return CUFFT_INVALID_PLAN;
    switch (of->type) {
    case CUFFT_C2C:
        return cufftExecC2C(plan, input, output, direction);
    case CUFFT_Z2Z:
        return cufftExecZ2Z(plan, input, output, direction);
    case CUFFT_R2C:
        return cufftExecR2C(plan, input, output);
    case CUFFT_C2R:
        return cufftExecC2R(plan, input, output);
    case CUFFT_D2Z:
        return cufftExecD2Z(plan, input, output);
    case CUFFT_Z2D:
        return cufftExecZ2D(plan, input, output);
    }
    return CUFFT_INTERNAL_ERROR;
}

KW_API cufftResult cufftGetVersion(int *version)
{
    if (!version)
        return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

KW_API cufftResult cufftGetProperty(libraryPropertyType type, int *value)
{
    static const int parts[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUFFT_INVALID_VALUE;
    *value = parts[type];
    return CUFFT_SUCCESS;
}
