// With NVIDIA's CUDA headers, too.
#include "../../nvToolsExt.h"
