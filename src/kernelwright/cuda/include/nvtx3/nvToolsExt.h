/* The place of this header in NVTX 3. */
#pragma once
#include "../nvToolsExt.h"
