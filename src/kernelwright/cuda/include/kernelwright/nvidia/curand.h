// Ours, also where NVIDIA's CUDA headers are used; where its cuRAND is installed, the host interface is the same.
#include "../../curand.h"
