#pragma once
#include "../kernelwright/thrust/complex.h"
