/* The driver API. As the toolkit's header of this name is included for the runtime's types as well, those are here, too. */
#pragma once
#define __cuda_cuda_h__
#include <stdint.h>
#include <stdlib.h>

#include "kernelwright_cuda.h"

#include "kernelwright/driver/attributes.h"
#include "kernelwright/driver/names.h"
#include "kernelwright/driver/types.h"

#include "kernelwright/driver/functions.h"
