// Everything this header has in CUDA is in the main header.
#pragma once
#define __SURFACE_INDIRECT_FUNCTIONS_H__
#include "kernelwright_cuda.h"
