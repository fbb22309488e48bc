// With NVIDIA's CUDA headers, too.
#include "../../cublasLt.h"
