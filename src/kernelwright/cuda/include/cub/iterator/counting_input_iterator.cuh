#pragma once
#pragma GCC system_header
#include "../../kernelwright/thrust/iterators.h"

namespace cub {
template <class T, class Difference = std::ptrdiff_t> using CountingInputIterator = thrust::counting_iterator<T>;
}
