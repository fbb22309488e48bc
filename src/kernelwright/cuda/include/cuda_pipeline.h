// The primitives; cuda::pipeline itself is in <cuda/pipeline>.
#pragma once
#define _CUDA_PIPELINE_H_
#include "cuda_pipeline_primitives.h"
