// Ours, for programs that use the helpers of CUDA's samples without bringing them.
#include "../../helper_string.h"
