// The version of NVIDIA's thrust that ours stands in for.
#pragma once
#define THRUST_VERSION 200802
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 8
#define THRUST_SUBMINOR_VERSION 2
