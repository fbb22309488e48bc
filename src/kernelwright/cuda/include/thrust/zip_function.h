#pragma once
#include "../kernelwright/thrust/algorithms.h"
