/* cuBLAS under the names that programs call: those of cublas_api.h without _v2. */
#pragma once
#define CUBLAS_V2_H_
#include "cublas_api.h"
#include "kernelwright/cublas_names.h"
