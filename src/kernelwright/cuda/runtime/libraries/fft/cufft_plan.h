/* Plans of cuFFT: what a transform is, and where its numbers lie. */
#ifndef KERNELWRIGHT_CUFFT_PLAN_H
#define KERNELWRIGHT_CUFFT_PLAN_H

#include "cufftXt.h"
#include "library.h"

enum { KW_FFT_RANK = 3 };

/* One side of a transform, in numbers of its type. `is_given`: a program's own (cufftPlanMany); else they lie side by side. */
struct kw_fft_layout {
    int is_given;
    int64_t embed[KW_FFT_RANK], stride, distance;
};

struct kw_fft_plan {
    int is_made;
    int allocates; /* cufftSetAutoAllocation */
    void *work_area;
    cudaStream_t stream;
    cufftType type;
    int rank;
    int64_t n[KW_FFT_RANK], batch; /* the innermost dimension last */
    struct kw_fft_layout in, out;
};

/* The plan of a handle, NULL once it is destroyed or where there never was one. */
struct kw_fft_plan *kw_fft_plan(cufftHandle handle);

/* Bytes that cuFFT may want for a plan beside its data. Nothing is kept there. */
size_t kw_fft_work_bytes(const struct kw_fft_plan *plan);

cufftResult kw_fft_status(int error);

#endif
