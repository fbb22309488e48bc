#pragma once
#include "../../kernelwright/thrust/random.h"
