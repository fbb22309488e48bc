// NVIDIA's has the driver API, which programs do not need for the runtime's; what else it brings is here.
#pragma once
#include <stdint.h>

#include "kernelwright_cuda.h"
