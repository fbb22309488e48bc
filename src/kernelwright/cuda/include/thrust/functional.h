#pragma once
#include "../kernelwright/thrust/functional.h"
