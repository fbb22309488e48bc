// Ours, also where NVIDIA's CUDA headers are used.
#include "../../cusolver_common.h"
