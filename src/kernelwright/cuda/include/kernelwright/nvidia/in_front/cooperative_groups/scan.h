// NVIDIA's, behind our cooperative_groups.h: it asks for the one beside itself.
#pragma once
#pragma GCC system_header

#include "../cooperative_groups.h"
#include_next <cooperative_groups/scan.h>
