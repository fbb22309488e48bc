// Everything this header has in CUDA is in the main header.
#pragma once
#define __SURFACE_TYPES_H__
#include "texture_types.h"
