// cuda::barrier: threads arrive, and wait for the phase to end in which as many have arrived as it was made for. CUDA programming
// guide, "Asynchronous Barrier". Two words of memory, shared or not, on every architecture; a GPU's own mbarrier is not used.
#pragma once
#pragma GCC system_header
#include <type_traits>
#include <utility>

#include "../kernelwright_cuda.h"
#include "thread_scope.h"

namespace cuda {

// A size that is a multiple of `Alignment`, as the addresses of what is copied are.
template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    __host__ __device__ explicit constexpr aligned_size_t(size_t size) : value(size) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};

namespace details {
template <thread_scope Scope> KW_DEVICE void fence() {
    if (Scope == thread_scope_block)
        __threadfence_block();
    else if (Scope == thread_scope_device)
        __threadfence();
    else if (Scope == thread_scope_system)
        __threadfence_system();
}
}  // namespace details

#define KW_METHOD __device__ __attribute__((always_inline, nodebug))

// `state`: the number of the phase above, below it how many are still to arrive.
template <thread_scope Scope = thread_scope_system> class barrier {
  public:
    class arrival_token {
      public:
        arrival_token() = default;

      private:
        unsigned int phase;
        friend class barrier;
    };

    barrier() = default;
    KW_METHOD explicit barrier(ptrdiff_t expected) { init(this, expected); }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    friend KW_METHOD void init(barrier *b, ptrdiff_t expected) {
        b->expected = (unsigned int)expected;
        b->state = (unsigned long long)expected;
    }
    KW_METHOD arrival_token arrive(ptrdiff_t count = 1) {
        arrival_token token;
        details::fence<Scope>();
        unsigned long long old = atomicAdd(&state, (unsigned long long)-count);
        token.phase = (unsigned int)(old >> 32);
        // The last thread begins the next phase; no other may arrive before that.
        if ((unsigned int)old == (unsigned int)count)
            atomicAdd(&state, (1ull << 32) + atomicAdd(&expected, 0u));
        details::fence<Scope>();
        return token;
    }
    KW_METHOD void wait(arrival_token &&token) const {
        while (phase() == token.phase) details::let_others_run();
        details::fence<Scope>();
    }
    KW_METHOD bool try_wait(arrival_token &&token) const {
        bool over = phase() != token.phase;
        details::fence<Scope>();
        return over;
    }
    // Phases are counted from 0: waits for the end of the latest one that is odd, or even.
    KW_METHOD void wait_parity(bool parity) const {
        while ((phase() & 1) == (unsigned int)parity) details::let_others_run();
        details::fence<Scope>();
    }
    KW_METHOD void arrive_and_wait() { wait(arrive()); }
    KW_METHOD void arrive_and_drop() {
        atomicSub(&expected, 1u);
        (void)arrive();
    }
    static KW_METHOD constexpr ptrdiff_t max() { return (1 << 20) - 1; }

    // How many phases have ended.
    KW_METHOD unsigned int details_phase() const { return phase(); }

  private:
    unsigned long long state;
    unsigned int expected;

    KW_METHOD unsigned int phase() const {
        return (unsigned int)(atomicAdd(const_cast<unsigned long long *>(&state), 0ull) >> 32);
    }
};

// ---- copies: complete when the call returns, before any thread can ask for it ----

namespace details {
template <class Unit> KW_DEVICE void copy_units(void *to, const void *from, size_t bytes, size_t rank, size_t threads) {
    for (size_t i = rank; i < bytes / sizeof(Unit); i += threads) ((Unit *)to)[i] = ((const Unit *)from)[i];
}
// `align`: a power of two that both addresses and the size are multiples of.
KW_DEVICE void copy(void *to, const void *from, size_t bytes, size_t align, size_t rank, size_t threads) {
    if (align >= 16)
        copy_units<uint4>(to, from, bytes, rank, threads);
    else if (align >= 8)
        copy_units<uint2>(to, from, bytes, rank, threads);
    else if (align >= 4)
        copy_units<unsigned int>(to, from, bytes, rank, threads);
    else
        copy_units<char>(to, from, bytes, rank, threads);
}
template <size_t Alignment> KW_DEVICE constexpr size_t alignment_of_size(aligned_size_t<Alignment>) { return Alignment; }
KW_DEVICE constexpr size_t alignment_of_size(size_t) { return 1; }
template <class T, class Size> KW_DEVICE void copy_of(T *to, const T *from, Size size, size_t rank, size_t threads) {
    constexpr size_t of_type = __is_void(T) ? 1 : alignof(typename std::conditional<__is_void(T), char, T>::type);
    const size_t promised = alignment_of_size(size), align = promised > of_type ? promised : of_type;
    copy(const_cast<void *>((const volatile void *)to), from, size, (size_t)size % align ? 1 : align, rank, threads);
}
}  // namespace details

template <class T, class Size, thread_scope Scope>
KW_DEVICE void memcpy_async(T *to, const T *from, Size size, barrier<Scope> &) {
    details::copy_of(to, from, size, 0, 1);
}
template <class Group, class T, class Size, thread_scope Scope>
KW_DEVICE void memcpy_async(const Group &group, T *to, const T *from, Size size, barrier<Scope> &) {
    details::copy_of(to, from, size, group.thread_rank(), group.size());
}

#undef KW_METHOD

}  // namespace cuda
