// The primitives; cuda::pipeline itself is among NVIDIA's headers (--headers nvidia).
#pragma once
#define _CUDA_PIPELINE_H_
#include "cuda_pipeline_primitives.h"
