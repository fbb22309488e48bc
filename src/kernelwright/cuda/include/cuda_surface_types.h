// Everything this header has in CUDA is in the main header.
#pragma once
#include "kernelwright_cuda.h"
