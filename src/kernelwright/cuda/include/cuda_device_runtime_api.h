// Everything this header has in CUDA is in the main header.
#pragma once
#define __CUDA_DEVICE_RUNTIME_API_H__
#include "kernelwright_cuda.h"
