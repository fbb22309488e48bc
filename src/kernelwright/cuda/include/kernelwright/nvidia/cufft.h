// With NVIDIA's CUDA headers, too.
#include "../../cufft.h"
