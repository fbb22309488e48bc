// With NVIDIA's CUDA headers, too: the compiler behind it is ours.
#include "../../nvrtc.h"
