// With NVIDIA's CUDA headers, too; where its cuRAND is installed, the host interface is the same.
#include "../../curand.h"
