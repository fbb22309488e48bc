// cub::DeviceScan, made of thrust's scans: the work is done when a call returns, and needs no memory of the program's.
#pragma once
#pragma GCC system_header
#include "../../kernelwright/thrust/algorithms.h"
#include "device_reduce.cuh"

namespace cub {

struct DeviceScan {
    template <class In, class Out, class Operator>
    static cudaError_t InclusiveScan(void *memory, std::size_t &bytes, In in, Out out, Operator op, long long count,
                                     cudaStream_t stream = nullptr) {
        if (details::asks_for_size(memory, bytes)) return cudaSuccess;
        return details::returned(
            [&] { thrust::details::inclusive_scan(thrust::details::OnDevice{stream}, in, in + count, out, op); });
    }
    template <class In, class Out, class Operator, class T>
    static cudaError_t ExclusiveScan(void *memory, std::size_t &bytes, In in, Out out, Operator op, T initial,
                                     long long count, cudaStream_t stream = nullptr) {
        if (details::asks_for_size(memory, bytes)) return cudaSuccess;
        return details::returned(
            [&] { thrust::details::exclusive_scan(thrust::details::OnDevice{stream}, in, in + count, out, initial, op); });
    }
    template <class In, class Out>
    static cudaError_t InclusiveSum(void *memory, std::size_t &bytes, In in, Out out, long long count,
                                    cudaStream_t stream = nullptr) {
        return InclusiveScan(memory, bytes, in, out, Sum(), count, stream);
    }
    template <class In, class Out>
    static cudaError_t ExclusiveSum(void *memory, std::size_t &bytes, In in, Out out, long long count,
                                    cudaStream_t stream = nullptr) {
        return ExclusiveScan(memory, bytes, in, out, Sum(), details::ValueOf<In>(), count, stream);
    }
};

}  // namespace cub
