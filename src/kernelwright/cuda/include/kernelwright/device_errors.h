// What errors are called, in device code: programs have checks there that kernels that launch kernels would use.
#pragma once

extern "C" {
static __device__ inline const char *cudaGetErrorString(cudaError_t error) {
#define KW_ERROR(name, number, text) case number: return text;
    switch ((int)error) {
#include "kernelwright/error_table.h"
    }
#undef KW_ERROR
    return "unrecognized error code";
}
static __device__ inline const char *cudaGetErrorName(cudaError_t error) {
#define KW_ERROR(name, number, text) case number: return #name;
    switch ((int)error) {
#include "kernelwright/error_table.h"
    }
#undef KW_ERROR
    return "unrecognized error code";
}
}
