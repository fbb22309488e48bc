// The primitives; cuda::pipeline itself is among NVIDIA's headers (--headers nvidia).
#pragma once
#include "cuda_pipeline_primitives.h"
