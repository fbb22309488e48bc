// Ours, also where NVIDIA's CUDA headers are used.
#include "../../cusparse_v2.h"
