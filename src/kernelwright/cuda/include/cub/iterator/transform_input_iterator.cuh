#pragma once
#pragma GCC system_header
#include "../../kernelwright/thrust/iterators.h"

namespace cub {
template <class T, class Function, class Base, class Difference = std::ptrdiff_t>
class TransformInputIterator : public thrust::transform_iterator<Function, Base> {
  public:
    KW_BOTH TransformInputIterator(Base base, Function function) : thrust::transform_iterator<Function, Base>(base, function) {}
};
}
