// cub of blocks and warps: loads, stores, reductions and scans. The rest of cub is NVIDIA's: --headers nvidia.
#pragma once
#pragma GCC system_header
#include <chrono> // programs rely on that NVIDIA's include it
#include "block/block_load.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
