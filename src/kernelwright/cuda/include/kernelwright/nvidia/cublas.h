// Ours, also where NVIDIA's CUDA headers are used.
#include "../../cublas.h"
