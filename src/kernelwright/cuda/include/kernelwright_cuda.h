// The header every CUDA compile starts with: the driver force-includes it, and cuda_runtime.h is another name for it.
// It holds what nvcc gives without asking. Half precision, cooperative groups and random numbers have own headers.
#pragma once
#pragma GCC system_header

#include "cuda_runtime_api.h"
#include "kernelwright/header_names.h"
#include "vector_functions.h"

#if defined(__cplusplus)
#include "channel_descriptor.h"
#include "kernelwright/runtime_overloads.h"
#endif

#if defined(__CUDA__)
// Device overloads must be declared before the C++ library is: see math_declarations.h.
#include "kernelwright/qualifiers.h"
#include "kernelwright/math_declarations.h"
// nvcc includes these before the first line of every program.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include "kernelwright/older_clang.h"
#include "kernelwright/shared_room.h"
#include "kernelwright/builtin_variables.h"
#include "kernelwright/device_runtime.h"
#include "kernelwright/device_errors.h"
#include "kernelwright/libdevice.h"
#include "kernelwright/math_functions.h"
#include "kernelwright/host_math.h"
#include "kernelwright/math_intrinsics.h"
#include "kernelwright/conversions.h"
#include "kernelwright/integer_intrinsics.h"
#include "kernelwright/simd_in_word.h"
#include "kernelwright/min_max.h"
#include "kernelwright/synchronization.h"
#include "kernelwright/warp.h"
#include "kernelwright/atomics.h"
#include "kernelwright/atomics_with_order.h"
#include "kernelwright/memory_access.h"
#include "kernelwright/texture_reference.h"
#include "kernelwright/texture_fetch.h"
#include "kernelwright/texture_layers.h"
#include "kernelwright/surface_access.h"
#endif
