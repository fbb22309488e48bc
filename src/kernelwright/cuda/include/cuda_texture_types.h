// Everything this header has in CUDA is in the main header.
#pragma once
#define __CUDA_TEXTURE_TYPES_H__
#include "kernelwright_cuda.h"
