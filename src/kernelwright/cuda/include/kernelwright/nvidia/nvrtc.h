// Ours, also where NVIDIA's CUDA headers are used: the compiler behind it is ours.
#include "../../nvrtc.h"
