// Ours, where NVIDIA's CUDA headers are used and its cuRAND is not installed: it comes first where it is.
#define KW_HEADERS_OF_NVIDIA
#include <cuda_runtime.h>
#include "../../curand_kernel.h"
