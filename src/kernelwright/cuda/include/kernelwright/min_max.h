// min and max of any two numbers, on host and device.
#pragma once
#pragma GCC system_header

#define KW_MIN_MAX_SIDE KW_HOST_DEVICE
#include "min_max_overloads.h"

KW_DEVICE unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
KW_DEVICE unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
KW_DEVICE long long llmin(long long a, long long b) { return min(a, b); }
KW_DEVICE long long llmax(long long a, long long b) { return max(a, b); }
KW_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
KW_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
