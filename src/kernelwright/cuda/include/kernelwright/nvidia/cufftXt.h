// With NVIDIA's CUDA headers, too.
#include "../../cufftXt.h"
