// Everything this header has in CUDA is in the main header.
#pragma once
#define __DEVICE_TYPES_H__
#include "kernelwright_cuda.h"
