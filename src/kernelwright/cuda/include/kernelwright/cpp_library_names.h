// The names of the C++ library, under the namespace that device code knows them by.
#pragma once
#pragma GCC system_header

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
