// What algorithms are made of, on either side: a loop, a reduction, a scan and a stable sort. `i` counts elements from 0.
#pragma once
#pragma GCC system_header
#include "combined_iterators.h"
#include <algorithm>
#include <utility>
#include <vector>

namespace thrust {
namespace details {

typedef long long Count;
constexpr int block_threads = 256, most_blocks = 1024, items_of_thread = 4, items_of_run = 8;
constexpr int items_of_tile = block_threads * items_of_thread;

inline unsigned blocks_for(Count threads) { return (unsigned)std::min<Count>((threads + block_threads - 1) / block_threads, most_blocks); }
KW_BOTH inline Count smaller(Count a, Count b) { return a < b ? a : b; }

// Device memory for the time of an algorithm, without constructors.
template <class T> class Scratch {
  public:
    explicit Scratch(Count count) : count(count) {
        if (count) check(cudaMalloc((void **)&memory, count * sizeof(T)));
    }
    Scratch(const Scratch &) = delete;
    ~Scratch() { cudaFree((void *)memory); }
    T *get() const { return memory; }
    T first(cudaStream_t stream) const {
        alignas(T) unsigned char bytes[sizeof(T)];
        check(cudaMemcpyAsync(bytes, (const void *)memory, sizeof(T), cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        return *reinterpret_cast<T *>(bytes);
    }
    const Count count;

  private:
    T *memory = nullptr;
};

inline void launched(const OnDevice &) { check(cudaGetLastError()); }

// ---- a loop: `f(i)` for each, in any order ----

template <class Function> __global__ void loop_kernel(Count count, Function f) {
    for (Count i = blockIdx.x * (Count)blockDim.x + threadIdx.x; i < count; i += (Count)gridDim.x * blockDim.x) f(i);
}
template <class Function> void loop(const OnDevice &on, Count count, Function f) {
    if (count <= 0) return;
    loop_kernel<<<blocks_for(count), block_threads, 0, on.stream>>>(count, f);
    launched(on);
    check(cudaStreamSynchronize(on.stream));
}
template <class Function> void loop(const OnHost &, Count count, Function f) {
    for (Count i = 0; i < count; i++) f(i);
}

// ---- a reduction: `op` of `initial` and all `f(i)`; their order is changed, as in thrust ----

template <class T, class Function, class Operator>
__global__ void reduce_kernel(Count count, Function f, Operator op, T *partial) {
    __shared__ alignas(T) unsigned char bytes[sizeof(T) * block_threads];
    T *shared = reinterpret_cast<T *>(bytes);
    int thread = threadIdx.x;
    Count first = blockIdx.x * (Count)block_threads;
    int valid = (int)smaller(block_threads, count - first);
    if (thread < valid) {
        T value = f(first + thread);
        for (Count i = first + thread + (Count)gridDim.x * block_threads; i < count; i += (Count)gridDim.x * block_threads)
            value = op(value, f(i));
        shared[thread] = value;
    }
    __syncthreads();
    for (int step = block_threads / 2; step; step /= 2) {
        if (thread < step && thread + step < valid) shared[thread] = op(shared[thread], shared[thread + step]);
        __syncthreads();
    }
    if (thread == 0) partial[blockIdx.x] = shared[0];
}
template <class T> struct ReadFrom {
    const T *from;
    __device__ T operator()(Count i) const { return from[i]; }
};
template <class T, class Function, class Operator>
T reduce(const OnDevice &on, Count count, Function f, T initial, Operator op) {
    if (count <= 0) return initial;
    Scratch<T> partial(blocks_for(count)), total(1);
    reduce_kernel<<<(unsigned)partial.count, block_threads, 0, on.stream>>>(count, f, op, partial.get());
    reduce_kernel<<<1, block_threads, 0, on.stream>>>(partial.count, ReadFrom<T>{partial.get()}, op, total.get());
    launched(on);
    return op(initial, total.first(on.stream));
}
template <class T, class Function, class Operator>
T reduce(const OnHost &, Count count, Function f, T initial, Operator op) {
    for (Count i = 0; i < count; i++) initial = op(initial, f(i));
    return initial;
}

// ---- a scan: `put(i, all f up to i)`, in order. An element is read before those of its tile are put ----

// What a tile comes to; then, with what the tiles before it come to, its elements.
template <class T, class Function, class Operator, class Put>
__global__ void scan_kernel(Count count, Function f, Operator op, T *totals, const T *before, Put put) {
    __shared__ alignas(T) unsigned char bytes[sizeof(T) * block_threads];
    T *shared = reinterpret_cast<T *>(bytes);
    int thread = threadIdx.x;
    Count tile = blockIdx.x, first = tile * items_of_tile + (Count)thread * items_of_thread, valid = smaller(items_of_thread, count - first);
    alignas(T) unsigned char own_bytes[sizeof(T) * items_of_thread];
    T *own = reinterpret_cast<T *>(own_bytes);
    for (int item = 0; item < valid; item++) own[item] = item ? op(own[item - 1], f(first + item)) : f(first);
    if (valid > 0) shared[thread] = own[valid - 1];
    __syncthreads();
    int threads = (int)smaller(block_threads, (count - tile * items_of_tile + items_of_thread - 1) / items_of_thread);
    for (int step = 1; step < block_threads; step *= 2) {
        bool has = thread >= step && thread < threads;
        alignas(T) unsigned char sum_bytes[sizeof(T)];
        T &sum = *reinterpret_cast<T *>(sum_bytes);
        if (has) sum = op(shared[thread - step], shared[thread]);
        __syncthreads();
        if (has) shared[thread] = sum;
        __syncthreads();
    }
    if (!before) {
        if (thread == 0) totals[tile] = shared[threads - 1];
        return;
    }
    for (int item = 0; item < valid; item++) {
        T value = thread ? op(shared[thread - 1], own[item]) : own[item];
        put(first + item, tile ? op(before[tile - 1], value) : value);
    }
}
template <class T> struct WriteTo {
    T *to;
    __device__ void operator()(Count i, const T &value) const { to[i] = value; }
};
template <class T, class Function, class Operator, class Put>
void scan(const OnDevice &on, Count count, Function f, Operator op, Put put) {
    if (count <= 0) return;
    Scratch<T> totals((count + items_of_tile - 1) / items_of_tile);
    scan_kernel<T><<<(unsigned)totals.count, block_threads, 0, on.stream>>>(count, f, op, totals.get(), (const T *)nullptr, put);
    if (totals.count > 1) scan<T>(on, totals.count, ReadFrom<T>{totals.get()}, op, WriteTo<T>{totals.get()});
    scan_kernel<T><<<(unsigned)totals.count, block_threads, 0, on.stream>>>(count, f, op, totals.get(), totals.get(), put);
    launched(on);
    check(cudaStreamSynchronize(on.stream));
}
template <class T, class Function, class Operator, class Put>
void scan(const OnHost &, Count count, Function f, Operator op, Put put) {
    if (count <= 0) return;
    T value = f(0);
    for (Count i = 0; i < count; i++) {
        if (i) value = op(value, f(i));
        put(i, value);
    }
}

// ---- a stable sort of keys, and of values with them: runs, then merges of two by the rank of each element in the other ----

struct NoValues {
    __device__ char operator[](Count) const { return 0; }
};

template <class Keys, class Values, class Less>
__global__ void runs_kernel(Count count, Keys keys, Values values, Less less) {
    Count first = (blockIdx.x * (Count)blockDim.x + threadIdx.x) * items_of_run, end = smaller(count, first + items_of_run);
    for (Count i = first + 1; i < end; i++)
        for (Count at = i; at > first && less(keys[at], keys[at - 1]); at--) {
            ValueOf<Keys> key = keys[at]; // not what refers to it
            keys[at] = keys[at - 1];
            keys[at - 1] = key;
            if constexpr (!std::is_same_v<Values, NoValues>) {
                ValueOf<Values> value = values[at];
                values[at] = values[at - 1];
                values[at - 1] = value;
            }
        }
}
template <class Keys, class Values, class ToKeys, class ToValues, class Less>
__global__ void merge_kernel(Count count, Count width, Keys keys, Values values, ToKeys to_keys, ToValues to_values, Less less) {
    for (Count i = blockIdx.x * (Count)blockDim.x + threadIdx.x; i < count; i += (Count)gridDim.x * blockDim.x) {
        Count run = i / width, pair = run / 2 * 2 * width;
        bool is_second = run % 2;
        Count low = is_second ? pair : smaller(count, pair + width), start = low;
        Count high = is_second ? pair + width : smaller(count, pair + 2 * width);
        ValueOf<Keys> key = keys[i];
        while (low < high) { // equal elements of the first run come first
            Count middle = (low + high) / 2;
            if (is_second ? !less(key, keys[middle]) : bool(less(keys[middle], key))) low = middle + 1;
            else high = middle;
        }
        Count to = pair + (i - run * width) + (low - start);
        to_keys[to] = key;
        if constexpr (!std::is_same_v<Values, NoValues>) to_values[to] = values[i];
    }
}
template <class Keys, class Values, class Less>
void sort(const OnDevice &on, Count count, Keys keys, Values values, Less less) {
    constexpr bool has_values = !std::is_same_v<Values, NoValues>;
    typedef ValueOf<Keys> Key;
    if (count < 2) return;
    Count runs = (count + items_of_run - 1) / items_of_run;
    runs_kernel<<<(unsigned)((runs + block_threads - 1) / block_threads), block_threads, 0, on.stream>>>(count, keys, values, less);
    Scratch<Key> other_keys(runs > 1 ? count : 0);
    auto merge = [&](auto &&other_values) {
        bool is_back = true;
        unsigned blocks = blocks_for(count);
        for (Count width = items_of_run; width < count; width *= 2, is_back = !is_back)
            if (is_back)
                merge_kernel<<<blocks, block_threads, 0, on.stream>>>(count, width, keys, values, other_keys.get(), other_values, less);
            else
                merge_kernel<<<blocks, block_threads, 0, on.stream>>>(count, width, other_keys.get(), other_values, keys, values, less);
        if (!is_back) {
            Key *from = other_keys.get();
            loop(on, count, [=] __device__(Count i) mutable {
                keys[i] = from[i];
                if constexpr (has_values) values[i] = other_values[i];
            });
        }
        launched(on);
        check(cudaStreamSynchronize(on.stream));
    };
    if constexpr (has_values) {
        Scratch<ValueOf<Values>> other(runs > 1 ? count : 0);
        merge(other.get());
    } else
        merge(NoValues());
}
template <class Keys, class Values, class Less>
void sort(const OnHost &, Count count, Keys keys, Values values, Less less) {
    std::vector<Count> order(count);
    for (Count i = 0; i < count; i++) order[i] = i;
    std::sort(order.begin(), order.end(), [&](Count a, Count b) {
        return less(keys[a], keys[b]) || (a < b && !less(keys[b], keys[a]));
    });
    auto place = [&](auto at) {
        std::vector<ValueOf<decltype(at)>> kept(at, at + count);
        for (Count i = 0; i < count; i++) at[i] = kept[order[i]];
    };
    place(keys);
    if constexpr (!std::is_same_v<Values, NoValues>) place(values);
}

}  // namespace details
}  // namespace thrust
