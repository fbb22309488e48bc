// With NVIDIA's CUDA headers, too.
#include "../../cublas_v2.h"
