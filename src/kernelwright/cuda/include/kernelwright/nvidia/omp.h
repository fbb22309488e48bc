// With NVIDIA's CUDA headers, too.
#if defined(_OPENMP) && !defined(__CUDA_ARCH__)
#include_next <omp.h>
#else
#include "../../omp.h"
#endif
