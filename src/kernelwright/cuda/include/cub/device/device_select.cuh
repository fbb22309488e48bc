// cub::DeviceSelect by flags and by a test, made of thrust's: the work is done when a call returns.
#pragma once
#pragma GCC system_header
#include "../../kernelwright/thrust/algorithms.h"
#include "device_reduce.cuh"

namespace cub {

struct DeviceSelect {
    template <class In, class Flags, class Out, class Selected>
    static cudaError_t Flagged(void *memory, std::size_t &bytes, In in, Flags flags, Out out, Selected selected,
                               long long count, cudaStream_t stream = nullptr) {
        return Chosen(memory, bytes, in, flags, out, selected, count, [] __device__(bool flag) { return flag; }, stream);
    }
    template <class In, class Out, class Selected, class Test>
    static cudaError_t If(void *memory, std::size_t &bytes, In in, Out out, Selected selected, long long count, Test test,
                          cudaStream_t stream = nullptr) {
        return Chosen(memory, bytes, in, in, out, selected, count, test, stream);
    }

  private:
    template <class In, class Flags, class Out, class Selected, class Test>
    static cudaError_t Chosen(void *memory, std::size_t &bytes, In in, Flags flags, Out out, Selected selected,
                              long long count, Test test, cudaStream_t stream) {
        if (details::asks_for_size(memory, bytes)) return cudaSuccess;
        return details::returned([&] {
            thrust::details::OnDevice on{stream};
            long long found = thrust::details::copy_if(on, in, in + count, flags, out, test) - out;
            auto to = thrust::details::plain(selected);
            thrust::details::loop(on, 1, [=] __device__(thrust::details::Count) mutable { *to = found; });
        });
    }
};

}  // namespace cub
