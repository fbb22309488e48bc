// cub::DeviceReduce, made of thrust's reduction: the work is done when a call returns, and needs no memory of the program's.
#pragma once
#pragma GCC system_header
#include "../../kernelwright/thrust/execution.h"
#include "../thread/thread_operators.cuh"
#include <limits>

namespace cub {
namespace details {

// The first of the two calls of a device-wide algorithm asks how much memory it needs.
inline bool asks_for_size(void *memory, std::size_t &bytes) {
    if (!memory) bytes = 1;
    return !memory;
}
// A call with thrust's errors as cub returns them.
template <class Function> cudaError_t returned(Function call) {
    try {
        call();
    } catch (const thrust::system_error &error) {
        return error.code();
    }
    return cudaSuccess;
}
template <class Iterator> using ValueOf = thrust::details::ValueOf<Iterator>;

}  // namespace details

struct DeviceReduce {
    template <class In, class Out, class Operator, class T>
    static cudaError_t Reduce(void *memory, std::size_t &bytes, In in, Out out, long long count, Operator op, T initial,
                              cudaStream_t stream = nullptr) {
        if (details::asks_for_size(memory, bytes)) return cudaSuccess;
        return details::returned([&] {
            thrust::details::OnDevice on{stream};
            auto from = thrust::details::plain(in);
            auto to = thrust::details::plain(out);
            T value = thrust::details::reduce(
                on, count, [=] __device__(thrust::details::Count i) mutable -> T { return from[i]; }, initial, op);
            thrust::details::loop(on, 1, [=] __device__(thrust::details::Count) mutable { *to = value; });
        });
    }
    template <class In, class Out>
    static cudaError_t Sum(void *memory, std::size_t &bytes, In in, Out out, long long count, cudaStream_t stream = nullptr) {
        typedef details::ValueOf<Out> T;
        return Reduce(memory, bytes, in, out, count, thrust::plus<T>(), T(), stream);
    }
    template <class In, class Out>
    static cudaError_t Max(void *memory, std::size_t &bytes, In in, Out out, long long count, cudaStream_t stream = nullptr) {
        typedef details::ValueOf<In> T;
        return Reduce(memory, bytes, in, out, count, thrust::maximum<T>(), std::numeric_limits<T>::lowest(), stream);
    }
    template <class In, class Out>
    static cudaError_t Min(void *memory, std::size_t &bytes, In in, Out out, long long count, cudaStream_t stream = nullptr) {
        typedef details::ValueOf<In> T;
        return Reduce(memory, bytes, in, out, count, thrust::minimum<T>(), std::numeric_limits<T>::max(), stream);
    }
};

}  // namespace cub
