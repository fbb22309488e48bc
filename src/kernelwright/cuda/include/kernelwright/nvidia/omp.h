// With NVIDIA's CUDA headers, too.
#include "../../omp.h"
