// Ours, also where NVIDIA's CUDA headers are used.
#include "../../cublas_v2.h"
