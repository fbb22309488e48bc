// Ours, also where NVIDIA's CUDA headers are used.
#if defined(_OPENMP) && !defined(__CUDA_ARCH__)
#include_next <omp.h>
#else
#include "../../omp.h"
#endif
