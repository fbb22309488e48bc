// Random numbers in device code: the XORWOW (curandState) and Philox generators with cuRAND's own sequences, uniform,
// normal and log-normal. The other generators and distributions of cuRAND are not here.
#pragma once
#pragma GCC system_header
#include "kernelwright_cuda.h"
#include "kernelwright/random_xorwow.h"
#include "kernelwright/random_philox.h"
#include "kernelwright/random_distributions.h"
