// What nvcc gives every program without asking, where NVIDIA's headers are in use and clang's wrapper of them does not:
// headers of the C library, new and delete, and min and max in host code.
#pragma once
#pragma GCC system_header

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>

#include "../qualifiers.h"
#include "../atomics_with_order.h"
#include "../shared_room.h"
#define KW_MIN_MAX_SIDE KW_HOST
#include "../min_max_overloads.h"
#include "../hinted_accesses.h"

// Managed variables as our own headers have them (host_defines.h): clang knows NVIDIA's attribute for HIP alone.
#undef __managed__
#define __managed__ __attribute__((device, section("kw_managed")))
