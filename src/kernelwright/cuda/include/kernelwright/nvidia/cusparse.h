// With NVIDIA's CUDA headers, too.
#include "../../cusparse.h"
