// The part of cub that is ours: loads, stores, reductions and scans of blocks and warps, and some device-wide algorithms.
#pragma once
#pragma GCC system_header
#include "block/block_load.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#if __cplusplus >= 201703L // what is made of thrust
#include "device/device_reduce.cuh"
#include "device/device_scan.cuh"
#include "device/device_select.cuh"
#include "iterator/counting_input_iterator.cuh"
#include "iterator/transform_input_iterator.cuh"
#endif
// Programs rely on that NVIDIA's include these.
#include <cassert>
#include <chrono>
