/* The older name of cusparse.h, which NVIDIA keeps. */
#pragma once
#include "cusparse.h"
