/* Where NVTX 3 has it. */
#pragma once
#include "../nvToolsExt.h"
